"""Forward dynamics by divide and conquer against the articulated-body algorithm, exactly where numbers are exact.

`test_independent.py` compares both with maximal coordinates over every joint type.
"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle import joints
from knuckle.algorithms.dynamics import aba, divide_and_conquer, rnea
from knuckle.algorithms.kinematics import body_motions
from knuckle.model import ROOT, Body, Model, TreeJoint
from knuckle.spatial import Force, Inertia, Transform, Vector, rotation
from knuckle.testing.mechanisms import auto_tree, general_chain, random_state, random_tree

EPS = np.finfo(float).eps
TURNS = (
    ((Fraction(3, 5), Fraction(4, 5), 0), (Fraction(-4, 5), Fraction(3, 5), 0), (0, 0, 1)),
    ((1, 0, 0), (0, Fraction(5, 13), Fraction(12, 13)), (0, Fraction(-12, 13), Fraction(5, 13))),
    ((Fraction(8, 17), 0, Fraction(-15, 17)), (0, 1, 0), (Fraction(15, 17), 0, Fraction(8, 17))),
)
SLIDING = (joints.Prismatic("x"), joints.Prismatic("y"), joints.Prismatic("z"), joints.Translational(), joints.Fixed())


def fraction(rng, low=-9, high=10):
    return Fraction(int(rng.integers(low, high)), int(rng.integers(1, 10)))


def rational_tree(seed, nb):
    """A branched tree of sliding and fixed joints, every number of which is a fraction; some joints have rotors."""
    rng = np.random.default_rng(seed)
    bodies, tied = [], []
    for i in range(nb):
        a, b, c = (fraction(rng, 1) for _ in range(3))
        d = fraction(rng, -1, 2) / 90
        I = ((b + c, d, 0), (d, a + c, 0), (0, 0, a + b))
        bodies.append(Body(f"body{i}", Inertia.of(fraction(rng, 1), [fraction(rng) for _ in range(3)], I)))
        kind = SLIDING[int(rng.integers(len(SLIDING)))]
        X = Transform.of(TURNS[int(rng.integers(3))], [fraction(rng) for _ in range(3)])
        rotor = tuple(fraction(rng, 1) for _ in range(kind.nv)) if rng.random() < 0.5 else ()
        tied.append(TreeJoint(f"joint{i}", kind, int(rng.integers(-1, i)), X, rotor_inertia=rotor))
    gravity = tuple(fraction(rng) for _ in range(3))
    model = Model(tuple(bodies), tuple(tied), gravity=gravity)

    def numbers(sizes):
        return [Vector(fraction(rng) for _ in range(n)) for n in sizes]

    nv = [joint.type.nv for joint in model.joints]
    f_ext = {i: Force.of([fraction(rng) for _ in range(6)]) for i in range(nb)}
    return model, numbers(nv), numbers(nv), numbers(nv), f_ext


@pytest.mark.parametrize("seed", range(6))
def test_exact_over_fractions(seed):
    """Divide and conquer, ABA and RNEA's inverse agree to the last digit, of which there is none."""
    model, q, v, tau, f_ext = rational_tree(seed, 6)
    a = divide_and_conquer.forward_dynamics(model, q, v, tau, f_ext)
    assert a == aba.forward_dynamics(model, q, v, tau, f_ext)
    back = rnea.inverse_dynamics(model, q, v, a, f_ext)
    assert [list(back[i]) for i in range(6)] == [list(x) for x in tau]
    assert all(isinstance(x, Fraction) for i in a for x in a[i])


def test_exact_over_many_digits():
    """Forty digits over joints that turn, in a tree whose own numbers have them too."""
    kinds = [
        joints.Revolute("z"), joints.Spherical(), joints.RackAndPinion(0.25), joints.Fixed(), joints.Revolute("x"),
        joints.Universal(), joints.YawPitchRoll(),
    ]  # fmt: skip
    rng = np.random.default_rng(40)
    with mp.workdps(40):

        def numbers(n):
            return [mp.mpf(float(x)) / 3 for x in rng.standard_normal(n)]

        bodies, tied = [], []
        for i, kind in enumerate(kinds):
            a, b, c = (1 + abs(x) for x in numbers(3))
            I = ((b + c, 0, 0), (0, a + c, 0), (0, 0, a + b))
            bodies.append(Body(f"body{i}", Inertia.of(2 + numbers(1)[0], numbers(3), I)))
            X = Transform(rotation.from_rpy(*numbers(3)), tuple(numbers(3)))
            tied.append(TreeJoint(f"joint{i}", kind, max(ROOT, i - 1 - i % 2), X, rotor_inertia=(0.5,) * kind.nv))
        model = Model(tuple(bodies), tuple(tied))
        q, v, tau = (
            [Vector(numbers(n)) for n in sizes] for sizes in ([k.nq for k in kinds], *[[k.nv for k in kinds]] * 2)
        )
        f_ext = {i: Force.of(numbers(6)) for i in range(len(kinds))}
        a, b = (method.forward_dynamics(model, q, v, tau, f_ext) for method in (divide_and_conquer, aba))
        assert max(abs(x - y) for i in a for x, y in zip(a[i], b[i], strict=True)) < mp.mpf(10) ** -36


def test_lanes():
    """A batch in one pass, each row as by itself."""
    model = general_chain(4, 3)
    states = [random_state(model, k) for k in range(5)]
    q, v, tau = (np.stack([getattr(s, name) for s in states]) for name in ("q", "v", "a"))
    together = kn.forward_dynamics(model, q, v, tau, method="divide")
    for k, s in enumerate(states):
        alone = kn.forward_dynamics(model, s.q, s.v, s.a, method="divide")
        np.testing.assert_allclose(together[k], alone, rtol=1e-13)


def test_complex_step():
    """A complex number goes through: the derivative by the joint force is the inverse of H."""
    model = general_chain(3, 5)
    s = random_state(model, 5)
    step = 1e-30
    columns = [
        kn.forward_dynamics(model, s.q, s.v, s.a + 1j * step * e, method="divide").imag / step for e in np.eye(3)
    ]
    H = kn.mass_matrix(model, s.q)
    np.testing.assert_allclose(np.array(columns) @ H, np.eye(3), atol=1e4 * EPS * np.linalg.cond(H))


def parts(model, seed=0):
    """The whole mechanism as it was assembled."""
    s = random_state(model, seed)
    q, v, tau = model.positions(s.q), model.velocities(s.q, s.v), model.velocities(s.q, s.a)
    f_ext = {i: model.zero_force for i in range(model.nb)}
    return divide_and_conquer._join(
        model, *divide_and_conquer._prepare(model, q, v, tau, f_ext), frozenset(range(ROOT, model.nb))
    )


def depth(part):
    return 0 if part.cut is None else 1 + max(depth(part.cut.A), depth(part.cut.B))


def size(part):
    return 1 if part.cut is None else size(part.cut.A) + size(part.cut.B)


@pytest.mark.parametrize("n", [1, 3, 7, 15, 31])
def test_depth_is_logarithmic_in_a_chain(n):
    whole = parts(general_chain(n, n))
    assert size(whole) == n + 1
    assert depth(whole) == math.ceil(math.log2(n + 1))
    assert not whole.b


def test_depth_of_a_binary_tree():
    """A cut at one joint leaves at least a third of a binary tree on each side: depth grows with the logarithm."""
    whole = parts(auto_tree(31, 2.0, 0.5))
    assert size(whole) == 32
    assert depth(whole) <= math.ceil(math.log(32) / math.log(1.5))


def test_star_is_cut_body_by_body():
    """Every body on the base: each cut takes one body off, and they do not feel each other."""
    tree = random_tree(4, 5, types=["revolute", "spherical"], resistance=False)
    star = tree.replace(
        joints=tuple(TreeJoint(j.name, j.type, ROOT, j.X_tree, rotor_inertia=j.rotor_inertia) for j in tree.joints)
    )
    s = random_state(star, 4)
    a = star.velocities(s.q, kn.forward_dynamics(star, s.q, s.v, s.a, s.f_ext, method="divide"))
    for i, joint in enumerate(star.joints):
        alone = Model((star.bodies[i],), (joint,), gravity=star.gravity)
        q, v, tau = star.positions(s.q)[i], star.velocities(s.q, s.v)[i], star.velocities(s.q, s.a)[i]
        expected = kn.forward_dynamics(alone, list(q), list(v), list(tau), s.f_ext[i : i + 1])
        I = star.joints[i].type.transform(q).inv @ star.I[i]
        worst = np.linalg.cond(np.array([[float(x) for x in row] for row in (joint.X_tree.inv @ I).matrix.rows]))
        np.testing.assert_allclose(list(a[i]), expected, rtol=0, atol=100 * EPS * worst * np.abs(expected).max())


def test_no_bodies():
    model = Model((), ())
    assert kn.forward_dynamics(model, [], [], [], method="divide").shape == (0,)


@pytest.mark.parametrize("taper", [1.0, 0.7, 0.5])
def test_rounding(taper):
    """Thin and tapered rods: the error stays within what the conditions of H and of the bodies allow.

    The inertias are inverted in base coordinates, where that of a small body far away is ill-conditioned: this is the
    price of the method, which ABA does not pay.
    """
    model = auto_tree(4, 1.0, 0.7, taper)
    s = random_state(model, 6)
    H = kn.mass_matrix(model, s.q)
    tau = H @ s.a + kn.bias_force(model, s.q, s.v)
    X0 = body_motions.positions(model, model.positions(s.q))
    bodies = [np.array([[float(x) for x in row] for row in (X0[i].inv @ I).matrix.rows]) for i, I in enumerate(model.I)]
    worst = np.linalg.cond(H) * max(map(np.linalg.cond, bodies))
    found = {method: kn.forward_dynamics(model, s.q, s.v, tau, method=method) for method in ("divide", "aba")}
    np.testing.assert_allclose(found["divide"], s.a, rtol=0, atol=100 * EPS * worst)
    np.testing.assert_allclose(found["aba"], s.a, rtol=0, atol=100 * EPS * np.linalg.cond(H))
