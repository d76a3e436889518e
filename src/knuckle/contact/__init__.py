"""Contact between bodies, as `kn.contact` (RBDA chapter 11)."""

from .contact_motion_terms import (
    contact_bias,
    contact_frames,
    contact_jacobian,
    contact_velocity,
    separation_states,
)
from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gaps, normals, points
from .rigid.contact_dynamics import ContactMotion, contact_dynamics
from .rigid.impact import Impact, impact
from .rigid.rigid_contacts import RigidContacts

__all__ = [
    "ContactMotion",
    "ContactPair",
    "Impact",
    "RigidContacts",
    "contact_bias",
    "contact_dynamics",
    "contact_frames",
    "contact_jacobian",
    "contact_pairs",
    "contact_velocity",
    "gaps",
    "impact",
    "normals",
    "points",
    "separation_states",
]
