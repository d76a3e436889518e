"""What a person gives for a body or a joint, checked and made into the parts of a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from knuckle.errors import ModelError
from knuckle.joints import Joint
from knuckle.model.joint_position import joint_position, neutral_position
from knuckle.model.parts import Limits
from knuckle.model.placement import finite, vector
from knuckle.spatial import Inertia

GivenLimits: TypeAlias = Limits | tuple[float, float] | Mapping[str, Any] | None
"""Limits; (lower, upper); a dict of `lower`, `upper`, `velocity`, `effort`, each a number or one per variable."""

PROPERTIES = ("damping", "friction", "rotor_inertia", "stiffness", "rest")
"""What a joint has per velocity variable."""

_SYMMETRIC = 1e-9


def inertia_from(mass: Any, com: Any, inertia: Any, element: str) -> Inertia:
    """An inertia as given: an `Inertia`; or mass, centre of mass and rotational inertia about it.

    The rotational inertia is a symmetric 3x3 matrix or three principal moments along the axes; none makes a point
    mass. Nothing at all makes a body without inertia.
    """
    if isinstance(inertia, Inertia):
        if mass is not None or com is not None:
            raise ModelError("give inertia=Inertia(...) alone, or mass=, com= and a 3x3 inertia=", element=element)
        numbers = (inertia.mass, *inertia.h, *inertia.I)
        for x in numbers:
            finite(x, "inertia", element)
        _refuse_negative(inertia.mass, element)
        return inertia
    if mass is None:
        if inertia is not None or com is not None:
            raise ModelError("a centre of mass or an inertia needs a mass too: mass=...", element=element)
        return Inertia.zero()
    _refuse_negative(finite(mass, "mass", element), element)
    c = (0, 0, 0) if com is None else vector(com, "com", element)
    return Inertia.of(mass, c, _rotational(inertia, element))


def _refuse_negative(mass: Any, element: str) -> None:
    if isinstance(mass, (int, float)) and mass < 0:
        raise ModelError(f"its mass is negative: {mass!r} kg", element=element)


def _rotational(inertia: Any, element: str) -> tuple[tuple[Any, Any, Any], ...]:
    wanted = "three principal moments or a symmetric 3x3 matrix about the centre of mass"
    if inertia is None:
        return (0, 0, 0), (0, 0, 0), (0, 0, 0)
    try:
        rows = list(inertia)
    except TypeError:
        rows = []
    if len(rows) != 3:
        raise ModelError(f"inertia is {wanted}, not {inertia!r}", element=element)
    if not any(hasattr(row, "__len__") for row in rows):
        a, b, c = vector(rows, "inertia", element)
        return (a, 0, 0), (0, b, 0), (0, 0, c)
    if any(not hasattr(row, "__len__") or len(row) != 3 for row in rows):
        raise ModelError(f"inertia is {wanted}, not {inertia!r}", element=element)
    A = tuple(vector(row, "inertia", element) for row in rows)
    scale = max((abs(x) for row in A for x in row if isinstance(x, (int, float))), default=0.0)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        x, y = A[i][j], A[j][i]
        if isinstance(x, (int, float)) and isinstance(y, (int, float)) and abs(x - y) > _SYMMETRIC * scale:
            raise ModelError(f"inertia is not symmetric: [{i}][{j}] is {x!r}, [{j}][{i}] is {y!r}", element=element)
    return A


def limits_from(given: GivenLimits, kind: Joint, element: str) -> Limits:
    """Limits as given, one entry per variable."""
    if given is None:
        return Limits.none(kind.nq, kind.nv)
    if isinstance(given, Limits):
        parts: Mapping[str, Any] = {
            key: getattr(given, key) for key in ("lower", "upper", "velocity", "effort") if getattr(given, key)
        }
    elif isinstance(given, Mapping):
        parts = given
    else:
        pair = tuple(given)
        if len(pair) != 2:
            raise ModelError(f"limits are (lower, upper), a dict or Limits, not {given!r}", element=element)
        parts = dict(zip(("lower", "upper"), pair, strict=True))
    for key in parts:
        if key not in ("lower", "upper", "velocity", "effort"):
            raise ModelError(f"limits have lower, upper, velocity and effort, not {key!r}", element=element)
    lower = _per_variable(parts.get("lower", -math.inf), kind.nq, "lower limit", element)
    upper = _per_variable(parts.get("upper", math.inf), kind.nq, "upper limit", element)
    for low, high in zip(lower, upper, strict=True):
        if low > high:
            raise ModelError(f"the lower limit {low!r} is above the upper limit {high!r}", element=element)
    return Limits(
        lower,
        upper,
        _per_variable(parts.get("velocity", math.inf), kind.nv, "velocity limit", element, signed=False),
        _per_variable(parts.get("effort", math.inf), kind.nv, "effort limit", element, signed=False),
    )


def _per_variable(given: Any, n: int, what: str, element: str, signed: bool = True) -> tuple[float, ...]:
    """One number for every variable, or a number each; infinity is allowed, NaN is not."""
    numbers = [float(x) for x in (cast(Iterable[Any], given) if hasattr(given, "__len__") else (given,) * n)]
    if len(numbers) != n:
        raise ModelError(f"{what} needs {n} numbers, not {len(numbers)}: {given!r}", element=element)
    for x in numbers:
        if math.isnan(x) or (not signed and x < 0):
            raise ModelError(f"{what} cannot be {x!r}", element=element)
    return tuple(numbers)


def per_freedom(given: Any, kind: Joint, what: str, element: str, signed: bool = False) -> tuple[float, ...]:
    """A property with an entry per velocity variable: one number for all, or a number each."""
    numbers: Sequence[Any] = given if hasattr(given, "__len__") else (given,) * kind.nv
    if len(numbers) != kind.nv:
        raise ModelError(f"{what} needs {kind.nv} numbers, not {len(numbers)}: {given!r}", element=element)
    for x in numbers:
        if not signed and isinstance(finite(x, what, element), (int, float)) and x < 0:
            raise ModelError(f"{what} cannot be negative: {x!r}", element=element)
    return tuple(finite(x, what, element) for x in numbers)


def start_from(given: Any, kind: Joint, element: str) -> tuple[float, ...]:
    """A position to start from as given: a number, or one per position variable; None for the neutral position."""
    if given is None:
        return neutral_position(kind)
    try:
        return joint_position(kind, cast(Sequence[Any], given) if hasattr(given, "__len__") else (given,))
    except (TypeError, ValueError) as error:
        raise ModelError(f"start {error}", element=element) from None
