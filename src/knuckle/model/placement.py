"""Ways to say where something is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias, cast

from knuckle.errors import ModelError
from knuckle.spatial import IDENTITY, PlanarTransform, Transform, rotation
from knuckle.spatial.three import IDENTITY3, Mat3, Vec3

Placement: TypeAlias = Transform | PlanarTransform | Sequence[Any] | Mapping[str, Any] | None
"""A transform; a position (x, y, z); a dict of `xyz` and one of `rpy`, `quaternion` or `E`; a 4x4 pose; or None."""

_WAYS = "a Transform, (x, y, z), dict(xyz=..., rpy=... or quaternion=... or E=...) or a 4x4 pose"
_ORTHOGONAL = 1e-9


def to_transform(at: Placement, what: str = "placement", element: str | None = None) -> Any:
    """The transform to a frame placed by `at`; see `Placement`.

    Roll, pitch and yaw are URDF's: turns about the fixed x, y and z axes in this order. A quaternion is (w, x, y, z).
    The rows of `E` are the new axes in the old frame; the columns of a 4x4 pose are.
    """
    if at is None:
        return IDENTITY
    if isinstance(at, (Transform, PlanarTransform)):
        return at
    if isinstance(at, Mapping):
        return _from_parts(at, what, element)
    try:
        rows = [row for row in at]
    except TypeError:
        rows = []
    if len(rows) == 3 and not any(hasattr(x, "__len__") for x in rows):
        return Transform.translation(_numbers(rows, 3, what, element))
    if len(rows) == 4 and all(hasattr(row, "__len__") and len(row) == 4 for row in rows):
        columns = list(zip(*(_numbers(row, 4, what, element) for row in rows), strict=True))
        return Transform.of(_orthogonal([c[:3] for c in columns[:3]], what, element), columns[3][:3])
    raise ModelError(f"{what} is {_WAYS}, not {at!r}", element=element)


def _from_parts(at: Mapping[str, Any], what: str, element: str | None) -> Transform:
    unknown = [key for key in at if key not in ("xyz", "rpy", "quaternion", "E")]
    turns = [key for key in at if key in ("rpy", "quaternion", "E")]
    if unknown or len(turns) > 1:
        raise ModelError(f"{what} is {_WAYS}, not a dict of {', '.join(map(repr, at))}", element=element)
    r = _numbers(at.get("xyz", (0.0, 0.0, 0.0)), 3, f"{what}: xyz", element)
    return Transform.of(_turn(at, what, element), r)


def _turn(at: Mapping[str, Any], what: str, element: str | None) -> Mat3:
    if "rpy" in at:
        return rotation.from_rpy(*_numbers(at["rpy"], 3, f"{what}: rpy", element))
    if "quaternion" in at:
        p = _numbers(at["quaternion"], 4, f"{what}: quaternion", element)
        if not any(p):
            raise ModelError(f"{what}: a quaternion of zeros is no rotation", element=element)
        return rotation.from_quaternion(cast(Any, p))
    if "E" in at:
        return _orthogonal([_numbers(row, 3, f"{what}: E", element) for row in at["E"]], f"{what}: E", element)
    return IDENTITY3


def _numbers(values: Iterable[Any], n: int, what: str, element: str | None) -> tuple[Any, ...]:
    try:
        numbers = tuple(values)
    except TypeError:
        numbers = ()
    if len(numbers) != n:
        raise ModelError(f"{what} needs {n} numbers, not {values!r}", element=element)
    return tuple(finite(x, what, element) for x in numbers)


def finite(x: Any, what: str, element: str | None = None) -> Any:
    """`x`, if it is a finite number or a scalar of another kind than Python's; NumPy's numbers become Python's."""
    if isinstance(x, (str, bytes)) or x is None or hasattr(x, "__len__"):
        raise ModelError(f"{what} needs a number, not {x!r}", element=element)
    if isinstance(x, Integral):
        return int(x)
    if isinstance(x, float):
        if not math.isfinite(x):
            raise ModelError(f"{what} needs a finite number, not {x!r}", element=element)
        return float(x)
    return x


def vector(values: Iterable[Any], what: str, element: str | None = None) -> Vec3:
    """Three finite numbers."""
    return cast(Vec3, _numbers(values, 3, what, element))


def _orthogonal(E: Sequence[Sequence[Any]], what: str, element: str | None) -> Mat3:
    """`E`, if it is a rotation; entries that are no plain numbers are trusted."""
    if len(E) != 3:
        raise ModelError(f"{what}: a rotation has 3 rows, not {len(E)}", element=element)
    if all(isinstance(x, (int, float)) for row in E for x in row):
        a, b, c = E
        off = max(
            abs(sum(x * y for x, y in zip(E[i], E[j], strict=True)) - (i == j)) for i in range(3) for j in range(3)
        )
        turn = sum(a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]) for i in range(3))
        if off > _ORTHOGONAL or turn < 0:
            raise ModelError(
                f"{what}: the axes are not at right angles, of length one and right-handed", element=element
            )
    return cast(Mat3, tuple(tuple(row) for row in E))
