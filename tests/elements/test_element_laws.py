"""What force elements do, in every function: dynamics, virtual work, energy, power, slopes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import Cable, Drag, Line, LinePoint, PointForce, Spring
from knuckle.model import Model
from knuckle.model.elements.lines import TensionLine
from knuckle.testing import random_state

from ..seeds import seeds
from .elements_on_trees import random_with_elements

STEP = 1e-30
SEEDS = seeds(4, quick=2)


def along(function: Any, model: Model, q: np.ndarray, *rest: np.ndarray) -> np.ndarray:
    """∂f/∂q in the directions of the velocity variables, by complex steps: the last axis is the direction."""
    rates = kn.velocity_to_qdot(model, q, np.eye(model.nv))
    columns = [np.imag(function(model, q + 1j * STEP * rate, *rest)) / STEP for rate in rates]
    return np.stack(columns, axis=-1)


def close(a: Any, b: Any, tolerance: float = 1e-11) -> bool:
    return bool(np.abs(np.asarray(a) - b).max() <= tolerance * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_dynamics_have_the_forces_of_elements(seed: int, floating: bool):
    model = random_with_elements(seed, floating=floating)
    s, bare = random_state(model, seed), model.without_elements()
    f = elements.wrenches(model, s.q, s.v)
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a)
    assert np.abs(f).max() > 1
    assert close(tau, kn.inverse_dynamics(bare, s.q, s.v, s.a, f))
    assert close(tau, kn.inverse_dynamics(bare, s.q, s.v, s.a) - elements.joint_forces(model, s.q, s.v))
    assert close(kn.bias_force(model, s.q, s.v), kn.bias_force(bare, s.q, s.v, f))
    H = kn.mass_matrix(model, s.q)
    rounding = 1e-13 * np.linalg.norm(np.linalg.inv(H)) * np.linalg.norm(tau)
    for method in ("aba", "crba", "divide"):
        assert np.abs(kn.forward_dynamics(model, s.q, s.v, tau, method=method) - s.a).max() < rounding
    forced = model.joint_names[0]
    a, needed = kn.hybrid_dynamics(model, s.q, s.v, tau, s.a, forced=[forced])
    assert np.abs(a - s.a).max() < rounding
    assert np.abs(needed - tau).max() < rounding * np.linalg.norm(H)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_compiled_is_what_the_text_says(seed: int):
    """The canonical form moves the frames of bodies, and elements go with them."""
    model = random_with_elements(seed, floating=bool(seed % 2))
    states = [random_state(model, k) for k in range(5)]
    q, v, a = (np.stack([getattr(s, name) for s in states]) for name in ("q", "v", "a"))
    compiled = kn.kernel(lambda model, q, v, a: kn.inverse_dynamics(model, q, v, a))(model, q, v, a)
    f = elements.wrenches(model, q, v)
    assert close(compiled, kn.inverse_dynamics(model.without_elements(), q, v, a, f))


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_at_rest_are_the_slope_of_the_energy(seed: int):
    model = random_with_elements(seed)
    model = model.replace(elements=tuple(x for x in model.elements if x.name != "jet"))
    q = random_state(model, seed).q
    tau = elements.joint_forces(model, q, np.zeros(model.nv))
    assert close(tau, -along(lambda m, q: elements.energies(m, q).sum(), model, q), 1e-12)
    gravity = kn.gravity_force(model, q)
    assert close(gravity - tau, along(kn.potential_energy, model, q), 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_moment_arms_are_slopes_of_lengths(seed: int):
    model = random_with_elements(seed)
    s = random_state(model, seed)
    R = elements.moment_arms(model, s.q)
    assert len(R) == sum(isinstance(x, TensionLine) for x in model.elements)
    assert close(R, -along(elements.lengths, model, s.q), 1e-12)
    assert close(elements.rates(model, s.q, s.v), -R @ s.v, 1e-12)
    lines = model.replace(elements=tuple(x for x in model.elements if isinstance(x, TensionLine)))
    tau = elements.joint_forces(lines, s.q, s.v)
    assert close(tau, R.T @ elements.tensions(model, s.q, s.v), 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_are_exact(seed: int):
    model = random_with_elements(seed)
    s = random_state(model, seed)
    K, D = elements.stiffness(model, s.q, s.v), elements.damping(model, s.q, s.v)
    by_v = np.stack(
        [np.imag(elements.joint_forces(model, s.q, s.v + 1j * STEP * e)) / STEP for e in np.eye(model.nv)], axis=-1
    )
    assert close(K, -along(elements.joint_forces, model, s.q, s.v), 1e-12)
    assert close(D, -by_v, 1e-12)
    assert np.abs(K).max() > 1
    assert np.abs(D).max() > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_that_at_the_joints_and_dampers_take_it(seed: int):
    model = random_with_elements(seed)
    s = random_state(model, seed)
    powers = elements.powers(model, s.q, s.v)
    assert powers.sum() == pytest.approx(elements.joint_forces(model, s.q, s.v) @ s.v, rel=1e-11, abs=1e-11)
    stored = along(elements.energies, model, s.q) @ s.v
    lost = {x.name: p + e for x, p, e in zip(model.elements, powers, stored, strict=True) if x.name != "jet"}
    assert all(x <= 1e-12 for x in lost.values()), lost
    assert lost["weight"] == pytest.approx(0, abs=1e-12)
    assert lost["drag"] < 0


@pytest.mark.parametrize("seed", SEEDS)
def test_every_force_between_bodies_has_its_reaction(seed: int):
    """The sum of the forces on all bodies, and on the base, is that of the forces from outside."""
    model = random_with_elements(seed)
    inside = tuple(x for x in model.elements if x.name in ("spring", "cable", "weight", "bushing"))
    s = random_state(model, seed)
    total, largest = np.zeros(6), 0.0
    for x in inside:
        placed = [(kn.pose(model, s.q, name), name) for name in x.frames]
        X = [kn.spatial.Transform.of(pose[:3, :3].T.tolist(), pose[:3, 3].tolist()) for pose, _ in placed]
        V = [kn.spatial.Motion.of(kn.velocity(model, s.q, s.v, name).tolist()) for _, name in placed]
        for Y, f in zip(X, x.forces(X, V), strict=True):
            total += np.array((Y.inv @ f).components, float)
            largest = max(largest, float(np.abs(np.array(f.components, float)).max()))
    assert largest > 1
    assert np.abs(total).max() < 1e-12 * largest


def test_a_cable_never_pushes():
    law = Cable(100.0, 1.0, 50.0)
    assert law.tension(0.9, 5.0) == 0
    assert law.tension(1.1, -5.0) == 0
    assert law.tension(1.1, 1.0) == pytest.approx(60)
    assert law.energy(0.5) == 0


def test_a_line_whose_points_are_one_pulls_nowhere():
    """Also its slopes are finite: a spring of no rest length is linear there."""
    b = kn.Builder("point", gravity=(0, 0, 0))
    b.body("ball", joint=kn.joints.Translational(), mass=1.0)
    b.spring("spring", b.base.name, "ball", stiffness=7.0, rest=0.0)
    model = b.build()
    zero = np.zeros(3)
    assert np.array_equal(kn.forward_dynamics(model, zero, zero, zero), zero)
    assert close(elements.stiffness(model, zero, zero), 7.0 * np.eye(3))


def test_springs_of_a_row_of_masses_swing_as_they_should():
    """ω_j = 2 √(k/m) sin (jπ / 2(N + 1)), along the row."""
    n, k, m, gap = 6, 50.0, 0.3, 0.2
    b = kn.Builder("row", gravity=(0, 0, 0), base="wall")
    b.frame("end", at=(gap * (n + 1), 0, 0))
    for i in range(n):
        b.body(f"m{i}", on="wall", joint=kn.joints.Prismatic("x"), at=(gap * (i + 1), 0, 0), mass=m)
    ends = ["wall", *(f"m{i}" for i in range(n)), "end"]
    for i, (one, other) in enumerate(pairwise(ends)):
        b.spring(f"s{i}", one, other, stiffness=k)
    model = b.build()
    zero = np.zeros(n)
    squares = np.linalg.eigvalsh(elements.stiffness(model, zero, zero) / m)
    expected = 2 * np.sqrt(k / m) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    assert np.sqrt(squares) == pytest.approx(expected, rel=1e-12)


def test_loops_and_couplings():
    model = kn.robots.load("four_bar")
    linked = model.replace(
        elements=(
            Line("spring", (LinePoint(model.base.name, (0.1, 0.2, 0.0)), LinePoint(model.body_names[1])), Spring(30.0)),
            Drag("drag", model.body_names[0], (1.0, 1.0, 1.0), (0.1, 0.1, 0.1)),
        )
    )
    q, v = kn.neutral(model), np.zeros(model.nv)
    f = elements.wrenches(linked, q, v)
    expected = kn.forward_dynamics(model, q, v, np.zeros(model.nv), f)
    assert close(kn.forward_dynamics(linked, q, v, np.zeros(model.nv)), expected)
    assert close(kn.forward_dynamics(linked, q, v, np.zeros(model.nv), method="kkt"), expected, 1e-9)


def test_more_digits_and_other_scalars():
    mpmath = pytest.importorskip("mpmath")
    model = random_with_elements(2)
    s = random_state(model, 2)
    with mpmath.workdps(40):
        exact = model.with_scalars(mpmath.mpf)
        q, v, a = ([mpmath.mpf(x) for x in part.tolist()] for part in (s.q, s.v, s.a))
        tau = [float(x) for x in kn.inverse_dynamics.reference(exact, q, v, a)]
    assert close(kn.inverse_dynamics(model, s.q, s.v, s.a), np.array(tau), 1e-12)


def test_single_precision():
    model = random_with_elements(2)
    s = random_state(model, 2)
    tau = kn.inverse_dynamics(model, *(x.astype(np.float32) for x in (s.q, s.v, s.a)))
    assert tau.dtype == np.float32
    assert close(tau, kn.inverse_dynamics(model, s.q, s.v, s.a), 1e-4)


def test_a_weight_on_a_string_and_a_thruster():
    """A force along axes of the base has an energy; one that turns with the body does not."""
    b = kn.Builder("arm")
    b.body("arm", joint=kn.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    b.point_force("weight", ("arm", (0, 0, -1.0)), (0.0, 0.0, -3.0))
    b.point_force("jet", ("arm", (0, 0, -1.0)), (2.0, 0.0, 0.0), axes="body")
    model = b.build()
    q, v = np.array([0.7]), np.zeros(1)
    assert elements.joint_forces(model, q, v) == pytest.approx([-3.0 * np.sin(0.7) - 2.0])
    assert elements.energies(model, q) == pytest.approx([-3.0 * np.cos(0.7), 0.0])
    assert isinstance(model.elements[0], PointForce)
