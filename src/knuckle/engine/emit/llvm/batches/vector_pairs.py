"""The loop over a batch for long code: two vectors of states go through each segment, then through the next.

Code that is longer than the nearest cache for instructions is fetched anew for every vector of states, and waiting for
it takes as long as the arithmetic. Here one vector after the other takes a segment, so that it is fetched once for both
of them; and the processor begins with the second while it waits for results of the first. What a vector needs is in a
frame of its own: its arguments, what segments leave for each other, what blocks take and give. The results are beside
the frames, or where they belong.

Long rows that are written while the next are computed need the caches for themselves, and go one by one (`batch_loop`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from knuckle.engine.emit.llvm.streaming_stores import phase
from knuckle.engine.emit.llvm.vector_lanes import PAGE

if TYPE_CHECKING:
    from .batch_loop import BatchPrinter, WayOut

MOST = 2
"""Vectors that go together: with more, what they need is no longer in the nearest cache."""
MEMORY = 1 << 19
"""Bytes of these, if there is more than one: a core's own cache holds them, and the code."""
BESIDE = 1088
"""How far the second frame begins from a page: loads wait for stores to places with the same last twelve bits
(`PAGE`)."""


@dataclass(frozen=True)
class ResultPlaces:
    """The results of a vector: how many bytes they take, and whether they are in the output itself."""

    size: int
    is_output: bool = False

    def where(self, state: str, width: int) -> list[str]:
        """Lines that say where the results from a state on are in the output, if they are there."""
        if not self.is_output:
            return []
        return [
            f"%block_number = sdiv i64 {state}, {width}",
            f"%bytes_before = mul i64 %block_number, {self.size}",
            "%results = getelementptr i8, ptr %out, i64 %bytes_before",
        ]


class Pass(NamedTuple):
    """A function that each vector goes through: what else it knows, and its lines, from the block `each` to the block
    `after`."""

    name: str
    known: tuple[str, ...]
    lines: list[str]

    def call(self) -> str:
        """The line that calls it for all vectors that go together."""
        given = "i64 %count", "ptr %frames", "ptr %results", "ptr %firsts", *self.known
        return f"call void @{self.name}({', '.join(given)})"

    def text(self, frame: int, results: int) -> str:
        """The function, for frames and results that are so many bytes apart."""
        given = "i64 %count", "ptr %frames", "ptr %all_results", "ptr %firsts", *self.known
        newline = "\n  "
        return f"""
define internal void @{self.name}({", ".join(given).replace("ptr ", "ptr noalias ")}) {{
entry:
  br label %each
each:
  %vector = phi i64 [0, %entry], [%vector1, %after]
  %frame = phi ptr [%frames, %entry], [%frame1, %after]
  %results = phi ptr [%all_results, %entry], [%results1, %after]
  {newline.join(self.lines)}
after:
  %vector1 = add i64 %vector, 1
  %frame1 = getelementptr i8, ptr %frame, i64 {frame}
  %results1 = getelementptr i8, ptr %results, i64 {results}
  %is_more = icmp slt i64 %vector1, %count
  br i1 %is_more, label %each, label %done
done:
  ret void
}}"""


class PairedLoop:
    """The functions of a kernel: one that goes over the batch, and of each vector those that fetch the arguments, go
    through a segment, and bring the results away."""

    def __init__(self, printer: BatchPrinter, name: str, results: ResultPlaces) -> None:
        self._printer, self._name, self._results = printer, name, results
        self._segments = printer.segments(name)
        self._frame, size = dict[str, int](), 0
        for room, vectors in {"gathered": max(1, sum(printer.sizes)), **printer.rooms}.items():
            self._frame[room] = size
            size += vectors * printer.lanes.width * printer.lanes.bytes
        self._stride = _beside(size)
        self._apart = results.size if results.is_output else _beside(results.size)
        each = self._stride + (0 if results.is_output else self._apart)
        self._most = max(1, min(MOST, MEMORY // each))

    def text(self, way_out: WayOut) -> str:
        """All of it."""
        passes = [self._way_in(), *self._way_through(), self._way_out(way_out)]
        functions = [one.text(self._stride, self._apart) for one in passes]
        printer, calls = self._printer, [one.call() for one in passes]
        texts = [printer.declarations(), *way_out.texts, *printer.blocks.texts(), *functions]
        return "\n".join([*texts, self._loop(way_out, calls)])

    def _way_in(self) -> Pass:
        arguments = [f"{kind}{k}" for k in range(len(self._printer.sizes)) for kind in ("ptr %in", "i64 %stride")]
        apart = ("i64 %apart",) if self._printer.is_streamed else ()
        lines = [self._at("gathered"), *self._noted(), *self._printer.gathered(), "br label %after"]
        return Pass(f"{self._name}_in", (*arguments, "i64 %last", *apart), lines)

    def _way_through(self) -> Iterable[Pass]:
        for k, (call, places) in enumerate(zip(self._segments.calls(), self._segments.places(), strict=True)):
            lines = [self._at(place) for place in places if place != "results"]
            yield Pass(f"{self._name}_pass_{k}", (), [*lines, call, "br label %after"])

    def _way_out(self, way_out: WayOut) -> Pass:
        known = "i64 %end", "i64 %last", "ptr %out", *way_out.known
        return Pass(f"{self._name}_out", known, [*self._noted(), way_out.lines])

    def _at(self, place: str) -> str:
        """The line that says where a place of a vector is."""
        if (first := self._printer.within_results.get(place)) is not None:
            return f"%{place} = getelementptr {self._printer.lanes.vector}, ptr %results, i64 {first}"
        return f"%{place} = getelementptr i8, ptr %frame, i64 {self._frame[place]}"

    def _noted(self) -> list[str]:
        """Lines that read which state of a vector is the first, and its phase."""
        lines = ["%noted = getelementptr [2 x i64], ptr %firsts, i64 %vector", "%b = load i64, ptr %noted"]
        if self._printer.is_streamed:
            lines += ["%noted_phase = getelementptr i64, ptr %noted, i64 1", "%phase = load i64, ptr %noted_phase"]
        return lines

    def _loop(self, way_out: WayOut, calls: list[str]) -> str:
        """The function that goes over the batch."""
        printer, is_streamed, newline = self._printer, self._printer.is_streamed, "\n  "
        rooms = [f"%frames = alloca [{self._most * self._stride} x i8], align {PAGE}"]
        rooms.append(f"%firsts = alloca [{self._most} x [2 x i64]], align 64")
        if not self._results.is_output:
            rooms.append(f"%results = alloca [{self._most * self._apart} x i8], align {PAGE}")
        first_phase, own_phase, note_phase, step = "", "", "", str(printer.lanes.width)
        if is_streamed:
            first_phase = "\n  %first_phase = phi i64 [0, %entry], [%phase_next, %filled]"
            own_phase, step = phase("[%first_phase, %begin]", "[%phase_next, %fill]"), "%step"
            note_phase = """
  %noted_phase = getelementptr i64, ptr %noted, i64 1
  store i64 %phase, ptr %noted_phase"""
        return f"""
define void @{self._name}(i64 %start, i64 %end, {printer.arguments}ptr noalias %out) {{
entry:
  {newline.join(rooms)}
  %last = sub i64 %end, 1{way_out.entry}
  br label %begin
begin:
  %first = phi i64 [%start, %entry], [%next, %filled]{first_phase}
  br label %fill
fill:
  %vector = phi i64 [0, %begin], [%count, %fill]
  %b = phi i64 [%first, %begin], [%next, %fill]{own_phase}
  %noted = getelementptr [2 x i64], ptr %firsts, i64 %vector
  store i64 %b, ptr %noted{note_phase}
  %next = add i64 %b, {step}
  %count = add i64 %vector, 1
  %more = icmp slt i64 %next, %end
  %has_room = icmp slt i64 %count, {self._most}
  %goes_on = and i1 %more, %has_room
  br i1 %goes_on, label %fill, label %filled
filled:
  {newline.join([*self._results.where("%first", printer.lanes.width), *calls])}
  br i1 %more, label %begin, label %done
done:{way_out.end}
  ret void
}}
"""


def _beside(size: int) -> int:
    """How far apart things of a size are, to begin at different places of their pages."""
    return -(-size // PAGE) * PAGE + BESIDE
