"""Large results past the caches: whole lines of memory, written once and not read before.

An ordinary store first fetches the line it writes to. For a result that no cache holds, that is half of all traffic.
Non-temporal stores of whole lines do without, if the vectors begin where lines begin. The W rows of a vector are
therefore taken so far apart that all of them begin at the same place of a line (`apart`): then one grid of tiles suits
them all. The rows between come next, phase by phase; what a row leaves of its last line is carried over to the row that
follows it, and a block of W · `apart` rows is made of whole lines only.

Where a matrix has zeros by its structure, as the mass matrix of a tree has, lines of zeros are written as they are.

Memory takes lines more slowly than they are made. Long code therefore leaves long rows where they are, and writes them
line by line between the segments and the tiles of the next vector, whose results go elsewhere meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import gcd

from .vector_lanes import Lanes
from .vector_moves import Lines, side_by_side, turned_over

LINE = 64
"""Bytes of a line of memory."""
PIECE = 32
"""Bytes of a vector that are turned over at a time: two pieces are a line, and turn over faster than a whole one."""
ENTRIES = 128
"""Entries of a row that is worth this; shorter ones are mostly ends."""
LATER = 512
"""Entries of a row that is worth being written later: of shorter ones the nearest cache still holds a vector."""
PAD = 16
"""Entries by which tables are longer at both ends: those of a line at most."""
BYTES = 1 << 22
"""Bytes of a result that no core's own cache holds: in one that cores share, others need the room."""

PENDING = "results", "row", "carried", "places", "zero_runs", "entry", "side"
"""What is known of rows that are to be written."""
START, NOTHING = -1 << 20, 1 << 40
"""The entry of rows that are not begun, and where there are none; no row is as long."""


def streams(lanes: Lanes, size: int) -> bool:
    """Whether rows of this many entries are worth a second way out."""
    return lanes.width * lanes.bytes % PIECE == 0 and size >= ENTRIES


def waits(lanes: Lanes, size: int) -> bool:
    """Whether such rows are written while the next are computed."""
    return streams(lanes, size) and size >= LATER


def lines_of(lanes: Lanes, size: int) -> int:
    """How many lines such rows have, of which all rows of a vector are written together."""
    return -(-size * lanes.bytes // LINE)


def _apart(lanes: Lanes, size: int) -> int:
    """How many rows of a large result are from one that begins where a line begins to the next one that does."""
    return LINE // gcd(LINE, size * lanes.bytes)


def runs(zeros: Sequence[bool]) -> list[int]:
    """How many zeros in a row begin at each entry."""
    found = [0] * (len(zeros) + 1)
    for k in range(len(zeros) - 1, -1, -1):
        found[k] = found[k + 1] + 1 if zeros[k] else 0
    return found[:-1]


def table(name: str, numbers: Sequence[int]) -> str:
    """A table in the text."""
    return f"@{name} = private constant [{len(numbers)} x i32] [{', '.join(f'i32 {n}' for n in numbers)}]"


def padded(numbers: Sequence[int]) -> list[int]:
    """A table that may be read a little before its begin and after its end."""
    return [*[0] * PAD, *numbers, *[0] * PAD]


def tables_at(places: str, zeros: str) -> str:
    """At the entry: where the padded tables begin."""
    return f"""
  %places = getelementptr i32, ptr {places}, i64 {PAD}
  %zero_runs = getelementptr i32, ptr {zeros}, i64 {PAD}"""


def entered(lanes: Lanes, size: int) -> str:
    """At the entry: whether the result is large, and how many states apart those of one vector are then."""
    apart = _apart(lanes, size)
    noted = "".join(_noted(field, f"%{field}") for field in ("carried", "places", "zero_runs"))
    noted += _noted("entry", NOTHING, "_none") + _noted("side", 0)
    return f"""
  %carried = alloca [{lanes.width * LINE} x i8], align {LINE}
  %pending = alloca [{len(PENDING)} x i64], align 8{noted}
  %size = sub i64 %end, %start
  %bytes = mul i64 %size, {size * lanes.bytes}
  %no_cache = icmp sge i64 %bytes, {BYTES}
  %before_start = mul i64 %start, {size * lanes.bytes}
  %out_begin = ptrtoint ptr %out to i64
  %out_start = add i64 %out_begin, %before_start
  %in_line = and i64 %out_start, {LINE - 1}
  %on_line = icmp eq i64 %in_line, 0
  %large = and i1 %no_cache, %on_line
  %apart = select i1 %large, i64 {apart}, i64 1
  %block = mul i64 %apart, {lanes.width}
  %others = sub i64 %block, %apart
  %leap = add i64 %others, 1"""


def phase(first: str, again: str) -> str:
    """For each vector: how far it is to the next. States beside these come first, until all between are done.

    `first` and `again` are the values of the phase, and the blocks that they come from.
    """
    return f"""
  %phase = phi i64 {first}, {again}
  %phase1 = add i64 %phase, 1
  %around = icmp eq i64 %phase1, %apart
  %phase_next = select i1 %around, i64 0, i64 %phase1
  %step = select i1 %around, i64 %leap, i64 1"""


def aside(size: int) -> str:
    """For each vector: which half of `both` its results go to, as those before may still be pending in the other."""
    return f"""
  %side_at = getelementptr i64, ptr %pending, i64 {PENDING.index("side")}
  %side = load i64, ptr %side_at
  %other_side = sub i64 {size}, %side
  store i64 %other_side, ptr %side_at
  %results = getelementptr i8, ptr %both, i64 %side"""


def _noted(field: str, x: str | int, tag: str = "") -> str:
    """Lines that note something of what is pending."""
    return f"""
  %noted_{field}{tag} = getelementptr i64, ptr %pending, i64 {PENDING.index(field)}
  store {"ptr" if isinstance(x, str) else "i64"} {x}, ptr %noted_{field}{tag}"""


def flushed(name: str) -> str:
    """A line that writes what is pending."""
    return f"\n  call void @{name}_stream(ptr %pending, i64 {NOTHING})"


def streamed(lanes: Lanes, size: int, name: str, buffer: str, after: str, is_later: bool = False) -> str:
    """The way out for large results, if the whole block has states of its own; else on to the block `plain`.

    Later is while the next states are computed, if what they leave lies elsewhere. The block `after` comes next.
    """
    noted = _noted("results", f"%{buffer}") + _noted("row", "%out_row") + _noted("entry", START)
    return f"""{flushed(name) if is_later else ""}
  %block_at = sub i64 %b, %phase
  %block_end = add i64 %block_at, %block
  %whole = icmp sle i64 %block_end, %end
  %is_streamed = and i1 %large, %whole
  br i1 %is_streamed, label %stream, label %plain
stream:
  %out_row_at = mul i64 %b, {size}
  %out_row = getelementptr {lanes.scalar}, ptr %out, i64 %out_row_at{noted}{"" if is_later else flushed(name)}
  br label %{after}
plain:"""


def stream_to_llvm(lanes: Lanes, name: str, size: int) -> str:
    """The LLVM text of a function that writes W rows of `size` entries, so many lines of each at a time.

        void name_stream(ptr pending, i64 most)

    What is `PENDING` are words: `row` is the first row, and the others follow, as far apart as those of a vector are.
    `places` holds the vector of `results` for each entry of a row, and `zero_runs` how many zeros begin there; both are
    padded.
    `carried` has a line for every row: what the row before left of its last line, and then what this one leaves.
    `entry` is the next to be written.
    """
    T, V, n = lanes.scalar, lanes.vector, size
    w, E = PIECE // lanes.bytes, LINE // lanes.bytes
    whole_line = f"<{E} x {T}>"
    lines = Lines("  ", "%x")
    put = lines.put
    for k, field in enumerate(PENDING[:-1]):
        lines.add(f"%{field}_at = getelementptr i64, ptr %pending, i64 {k}")
        lines.add(f"%{field} = load {'i64' if field == 'entry' else 'ptr'}, ptr %{field}_at")
    lines.add(f"br i1 {put(f'icmp sgt i64 %entry, {n}')}, label %none, label %some")
    lines.block("none")
    lines.add("ret void")
    lines.block("some")
    far = _apart(lanes, n) * n
    rows = [put(f"getelementptr {T}, ptr %row, i64 {lane * far}") for lane in range(lanes.width)]
    over = put(f"and i64 {put('ptrtoint ptr %row to i64')}, {LINE - 1}")
    head = put(f"lshr i64 {over}, {lanes.bytes.bit_length() - 1}")
    start = put(f"sub i64 0, {head}")
    lines.add(f"br i1 {put(f'icmp eq i64 %entry, {START}')}, label %fresh, label %tiles")
    lines.block("fresh")
    lines.add(f"br i1 {put(f'icmp eq i64 {head}, 0')}, label %tiles, label %head")

    def line(k: str) -> Iterator[tuple[int, str]]:
        """The entries from k on: the lane, and a line of them there; all lanes, in order."""
        columns: list[str] = []
        for entry in range(E):
            at = put(f"getelementptr i32, ptr %places, i64 {put(f'add i64 {k}, {entry}')}")
            place = put(f"zext i32 {put(f'load i32, ptr {at}')} to i64")
            columns.append(put(f"getelementptr {V}, ptr %results, i64 {place}"))
        for first in range(0, lanes.width, w):
            here = [put(f"getelementptr {T}, ptr {p}, i64 {first}") for p in columns]
            parts = [put(f"load <{w} x {T}>, ptr {p}, align {PIECE}") for p in here]
            beside = [side_by_side([parts[entry], parts[entry + w]], w, T, put) for entry in range(w)]
            for j, x in enumerate(turned_over(beside, whole_line, put)):
                yield first + j, x

    def whole(k: str, values: Iterable[tuple[int, str]]) -> None:
        """A line of every row."""
        for lane, x in values:
            at = put(f"getelementptr {T}, ptr {rows[lane]}, i64 {k}")
            lines.add(f"store {whole_line} {x}, ptr {at}, align {LINE}, !nontemporal !0")

    def carry(lane: int) -> str:
        """Where the carried line of a lane is."""
        return put(f"getelementptr {T}, ptr %carried, i64 {lane * E}")

    def joined(k: str) -> Iterator[tuple[int, str]]:
        """The first line: what was carried over, and the first entries of this row."""
        one = put(f"insertelement <{E} x i64> undef, i64 {head}, i32 0")
        heads = put(f"shufflevector <{E} x i64> {one}, <{E} x i64> undef, <{E} x i32> zeroinitializer")
        mask = put(f"icmp ult <{E} x i64> <{', '.join(f'i64 {n}' for n in range(E))}>, {heads}")
        for lane, x in line(k):
            old = put(f"load {whole_line}, ptr {carry(lane)}, align {LINE}")
            yield lane, put(f"select <{E} x i1> {mask}, {whole_line} {old}, {whole_line} {x}")

    lines.block("head")
    whole(start, joined(start))
    second = put(f"add i64 {start}, {E}")
    lines.add("br label %tiles")
    lines.block("tiles")
    lines.add(f"%k = phi i64 [%entry, %some], [0, %fresh], [{second}, %head], [%after, %data], [%after, %zeros]")
    lines.add("%left = phi i64 [%most, %some], [%most, %fresh], [%most, %head], [%left1, %data], [%left1, %zeros]")
    lines.add(f"%fits = icmp sle i64 %k, {n - E}")
    lines.add("br i1 %fits, label %which, label %end")
    lines.block("which")
    lines.add("%left1 = sub i64 %left, 1")
    lines.add(f"%after = add i64 %k, {E}")
    lines.add(f"br i1 {put('icmp sgt i64 %left, 0')}, label %line, label %pause")
    lines.block("line")
    run = put(f"load i32, ptr {put('getelementptr i32, ptr %zero_runs, i64 %k')}")
    lines.add(f"br i1 {put(f'icmp slt i32 {run}, {E}')}, label %data, label %zeros")
    lines.block("data")
    whole("%k", line("%k"))
    lines.add("br label %tiles")
    lines.block("zeros")
    whole("%k", ((lane, "zeroinitializer") for lane in range(lanes.width)))
    lines.add("br label %tiles")
    lines.block("pause")
    lines.add("store i64 %k, ptr %entry_at")
    lines.add("ret void")
    lines.block("end")
    lines.add(f"store i64 {NOTHING}, ptr %entry_at")
    lines.add(f"br i1 {put(f'icmp eq i64 %k, {n}')}, label %done, label %tail")
    lines.block("tail")
    for lane, x in line("%k"):
        lines.add(f"store {whole_line} {x}, ptr {carry(lane)}, align {LINE}")
    lines.add("br label %done")
    lines.block("done")
    return f"""
!0 = !{{i32 1}}
define internal void @{name}_stream(ptr noalias %pending, i64 %most) {{
begin:
{lines.text()}
  ret void
}}
"""
