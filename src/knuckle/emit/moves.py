"""Between arrays and vectors: the states of an array are rows, and a vector holds one column of W of them.

Square tiles of entries are read, turned over in registers, and written. The last tile overlaps the one before it where
the tiles do not divide the row; what they share is written twice, the same.
"""

from __future__ import annotations

from collections.abc import Callable

from .lanes import Lanes


def moves(
    lanes: Lanes,
    tag: str,
    before: str,
    size: int,
    array: str,
    stride: str,
    buffer: str,
    first: int,
    *,
    gather: bool,
    table: str | None,
) -> list[str]:
    """Lines that gather W rows of `array` into the vectors of `buffer`, or scatter them back.

    Args:
        lanes: the vectors.
        tag: what the names in these lines begin with.
        before: the block in which the lines begin; they end in the block `tag`_done.
        size: the entries of a row.
        array: the array; row %b is the first of the W, and those after %last are replaced by it.
        stride: how far apart the rows are.
        buffer: W numbers per vector.
        first: the vector of entry 0.
        gather: from the array to the buffer, or back.
        table: the vector of each entry, if it is not the next one.
    """
    T, W = lanes.scalar, lanes.width
    w = min(W, 1 << (size.bit_length() - 1))
    tile, lines, names = f"<{w} x {T}>", list[str](), iter(range(1 << 30))

    def put(text: str) -> str:
        name = f"%{tag}_x{next(names)}"
        lines.append(f"  {name} = {text}")
        return name

    def row(lane: int) -> str:
        state = put(f"add i64 %b, {lane}")
        state = put(f"select i1 {put(f'icmp slt i64 {state}, %last')}, i64 {state}, i64 %last")
        return put(f"getelementptr {T}, ptr {array}, i64 {put(f'mul i64 {state}, {stride}')}")

    rows = [row(lane) for lane in range(W)]
    lines += [
        f"  br label %{tag}_tile",
        f"{tag}_tile:",
        f"  %{tag}_k = phi i64 [0, %{before}], [%{tag}_k1, %{tag}_tile]",
        f"  %{tag}_inside = icmp slt i64 %{tag}_k, {size - w}",
        f"  %{tag}_at = select i1 %{tag}_inside, i64 %{tag}_k, i64 {size - w}",
    ]
    far = [put(f"getelementptr {T}, ptr {p}, i64 %{tag}_at") for p in rows]
    near: list[str] = []
    for entry in range(w):
        slot = put(f"add i64 %{tag}_at, {entry if table else first + entry}")
        if table:
            number = put(f"load i32, ptr {put(f'getelementptr i32, ptr {table}, i64 {slot}')}")
            slot = put(f"sext i32 {number} to i64")
        near.append(put(f"getelementptr {T}, ptr %{buffer}, i64 {put(f'mul i64 {slot}, {W}')}"))
    for group in range(0, W, w):
        here = [put(f"getelementptr {T}, ptr {p}, i64 {group}") for p in near]
        there = far[group : group + w]
        sources, targets = (there, here) if gather else (here, there)
        tiles = [put(f"load {tile}, ptr {p}, align {lanes.bytes}") for p in sources]
        for p, x in zip(targets, _turned_over(tiles, tile, put), strict=True):
            lines.append(f"  store {tile} {x}, ptr {p}, align {lanes.bytes}")
    return [
        *lines,
        f"  %{tag}_k1 = add i64 %{tag}_k, {w}",
        f"  %{tag}_more = icmp slt i64 %{tag}_k1, {size}",
        f"  br i1 %{tag}_more, label %{tag}_tile, label %{tag}_done",
        f"{tag}_done:",
    ]


def _turned_over(rows: list[str], tile: str, put: Callable[[str], str]) -> list[str]:
    """The transpose of a square tile: blocks of side 1, 2, 4, … off the diagonal change places."""
    w, side = len(rows), 1
    while side < w:
        turned = list(rows)
        for i in range(w):
            if i & side:
                continue
            a, b = rows[i], rows[i | side]
            above = [p if not p & side else w + p - side for p in range(w)]
            below = [p + side if not p & side else w + p for p in range(w)]
            for target, mask in ((i, above), (i | side, below)):
                numbers = ", ".join(f"i32 {p}" for p in mask)
                turned[target] = put(f"shufflevector {tile} {a}, {tile} {b}, <{w} x i32> <{numbers}>")
        rows, side = turned, 2 * side
    return rows
