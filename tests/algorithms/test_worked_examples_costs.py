"""Operation counts: row F-22, and the costs of the spatial operations of RBDA table A.4.

Counted by a scalar that counts itself; a division counts as a multiplication, a negation as nothing.
"""

import numpy as np
import pytest

from knuckle.algorithms.dynamics import branch_sparsity
from knuckle.algorithms.kinematics import body_motions
from knuckle.spatial import ArticulatedInertia, Force, Inertia, Matrix, Motion, Subspace, Sym3, Transform, Vector
from knuckle.spatial.three import congruence, matmul
from knuckle.testing.counting import Tally
from knuckle.testing.mechanisms import general_chain, random_state


class Draw:
    """Random spatial quantities of counting numbers."""

    def __init__(self, seed=0):
        self.rng, self.tally = np.random.default_rng(seed), Tally()

    def s(self):
        return self.tally.scalar(float(self.rng.uniform(0.5, 1.5)))

    def vec(self):
        return self.s(), self.s(), self.s()

    def mat(self):
        return self.vec(), self.vec(), self.vec()

    def sym(self):
        return Sym3(*(self.s() for _ in range(6)))

    def m(self):
        return Motion(self.vec(), self.vec())

    def f(self):
        return Force(self.vec(), self.vec())

    def X(self):
        return Transform(self.mat(), self.vec())

    def body(self):
        return Inertia(self.s(), self.vec(), self.sym())

    def IA(self):
        return ArticulatedInertia(self.sym(), self.mat(), self.sym())


AS_PRINTED = {
    "αv": (lambda d: d.m() * d.s(), 6, 0),
    "αI": (lambda d: d.body() * d.s(), 10, 0),
    "αIA": (lambda d: d.IA() * d.s(), 21, 0),
    "v+v": (lambda d: d.m() + d.m(), 0, 6),
    "f+f": (lambda d: d.f() + d.f(), 0, 6),
    "I+I": (lambda d: d.body() + d.body(), 0, 10),
    "IA+IA": (lambda d: d.IA() + d.IA(), 0, 21),
    "IA+I": (lambda d: d.IA() + d.body(), 0, 15),
    "v·f": (lambda d: d.m().dot(d.f()), 6, 5),
    "v×v": (lambda d: d.m().cross(d.m()), 18, 12),
    "v×*f": (lambda d: d.m().cross(d.f()), 18, 12),
    "Iv": (lambda d: d.body() @ d.m(), 24, 18),
    "IAv": (lambda d: d.IA() @ d.m(), 36, 30),
    "X⁻¹": (lambda d: d.X().inverse(), 9, 6),
    "Xv": (lambda d: d.X() @ d.m(), 24, 18),
    "X⁻¹v": (lambda d: d.X().inv @ d.m(), 24, 18),
    "X*f": (lambda d: d.X() @ d.f(), 24, 18),
    "Xᵀf": (lambda d: d.X().T @ d.f(), 24, 18),
    "X*IX⁻¹": (lambda d: d.X() @ d.body(), 52, 56),
    "XᵀIX": (lambda d: d.X().inv @ d.body(), 52, 56),
    "EAEᵀ, A symmetric": (lambda d: d.sym().rotated(d.mat()), 28, 29),
}


@pytest.mark.parametrize("operation", AS_PRINTED)
def test_operation_costs_what_table_a4_says(operation):
    run, mul, add = AS_PRINTED[operation]
    draw = Draw()
    run(draw)
    assert draw.tally.operations == (mul, add)


DEARER = {
    # (ours, the book's): the third column of a rotation as a product, not as a cross product (A.5, trick 1)
    "X X": (lambda d: d.X() @ d.X(), (36, 27), (33, 24)),
    "E E": (lambda d: matmul(d.mat(), d.mat()), (27, 18), (24, 15)),
    # EAEᵀ of a general A as two products, not by trick 2
    "EAEᵀ": (lambda d: congruence(d.mat(), d.mat()), (54, 36), (40, 39)),
    "X*IAX⁻¹": (lambda d: d.X() @ d.IA(), (164, 148), (137, 137)),
    "XᵀIAX": (lambda d: d.X().inv @ d.IA(), (164, 145), (137, 137)),
}


@pytest.mark.parametrize("operation", DEARER)
def test_operation_costs_more_than_table_a4_says_and_may_only_get_cheaper(operation):
    """The operations that are written for clarity: what they cost, which may fall and must not rise."""
    run, ours, book = DEARER[operation]
    draw = Draw()
    run(draw)
    mul, add = draw.tally.operations
    assert mul <= ours[0]
    assert add <= ours[1]
    assert mul + add > sum(book), "as cheap as the book's by now: it belongs in AS_PRINTED"


def test_structural_zeros_are_free():
    """A coordinate axis costs no arithmetic: S = e3 makes I S a column, and a shift along z two terms of a cross."""
    draw = Draw()
    e3 = Subspace(Motion, [Motion.basis()[2]])
    column = draw.body() @ e3
    e3.T @ column
    assert draw.tally.operations == (0, 0)
    Transform.translation((0.0, 0.0, draw.s())) @ draw.m()
    assert draw.tally.operations == (2, 2)


@pytest.mark.parametrize("n", [1, 2, 6, 11])
def test_f22_cost_of_the_velocities_of_a_chain(n):
    """n(m + a) by recursion, ½(n(n+1)m + n(n−1)a) by sums, where m and a are the costs of α s and s + s."""
    model = general_chain(n, n)
    Q = model.positions(random_state(model, n).q)
    X0 = body_motions.positions(model, Q)
    numbers = [(X0[i].inv @ joint.subspace(Q[i])[0]).components for i, _, joint in model.outward()]
    m = a = 6

    def axes_and_rates(tally):
        s = [Motion.of([tally.scalar(float(x)) for x in column]) for column in numbers]
        return s, [tally.scalar(0.1 * i) for i in range(n)]

    tally = Tally()
    s, rates = axes_and_rates(tally)
    v = [Motion.of([tally.scalar(0.0)] * 6)]
    for axis, rate in zip(s, rates, strict=True):
        v.append(v[-1] + axis * rate)
    assert tally.operations == (n * m, n * a)

    tally = Tally()
    s, rates = axes_and_rates(tally)
    summed = [sum((s[j] * rates[j] for j in range(i + 1)), Motion.zero()) for i in range(n)]
    assert tally.operations == (n * (n + 1) // 2 * m, n * (n - 1) // 2 * a)
    for x, y in zip(summed, v[1:], strict=True):
        np.testing.assert_allclose(list(map(float, x.components)), list(map(float, y.components)), atol=1e-14)


TREES = {
    "chain": (-1, 0, 1, 2, 3, 4),
    "binary": (-1, 0, 0, 1, 1, 2, 2),
    "star": (-1, -1, -1, -1),
    "expanded": (-1, 0, 1, 2, 0, 3, 3, 4),
}


@pytest.mark.parametrize("parents", TREES.values(), ids=TREES)
def test_table_6_6(parents):
    """Costs of the sparse factorisations, products and back-substitutions (RBDA 6.26-6.29)."""
    n, (D1, D2, *_) = len(parents), branch_sparsity.cost(parents)

    def run(f, given):
        tally = Tally()
        H = Matrix([[tally.scalar(9.0 * (i == j) + 1.0) for j in range(n)] for i in range(n)])
        f(H, parents, *([Vector([tally.scalar(1.0 + k) for k in range(n)])] if given else []))
        return tally

    products = D1 + n
    assert run(branch_sparsity.ltl, False) == Tally(mul=D2, add=D2, div=D1, sqrt=n)
    assert run(branch_sparsity.ltdl, False) == Tally(mul=D2, add=D2, div=D1)
    assert run(branch_sparsity.multiply, True) == Tally(mul=products, add=D1)
    assert run(branch_sparsity.multiply_transposed, True) == Tally(mul=products, add=D1)
    assert run(branch_sparsity.solve_lower, True) == Tally(mul=D1, add=D1, div=n)
    assert run(branch_sparsity.solve_transposed, True) == Tally(mul=D1, add=D1, div=n)
    assert run(branch_sparsity.multiply_symmetric, True) == Tally(mul=n + 2 * D1, add=2 * D1)
    assert run(branch_sparsity.solve, True) == Tally(mul=D2 + 2 * D1, add=D2 + 2 * D1, div=D1 + n)
