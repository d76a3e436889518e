"""What takes the steps of a mechanism whose contacts are solved: compiled steps for few, loops for many."""

from __future__ import annotations

from knuckle.contact.contact_pairs import ContactPair, contact_pairs
from knuckle.contact.hulls import with_hulls
from knuckle.contact.shape_collider import ShapeCollider
from knuckle.model import Mesh, Model

from .base import Integrator
from .methods.collider_steps import ColliderSteps, must_be_known
from .methods.contact_impulses import impulse_count
from .methods.contact_steps import ContactSteps

FEW = 48
"""Impulses up to which compiled steps solve all contacts of a mechanism."""


def compiled_steps(model: Model) -> ContactSteps:
    """Compiled steps; an error where a pair of shapes has no text."""
    contact_pairs(model)
    return ContactSteps()


def steps_for_any_shapes(model: Model) -> Integrator:
    """Compiled steps for few contacts; else steps by loops over what touches."""
    collider = ShapeCollider.of(with_hulls(model))
    pairs = collider.pairs
    if all(pair.is_compiled and not _is_mesh(pair) for pair in pairs) and not has_many_contacts(model, pairs):
        return ContactSteps()
    must_be_known(model)
    return ColliderSteps(collider)


def has_many_contacts(model: Model, pairs: tuple[ContactPair, ...]) -> bool:
    """Whether there are more contacts than compiled steps solve well; all pairs must have a text."""
    return len(pairs) > FEW or impulse_count(model, joint_limits=False) > FEW


def looped_where_many(model: Model, integrator: Integrator) -> Integrator:
    """Instead of compiled contact steps loops over what touches, where that is much; other steps as they are."""
    if not isinstance(integrator, ContactSteps) or integrator.joint_limits or integrator.extrapolated:
        return integrator
    if model.couplings or integrator.pairs is not None or not has_many_contacts(model, contact_pairs(model)):
        return integrator
    return ColliderSteps(ShapeCollider.of(model), integrator.rounds, integrator.tolerance)


def _is_mesh(pair: ContactPair) -> bool:
    return any(isinstance(x.shape, Mesh) for x in (pair.first_shape, pair.second_shape))
