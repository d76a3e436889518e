"""The nodes of a program as lines of LLVM text, in order; long programs in segments.

A product that only one sum takes is fused with it, where the processor has such an instruction (`fused_products`). The
program decides that and not LLVM, so that all code of a program has the same digits. No other liberty is given: with
full fast-math the range reduction of sine and cosine would be simplified away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from knuckle.engine.emit.fused_products import fused_products
from knuckle.engine.trace import Block, Called, Laid, Node, Program, Repeated
from knuckle.scalar.operations import OPERATIONS

from .basic_block import BasicBlock, declarations, sine_and_cosine, tail_of_sum
from .block_places import BlockPlaces
from .block_texts import BlockTexts
from .long_code import CROSSING, Segments
from .vector_lanes import Lanes

LYING = 16
"""Inputs that a block takes from where they lie; fewer may be in registers anyway."""
MANY = 8
"""Numbers that are not stored for rounds which no lane runs; to store fewer is as soon done."""
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


class Printer:
    """Prints the nodes of a program in order."""

    segment = 200
    """Nodes of a segment: with fewer, more values wait in memory; with more, more are moved about, and LLVM takes
    longer."""
    longest = 5_000
    """Operations that stay in one piece. Segments save LLVM's time, and large results go out between them."""
    per_result = 10
    """As how many operations a result counts: it is stored anyhow, and segments cost less where there are many."""

    def __init__(self, program: Program, lanes: Lanes, blocks: BlockTexts | None = None) -> None:
        self.program, self.lanes, self.body = program, lanes, BasicBlock(lanes)
        self.blocks = blocks or BlockTexts(lanes)
        self.rooms: dict[str, int] = {}
        """The vectors of each room"""
        self.callers: dict[str, Node] = {}
        self.names: list[str] = []
        self.turned: dict[str, tuple[str, str]] = {}
        self.sums: dict[str, tuple[str, float]] = {}
        self.marks: list[int] = []
        self.results: dict[int, list[int]] = {}
        """Where the results go that are stored as soon as they are known, by node"""
        self.blocks_at = BlockPlaces(program)
        self.fused = fused_products(program)
        """The products that sums are fused with, by sum"""
        self.inside_sums = set(self.fused.values())
        """These products, which are not computed by themselves"""
        self.in_place: set[int] = set()
        """Results that blocks leave where they are to be"""
        self.within_results: dict[str, int] = {}
        """The rooms of blocks that are part of the results, and where they begin there"""

    def node(self, node: Node) -> str:
        """Prints a node; returns its name."""
        if node.op == "constant":
            return self.lanes.constant(node.a)
        if node.op == "input":
            return self.load(node.a)
        if node.op == "part":
            return self.body.put(f"load {self.lanes.vector}, ptr {self._slot(self.names[node.a], node.b)}")
        if node.op == "call":
            return self.call(self.program.blocks[node.a], node)
        args = [self.names[k] for k in node.operands]
        if node.op in BINARY:
            name = self.body.arithmetic(BINARY[node.op], *args)
            self._note_sum(name, node)
            return name
        return self.function(node.op, args)

    def numbered(self, i: int) -> str:
        """Prints node i, unless it is part of a sum; returns its name."""
        if i in self.inside_sums:
            return ""
        if (product := self.fused.get(i)) is None:
            return self.node(self.program.nodes[i])
        op, a, b, _ = self.program.nodes[i]
        other = self.names[b if product == a else a]
        x, y = (self.names[k] for k in self.program.nodes[product].operands)
        if op == "sub" and product == a:
            other = self.neg(other)
        elif op == "sub":
            x = self.neg(x)
        return self.body.intrinsic("fmuladd", x, y, other)

    def function(self, op: str, args: list[str]) -> str:
        """Prints an operation that is no arithmetic."""
        if op in self.OTHERS:
            return self.OTHERS[op](self, *args)
        return self.by_library(OPERATIONS[op].library, *args)

    def _note_sum(self, name: str, node: Node) -> None:
        """A sum with a constant is an angle that counts from elsewhere: its sine wants to know what rounding took."""
        for k, other in ((node.a, node.b), (node.b, node.a)) if node.op == "add" else ():
            if self.program.nodes[k].op == "constant":
                self.sums[name] = self.names[other], self.program.nodes[k].a

    def call(self, block: Block, node: Node) -> str:
        """Runs a block; returns the room in which its results are, until it runs again: they are read at once."""
        if isinstance(block, Laid):
            self.callers[room := self._laid(f"laid{block.n}", node.operands)] = node
            return room
        if isinstance(block, (Called, Repeated)):
            return self._call_body(block, node)
        if block.is_in_place:
            return self._call_in_place(block, node)
        name, first, arrays = self.blocks.name(block), 0, list[str]()
        given = f"{name}_given"
        for number, size in enumerate(block.arrays):
            operands = node.operands[first : first + size]
            lying = self._lying(operands, given)
            arrays.append(lying or f"%{self._laid(f'{name}_taken{number}', operands)}")
            first += size
        return self._run(name, given, block.outputs, node, arrays)

    def _call_in_place(self, block: Block, node: Node) -> str:
        """Runs a block whose operands are stored already."""
        room = self.blocks_at.given[node]
        arrays = [self._slot(*array) for array in self.blocks_at.arrays[node]]
        last = ("%pending",) if self.blocks.between else ()
        return self._run(self.blocks.name(block), room, block.outputs, node, arrays, last)

    def _call_body(self, block: Called | Repeated, node: Node) -> str:
        """Runs a block with a body; what lies in memory already is read there."""
        state, operands = block.outputs if isinstance(block, Repeated) else 0, node.operands
        at = [None if k < state else self.place(i, block) for k, i in enumerate(operands)]
        buffers = list(dict.fromkeys(place[0] for place in at if place is not None))
        places = tuple(None if place is None else (buffers.index(place[0]), place[1]) for place in at)
        name = self.blocks.name(block, places if buffers else ())
        others = tuple(i for i, place in zip(operands[state:], at[state:], strict=True) if place is None)
        if state:
            self._laid(f"{name}_given", operands[:state])
        is_there = self._where_some(operands[0]) if state and len(others) >= MANY else []
        taken = self._laid(f"{name}_taken", others)
        self._run(name, f"{name}_given", block.outputs, node, [f"%{taken}"], [f"%{room}" for room in buffers])
        self.body.lines += is_there
        return f"{name}_given"

    def _where_some(self, flag: int) -> list[str]:
        """Goes past what follows where no lane has this flag; returns the lines that end it. Segments are straight."""
        if self.is_long:
            return []
        x = self.names[flag] or self.load(self.program.nodes[flag].a)
        goes_on = self.body.put(f"fcmp ogt {self.lanes.vector} {x}, zeroinitializer")
        bits = self.body.put(f"bitcast {self.lanes.of('i1')} {goes_on} to i{self.lanes.width}")
        some = self.body.put(f"icmp ne i{self.lanes.width} {bits}, 0")
        there, past = f"there_{some[1:]}", f"past_{some[1:]}"
        self.body.lines += [f"br i1 {some}, label %{there}, label %{past}", f"{there}:"]
        return [f"br label %{past}", f"{past}:"]

    def _run(self, name: str, given: str, outputs: int, node: Node, first: list[str], last: Sequence[str] = ()) -> str:
        """Calls a function that fills a room; returns the room."""
        if given not in self.rooms and given not in self.within_results:
            self._room(given, outputs)
        self.callers[given] = node
        pointers = ", ".join(f"ptr {pointer}" for pointer in (*first, f"%{given}", *last))
        self.body.lines.append(f"call void @{name}({pointers})")
        return given

    def place(self, number: int, user: Block | None = None) -> tuple[str, int] | None:
        """The buffer in which a node lies in memory, and its place there; None where it does not.

        It is the room of another block than its user, which has not run again since.
        """
        node = self.program.nodes[number]
        if node.op != "part":
            return None
        room, call = self.names[node.a], self.program.nodes[node.a]
        is_there = self.callers[room] is call and self.program.blocks[call.a] != user
        return (room, node.b) if is_there else None

    def _lying(self, operands: tuple[int, ...], given: str) -> str | None:
        """Where just these numbers lie beside each other, but not where results are to be written."""
        if operands and len(self._runs(operands)) == 1 and self._are_lying(operands):
            return f"%{self.inputs_from(self.program.nodes[operands[0]].a)}"
        places = [self.place(k) for k in operands]
        first = places[0] if places else None
        if first is None or first[0] == given:
            return None
        beside = all(place == (first[0], first[1] + k) for k, place in enumerate(places))
        return self._slot(*first) if beside else None

    def _laid(self, room: str, operands: tuple[int, ...]) -> str:
        """A room with these numbers."""
        self._room(room, len(operands))
        for first, size in self._runs(operands):
            if self._are_lying(operands[first : first + size]):
                source, place = self.inputs_from(self.program.nodes[operands[first]].a), self._slot(room, first)
                bytes_ = size * self.lanes.width * self.lanes.bytes
                self.body.lines.append(
                    f"call void @llvm.memcpy.p0.p0.i64(ptr {place}, ptr %{source}, i64 {bytes_}, i1 false)"
                )
                continue
            for k in range(first, first + size):
                x = self.names[operands[k]] or self.load(self.program.nodes[operands[k]].a)
                self.body.lines.append(f"store {self.lanes.vector} {x}, ptr {self._slot(room, k)}")
        return room

    def _room(self, name: str, size: int) -> None:
        self.rooms[name] = max(1, size)

    def neg(self, x: str) -> str:
        return self.body.put(f"fneg {self.lanes.vector} {x}")

    def sqrt(self, x: str) -> str:
        return self.body.intrinsic("sqrt", x)

    def absolute(self, x: str) -> str:
        return self.body.intrinsic("fabs", x)

    def floor(self, x: str) -> str:
        return self.body.intrinsic("floor", x)

    def minimum(self, x: str, y: str) -> str:
        return self._first_if(self.less(x, y), x, y)

    def maximum(self, x: str, y: str) -> str:
        return self._first_if(self.less(y, x), x, y)

    def _first_if(self, condition: str, x: str, y: str) -> str:
        """x if the condition holds or x is NaN, else y."""
        unknown = self.body.put(f"fcmp uno {self.lanes.vector} {x}, {x}")
        return self.body.choose(self.body.put(f"or {self.lanes.of('i1')} {condition}, {unknown}"), x, y)

    def less(self, x: str, y: str) -> str:
        return self.body.put(f"fcmp olt {self.lanes.vector} {x}, {y}")

    def at_most(self, x: str, y: str) -> str:
        return self.body.put(f"fcmp ole {self.lanes.vector} {x}, {y}")

    def equal(self, x: str, y: str) -> str:
        return self.body.put(f"fcmp oeq {self.lanes.vector} {x}, {y}")

    def select(self, condition: str, x: str, y: str) -> str:
        return self.body.choose(condition, x, y)

    def _pair(self, x: str) -> tuple[str, str]:
        if x not in self.turned:
            tail = None
            if x in self.sums:
                y, c = self.sums[x]
                tail = tail_of_sum(self.body, x, y, self.lanes.constant(c))
            self.turned[x] = sine_and_cosine(self.body, x, tail)
        return self.turned[x]

    def sin(self, x: str) -> str:
        return self._pair(x)[0]

    def cos(self, x: str) -> str:
        return self._pair(x)[1]

    def by_library(self, name: str, *args: str) -> str:
        """Lane by lane through the C library."""
        V, T, result = self.lanes.vector, self.lanes.scalar, "undef"
        for k in range(self.lanes.width):
            one = [self.body.put(f"extractelement {V} {x}, i32 {k}") for x in args]
            value = self.body.put(f"call {T} @{name}{self.lanes.library_suffix}({', '.join(f'{T} {x}' for x in one)})")
            result = self.body.put(f"insertelement {V} {result}, {T} {value}, i32 {k}")
        return result

    OTHERS: ClassVar[dict[str, Callable[..., str]]] = {
        "neg": neg, "sqrt": sqrt, "abs": absolute, "floor": floor, "min": minimum, "max": maximum,
        "less": less, "at_most": at_most, "equal": equal, "select": select, "sin": sin, "cos": cos,
    }  # fmt: skip

    def load(self, number: int) -> str:
        """An input: one vector over the states of the lanes."""
        return self.body.put(f"load {self.lanes.vector}, ptr {self._slot('gathered', number)}")

    def inputs_from(self, number: int) -> str:
        """Where inputs lie, from this one on."""
        return self._slot("gathered", number).removeprefix("%")

    def store(self, place: int, x: str) -> None:
        """An output, likewise."""
        self.body.lines.append(f"store {self.lanes.vector} {x}, ptr {self._slot('results', place)}")

    def _slot(self, buffer: str, number: int) -> str:
        return self.body.put(f"getelementptr {self.lanes.vector}, ptr %{buffer}, i64 {number}")

    def nodes(self) -> None:
        """Prints all nodes, in order."""
        left_lying = self._left_lying() | self.begin_blocks()
        for i in range(len(self.program.nodes)):
            self.names.append("" if i in left_lying else self.numbered(i))
            self.give(i)
            self.mark(i)

    def begin_blocks(self) -> set[int]:
        """Makes the rooms in which operands of blocks are stored; gives the results of blocks that are not loaded."""
        for room, size in self.blocks_at.rooms.items():
            if room not in self.within_results:
                self._room(room, size)
        return self.blocks_at.unread(self.in_place)

    def give(self, i: int) -> None:
        """Stores a node that is a result, or that a block takes: it need not wait."""
        for place in self.results.get(i, ()):
            self.store(place, self.names[i])
        for room, place in self.blocks_at.stores.get(i, ()):
            self.body.lines.append(f"store {self.lanes.vector} {self.names[i]}, ptr {self._slot(room, place)}")

    def _left_lying(self) -> set[int]:
        """Inputs that only blocks take, where they lie beside each other: none of them is loaded by itself."""
        lying, loaded = set[int](), set(self.program.outputs)
        for node in self.program.nodes:
            if node.op != "call" or self.program.blocks[node.a].is_in_place:
                loaded.update(node.operands)
                continue
            place = 0
            for array in self.program.blocks[node.a].arrays:
                operands = node.operands[place : place + array]
                for first, size in self._runs(operands):
                    run = operands[first : first + size]
                    (lying if self._are_lying(run) else loaded).update(run)
                place += array
        return lying - loaded

    def _runs(self, operands: tuple[int, ...]) -> list[tuple[int, int]]:
        """Where runs of inputs beside each other begin, and how many there are; other numbers by themselves."""
        nodes, runs = [self.program.nodes[i] for i in operands], list[tuple[int, int]]()
        for k, node in enumerate(nodes):
            if k and node.op == "input" == nodes[k - 1].op and node.a == nodes[k - 1].a + 1:
                runs[-1] = runs[-1][0], runs[-1][1] + 1
            else:
                runs.append((k, 1))
        return runs

    def _are_lying(self, run: tuple[int, ...]) -> bool:
        """Whether a run is one of many inputs, which need not be loaded one by one."""
        node = self.program.nodes[run[0]]
        return len(run) >= LYING and node.op == "input" and self.has_inputs_from(node.a, len(run))

    def has_inputs_from(self, number: int, size: int) -> bool:
        """Whether so many inputs lie beside each other, from this one on."""
        return True

    def mark(self, i: int) -> None:
        """Where a segment may end: after every so many nodes, and the last."""
        if (i + 1) % self.segment == 0 or i + 1 == len(self.program.nodes):
            self.marks.append(len(self.body.lines))

    @property
    def is_long(self) -> bool:
        """Whether the code is worth being cut."""
        return len(self.program.nodes) + self.per_result * len(self.program.outputs) > self.longest

    def segments(self, name: str) -> Segments:
        """The lines so far in functions of their own."""
        changing = {*self.rooms, *self.within_results}
        segments = Segments(self.body.lines, self.marks, self.lanes.vector, f"{name}_segment", changing)
        self._room(CROSSING, segments.room)
        self.blocks.add(segments.texts())
        return segments

    def inside(self, name: str) -> str:
        """All lines so far, to the label `computed`; calls of segments, where they are many."""
        lines = self.body.lines
        if self.is_long:
            segments = self.segments(name)
            lines = [*self.in_turn(segments.calls()), *segments.left()]
        return "\n  ".join([*lines, "br label %computed\ncomputed:"])

    def in_turn(self, calls: list[str]) -> Iterable[str]:
        """The calls of segments, with what comes between them."""
        return calls

    def starts(self) -> list[str]:
        """Lines that say where rooms begin that are part of the results."""
        V = self.lanes.vector
        return [f"%{room} = getelementptr {V}, ptr %results, i64 {at}" for room, at in self.within_results.items()]

    def allocated(self) -> str:
        """At the entry: room for what blocks take and give."""
        rooms = self.rooms.items()
        return "".join(f"\n  %{room} = alloca [{size} x {self.lanes.vector}], align 64" for room, size in rooms)

    def declarations(self) -> str:
        """What the code calls."""
        return declarations(self.OTHERS, self.lanes)
