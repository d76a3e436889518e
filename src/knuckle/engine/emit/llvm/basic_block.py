"""Lines of LLVM text without branches: arithmetic, sines and cosines."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

from knuckle.engine.emit.sincos import TWO_OVER_PI
from knuckle.scalar.operations import FUNCTIONS

from .vector_lanes import Lanes


class BasicBlock:
    """Lines of a basic block, with fresh names."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, self.lines = lanes, list[str]()
        self._fresh = 0

    def put(self, text: str) -> str:
        """A line that defines a fresh name; returns the name."""
        self._fresh += 1
        self.lines.append(f"%x{self._fresh} = {text}")
        return f"%x{self._fresh}"

    def arithmetic(self, op: str, a: str, b: str) -> str:
        """An operation that is rounded by itself."""
        return self.put(f"{op} {self.lanes.vector} {a}, {b}")

    def contracted(self, op: str, a: str, b: str) -> str:
        """An operation that LLVM may fuse with others."""
        return self.put(f"{op} contract {self.lanes.vector} {a}, {b}")

    def intrinsic(self, name: str, *args: str) -> str:
        V = self.lanes.vector
        return self.put(f"call {V} @llvm.{name}.{self.lanes.suffix()}({', '.join(f'{V} {a}' for a in args)})")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.intrinsic("fma", a, b, c)

    def choose(self, condition: str, a: str, b: str) -> str:
        V = self.lanes.vector
        return self.put(f"select {self.lanes.of('i1')} {condition}, {V} {a}, {V} {b}")


def horner(body: BasicBlock, z: str, coefficients: tuple[float, ...]) -> str:
    """The polynomial in z with these coefficients, lowest first."""
    p = body.lanes.constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        p = body.fma(p, z, body.lanes.constant(c))
    return p


def sine_and_cosine(body: BasicBlock, x: str, tail: str | None = None) -> tuple[str, str]:
    """sin (x + tail) and cos (x + tail), with a tail no larger than x's last digit; see `sincos`.

    NaN for what is not finite or out of reach.
    """
    lanes, pair = body.lanes, body.lanes.pair
    V, K, I = lanes.vector, lanes.constant, lanes.bits
    moved = body.fma(x, K(TWO_OVER_PI), K(pair.whole))
    k, n = body.put(f"fsub {V} {moved}, {K(pair.whole)}"), body.put(f"bitcast {V} {moved} to {I}")
    high = body.fma(k, K(-pair.half_pi[0]), x)
    middle = body.put(f"fmul {V} {k}, {K(pair.half_pi[1])}")
    cut = body.fma(k, K(-pair.half_pi[1]), middle)
    middle = body.put(f"fsub {V} {middle}, {tail}") if tail else middle
    near = body.put(f"fcmp ole {V} {body.intrinsic('fabs', x)}, {K(pair.reach)}")
    r = body.choose(near, body.put(f"fsub {V} {high}, {middle}"), K(math.nan))
    lost = body.put(f"fsub {V} {body.put(f'fsub {V} {high}, {r}')}, {middle}")
    e = body.fma(k, K(-pair.half_pi[2]), body.put(f"fadd {V} {lost}, {cut}"))
    z = body.put(f"fmul {V} {r}, {r}")
    cube = body.put(f"fmul {V} {r}, {z}")
    s = body.put(f"fadd {V} {r}, {body.fma(cube, horner(body, z, pair.sine), e)}")
    half = body.fma(z, K(-0.5), K(1.0))
    dropped = body.fma(z, K(-0.5), body.put(f"fsub {V} {K(1.0)}, {half}"))
    square = body.put(f"fmul {V} {z}, {z}")
    small = body.fma(square, horner(body, z, pair.cosine), body.fma(r, body.put(f"fneg {V} {e}"), dropped))
    c = body.put(f"fadd {V} {half}, {small}")

    def bit(m: str, mask: int) -> str:
        masked = body.put(f"and {I} {m}, {lanes.integer(mask)}")
        return body.put(f"icmp ne {I} {masked}, {lanes.integer(0)}")

    odd = bit(n, 1)
    sine, cosine = body.choose(odd, c, s), body.choose(odd, s, c)
    next_n = body.put(f"add {I} {n}, {lanes.integer(1)}")
    sine = body.choose(bit(n, 2), body.put(f"fneg {V} {sine}"), sine)
    cosine = body.choose(bit(next_n, 2), body.put(f"fneg {V} {cosine}"), cosine)
    return sine, cosine


def tail_of_sum(body: BasicBlock, total: str, x: str, c: str) -> str:
    """x + c less its rounded `total`, where |x| ≥ |c| (Dekker); elsewhere no more than a rounding of c."""
    V = body.lanes.vector
    taken = body.put(f"fsub {V} {total}, {x}")
    return body.put(f"fsub {V} {c}, {taken}")


def declarations(printed: Container[str], *each: Lanes) -> str:
    """What code with vectors of these widths calls. Functions that are `printed` are not called by name."""
    return "\n".join(dict.fromkeys(line for lanes in each for line in _declared(lanes, printed)))


def _declared(lanes: Lanes, printed: Container[str]) -> Iterator[str]:
    V, T, suffix = lanes.vector, lanes.scalar, lanes.suffix()
    for name in ("sqrt", "fabs", "floor"):
        yield f"declare {V} @llvm.{name}.{suffix}({V})"
    for name in ("fma", "fmuladd"):
        yield f"declare {V} @llvm.{name}.{suffix}({V}, {V}, {V})"
    yield "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    for f in FUNCTIONS:
        if f.name not in printed:
            yield f"declare {T} @{f.library}{lanes.library_suffix}({', '.join([T] * f.arity)})"
