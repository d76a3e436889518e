"""States of actuators: what follows a control input, and pushes in its place (MuJoCo's activations)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from knuckle.public_names import public_in
from knuckle.scalar import constant, exp, maximum, minimum

if TYPE_CHECKING:
    from .actuator import Actuator

Range: TypeAlias = tuple[float, float] | None
Kind: TypeAlias = Literal["integrator", "filter", "filterexact"]

QUICKEST = 1e-15
"""The shortest time constant of a filter, in seconds."""


@public_in("actuators")
@dataclass(frozen=True)
class ActuatorDynamics:
    """A state a of an actuator, which stands where its law has the control u.

    Of an integrator ȧ = u; of a filter ȧ = (u − a) / T. A "filterexact" is a filter whose steps are exact for controls
    that stay, however short T is beside a step.

    Args:
        kind: "integrator", "filter" or "filterexact".
        time_constant: T of a filter, in seconds.
        range: the smallest and the largest a, in which it is kept at the end of each step; None for any.
        is_early: whether the actuator pushes, in steps of one length, with the state at the end of a step already.
        state: a to begin with.
    """

    kind: Kind
    time_constant: float = 1.0
    range: Range = None
    is_early: bool = False
    state: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind of an actuator's dynamics is one of {', '.join(get_args(Kind))}, not {self.kind!r}")
        if not (math.isfinite(self.time_constant) and self.time_constant >= 0):
            raise ValueError(f"time_constant of an actuator's dynamics is not below zero, not {self.time_constant}")
        if self.range is not None:
            object.__setattr__(self, "range", checked_range("range of an actuator's dynamics", self.range))

    @property
    def is_exact(self) -> bool:
        """Whether steps are exact for controls that stay."""
        return self.kind == "filterexact"

    def rate(self, u: Any, a: Any) -> Any:
        """ȧ under a control."""
        return u if self.kind == "integrator" else (u - a) / constant(self._quick)

    def after(self, u: Any, a: Any, h: Any) -> Any:
        """a after h seconds under a control, as MuJoCo has it: exact for "filterexact", else h ȧ more."""
        T = constant(self._quick)
        return self.within(a + self.rate(u, a) * (T * (1 - exp(-h / T)) if self.is_exact else h))

    def later(self, u: Any, a: Any, h: Any) -> Any:
        """a after h seconds in which a control stays, exactly."""
        T = constant(self._quick)
        return self.within(a + self.rate(u, a) * (h if self.kind == "integrator" else T * (1 - exp(-h / T))))

    def within(self, a: Any) -> Any:
        """a within its range."""
        return within(a, self.range)

    @property
    def _quick(self) -> float:
        return max(self.time_constant, QUICKEST)


def within(x: Any, ends: Range) -> Any:
    """A number within a range."""
    return x if ends is None else minimum(maximum(x, constant(ends[0])), constant(ends[1]))


def checked_range(what: str, ends: Sequence[float]) -> tuple[float, float]:
    """The ends of a range, or an error that names it."""
    ends = tuple(ends)
    if len(ends) != 2 or not (math.isfinite(ends[0]) and math.isfinite(ends[1]) and ends[0] <= ends[1]):
        raise ValueError(f"{what} is (least, most), not {ends}")
    return ends[0], ends[1]


def with_dynamics(actuators: Iterable[Actuator]) -> list[tuple[int, ActuatorDynamics]]:
    """The actuators that have states, in order: their numbers, and what these states are."""
    return [(k, x.dynamics) for k, x in enumerate(actuators) if x.dynamics is not None]


def in_states(actuators: Iterable[Actuator], states: Iterable[Any]) -> tuple[Actuator, ...]:
    """The same actuators in other states, one for each that has some."""
    given = iter(states)
    return tuple(
        x if x.dynamics is None else replace(x, dynamics=replace(x.dynamics, state=next(given))) for x in actuators
    )
