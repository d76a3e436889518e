"""Gradients of rollouts with contacts that are solved: falling, sliding, sticking, bouncing, rolling."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Translational
from knuckle.model import Box, Sphere, solid_box

Array = np.ndarray[Any, Any]
DT = 0.005


def thing(joint: Any, shape: Any, friction: float = 0.5, restitution: float = 0.0, **surface: float) -> kn.Model:
    b = kn.Builder("thing", base="world")
    b.surface("floor", friction=friction, restitution=restitution, **surface)
    b.ground(surface="floor")
    b.body("thing", joint=joint, inertia=solid_box(1.0, (0.4, 0.3, 0.2)), collisions=shape, surface="floor")
    return b.build()


PUCK, BALL, BOX = (Translational(), Sphere(0.1)), (Free(), Sphere(0.1)), (Free(), Box((0.4, 0.3, 0.2)))


@kn.kernel
def end(model: kn.Model, q: Any, v: Any) -> Any:
    return q @ q + 0.3 * (v @ v) + q[0] * v[0]


def check(model: kn.Model, q: Array, v: Array, push: Any = 0.0, steps: int = 8, tol: float = 1e-7) -> Any:
    """By every argument along a direction, which does not leave the ground where the motion begins on it."""
    rng = np.random.default_rng(0)
    tau = np.zeros((steps, model.nv)) + push
    dq, dv, dtau = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=tau.shape)
    on_ground = bool(kn.contact.gaps(model, q).min() < 1e-12)
    dq = dq * 0 if on_ground else dq

    def go(e: Array, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return kn.rollout_gradient(
                model, None, kn.integrate(model, q, np.multiply.outer(e[0], dq)), v + np.multiply.outer(e[1], dv),
                tau + np.multiply.outer(e[2], dtau), DT, steps=steps, final_loss=end, integrator="contact", **options,
            )  # fmt: skip

    found = go(np.zeros(3))
    e = 1e-5 * np.kron(np.eye(3), [-2, -1, 1, 2])
    expected = go(e).loss.reshape(3, 4) @ np.array([1, -8, 8, -1]) / (12 * 1e-5)
    exact = np.array([found["q0"] @ dq, found["v0"] @ dv, (found["tau"] * dtau).sum()])
    np.testing.assert_allclose(exact, expected, rtol=tol, atol=tol)
    assert (np.abs(exact[1:]) > 1e-6).any() or not np.any(found.v)
    return found


def test_a_puck_that_lands_and_slides() -> None:
    check(thing(*PUCK), np.array([0.0, 0.0, 0.11]), np.array([1.3, 0.2, -0.5]))


def test_a_puck_that_sticks_does_not_care() -> None:
    found = check(thing(*PUCK), np.array([0.0, 0.0, 0.1]), np.zeros(3), push=[1.0, 0.5, 0.0])
    assert np.abs(found["tau"]).max() < 1e-15
    assert np.abs(found["v0"]).max() < 1e-15


def test_forces_on_a_sliding_puck() -> None:
    """m ẍ = τ_x − μ (m g − τ_z): ∂x_N/∂v0 = N dt, ∂x_N/∂τ_x = dt² (N − k)/m, and μ times that by τ_z."""
    N, mu = 6, 0.3

    @kn.kernel
    def place(model: kn.Model, q: Any) -> Any:
        return q[0]

    found = kn.rollout_gradient(
        thing(*PUCK, friction=mu), None, [0.0, 0.0, 0.1], [2.0, 0.0, 0.0], np.zeros((N, 3)), DT, steps=N,
        final_loss=place, integrator="contact",
    )  # fmt: skip
    along = DT**2 * (N - np.arange(N))
    assert found["v0"][0] == pytest.approx(N * DT, rel=1e-9)
    np.testing.assert_allclose(found["tau"], np.stack([along, 0 * along, mu * along], -1), rtol=1e-8, atol=1e-12)


def by_surface(model: kn.Model, q: Any, v: Any, value: float, name: str, **options: Any) -> tuple[Array, Array]:
    """The derivative by a coefficient of the floor, and by differences."""

    def changed(model: kn.Model, value: Any) -> kn.Model:
        return kn.model.edit.with_surface(model, "floor", **{name: value})

    def at(x: Any) -> Any:
        return kn.rollout_gradient(
            model, None, q, v, final_loss=end, wrt="value", model_fn=changed, parameters={"value": x}, **options
        )

    e = 1e-4 * value * np.array([[-2.0], [-1.0], [1.0], [2.0]])
    losses = [at(np.array(value + float(x))).loss for x in e[:, 0]]
    return at(np.array(value))["value"], np.array([1, -8, 8, -1]) @ losses / (12 * 1e-4 * value)


def test_friction_of_a_sliding_puck() -> None:
    """v = v₀ − μ g t on a floor whose friction is an argument."""
    q, v = [0.0, 0.0, 0.1], [2.0, 0.0, 0.0]

    @kn.kernel
    def speed(model: kn.Model, v: Any) -> Any:
        return v[0]

    def rubbing(model: kn.Model, mu: Any) -> kn.Model:
        return kn.model.edit.with_surface(model, "floor", friction=mu[0])

    found = kn.rollout_gradient(
        thing(*PUCK), None, q, v, None, DT, steps=40, final_loss=speed, wrt="mu", integrator="contact",
        model_fn=rubbing, parameters={"mu": np.array([[0.1], [0.3]])},
    )  # fmt: skip
    np.testing.assert_allclose(found.loss, 2.0 - np.array([0.1, 0.3]) * 9.81 * 40 * DT, rtol=1e-9)
    np.testing.assert_allclose(found["mu"], -9.81 * 40 * DT, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "q", "v", "value", "name", "options"),
    [
        (thing(*PUCK, restitution=0.5), [0.0, 0.0, 0.15], [1.0, 0.2, 0.0], 0.6, "restitution", {"dt": 1e-3}),
        (thing(*BALL), [1.0, 0, 0, 0, 0, 0, 0.1], [0.5, 2.0, 0.1, 1.0, 0.2, -0.1], 0.3, "friction", {"dt": 1e-3}),
        (thing(*PUCK, stiffness=1e4, damping=30.0), [0.0, 0.0, 0.0999], [1.0, 0, 0], 2e4, "stiffness", {"dt": 1e-3}),
        (thing(*PUCK, stiffness=1e4, damping=30.0), [0.0, 0.0, 0.0999], [1.0, 0, 0], 0.4, "friction",
         {"dt": 1e-4, "contacts": kn.contact.CompliantContacts()}),
    ],
    ids=["restitution", "rolling ball", "springs of surfaces", "soft contact"],
)  # fmt: skip
def test_coefficients_of_surfaces(model: kn.Model, q: Any, v: Any, value: float, name: str, options: Any) -> None:
    own = {} if "contacts" in options else {"integrator": "contact"}
    found, expected = by_surface(model, q, v, value, name, steps=160, **options, **own)
    assert found == pytest.approx(expected, rel=1e-6)
    assert abs(found) > 1e-7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "q", "v", "push"),
    [
        (thing(*PUCK), [0.0, 0.0, 1.0], [0.3, 0.2, 0.0], 0.0),
        (thing(*PUCK), [0.0, 0.0, 0.1], [1.3, 0.2, 0.0], 0.0),
        (thing(*PUCK, restitution=0.6), [0.0, 0.0, 0.11], [1.3, 0.2, -0.5], 0.0),
        (thing(*BALL), [1.0, 0, 0, 0, 0, 0, 0.105], [0.5, 2.0, 0.1, 1.0, 0.2, -1.5], 0.0),
        (thing(*BOX), [0.993, 0.025, 0.05, 0.1, 0.0, 0.0, 0.15], [0.1, 0.2, 0.1, 1.0, 0.2, -1.5], 0.0),
    ],
    ids=["falling", "sliding", "bouncing", "rolling ball", "box on a corner"],
)
def test_differences(model: kn.Model, q: Any, v: Any, push: Any) -> None:
    q = np.array(q, float)
    q[:4] = q[:4] / np.linalg.norm(q[:4]) if model.nq == 7 else q[:4]
    check(model, q, np.array(v), push, steps=6, tol=1e-6)


@pytest.mark.slow
def test_second_derivatives_while_contacts_stay() -> None:
    model, q, v = thing(*PUCK), np.array([0.0, 0.0, 0.11]), np.array([1.3, 0.2, -0.5])
    options: Any = {"dt": DT, "steps": 8, "final_loss": end, "integrator": "contact", "wrt": "v0"}
    way, e = np.array([0.3, -0.5, 0.2]), 1e-4
    found = kn.rollout_gradient(model, None, q, v, direction={"v0": way}, **options)
    near = kn.rollout_gradient(model, None, q, v + e * np.outer([-2, -1, 1, 2], way), **options)
    assert found.hessian_product is not None
    expected = np.array([1, -8, 8, -1]) @ near["v0"] / (12 * e)
    np.testing.assert_allclose(found.hessian_product["v0"], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_loads_that_are_shared_in_many_ways_are_noticed() -> None:
    """Four corners of a box that slides and turns; not those of one that slides straight ahead, or sticks."""
    model, q = thing(*BOX), np.array([1.0, 0, 0, 0, 0, 0, 0.1])
    options: Any = {"dt": DT, "steps": 3, "final_loss": end, "integrator": "contact"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kn.rollout_gradient(model, None, q, [0, 0, 0, 1.0, 0.2, 0.0], **options)
        kn.rollout_gradient(model, None, q, np.zeros(6), [0, 0, 0, 1.0, 0.2, 0.0], **options)
    with pytest.warns(RuntimeWarning, match="how they share their load is not unique"):
        kn.rollout_gradient(model, None, q, [0, 0, 3.0, 1.0, 0.2, 0.0], **options)
