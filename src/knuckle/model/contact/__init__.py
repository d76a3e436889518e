"""Which shapes of a mechanism may touch."""

from .contact_candidates import ShapeOn, contact_candidates, joined_bodies, welds

__all__ = ["ShapeOn", "contact_candidates", "joined_bodies", "welds"]
