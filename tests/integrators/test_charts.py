"""Coordinates that end: every integrator passes on to another chart, and the motion does not notice."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.functions.configuration import alongside, has_charts, in_charts
from knuckle.integrators import INTEGRATORS, integrator_of
from knuckle.joints import Composite, ExponentialSpherical, Free, Joint, Planar, Prismatic, Revolute, Spherical
from knuckle.scalar import cos, sin
from knuckle.simulation.steps.stepper import stepper
from knuckle.spatial import Transform, Vector

from ..seeds import quick
from .mechanisms import AHEAD, BODY


def pair(kind: Joint, second: Joint | None = None, **joint: Any) -> kn.Model:
    """A fast top that carries another one."""
    builder = kn.Builder("pair")
    builder.body("one", joint=kind, **BODY, **joint)
    builder.body("two", "one", second or kind, AHEAD, **BODY)
    return builder.build()


CHARTED, PLAIN = pair(ExponentialSpherical(), Revolute("x")), pair(Spherical(), Revolute("x"))


def starts() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """One state of both: close before the end of a chart, turning fast."""
    phi, w, hinge = np.array([0.2, 2.9, -0.6]), np.array([0.3, 8.0, -2.0]), (0.4, 1.5)
    S = np.array(ExponentialSpherical().subspace(Vector(phi.tolist())).matrix.rows, float)[:3]
    a = np.linalg.norm(phi)
    quaternion = [np.cos(a / 2), *(np.sin(a / 2) / a * phi)]
    charted = np.array([*phi, hinge[0]]), np.array([*np.linalg.solve(S, w), hinge[1]])
    return charted, (np.array([*quaternion, hinge[0]]), np.array([*w, hinge[1]]))


def apart(q: Any, v: Any, other_q: Any, other_v: Any) -> float:
    """How far states of the two models are apart: in the poses of both bodies and their velocities."""
    poses = (kn.pose(CHARTED, q, name) - kn.pose(PLAIN, other_q, name) for name in ("one", "two"))
    speeds = (kn.velocity(CHARTED, q, v, name) - kn.velocity(PLAIN, other_q, other_v, name) for name in ("one", "two"))
    return max(float(np.abs(x).max()) for pair in zip(poses, speeds, strict=True) for x in pair)


@pytest.fixture(scope="module")
def exact() -> tuple[Any, Any]:
    steps = kn.rollout(PLAIN, *starts()[1], None, 2e-4, steps=2000, save_every=2000, integrator="rk4")
    return steps.q[-1], steps.v[-1]


def test_the_two_models_start_alike():
    (q, v), (other_q, other_v) = starts()
    assert apart(q, v, other_q, other_v) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("name", quick(sorted(set(INTEGRATORS) - {"adaptive"}), ["heun", "variational"]))
def test_every_integrator_keeps_its_order_across_the_ends_of_charts(name: str, exact: tuple[Any, Any]):
    """In 0.4 s the ball joint turns half around, across the end of its chart."""
    errors = list[float]()
    for n in (200, 400):
        q, v = starts()[0]
        found = kn.simulate(CHARTED, q, v, 0.4, dt=0.4 / n, integrator=name, progress=False)
        assert np.abs(np.diff(found.q, axis=0)).max() > 1.0, "the chart was not left"
        assert np.linalg.norm(found.q[:, :3], axis=-1).max() < math.pi + 1e-12
        errors.append(apart(found.q[-1], found.v[-1], *exact))
    order = integrator_of(name).order
    assert errors[1] < 1.0
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35) or errors[1] < 1e-10


def test_adaptive_steps_across_the_ends_of_charts(exact: tuple[Any, Any]):
    method = kn.integrators.DormandPrince(rtol=1e-9, atol_q=1e-10, atol_v=1e-10)
    motion = kn.simulate(CHARTED, *starts()[0], 0.4, integrator=method, progress=False)
    assert motion.reason == "finished"
    assert apart(motion.q[-1], motion.v[-1], *exact) < 1e-6


@pytest.mark.parametrize("name", quick(["heun", "rk4", "adaptive", "implicit", "bdf2"], ["rk4", "adaptive"]))
def test_the_dense_output_crosses_the_ends_of_charts(name: str):
    """Within the step that crosses, states are those of the same step on quaternions, but for the error of the step."""
    (q, v), other = starts()
    dt = 2e-3
    charted, plain = stepper(CHARTED, integrator_of(name)), stepper(PLAIN, integrator_of(name))
    old, old_plain = charted.start(0.0, q, v, dt), plain.start(0.0, *other, dt)
    for k in range(200):
        new, new_plain = charted.step(k * dt, old, dt), plain.step(k * dt, old_plain, dt)
        if np.abs(new.q - old.q).max() > 1:
            break
        old, old_plain = new, new_plain
    else:
        pytest.fail("no step crosses the end of a chart")
    between, between_plain = charted.dense(k * dt, old, new, dt), plain.dense(k * dt, old_plain, new_plain, dt)
    ends = apart(*new[:2], *new_plain[:2])
    for theta in (0.1, 0.5, 0.9):
        assert apart(*between(theta), *between_plain(theta)) < ends + 2e-3
        assert np.linalg.norm(between(theta)[0][:3]) < math.pi + 1e-12


@pytest.mark.slow
def test_simulate_and_rollout_agree_and_rows_interpolate(exact: tuple[Any, Any]):
    q, v = starts()[0]
    motion = kn.simulate(CHARTED, q, v, 0.4, dt=1e-3, progress=False)
    rolled = kn.rollout(CHARTED, q, v, None, 1e-3, steps=400, integrator="rk4")
    np.testing.assert_array_equal(motion.q, rolled.q)
    plain = kn.simulate(PLAIN, *starts()[1], 0.4, dt=1e-3, progress=False)
    for t in np.linspace(0.0, 0.4, 303):
        here, there = motion.state(t), plain.state(t)
        assert apart(here.q, here.v, there.q, there.v) < 1e-4


def test_a_python_controller_and_events_cross_too(exact: tuple[Any, Any]):
    motion = kn.simulate(
        CHARTED, *starts()[0], 0.4, dt=1e-3, controller=lambda model, t: np.zeros(4), progress=False,
        events=lambda t, q, v: float(kn.pose(CHARTED, q, "one")[0, 0]),
    )  # fmt: skip
    assert motion.reason == "finished"
    assert apart(motion.q[-1], motion.v[-1], *exact) < 1e-6
    for event in motion.events:
        assert kn.pose(CHARTED, event.q, "one")[0, 0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("kind", [ExponentialSpherical(), Composite((Prismatic("x"), ExponentialSpherical()))])
def test_springs_reach_across_the_ends_of_charts(kind: Joint):
    """A spring at rest near the end of the chart: energy is kept while the joint passes there."""
    model = pair(kind, Revolute("x"), stiffness=20.0, rest=(*(0.1,) * (kind.nv - 3), 0.3, 2.6, -0.5))
    q = np.array([*(0.1,) * (kind.nv - 3), 0.2, 2.2, -0.4, 0.0])
    v = np.array([*(0.1,) * (kind.nv - 3), 0.1, 3.0, 0.5, 0.2])
    found = kn.rollout(model.with_gravity((0, 0, 0)), q, v, None, 5e-4, steps=4000, integrator="rk4")
    assert np.abs(np.diff(found.q, axis=0)).max() > 1.0, "the chart was not left"
    energy = kn.kinetic_energy(model, found.q, found.v) + kn.potential_energy(model.with_gravity((0, 0, 0)), found.q)
    assert np.ptp(kn.potential_energy(model.with_gravity((0, 0, 0)), found.q)) > 0.5
    assert np.abs(energy - energy[0]).max() < 1e-7 * energy[0]


@pytest.mark.slow
def test_long_runs_stay_finite():
    """Two tops, one on the other."""
    model = pair(ExponentialSpherical())
    q, v = np.array([0.2, 2.9, -0.6, 0.1, -0.2, 0.3]), np.array([0.3, 8.0, -2.0, 1.0, -7.0, 2.0])
    found = kn.rollout(model, q, v, None, 1e-3, steps=20_000, save_every=100, integrator="rk4")
    kinetic = kn.kinetic_energy(model, found.q, found.v)
    energy = kinetic + kn.potential_energy(model, found.q)
    assert np.abs(energy - energy[0]).max() < 1e-3 * kinetic.max()


@dataclass(frozen=True)
class Clock(Joint):
    """A turn about z whose angle stays within ±π: a user's joint with a chart."""

    _q = ("rad",)
    _v = ("rad",)

    def transform(self, q: Vector) -> Transform:
        c, s = cos(q[0]), sin(q[0])
        return Transform(((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return Vector([kn.joints.axis.wrapped(q1[0] - q0[0])])

    def normalized(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        return Vector([kn.joints.axis.wrapped(q[0])]), v


@pytest.mark.parametrize("name", quick(INTEGRATORS, ["rk4", "adaptive", "implicit", "variational"]))
def test_joints_of_users_are_normalized(name: str):
    builder = kn.Builder("clock", gravity=(0, 0, 0))
    builder.body("hand", joint=Clock(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = builder.build()
    motion = kn.simulate(model, [3.0], [2.0], 0.2, dt=1e-2, integrator=name, progress=False)
    assert motion.q[-1, 0] == pytest.approx(3.4 - 2 * math.pi, abs=1e-9)
    for t in np.linspace(0, 0.2, 33):
        assert kn.difference(model, [3.0 + 2 * t], motion.state(t).q)[0] == pytest.approx(0, abs=1e-9)


def test_joints_that_others_follow_keep_their_coordinates():
    builder = kn.Builder("gears", gravity=(0, 0, 0))
    builder.body("hand", joint=Clock(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.body("wheel", joint=Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.couple("wheel_joint", "hand_joint", 0.5)
    model = builder.build()
    assert not has_charts(model)
    assert kn.normalize(model, [4.0], [1.0])[0] == [4.0]
    assert kn.simulate(model, [3.0], [2.0], 0.2, progress=False).q[-1, 0] == pytest.approx(3.4, abs=1e-9)


def test_joints_without_charts_pay_nothing():
    for kind in (Spherical(), Free(), Planar("x"), Spherical().reversed(), Composite((Revolute("x"), Spherical()))):
        model = pair(kind)
        assert not has_charts(model)
        assert not stepper(model, integrator_of("rk4")).system.has_charts
    assert has_charts(pair(Composite((Prismatic("x"), ExponentialSpherical())).reversed()))


def test_charts_forth_and_back():
    (q, v), _ = starts()
    far = np.array([*(q[:3] * 1.2), q[3]])
    new_q, new_v = in_charts(CHARTED, far, v)
    assert np.abs(new_q - far).max() > 1
    for name in ("one", "two"):
        np.testing.assert_allclose(
            kn.velocity(CHARTED, new_q, new_v, name), kn.velocity(CHARTED, far, v, name), atol=1e-13
        )
    back = alongside(CHARTED, far, new_q, new_v)
    np.testing.assert_allclose(np.concatenate(back), np.concatenate([far, v]), atol=1e-12)


@pytest.mark.slow
def test_stops_need_limits_within_a_chart():
    narrow = pair(ExponentialSpherical(), Revolute("x"), limits=((-1.5,) * 3, (1.5,) * 3))
    q = np.zeros(narrow.nq)
    assert kn.simulate(narrow, q, [1, 2, 3, 0], 0.5, joint_limits="rigid", progress=False).reason == "finished"
    wide = pair(ExponentialSpherical(), Revolute("x"), limits=((-2.5,) * 3, (2.5,) * 3))
    with pytest.raises(ValueError, match=r"limits of joint 'one_joint' .* reach to .* where its coordinates begin"):
        kn.simulate(wide, q, None, 0.1, joint_limits="rigid", progress=False)
    assert kn.simulate(wide, q, None, 0.1, joint_limits=None, progress=False).reason == "finished"
