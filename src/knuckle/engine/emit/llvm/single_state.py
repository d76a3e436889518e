"""A program as LLVM text for one state: plain numbers, and the sines of many angles at once.

    void one_state(ptr inputs, ptr out)

`inputs` is a table with the place of each argument.

A state alone has no other states to fill a vector with, so the operations are those of single numbers. Sines and
cosines are the exception: they are long, only vectors choose quadrants without branches, and a mechanism has many
angles that are known from the start. These are computed side by side. Inverse dynamics of a floating Talos, AVX-512:

    eight lanes with the same state     2.28 µs
    four lanes                          1.17 µs
    single numbers                      1.05 µs
    single numbers, angles by eights    0.85 µs
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from knuckle.engine.trace import Block, Called, Node, Program, Repeated

from .basic_block import BasicBlock, declarations, sine_and_cosine, tail_of_sum
from .block import BlockPrinter
from .block_texts import BlockTexts, Places
from .node_printer import Printer
from .vector_lanes import Lanes


class _Beside(BasicBlock):
    """Lines with vectors of another width, put among those of a body."""

    def __init__(self, lanes: Lanes, body: BasicBlock) -> None:
        super().__init__(lanes)
        self._body = body

    def put(self, text: str) -> str:
        return self._body.put(text)


class SideBySide(Printer):
    """Prints for single numbers, with `wide` vectors for the angles."""

    wide: Lanes
    segment, longest, per_result = 200, 3_000, 0  # single numbers wait in memory for nothing

    def beside(self, wide: Lanes) -> None:
        """Begins, with these vectors."""
        self.wide, self._beside = wide, _Beside(wide, self.body)
        self.names = [""] * len(self.program.nodes)
        self.room = 0

    @property
    def _bytes(self) -> int:
        return 8 if self.lanes.dtype == "f64" else 4

    def _number(self, array: str, number: int) -> str:
        at = self.body.put(f"getelementptr {self.lanes.scalar}, ptr {array}, i64 {number}")
        return self.body.put(f"load {self.lanes.vector}, ptr {at}, align {self._bytes}")

    def early_angles(self) -> list[int]:
        """The nodes whose sine or cosine is asked for and which need no other sine or cosine themselves."""
        late = [False] * len(self.program.nodes)
        angles: dict[int, None] = {}
        for i, node in enumerate(self.program.nodes):
            if node.op in ("input", "constant"):
                continue
            operands = node.operands
            late[i] = node.op in ("sin", "cos", "call") or any(late[k] for k in operands)
            if node.op in ("sin", "cos") and not late[operands[0]]:
                angles[operands[0]] = None
        return list(angles)

    def cone(self, roots: list[int]) -> list[int]:
        """The nodes that these need, and themselves, in order."""
        wanted, stack = set[int](), list(roots)
        while stack:
            i = stack.pop()
            if i in wanted:
                continue
            wanted.add(i)
            stack += self.program.nodes[i].operands
        return sorted(wanted)

    def turn(self, angles: list[str]) -> None:
        """Sines and cosines of at most a vector of angles, left in memory: a later operation reads one as it goes."""
        V, T, W = self.wide.vector, self.wide.scalar, self.wide.width
        x, tail, parts = "undef", None, [self.sums.get(angle, (angle, 0.0)) for angle in angles]
        parts += parts[-1:] * (W - len(parts))
        for lane, (angle, _) in enumerate(parts):
            number = self.body.put(f"extractelement {self.lanes.vector} {angle}, i32 0")
            x = self.body.put(f"insertelement {V} {x}, {T} {number}, i32 {lane}")
        if any(c for _, c in parts):
            y, shift = x, self.wide.constants([c for _, c in parts])
            x = self.body.put(f"fadd {V} {y}, {shift}")
            tail = tail_of_sum(self._beside, x, y, shift)
        for kind, value in enumerate(sine_and_cosine(self._beside, x, tail)):
            at = self.body.put(f"getelementptr {T}, ptr %turned, i64 {self.room + kind * W}")
            self.body.lines.append(f"store {V} {value}, ptr {at}, align {self._bytes}")
        for lane, x in enumerate(angles):
            self.turned[x] = str(self.room + lane), str(self.room + W + lane)
        self.room += 2 * W

    def sin(self, x: str) -> str:
        return self._turned(x, 0)

    def cos(self, x: str) -> str:
        return self._turned(x, 1)

    def _turned(self, x: str, kind: int) -> str:
        if x not in self.turned:
            self.turn([x])
        return self._number("%turned", int(self.turned[x][kind]))

    OTHERS = {**Printer.OTHERS, "sin": sin, "cos": cos}  # noqa: RUF012 - the table of the class it extends

    def nodes(self) -> None:
        """All nodes: first those that angles are made of, then their sines and cosines, and the others."""
        angles, unread = self.early_angles(), self.begin_blocks()
        for i in self.cone(angles):
            self.names[i] = self.numbered(i)
            self.give(i)
        for k in range(0, len(angles), self.wide.width):
            self.turn([self.names[i] for i in angles[k : k + self.wide.width]])
        for i in range(len(self.program.nodes)):
            if not self.names[i] and i not in unread:
                self.names[i] = self.numbered(i)
                self.give(i)
            self.mark(i)

    def allocated(self) -> str:
        return f"{super().allocated()}\n  %turned = alloca [{max(1, self.room)} x {self.wide.scalar}], align 64"


class OneStateBlocks(BlockTexts):
    """Blocks for single numbers."""

    def __init__(self, wide: Lanes) -> None:
        super().__init__(Lanes(wide.dtype, 1))
        self.wide = wide

    def printed(self, block: Block, name: str, places: Places) -> str:
        if isinstance(block, (Called, Repeated)):
            return OneStateBlock(block, self, places).define(name)
        return super().printed(block, name, places)


class OneStateBlock(SideBySide, BlockPrinter):
    """Prints a block for single numbers."""

    def __init__(self, block: Called | Repeated, blocks: OneStateBlocks, places: Places) -> None:
        super().__init__(block, blocks, places)
        assert blocks.wide is not None
        self.beside(blocks.wide)


class SingleStatePrinter(SideBySide):
    """Prints a program for single numbers."""

    def __init__(self, program: Program, wide: Lanes) -> None:
        super().__init__(program, Lanes(wide.dtype, 1), OneStateBlocks(wide))
        self.beside(wide)
        self._runs_of: dict[Node, list[tuple[int, int, int]]] = {}
        """Results of blocks that are outputs: the first of a run, its place, and how many there are"""

    def load(self, number: int) -> str:
        """An input, from the argument that holds it."""
        k, place = self._argument(number)
        return self._number(f"%in{k}", place)

    def has_inputs_from(self, number: int, size: int) -> bool:
        k, first = self._argument(number)
        return first + size <= self.program.arguments[k][1]

    def inputs_from(self, number: int) -> str:
        k, first = self._argument(number)
        return self.body.put(f"getelementptr {self.lanes.scalar}, ptr %in{k}, i64 {first}").removeprefix("%")

    def _argument(self, number: int) -> tuple[int, int]:
        """The argument that holds an input, and its place there."""
        k = 0
        while number >= self.program.arguments[k][1]:
            number -= self.program.arguments[k][1]
            k += 1
        return k, number

    def store(self, place: int, x: str) -> None:
        """An output."""
        at = self.body.put(f"getelementptr {self.lanes.scalar}, ptr %out, i64 {place}")
        self.body.lines.append(f"store {self.lanes.vector} {x}, ptr {at}, align {self._bytes}")

    def call(self, block: Block, node: Node) -> str:
        """Runs a block, and copies those of its results that are outputs: such as lie side by side there, together."""
        room = super().call(block, node)
        for number, place, size in self._runs_of.get(node, ()):
            at = self.body.put(f"getelementptr {self.lanes.scalar}, ptr %out, i64 {place}")
            aligned, source = f"ptr align {self._bytes}", self._slot(room, number)
            both = f"{aligned} {at}, {aligned} {source}, i64 {size * self._bytes}"
            self.body.lines.append(f"call void @llvm.memcpy.p0.p0.i64({both}, i1 false)")
        return room

    def text(self, name: str) -> str:
        for place, i in enumerate(self.program.outputs):
            self.results.setdefault(i, []).append(place)
        for node, parts in self.blocks_at.results().items():
            self._runs_of[node] = _runs(
                (place, self.program.nodes[i].b) for i in parts for place in self.results.pop(i)
            )
            self.in_place.update(parts)
        self.nodes()
        places = "\n".join(
            f"  %at{k} = getelementptr ptr, ptr %inputs, i64 {k}\n  %in{k} = load ptr, ptr %at{k}"
            for k in range(len(self.program.arguments))
        )
        inside = self.inside(name)
        blocks = "".join(self.blocks.texts())
        return f"""{self.declarations()}
{blocks}define void @{name}(ptr %inputs, ptr noalias %out) {{
entry:{self.allocated()}
{places}
  {inside}
  ret void
}}
"""

    def declarations(self) -> str:
        return declarations(self.OTHERS, self.lanes, self.wide)


def _runs(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Numbers at places, where both count up: the first number, its place, and how many there are."""
    found: list[tuple[int, int, int]] = []
    for place, number in sorted(pairs):
        first, start, size = found[-1] if found else (0, 0, 0)
        if size and (number, place) == (first + size, start + size):
            found[-1] = first, start, size + 1
        else:
            found.append((number, place, 1))
    return found


def kernel_to_one_state(address: int, arguments: int, rest: Sequence[int], name: str = "one_state") -> str:
    """The LLVM text of a call of a kernel (`batch_loop`, `rolled_loops`) for one state, in the form above.

    Args:
        address: where the kernel is.
        arguments: how many arrays it takes.
        rest: the words that it takes after its output.
        name: what the function is called.
    """
    places = "\n".join(
        f"  %at{k} = getelementptr ptr, ptr %inputs, i64 {k}\n  %in{k} = load ptr, ptr %at{k}" for k in range(arguments)
    )
    inputs = "".join(f"ptr %in{k}, i64 0, " for k in range(arguments))
    words = "".join(f", i64 {word}" for word in rest)
    return f"""define void @{name}(ptr %inputs, ptr %out) {{
{places}
  %kernel = inttoptr i64 {address} to ptr
  call void %kernel(i64 0, i64 1, {inputs}ptr %out{words})
  ret void
}}
"""


def to_one_state(program: Program, wide: Lanes, name: str = "one_state") -> str:
    """The LLVM text of a program for one state, with `wide` vectors for its angles."""
    return SingleStatePrinter(program, wide).text(name)
