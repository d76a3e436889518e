"""A block as LLVM text: a function of vectors in memory.

    void block(ptr taken, ptr given, ptr lying0, …)

`taken` has a vector for each input, `given` one for each result. Inputs that lie in memory already, as those of the
block around it, are read where they lie. A block that is repeated finds its state in `given`, and keeps it there; it
goes on while some lane does, and lanes that are done keep what they have.
"""

from __future__ import annotations

import itertools

from knuckle.engine.trace import (
    Block,
    Called,
    Eliminate,
    EliminateResponse,
    Lookup,
    MatrixProduct,
    Multiply,
    Repeated,
    RolledBlock,
    SparseProduct,
    Substitute,
    SubstituteResponse,
)

from .block_texts import BlockTexts, Places
from .linear_loops.dense_loops import (
    eliminate_response_to_llvm,
    eliminate_to_llvm,
    multiply_to_llvm,
    substitute_response_to_llvm,
    substitute_to_llvm,
)
from .linear_loops.product_loops import product_to_llvm
from .linear_loops.sparse_tiles import sparse_to_llvm
from .node_printer import Printer
from .rolled_loops import row_loop, tables
from .streaming_stores import table
from .table_lookup import lookup_to_llvm
from .vector_lanes import Lanes


class BlockPrinter(Printer):
    """Prints a block with a body."""

    def __init__(self, block: Called | Repeated, blocks: BlockTexts, places: Places) -> None:
        super().__init__(block.body, blocks.lanes, blocks)
        self.block = block
        self.state = block.outputs if isinstance(block, Repeated) else 0
        stored = itertools.count()
        of_inputs = places or (None,) * block.inputs
        self._inputs = [
            ("given", k) if k < self.state else ("taken", next(stored)) if at is None else (f"lying{at[0]}", at[1])
            for k, at in enumerate(of_inputs)
        ]
        self._buffers = sorted({at[0] for at in places if at is not None})

    def load(self, number: int) -> str:
        """An input, or the state of this round."""
        return self.body.put(f"load {self.lanes.vector}, ptr {self._slot(*self._inputs[number])}")

    def place(self, number: int, user: Block | None = None) -> tuple[str, int] | None:
        """Where a node lies in memory: inputs that are no state stay where they are."""
        node = self.program.nodes[number]
        if node.op == "input" and node.a >= self.state:
            return self._inputs[node.a]
        return super().place(number, user)

    def has_inputs_from(self, number: int, size: int) -> bool:
        buffer, first = self._inputs[number]
        beside = all(self._inputs[number + k] == (buffer, first + k) for k in range(size))
        return number >= self.state and beside

    def inputs_from(self, number: int) -> str:
        return self._slot(*self._inputs[number]).removeprefix("%")

    def store(self, place: int, x: str) -> None:
        """A result; of lanes that are done, it stays what it was."""
        slot = self._slot("given", place)
        if self.state:
            x = self.body.choose("%goes_on", x, self.body.put(f"load {self.lanes.vector}, ptr {slot}"))
        self.body.lines.append(f"store {self.lanes.vector} {x}, ptr {slot}")

    def define(self, name: str) -> str:
        """The text of the function."""
        self.nodes()
        for place, i in enumerate(self.program.outputs):
            self.store(place, self.names[i])
        inside = self.inside(name)
        rounds = self._rounds(inside) if isinstance(self.block, Repeated) else f"  {inside}\n  ret void"
        lying = "".join(f", ptr noalias %lying{k}" for k in self._buffers)
        return f"""
define internal void @{name}(ptr noalias %taken, ptr noalias %given{lying}) "stackrealign" alignstack(64) {{
entry:{self.allocated()}
{rounds}
}}
"""

    def _rounds(self, inside: str) -> str:
        assert isinstance(self.block, Repeated)
        V, W = self.lanes.vector, self.lanes.width
        return f"""  br label %test
test:
  %round = phi i64 [0, %entry], [%round1, %computed]
  %flag = load {V}, ptr %given
  %goes_on = fcmp ogt {V} %flag, zeroinitializer
  %bits = bitcast {self.lanes.of("i1")} %goes_on to i{W}
  %some = icmp ne i{W} %bits, 0
  %few = icmp slt i64 %round, {self.block.rounds}
  %again = and i1 %some, %few
  br i1 %again, label %body, label %done
body:
  {inside}
  %round1 = add i64 %round, 1
  br label %test
done:
  ret void"""


def block_to_llvm(block: Block, blocks: BlockTexts, name: str, places: Places = ()) -> str:
    """The LLVM text of a block."""
    if isinstance(block, (Called, Repeated)):
        return BlockPrinter(block, blocks, places).define(name)
    if isinstance(block, RolledBlock):
        return _rolled(block, blocks.lanes, name)
    if isinstance(block, Eliminate):
        return eliminate_to_llvm(block, blocks.lanes, name)
    if isinstance(block, Substitute):
        return substitute_to_llvm(block, blocks.lanes, name)
    if isinstance(block, Multiply):
        return multiply_to_llvm(block, blocks.lanes, name)
    if isinstance(block, EliminateResponse):
        return eliminate_response_to_llvm(block, blocks.lanes, name)
    if isinstance(block, SubstituteResponse):
        return substitute_response_to_llvm(block, blocks.lanes, name)
    if isinstance(block, Lookup):
        return lookup_to_llvm(block, blocks.lanes, name)
    if isinstance(block, MatrixProduct):
        return product_to_llvm(block, blocks.lanes, name, blocks.wide)
    if isinstance(block, SparseProduct):
        return sparse_to_llvm(block, blocks, name)
    raise TypeError(f"a {type(block).__name__} has no text")


def _rolled(block: RolledBlock, lanes: Lanes, name: str) -> str:
    """A rolled program as a function, its tables beside it."""
    V, T, program = lanes.vector, lanes.scalar, block.program
    rows, slots, numbers = tables(program)
    whole = ", ".join(f"i32 {n}" for row in rows for n in row)
    constants = ", ".join(f"{T} {lanes.literal(x)}" for x in numbers or (0.0,))
    return f"""
@{name}_rows = private constant [{3 * len(rows)} x i32] [{whole}]
{table(f"{name}_slots", slots or (0,))}
@{name}_numbers = private constant [{max(1, len(numbers))} x {T}] [{constants}]
{table(f"{name}_results", program.outputs)}
define internal void @{name}(ptr noalias %taken, ptr noalias %given) "stackrealign" alignstack(64) {{
entry:
  %scratch = alloca [{max(1, program.slots)} x {V}], align 64
  %rows = getelementptr i32, ptr @{name}_rows, i64 0
  %slots = getelementptr i32, ptr @{name}_slots, i64 0
  %numbers = getelementptr {T}, ptr @{name}_numbers, i64 0
  br label %copy
{_copied(V, "copy", "entry", block.inputs, "row")}
{row_loop(program, lanes, "copy", str(len(rows)), "write")}
write:
  %w = phi i64 [0, %after], [%w1, %write]
  %at = getelementptr i32, ptr @{name}_results, i64 %w
  %place_ = load i32, ptr %at
  %place = sext i32 %place_ to i64
  %result_p = getelementptr {V}, ptr %scratch, i64 %place
  %result = load {V}, ptr %result_p
  %given_p = getelementptr {V}, ptr %given, i64 %w
  store {V} %result, ptr %given_p
  %w1 = add i64 %w, 1
  %writes = icmp slt i64 %w1, {len(program.outputs)}
  br i1 %writes, label %write, label %done
done:
  ret void
}}
"""


def _copied(V: str, label: str, before: str, count: int, after: str) -> str:
    """A loop that copies the first vectors of what the function takes."""
    return f"""{label}:
  %c = phi i64 [0, %{before}], [%c1, %{label}]
  %from = getelementptr {V}, ptr %taken, i64 %c
  %to = getelementptr {V}, ptr %scratch, i64 %c
  %copied = load {V}, ptr %from
  store {V} %copied, ptr %to
  %c1 = add i64 %c, 1
  %copies = icmp slt i64 %c1, {count}
  br i1 %copies, label %{label}, label %{after}"""
