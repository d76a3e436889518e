"""How the variables of every joint change: rate, integrate, difference, neutral, random, normalized."""

import math

import numpy as np
import pytest

from knuckle.joints import (
    Composite,
    ConstantSubspace,
    Continuous,
    ExponentialSpherical,
    Free,
    Joint,
    Planar,
    PlanarLocal,
    Revolute,
    Spherical,
)
from knuckle.scalar import Dual
from knuckle.spatial import Vector, lie

from .zoo import SKEW, ZOO, close, numbers, state

NEAR_PI = math.pi - 1e-3


def step_of(joint: Joint, size: float, seed: int = 0) -> Vector:
    """A step of the given length, so that no part of it turns further."""
    direction = np.random.default_rng([seed, 11]).standard_normal(joint.nv)
    return Vector(map(float, direction * (size / np.linalg.norm(direction) if joint.nv else 1.0)))


def test_the_velocity_of_a_rate(joint: Joint, seed: int):
    """The rate the other way round, where it is known; what makes a quaternion longer adds nothing."""
    q, v = state(joint, seed)
    found = joint.velocity(q, joint.rate(q, v))
    if found is not None:
        close(found, v, 1e-15)
    if isinstance(joint, (Free, Spherical)):
        longer = Vector(1.5 * x if k < 4 else x for k, x in enumerate(q))
        rate = Vector(
            x + 0.3 * y if k < 4 else x for k, (x, y) in enumerate(zip(joint.rate(longer, v), q, strict=True))
        )
        close(joint.velocity(longer, rate), v, 1e-15)


def test_velocities_are_known_of_quaternions_and_plain_coordinates():
    q, plain = Spherical().neutral(), Vector([0.2])
    assert Spherical().velocity(q, q) is not None
    assert Revolute("z").velocity(plain, plain) is plain
    assert Planar().velocity(Vector([0.1, 0.2, 0.3]), Vector([1.0, 2.0, 3.0])) is None


def test_difference_undoes_integrate(joint: Joint, seed: int):
    """To rounding of q and of the step; next to a half turn the logarithm of a quaternion loses another 1/gap."""
    for size in [0.0, 1e-9, 0.4, NEAR_PI]:
        q, _ = state(joint, seed)
        dv = step_of(joint, size, seed)
        back = joint.difference(q, joint.integrate(q, dv))
        close(back, dv, 1e-12 if size == NEAR_PI else 2e-15)


def test_integrate_undoes_difference(joint: Joint, seed: int):
    """The place is the same; an angle may come out a turn away, a quaternion with the other sign."""
    q0, q1 = state(joint, seed)[0], state(joint, seed + 100)[0]
    close(joint.transform(joint.integrate(q0, joint.difference(q0, q1))), joint.transform(q1))


def test_no_difference_between_equal_positions(joint: Joint, seed: int):
    q, _ = state(joint, seed)
    close(joint.difference(q, q), [0.0] * joint.nv, 1e-15)


def test_integrate_starts_with_the_rate(joint: Joint, seed: int):
    """d/dt integrate(q, v t) at t = 0 is q̇ = rate(q, v)."""
    q, v = state(joint, seed)
    moved = joint.integrate(q, Vector(x * Dual(0.0, 1.0) for x in v))
    close([x.derivative if isinstance(x, Dual) else 0.0 for x in moved], joint.rate(q, v), 1e-14)


def test_two_half_steps_are_one(joint: Joint, seed: int):
    """Constant velocity variables: integrate is a flow."""
    q, v = state(joint, seed)
    halfway = joint.integrate(q, v * 0.5)
    close(joint.transform(joint.integrate(halfway, v * 0.5)), joint.transform(joint.integrate(q, v)))


@pytest.mark.parametrize("name", [name for name, joint in ZOO.items() if isinstance(joint, ConstantSubspace)])
def test_constant_subspace_moves_along_a_screw(name: str, seed: int):
    """With constant S the steady motion is the exponential of S v: exact on SE(2), SO(3) and SE(3)."""
    joint = ZOO[name]
    q, v = state(joint, seed)
    screw = lie.exp(joint.subspace(q) @ v) @ joint.transform(q)
    close(joint.transform(joint.integrate(q, v)), screw)


def test_random_positions_are_valid_and_normal_forms(joint: Joint, seed: int):
    """Unit quaternions, vectors within half a turn: `normalized` has nothing to do."""
    q, v = state(joint, seed)
    assert len(q) == joint.nq
    assert all(isinstance(x, float) for x in q)
    close(joint.normalized(q, v), (q, v), 2e-16)
    close(joint.normalized(joint.neutral(), v), (joint.neutral(), v), 0.0)


@pytest.mark.parametrize("joint", [Spherical(), Free(), Composite((Revolute("x"), Spherical())), Free().reversed()])
def test_normalized_makes_unit_quaternions(joint: Joint):
    q, v = state(joint, 1)
    long = Vector(1.7 * x if unit == "1" else x for x, unit in zip(q, joint.q_units, strict=True))
    q1, v1 = joint.normalized(long, v)
    close(q1, q)
    close((joint.transform(q1), joint.motion(q1, v1).v), (joint.transform(q), joint.motion(q, v).v))
    close(joint.transform(long), joint.transform(q))


@pytest.mark.parametrize("length", [3.0, math.pi + 1e-6, 4.0, 6.0, 2 * math.pi - 1e-3, 2 * math.pi + 0.1, 9.0, 20.0])
def test_normalized_turns_long_rotation_vectors_back(length: float):
    """X, v_J and c_J do not change when q is re-parametrised (notes 2.4.8): v becomes S⁻¹ S_prev v.

    Next to 2π S is singular and S⁻¹ costs 1/|2π − |q|| digits, which the tolerance grants.
    """
    joint = ExponentialSpherical()
    direction, v = step_of(joint, 1.0, 3), Vector([0.3, -0.7, 1.1])
    q = direction * length
    q1, v1 = joint.normalized(q, v)
    assert math.hypot(*q1) <= math.pi
    assert math.hypot(*q1) == pytest.approx(abs(math.remainder(length, 2 * math.pi)))
    loss = 1 / min(1.0, abs(length - 2 * math.pi))
    before, after = joint.motion(q, v), joint.motion(q1, v1)
    close((after.X, after.v), (before.X, before.v), 1e-14 * loss)
    if length < math.pi:
        assert (q1, v1) == (q, v)


def test_normalized_passes_through_a_full_turn():
    """At |q| = 2π exactly S has rank one; the state after it is the one at rest."""
    joint = ExponentialSpherical()
    axis = step_of(joint, 1.0, 4)
    q1, v1 = joint.normalized(axis * (2 * math.pi), axis * 0.7)
    close(q1, [0.0] * 3, 1e-15)
    close(v1, axis * 0.7, 1e-14)


def test_accelerations_survive_a_change_of_chart():
    """v_J as a function of time is smooth across the re-parametrisation: its rate is S v̇ + c_J on either side."""
    joint = ExponentialSpherical()
    q, v, a = Vector([2.0, -2.5, 1.0]), Vector([0.2, 0.4, -0.9]), Vector([1.0, 0.5, -0.3])
    rate = joint.subspace(q) @ a + joint.motion(q, v).c
    now = (
        Vector(Dual(x, dx) for x, dx in zip(q, v, strict=True)),
        Vector(Dual(x, dx) for x, dx in zip(v, a, strict=True)),
    )
    q1, v1 = joint.normalized(*now)
    after = joint.motion(q1, v1)
    close([x.derivative for x in after.v.angular], rate.angular)


@pytest.mark.parametrize("joint", [Continuous(SKEW), Planar(), PlanarLocal(SKEW)])
@pytest.mark.parametrize(("start", "end"), [(3.0, -3.0), (-3.0, 3.0), (0.0, 6.0), (10.0, -10.0)])
def test_difference_takes_the_short_way_round(joint: Joint, start: float, end: float):
    q0, q1 = Vector([start, *[0.3] * (joint.nq - 1)]), Vector([end, *[-0.2] * (joint.nq - 1)])
    dv = joint.difference(q0, q1)
    assert abs(dv[0]) <= math.pi
    close(joint.transform(joint.integrate(q0, dv)), joint.transform(q1))


def test_revolute_counts_its_turns():
    assert Revolute().difference(Vector([-3.0]), Vector([30.0]))[0] == 33.0


def test_units_name_the_variables():
    assert Free().q_units == ("1", "1", "1", "1", "m", "m", "m")
    assert Free().v_units == ("rad", "rad", "rad", "m", "m", "m")
    for joint in ZOO.values():
        assert (len(joint.q_units), len(joint.v_units)) == (joint.nq, joint.nv)
        assert set(joint.q_units + joint.v_units) <= {"rad", "m", "1"}


@pytest.mark.slow
def test_random_rotations_are_uniform():
    """The mean of E over all rotations is zero, and its spread per entry is 1/√3 (a fifth of a percent here)."""
    rng = np.random.default_rng(8)
    for joint in (Spherical(), ExponentialSpherical()):
        E = np.array([numbers(joint.transform(joint.random(rng)).E) for _ in range(4000)])
        assert np.abs(E.mean(axis=0)).max() < 5 / math.sqrt(3 * 4000)
        assert np.abs(E.std(axis=0) - 1 / math.sqrt(3)).max() < 0.02
