"""Dense linear equations as LLVM text: loops over vectors in memory, a matrix lying there by rows."""

from __future__ import annotations

from knuckle.engine.trace import Eliminate, Substitute

from .vector_lanes import Lanes
from .vector_moves import Lines


class _Loops(Lines):
    """Lines with loops in them."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__("  ", "%x")
        self.V, self.one, self._labels, self.here = lanes.vector, lanes.constant(1.0), 0, "entry"

    def at(self, buffer: str, place: str) -> str:
        return self.put(f"getelementptr {self.V}, ptr %{buffer}, i64 {place}")

    def load(self, address: str) -> str:
        return self.put(f"load {self.V}, ptr {address}")

    def store(self, x: str, address: str) -> None:
        self.add(f"store {self.V} {x}, ptr {address}")

    def less_product(self, x: str, a: str, b: str) -> str:
        """x − a b."""
        product = self.put(f"fmul contract {self.V} {a}, {b}")
        return self.put(f"fsub contract {self.V} {x}, {product}")

    def element(self, i: str, j: str, n: int) -> str:
        """Where entry (i, j) of the matrix of n columns in `given` is."""
        return self.at("matrix", self.put(f"add i64 {self.put(f'mul i64 {i}, {n}')}, {j}"))

    def begin(self, stop: str) -> tuple[str, str, str]:
        """Opens a loop from 0 to before `stop`: its counter, and what `end` needs."""
        self._labels += 1
        label, counter, before = f"loop{self._labels}", f"%k{self._labels}", self.here
        self.add(f"br label %{label}")
        self.block(label)
        self.add(f"{counter} = phi i64 [0, %{before}], [{counter}_next, %{label}_next]")
        self.add(f"{counter}_goes = icmp slt i64 {counter}, {stop}")
        self.add(f"br i1 {counter}_goes, label %{label}_body, label %{label}_done")
        self.block(f"{label}_body")
        self.here = f"{label}_body"
        return counter, label, counter

    def end(self, label: str, counter: str) -> None:
        """Closes a loop."""
        self.add(f"br label %{label}_next")
        self.block(f"{label}_next")
        self.add(f"{counter}_next = add i64 {counter}, 1")
        self.add(f"br label %{label}")
        self.block(f"{label}_done")
        self.here = f"{label}_done"


def eliminate_to_llvm(block: Eliminate, lanes: Lanes, name: str) -> str:
    """The function of `Eliminate`: the matrix is copied, and eliminated in place."""
    n, out = block.n, _Loops(lanes)
    out.add("%matrix = getelementptr i8, ptr %given, i64 0")
    c, label, counter = out.begin(str(n * n))
    out.store(out.load(out.at("taken", c)), out.at("matrix", c))
    out.end(label, counter)
    up, outer, outer_counter = out.begin(str(n))
    k = out.put(f"sub i64 {n - 1}, {up}")
    diagonal = out.element(k, k, n)
    reciprocal = out.put(f"fdiv {out.V} {out.one}, {out.load(diagonal)}")
    out.store(reciprocal, diagonal)
    i, rows, rows_counter = out.begin(k)
    place = out.element(i, k, n)
    factor = out.put(f"fmul contract {out.V} {out.load(place)}, {reciprocal}")
    out.store(factor, place)
    j, columns, columns_counter = out.begin(k)
    entry = out.element(i, j, n)
    out.store(out.less_product(out.load(entry), factor, out.load(out.element(k, j, n))), entry)
    out.end(columns, columns_counter)
    out.end(rows, rows_counter)
    out.end(outer, outer_counter)
    return _function(name, out)


def substitute_to_llvm(block: Substitute, lanes: Lanes, name: str) -> str:
    """The function of `Substitute`: the right-hand side is copied, and becomes the solution."""
    n, out = block.n, _Loops(lanes)
    out.add("%matrix = getelementptr i8, ptr %taken, i64 0")
    c, label, counter = out.begin(str(n))
    out.store(out.load(out.at("taken", out.put(f"add i64 {c}, {n * n}"))), out.at("given", c))
    out.end(label, counter)
    up, outer, outer_counter = out.begin(str(n))
    k = out.put(f"sub i64 {n - 1}, {up}")
    x = out.load(out.at("given", k))
    i, rows, rows_counter = out.begin(k)
    place = out.at("given", i)
    out.store(out.less_product(out.load(place), out.load(out.element(i, k, n)), x), place)
    out.end(rows, rows_counter)
    out.end(outer, outer_counter)
    k, outer, outer_counter = out.begin(str(n))
    place = out.at("given", k)
    j, columns, columns_counter = out.begin(k)
    known = out.load(out.at("given", j))
    out.store(out.less_product(out.load(place), out.load(out.element(k, j, n)), known), place)
    out.end(columns, columns_counter)
    out.store(out.put(f"fmul contract {out.V} {out.load(place)}, {out.load(out.element(k, k, n))}"), place)
    out.end(outer, outer_counter)
    return _function(name, out)


def _function(name: str, lines: _Loops) -> str:
    return f"""
define internal void @{name}(ptr noalias %taken, ptr noalias %given) {{
entry:
{lines.text()}
  ret void
}}
"""
