"""A joint from a function: the shortest way to one of your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from knuckle.joints.base import Joint
from knuckle.spatial import Transform, Vector


@dataclass(frozen=True)
class FunctionJoint(Joint):
    """A joint by the function that gives X_J of its position variables; v = q̇.

    S, v_J, c_J, T, T_a and δ follow by exact differentiation, so the function must be written with the functions of
    `knuckle.scalar` and the transforms of `knuckle.spatial`. A function defined in a module keeps the joint picklable.
    """

    function: Callable[[Vector], Transform]
    units: tuple[str, ...]

    def __init__(self, function: Callable[[Vector], Transform], units: str | Sequence[str]) -> None:
        if not callable(function):
            raise TypeError(f"function gives a Transform for a position, which {function!r} cannot")
        words = tuple(units.split()) if isinstance(units, str) else tuple(units)
        if unknown := sorted(set(words) - {"rad", "m", "1"}):
            raise ValueError(f'units are "rad", "m" or "1", one per position variable, not {unknown}')
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "units", words)

    @property
    def q_units(self) -> tuple[str, ...]:
        return self.units

    @property
    def v_units(self) -> tuple[str, ...]:
        return self.units

    def transform(self, q: Vector) -> Transform:
        return self.function(q)
