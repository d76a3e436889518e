"""Curves of muscles: cubics from knot to knot that share values and slopes, and straight lines beyond the ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import less, select


@dataclass(frozen=True)
class HermiteCurve:
    """A curve through knots (x, y, slope), with continuous slope (notes 1.40)."""

    knots: tuple[tuple[float, float, float], ...]

    def __call__(self, x: Any) -> Any:
        """The value at x."""
        return self._chosen(x, 0)

    def integral(self, x: Any) -> Any:
        """The area under the curve from the first knot to x."""
        return self._chosen(x, 1)

    def _chosen(self, x: Any, which: int) -> Any:
        (first, y, slope), *_ = self.knots
        value = _polynomial(x - first, _integrated((y, slope), 0.0) if which else (y, slope))
        area = 0.0
        for at, end, coefficients in self._pieces():
            below = _integrated(coefficients, area)
            value = select(less(x, at), value, _polynomial(x - at, below if which else coefficients))
            area = _polynomial(end - at, below) if end is not None else area
        return value

    def _pieces(self) -> Iterator[tuple[float, float | None, tuple[float, ...]]]:
        """Where each piece begins and ends, and its polynomial in what lies between: the cubics, and the last line."""
        for (x0, y0, s0), (x1, y1, s1) in zip(self.knots, self.knots[1:], strict=False):
            h = x1 - x0
            rise = (y1 - y0) / h
            yield x0, x1, (y0, s0, (3 * rise - 2 * s0 - s1) / h, (s0 + s1 - 2 * rise) / h**2)
        x, y, slope = self.knots[-1]
        yield x, None, (y, slope)


def _integrated(coefficients: tuple[float, ...], constant: float) -> tuple[float, ...]:
    return (constant, *(c / (k + 1) for k, c in enumerate(coefficients)))


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's rule."""
    value: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value
