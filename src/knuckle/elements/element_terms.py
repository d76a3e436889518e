"""What force elements are and do in a state: lengths, tensions, forces, energy, and how these change (notes 1.9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms.elements import element_forces
from knuckle.algorithms.elements.element_forces import PlacedElement, placed
from knuckle.engine.calls.function import Array, function
from knuckle.functions.derivatives.dual_jacobians import slopes_of
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model
from knuckle.model.elements import MuscleLaw
from knuckle.model.elements.lines import TensionLine
from knuckle.public_names import public_in
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector

from .muscle_terms import in_state


def _lines(model: Model, q: Any, v: Any = None) -> Iterator[tuple[TensionLine, PlacedElement]]:
    """The elements that are lines, in order."""
    moving = None if v is None else model.velocities(q, v)
    for it in placed(model, model.positions(q), moving):
        if isinstance(it.element, TensionLine):
            yield it.element, it


@public_in("elements")
@function(q="q", loops=True)
def lengths(model: Model, q: ArrayLike) -> Array:
    """The length (..., n) of each line of a model, in metres."""
    return Vector(line.length(at.X) for line, at in _lines(model, q))


@public_in("elements")
@function(q="q", v="v", loops=True)
def rates(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """How fast each line grows (..., n), in m/s."""
    return Vector(line.rate(at.X, at.V) for line, at in _lines(model, q, v))


@public_in("elements")
@function(q="q", v="v", activations="m", fiber_lengths="e", loops=True)
def tensions(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    activations: ArrayLike | None = None,
    fiber_lengths: ArrayLike | None = None,
) -> Array:
    """The tension (..., n) of each line, in newtons: positive where it pulls its ends together.

    Muscles are in the state that is given, else in that of their laws.
    """
    model = in_state(model, activations, fiber_lengths)
    return Vector(line.tension(at.X, at.V) for line, at in _lines(model, q, v))


@public_in("elements")
@function(q="q", loops=True)
def moment_arms(model: Model, q: ArrayLike) -> Array:
    """R (..., n, nv) = −∂l/∂q: tensions T at the lines are the joint forces Rᵀ T, and l̇ = −R v."""
    rows: list[Any] = []
    Q = model.positions(q)
    for line, at in _lines(model, q):
        F = at.on_bodies(line.pulled(at.X, 1.0))
        rows.append(model.forces(q, element_forces.joint_forces(model, Q, F)))
    return Matrix(rows, model.nv)


@public_in("elements")
@function(q="q", v="v", activations="m", fiber_lengths="e", loops=True)
def wrenches(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    activations: ArrayLike | None = None,
    fiber_lengths: ArrayLike | None = None,
) -> Array:
    """The force of all elements on each body (..., nb, 6), in its own coordinates, as `f_ext` of other functions is."""
    model = in_state(model, activations, fiber_lengths)
    F = element_forces.body_forces(model, model.positions(q), model.velocities(q, v))
    return Matrix([F.get(i, model.zero_force).components for i in range(model.nb)], model.algebra.dimension)


@public_in("elements")
@function(q="q", v="v", activations="m", fiber_lengths="e", loops=True)
def joint_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    activations: ArrayLike | None = None,
    fiber_lengths: ArrayLike | None = None,
) -> Array:
    """τ (..., nv) of all elements: the joint forces that would do what they do (notes 2.17). Dynamics include them.

    Muscles are in the state that is given, else in that of their laws, as dynamics have them.
    """
    model = in_state(model, activations, fiber_lengths)
    Q = model.positions(q)
    F = element_forces.body_forces(model, Q, model.velocities(q, v))
    return model.forces(q, element_forces.joint_forces(model, Q, F))


@public_in("elements")
@function(q="q", v="v", activations="m", loops=True)
def muscle_forces(model: Model, q: ArrayLike, v: ArrayLike, activations: ArrayLike) -> Array:
    """τ (..., nv) that muscles add at these activations to what dynamics have of them.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        activations: one for each line whose law is a muscle's, in order (..., n), from 0 to 1.
    """
    muscles = [(line, at) for line, at in _lines(model, q, v) if isinstance(line.law, MuscleLaw)]
    F: dict[int, Any] = {}
    for (line, at), activation in zip(muscles, as_vector(activations), strict=True):
        law: Any = line.law
        length, rate = line.length(at.X), line.rate(at.X, at.V)
        more = law.activated(length, rate, activation) - law.tension(length, rate)
        for i, f in at.on_bodies(line.pulled(at.X, more)).items():
            F[i] = F.get(i, model.zero_force) + f
    return model.forces(q, element_forces.joint_forces(model, model.positions(q), F))


@public_in("elements")
@function(q="q", activations="m", fiber_lengths="e", loops=True)
def energies(
    model: Model, q: ArrayLike, activations: ArrayLike | None = None, fiber_lengths: ArrayLike | None = None
) -> Array:
    """The energy (..., n) that each element stores, in joules, in the order of `model.elements`."""
    model = in_state(model, activations, fiber_lengths)
    return Vector(at.element.energy(at.X) for at in placed(model, model.positions(q)))


@public_in("elements")
@function(q="q", v="v", activations="m", fiber_lengths="e", loops=True)
def powers(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    activations: ArrayLike | None = None,
    fiber_lengths: ArrayLike | None = None,
) -> Array:
    """The power (..., n) that each element puts into the mechanism, in watts, in the order of `model.elements`."""
    model = in_state(model, activations, fiber_lengths)
    return Vector(
        sum((f.dot(V) for f, V in zip(at.element.forces(at.X, at.V), at.V, strict=True)), ZERO)
        for at in placed(model, model.positions(q), model.velocities(q, v))
    )


@public_in("elements")
@function(q="q", v="v", loops=True)
def stiffness(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """K (..., nv, nv) = −∂τ/∂q of all elements, exact, with what the turning of their forces adds (notes 2.75)."""
    return _slopes(model, q, v, 1)


@public_in("elements")
@function(q="q", v="v", loops=True)
def damping(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """D (..., nv, nv) = −∂τ/∂v of all elements, exact."""
    return _slopes(model, q, v, 0)


def _slopes(model: Model, q: Any, v: Any, which: int) -> Any:
    if not model.elements:
        return Matrix([[ZERO] * model.nv] * model.nv, model.nv)
    columns = slopes_of(lambda q, v: -joint_forces.reference(model, q, v), model, as_vector(q), as_vector(v))[which]
    return Matrix.columns([*columns], model.nv)
