"""Public functions of actuators: what they push with, and what that is at the joints."""

from __future__ import annotations

from numpy.typing import ArrayLike

from knuckle.algorithms.dynamics.actuator_drive import actuated, actuator_forces
from knuckle.engine.calls.function import Array, function
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.spatial import Vector


@public_in("actuators")
@function(q="q", v="v", u="u", loops=True)
def forces(model: Model, q: ArrayLike, v: ArrayLike, u: ArrayLike) -> Array:
    """The force (..., n) of each actuator of a model under the controls u (..., n), in the order of `model.actuators`.

    f = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇, with u and f within their ranges (`kn.actuators.Actuator`).
    """
    return Vector(actuator_forces(model, model.positions(q), model.velocities(q, v), u))


@public_in("actuators")
@function(q="q", v="v", u="u", loops=True)
def joint_forces(model: Model, q: ArrayLike, v: ArrayLike, u: ArrayLike) -> Array:
    """τ (..., nv) of all actuators under the controls u (..., n): (∂l/∂q)ᵀ f, no more at a joint than its effort.

    `kn.simulate` and `kn.rollout` add it where they are given `controls`.
    """
    Q, V = model.positions(q), model.velocities(q, v)
    return model.forces(q, actuated(model, Q, V, actuator_forces(model, Q, V, u)))
