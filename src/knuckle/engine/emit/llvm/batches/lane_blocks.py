"""Results as they are computed: vectors over the states of the lanes, one after the other, nothing turned over.

The result is an array [block of states][value][state in the block]. Values that are equal in every state are there
once. Turning long results over, so that those of a state lie side by side, takes longer than many of them to compute.

Where a result is large and a vector fills a line of a cache, each value goes out past the caches as soon as it is
known, a product of matrices as it is made. Else values wait for those of their block, and then all go out in a row,
past the caches if these do not hold the result (`streaming_stores`).
"""

from __future__ import annotations

from dataclasses import replace

from knuckle.engine.emit.llvm.block_places import BlockPlaces
from knuckle.engine.emit.llvm.streaming_stores import BYTES, LINE
from knuckle.engine.emit.llvm.vector_lanes import Lanes
from knuckle.engine.trace import Node, Program

from .batch_loop import FENCE, BatchPrinter, WayOut
from .vector_pairs import ResultPlaces


class BlocksPrinter(BatchPrinter):
    """Prints a program whose results stay in blocks of states."""

    def __init__(self, program: Program, lanes: Lanes, is_large: bool) -> None:
        super().__init__(program, lanes)
        self._is_direct = is_large and lanes.width * lanes.bytes == LINE
        self.is_streamed = False

    def store(self, place: int, x: str) -> None:
        """A result, where it belongs, or with the others of its block."""
        how = f", align {LINE}, !nontemporal !0" if self._is_direct else ""
        self.body.lines.append(f"store {self.lanes.vector} {x}, ptr {self._slot('results', place)}{how}")

    def places(self, name: str) -> dict[int, int]:
        places, whole = value_places(self.program), _whole(self.program, self.blocks_at)
        given = {i for parts in self.blocks_at.results().values() for i in parts}
        for node, parts in whole.items():
            self.within_results[self.blocks_at.given[node]] = places[parts[0]]
            self.in_place.update(i for i in parts if i in given)
        self.vectors = len(places)
        if self._is_direct:
            blocks = self.program.blocks
            others = {blocks[node.a] for node in self.blocks_at.given if node not in whole}
            self.blocks.going_out = frozenset(blocks[node.a] for node in whole) - others
        return places

    def result_places(self) -> ResultPlaces:
        return replace(super().result_places(), is_output=self._is_direct)

    def way_out(self, name: str, places: dict[int, int], after: str) -> WayOut:
        """Values of a block, from where they waited."""
        texts, lanes, V, count = ["!0 = !{i32 1}"], self.lanes, self.lanes.vector, len(places)
        if self._is_direct:
            return WayOut(texts, "", f"br label %{after}", FENCE)
        entry = f"""
  %states = sub i64 %end, %start
  %bytes = mul i64 %states, {count * lanes.bytes}
  %no_cache = icmp sge i64 %bytes, {BYTES}
  %begins = ptrtoint ptr %out to i64
  %beside = and i64 %begins, {lanes.width * lanes.bytes - 1}
  %on_line = icmp eq i64 %beside, 0
  %is_past_caches = and i1 %no_cache, %on_line"""
        lines = f"""
  %block = sdiv i64 %b, {lanes.width}
  %values = mul i64 %block, {count}
  %there = getelementptr {V}, ptr %out, i64 %values
  br i1 %is_past_caches, label %begin_stream, label %plain
begin_stream:
  br label %stream
stream:
  %k = phi i64 [0, %begin_stream], [%k1, %stream]
  %from = getelementptr {V}, ptr %results, i64 %k
  %to = getelementptr {V}, ptr %there, i64 %k
  %value = load {V}, ptr %from
  store {V} %value, ptr %to, align {lanes.width * lanes.bytes}, !nontemporal !0
  %k1 = add i64 %k, 1
  %on = icmp slt i64 %k1, {count}
  br i1 %on, label %stream, label %{after}
plain:
  call void @llvm.memcpy.p0.p0.i64(ptr align {lanes.bytes} %there, ptr align 64 %results,
      i64 {count * lanes.width * lanes.bytes}, i1 false)
  br label %{after}"""
        return WayOut(texts, entry, lines, FENCE, ("i1 %is_past_caches",))


def _whole(program: Program, at: BlockPlaces) -> dict[Node, list[int]]:
    """The calls of blocks whose room is all results, which no block takes, and these in the order in which they lie.

    Where something that is no result lies, a result that is computed later takes its place.
    """
    nodes, results = program.nodes, at.results()
    taken = {nodes[k].a for node in nodes if node.op == "call" for k in node.operands if nodes[k].op == "part"}
    given = {i for parts in results.values() for i in parts}
    others = dict.fromkeys(i for i in program.outputs if i not in given)
    found: dict[Node, list[int]] = {}
    for node, parts in results.items():
        lying, call = {nodes[i].b: i for i in parts}, nodes.index(node)
        empty = [k for k in range(at.rooms[at.given[node]]) if k not in lying]
        later = [i for i in others if i > call][: len(empty)]
        if len(later) == len(empty) and call not in taken:
            lying |= dict(zip(empty, later, strict=True))
            found[node] = [lying[k] for k in sorted(lying)]
            others = {i: None for i in others if i not in later}
    return found


def value_places(program: Program) -> dict[int, int]:
    """Where each value lies among those that differ: what blocks give as they give it, then the others."""
    whole = _whole(program, BlockPlaces(program)).values()
    in_order = (*(i for some in whole for i in some), *program.outputs)
    return {i: place for place, i in enumerate(dict.fromkeys(in_order))}


def places_of(program: Program) -> list[int]:
    """The place of each result among the values that differ."""
    places = value_places(program)
    return [places[i] for i in program.outputs]


def to_lane_blocks(program: Program, lanes: Lanes, name: str = "kernel", *, is_large: bool = False) -> str:
    """The LLVM text of a program whose results stay in blocks; a large one begins at a line of a cache."""
    return BlocksPrinter(program, lanes, is_large).text(name)
