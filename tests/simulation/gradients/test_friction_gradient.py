"""Gradients through dry friction from rest: what sticks does not answer, what begins to slip answers as what slides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Prismatic, Revolute
from knuckle.model import solid_box

Array = np.ndarray[Any, Any]
DT, STEPS, H = 1e-3, 20, 1e-6
Q0, REST = np.array([0.1, 0.05, 0.3]), np.zeros(3)
STUCK, SLIPPING = np.array([0.1, 0.2, 0.0]), np.array([1.5, 0.2, 0.0])


def rough() -> kn.Model:
    """A slide and an arm with friction, and a link without that swings on them."""
    b = kn.Builder("rough", base="world")
    b.body("slide", on="world", joint=Prismatic("x"), inertia=solid_box(1.0, (0.1, 0.2, 0.1)), friction=0.4)
    b.body("arm", on="slide", joint=Revolute("y"), at=(0, 0, 0.1), friction=2.0,
           inertia=solid_box(1.5, (0.1, 0.1, 0.4), at=(0, 0.02, 0.2)))  # fmt: skip
    b.body(
        "free", on="arm", joint=Revolute("y"), at=(0, 0, 0.3), inertia=solid_box(0.1, (0.1, 0.1, 0.4), at=(0, 0, 0.2))
    )
    return b.build()


@kn.kernel
def at_end(model: kn.Model, q: Any, v: Any) -> Any:
    return q @ q + v @ v


def loss(model: kn.Model, q: Array, v: Array, tau: Array) -> Array:
    q, v, tau = np.broadcast_arrays(q, v, tau)
    motion = kn.rollout(model, q, v, tau[..., None, :], DT, steps=STEPS, integrator="euler")
    return (motion.q[..., -1, :] ** 2).sum(-1) + (motion.v[..., -1, :] ** 2).sum(-1)


@pytest.mark.parametrize("tau", [STUCK, SLIPPING], ids=["stuck", "slipping"])
def test_the_gradient_from_rest_is_that_of_the_modes(tau: Array) -> None:
    model, units = rough(), H * np.eye(3)
    found = kn.rollout_gradient(
        model, None, Q0, REST, tau, DT, steps=STEPS, final_loss=at_end, integrator="euler"
    )  # fmt: skip
    by_q = (loss(model, Q0 + units, REST, tau) - loss(model, Q0 - units, REST, tau)) / (2 * H)
    by_tau = (loss(model, Q0, REST, tau + units) - loss(model, Q0, REST, tau - units)) / (2 * H)
    np.testing.assert_allclose(found["q0"], by_q, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["tau"], by_tau, rtol=1e-6, atol=1e-6)
    assert abs(found["tau"][1]) < 1e-15  # the arm is held: neither a force nor a push moves it
    assert found["v0"][1] == 0
    assert (abs(found["tau"][0]) < 1e-15) == (tau is STUCK)
    free = (loss(model, Q0, H * np.eye(3)[2], tau) - loss(model, Q0, -H * np.eye(3)[2], tau)) / (2 * H)
    np.testing.assert_allclose(found["v0"][2], free, rtol=1e-6)
    assert found.growth < 1e6
    if tau is STUCK:
        assert found["v0"][0] == 0
    else:  # as that of a slide that already moves that way, but for what a moment of rest is of the first step
        ahead = np.array([[1.0, 0, 0], [2.0, 0, 0]]) * H
        slower, faster = loss(model, Q0, ahead, tau)
        np.testing.assert_allclose(found["v0"][0], (faster - slower) / H, rtol=2e-3)
