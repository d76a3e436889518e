"""Soft contact for people: the forces at places, the joint forces that they make, and the acceleration under them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.calls.function import kernel
from knuckle.functions import forward_dynamics
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.public_names import public_in
from knuckle.spatial import Matrix

from .friction_springs import begun_springs, springs_after
from .soft_contact import Touch, force_at, joint_forces, places_in, spring_count, springs_of


@public_in("contact")
def contact_forces(
    model: Model, q: ArrayLike, v: ArrayLike, contacts: CompliantContacts, springs: ArrayLike | None = None
) -> Any:
    """The force (..., n, 3) of soft contact at each place: on the first body of its pair, in base axes, in newtons.

    The places are those of `kn.contact.gaps`. `springs` (..., 3 m) are how far the springs of friction are wound up,
    one at each place with friction: none, if not given.
    """
    return _forces(model, *_checked(model, contacts, q, v, springs), contacts=contacts)


@public_in("contact")
def contact_joint_forces(
    model: Model, q: ArrayLike, v: ArrayLike, contacts: CompliantContacts, springs: ArrayLike | None = None
) -> Any:
    """τ (..., nv) of soft contact: what joint forces would do the same (RBDA 11.34); see `contact_forces`."""
    return _joint_forces(model, *_checked(model, contacts, q, v, springs), contacts=contacts)


@public_in("contact")
def compliant_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: CompliantContacts,
    springs: ArrayLike | None = None,
) -> Any:
    """The acceleration (..., nv) under joint forces and soft contact; see `contact_forces`."""
    return _acceleration(model, *_checked(model, contacts, q, v, springs), tau, contacts=contacts)


@public_in("contact")
def friction_springs(
    model: Model, times: ArrayLike, q: ArrayLike, v: ArrayLike, contacts: CompliantContacts
) -> NDArray[Any]:
    """How far the springs of friction are wound up (..., k, 3 m) along motions (..., k, nq) and (..., k, nv).

    They begin unwound, and go from row to row as they do from step to step: for a motion with a row for every step they
    are those of the motion itself. With them `contact_forces` has the forces along it.
    """
    at, q, v = np.asarray(times, float), np.asarray(q, float), np.asarray(v, float)
    _checked(model, contacts, q, v, None)
    springs = np.zeros((*q.shape[:-1], 3 * spring_count(model, contacts)))
    for k in range(1, len(at) if springs.shape[-1] else 0):
        (q0, v0), (q1, v1) = ((q[..., n, :], v[..., n, :]) for n in (k - 1, k))
        t0, t1 = float(at[k - 1]), float(at[k])
        start = begun_springs(model, t0, q0, v0, contacts=contacts)
        before = springs[..., k - 1, :]
        springs[..., k, :] = springs_after(model, t1, q1, v1, t0, q0, v0, before, start, contacts=contacts)
    return springs


@kernel
def _forces(model: Model, q: Any, v: Any, springs: Any, *, contacts: CompliantContacts) -> Any:
    return Matrix([f for _, f in _acting(model, q, v, springs, contacts)[1]], 3)


@kernel
def _joint_forces(model: Model, q: Any, v: Any, springs: Any, *, contacts: CompliantContacts) -> Any:
    X0, acting = _acting(model, q, v, springs, contacts)
    return joint_forces(model, q, X0, [touch for touch, _ in acting], [f for _, f in acting])


@kernel
def _acceleration(model: Model, q: Any, v: Any, springs: Any, tau: Any, *, contacts: CompliantContacts) -> Any:
    return forward_dynamics(model, q, v, tau + _joint_forces(model, q, v, springs, contacts=contacts))


def _acting(
    model: Model, q: Any, v: Any, springs: Any, contacts: CompliantContacts
) -> tuple[Any, list[tuple[Touch, Any]]]:
    X0, places = places_in(model, contacts, q, v)
    each = springs_of(contacts, places, springs)
    return X0, [(touch, force_at(contacts, touch, x).force) for touch, x in zip(places, each, strict=True)]


def _checked(model: Model, contacts: CompliantContacts, q: Any, v: Any, springs: Any) -> tuple[Any, Any, Any]:
    """The arguments, if they are what they should be."""
    if not isinstance(contacts, CompliantContacts):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"contacts is a kn.contact.CompliantContacts, not {type(contacts).__name__}")
    sizes = {"q": (q, model.nq), "v": (v, model.nv)}
    if springs is not None:
        sizes["springs"] = springs, 3 * spring_count(model, contacts)
    for name, (value, n) in sizes.items():
        shape = np.shape(value) if isinstance(value, (np.ndarray, list, tuple)) else (len(value),)
        if shape[-1:] != (n,):
            raise ValueError(f"{name} has shape {shape}, and must have shape (..., {n})")
    return q, v, springs
