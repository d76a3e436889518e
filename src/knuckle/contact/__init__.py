"""Contact between bodies, as `kn.contact` (RBDA chapter 11)."""

from .bearings import JointBearing
from .compliant_contacts import CompliantContacts
from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gap_rates, gaps, normals, points
from .hulls import with_hulls
from .shape_collider import ShapeCollider
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
    "ShapeCollider",
    "bilateral_staggered_projections",
    "compliant_dynamics",
    "contact_forces",
    "contact_joint_forces",
    "contact_pairs",
    "friction_springs",
    "gap_rates",
    "gaps",
    "normals",
    "points",
    "single_contact_program",
    "staggered_projections",
    "with_hulls",
]
