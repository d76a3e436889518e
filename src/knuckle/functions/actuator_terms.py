"""Public functions of actuators: what they push with, what that is at the joints, and how their states change."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms.dynamics.actuator_drive import actuated, actuator_forces, actuator_rates
from knuckle.engine.calls.function import Array, function
from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import in_states
from knuckle.public_names import public_in
from knuckle.spatial import Vector


@public_in("actuators")
@function(q="q", v="v", u="u", states="s", loops=True)
def forces(model: Model, q: ArrayLike, v: ArrayLike, u: ArrayLike, states: ArrayLike | None = None) -> Array:
    """The force (..., n) of each actuator of a model under the controls u (..., n), in the order of `model.actuators`.

    f = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇, with u and f within their ranges (`kn.actuators.Actuator`). An
    actuator with a state has that in the place of u: `states` (..., s) of those that have one, in their order; if not
    given, those of the model.
    """
    now = _in_states(model, states)
    return Vector(actuator_forces(now, now.positions(q), now.velocities(q, v), u))


@public_in("actuators")
@function(q="q", v="v", u="u", states="s", loops=True)
def joint_forces(model: Model, q: ArrayLike, v: ArrayLike, u: ArrayLike, states: ArrayLike | None = None) -> Array:
    """τ (..., nv) of all actuators under the controls u (..., n): (∂l/∂q)ᵀ f, no more at a joint than its effort.

    `kn.simulate` and `kn.rollout` add it where they are given `controls`. `states` are as for `forces`.
    """
    now = _in_states(model, states)
    Q, V = now.positions(q), now.velocities(q, v)
    return now.forces(q, actuated(now, Q, V, actuator_forces(now, Q, V, u)))


@public_in("actuators")
@function(u="u", states="s", loops=True)
def state_rates(model: Model, u: ArrayLike, states: ArrayLike) -> Array:
    """ȧ (..., s) of the states of actuators under the controls u (..., n): u of an integrator, (u − a) / T of a filter.

    `states` (..., s) are those of the actuators that have one, in their order.
    """
    return Vector(actuator_rates(model, u, states))


def _in_states(model: Model, states: Any) -> Model:
    """The model with its actuators in these states."""
    return model if states is None else model.replace(actuators=in_states(model.actuators, states))
