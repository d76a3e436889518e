"""Contact between bodies, as `kn.contact` (RBDA chapter 11)."""

from .compliant_contacts import CompliantContacts
from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gaps, normals, points
from .soft_functions import compliant_dynamics, contact_forces, contact_joint_forces

__all__ = [
    "CompliantContacts",
    "ContactPair",
    "compliant_dynamics",
    "contact_forces",
    "contact_joint_forces",
    "contact_pairs",
    "gaps",
    "normals",
    "points",
]
