"""Contact between bodies, as `kn.contact` (RBDA chapter 11)."""

from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gap_rates, gaps, normals, points
from .hulls import with_hulls
from .shape_collider import ShapeCollider

__all__ = ["ContactPair", "ShapeCollider", "contact_pairs", "gap_rates", "gaps", "normals", "points", "with_hulls"]
