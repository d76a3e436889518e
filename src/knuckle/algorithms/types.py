"""Names for what the algorithms pass around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from knuckle.spatial import Vector

PerJoint: TypeAlias = Sequence[Vector] | Mapping[int, Vector]
"""One small vector per joint."""

PerBody: TypeAlias = Mapping[int, Any]
"""One motion, force, transform or inertia per body; ROOT included where it makes sense."""
