"""A rolled program as LLVM text: each pattern printed once, run over tables.

    int kernel(i64 start, i64 end, ptr in0, i64 stride0, …, ptr out, ptr scratch, ptr rows, ptr slots, ptr numbers,
               ptr results)

`scratch` has one vector per slot. Row t of `rows` is (pattern, first column in `slots`, first column in `numbers`,
first slot kept); `results` holds the slot of each output. The tables are arguments, so the code does not grow with
the mechanism.
"""

from __future__ import annotations

from knuckle.trace.regions import Pattern, Rolled

from .llvm import BINARY, Body, Lanes, Printer


class PatternPrinter(Printer):
    """Prints the steps of one pattern. Names are made fresh over the whole function."""

    def __init__(self, lanes: Lanes, body: Body) -> None:
        self.lanes, self.body = lanes, body
        self.names: list[str] = []
        self.turned: dict[str, tuple[str, str]] = {}
        self.far: str | None = None
        self._slots: dict[int, str] = {}

    def block(self, number: int, pattern: Pattern) -> list[str]:
        """The lines of the pattern's basic block."""
        begin = len(self.body.lines)
        for op, operands in pattern.steps:
            args = [getattr(self, kind)(column) for kind, column in operands]
            if op == "constant":
                self.names.append(args[0])
            elif op in BINARY:
                self.names.append(self.body.arithmetic(BINARY[op], *args))
            else:
                self.names.append(self.OTHERS[op](self, *args))
        for place, k in enumerate(pattern.kept):
            at = self.body.put(f"add i64 %base, {place}")
            address = self.body.put(f"getelementptr {self.lanes.vector}, ptr %scratch, i64 {at}")
            self.body.lines.append(f"store {self.lanes.vector} {self.names[k]}, ptr {address}")
        if self.far:
            self._raise_flag(self.far)
        lines = self.body.lines[begin:]
        del self.body.lines[begin:]
        return [f"pattern{number}:", *(f"  {line}" for line in lines), "  br label %after"]

    def local(self, k: int) -> str:
        return self.names[k]

    def slot(self, column: int) -> str:
        if column not in self._slots:
            at = self.body.put(f"add i64 %slot0, {column}")
            cell = self.body.put(f"getelementptr i32, ptr %slots, i64 {at}")
            number = self.body.put(f"load i32, ptr {cell}")
            wide = self.body.put(f"sext i32 {number} to i64")
            address = self.body.put(f"getelementptr {self.lanes.vector}, ptr %scratch, i64 {wide}")
            self._slots[column] = self.body.put(f"load {self.lanes.vector}, ptr {address}")
        return self._slots[column]

    def constant(self, column: int) -> str:
        T, V, W = self.lanes.scalar, self.lanes.vector, self.lanes.width
        at = self.body.put(f"add i64 %number0, {column}")
        cell = self.body.put(f"getelementptr {T}, ptr %numbers, i64 {at}")
        x = self.body.put(f"load {T}, ptr {cell}")
        one = self.body.put(f"insertelement {V} undef, {T} {x}, i32 0")
        return self.body.put(f"shufflevector {V} {one}, {V} undef, <{W} x i32> zeroinitializer")

    def _raise_flag(self, far: str) -> None:
        mask = f"{self.lanes.of('i1')} {far}"
        lost = self.body.put(f"call i1 @llvm.vector.reduce.or.v{self.lanes.width}i1({mask})")
        flag = self.body.put(f"zext i1 {lost} to i32")
        old = self.body.put("load i32, ptr %flag")
        both = self.body.put(f"or i32 {old}, {flag}")
        self.body.lines.append(f"store i32 {both}, ptr %flag")


def rolled_to_llvm(program: Rolled, lanes: Lanes, name: str = "kernel") -> str:
    """The LLVM text of a rolled program."""
    body = Body(lanes)
    blocks = [line for k, p in enumerate(program.patterns) for line in PatternPrinter(lanes, body).block(k, p)]
    mover = PatternPrinter(lanes, body)
    sizes = [size for _, size in program.arguments]
    arguments = "".join(f"ptr noalias %in{k}, i64 %stride{k}, " for k in range(len(sizes)))
    moves, first, label = list[str](), 0, "begin"
    for k, size in enumerate(sizes):
        if size:
            moves += mover._move(f"in{k}", label, size, f"%in{k}", f"%stride{k}", "scratch", first, gather=True)
            label = f"in{k}_done"
        first += size
    cases = " ".join(f"i32 {k}, label %pattern{k}" for k in range(len(program.patterns)))
    W, T, n_out = lanes.width, lanes.scalar, max(1, len(program.outputs))
    newline = "\n"
    return f"""{mover.declarations()}
define i32 @{name}(i64 %start, i64 %end, {arguments}ptr noalias %out, ptr noalias %scratch, ptr noalias %rows,
    i64 %count, ptr noalias %slots, ptr noalias %numbers, ptr noalias %results) {{
entry:
  %flag = alloca i32
  store i32 0, ptr %flag
  %last = sub i64 %end, 1
  br label %begin
begin:
  %b = phi i64 [%start, %entry], [%next, %out_done]
{newline.join(moves)}
  br label %row
row:
  %t = phi i64 [0, %{label}], [%t1, %after]
  %cell = mul i64 %t, 4
  %row_p = getelementptr i32, ptr %rows, i64 %cell
  %row_s = getelementptr i32, ptr %row_p, i64 1
  %row_n = getelementptr i32, ptr %row_p, i64 2
  %row_b = getelementptr i32, ptr %row_p, i64 3
  %pattern = load i32, ptr %row_p
  %slot0_ = load i32, ptr %row_s
  %number0_ = load i32, ptr %row_n
  %base_ = load i32, ptr %row_b
  %slot0 = sext i32 %slot0_ to i64
  %number0 = sext i32 %number0_ to i64
  %base = sext i32 %base_ to i64
  switch i32 %pattern, label %after [{cases}]
{newline.join(blocks)}
after:
  %t1 = add i64 %t, 1
  %left = icmp slt i64 %t1, %count
  br i1 %left, label %row, label %out_begin
out_begin:
  br label %out_lane
out_lane:
  %out_l = phi i64 [0, %out_begin], [%out_l1, %out_next]
  %out_j = add i64 %b, %out_l
  %out_inside = icmp slt i64 %out_j, %last
  %out_i = select i1 %out_inside, i64 %out_j, i64 %last
  %out_at = mul i64 %out_i, {n_out}
  %out_p = getelementptr {T}, ptr %out, i64 %out_at
  br label %out_entry
out_entry:
  %out_k = phi i64 [0, %out_lane], [%out_k1, %out_entry]
  %out_far = getelementptr {T}, ptr %out_p, i64 %out_k
  %out_cell = getelementptr i32, ptr %results, i64 %out_k
  %out_slot_ = load i32, ptr %out_cell
  %out_slot = sext i32 %out_slot_ to i64
  %out_row = mul i64 %out_slot, {W}
  %out_place = add i64 %out_row, %out_l
  %out_near = getelementptr {T}, ptr %scratch, i64 %out_place
  %out_x = load {T}, ptr %out_near
  store {T} %out_x, ptr %out_far
  %out_k1 = add i64 %out_k, 1
  %out_more = icmp slt i64 %out_k1, {len(program.outputs)}
  br i1 %out_more, label %out_entry, label %out_next
out_next:
  %out_l1 = add i64 %out_l, 1
  %out_all = icmp slt i64 %out_l1, {W}
  br i1 %out_all, label %out_lane, label %out_done
out_done:
  %next = add i64 %b, {W}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %begin, label %done
done:
  %found = load i32, ptr %flag
  ret i32 %found
}}
"""
