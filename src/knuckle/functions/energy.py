"""Public functions of energy, mass and momentum."""

from __future__ import annotations

from numpy.typing import ArrayLike

from knuckle.algorithms.energy import centroidal, energy_and_momentum
from knuckle.engine.calls.function import Array, function
from knuckle.model import Model
from knuckle.public_names import public
from knuckle.spatial import Matrix, Vector

from .base_frame import near
from .line_inertia import line_energy
from .per_joint import drift


@public
@function(q="q", v="v", loops=True, any_frames=True)
def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """½ Σ v·Iv (RBDA 2.67) plus the spin of the rotors and what is in the armature of lines, in joules."""
    bodies = energy_and_momentum.kinetic_energy(model, model.positions(q), model.velocities(q, v))
    return bodies + line_energy(model, q, v)


@public
@function(q="q", loops=True)
def potential_energy(model: Model, q: ArrayLike) -> Array:
    """The energy of height, of joint springs and of force elements, in joules; heights are from the base's origin."""
    return energy_and_momentum.potential_energy(model, model.positions(q))


@public
def total_mass(model: Model) -> float:
    """The mass of all moving bodies in kilograms; the base is not counted."""
    return float(energy_and_momentum.total_mass(model))


@public
@function(q="q", loops=True)
def center_of_mass(model: Model, q: ArrayLike) -> Array:
    """The centre of mass (..., 3) of the moving bodies in base coordinates."""
    return Vector(energy_and_momentum.center_of_mass(model, model.positions(q)))


@public
@function(q="q", v="v", loops=True)
def momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Angular momentum about the base's origin and linear momentum (..., 6), in base coordinates."""
    return energy_and_momentum.momentum(model, model.positions(q), model.velocities(q, v))


@public
@function(q="q", v="v", loops=True)
def centroidal_momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Angular momentum about the centre of mass and linear momentum (..., 6), with the base's axes."""
    return centroidal.centroidal_momentum(model, near(model, model.positions(q)), model.velocities(q, v))


@public
@function(q="q", loops=True)
def centroidal_matrix(model: Model, q: ArrayLike) -> Array:
    """A (..., 6, nv) with A v the centroidal momentum."""
    columns = model.columns(q, centroidal.centroidal_matrix(model, near(model, model.positions(q))), model.zero_force)
    return Matrix.columns((column.components for column in columns), model.algebra.dimension)


@public
@function(q="q", v="v", loops=True)
def centroidal_bias(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Ȧ v (..., 6): the rate of the centroidal momentum when v does not change."""
    Q = near(model, model.positions(q))
    return centroidal.centroidal_bias(model, Q, model.velocities(q, v), drift(model, q, v))
