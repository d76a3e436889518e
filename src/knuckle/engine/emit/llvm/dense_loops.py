"""Dense linear equations as LLVM text: loops over vectors in memory, a matrix lying there by rows.

Three rows and columns are worked on together, so that most numbers are read once for three products. Where factors are
zero in every lane, as those of contacts that are open, nothing is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.engine.trace import Eliminate, Substitute

from .loop_lines import LoopLines
from .vector_lanes import Lanes

TILE = 3
"""Rows and columns that are worked on together."""
THREE = range(TILE)


@dataclass(frozen=True)
class _Square:
    """A matrix of n columns in a buffer called matrix."""

    out: LoopLines
    n: int

    def row(self, i: str | int, more: int = 0) -> str:
        """Where row i + more begins."""
        start = self.out.put(f"mul i64 {i}, {self.n}")
        return self.out.at("%matrix", self.out.put(f"add i64 {start}, {more * self.n}"))

    def rows(self, i: str | int) -> list[str]:
        """Where three rows begin, from row i on."""
        return [self.row(i, a) for a in THREE]

    def tile(self, rows: list[str], j: str) -> tuple[list[list[str]], list[list[str]]]:
        """Three entries of three rows, from column j on, and where they are."""
        out = self.out
        starts = [out.at(row, j) for row in rows]
        places = [[out.at(start, b) for b in THREE] for start in starts]
        return [[out.load(place) for place in line] for line in places], places

    @property
    def tiles(self) -> int:
        return self.n // TILE

    @property
    def alone(self) -> range:
        """The last rows, that are in no tile."""
        return range(TILE * self.tiles, self.n)

    def first(self, number: str) -> str:
        """The first row of a tile."""
        return self.out.put(f"mul i64 {number}, {TILE}")

    def first_from_end(self, number: str) -> str:
        """The first row of a tile, counted from the last one."""
        return self.first(self.out.put(f"sub i64 {self.tiles - 1}, {number}"))


def eliminate_to_llvm(block: Eliminate, lanes: Lanes, name: str) -> str:
    """The function of `Eliminate`: the matrix is copied, and eliminated in place."""
    out = LoopLines(lanes)
    square = _Square(out, block.n)
    out.add("%matrix = getelementptr i8, ptr %given, i64 0")
    with out.loop(block.n * block.n) as (c, _):
        out.store(out.load(out.at("%taken", c)), out.at("%matrix", c))
    for k in reversed(square.alone):
        _eliminate_one(square, k)
    with out.loop(square.tiles) as (up, _):
        _eliminate_three(square, square.first_from_end(up))
    return _function(name, out, "taken")


def _eliminate_one(square: _Square, k: int) -> None:
    """Takes row k off the rows before it."""
    out, last = square.out, square.row(k)
    diagonal = out.at(last, k)
    reciprocal = out.reciprocal(out.load(diagonal))
    out.store(reciprocal, diagonal)
    with out.loop(k) as (i, _):
        row = square.row(i)
        place = out.at(row, k)
        factor = out.times(out.load(place), reciprocal)
        out.store(factor, place)
        with out.loop(k) as (j, _):
            entry = out.at(row, j)
            out.store(out.less_product(out.load(entry), factor, out.load(out.at(last, j))), entry)


def _eliminate_three(square: _Square, first: str) -> None:
    """Takes three rows off each other, and off those before them."""
    out, lasts = square.out, square.rows(first)
    p, places = square.tile(lasts, first)
    inverse = ["", "", out.reciprocal(p[2][2])]
    for a in (1, 0):
        p[a][2] = out.times(p[a][2], inverse[2])
        for b in (0, 1):
            p[a][b] = out.less_product(p[a][b], p[a][2], p[2][b])
    inverse[1] = out.reciprocal(p[1][1])
    p[0][1] = out.times(p[0][1], inverse[1])
    p[0][0] = out.less_product(p[0][0], p[0][1], p[1][0])
    inverse[0] = out.reciprocal(p[0][0])
    for a in THREE:
        for b in THREE:
            out.store(inverse[a] if a == b else p[a][b], places[a][b])
    with out.loop(first, (f"i{out.W}", "0")) as (j, along):
        at = [out.at(row, j) for row in lasts]
        x = [out.load(place) for place in at]
        x[1] = out.less_product(x[1], p[1][2], x[2])
        x[0] = out.less_product(out.less_product(x[0], p[0][2], x[2]), p[0][1], x[1])
        for a in (0, 1):
            out.store(x[a], at[a])
        along.later[0] = out.either(along.values[0], out.differ_from_zero(*x))
    is_coupled = out.put(f"icmp ne i{out.W} {along.values[0]}, 0")
    with out.loop(out.put(f"udiv i64 {first}, {TILE}")) as (number, _):
        rows = square.rows(square.first(number))
        t, places = square.tile(rows, first)
        for row, line in zip(t, places, strict=True):
            row[2] = out.times(row[2], inverse[2])
            row[1] = out.times(out.less_product(row[1], row[2], p[2][1]), inverse[1])
            left = out.less_product(out.less_product(row[0], row[2], p[2][0]), row[1], p[1][0])
            row[0] = out.times(left, inverse[0])
            for x, place in zip(row, line, strict=True):
                out.store(x, place)
        some = out.differ_from_zero(*(x for row in t for x in row))
        with (
            out.when_any(out.put(f"select i1 {is_coupled}, i{out.W} {some}, i{out.W} 0")),
            out.loop(first) as (j, _),
        ):
            x = [out.load(out.at(row, j)) for row in lasts]
            for factors, row in zip(t, rows, strict=True):
                place = out.at(row, j)
                left = out.load(place)
                for b in reversed(THREE):
                    left = out.less_product(left, factors[b], x[b])
                out.store(left, place)


def substitute_to_llvm(block: Substitute, lanes: Lanes, name: str) -> str:
    """The function of `Substitute`: the right-hand side is copied, and becomes the solution."""
    n, out = block.n, LoopLines(lanes)
    square = _Square(out, n)
    with out.loop(n) as (c, _):
        out.store(out.load(out.at("%right", c)), out.at("%given", c))
    for k in reversed(square.alone):
        x = out.load(out.at("%given", k))
        with out.loop(k) as (i, _):
            place = out.at("%given", i)
            out.store(out.less_product(out.load(place), out.load(out.at(square.row(i), k)), x), place)
    with out.loop(square.tiles) as (up, _):
        first = square.first_from_end(up)
        p, _ = square.tile(square.rows(first), first)
        y, places = _three(out, first)
        y[1] = out.less_product(y[1], p[1][2], y[2])
        y[0] = out.less_product(out.less_product(y[0], p[0][2], y[2]), p[0][1], y[1])
        for x, place in zip(y, places, strict=True):
            out.store(x, place)
        with out.loop(first) as (i, _):
            place, factors = out.at("%given", i), out.at(square.row(i), first)
            left = out.load(place)
            for b in reversed(THREE):
                left = out.less_product(left, out.load(out.at(factors, b)), y[b])
            out.store(left, place)
    with out.loop(square.tiles) as (number, _):
        first = square.first(number)
        rows = square.rows(first)
        y, places = _three(out, first)
        with out.loop(first, *((out.V, x) for x in y)) as (j, along):
            known = out.load(out.at("%given", j))
            for a in THREE:
                along.later[a] = out.less_product(along.values[a], out.load(out.at(rows[a], j)), known)
        p, _ = square.tile(rows, first)
        y = list(along.values)
        for a in THREE:
            for b in range(a):
                y[a] = out.less_product(y[a], p[a][b], y[b])
            y[a] = out.times(y[a], p[a][a])
            out.store(y[a], places[a])
    for k in square.alone:
        row, place = square.row(k), out.at("%given", k)
        with out.loop(k, (out.V, out.load(place))) as (j, along):
            along.later[0] = out.less_product(along.values[0], out.load(out.at(row, j)), out.load(out.at("%given", j)))
        out.store(out.times(along.values[0], out.load(out.at(row, k))), place)
    return _function(name, out, "matrix", "right")


def _three(out: LoopLines, first: str) -> tuple[list[str], list[str]]:
    """Three numbers of the right-hand side, and where they are."""
    start = out.at("%given", first)
    places = [out.at(start, a) for a in THREE]
    return [out.load(place) for place in places], places


def _function(name: str, lines: LoopLines, *arrays: str) -> str:
    pointers = ", ".join(f"ptr noalias %{array}" for array in (*arrays, "given"))
    return f"""
define internal void @{name}({pointers}) {{
entry:
{lines.text()}
  ret void
}}
"""
