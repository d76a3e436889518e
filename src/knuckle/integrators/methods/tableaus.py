"""Runge-Kutta methods as data: Butcher tableaus."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: stage i is at cᵢ and uses Σ aᵢⱼ kⱼ; the step is Σ bᵢ kᵢ.

    `error`, where there is one, are weights whose sum estimates the error: b − b̂ of an embedded method. `dense` holds
    for each stage the coefficients of θ, θ², … of its weight within the step.
    """

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    error: tuple[float, ...] = ()
    dense: tuple[tuple[float, ...], ...] = ()

    @property
    def c(self) -> tuple[float, ...]:
        """Where the stages are: the row sums of a."""
        return tuple(sum(row) for row in self.a)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(Fraction(word)) for word in text.split())


def _rows(text: str) -> tuple[tuple[float, ...], ...]:
    return tuple(_numbers(line) for line in text.split(","))


HEUN = Tableau("Heun", 2, _rows(", 2/3"), _numbers("1/4 3/4"), dense=_rows("1 -3/4, 0 3/4"))
"""Heun's method with its second stage at ⅔, and the parabola through both slopes (RBDA 11.50, 11.51)."""

RK4 = Tableau("RK4", 4, _rows(", 1/2, 0 1/2, 0 0 1"), _numbers("1/6 1/3 1/3 1/6"))
"""The classical Runge-Kutta method."""

DORMAND_PRINCE = Tableau(
    "Dormand-Prince 5(4)",
    5,
    _rows("""
        , 1/5
        , 3/40 9/40
        , 44/45 -56/15 32/9
        , 19372/6561 -25360/2187 64448/6561 -212/729
        , 9017/3168 -355/33 46732/5247 49/176 -5103/18656
        , 35/384 0 500/1113 125/192 -2187/6784 11/84
    """),
    _numbers("35/384 0 500/1113 125/192 -2187/6784 11/84 0"),
    _numbers("71/57600 0 -71/16695 71/1920 -17253/339200 22/525 -1/40"),
    _rows("""
          1 -8048581381/2820520608 8663915743/2820520608 -12715105075/11282082432
        , 0 0 0 0
        , 0 131558114200/32700410799 -68118460800/10900136933 87487479700/32700410799
        , 0 -1754552775/470086768 14199869525/1410260304 -10690763975/1880347072
        , 0 127303824393/49829197408 -318862633887/49829197408 701980252875/199316789632
        , 0 -282668133/205662961 2019193451/616988883 -1453857185/822651844
        , 0 40617522/29380423 -110615467/29380423 69997945/29380423
    """),
)
"""Dormand and Prince's pair of orders 5 and 4 (1980), with Shampine's dense output of order 4 (1986)."""
