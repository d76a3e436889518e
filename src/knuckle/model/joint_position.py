"""Positions of single joints as frozen data: the right number of finite numbers, with unit quaternions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from knuckle.joints import Joint

_UNIT = 1e-6
"""How far the length of a quaternion may be from one."""


def neutral_position(kind: Joint) -> tuple[float, ...]:
    """The joint type's own neutral position: zeros, and (1, 0, 0, 0) for rotations."""
    return tuple(float(x) for x in kind.neutral())


def joint_position(kind: Joint, q: Sequence[Any]) -> tuple[float, ...]:
    """`q` as a position of a joint of this type.

    Raises:
        ValueError: another number of numbers, one that is not finite, or a quaternion that is not of unit length.
    """
    numbers = tuple(float(x) for x in q)
    if len(numbers) != kind.nq:
        raise ValueError(f"needs {kind.nq} entries, one per position variable: {numbers}")
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"needs finite numbers: {numbers}")
    turns = [x for x, unit in zip(numbers, kind.q_units, strict=True) if unit == "1"]
    for k in range(0, len(turns) - 3, 4):
        length = math.hypot(*turns[k : k + 4])
        if abs(length - 1) > _UNIT:
            raise ValueError(f"needs a quaternion of length 1, not {length:.6g}: {numbers}")
    return numbers
