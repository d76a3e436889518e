"""Whether the contacts of a mechanism are solved, where nothing is said; a word where they are not."""

from __future__ import annotations

from knuckle.contact.contact_pairs import contact_pairs
from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.model.contact.contact_candidates import may_touch_ground
from knuckle.warning import warn

from .base import Integrator

SILENCE = "contacts=False says that this is meant"


def contacts_are_solved(model: Model, contacts: bool | None) -> bool:
    """Whether to take steps that solve contacts, where no integrator is named.

    If nothing is said, where something may touch a shape of the base. A warning says why, where that cannot be.
    """
    must_be_a_choice(contacts)
    if contacts is False or (contacts is None and not may_touch_ground(model)):
        return False
    try:
        contact_pairs(model)
    except ModelError as error:
        if contacts:
            raise
        warn(f"bodies of {model.name} pass through each other and through the ground: {error}. {SILENCE}")
        return False
    return True


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
        raise TypeError(f"contacts is True, False, None or a kn.contact.CompliantContacts, not {contacts!r}")
