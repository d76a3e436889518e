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

__all__ = [
    "ContactPair",
    "contact_bias",
    "contact_frames",
    "contact_jacobian",
    "contact_pairs",
    "contact_velocity",
    "gaps",
    "normals",
    "points",
    "separation_states",
]
