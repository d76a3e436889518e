"""Whether the contacts of a mechanism are solved, where nothing is said; a word where they are not."""

from __future__ import annotations

from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.model.contact.contact_candidates import may_touch_ground
from knuckle.warning import warn

from .base import Integrator

SILENCE = "contacts=False says that this is meant"


def contact_integrator(model: Model, contacts: bool | None, *, one_state: bool) -> Integrator | None:
    """What takes steps that solve contacts, where no integrator is named; None where contacts are not to be solved.

    If nothing is said they are, where something may touch a shape of the base. A warning says why, where that cannot
    be. Steps of one state at a time may have any shapes, and any number of them.
    """
    must_be_a_choice(contacts)
    if contacts is False or (contacts is None and not may_touch_ground(model)):
        return None
    from .contact_integrators import compiled_steps, steps_for_any_shapes

    try:
        return steps_for_any_shapes(model) if one_state else compiled_steps(model)
    except ModelError as error:
        if contacts:
            raise
        warn(f"bodies of {model.name} pass through each other and through the ground: {error}. {SILENCE}")
        return None


def steps_for_one_state(model: Model, integrator: Integrator) -> Integrator:
    """What takes steps of one state at a time: instead of compiled contact steps loops over what touches, where that is
    much. The laws are the same."""
    if not integrator.solves_contacts:
        return integrator
    from .contact_integrators import looped_where_many

    return looped_where_many(model, integrator)


def must_solve_contacts(model: Model, contacts: bool | None, integrator: Integrator) -> None:
    """An error where contacts are to be solved by an integrator that cannot; a warning where they would have been."""
    must_be_a_choice(contacts)
    if integrator.solves_contacts:
        if contacts is False:
            raise ValueError(f"contacts=False, and {type(integrator).__name__} solves contacts: leave one of them out")
        return
    name = type(integrator).__name__
    if contacts:
        raise ValueError(f"contacts=True needs steps that solve contacts, and {name} does not: leave integrator out")
    if contacts is None and may_touch_ground(model):
        warn(
            f"{name} knows no contact: bodies of {model.name} pass through the ground. "
            f"Without integrator= contacts are solved; {SILENCE}"
        )


def must_be_a_choice(contacts: bool | None) -> None:
    """An error unless contacts is True, False or None."""
    if contacts not in (None, False, True) or (isinstance(contacts, (int, float)) and not isinstance(contacts, bool)):
        raise TypeError(
            "contacts is True, False, None, a kn.contact.CompliantContacts or a kn.contact.RigidContacts, "
            f"not {contacts!r}"
        )
