"""A program as LLVM text: a loop over the batch, W states at a time, one per lane of a vector.

    void kernel(i64 start, i64 end, ptr in0, i64 stride0, …, ptr out)

Argument k of state b begins at in_k[b · stride_k]; a stride of 0 gives all states the same. The last vector repeats the
last state in the lanes that are left over, so every lane computes and nothing is masked. Outputs that are the same node
are stored once. Long rows have a second way out, for batches that no cache holds (`streaming_stores`), and where they
do not need it, two vectors go through each segment of long code together (`vector_pairs`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from knuckle.engine.emit.llvm.block_texts import Between
from knuckle.engine.emit.llvm.node_printer import Printer
from knuckle.engine.emit.llvm.streaming_stores import (
    aside,
    entered,
    flushed,
    lines_of,
    padded,
    phase,
    runs,
    stream_to_llvm,
    streamed,
    streams,
    table,
    tables_at,
    waits,
)
from knuckle.engine.emit.llvm.vector_lanes import PAGE, Lanes
from knuckle.engine.emit.llvm.vector_moves import moves
from knuckle.engine.trace import Node, Program

from .vector_pairs import PairedLoop, ResultPlaces

ZERO = Node("constant", 0.0)
FENCE = "\n  fence seq_cst"
"""At the end of code that has stored past the caches"""


class WayOut(NamedTuple):
    """How the results of a vector go out: functions and tables; lines at the entry, for each vector, which end with a
    branch, and at the end; and what those for each vector know from the entry."""

    texts: list[str]
    entry: str
    lines: str
    end: str = ""
    known: tuple[str, ...] = ()


class BatchPrinter(Printer):
    """Prints a program with a loop over the batch around it."""

    def __init__(self, program: Program, lanes: Lanes) -> None:
        super().__init__(program, lanes)
        self.between: Between | None = None
        """What is called between segments: long rows of long code are written while the next are computed"""
        self.vectors = 0
        """How many vectors the results are, with what lies between them"""
        self.is_streamed = streams(lanes, len(program.outputs))
        self.sizes = [size for _, size in program.arguments]
        self.arguments = "".join(f"ptr noalias %in{k}, i64 %stride{k}, " for k in range(len(self.sizes)))

    def text(self, name: str) -> str:
        places = self.places(name)
        self.results = {i: [place] for i, place in places.items() if i not in self.in_place}
        self.nodes()
        if self.is_long and self.between is None:
            return PairedLoop(self, name, self.result_places()).text(self.way_out(name, places, "after"))
        return self._one_by_one(name, self.way_out(name, places, "latch"))

    def in_turn(self, calls: list[str]) -> Iterable[str]:
        """Between segments, the results of the last states are written."""
        done = 0
        for call in calls:
            yield call
            if self.between:
                lines, done = self.between.due(done + self.segment)
                yield from lines

    def places(self, name: str) -> dict[int, int]:
        """The vector of each result. Those of a block lie as it gives them, and are in place; it writes meanwhile."""
        places, size = dict[int, int](), 0
        for node, parts in self.blocks_at.results().items():
            room = self.blocks_at.given[node]
            self.within_results[room] = size
            places |= {i: size + self.program.nodes[i].b for i in parts}
            size += self.blocks_at.rooms[room]
        self.in_place = set(places)
        others = dict.fromkeys(i for i in self.program.outputs if i not in places)
        self.vectors = size + len(others)
        if (places or self.is_long) and waits(self.lanes, len(self.program.outputs)):
            lines = lines_of(self.lanes, len(self.program.outputs))
            self.between = Between(f"{name}_stream", max(1, self.program.work // lines))
            self.blocks.between = self.between if places else None
        return places | {i: size + k for k, i in enumerate(others)}

    def result_places(self) -> ResultPlaces:
        """Where the results of a vector are."""
        return ResultPlaces(max(1, self.vectors) * self.lanes.width * self.lanes.bytes)

    def gathered(self) -> list[str]:
        """How the arguments of the states of the lanes are gathered."""
        lines, first = list[str](), 0
        for k, size in enumerate(self.sizes):
            if size:
                lines += moves(
                    self.lanes, f"in{k}", size, f"%in{k}", f"%stride{k}", "gathered", first,
                    gather=True, table=None, apart="%apart" if self.is_streamed else None,
                )  # fmt: skip
            first += size
        return lines

    def way_out(self, name: str, places: dict[int, int], after: str) -> WayOut:
        """How results go out, before the block `after`. Rows that do not wait for others are written at once."""
        lanes, outputs, is_streamed = self.lanes, self.program.outputs, self.is_streamed
        n, texts, entry, lines, end, known = len(outputs), list[str](), "", "", "", tuple[str, ...]()
        numbers = [places[i] for i in outputs]
        if is_streamed or numbers != list(range(n)):
            texts.append(table(f"{name}_places", padded(numbers) if is_streamed else numbers))
        if is_streamed:
            zeros = runs([self.program.nodes[i] == ZERO for i in outputs])
            texts += [table(f"{name}_zeros", padded(zeros)), stream_to_llvm(lanes, name, n)]
            entry = tables_at(f"@{name}_places", f"@{name}_zeros") + entered(lanes, n)
            lines = streamed(lanes, n, name, "results", after, self.between is not None)
            end = (flushed(name) if self.between else "") + FENCE
            known = "i64 %block", "i1 %large", "i64 %apart", "ptr %pending", "ptr %places", "ptr %zero_runs"
        if n:
            scattered = moves(
                lanes, "out", n, "%out", str(n), "results", 0,
                gather=False, table="%places" if is_streamed else f"@{name}_places" if texts else None,
                apart="%apart" if is_streamed else None, zeros="%zero_runs" if is_streamed else None,
            )  # fmt: skip
            lines = "\n".join([lines, *scattered])
        return WayOut(texts, entry, f"{lines}\n  br label %{after}", end, known)

    def _one_by_one(self, name: str, way_out: WayOut) -> str:
        """A vector at a time."""
        lanes, newline, results, inside = self.lanes, "\n", self.result_places(), self.inside(name)
        each = phase("[0, %entry]", "[%phase_next, %latch]") if self.is_streamed else ""
        rooms = [f"%gathered = alloca [{max(1, sum(self.sizes))} x {lanes.vector}], align {PAGE}"]
        if self.between:
            each += aside(results.size)
            rooms.append(f"%both = alloca [{2 * results.size} x i8], align 64")
        elif not results.is_output:
            rooms.append(f"%results = alloca [{results.size} x i8], align 64")
        return f"""{newline.join([self.declarations(), *way_out.texts, *self.blocks.texts()])}
define void @{name}(i64 %start, i64 %end, {self.arguments}ptr noalias %out) {{
entry:
  {(newline + "  ").join(rooms)}{self.allocated()}
  %last = sub i64 %end, 1{way_out.entry}
  br label %begin
begin:
  %b = phi i64 [%start, %entry], [%next, %latch]{each}
{newline.join(self.gathered())}
  br label %main
main:
  {(newline + "  ").join([*results.where("%b", lanes.width), *self.starts(), inside])}{way_out.lines}
latch:
  %next = add i64 %b, {"%step" if self.is_streamed else lanes.width}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %begin, label %done
done:{way_out.end}
  ret void
}}
"""


def to_llvm(program: Program, lanes: Lanes, name: str = "kernel") -> str:
    """The LLVM text of a program."""
    return BatchPrinter(program, lanes).text(name)
