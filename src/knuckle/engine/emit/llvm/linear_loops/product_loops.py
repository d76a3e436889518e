"""A matrix times vectors as LLVM text: rows in groups, whose sums stay in registers along the columns."""

from __future__ import annotations

from collections.abc import Callable

from knuckle.engine.emit.llvm.loop_lines import LoopLines
from knuckle.engine.emit.llvm.vector_lanes import Lanes
from knuckle.engine.emit.llvm.vector_moves import Lines
from knuckle.engine.trace import MatrixProduct

GROUP = 8
"""Rows whose sums go along together: enough that none waits for its last addition."""


def product_to_llvm(block: MatrixProduct, lanes: Lanes, name: str, wide: Lanes | None = None) -> str:
    """The function of `MatrixProduct`. A matrix of constants is a table beside it: groups of rows, column by column.

    Of many states a number of the table goes with all lanes; of one state a group of rows is one vector, as `wide` as
    those of many states are. Sums are the same to the last bit.
    """
    if block.constants is None:
        return array_function(name, _of_inputs(block, LoopLines(lanes)), "matrix", "right")
    out, place = LoopLines(lanes), f"@{name}_table"
    lines = _of_constants(block, out, place) if wide is None else _of_one_state(block, out, place, wide)
    entries = _by_groups(block, GROUP if wide is None else wide.width)
    numbers = ", ".join(f"{lanes.scalar} {lanes.literal(x)}" for x in entries)
    table = f"{place} = private constant [{len(entries)} x {lanes.scalar}] [{numbers}], align 64"
    return f"{table}\n{array_function(name, lines, 'right')}"


def _by_groups(block: MatrixProduct, size: int) -> list[float]:
    """The matrix as it lies in the table: of each group of rows, column by column, with zeros for rows it has not."""
    assert block.constants is not None
    n, rows = block.columns, range(block.rows)
    return [
        block.constants[i * n + j] if i in rows else 0.0
        for first in range(0, block.rows, size)
        for j in range(n)
        for i in range(first, first + size)
    ]


def _of_inputs(block: MatrixProduct, out: LoopLines) -> LoopLines:
    with out.loop(block.vectors) as (k, _):
        right = out.at("%right", out.put(f"mul i64 {k}, {block.columns}"))
        given = out.at("%given", out.put(f"mul i64 {k}, {block.rows}"))

        def group(first: str, count: int) -> None:
            rows = [out.at("%matrix", _row(out, first, a, block.columns)) for a in range(count)]
            with out.loop(block.columns, *[(out.V, "zeroinitializer")] * count) as (j, along):
                x = out.load(out.at(right, j))
                for a, row in enumerate(rows):
                    along.later[a] = _fused(out, out.load(out.at(row, j)), x, along.values[a])
            _stored(out, first, along.values, given)

        _each_group(block, out, group)
    return out


def _of_constants(block: MatrixProduct, out: LoopLines, table: str) -> LoopLines:
    T, V = out.lanes.scalar, out.V

    def group(first: str, count: int) -> None:
        start = out.put(f"getelementptr {T}, ptr {table}, i64 {out.put(f'mul i64 {first}, {block.columns}')}")
        with out.loop(block.columns, *[(V, "zeroinitializer")] * count) as (j, along):
            x, column = out.load(out.at("%right", j)), out.put(f"mul i64 {j}, {GROUP}")
            for a in range(count):
                place = out.put(f"getelementptr {T}, ptr {start}, i64 {out.put(f'add i64 {column}, {a}')}")
                number = out.put(f"insertelement {V} undef, {T} {out.put(f'load {T}, ptr {place}')}, i32 0")
                all_lanes = out.put(f"shufflevector {V} {number}, {V} undef, {out.lanes.of('i32')} zeroinitializer")
                along.later[a] = _fused(out, all_lanes, x, along.values[a])
        _stored(out, first, along.values)

    _each_group(block, out, group)
    return out


def _of_one_state(block: MatrixProduct, out: LoopLines, table: str, wide: Lanes) -> LoopLines:
    T, V = out.lanes.scalar, wide.vector

    def group(first: str, count: int) -> None:
        start = out.put(f"getelementptr {T}, ptr {table}, i64 {out.put(f'mul i64 {first}, {block.columns}')}")
        with out.loop(block.columns, (V, "zeroinitializer")) as (j, along):
            x = out.put(f"load {T}, ptr {out.put(f'getelementptr {T}, ptr %right, i64 {j}')}")
            one = out.put(f"insertelement {V} undef, {T} {x}, i32 0")
            every = out.put(f"shufflevector {V} {one}, {V} undef, {wide.of('i32')} zeroinitializer")
            column = out.put(f"getelementptr {V}, ptr {start}, i64 {j}")
            entries = out.put(f"load {V}, ptr {column}, align 8")
            arguments = f"{V} {entries}, {V} {every}, {V} {along.values[0]}"
            along.later[0] = out.put(f"call {V} @llvm.fma.{wide.suffix()}({arguments})")
        for a in range(count):
            total = out.put(f"extractelement {V} {along.values[0]}, i32 {a}")
            place = out.put(f"getelementptr {T}, ptr %given, i64 {out.put(f'add i64 {first}, {a}')}")
            out.add(f"store {T} {total}, ptr {place}")

    _each_group(block, out, group, wide.width)
    return out


def _each_group(block: MatrixProduct, out: LoopLines, group: Callable[[str, int], None], size: int = GROUP) -> None:
    """Lines for each group, given its first row and how many there are."""
    whole, left = divmod(block.rows, size)
    with out.loop(whole) as (number, _):
        group(out.put(f"mul i64 {number}, {size}"), size)
    if left:
        group(out.put(f"add i64 0, {whole * size}"), left)


def _row(out: LoopLines, first: str, more: int, columns: int) -> str:
    return out.put(f"mul i64 {out.put(f'add i64 {first}, {more}')}, {columns}")


def _fused(out: LoopLines, a: str, x: str, total: str) -> str:
    """total + a x, rounded once."""
    arguments = ", ".join(f"{out.V} {y}" for y in (a, x, total))
    return out.put(f"call {out.V} @llvm.fma.{out.lanes.suffix()}({arguments})")


def _stored(out: LoopLines, first: str, totals: list[str], given: str = "%given") -> None:
    for a, total in enumerate(totals):
        out.store(total, out.at(given, out.put(f"add i64 {first}, {a}")))


def array_function(name: str, lines: Lines, *arrays: str, more: str = "") -> str:
    """A function of these arrays and of what it gives."""
    pointers = ", ".join(f"ptr noalias %{array}" for array in (*arrays, "given"))
    return f"""
define internal void @{name}({pointers}{more}) {{
entry:
{lines.text()}
  ret void
}}
"""
