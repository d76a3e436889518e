"""The derivatives of inverse and forward dynamics: laws, exact differentiation of the plain texts, and structure."""

from __future__ import annotations

import dataclasses
from typing import Any

import mpmath
import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.derivatives.inverse_factor import inverse_factor
from knuckle.functions.derivatives.dual_jacobians import along, derivative_of, slopes_of
from knuckle.joints import Driven, Free, Polynomial, Revolute, Sinusoid, Together, Universal
from knuckle.model import Model, TreeJoint
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector
from knuckle.testing import JOINTS, FullState, auto_tree, derivatives, random_state, random_tree

from ..elements.elements_on_trees import with_elements
from ..seeds import Together as Some
from ..seeds import seeds

TOLERANCE, STEP = 1e-11, 1e-30


def numbers(M: Matrix) -> Any:
    return np.array([[float(x) for x in row] for row in M.rows]).reshape(M.nrows, M.ncols)


def by_complex_steps(f: Any, model: Model, s: FullState) -> list[Any]:
    """The derivatives in q, along the velocity variables, in v, and in the third argument."""
    units = STEP * np.eye(model.nv)
    moved = (
        [(s.q + 1j * kn.velocity_to_qdot(model, s.q, e), s.v, s.a) for e in units],
        [(s.q, s.v + 1j * e, s.a) for e in units],
        [(s.q, s.v, s.a + 1j * e) for e in units],
    )
    return [np.array([f(model, *x, s.f_ext).imag / STEP for x in states]).T for states in moved]


def check_columns(model: Model, s: FullState) -> None:
    """Every column of every derivative."""
    for f, of in (
        (kn.inverse_dynamics, kn.derivatives.inverse_dynamics),
        (kn.forward_dynamics, kn.derivatives.forward_dynamics),
    ):
        for found, wanted in zip(of(model, s.q, s.v, s.a, s.f_ext), by_complex_steps(f, model, s), strict=True):
            size = max(1.0, np.abs(wanted).max())
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("near_singular", [False, True])
@pytest.mark.parametrize("seed", seeds(120, quick=3))
def test_the_law_holds(seed: int, near_singular: bool) -> None:
    model = random_tree(seed, floating=seed % 3 == 0)
    state = random_state(model, 1000 + seed, near_singular=near_singular)
    assert derivatives(model, state) < TOLERANCE, str(model)


@pytest.mark.slow
@pytest.mark.parametrize("names", [Some(sorted(JOINTS))], ids=["every joint type"])
@pytest.mark.parametrize("seed", seeds(3, quick=1))
def test_every_joint_type_obeys_it(names: Any, seed: int) -> None:
    model = random_tree(seed, nb=2, types=[names])
    assert derivatives(model, random_state(model, seed)) < TOLERANCE


@pytest.mark.parametrize("seed", seeds(10, quick=1))
def test_the_law_notices_a_mistake(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, right = random_tree(seed, nb=6, types=["revolute"]), kn.spatial.Inertia.coriolis
    monkeypatch.setattr(kn.spatial.Inertia, "coriolis", lambda I, v: right(I, v * 1.0001))
    assert derivatives(model, random_state(model, seed)) > 1e-7


def sprung(model: Model) -> Model:
    """Springs, dampers and friction at every joint."""
    joints = [
        dataclasses.replace(j, stiffness=(3.0,) * n, damping=(0.3,) * n, friction=(0.2,) * n)
        for j in model.joints
        for n in [j.type.nv]
    ]
    return model.replace(joints=tuple(joints))


@pytest.mark.parametrize("seed", seeds(12, quick=1))
def test_springs_dampers_and_rotors_at_all_joints(seed: int) -> None:
    model = sprung(random_tree(seed, nb=2, types=["free", "spherical", "helical", "universal"], floating=seed % 2 == 0))
    check_columns(model, random_state(model, seed))


@pytest.mark.parametrize("seed", seeds(8, quick=1))
def test_force_elements(seed: int) -> None:
    model = with_elements(random_tree(seed, nb=2, types=["revolute", "spherical"]), seed)
    check_columns(model, random_state(model, seed))


@pytest.mark.parametrize("seed", seeds(8, quick=1))
def test_joints_that_time_moves(seed: int) -> None:
    tree = random_tree(seed, nb=3, types=["universal", "revolute"], resistance=False)
    law = Together((Sinusoid(0.4, 1.5, 0.2, -0.1), Polynomial((0.3, -0.2, 0.5, 0.1))))
    moved = TreeJoint("moved", Driven(Universal(), law), tree.joints[1].parent, tree.joints[1].X_tree)
    model = tree.replace(joints=(tree.joints[0], moved, *tree.joints[2:])).at_time(0.7)
    check_columns(model, random_state(model, seed))


def test_a_planar_mechanism_in_the_plane() -> None:
    tree = auto_tree(4, 2.0)
    model = tree.with_gravity((0.0, -9.81, 0.0))
    flat, s = kn.model.to_planar(model), random_state(model, 3)
    for of in (kn.derivatives.inverse_dynamics, kn.derivatives.forward_dynamics):
        for found, wanted in zip(of(flat, s.q, s.v, s.a), of(model, s.q, s.v, s.a), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-12 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("seed", seeds(10, quick=1))
def test_dual_numbers_through_the_plain_text_give_the_same(seed: int) -> None:
    model = random_tree(seed, nb=4, types=["yaw_pitch_roll", "revolute", "spherical", "composite"])
    s = random_state(model, seed)
    in_v, in_q = slopes_of(
        lambda q, v: kn.inverse_dynamics.reference(model, q, v, s.a, s.f_ext), model, Vector(s.q), Vector(s.v)
    )
    found = kn.derivatives.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    for M, columns in ((found.q, in_q), (found.v, in_v)):
        wanted = numbers(Matrix.columns([*columns], model.nv))
        np.testing.assert_allclose(M, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("seed", seeds(6, quick=1))
def test_second_derivatives_by_dual_numbers(seed: int) -> None:
    """The text runs on dual numbers: what joints differentiate inside does not mix with what goes through."""
    model = random_tree(seed, nb=3, types=["yaw_pitch_roll", "composite", "rack_and_pinion"])
    s = random_state(model, seed)
    qd = kn.velocity_to_qdot(model, s.q, s.v)
    moving = along(Vector(s.q), Vector(qd)), along(Vector(s.v), Vector(s.a)), Vector(s.a)
    found = kn.derivatives.inverse_dynamics.reference(model, *moving)
    stepped = kn.derivatives.inverse_dynamics(model, s.q + 1j * STEP * qd, s.v + 1j * STEP * s.a, s.a + 0j)
    for M, wanted in zip(found, stepped, strict=True):
        rates = numbers(Matrix([derivative_of(Vector(row)) for row in M.rows], model.nv))
        np.testing.assert_allclose(rates, wanted.imag / STEP, rtol=0, atol=1e-9 * max(1.0, np.abs(rates).max()))


def test_fifty_digits() -> None:
    """Frames are not turned: rotation matrices of floats are none, to fifty digits."""
    b = kn.Builder("exact")
    moments = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))
    body: dict[str, Any] = dict(mass=1.5, com=(0.1, 0.2, -0.3), inertia=moments)
    b.body("one", joint=Universal(), at=(0.1, 0.2, 0.3), **body)
    b.body("two", on="one", joint=Revolute("y"), at=(0.4, 0.2, 0.3), **body)
    s = random_state(b.build(), 5)
    with mpmath.workdps(50):
        model = b.build().with_scalars(mpmath.mpf)
        q, v, a = ([mpmath.mpf(float(x)) for x in part] for part in (s.q, s.v, s.a))
        h = mpmath.mpf(10) ** -15
        for f, of in (
            (kn.inverse_dynamics, kn.derivatives.inverse_dynamics),
            (kn.forward_dynamics, kn.derivatives.forward_dynamics),
        ):
            found = of(model, q, v, a)
            for k in range(model.nv):
                move = [h if i == k else 0 for i in range(model.nv)]
                in_q, in_v = (
                    [(x - y) / (2 * h) for x, y in zip(f(model, *up, a), f(model, *down, a), strict=True)]
                    for up, down in (
                        ((moved(q, move, 1), v), (moved(q, move, -1), v)),
                        ((q, moved(v, move, 1)), (q, moved(v, move, -1))),
                    )
                )
                assert max(abs(x - y) for x, y in zip(found.v[:, k], in_v, strict=True)) < 1e-30
                assert max(abs(x - y) for x, y in zip(found.q[:, k], in_q, strict=True)) < 1e-27


def moved(x: list[Any], step: list[Any], sign: int) -> list[Any]:
    return [y + sign * d for y, d in zip(x, step, strict=True)]


def test_gravity_has_a_potential() -> None:
    """∂g/∂q is the Hessian of the potential energy, where positions are plain."""
    model = random_tree(2, nb=5, types=["revolute", "prismatic", "helical"])
    still = np.zeros(model.nv)
    K = kn.derivatives.inverse_dynamics(model, random_state(model, 2).q, still, still).q
    np.testing.assert_allclose(K, K.T, atol=1e-12 * np.abs(K).max())


def test_columns_of_a_floating_base_that_need_no_solving() -> None:
    model = random_tree(4, nb=4, types=["revolute", "prismatic"], floating=True, resistance=False)
    bare = dataclasses.replace(model.joints[0], rotor_inertia=())
    model = model.replace(joints=(bare, *model.joints[1:]))
    s = random_state(model, 4)
    found = kn.derivatives.forward_dynamics(model, s.q, s.v, s.a)
    assert not found.q[:, 3:6].any()
    assert not found.q[[0, 1, 2, *range(6, model.nv)], :3].any()
    assert not found.v[[0, 1, 2, *range(6, model.nv)], 3:6].any()
    g = kn.forward_dynamics(model, s.q, s.v, s.a) - kn.forward_dynamics(model.with_gravity((0, 0, 0)), s.q, s.v, s.a)
    np.testing.assert_allclose(found.q[3:6, :3], np.cross(g[3:6], np.eye(3)).T, atol=1e-11)
    np.testing.assert_allclose(found.v[3:6, 3:6], np.cross(np.eye(3), s.v[:3]).T, atol=1e-13)
    others = kn.compilation.operation_count(kn.derivatives.forward_dynamics, model.replace(
        joints=(dataclasses.replace(bare, rotor_inertia=(0.5,) * 6), *model.joints[1:])
    ))  # fmt: skip
    assert kn.compilation.operation_count(kn.derivatives.forward_dynamics, model).total < 0.9 * others.total


@pytest.mark.parametrize("rest", [True, False])
def test_nothing_is_undefined_at_zero(rest: bool) -> None:
    """No rotation, no velocity, no acceleration."""
    model = sprung(random_tree(6, nb=3, types=["spherical", "exponential"]))
    s = random_state(model, 6)
    still = np.zeros(model.nv)
    q, v = kn.neutral(model), still if rest else s.v
    found = (*kn.derivatives.inverse_dynamics(model, q, v, still), *kn.derivatives.forward_dynamics(model, q, v, still))
    assert all(np.isfinite(M).all() for M in found)
    if not rest:
        assert derivatives(model, FullState(q, v, s.a, s.f_ext)) < TOLERANCE


def test_loops_are_refused() -> None:
    with pytest.raises(kn.ModelError, match="without_loops"):
        kn.derivatives.inverse_dynamics(kn.robots.load("four_bar"), *np.zeros((3, kn.robots.load("four_bar").nv)))


def test_nothing_to_move() -> None:
    model = kn.Builder("nothing").build()
    assert [M.shape for M in kn.derivatives.forward_dynamics(model, *np.zeros((3, 0)))] == [(0, 0)] * 3


@pytest.mark.parametrize("seed", seeds(20, quick=2))
def test_the_inverse_factor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 7
    parents = [-1, *(int(rng.integers(-1, i)) for i in range(1, n))]
    L = np.eye(n)
    for i in range(n):
        k = parents[i]
        while k >= 0:
            L[i, k], k = rng.normal(), parents[k]
    H = L.T @ np.diag(rng.uniform(1.0, 2.0, n)) @ L
    pattern = (np.abs(L) + np.abs(L).T) > 0
    factor = inverse_factor(Matrix([[float(x) if there else ZERO for x, there in zip(row, some, strict=True)]
                                    for row, some in zip(H, pattern, strict=True)], n), parents)  # fmt: skip
    b = rng.normal(size=n)
    np.testing.assert_allclose([float(x) for x in factor.solve(b.tolist())], np.linalg.solve(H, b), rtol=1e-9)
    np.testing.assert_allclose(numbers(factor.inverse()), np.linalg.inv(H), rtol=1e-9, atol=1e-12)
    B, C = rng.normal(size=(n, 3)), rng.normal(size=(n, 5))
    both = factor.opposite.solve_both(*(Matrix(M.tolist(), M.shape[1]) for M in (B, C)))
    for found, M in zip(both, (B, C), strict=True):
        np.testing.assert_allclose(numbers(found), -np.linalg.solve(H, M), rtol=1e-9, atol=1e-12)
    assert all(row[i] is ONE and set(row) == {i, *_above(parents, i)} for i, row in enumerate(factor.W))


def _above(parents: list[int], i: int) -> list[int]:
    return [] if parents[i] < 0 else [parents[i], *_above(parents, parents[i])]


def test_batches_and_both_precisions_compiled() -> None:
    b = kn.Builder("two on a float")
    b.body("hull", joint=Free(), mass=2.0, inertia=(0.2, 0.3, 0.4))
    b.body("arm", on="hull", joint=Revolute("y"), at=(0.1, 0.2, 0.3), mass=1.0, com=(0.1, 0, 0.2), inertia=(0.1,) * 3)
    model = b.build()
    states = [random_state(model, k) for k in range(300)]
    q, v, a = (np.array([getattr(s, name) for s in states]) for name in "qva")
    for of in (kn.derivatives.inverse_dynamics, kn.derivatives.forward_dynamics):
        batch, single = of(model, q, v, a), of(model, *(x.astype(np.float32) for x in (q, v, a)))
        for k in (0, 299):
            plain = of.reference(model, q[k], v[k], a[k])
            for M, N, wanted in zip(batch, single, plain, strict=True):
                size = max(1.0, np.abs(numbers(wanted)).max())
                np.testing.assert_allclose(M[k], numbers(wanted), rtol=0, atol=1e-11 * size)
                np.testing.assert_allclose(N[k], numbers(wanted), rtol=0, atol=1e-3 * size)
        assert type(batch) is type(of(model, q[0], v[0], a[0]))
        assert batch._fields == single._fields
