"""Contact between bodies, as `kn.contact` (RBDA chapter 11)."""

from .bearings import JointBearing
from .compliant_contacts import CompliantContacts
from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gaps, normals, points
from .soft_functions import compliant_dynamics, contact_forces, contact_joint_forces, friction_springs
from .staggered_steps import (
    ContactStep,
    bilateral_staggered_projections,
    single_contact_program,
    staggered_projections,
)

__all__ = [
    "CompliantContacts",
    "ContactPair",
    "ContactStep",
    "JointBearing",
    "bilateral_staggered_projections",
    "compliant_dynamics",
    "contact_forces",
    "contact_joint_forces",
    "contact_pairs",
    "friction_springs",
    "gaps",
    "normals",
    "points",
    "single_contact_program",
    "staggered_projections",
]
