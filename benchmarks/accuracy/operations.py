"""Which operations carry the error of a function, line by line of the algorithm.

    python benchmarks/accuracy/operations.py a1_description inverse_dynamics [fixed|floating]

The text runs on doubles, as its kernels' models have them, and records every operation: what it loses, which is known
exactly (Knuth, Dekker), and the derivatives. Backward from the entry of the result that is most wrong in each state,
what an operation lost times the derivative of the result by it is its part of the error. The parts add up to the error
that is measured, but for that of the constants, which is printed too. It needs the references of `robots.py`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from references import arguments
from same_mechanism import read_as_usual

import knuckle as kn
from knuckle.accuracy.many_digits import digits_of, function_of, precision
from knuckle.engine.arrays.base import scalars_of
from knuckle.model.canonical.canonical_form import canonical
from knuckle.scalar.kinds import Kind
from knuckle.scalar.operations import FUNCTIONS
from knuckle.scalar.structural import MadeOfScalars, _Structural
from robots import place, subjects

Array = np.ndarray[Any, Any]
STATES, SHOWN, ROUNDING, SPLITTER = 300, 12, 2.0**-53, 2.0**27 + 1
Step = tuple[list[tuple[int, Any]], Any, str]
"""The operands by number with the derivatives by them, what is lost, and where it stands."""


class Tape(list[Step]):
    """What was done, in order."""

    def number(self, value: Any, lost: Any = 0.0, operands: list[tuple[int, Any]] | None = None) -> Taped:
        self.append((operands or [], lost, "" if operands is None else _where()))
        return Taped(self, value, len(self) - 1)


class Taped:
    """Doubles, one for each state, that write down what is done to them."""

    __array_ufunc__ = None

    def __init__(self, tape: Tape, value: Any, place: int) -> None:
        self.tape, self.value, self.place = tape, value, place

    @staticmethod
    def scalar_kind() -> Kind:
        return KIND

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: (s := x + y, _lost_of_sum(x, y, s), 1.0, 1.0))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: (s := x - y, _lost_of_sum(x, -y, s), 1.0, -1.0))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: (p := x * y, _lost_of_product(x, y, p), y, x))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, _quotient)

    def __rtruediv__(self, other: Any) -> Any:
        return Taped(self.tape, float(other), -1) / self

    def __neg__(self) -> Taped:
        return self.tape.number(-self.value, 0.0, [(self.place, -1.0)])

    def __lt__(self, other: Any) -> Any:
        return self.value < _plain(other)

    def _with(self, other: Any, operation: Callable[[Any, Any], tuple[Any, Any, Any, Any]]) -> Any:
        if isinstance(other, (MadeOfScalars, _Structural)) or hasattr(other, "rows") or hasattr(other, "items"):
            return NotImplemented
        value, lost, by_own, by_other = operation(self.value, _plain(other))
        place = other.place if isinstance(other, Taped) else -1
        return self.tape.number(value, lost, [(self.place, by_own), (place, by_other)])


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, Taped) else float(x)


def _lost_of_sum(a: Any, b: Any, s: Any) -> Any:
    part = s - a
    return (a - (s - part)) + (b - part)


def _lost_of_product(x: Any, y: Any, p: Any) -> Any:
    (a, b), (c, d) = _halves(x), _halves(y)
    return ((a * c - p) + a * d + b * c) + b * d


def _halves(x: Any) -> tuple[Any, Any]:
    first = SPLITTER * x - (SPLITTER * x - x)
    return first, x - first


def _quotient(x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    z = x / y
    p = z * y
    return z, ((x - p) - _lost_of_product(z, y, p)) / y, 1 / y, -z / y


def _function(name: str, slope: Callable[[Any, Any], Any]) -> Callable[[Taped], Taped]:
    def applied(x: Taped) -> Taped:
        value = getattr(np, name)(x.value)
        with precision(45):
            lost = (function_of(name)(digits_of(x.value)).lanes - value).astype(float)
        return x.tape.number(value, lost, [(x.place, slope(x.value, value))])

    return applied


def _select(condition: Any, x: Any, y: Any) -> Any:
    if not isinstance(condition, np.ndarray):
        return x if condition else y
    tape = (x if isinstance(x, Taped) else y).tape
    chosen = [(part.place, mask * 1.0) for part, mask in ((x, condition), (y, ~condition)) if isinstance(part, Taped)]
    return tape.number(np.where(condition, _plain(x), _plain(y)), 0.0, chosen)


KIND = Kind(
    "taped", 5,
    {f.name: lambda *_: NotImplemented for f in FUNCTIONS}
    | {
        "sin": _function("sin", lambda x, _: np.cos(x)), "cos": _function("cos", lambda x, _: -np.sin(x)),
        "sqrt": _function("sqrt", lambda _, z: 0.5 / z),
    },
    lambda a, b: _plain(a) < _plain(b), _select, _plain,
)  # fmt: skip


def _where() -> str:
    """The line of the algorithm, and the function of the algebra that it called."""
    frame, inner = sys._getframe(3), ""
    while frame is not None:
        name, own = frame.f_code.co_filename, frame.f_code.co_name
        if "/knuckle/" in name:
            file = os.path.basename(name)
            if not inner and file != "three.py":
                inner = f"{file}: {own}"
            if "/algorithms/" in name:
                return f"{file}:{frame.f_lineno} by {inner}"
        frame = frame.f_back
    return inner


def parts_of_error(name: str, model: kn.Model, args: list[Array], exact: Array) -> tuple[dict[str, Array], Array]:
    """By place the part of the error in each state, in parts of the largest entry; and the error that is measured."""
    tape, states = Tape(), len(args[0])
    columns = [[tape.number(c.copy()) for c in x.T] for x in args]
    results = scalars_of(getattr(kn, name).reference(model, *columns))
    found = np.stack([np.broadcast_to(_plain(x), (states,)) for x in results], axis=1)
    high, low = exact.reshape(2, states, -1)
    error, size = (found - high) - low, np.abs(high).max(axis=1)
    worst = np.abs(error).argmax(axis=1)
    slopes: list[Any] = [0.0] * len(tape)
    for k, x in enumerate(results):
        if isinstance(x, Taped):
            slopes[x.place] = slopes[x.place] + (worst == k) * 1.0
    parts: dict[str, Any] = defaultdict(float)
    for i in range(len(tape) - 1, -1, -1):
        operands, lost, where = tape[i]
        for k, slope in operands:
            if k >= 0:
                slopes[k] = slopes[k] + slopes[i] * slope
        parts[where] = parts[where] - slopes[i] * lost / size
    return dict(parts), error[np.arange(states), worst] / size


def main() -> int:
    warnings.simplefilter("ignore")
    only, name, *bases = sys.argv[1:]
    for path, base in subjects(only):
        if bases and base not in bases:
            continue
        with np.load(place(path, base)) as kept:
            s = {key: kept[key][:STATES] for key in ("q", "v", "a", "tau")}
            exact = kept[f"exact/{name}"][:, :STATES]
        form = canonical(read_as_usual(path, base))
        model = form.model if name == "kinetic_energy" else form.light
        parts, measured = parts_of_error(name, model, arguments(name, s), exact)
        sizes = {where: float(np.sqrt(np.mean(x**2))) / ROUNDING for where, x in parts.items()}
        arithmetic = sum(parts.values())
        print(f"{path.stem} {base} {name}, in roundings, root mean square of {len(measured)} states")
        print(f"  {np.sqrt(np.mean(measured**2)) / ROUNDING:5.2f} measured, in the entry that is most wrong")
        print(f"  {np.sqrt(np.mean(arithmetic**2)) / ROUNDING:5.2f} by operations")
        print(f"  {np.sqrt(np.mean((measured - arithmetic) ** 2)) / ROUNDING:5.2f} by constants")
        for where, x in sorted(sizes.items(), key=lambda item: -item[1])[:SHOWN]:
            print(f"    {x:5.2f} {where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
