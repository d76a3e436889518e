"""What code is made from has lost no digits on the way: constants, angles, orders of addition."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.accuracy.exact_model import exact, in_two_doubles
from knuckle.accuracy.function_errors import relative_error
from knuckle.accuracy.many_digits import precision
from knuckle.accuracy.reference_run import run, run_in_two_doubles
from knuckle.accuracy.two_doubles import two_doubles_of
from knuckle.joints import Fixed, Free, Revolute
from knuckle.model import Model
from knuckle.model.canonical.canonical_form import canonical
from knuckle.model.canonical.offset_joint import Offset, SlightOffset, offset_by
from knuckle.spatial import Vector, rotation

ROUNDING = 2.0**-53


def limbs(joint: Any, count: int = 40, seed: int = 0) -> Model:
    """A trunk with many light bodies on it, whose masses have no short sum."""
    b, rng = kn.Builder("limbs"), np.random.default_rng(seed)
    b.body("trunk", None, Free(), mass=73.1, com=(0.01, 0.02, 0.03), inertia=(1.1, 2.2, 3.3))
    for k in range(count):
        at = {"xyz": rng.standard_normal(3), "rpy": rng.standard_normal(3)}
        mass, com = float(rng.uniform(0.1, 0.2)), rng.standard_normal(3) / 10
        b.body(f"b{k}", "trunk", joint(), at, mass=mass, com=com, inertia=(0.01, 0.02, 0.03))
    return b.build()


@pytest.mark.parametrize("joint", [Fixed, lambda: Revolute("z")], ids=["fixed", "revolute"])
def test_masses_that_come_together_are_added_up_exactly(joint: Any) -> None:
    """Bodies on fixed joints, and what revolute joints let pass (RBDA 9.7)."""
    for seed in range(8):
        model = limbs(joint, 20, seed)
        total = canonical(model).light.bodies[0].inertia.mass
        assert total == float(sum(Fraction(float(body.inertia.mass)) for body in model.bodies))


def test_inertias_that_come_together_are_rounded_once() -> None:
    """The mass matrix of what is left, in many digits, against that of the whole: a rounding of each constant."""
    for seed in range(4):
        model = limbs(lambda: Revolute("z"), 12, seed)
        q = np.array([kn.random_configuration(model, k) for k in range(3)])
        form = canonical(model)
        with precision(50):
            whole, left = (run(kn.mass_matrix, exact(part), [q]) for part in (form.model, form.light))
        assert relative_error(left.astype(float), whole).max() < ROUNDING


def test_rotations_of_the_compiled_form_are_rotations() -> None:
    """EᵀE is one to a rounding, however many rotations of doubles were multiplied."""
    b, rng = kn.Builder("chain"), np.random.default_rng(3)
    for k in range(20):
        at = {"xyz": rng.standard_normal(3), "rpy": rng.standard_normal(3)}
        b.body(f"b{k}", f"b{k - 1}" if k else None, Revolute(rng.standard_normal(3)), at, mass=1.0, com=(0.1, 0.2, 0.3))
    for joint in canonical(b.build()).light.joints:
        E = [[Fraction(float(x)) for x in row] for row in joint.X_tree.E]
        for i in range(3):
            for k in range(3):
                assert abs(float(sum(E[m][i] * E[m][k] for m in range(3)) - (i == k))) < 1.5 * ROUNDING


@pytest.mark.parametrize("angle", [0.3, -0.7, 1.3, 1.57079632679, -1.57079632679, 2.0, 3.0, -2.5, 3.1415, 4.9e-12])
def test_an_angle_that_goes_to_the_joint_is_there(angle: float) -> None:
    joint, q = offset_by(Revolute("z"), math.cos(angle), math.sin(angle)), Vector([0.4])
    assert isinstance(joint, Offset)
    assert isinstance(joint, SlightOffset) == (abs(math.remainder(angle, math.pi / 2)) < 1e-10)
    rows = joint.transform(q).E
    np.testing.assert_allclose(np.array(rows, float), np.array(rotation.rz(0.4 + angle), float), atol=1e-15)
    np.testing.assert_allclose(math.remainder(joint.locate(joint.transform(q))[0] - 0.4, 2 * math.pi), 0, atol=1e-15)


@pytest.mark.parametrize("whole", [0.0, math.pi / 2, -math.pi / 2, math.pi])
def test_angles_of_a_dozen_digits_do_not_round_those_of_joints(whole: float) -> None:
    """q + 4.9e-12 is rounded by up to two units where q is beyond two; sin q + δ cos q by less than one."""
    d = 4.9e-12
    c, s = math.cos(whole + d), math.sin(whole + d)
    joint = offset_by(Revolute("z"), c, s)
    assert isinstance(joint, SlightOffset)
    q = np.random.default_rng(0).uniform(-math.pi, math.pi, 1000)
    right = Offset(Revolute("z"), joint.offset, joint.quarters).transform(Vector([two_doubles_of(q)])).E
    found = joint.transform(Vector([q])).E
    for i, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
        exact_entry = two_doubles_of(right[i][k])
        assert np.abs((found[i][k] - exact_entry.high) - exact_entry.low).max() < 1.5 * ROUNDING


def test_rotations_of_quaternions_are_right_to_three_roundings() -> None:
    p = np.random.default_rng(0).standard_normal((4, 5000))
    p = p / np.linalg.norm(p, axis=0)
    right = rotation.from_quaternion(tuple(map(two_doubles_of, p)))  # type: ignore[arg-type]
    found = rotation.from_quaternion(tuple(p))  # type: ignore[arg-type]
    errors = [np.abs((found[i][k] - right[i][k].high) - right[i][k].low) / ROUNDING for i in range(3) for k in range(3)]
    assert np.max(errors) < 3.5
    assert np.sqrt(np.mean(np.square(errors))) < 0.65


@pytest.mark.parametrize("name", ["inverse_dynamics", "kinetic_energy"])
def test_limbs_are_added_to_each_other_before_the_trunk(name: str) -> None:
    """From little to much: the sum of forty limbs is rounded as limbs are, and once as the whole."""
    model = limbs(lambda: Revolute("z"))
    rng = np.random.default_rng(1)
    q = np.array([kn.random_configuration(model, k) for k in range(60)])
    q[:, :4] = (1.0, 0.0, 0.0, 0.0)
    v, a = rng.standard_normal((2, 60, model.nv))
    arrays = [q, v, a] if name == "inverse_dynamics" else [q, v]
    function = getattr(kn, name)
    with precision(50):
        high, low = run_in_two_doubles(function, in_two_doubles(exact(model)), arrays)
    found = np.asarray(function(model, *arrays))
    error = np.abs((found - high) - low).reshape(60, -1).max(axis=1) / np.abs(high).reshape(60, -1).max(axis=1)
    assert np.median(error) < 1.2 * ROUNDING
