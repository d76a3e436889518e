"""Which shapes of a mechanism may touch, and how a simulation takes contacts that are no part of its steps."""

from .compliant_contacts import CompliantContacts
from .contact_candidates import ShapeOn, contact_candidates, joined_bodies, welds
from .rigid_contacts import ImpactLaw, Order, RigidContacts

__all__ = [
    "CompliantContacts",
    "ImpactLaw",
    "Order",
    "RigidContacts",
    "ShapeOn",
    "contact_candidates",
    "joined_bodies",
    "welds",
]
