"""Where it is and how fast it travels costs a floating mechanism no digits (RBDA 10.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.accuracy.exact_model import exact
from knuckle.accuracy.function_errors import relative_error
from knuckle.accuracy.many_digits import precision
from knuckle.accuracy.reference_run import run
from knuckle.joints import Free, Revolute
from knuckle.model import Model, solid_box
from knuckle.model.canonical.canonical_form import canonical

TRAVELLING = ("coriolis_matrix", "jacobian_rate body", "jacobian_rate aligned")


def glider() -> Model:
    b = kn.Builder("glider")
    b.body("trunk", None, Free(), inertia=solid_box(3.0, (0.4, 0.2, 0.1)))
    b.body("upper", "trunk", Revolute("y"), (0.2, 0.1, 0.0), inertia=solid_box(1.0, (0.1, 0.1, 0.3)))
    b.body("lower", "upper", Revolute("x"), (0.0, 0.0, 0.3), mass=0.5, com=(0.0, 0.1, 0.1), inertia=(0.01, 0.02, 0.01))
    return b.build()


def call(name: str) -> tuple[Any, dict[str, str]]:
    function, _, expressed_in = name.partition(" ")
    return getattr(kn, function), {"frame": "lower", "expressed_in": expressed_in} if expressed_in else {}


@pytest.fixture(scope="module")
def state() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    q = np.array([kn.random_configuration(glider(), k) for k in range(5)])
    return q.astype(np.float32), rng.standard_normal((5, 8)).astype(np.float32)


@pytest.mark.parametrize("name", TRAVELLING)
def test_a_kilometre_a_second_changes_nothing(name: str, state: tuple[np.ndarray, np.ndarray]) -> None:
    """The exact result does not depend on it; that in single precision must not either, to the last bit."""
    model, (q, v), (function, options) = glider(), state, call(name)
    fast = v.copy()
    fast[:, 3:6] *= 1000.0
    far = q.copy()
    far[:, 4:7] *= 1000.0
    slow = function(model, q, v, **options)
    assert slow.dtype == np.float32
    assert np.array_equal(function(model, far, fast, **options), slow)
    with precision(50):
        for velocity in (v, fast):
            right = run(function, exact(model), [q.astype(float), velocity.astype(float)], **options)
            assert relative_error(slow, right).max() < 1e-6


def test_body_coordinates_do_not_notice_how_the_base_turns(state: tuple[np.ndarray, np.ndarray]) -> None:
    model, (q, v), (function, options) = glider(), state, call("jacobian_rate body")
    turning = v.copy()
    turning[:, :3] *= 100.0
    assert np.array_equal(function(model, q, turning, **options), function(model, q, v, **options))


@pytest.mark.parametrize("expressed_in", ["body", "world", "aligned"])
def test_jacobians_are_right_to_a_few_roundings(expressed_in: Any, state: tuple[np.ndarray, np.ndarray]) -> None:
    model, q = glider(), state[0].astype(float)
    with precision(50):
        right = run(kn.jacobian, exact(model), [q], frame="lower", expressed_in=expressed_in)
    assert relative_error(kn.jacobian(model, q, "lower", expressed_in), right).max() < 1e-15


def test_an_arm_far_from_the_origin_has_the_jacobian_of_one_that_is_near() -> None:
    """With the base's axes at the frame's origin: no distance to the base is in it."""

    def arm(away: float) -> Model:
        b = kn.Builder("arm")
        b.body("a", None, Revolute("z"), (away, away, 0.0), inertia=solid_box(1.0, (0.1, 0.1, 0.3)))
        b.body("b", "a", Revolute("x"), (0.3, 0.0, 0.2), inertia=solid_box(1.0, (0.1, 0.1, 0.3)))
        b.frame("hand", "b", (0.1, 0.2, 0.4))
        return b.build()

    q = np.array([0.4, -0.9])
    assert np.array_equal(kn.jacobian(arm(1e6), q, "hand", "aligned"), kn.jacobian(arm(0.0), q, "hand", "aligned"))


def test_angles_of_a_dozen_digits_stay_in_the_canonical_form() -> None:
    """1.570796326795 is no right angle, and 3e-15 of a metre is not nothing in doubles."""
    b = kn.Builder("sloppy")
    b.body("a", None, Revolute("z"), {"rpy": (0, 3.14159265358999, 0)}, inertia=solid_box(1.0, (0.1, 0.2, 0.3)))
    b.body("b", "a", Revolute("z"), {"xyz": (0, -0.0098, 0.1), "rpy": (1.57079632679, 0, 3.14159265359)},
           inertia=solid_box(1.0, (0.1, 0.1, 0.4)))  # fmt: skip
    b.body("c", "b", Revolute("z"), {"xyz": (0, 0.41, 0), "rpy": (3.14159265358999, 0, 0)},
           inertia=solid_box(2.0, (0.1, 0.3, 0.4)))  # fmt: skip
    model = b.build()
    q = np.random.default_rng(0).uniform(-3, 3, (10, 3))
    form = canonical(model)
    with precision(50):
        right = run(kn.mass_matrix, exact(model), [q])
        for other in (form.model, form.light):
            assert relative_error(run(kn.mass_matrix, exact(other), [q]).astype(float), right).max() < 2e-15
