"""Joints that are special cases of each other, or the same joint in other variables."""

import math

import numpy as np
import pytest

from knuckle.joints import (
    Composite,
    Continuous,
    Cylindrical,
    Euler,
    ExponentialSpherical,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    RackAndPinion,
    Revolute,
    Spherical,
    Translational,
    Universal,
    YawPitchRoll,
)
from knuckle.spatial import Vector, rotation

from .zoo import ASKEW, SKEW, close, matrix, numbers, state

SAME = {
    "cylindrical": (Cylindrical(SKEW), Composite((Revolute(SKEW), Prismatic(SKEW)))),
    "cylindrical, slide first": (Cylindrical("x"), Composite((Revolute("x"), Prismatic("x")))),
    "yaw, pitch, roll": (YawPitchRoll(), Euler("zyx")),
    "euler": (Euler((SKEW, ASKEW, "y")), Composite((Revolute(SKEW), Revolute(ASKEW), Revolute("y")))),
    "universal": (Universal((SKEW, ASKEW)), Composite((Revolute(SKEW), Revolute(ASKEW)))),
    "screw without pitch": (Helical(SKEW, 0.0), Revolute(SKEW)),
    "rack and pinion without radius": (RackAndPinion(0.0, SKEW), Revolute(SKEW)),
    "continuous": (Continuous(SKEW), Revolute(SKEW)),
    "translations": (Translational(), Composite((Prismatic("x"), Prismatic("y"), Prismatic("z")))),
    "composite of one": (Composite([Revolute(SKEW)]), Revolute(SKEW)),
    "composite of none": (Composite(()), Fixed()),
    "nested": (
        Composite((Composite((Revolute("x"), Prismatic("y"))), Revolute("z"))),
        Composite((Revolute("x"), Composite((Prismatic("y"), Revolute("z"))))),
    ),
    "a weld between": (Composite((Revolute("x"), Fixed(), Prismatic("y"))), Composite((Revolute("x"), Prismatic("y")))),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_same_joint(pair: tuple[Joint, Joint], seed: int):
    """Equal motion in equal variables, equal errors, equal spaces of constraint forces."""
    one, other = pair
    q, v = state(one, seed)
    close(one.motion(q, v), other.motion(q, v), 1e-14)
    close(one.subspace_rate(q, v), other.subspace_rate(q, v), 1e-14)
    close((one.rate(q, v), one.integrate(q, v)), (other.rate(q, v), other.integrate(q, v)))
    both = np.hstack([matrix(one.constraints(q)), matrix(other.constraints(q))])
    assert np.linalg.matrix_rank(both, tol=1e-9) == 6 - one.nv
    assert (one.q_units, one.v_units) == (other.q_units, other.v_units)


def test_planar_is_two_slides_and_a_turn_in_other_velocities(seed: int):
    """q of the planar joint are those of slides along x and y before a turn about z; v turns with the body."""
    q, v = state(Planar(), seed)
    chain = Composite((Prismatic("x"), Prismatic("y"), Revolute("z")))
    q_chain = Vector([q[1], q[2], q[0]])
    rates = Planar().rate(q, v)
    close(chain.transform(q_chain), Planar().transform(q))
    close(chain.motion(q_chain, Vector([rates[1], rates[2], rates[0]])).v, Planar().motion(q, v).v)


def test_free_is_a_translation_and_a_ball_in_other_velocities(seed: int):
    """X_J and v_J agree when the linear velocity is turned from successor to predecessor coordinates."""
    q, v = state(Free(), seed)
    chain = Composite((Translational(), Spherical()))
    q_chain, rates = Vector([*q[4:], *q[:4]]), Free().rate(q, v)
    close(chain.transform(q_chain), Free().transform(q))
    close(chain.motion(q_chain, Vector([*rates[4:], *v[:3]])).v, Free().motion(q, v).v)


@pytest.mark.parametrize("chart", [ExponentialSpherical(), YawPitchRoll(), Euler("zxz"), Euler("yxy")])
def test_ball_joints_reach_the_same_rotations(chart: Joint, seed: int):
    """Every chart gives the rotation of the quaternion, and S v is its angular velocity."""
    p, omega = state(Spherical(), seed)
    q = chart.locate(Spherical().transform(p))
    close(chart.transform(q), Spherical().transform(p))
    v = chart.actuation(q).T @ Spherical().motion(p, omega).v
    size = float(np.max(np.abs(numbers(v))))
    close(chart.motion(q, v).v, Spherical().motion(p, omega).v, 1e-14 * size)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_rotation_vector_along_an_axis_is_a_turn_about_it(axis: str):
    """Also through zero, and at and beyond half a turn."""
    joint, turn = ExponentialSpherical(), Revolute(axis)
    for angle in (0.0, 1e-12, 0.3, 0.5, 2.0, math.pi, 5.0):
        q = Vector(angle * a for a in turn.axis)
        close(joint.transform(q), turn.transform(Vector([angle])), 1e-15)
        close(joint.motion(q, Vector(turn.axis)).v, turn.subspace(q)[0], 1e-15)


def test_free_joint_of_no_rotation_is_a_translation():
    q = Vector([1.0, 0.0, 0.0, 0.0, 0.1, -0.2, 0.3])
    close(Free().transform(q), Translational().transform(q[4:]), 0.0)


def test_euler_word_is_the_sequence_of_axes():
    assert Euler("zxz") == Euler(["z", "x", (0, 0, 2)]) == Euler(((0, 0, 1), (1, 0, 0), (0, 0, 1)))
    assert Universal("yz") == Universal([(0, 3, 0), "z"])
    q = Vector([0.3, 0.5, -0.7])
    E = rotation.matmul(rotation.rz(q[2]), rotation.matmul(rotation.rx(q[1]), rotation.rz(q[0])))
    close(Euler("zxz").transform(q).E, E, 1e-15)
