"""Between arrays and vectors: the states of an array are rows, and a vector holds one column of W of them.

Tiles of a few entries of all W rows are read, turned over in registers, and written: a vector holds pieces of several
rows side by side, and all pieces are turned over at once. The last tile overlaps the one before it where the tiles do
not divide the row; what they share is written twice, the same.

Rows that follow each other without a gap have places that are known when the code is made. That is how most arrays
come, so there are two ways: one for them, and one for rows of any stride and for the last states of a batch.
"""

from __future__ import annotations

from collections.abc import Callable

from .vector_lanes import Lanes

PIECE = 32
"""Bytes of a row in a tile. Wider tiles take more turns for as many numbers, and overlap more."""
PREFETCH = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
"""What code declares that has memory fetched beforehand."""


class Lines:
    """Lines of LLVM text, with fresh names that begin alike."""

    def __init__(self, indent: str, prefix: str) -> None:
        self._indent, self._prefix, self._count = indent, prefix, 0
        self.lines: list[str] = []

    def add(self, text: str) -> None:
        """A line as it stands."""
        self.lines.append(self._indent + text)

    def put(self, text: str) -> str:
        """A line that defines a fresh name; returns the name."""
        name = f"{self._prefix}{self._count}"
        self._count += 1
        self.add(f"{name} = {text}")
        return name

    def block(self, label: str) -> None:
        """The begin of a basic block."""
        self.lines.append(f"{label}:")

    def text(self) -> str:
        return "\n".join(self.lines)


def moves(
    lanes: Lanes,
    tag: str,
    size: int,
    array: str,
    stride: str,
    buffer: str,
    first: int,
    *,
    gather: bool,
    table: str | None,
    apart: str | None = None,
    zeros: str | None = None,
    ahead: str | None = None,
) -> list[str]:
    """Lines that gather W rows of `array` into the vectors of `buffer`, or scatter them back.

    Args:
        lanes: the vectors.
        tag: what the names in these lines begin with. They end in the block `tag`_done.
        size: the entries of a row.
        array: the array; row %b is the first of the W, and those after %last are replaced by it.
        stride: how far apart the rows are.
        buffer: W numbers per vector.
        first: the vector of entry 0.
        gather: from the array to the buffer, or back.
        table: the vector of each entry, if it is not the next one.
        apart: how many rows apart those of one vector are; None for rows that follow each other.
        zeros: how many entries that are always zero begin at each, if there are any: those are only written.
        ahead: how many entries further on what comes next is, which is fetched meanwhile.
    """
    T, W = lanes.scalar, lanes.width
    w = min(W, PIECE // lanes.bytes, 1 << (size.bit_length() - 1))
    lines = Lines("  ", f"%{tag}_x")
    put = lines.put

    def row(lane: int) -> str:
        step = str(lane) if apart is None else put(f"mul i64 {apart}, {lane}")
        state = put(f"add i64 %b, {step}")
        state = put(f"select i1 {put(f'icmp slt i64 {state}, %last')}, i64 {state}, i64 %last")
        return put(f"getelementptr {T}, ptr {array}, i64 {put(f'mul i64 {state}, {stride}')}")

    def tile(at: str, far: list[str]) -> None:
        """The entries from `at` on, of rows that are at `far`."""
        for p in far if ahead else ():
            lines.add(prefetch(put(f"getelementptr {T}, ptr {p}, i64 {ahead}"), for_writing=not gather))
        near: list[str] = []
        for entry in range(w):
            slot = put(f"add i64 {at}, {entry if table else first + entry}")
            if table:
                number = put(f"load i32, ptr {put(f'getelementptr i32, ptr {table}, i64 {slot}')}")
                slot = put(f"sext i32 {number} to i64")
            near.append(put(f"getelementptr {lanes.vector}, ptr %{buffer}, i64 {slot}"))
        if gather:
            pieces = [put(f"load <{w} x {T}>, ptr {p}, align {lanes.bytes}") for p in far]
            beside = [side_by_side(pieces[j::w], w, T, put) for j in range(w)]
            for p, x in zip(near, turned_over(beside, lanes.vector, put), strict=True):
                lines.add(f"store {lanes.vector} {x}, ptr {p}")
        else:
            columns = [put(f"load {lanes.vector}, ptr {p}") for p in near]
            for j, x in enumerate(turned_over(columns, lanes.vector, put)):
                for k, p in enumerate(far[j::w]):
                    numbers = ", ".join(f"i32 {n}" for n in range(k * w, k * w + w))
                    piece = x if w == W else put(
                        f"shufflevector {lanes.vector} {x}, {lanes.vector} undef, <{w} x i32> <{numbers}>"
                    )  # fmt: skip
                    lines.add(f"store <{w} x {T}> {piece}, ptr {p}, align {lanes.bytes}")

    def loop(label: str, start: str, rows: list[str]) -> None:
        """All tiles of these rows."""
        k = f"%{label}_k"
        lines.add(f"br label %{label}")
        lines.block(label)
        lines.add(f"{k} = phi i64 [0, %{start}], [{k}1, %{label if zeros is None else f'{label}_next'}]")
        inside = put(f"icmp slt i64 {k}, {size - w}")
        at = put(f"select i1 {inside}, i64 {k}, i64 {size - w}")
        far = [put(f"getelementptr {T}, ptr {p}, i64 {at}") for p in rows]
        if zeros is None:
            tile(at, far)
        else:
            run = put(f"load i32, ptr {put(f'getelementptr i32, ptr {zeros}, i64 {at}')}")
            lines.add(f"br i1 {put(f'icmp slt i32 {run}, {w}')}, label %{label}_data, label %{label}_zero")
            lines.block(f"{label}_data")
            tile(at, far)
            lines.add(f"br label %{label}_next")
            lines.block(f"{label}_zero")
            for p in far:
                lines.add(f"store <{w} x {T}> zeroinitializer, ptr {p}, align {lanes.bytes}")
            lines.add(f"br label %{label}_next")
            lines.block(f"{label}_next")
        lines.add(f"{k}1 = add i64 {k}, {w}")
        lines.add(f"br i1 {put(f'icmp slt i64 {k}1, {size}')}, label %{label}, label %{tag}_done")

    top = put(f"add i64 %b, {W - 1}")
    close = put(f"icmp sle i64 {top}, %last")
    for is_so in (stride != str(size) and f"{stride}, {size}", apart and f"{apart}, 1"):
        if is_so:
            close = put(f"and i1 {close}, {put(f'icmp eq i64 {is_so}')}")
    lines.add(f"br i1 {close}, label %{tag}_close, label %{tag}_apart")
    lines.block(f"{tag}_close")
    start = put(f"getelementptr {T}, ptr {array}, i64 {put(f'mul i64 %b, {size}')}")
    loop(
        f"{tag}_near", f"{tag}_close", [put(f"getelementptr {T}, ptr {start}, i64 {lane * size}") for lane in range(W)]
    )
    lines.block(f"{tag}_apart")
    loop(f"{tag}_tile", f"{tag}_apart", [row(lane) for lane in range(W)])
    lines.block(f"{tag}_done")
    return lines.lines


def prefetch(place: str, *, for_writing: bool) -> str:
    """A line that has the memory at a place fetched into the nearest cache; the place may be anywhere."""
    return f"call void @llvm.prefetch.p0(ptr {place}, i32 {int(for_writing)}, i32 3, i32 1)"


def side_by_side(pieces: list[str], w: int, T: str, put: Callable[[str], str]) -> str:
    """Vectors of w numbers put together to one."""
    while len(pieces) > 1:
        numbers = ", ".join(f"i32 {n}" for n in range(2 * w))
        pieces = [
            put(f"shufflevector <{w} x {T}> {a}, <{w} x {T}> {b}, <{2 * w} x i32> <{numbers}>")
            for a, b in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        w *= 2
    return pieces[0]


def turned_over(rows: list[str], vector: str, put: Callable[[str], str]) -> list[str]:
    """The transpose of a square tile: blocks of side 1, 2, 4, … off the diagonal change places.

    The vectors may be several tiles wide; each is turned over by itself.
    """
    w, side, n = len(rows), 1, int(vector[1:].partition(" ")[0])
    while side < w:
        turned = list(rows)
        for i in range(w):
            if i & side:
                continue
            a, b = rows[i], rows[i | side]
            above = [p if not p & side else n + p - side for p in range(n)]
            below = [p + side if not p & side else n + p for p in range(n)]
            for target, mask in ((i, above), (i | side, below)):
                numbers = ", ".join(f"i32 {p}" for p in mask)
                turned[target] = put(f"shufflevector {vector} {a}, {vector} {b}, <{n} x i32> <{numbers}>")
        rows, side = turned, 2 * side
    return rows
