"""A window of a table as LLVM text: each lane reads at its own place."""

from __future__ import annotations

from knuckle.engine.trace import Lookup

from .vector_lanes import Lanes
from .vector_moves import Lines


def lookup_to_llvm(block: Lookup, lanes: Lanes, name: str) -> str:
    """The function of `Lookup`, with its table beside it."""
    V, T, whole, grid = lanes.vector, lanes.scalar, lanes.of("i64"), block.grid
    out = Lines("  ", "%x")
    starts: list[str] = []
    for number, last in enumerate(grid.last):
        slot = out.put(f"getelementptr {V}, ptr %taken, i64 {number}")
        x = out.put(f"load {V}, ptr {slot}")
        zero, most = lanes.constant(0.0), lanes.constant(float(last))
        above = out.put(f"fcmp ogt {V} {x}, {zero}")
        x = out.put(f"select {lanes.of('i1')} {above}, {V} {x}, {V} {zero}")
        below = out.put(f"fcmp olt {V} {x}, {most}")
        x = out.put(f"select {lanes.of('i1')} {below}, {V} {x}, {V} {most}")
        starts.append(out.put(f"fptosi {V} {x} to {whole}"))
        slot = out.put(f"getelementptr {V}, ptr %given, i64 {number}")
        out.add(f"store {V} {out.put(f'sitofp {whole} {starts[-1]} to {V}')}, ptr {slot}")
    places = [r * grid.columns + c for r in range(grid.high) for c in range(grid.wide)]
    vectors = ["undef"] * len(places)
    for lane in range(lanes.width):
        row, column = (out.put(f"extractelement {whole} {x}, i32 {lane}") for x in starts)
        start = out.put(f"add i64 {out.put(f'mul i64 {row}, {grid.columns}')}, {column}")
        for k, place in enumerate(places):
            address = out.put(f"getelementptr {T}, ptr @{name}_table, i64 {out.put(f'add i64 {start}, {place}')}")
            vectors[k] = out.put(
                f"insertelement {V} {vectors[k]}, {T} {out.put(f'load {T}, ptr {address}')}, i32 {lane}"
            )
    for k, x in enumerate(vectors):
        out.add(f"store {V} {x}, ptr {out.put(f'getelementptr {V}, ptr %given, i64 {k + 2}')}")
    numbers = ", ".join(f"{T} {lanes.literal(x)}" for x in grid.values)
    lines = "\n".join(out.lines)
    return f"""
@{name}_table = private constant [{len(grid.values)} x {T}] [{numbers}]
define internal void @{name}(ptr noalias %taken, ptr noalias %given) "stackrealign" alignstack(64) {{
entry:
{lines}
  ret void
}}
"""
