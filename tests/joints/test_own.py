"""A joint of one's own in a few lines."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from knuckle.joints import Composite, FunctionJoint, Joint, Revolute
from knuckle.scalar import cos, sin
from knuckle.spatial import Transform, Vector, rotation

from .zoo import RollingSphere, Wobble, close, crank, matrix, state


@dataclass(frozen=True)
class Cam(Joint):
    """A follower lifted by a cam: the four lines that a joint needs."""

    lift: float
    _q = ("rad",)
    _v = ("rad",)

    def transform(self, q: Vector) -> Transform:
        return Transform.translation((0.0, 0.0, self.lift * (1 - cos(q[0]))))


def test_units_and_a_transform_are_enough():
    """S = (0, 0, 0, 0, 0, l sin q), c_J = l cos q q̇², and T, T_a, δ with them."""
    joint, q, v = Cam(0.2), Vector([0.7]), Vector([1.3])
    _, S, vJ, cJ = joint.motion(q, v)
    close(S, [0, 0, 0, 0, 0, 0.2 * np.sin(0.7)], 1e-15)
    close(vJ, [0, 0, 0, 0, 0, 0.2 * np.sin(0.7) * 1.3], 1e-15)
    close(cJ, [0, 0, 0, 0, 0, 0.2 * np.cos(0.7) * 1.3**2], 1e-15)
    close(joint.actuation(q), [0, 0, 0, 0, 0, 1 / (0.2 * np.sin(0.7))], 1e-14)
    assert np.linalg.matrix_rank(matrix(joint.constraints(q))[:5]) == 5
    assert (joint.nq, joint.nv, joint.symmetrical) == (1, 1, False)


def test_own_joint_takes_part_in_everything():
    """Reversed, composed and located like any other."""
    joint = Composite((Wobble().reversed(), Revolute("x")))
    q, v = state(joint, 1)
    close(joint.transform(joint.locate(joint.transform(q))), joint.transform(q))
    close(joint.difference(q, joint.integrate(q, v)), v, 1e-15)
    assert joint == pickle.loads(pickle.dumps(joint))


def test_function_joint_is_the_class_in_one_call():
    """The same cam as a function; a module's function keeps it comparable, hashable and picklable."""
    as_function = FunctionJoint(lambda q: Transform.translation((0.0, 0.0, 0.2 * (1 - cos(q[0])))), "rad")
    q, v = Vector([0.7]), Vector([1.3])
    close(as_function.motion(q, v), Cam(0.2).motion(q, v), 0.0)
    joint = FunctionJoint(crank, ["rad"])
    assert joint == FunctionJoint(crank, "rad") == pickle.loads(pickle.dumps(joint))
    assert len({joint, FunctionJoint(crank, "rad")}) == 1
    assert FunctionJoint(crank, "rad m").q_units == FunctionJoint(crank, "rad m").v_units == ("rad", "m")


def test_function_joint_of_several_freedoms():
    """A Scotch yoke on a turntable, against the same motion by hand."""
    joint = FunctionJoint(lambda q: Transform(rotation.rz(q[0]), (0.3 * sin(q[1]), 0.0, 0.0)), "rad rad")
    q, v = Vector([0.4, 0.9]), Vector([0.5, -1.1])
    slide = 0.3 * np.cos(0.9)
    close(joint.subspace(q), [[0, 0, 1, 0, 0, 0], [0, 0, 0, np.cos(0.4) * slide, -np.sin(0.4) * slide, 0]], 1e-15)
    close(joint.motion(q, v).v, joint.subspace(q) @ v, 1e-15)


def test_function_joint_refuses_unknown_units():
    with pytest.raises(ValueError, match=r"""units are "rad", "m" or "1".*\['deg'\]"""):
        FunctionJoint(crank, "deg")


def test_joint_with_its_own_velocities_has_to_say_how_they_integrate():
    """q + v would be no position: the library says so instead of guessing."""
    ball = RollingSphere()
    q = ball.neutral()
    with pytest.raises(NotImplementedError, match=r"RollingSphere\.integrate has to be given"):
        ball.integrate(q, Vector([0.1, 0.2, 0.3]))
    with pytest.raises(NotImplementedError, match=r"RollingSphere\.difference has to be given"):
        ball.difference(q, q)


def test_joint_without_a_transform_cannot_be_made():
    class Nothing(Joint):
        pass

    with pytest.raises(TypeError, match="transform"):
        Nothing()  # type: ignore[abstract]
