"""A matrix times a vector as LLVM text: rows in groups, whose sums stay in registers along the columns."""

from __future__ import annotations

from knuckle.engine.trace import Product

from .loop_lines import LoopLines
from .vector_lanes import Lanes

GROUP = 8
"""Rows whose sums go along together: enough that none waits for its last addition."""


def product_to_llvm(block: Product, lanes: Lanes, name: str) -> str:
    """The function of `Product`. A matrix of constants is a table beside it, with one number for all lanes."""
    V, T, n = lanes.vector, lanes.scalar, block.columns
    out = LoopLines(lanes)

    def entry(row: str, j: str) -> str:
        if block.constants is None:
            return out.load(out.at(row, j))
        number = out.put(f"load {T}, ptr {out.put(f'getelementptr {T}, ptr {row}, i64 {j}')}")
        first = out.put(f"insertelement {V} undef, {T} {number}, i32 0")
        return out.put(f"shufflevector {V} {first}, {V} undef, {lanes.of('i32')} zeroinitializer")

    def group(first: str, count: int) -> None:
        element = V if block.constants is None else T
        starts = [out.put(f"mul i64 {out.put(f'add i64 {first}, {a}')}, {n}") for a in range(count)]
        rows = [out.put(f"getelementptr {element}, ptr {matrix}, i64 {start}") for start in starts]
        with out.loop(n, *[(V, "zeroinitializer")] * count) as (j, along):
            x = out.load(out.at("%right", j))
            for a, row in enumerate(rows):
                arguments = ", ".join(f"{V} {y}" for y in (entry(row, j), x, along.values[a]))
                along.later[a] = out.put(f"call {V} @llvm.fma.{lanes.suffix()}({arguments})")
        for a, total in enumerate(along.values):
            out.store(total, out.at("%given", out.put(f"add i64 {first}, {a}")))

    matrix = "%matrix" if block.constants is None else f"@{name}_matrix"
    whole, left = divmod(block.rows, GROUP)
    with out.loop(whole) as (number, _):
        group(out.put(f"mul i64 {number}, {GROUP}"), GROUP)
    if left:
        group(str(whole * GROUP), left)
    table, taken = "", "ptr noalias %matrix, "
    if block.constants is not None:
        numbers = ", ".join(f"{T} {lanes.literal(x)}" for x in block.constants)
        table, taken = f"@{name}_matrix = private constant [{len(block.constants)} x {T}] [{numbers}]", ""
    return f"""
{table}
define internal void @{name}({taken}ptr noalias %right, ptr noalias %given) {{
entry:
{out.text()}
  ret void
}}
"""
