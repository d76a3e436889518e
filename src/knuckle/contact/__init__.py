"""Contact between bodies, as `kn.contact` (RBDA chapter 11)."""

from knuckle.model.contact import CompliantContacts, RigidContacts

from .bearings import JointBearing
from .contact_motion_terms import (
    contact_bias,
    contact_frames,
    contact_jacobian,
    contact_velocity,
    separation_states,
)
from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gap_rates, gaps, normals, points
from .hulls import with_hulls
from .rigid.contact_dynamics import ContactMotion, contact_dynamics
from .rigid.impact import Impact, impact
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
    "ContactMotion",
    "ContactPair",
    "ContactStep",
    "Impact",
    "JointBearing",
    "RigidContacts",
    "ShapeCollider",
    "bilateral_staggered_projections",
    "compliant_dynamics",
    "contact_bias",
    "contact_dynamics",
    "contact_forces",
    "contact_frames",
    "contact_jacobian",
    "contact_joint_forces",
    "contact_pairs",
    "contact_velocity",
    "friction_springs",
    "gap_rates",
    "gaps",
    "impact",
    "normals",
    "points",
    "separation_states",
    "single_contact_program",
    "staggered_projections",
    "with_hulls",
]
