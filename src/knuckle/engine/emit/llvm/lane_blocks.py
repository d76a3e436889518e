"""Results as they are computed: vectors over the states of the lanes, one after the other, nothing turned over.

The result is an array [block of states][value][state in the block]. Values that are equal in every state are there
once. Turning long results over, so that those of a state lie side by side, takes longer than many of them to compute.
"""

from __future__ import annotations

from knuckle.engine.trace import Program

from .batch_loop import Printer
from .vector_lanes import Lanes


class BlocksPrinter(Printer):
    """Prints a program whose results stay in blocks of states."""

    def store(self, place: int, x: str) -> None:
        """A result, where the caller's memory begins wherever it likes."""
        place_in = self._slot("results", place)
        self.body.lines.append(f"store {self.lanes.vector} {x}, ptr {place_in}, align {self.lanes.bytes}")

    def _around(self, inside: str, places: dict[int, int], name: str) -> str:
        lanes, V = self.lanes, self.lanes.vector
        arguments, before = self.gathered(None)
        size = sum(size for _, size in self.program.arguments)
        newline = "\n"
        return f"""{newline.join([self.declarations(), *self.blocks.texts()])}
define void @{name}(i64 %start, i64 %end, {arguments}ptr noalias %out) {{
entry:
  %gathered = alloca [{max(1, size)} x {V}], align 64{self.allocated()}
  %last = sub i64 %end, 1
  br label %begin
begin:
  %b = phi i64 [%start, %entry], [%next, %latch]
{newline.join(before)}
  br label %main
main:
  %block = sdiv i64 %b, {lanes.width}
  %values = mul i64 %block, {len(places)}
  %results = getelementptr {V}, ptr %out, i64 %values
  {inside}
  br label %latch
latch:
  %next = add i64 %b, {lanes.width}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %begin, label %done
done:
  ret void
}}
"""


def places_of(program: Program) -> list[int]:
    """The number of each result among those that differ."""
    places = {i: place for place, i in enumerate(dict.fromkeys(program.outputs))}
    return [places[i] for i in program.outputs]


def to_lane_blocks(program: Program, lanes: Lanes, name: str = "kernel") -> str:
    """The LLVM text of a program whose results stay in blocks."""
    return BlocksPrinter(program, lanes).text(name)
