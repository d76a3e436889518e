"""Dense linear equations as LLVM text: loops over vectors in memory, a matrix lying there by rows.

Three rows and columns are worked on together, so that most numbers are read once for three products. Where factors are
zero in every lane, as those of contacts that are open, nothing is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.engine.emit.llvm.loop_lines import LoopLines
from knuckle.engine.emit.llvm.vector_lanes import Lanes
from knuckle.engine.trace import Eliminate, EliminateResponse, Multiply, Substitute, SubstituteResponse

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

    def first_from_end(self, number: str, tiles: str | int) -> str:
        """The first row of a tile, counted from the last one of so many."""
        last = self.out.put(f"sub i64 {tiles}, 1")
        return self.first(self.out.put(f"sub i64 {last}, {number}"))


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
        _eliminate_three(square, square.first_from_end(up, square.tiles))
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
    _substitute_tiles(square, "%given", square.tiles)
    for k in square.alone:
        row, place = square.row(k), out.at("%given", k)
        with out.loop(k, (out.V, out.load(place))) as (j, along):
            along.later[0] = out.less_product(along.values[0], out.load(out.at(row, j)), out.load(out.at("%given", j)))
        out.store(out.times(along.values[0], out.load(out.at(row, k))), place)
    return _function(name, out, "matrix", "right")


def _substitute_tiles(square: _Square, vector: str, tiles: str | int) -> None:
    """A right-hand side of so many tiles becomes the solution."""
    out = square.out
    with out.loop(tiles) as (up, _):
        first = square.first_from_end(up, tiles)
        p, _ = square.tile(square.rows(first), first)
        y, places = _three(out, vector, first)
        y[1] = out.less_product(y[1], p[1][2], y[2])
        y[0] = out.less_product(out.less_product(y[0], p[0][2], y[2]), p[0][1], y[1])
        for x, place in zip(y, places, strict=True):
            out.store(x, place)
        with out.loop(first) as (i, _):
            place, factors = out.at(vector, i), out.at(square.row(i), first)
            left = out.load(place)
            for b in reversed(THREE):
                left = out.less_product(left, out.load(out.at(factors, b)), y[b])
            out.store(left, place)
    with out.loop(tiles) as (number, _):
        first = square.first(number)
        rows = square.rows(first)
        y, places = _three(out, vector, first)
        with out.loop(first, *((out.V, x) for x in y)) as (j, along):
            known = out.load(out.at(vector, j))
            for a in THREE:
                along.later[a] = out.less_product(along.values[a], out.load(out.at(rows[a], j)), known)
        p, _ = square.tile(rows, first)
        y = list(along.values)
        for a in THREE:
            for b in range(a):
                y[a] = out.less_product(y[a], p[a][b], y[b])
            y[a] = out.times(y[a], p[a][a])
            out.store(y[a], places[a])


def _three(out: LoopLines, vector: str, first: str) -> tuple[list[str], list[str]]:
    """Three numbers of a vector, and where they are."""
    start = out.at(vector, first)
    places = [out.at(start, a) for a in THREE]
    return [out.load(place) for place in places], places


def multiply_to_llvm(block: Multiply, lanes: Lanes, name: str) -> str:
    """The function of `Multiply`: three columns at a time, which are rows as well."""
    n, out = block.n, LoopLines(lanes)
    square = _Square(out, n)
    with out.loop(n) as (c, _):
        out.store("zeroinitializer", out.at("%given", c))

    def add(lines: list[str], x: list[str]) -> None:
        with out.when_any(out.differ_from_zero(*x)), out.loop(n) as (i, _):
            place = out.at("%given", i)
            total = out.load(place)
            for line, factor in zip(lines, x, strict=True):
                total = out.plus_product(total, out.load(out.at(line, i)), factor)
            out.store(total, place)

    with out.loop(square.tiles) as (number, _):
        first = square.first(number)
        add(square.rows(first), _three(out, "%right", first)[0])
    for k in square.alone:
        add([square.row(k)], [out.load(out.at("%right", k))])
    return _function(name, out, "matrix", "right")


@dataclass(frozen=True)
class _Chosen:
    """A list of tiles in a buffer, after a matrix of n columns: how many there are, and which."""

    out: LoopLines
    buffer: str
    n: int

    def _slot(self, k: str | int) -> str:
        return self.out.at(self.out.at(self.buffer, self.n * self.n), k)

    def set(self, k: str | int, number: str | int) -> None:
        self.out.add(f"store i64 {number}, ptr {self._slot(k)}")

    @property
    def count(self) -> str:
        return self.out.put(f"load i64, ptr {self._slot(0)}")

    def append(self, number: str) -> None:
        after = self.out.put(f"add i64 {self.count}, 1")
        self.set(after, number)
        self.set(0, after)

    def tile(self, k: str) -> str:
        """The number of the k-th of them."""
        return self.out.put(f"load i64, ptr {self._slot(self.out.put(f'add i64 {k}, 1'))}")


def _nine(out: LoopLines, buffer: str, tile: str) -> list[list[str]]:
    """A tile of three rows, that lie one after the other."""
    start = out.at(buffer, out.put(f"mul i64 {tile}, {TILE * TILE}"))
    return [[out.load(out.at(start, TILE * a + b)) for b in THREE] for a in THREE]


def eliminate_response_to_llvm(block: EliminateResponse, lanes: Lanes, name: str) -> str:
    """The function of `EliminateResponse`: E + P G of the tiles that count in some lane, eliminated in place."""
    n, out = block.n, LoopLines(lanes)
    out.add("%matrix = getelementptr i8, ptr %given, i64 0")
    square, chosen = _Square(out, n), _Chosen(out, "%given", n)
    chosen.set(0, 0)
    with out.loop(square.tiles) as (t, _):
        P, b = _nine(out, "%P", t), _three(out, "%right", square.first(t))[0]
        with out.when_any(out.differ_from_zero(*(x for row in (*P, b) for x in row))):
            chosen.append(t)
    count = chosen.count
    with out.loop(count) as (here, _):
        t, own = chosen.tile(here), square.rows(square.first(here))
        P, start = _nine(out, "%P", t), square.first(t)
        lines = [out.at("%G", out.put(f"mul i64 {out.put(f'add i64 {start}, {k}')}, {n}")) for k in THREE]
        with out.loop(count) as (there, _):
            column, target = square.first(chosen.tile(there)), square.first(there)
            for b in THREE:
                G = [out.load(out.at(out.at(line, column), b)) for line in lines]
                for a in THREE:
                    x = out.times(P[a][0], G[0])
                    for k in (1, 2):
                        x = out.plus_product(x, P[a][k], G[k])
                    out.store(x, out.at(out.at(own[a], target), b))
        E, (tile, places) = _nine(out, "%E", t), square.tile(own, square.first(here))
        for a in THREE:
            for b in THREE:
                out.store(out.put(f"fadd {out.V} {tile[a][b]}, {E[a][b]}"), places[a][b])
    with out.loop(count) as (up, _):
        _eliminate_three(square, square.first_from_end(up, count))
    return _function(name, out, "G", "E", "P", "right")


def substitute_response_to_llvm(block: SubstituteResponse, lanes: Lanes, name: str) -> str:
    """The function of `SubstituteResponse`: what counts is solved after the results, and put into its places."""
    n, out = block.n, LoopLines(lanes)
    square, chosen = _Square(out, n), _Chosen(out, "%matrix", n)
    with out.loop(n) as (c, _):
        out.store("zeroinitializer", out.at("%given", c))
    out.add(f"%room = getelementptr {out.V}, ptr %given, i64 {n}")
    count = chosen.count
    for is_back in (False, True):
        with out.loop(count) as (k, _):
            inside, outside = square.first(k), square.first(chosen.tile(k))
            source, target = ("%room", "%given") if is_back else ("%right", "%room")
            numbers, _ = _three(out, source, inside if is_back else outside)
            _, places = _three(out, target, outside if is_back else inside)
            for x, place in zip(numbers, places, strict=True):
                out.store(x, place)
        if not is_back:
            _substitute_tiles(square, "%room", count)
    return _function(name, out, "matrix", "right")


def _function(name: str, lines: LoopLines, *arrays: str) -> str:
    pointers = ", ".join(f"ptr noalias %{array}" for array in (*arrays, "given"))
    return f"""
define internal void @{name}({pointers}) {{
entry:
{lines.text()}
  ret void
}}
"""
