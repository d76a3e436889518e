"""Constraints through time: stops that hold, ropes that stay short, and energy that does not come from nowhere."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.model import Builder, Limits, rod

from ..seeds import quick

C = kn.constraints


def double_pendulum(low: float = -0.6, high: float = 0.6) -> kn.Model:
    b = Builder("double pendulum")
    y = Revolute("y")
    b.body("upper", joint=y, inertia=rod(1.0, 1.0, at=(0, 0, -0.5)))
    b.body("lower", on="upper", joint=y, at=(0, 0, -1), inertia=rod(1.0, 1.0, at=(0, 0, -0.5)),
           limits=Limits((low,), (high,)))  # fmt: skip
    b.frame("end", on="lower", at=(0, 0, -1))
    return b.build()


def energy(model: kn.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q)


@pytest.mark.slow
def test_joint_limits_hold_in_a_simulation():
    """The elbow comes to its stop without passing it, and the forces of the stop never do positive work."""
    model = double_pendulum()
    limits = C.joint_limits(model)
    assert len(limits) == 2

    def stops(model: kn.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return kn.constraints.dynamics(model, q, v, np.zeros(2), limits, stabilization=0.01).forces

    motion = kn.simulate(model, [1.5, 0.0], None, 0.5, dt=2e-3, controller=stops)
    free = kn.simulate(model, [1.5, 0.0], None, 0.5, dt=2e-3)
    assert np.abs(free.q[:, 1]).max() > 0.7, "without them it passes"
    assert np.abs(motion.q[:, 1]).max() <= 0.6 + 1e-6
    assert np.abs(motion.q[:, 1]).max() > 0.59, "and it gets there"
    # RK4 meets forces that begin and end within a step: their work is right to the order of a step
    assert np.diff(energy(model, motion.q, motion.v)).max() <= 1e-3


@pytest.mark.parametrize("h", quick([0.01, 0.002], [0.01]))
def test_velocity_steps_end_at_the_stop(h: float):
    """Notes 2.97 with inequalities: a step that would pass the stop ends at it; impacts take energy, and give none."""
    model = double_pendulum(-0.2, 0.2)
    q, v = np.array([1.5, 0.0]), np.zeros(2)
    limits, touched = C.joint_limits(model), 0
    impulses = []
    for _ in range(round(0.8 / h)):
        found = kn.constraints.step_velocity(model, q, v, np.zeros(2), limits, step=h)
        assert found.solved
        free = v + h * kn.forward_dynamics(model, q, v, np.zeros(2))
        H = kn.mass_matrix(model, q)
        assert found.v @ H @ found.v <= free @ H @ free * (1 + 1e-12)
        v = found.v
        q = kn.integrate(model, q, h * v)
        touched += int(found.active.any())
        impulses.append(found.multipliers)
        assert np.abs(q[1]) <= 0.2 + 1e-9
    assert touched > 5
    assert np.min(impulses) >= 0
    assert np.max(impulses) > 0


@pytest.mark.slow
def test_a_rope_that_tightens():
    """The end of the pendulum on a rope to a wall: never further than its length, tight some of the time only."""
    model = double_pendulum(-np.inf, np.inf)
    rope = C.Distance("end", 1.7, on=(-1.0, 0.0, -1.0), bound="<=")
    q, v, h = np.array([-0.3, 0.2]), np.zeros(2), 0.005
    tight = []
    for _ in range(250):
        found = kn.constraints.step_velocity(model, q, v, np.zeros(2), [rope], step=h, stabilization=0.05)
        v = found.v
        q = kn.integrate(model, q, h * v)
        length = np.linalg.norm(kn.pose(model, q, "end")[:3, 3] - [-1.0, 0.0, -1.0])
        assert length <= 1.7 + 20 * h * h  # the constraint is linear within a step
        tight.append(bool(found.multipliers[0] > 0))
    assert any(tight)
    assert not all(tight)


def test_equalities_do_not_drift():
    """A rod in place of a hinge: its length stays, and so does the energy, as the rod does no work."""
    model = double_pendulum(-np.inf, np.inf)
    rod_to_wall = C.Distance("end", 1.2, on=(1.0, 0.0, -1.6))
    q = np.array([0.1, 0.3])
    for _ in range(30):  # onto the length
        row = kn.constraints.Distance("end", 1.2, on=(1.0, 0.0, -1.6))
        found = kn.constraints.step_velocity(model, q, np.zeros(2), np.zeros(2), [row], step=1e-9, stabilization=1.0)
        q = q + found.v

    @kn.kernel
    def rigid(model, q, v):
        """The forces of the rod: H (a − a*)."""
        a = kn.constraints.acceleration(model, q, v, 0 * v, constraints=(rod_to_wall,), stabilization=0.05)
        return kn.inverse_dynamics(model, q, v, a)

    motion = kn.simulate(model, q, None, 2.0, dt=1e-3, controller=rigid)
    ends = kn.pose(model, motion.q, "end")[:, :3, 3]
    length = np.linalg.norm(ends - [1.0, 0.0, -1.6], axis=-1)
    assert np.abs(length - 1.2).max() < 1e-9
    total = energy(model, motion.q, motion.v)
    assert np.ptp(total) < 1e-8 * np.ptp(motion.kinetic_energy) + 1e-9
    assert np.ptp(motion.q[:, 0]) > 0.05, "it moves"
