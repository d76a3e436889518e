"""Contact between bodies, as `kn.contact` (RBDA chapter 11)."""

from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gaps, normals, points
from .hulls import with_hulls

__all__ = ["ContactPair", "contact_pairs", "gaps", "normals", "points", "with_hulls"]
