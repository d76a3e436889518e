"""Products of matrices with known zeros as LLVM text: tiles of a few rows and columns, whose sums stay in registers.

Of many states a tile is a loop along the columns of A in which its rows have entries, zeros included: short code counts
for more than what they cost. Of one state the columns of a panel are side by side in vectors, and a tile is straight
code without the zeros. Tiles that are alike share their function.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from knuckle.engine.emit.llvm.block_texts import BlockTexts
from knuckle.engine.emit.llvm.streaming_stores import LINE
from knuckle.engine.emit.llvm.vector_lanes import Lanes
from knuckle.engine.emit.llvm.vector_moves import Lines
from knuckle.engine.trace import SparseProduct
from knuckle.engine.trace.product_block import ColumnPanel, PanelRow, spans

from .product_loops import array_function

COLUMNS = 4
"""Columns of a tile of many states: with more, the sums need more registers than there are."""


class TileCall(NamedTuple):
    """A tile: its function, where it begins in A, in B and in the product, what else the function is told, and how many
    operations it has."""

    function: str
    a: int
    b: int
    given: int
    more: str = ""
    work: int = 0


def sparse_to_llvm(block: SparseProduct, blocks: BlockTexts, name: str) -> str:
    """The function of `SparseProduct`: a call for every tile."""
    T = blocks.lanes.vector if blocks.wide is None else blocks.lanes.scalar
    out, work = Lines("  ", "%p"), 0
    if block in blocks.going_out:
        out.add(f"%sums = alloca [{COLUMNS * max(map(len, block.tiles))} x {T}], align 64")
    for panel, sums in zip(block.panels, block.sums, strict=True):
        for tile in block.tiles:
            if rows := {i: sums[i] for i in tile if i in sums}:
                calls = (
                    _of_one_state(panel, rows, blocks) if blocks.wide else _of_states(block, panel, tile, rows, blocks)
                )
                for call in calls:
                    places = ("matrix", call.a), ("right", call.b), ("given", call.given)
                    x = [out.put(f"getelementptr {T}, ptr %{array}, i64 {place}") for array, place in places]
                    out.add(f"call void @{call.function}(ptr {x[0]}, ptr {x[1]}, ptr {x[2]}{call.more})")
                    if blocks.between:
                        lines, work = blocks.between.due(work + call.work)
                        for line in lines:
                            out.add(line)
    return array_function(name, out, "matrix", "right", more=", ptr %pending" if blocks.between else "")


class TileShape(NamedTuple):
    """A tile of many states: places of its rows in a column of A and in the product, how many columns it has, how far
    it is to the next column of A and to the next row of B, whether it adds to what is there, and where sums go: past
    the caches at last, or where they are read again."""

    matrix: tuple[int, ...]
    given: tuple[int, ...]
    columns: int
    next_a: int
    next_b: int
    is_more: bool
    goes_out: bool


def _of_states(
    block: SparseProduct, panel: ColumnPanel, tile: tuple[int, ...], rows: dict[int, PanelRow], blocks: BlockTexts
) -> Iterator[TileCall]:
    start = next(iter(rows.values())).place
    matrix, given = tuple(tile.index(i) for i in rows), tuple(row.place - start for row in rows.values())
    runs, goes_out = list(_runs(block, panel.width, tile, rows)), block in blocks.going_out
    for first, end in spans(panel.width, COLUMNS):
        for number, (a, b, count) in enumerate(runs, 1):
            is_last = goes_out and number == len(runs)
            shape = TileShape(matrix, given, end - first, len(tile), panel.width, number > 1, is_last)
            function = blocks.shared((shape, goes_out), partial(_tile_of_states, shape, goes_out, blocks.lanes))
            work = 2 * count * len(rows) * shape.columns
            more = f", i64 {count}, ptr %sums" if goes_out else f", i64 {count}"
            yield TileCall(function, a, b + first, start + first, more, work)


def _runs(
    block: SparseProduct, width: int, tile: tuple[int, ...], rows: dict[int, PanelRow]
) -> Iterator[tuple[int, int, int]]:
    """Where columns of A and rows of B that are multiplied lie beside each other, and how many."""
    starts = {k: block.places[tile[0], k] for k in block.columns(tile)}
    pairs = sorted({(starts[block.entries[a][1]], b) for row in rows.values() for a, b in row.terms})
    first = 0
    for k, (a, b) in enumerate(pairs, 1):
        if k == len(pairs) or pairs[k] != (a + len(tile), b + width):
            yield *pairs[first], k - first
            first = k


def _tile_of_states(shape: TileShape, sums_apart: bool, lanes: Lanes, name: str) -> str:
    """A function that goes along so many columns of A, each with all sums of the tile; these may be kept apart."""
    V, out = lanes.vector, Lines("  ", "%x")

    def at(array: str, place: int) -> str:
        return out.put(f"getelementptr {V}, ptr %{array}, i64 {place}")

    places = [place + c for place in shape.given for c in range(shape.columns)]
    kept = [("sums", k) for k in range(len(places))] if sums_apart else [("given", place) for place in places]
    before = [out.put(f"load {V}, ptr {at(*x)}") if shape.is_more else "zeroinitializer" for x in kept]
    out.add("br label %along")
    out.block("along")
    for what, kind, first in (("k", "i64", "0"), ("a", "ptr", "%matrix"), ("b", "ptr", "%right")):
        out.add(f"%{what} = phi {kind} [{first}, %entry], [%{what}1, %along]")
    for k, x in enumerate(before):
        out.add(f"%sum{k} = phi {V} [{x}, %entry], [%more{k}, %along]")
    entries = [out.put(f"load {V}, ptr {at('a', place)}") for place in shape.matrix]
    right = [out.put(f"load {V}, ptr {at('b', c)}") for c in range(shape.columns)]
    for k in range(len(places)):
        factors = f"{V} {entries[k // shape.columns]}, {V} {right[k % shape.columns]}"
        out.add(f"%more{k} = call {V} @llvm.fma.{lanes.suffix()}({factors}, {V} %sum{k})")
    out.add(f"%a1 = getelementptr {V}, ptr %a, i64 {shape.next_a}")
    out.add(f"%b1 = getelementptr {V}, ptr %b, i64 {shape.next_b}")
    out.add("%k1 = add i64 %k, 1")
    out.add("%goes_on = icmp slt i64 %k1, %count")
    out.add("br i1 %goes_on, label %along, label %done")
    out.block("done")
    how = f", align {LINE}, !nontemporal !0" if shape.goes_out else ""
    for k, place in enumerate([("given", place) for place in places] if shape.goes_out else kept):
        out.add(f"store {V} %more{k}, ptr {at(*place)}{how}")
    return array_function(name, out, "matrix", "right", more=", i64 %count" + ", ptr %sums" * sums_apart)


Terms = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
"""Rows of a tile by their places: of the product, and of the entries of A and the rows of B that are multiplied."""


def _of_one_state(panel: ColumnPanel, rows: dict[int, PanelRow], blocks: BlockTexts) -> Iterator[TileCall]:
    wide = blocks.wide
    assert wide is not None
    a, b = (min(term[k] for row in rows.values() for term in row.terms) for k in (0, 1))
    given = min(row.place for row in rows.values())
    terms = tuple((row.place - given, tuple((x - a, y - b) for x, y in row.terms)) for row in rows.values())
    if (left := panel.width % wide.width) > 1:  # vectors of other widths than code has anyway
        V, name = f"<{left} x {wide.scalar}>", f"llvm.fma.v{left}{wide.dtype}"
        blocks.shared(name, lambda _: f"declare {V} @{name}({V}, {V}, {V})")
    function = blocks.shared((panel.width, terms), partial(_tile_of_one_state, panel.width, terms, wide))
    yield TileCall(function, a, b, given)


def _tile_of_one_state(columns: int, tile: Terms, wide: Lanes, name: str) -> str:
    """Sums of products of an entry with columns side by side."""
    T, out = wide.scalar, Lines("  ", "%x")
    pieces = [(first, min(wide.width, columns - first)) for first in range(0, columns, wide.width)]
    kinds = [(f"<{count} x {T}>", first, count) for first, count in pieces]

    def at(array: str, place: int) -> str:
        return out.put(f"getelementptr {T}, ptr %{array}, i64 {place}")

    sums = [[""] * len(pieces) for _ in tile]
    for b, takers in _by_right(tile):
        right = [out.put(f"load {V}, ptr {at('right', b + first)}, align {wide.bytes}") for V, first, _ in kinds]
        for r, a in takers:
            entry = out.put(f"load {T}, ptr {at('matrix', a)}, align {wide.bytes}")
            for k, (V, _, count) in enumerate(kinds):
                one = out.put(f"insertelement {V} undef, {T} {entry}, i32 0")
                every = out.put(f"shufflevector {V} {one}, {V} undef, <{count} x i32> zeroinitializer")
                factors, total = f"{V} {every}, {V} {right[k]}", sums[r][k] or "zeroinitializer"
                sums[r][k] = out.put(f"call {V} @llvm.fma.v{count}{wide.dtype}({factors}, {V} {total})")
    for (place, _), row in zip(tile, sums, strict=True):
        for (V, first, _), total in zip(kinds, row, strict=True):
            out.add(f"store {V} {total}, ptr {at('given', place + first)}, align {wide.bytes}")
    return array_function(name, out, "matrix", "right")


def _by_right(tile: Terms) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Each row of B that a tile takes, with the rows of the tile and the entries of A that it is multiplied with."""
    takers: dict[int, list[tuple[int, int]]] = {}
    for r, (_, terms) in enumerate(tile):
        for a, b in terms:
            takers.setdefault(b, []).append((r, a))
    yield from sorted(takers.items())
