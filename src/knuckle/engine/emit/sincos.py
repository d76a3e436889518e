"""Sine and cosine as one branch-free pair: constants for every printer.

x = k π/2 + r + e with |r| ≤ π/4 and a tail e, by three parts of π/2: x less k times the first is exact, k times the
second is kept whole as two numbers, for near a multiple of π/2 nothing else is left of x. Then
sin r = r + r³ P(r²), cos r = 1 − r²/2 + r⁴ Q(r²), with minimax polynomials P and Q (Remez, relative error below a tenth
of a rounding), corrected by e; and k mod 4 turns the pair. k is what x · 2/π + `whole` is rounded to, less `whole`: so
large a number has no binary places after the point, and its last two bits are k mod 4.

Good to 2 ulp for |x| ≤ `reach`. There neighbouring numbers are a sixteenth of a radian apart: what is beyond is no
angle any more, and its sine and cosine are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

TWO_OVER_PI = 0.6366197723675814


@dataclass(frozen=True)
class Pair:
    """π/2 in parts, largest first, the coefficients of P and Q, lowest first, and how far they are good."""

    half_pi: tuple[float, float, float]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]
    whole: float
    reach: float


DOUBLE = Pair(
    (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    (
        -0.1666666666666663,
        0.008333333333322113,
        -0.00019841269829584855,
        2.7557313619702316e-06,
        -2.5050747490622135e-08,
        1.5896213900738097e-10,
    ),
    (
        0.041666666666666595,
        -0.001388888888887305,
        2.4801587288846537e-05,
        -2.755731417776405e-07,
        2.0875700628463847e-09,
        -1.1358525208068056e-11,
    ),
    1.5 * 2.0**52,
    2.0**49,
)
SINGLE = Pair(
    (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    (-0.1666665460590369, 0.008332160526449481, -0.0001951525060616403),
    (0.041666645676566264, -0.0013887315935475722, 2.4433119877300437e-05),
    1.5 * 2.0**23,
    2.0**20,
)
