"""Worked examples of RBDA chapters 4 to 7 and 10.2 with their known answers; test names carry the inventory's rows."""

import math
from itertools import permutations

import numpy as np
import pytest
import sympy as sp

import knuckle as kn
from knuckle import joints
from knuckle.algorithms.dynamics import body_assembly, branch_sparsity, crba
from knuckle.algorithms.kinematics import body_motions
from knuckle.model import ROOT, Body, Model, TreeJoint
from knuckle.model.build.builder import Builder
from knuckle.model.build.spanning_tree import Connection
from knuckle.model.connectivity import (
    ancestors,
    children,
    expand_parents,
    is_regular,
    regular_numberings,
    spanning_tree,
    subtree,
)
from knuckle.spatial import ArticulatedInertia, Force, Inertia, Matrix, Motion, Subspace, Transform, Vector
from knuckle.testing.compare import array, close
from knuckle.testing.counting import Tally
from knuckle.testing.mechanisms import general_chain, random_inertia, random_state, random_tree
from knuckle.testing.oracles.newton_euler import newton_euler


def from_book(parents):
    """A parent array of the book, which counts bodies from 1 and calls the base 0."""
    return tuple(p - 1 for p in parents)


def to_book(parents):
    return tuple(p + 1 for p in parents)


# chapter 4: connectivity


CRANK_SLIDER = [(ROOT, 0), (0, 1), (1, 2), (2, ROOT)]


def test_f09_crank_slider():
    """One loop, four spanning trees, eight regular numberings that they share 1, 3, 3, 1."""
    assert len(CRANK_SLIDER) - 3 == 1
    by_tree: dict[frozenset[int], set[tuple[int, ...]]] = {}
    found = list(regular_numberings(3, CRANK_SLIDER))
    for order, parents in found:
        edges = frozenset(
            e
            for e, ends in enumerate(CRANK_SLIDER)
            if any({b, ROOT if p == ROOT else order[p]} == set(ends) for b, p in zip(order, parents, strict=True))
        )
        by_tree.setdefault(edges, set()).add((order, parents))
    assert len(found) == len(set(found)) == 8
    assert sorted(len(numberings) for numberings in by_tree.values()) == [1, 1, 3, 3]
    assert {(0, 1, 2), (0, 0, 1)} <= {to_book(parents) for _, parents in found}
    assert all(is_regular(parents) for _, parents in found)
    # of least depth: both neighbours of the base on the base, and the rod on one of them
    assert to_book(spanning_tree(3, CRANK_SLIDER)[1]) == (0, 0, 1)


def test_f10_satellite_with_a_dish():
    """Nothing ties it to the base: a tree with a free joint, and 6 + n_s freedoms."""
    bodies = [Body(name, random_inertia(np.random.default_rng(k))) for k, name in enumerate(("satellite", "dish"))]
    for joint in (joints.Revolute("x"), joints.Universal(), joints.Spherical()):
        model = Builder.from_graph(bodies, [Connection("bearing", joint, "satellite", "dish")]).build()
        assert not model.loops
        assert model.nv == 6 + joint.nv
        assert isinstance(model.joints[0].type, joints.Free)


@pytest.mark.parametrize("seventh", [4, 6])
def test_f11_sets_of_a_tree_of_eight_bodies(seventh):
    """Figure 4.6, whose picture is lost: what the text says leaves two trees."""
    tree = from_book((0, 1, 1, 0, 3, 4, seventh, 4))
    kappa = {i: {k + 1 for k in ancestors(tree, i - 1)} for i in range(1, 9)}
    mu = {i: {k + 1 for k in children(tree, i - 1)} for i in range(9)}
    nu = {i: {k + 1 for k in subtree(tree, i - 1)} for i in range(9)}
    assert (kappa[1], kappa[2], kappa[3], kappa[8]) == ({1}, {1, 2}, {1, 3}, {4, 8})
    assert (mu[0], mu[1], mu[2], mu[8]) == ({1, 4}, {2, 3}, set(), set())
    assert (nu[1], nu[2], nu[8]) == ({1, 2, 3, 5}, {2}, {8})
    assert nu[0] == set(range(1, 9))
    assert all((j in kappa[i]) == (i in nu[j]) for i in kappa for j in range(1, 9))
    assert all(nu[i] & nu[j] in (nu[i], nu[j], set()) for i in nu for j in nu)


# chapter 6: sparsity


EXPANDED = (0, 1, 2, 3, 1, 4, 4, 5)


def test_f12_expanded_parent_array():
    """Table 6.4's example: joint 2 of six has three freedoms."""
    assert to_book(expand_parents(from_book((0, 1, 1, 2, 2, 3)), (1, 3, 1, 1, 1, 1))) == EXPANDED


def test_f13_costs_of_that_tree():
    """D1 = 17, D2 = 34, 42 nonzeros; LTL takes 8 roots, 17 divisions and 34 multiply-subtracts, LTDL no roots."""
    parents = from_book(EXPANDED)
    found = branch_sparsity.cost(parents)
    assert (found.D1, found.D2, found.nonzeros) == (17, 34, 42)
    assert counted(branch_sparsity.ltl, parents) == Tally(mul=34, add=34, div=17, sqrt=8)
    assert counted(branch_sparsity.ltdl, parents) == Tally(mul=34, add=34, div=17, sqrt=0)


def counted(factorise, parents):
    tally, n = Tally(), len(parents)
    factorise(Matrix([[tally.scalar(10.0 * (i == j) + 1.0) for j in range(n)] for i in range(n)]), parents)
    return tally


def test_f14_binary_tree():
    """Figure 6.4's tree of seven: each of the three last steps does 2 divisions and 3 multiply-subtracts."""
    parents = from_book((0, 1, 1, 2, 2, 3, 3))
    found = branch_sparsity.cost(parents)
    assert (found.D1, found.D2, found.density) == (10, 14, 27 / 49)
    for n in (7, 6, 5):
        step = [counted(branch_sparsity.ltdl, parents[:k]) for k in (n, n - 1)]
        assert (step[0].div - step[1].div, step[0].mul - step[1].mul) == (2, 3)


def test_f15_star_chain_and_relabelling():
    """Figure 6.2: a star has a diagonal H, a chain a dense one, and a relabelled tree a permuted one."""
    rng = np.random.default_rng(15)
    bodies = [Body(f"b{i}", random_inertia(rng)) for i in range(5)]
    placed = [Transform.translation(rng.uniform(-1, 1, 3).tolist()) for _ in range(5)]
    axes = [tuple(rng.standard_normal(3)) for _ in range(5)]

    def tree(parents, order=range(5)):
        new = {ROOT: ROOT, **{old: k for k, old in enumerate(order)}}
        tied = [TreeJoint(f"j{i}", joints.Revolute(axes[i]), new[parents[i]], placed[i]) for i in order]
        return Model(tuple(bodies[i] for i in order), tuple(tied))

    q = rng.uniform(-2, 2, 5)
    star = kn.mass_matrix(tree([ROOT] * 5), q)
    assert not (star - np.diag(np.diag(star))).any()
    assert (kn.mass_matrix(tree([ROOT, 0, 1, 2, 3]), q) != 0).all()
    branched = [ROOT, 0, 0, 1, 1]
    H = kn.mass_matrix(tree(branched), q)
    zero = {(i, j) for i in range(5) for j in range(5) if H[i, j] == 0}
    assert zero == {(1, 2), (2, 1), (2, 3), (3, 2), (2, 4), (4, 2), (3, 4), (4, 3)}
    for order in permutations(range(5)):
        position = {old: k for k, old in enumerate(order)}
        if all(p == ROOT or position[p] < position[i] for i, p in enumerate(branched)):
            close(kn.mass_matrix(tree(branched, order), q[list(order)]), H[np.ix_(order, order)])


@pytest.mark.parametrize(("n", "D1", "D2"), [(6, 15, 35), (30, 435, 4495)])
def test_f16_dense_costs(n, D1, D2):
    """Eq. 6.28."""
    found = branch_sparsity.cost(range(-1, n - 1))
    assert (found.D1, found.D2, found.density) == (D1, D2, 1.0)
    assert ((n * n - n) // 2, (n**3 - n) // 6) == (D1, D2)


# chapter 5: the original equations


@pytest.mark.parametrize("seed", range(4))
def test_f21_correspondence_with_the_original_equations(seed):
    """Table 5.2: v̂ = (ω, v), â = (ω̇, v̇ − ω×v), f̂ᴮ = (N + c×F, F), f̂ = (n, f)."""
    model = general_chain(6, seed)
    s = random_state(model, seed)
    old = newton_euler(model, s.q, s.v, s.a)
    Q, V, A = model.positions(s.q), model.velocities(s.q, s.v), model.velocities(s.q, s.a)
    v = body_motions.velocities(model, Q, V)
    a, f_net, f, X = {ROOT: -model.g}, {}, {}, {}
    for i, p, joint in model.outward():
        XJ, S, vJ, cJ = joint.motion(Q[i], V[i])
        X[i] = XJ @ model.X_tree[i]
        a[i] = X[i] @ a[p] + S @ A[i] + cJ + v[i].cross(vJ)
        f_net[i] = model.I[i] @ a[i] + v[i].cross(model.I[i] @ v[i])
    for i in reversed(range(model.nb)):
        f[i] = f_net[i] + (X[i + 1].T @ f[i + 1] if i + 1 in f else Force.zero())
    for i in range(model.nb):
        close(array(v[i]), [*old.w[i], *old.v[i]])
        close(array(a[i]), [*old.dw[i], *(old.dv[i] - np.cross(old.w[i], old.v[i]))])
        close(array(f_net[i]), [*(old.N[i] + np.cross(array(model.I[i].com), old.F[i])), *old.F[i]])
        close(array(f[i]), [*old.n[i], *old.f[i]])
    close(kn.inverse_dynamics(model, s.q, s.v, s.a), old.tau)


# chapter 6: the inertia matrix


@pytest.mark.parametrize("seed", range(4))
def test_f23_inertia_matrix_three_ways(seed):
    """CRBA, columns of ID_δ and the sum of eq. 6.11 on branched trees of mixed joints."""
    model = random_tree(seed, 7, resistance=False)
    q = random_state(model, seed).q
    Q = model.positions(q)
    H = array(model.square(q, crba.mass_matrix(model, Q)))
    close(array(model.square(q, crba.mass_matrix_by_columns(model, Q))), H, 10)
    X0 = body_motions.positions(model, Q)
    S = {i: X0[i].inv @ joint.subspace(Q[i]) for i, _, joint in model.outward()}
    I = {k: X0[k].inv @ model.I[k] for k in S}
    blocks = {}
    for i in S:
        for j in S:
            common = set(model.subtree(i)) & set(model.subtree(j))
            blocks[i, j] = sum((S[i].T @ (I[k] @ S[j]) for k in common), Matrix.zero(len(S[i]), len(S[j])))
        blocks[i, i] = blocks[i, i] + Matrix.diagonal(model.rotor[i])
    close(array(model.square(q, blocks)), H, 10)


# chapter 7: articulated bodies


def test_x01_slotted_box_and_cylinder():
    """Example 7.1, by symbols: the box is the handle, the cylinder turns about x and slides along y in its slot."""
    m1, m2, I1, I2 = sp.symbols("m1 m2 I1 I2", positive=True)
    box, cylinder = (
        ArticulatedInertia.of(Inertia.of(m, (0, 0, 0), ((I, 0, 0), (0, I, 0), (0, 0, I))))
        for m, I in ((m1, I1), (m2, I2))
    )
    free = [body_assembly.Inertial(I, Force.zero()) for I in (box, cylinder)]
    S = Subspace(Motion, [Motion.basis()[0], Motion.basis()[4]])
    found = body_assembly.join(*free, S, Motion.zero(), Vector.zero(2))
    expected = sp.diag(I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2)
    assert sp.simplify(
        sp.Matrix([[sp.sympify(x) for x in row] for row in found.I.matrix.rows]) - expected
    ).is_zero_matrix
    assert found.p == Force.zero()


def test_x01_as_a_mechanism():
    """The same from a model: the operational-space inertia of a free box that carries the cylinder."""
    m1, m2, I1, I2 = 2.0, 0.7, 0.3, 0.05
    b = Builder(gravity=(0, 0, 0))
    b.body("box", joint=joints.Free(), mass=m1, inertia=(I1, I1, I1))
    slot = joints.Composite((joints.Prismatic("y"), joints.Revolute("x")))
    b.body("cylinder", on="box", joint=slot, mass=m2, inertia=(I2, I2, I2))
    model = b.build()
    expected = np.diag([I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2])
    close(kn.operational_space_inertia(model, kn.neutral(model), "box"), expected, m2 / I2)


# chapter 10.2: sensitivity


def zigzag(first=75.0):
    """Figure 10.3: six links of unit length and mass in a plane, angles +75° and −75° in turn."""
    b = Builder(gravity=(0, 0, 0))
    for i in range(6):
        at = (1.0, 0, 0) if i else (0.0, 0, 0)
        on = f"link{i - 1}" if i else None
        inertia = (1e-3, 1 / 12, 1 / 12)
        b.body(f"link{i}", on=on, joint=joints.Revolute("z"), at=at, mass=1, com=(0.5, 0, 0), inertia=inertia)
    return b.build(), np.radians([first, -75, 75, -75, 75, -75])


TAU_D = (126.4936, 97.4663, 69.9762, 43.7998, 21.9371, 6.1646)
TAU_A = (126, 97.5, 70.0, 43.8, 21.9, 6.16)
QDD_A = (0.6592, 1.3654, 1.3808, 0.5894, 0.9057, 1.0705)


@pytest.mark.parametrize("first", [75.0, 0.0, -31.0])
def test_x02_sensitivity_of_a_six_link_chain(first):
    """The forces as printed, cut after four decimals; the first angle does not matter."""
    model, q = zigzag(first)
    tau = kn.inverse_dynamics(model, q, np.zeros(6), np.ones(6))
    assert tuple(math.floor(t * 1e4) / 1e4 for t in tau) == TAU_D
    assert tuple(float(f"{t:.3g}") for t in tau) == TAU_A
    H = kn.mass_matrix(model, q)
    assert f"{np.linalg.cond(H):.2f}" == "725.39"
    assert np.linalg.cond(H) < 4 * 6**4 == 5184


@pytest.mark.parametrize("method", ["aba", "crba", "divide"])
def test_x02_e1_the_printed_acceleration_is_a_misprint(method):
    """0.6952 stands in the book where 0.6592 is right: two digits swapped. The other five are as printed."""
    model, q = zigzag()
    a = kn.forward_dynamics(model, q, np.zeros(6), np.array(TAU_A), method=method)
    assert tuple(round(x, 4) for x in a.tolist()) == QDD_A
    assert round(float(a[0]), 6) == 0.659159
    assert abs(a[0] - 0.6952) > 0.03
