"""A rolled program as LLVM text: each pattern printed once, run over tables.

    void kernel(i64 start, i64 end, ptr in0, i64 stride0, …, ptr out, ptr scratch, ptr rows, i64 count, ptr slots,
               ptr numbers, ptr results, ptr zeros)

`scratch` has one vector per slot. Row t of the `count` rows is (pattern, first column in `slots`, first column in
`numbers`); an instance has the slots of its operands there, and then those of what it keeps. `results` holds the slot
of each output, `zeros` how many outputs that are always zero begin there, both padded. The tables are arguments, so the
code does not grow with the mechanism.
"""

from __future__ import annotations

from knuckle.engine.trace.regions import Pattern, Rolled

from .basic_block import BasicBlock
from .node_printer import BINARY, Printer
from .streaming_stores import entered, phase, stream_to_llvm, streamed, streams, tables_at
from .vector_lanes import Lanes
from .vector_moves import moves


class PatternPrinter(Printer):
    """Prints the steps of one pattern. Names are made fresh over the whole function."""

    def __init__(self, lanes: Lanes, body: BasicBlock) -> None:
        self.lanes, self.body = lanes, body
        self.names: list[str] = []
        self.turned: dict[str, tuple[str, str]] = {}
        self.sums: dict[str, tuple[str, float]] = {}
        self._slots: dict[int, str] = {}

    def block(self, number: int, pattern: Pattern) -> list[str]:
        """The lines of the pattern's basic block."""
        begin = len(self.body.lines)
        for op, operands in pattern.steps:
            args = [getattr(self, kind)(column) for kind, column in operands]
            if op == "constant":
                self.names.append(args[0])
            elif op in BINARY:
                self.names.append(self.body.contracted(BINARY[op], *args))
            else:
                self.names.append(self.function(op, args))
        for place, k in enumerate(pattern.kept):
            address = self._address(pattern.columns + place)
            self.body.lines.append(f"store {self.lanes.vector} {self.names[k]}, ptr {address}")
        lines = self.body.lines[begin:]
        del self.body.lines[begin:]
        return [f"pattern{number}:", *(f"  {line}" for line in lines), "  br label %after"]

    def local(self, k: int) -> str:
        return self.names[k]

    def slot(self, column: int) -> str:
        if column not in self._slots:
            self._slots[column] = self.body.put(f"load {self.lanes.vector}, ptr {self._address(column)}")
        return self._slots[column]

    def _address(self, column: int) -> str:
        """Where the slot of a column is."""
        at = self.body.put(f"add i64 %slot0, {column}")
        number = self.body.put(f"load i32, ptr {self.body.put(f'getelementptr i32, ptr %slots, i64 {at}')}")
        wide = self.body.put(f"sext i32 {number} to i64")
        return self.body.put(f"getelementptr {self.lanes.vector}, ptr %scratch, i64 {wide}")

    def constant(self, column: int) -> str:
        T, V, W = self.lanes.scalar, self.lanes.vector, self.lanes.width
        at = self.body.put(f"add i64 %number0, {column}")
        cell = self.body.put(f"getelementptr {T}, ptr %numbers, i64 {at}")
        x = self.body.put(f"load {T}, ptr {cell}")
        one = self.body.put(f"insertelement {V} undef, {T} {x}, i32 0")
        return self.body.put(f"shufflevector {V} {one}, {V} undef, <{W} x i32> zeroinitializer")


def row_loop(program: Rolled, lanes: Lanes, before: str, count: str, after: str) -> str:
    """The loop over the rows of the tables, from the block `before` to the block `after`."""
    body = BasicBlock(lanes)
    blocks = [line for k, p in enumerate(program.patterns) for line in PatternPrinter(lanes, body).block(k, p)]
    cases = " ".join(f"i32 {k}, label %pattern{k}" for k in range(len(program.patterns)))
    newline = "\n"
    return f"""row:
  %t = phi i64 [0, %{before}], [%t1, %after]
  %cell = mul i64 %t, 3
  %row_p = getelementptr i32, ptr %rows, i64 %cell
  %row_s = getelementptr i32, ptr %row_p, i64 1
  %row_n = getelementptr i32, ptr %row_p, i64 2
  %pattern = load i32, ptr %row_p
  %slot0_ = load i32, ptr %row_s
  %number0_ = load i32, ptr %row_n
  %slot0 = sext i32 %slot0_ to i64
  %number0 = sext i32 %number0_ to i64
  switch i32 %pattern, label %after [{cases}]
{newline.join(blocks)}
after:
  %t1 = add i64 %t, 1
  %left = icmp slt i64 %t1, {count}
  br i1 %left, label %row, label %{after}"""


def tables(program: Rolled) -> tuple[list[tuple[int, int, int]], list[int], list[float]]:
    """The rows, the slots and the numbers of a rolled program."""
    rows: list[tuple[int, int, int]] = []
    slots: list[int] = []
    numbers: list[float] = []
    for instance in program.instances:
        rows.append((instance.pattern, len(slots), len(numbers)))
        slots += [*instance.slots, *instance.kept]
        numbers += instance.constants
    return rows, slots, numbers


def rolled_to_llvm(program: Rolled, lanes: Lanes, name: str = "kernel") -> str:
    """The LLVM text of a rolled program."""
    sizes, n_out = [size for _, size in program.arguments], len(program.outputs)
    is_streamed = streams(lanes, n_out)
    apart = "%apart" if is_streamed else None
    arguments = "".join(f"ptr noalias %in{k}, i64 %stride{k}, " for k in range(len(sizes)))
    before, first, label = list[str](), 0, "begin"
    for k, size in enumerate(sizes):
        if size:
            before += moves(
                lanes, f"in{k}", size, f"%in{k}", f"%stride{k}", "scratch", first,
                gather=True, table=None, apart=apart,
            )  # fmt: skip
            label = f"in{k}_done"
        first += size
    after = list[str]()
    if n_out:
        after = moves(
            lanes, "out", n_out, "%out", str(n_out), "scratch", 0,
            gather=False, table="%places", apart=apart, zeros="%zero_runs" if is_streamed else None,
        )  # fmt: skip
    way_out = streamed(lanes, n_out, name, "scratch", "latch") if is_streamed else ""
    newline = "\n"
    return f"""{PatternPrinter(lanes, BasicBlock(lanes)).declarations()}
{stream_to_llvm(lanes, name, n_out) if is_streamed else ""}
define void @{name}(i64 %start, i64 %end, {arguments}ptr noalias %out, ptr noalias %scratch, ptr noalias %rows,
    i64 %count, ptr noalias %slots, ptr noalias %numbers, ptr noalias %results, ptr noalias %zeros) {{
entry:
  %last = sub i64 %end, 1{tables_at("%results", "%zeros")}{entered(lanes, n_out) if is_streamed else ""}
  br label %begin
begin:
  %b = phi i64 [%start, %entry], [%next, %latch]{phase("[0, %entry]", "[%phase_next, %latch]") if is_streamed else ""}
{newline.join(before)}
  br label %row
{row_loop(program, lanes, label, "%count", "write")}
write:{way_out}
{newline.join(after)}
  br label %latch
latch:
  %next = add i64 %b, {"%step" if is_streamed else lanes.width}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %begin, label %done
done:{newline + "  fence seq_cst" if is_streamed else ""}
  ret void
}}
"""
