"""Hybrid dynamics (RBDA 9.1, 9.2; notes 2.9): each joint has its force or its acceleration given. P16 and X11."""

from itertools import pairwise

import casadi as ca
import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.dynamics import hybrid_dynamics as hybrid
from knuckle.functions.hybrid import hybrid_motion as text
from knuckle.functions.loops import closed_response
from knuckle.joints import Revolute
from knuckle.model import Builder, Model
from knuckle.testing import JOINTS, auto_tree, general_chain, random_state, random_tree
from knuckle.testing.compare import array, close
from knuckle.testing.loops.linkages import LINKAGES, Linkage, ladder

from ..seeds import quick

METHODS = ("aba", "crba")
RANDOM = [random_tree(seed, 8, floating=seed % 2 == 0) for seed in range(6)]
EACH_TYPE = [random_tree(k, 4, types=[name]) for k, name in enumerate(JOINTS)]
each_tree = pytest.mark.parametrize("model", [*RANDOM, *EACH_TYPE], ids=[*"abcdef", *JOINTS])


@pytest.fixture(autouse=True)
def plain_texts():
    """The texts themselves; the kernels have a test of their own."""
    kn.compilation.set_policy("never")
    yield
    kn.compilation.set_policy("auto")


def drawn(model: Model, seed: int = 0) -> tuple[tuple[np.ndarray, ...], list[str], np.ndarray]:
    """A state with forces and accelerations, some joints, and which variables are theirs."""
    s, rng = random_state(model, seed), np.random.default_rng([seed, 1])
    names = [name for name in model.joint_names if rng.random() < 0.5]
    theirs = np.isin(np.arange(model.nv), [k for name in names for k in model.variables(model.joint_index(name))])
    return (s.q, s.v, rng.normal(size=model.nv), s.a, rng.normal(size=(model.nb, 6))), names, theirs


# on trees


@pytest.mark.sampled
@each_tree
@pytest.mark.parametrize("method", METHODS)
def test_the_result_satisfies_the_equation_of_motion(model: Model, method: str):
    """H a + C = τ, with everything that was given left as it was (RBDA 9.1; P16)."""
    (q, v, tau, a, f), names, theirs = drawn(model)
    found, forces = kn.hybrid_dynamics(model, q, v, tau, a, f, prescribed=names, method=method)  # type: ignore[arg-type]
    assert np.array_equal(found[theirs], a[theirs])
    assert np.array_equal(forces[~theirs], tau[~theirs])
    H = kn.mass_matrix(model, q)
    size = np.abs(kn.bias_force(model, q, v, f)).max(initial=1.0) + np.abs(H @ found).max(initial=0.0)
    free = H[~theirs][:, ~theirs]
    condition = np.linalg.cond(free) if free.size else 1.0
    close(kn.inverse_dynamics(model, q, v, found, f), forces, condition, size)


@each_tree
def test_both_algorithms_agree(model: Model):
    """Table 9.3 and the four steps with table 9.1 (P16), to rounding times the condition of H₁₁."""
    (q, v, tau, a, f), names, theirs = drawn(model, 1)
    one, other = (kn.hybrid_dynamics(model, q, v, tau, a, f, forced=names, method=method) for method in METHODS)
    free = kn.mass_matrix(model, q)[theirs][:, theirs]
    condition = np.linalg.cond(free) if free.size else 1.0
    for x, y in zip(one, other, strict=True):
        close(x, y, condition, np.abs(kn.bias_force(model, q, v, f)).max(initial=1.0))


@pytest.mark.parametrize("model", RANDOM, ids="abcdef")
@pytest.mark.parametrize("method", METHODS)
def test_all_and_none(model: Model, method: str):
    """All joints forced: forward dynamics. None: inverse dynamics (P16)."""
    (q, v, tau, a, f), _, _ = drawn(model, 2)
    found, forces = kn.hybrid_dynamics(model, q, v, tau, a, f, prescribed=(), method=method)  # type: ignore[arg-type]
    close(found, kn.forward_dynamics(model, q, v, tau, f), np.linalg.cond(kn.mass_matrix(model, q)))
    assert np.array_equal(forces, tau)
    found, forces = kn.hybrid_dynamics(model, q, v, tau, a, f, forced=(), method=method)  # type: ignore[arg-type]
    assert np.array_equal(found, a)
    close(forces, kn.inverse_dynamics(model, q, v, a, f), 10.0)


@pytest.mark.parametrize("model", RANDOM, ids="abcdef")
def test_it_is_the_constrained_system_of_the_notes(model: Model):
    """[M Gᵀ; G 0] (a, λ) with G the rows of the prescribed variables, and their forces are Gᵀλ (notes 2.102)."""
    (q, v, tau, a, f), names, theirs = drawn(model, 3)
    found, forces = kn.hybrid_dynamics(model, q, v, tau, a, f, prescribed=names)
    H, C, G = kn.mass_matrix(model, q), kn.bias_force(model, q, v, f), np.eye(model.nv)[theirs]
    m = len(G)
    system = np.block([[H, -G.T], [G, np.zeros((m, m))]])
    x = np.linalg.solve(system, np.concatenate([np.where(theirs, 0, tau) - C, a[theirs]]))
    condition = np.linalg.cond(system)
    close(found, x[: model.nv], condition)
    close(forces[theirs], x[model.nv :], condition, size=np.abs(C).max())


# algorithm A: H₁₁ and its sparsity


@each_tree
def test_the_part_of_the_mass_matrix_that_is_needed(model: Model):
    """Table 9.1 gives the blocks of H between forced joints, and no others."""
    s, rng = random_state(model, 4), np.random.default_rng(3)
    fd = {i for i in range(model.nb) if rng.random() < 0.6}
    blocks = hybrid.mass_matrix(model, model.positions(s.q), fd)
    H = kn.mass_matrix(model, s.q)
    assert {i for i, _ in blocks} == fd
    for (i, j), block in blocks.items():
        close(array(block).ravel(), H[model.v_slices[i], model.v_slices[j]].ravel(), size=np.abs(H).max(initial=1.0))
    for i in fd:
        for j in fd - {j for k, j in blocks if k == i}:
            assert not H[model.v_slices[i], model.v_slices[j]].any()


BOOK = (-1, 0, 1, 1, 2, 3, 3)
"""Bodies 1 to 7 of a tree like that of figure 9.1, numbered from 0: 1 and 2 in a row, then two branches."""


def test_bodies_that_prescribed_joints_connect_become_one():
    """X11: joints 1 and 2 prescribed, so that bodies 1 and 2 merge with the base, and 3 to 7 become 1 to 5."""
    fd = range(2, 7)
    assert hybrid.merged_parents(BOOK, fd) == (-1, -1, 0, 1, 1)
    assert hybrid.merged_parents(BOOK, range(7)) == BOOK
    assert hybrid.merged_parents(BOOK, ()) == ()
    assert hybrid.merged_parents(BOOK, (0, 4, 5)) == (-1, 0, 0)


def test_what_forced_joints_carry():
    """ν(fd) may hold bodies whose own joint is prescribed (RBDA 9.5, D-24)."""
    assert hybrid.supported(BOOK, ()) == set()
    assert hybrid.supported(BOOK, (2,)) == {2, 4}
    assert hybrid.supported(BOOK, (0,)) == set(range(7))
    assert hybrid.supported(BOOK, (3, 6)) == {3, 5, 6}


def test_branches_below_prescribed_joints_do_not_mix():
    """The zeros of H₁₁ are those of the merged tree: with the trunk prescribed, its branches are apart (figure 9.1)."""
    model = auto_tree(15, branching=2, skew=0.5)
    fd = [i for i in range(15) if i not in (0, 2, 4)]
    H11 = kn.mass_matrix(model, random_state(model, 5).q)[fd][:, fd]
    expected = np.eye(len(fd), dtype=bool)
    for i, p in enumerate(hybrid.merged_parents(model.parents, fd)):
        expected[i] |= expected[p] if p >= 0 else False
    assert np.array_equal(H11 != 0, expected | expected.T)


def test_only_what_is_needed_is_computed():
    """With the outer half forced, H₁₁ and its factorisation are those of the outer half."""
    model = general_chain(16)
    outer = {"prescribed": tuple(range(8)), "method": "crba", "stabilization": None}
    whole = {"prescribed": (), "method": "crba", "stabilization": None}
    half, full = (kn.compilation.operation_count(text, model, **options).mul for options in (outer, whole))
    assert half < 0.6 * full


@pytest.mark.parametrize("prescribed", quick(["none", "all", "even", "first"], ["even", "first"]))
def test_articulated_bodies_cost_the_same_for_each_body(prescribed: str):
    """O(n): four bodies more always add the same number of operations (RBDA 9.2), but for what the simplifier leaves:
    it ends with the pass that saves less than a hundredth."""
    chosen = {"none": range(0), "all": range(10**3), "even": range(0, 10**3, 2), "first": range(1)}[prescribed]
    counts = [
        kn.compilation.operation_count(
            text, general_chain(n), prescribed=tuple(set(chosen) & set(range(n))), method="aba", stabilization=None
        ).mul
        for n in (8, 12, 16)
    ]  # fmt: skip
    steps = [b - a for a, b in pairwise(counts)]
    assert steps[1] == pytest.approx(steps[0], rel=0.03)
    assert steps[0] > 0


# kernels and other numbers


@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
@pytest.mark.parametrize("method", METHODS)
def test_kernels_are_the_texts(shape: tuple[int, ...], method: str):
    model = kn.robots.load("arm")
    rng = np.random.default_rng(4)
    q, v, tau, a = rng.normal(size=(4, *shape, model.nv))
    options = {"prescribed": model.joint_names[:3], "method": method}
    plain = kn.hybrid_dynamics(model, q, v, tau, a, **options)
    kn.compilation.set_policy("always")
    compiled = kn.hybrid_dynamics(model, q, v, tau, a, **options)
    condition = np.linalg.cond(kn.mass_matrix(model, q)).max()
    for x, y in zip(compiled, plain, strict=True):
        assert x.shape == (*shape, model.nv)
        close(x, y, condition)


@pytest.mark.slow
def test_large_mechanisms():
    """Rolled code: a chain of 66, every third joint prescribed."""
    model = general_chain(66)
    (q, v, tau, a, f), _, _ = drawn(model)
    names = model.joint_names[::3]
    plain = kn.hybrid_dynamics(model, q, v, tau, a, f, prescribed=names)
    kn.compilation.set_policy("always")
    compiled = kn.hybrid_dynamics(model, q, v, tau, a, f, prescribed=names)
    for x, y in zip(compiled, plain, strict=True):
        close(x, y, np.linalg.cond(kn.mass_matrix(model, q)))


def test_inside_a_kernel():
    """The two results are vectors there: here the force that a servo needs to hold the first joint still."""

    @kn.kernel
    def holding(model, q, v, tau):
        _, force = kn.hybrid_dynamics(model, q, v, tau, 0 * v, prescribed=["shoulder_joint"])
        return force[0]

    model = pair()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 4, 2))
    kn.compilation.set_policy("always")
    _, wanted = kn.hybrid_dynamics(model, q, v, tau, 0 * v, prescribed=["shoulder_joint"])
    close(holding(model, q, v, tau), wanted[:, 0])


def test_other_numbers():
    model = pair()
    q, v, tau, a = np.random.default_rng(1).normal(size=(4, 2))
    plain = kn.hybrid_dynamics(model, q, v, tau, a, prescribed="elbow_joint")
    with mp.workdps(40):
        fine = kn.hybrid_dynamics(
            model, *(mp.matrix(list(map(mp.mpf, x))) for x in (q, v, tau, a)), prescribed="elbow_joint"
        )
        for x, y in zip(fine, plain, strict=True):
            close([float(part) for part in x], y)
    symbols = [ca.SX.sym(name, 2) for name in ("q", "v", "tau", "a")]
    made = ca.Function("both", symbols, list(kn.hybrid_dynamics(model, *symbols, prescribed="elbow_joint")))
    for x, y in zip(made(q, v, tau, a), plain, strict=True):
        close(np.array(x).ravel(), y)


def pair() -> Model:
    b = Builder("pair", base="world")
    b.body("shoulder", on="world", joint=Revolute("y"), mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, -0.5))
    b.body("elbow", on="shoulder", joint=Revolute("x"), at=(0, 0, -1), mass=1.0, inertia=(0.1, 0.1, 0.1),
           com=(0, 0, -0.5), damping=0.2, rotor_inertia=0.3)  # fmt: skip
    return b.build()


# closed loops


def closed(made: Linkage, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A position and a velocity that keep the loops closed."""
    model, q = made.model, made.q
    v, K = np.random.default_rng(seed).normal(size=model.nv), kn.loops.jacobian(model, q)
    return q, v - np.linalg.pinv(K, rcond=1e-8) @ (K @ v)


def independent(model: Model, q: np.ndarray) -> list[str]:
    own = set(kn.loops.independent_variables(model, q).independent)
    sizes = {name: set(model.variables(i)) for i, name in enumerate(model.joint_names)}
    return [name for name, variables in sizes.items() if variables and variables <= own]


@pytest.mark.parametrize("name", [name for name in LINKAGES if name != "ladder"])
def test_loops_stay_closed_and_forces_do_what_was_asked(name: str):
    """K a = k, the prescribed accelerations come out, and their forces give the same motion to forward dynamics."""
    made = LINKAGES[name]()
    model = made.model
    q, v = closed(made, 1)
    rng = np.random.default_rng(2)
    tau, a = rng.normal(size=(2, model.nv))
    names = independent(model, q)[:2]
    found, forces = kn.hybrid_dynamics(model, q, v, tau, a, prescribed=names)
    theirs = [k for name in names for k in model.variables(model.joint_index(name))]
    assert np.array_equal(found[theirs], a[theirs])
    K, k = kn.loops.jacobian(model, q), kn.loops.bias(model, q, v)
    values = np.linalg.svd(K, compute_uv=False)
    condition = np.linalg.cond(kn.mass_matrix(model.without_loops(), q)) * values[0] / values[values > 1e-6].min()
    close(K @ found, k, condition, size=np.abs(K).max() * np.abs(found).max())
    close(kn.forward_dynamics(model, q, v, forces), found, condition)
    once = kn.hybrid_dynamics(model, q, v, tau, a, prescribed=names, stabilization=0.1)[0]
    shift = (2 / 0.1) * kn.loops.error_rate(model, q, v) + kn.loops.error(model, q) / 0.1**2
    close(K @ once, k - shift, condition, size=np.abs(K).max() * np.abs(found).max())


def test_accelerations_that_the_loops_do_not_have_give_nan_in_their_rows():
    """A four-bar has one freedom: two cranks cannot have any two accelerations, but two that fit are none too many."""
    made = LINKAGES["four-bar"]()
    model = made.model
    q, v = closed(made, 3)
    tau = np.zeros(model.nv)
    right = kn.forward_dynamics(model, q, v, tau)
    wrong = right + np.eye(model.nv)[0]
    names = [model.joint_names[0], model.joint_names[-1]]
    for policy in ("never", "always"):
        kn.compilation.set_policy(policy)
        a, forces = kn.hybrid_dynamics(model, q, v, tau, np.stack([right, wrong]), prescribed=names)
        assert np.isnan([a[1], forces[1]]).all()
        close(a[0], right, 1e3)
        close(kn.forward_dynamics(model, q, v, forces[0]), right, 1e3)
        at_rest, _ = kn.hybrid_dynamics(model, q, 0 * v, tau, 0 * right, prescribed=names[:1])
        close(at_rest, 0 * right, size=1.0)


@pytest.mark.slow
def test_many_loops(monkeypatch: pytest.MonkeyPatch):
    """A long ladder goes by matrices of numbers; a short one by both ways."""
    made = ladder(3)
    model = made.model
    q, v = closed(made, 4)
    tau, a = np.random.default_rng(5).normal(size=(2, model.nv))
    names = independent(model, q)[:1]
    plain = kn.hybrid_dynamics(model, q, v, tau, a, prescribed=names, stabilization=0.1)
    with monkeypatch.context() as patched:
        patched.setattr(closed_response, "FEW", 0)
        by_bodies = kn.hybrid_dynamics(model, q, v, tau, a, prescribed=names, stabilization=0.1)
    close(np.concatenate(by_bodies), np.concatenate(plain), 1e4)
    made = ladder(20)
    q, v = closed(made, 6)
    tau, a = np.random.default_rng(7).normal(size=(2, made.model.nv))
    names = independent(made.model, q)[:1]
    found, forces = kn.hybrid_dynamics(made.model, q, v, tau, a, prescribed=names)
    K = kn.loops.jacobian(made.model, q)
    close(K @ found, kn.loops.bias(made.model, q, v), 1e5, size=np.abs(found).max())
    np.testing.assert_allclose(
        kn.forward_dynamics(made.model, q, v, forces), found, rtol=0, atol=1e-7 * np.abs(found).max()
    )


def test_joints_that_follow_others():
    """A mimic joint: the force given to its source moves both; the pair obeys H a + C = τ with H = GᵀHG."""
    b = Builder("geared", base="world")
    for name, on in (("a", "world"), ("b", "a"), ("c", "b")):
        b.body(name, on=on, joint=Revolute("y"), at=(0, 0, 0.3), mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, 0.2))
    b.mimic("c_joint", "a_joint", ratio=-0.5)
    model = b.build()
    q, v, tau, a = np.random.default_rng(8).normal(size=(4, 2))
    found, forces = kn.hybrid_dynamics(model, q, v, tau, a, prescribed=["a_joint"])
    assert (found[0], forces[1]) == (a[0], tau[1])
    close(kn.inverse_dynamics(model, q, v, found), forces, 100.0)
    with pytest.raises(kn.ModelError, match="it follows a_joint, and has neither"):
        kn.hybrid_dynamics(model, q, v, tau, a, prescribed=["c_joint"])


# errors


def test_errors_say_what_is_needed():
    model = pair()
    x = np.zeros(2)
    with pytest.raises(TypeError, match="either forced or prescribed"):
        kn.hybrid_dynamics(model, x, x, x, x)
    with pytest.raises(TypeError, match="either forced or prescribed"):
        kn.hybrid_dynamics(model, x, x, x, x, forced=["elbow_joint"], prescribed=["shoulder_joint"])
    with pytest.raises(KeyError, match="no joint is called 'elbow'; did you mean 'elbow_joint'"):
        kn.hybrid_dynamics(model, x, x, x, x, forced=["elbow"])
    with pytest.raises(ValueError, match='method is "aba" or "crba"'):
        kn.hybrid_dynamics(model, x, x, x, x, forced=[], method="rnea")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"tau has shape \(3,\), and must have shape \(\.\.\., 2\)"):
        kn.hybrid_dynamics(model, x, x, np.zeros(3), x, forced=[])
