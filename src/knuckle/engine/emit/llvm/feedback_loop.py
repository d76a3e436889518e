"""A program fed back into itself as LLVM text: a loop through time, W trajectories at a time, one per lane of a vector.

    void loop(i64 start, i64 end, i64 first, i64 stop, i64 row, i64 due, i64 keep, i64 total, ptr state,
             ptr in0, i64 stride0, i64 pace0, …, ptr kept0, i64 reach0, i64 gap0, …)

The first inputs of the program are a state, and its outputs are that state one step later. Trajectory b begins with row
b of `state`, goes through the steps from `first` to before `stop`, and leaves its state in that row. Between them the
state stays in vectors: an output goes straight to the place of the input that it will be. Argument k of trajectory b at
step s begins at in_k[b · stride_k + s · pace_k]; it is read at every step if it is `moving`, else once. The clock is an
argument that is computed: at in_k there are two numbers of double precision, t₀ and dt, and it is t₀ + s · dt.

After step `due`, and every `keep` steps from there, and after step `total`, the leading parts of the state are written
to rows `row`, `row` + 1, … of `kept`: row r of part p of trajectory b begins at kept_p[b · reach_p + r · gap_p]. Paces
and gaps may be negative: what goes back in time reads and writes its rows from the last one on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knuckle.engine.trace import Program

from .basic_block import declarations
from .node_printer import Printer
from .single_state import OneStateBlocks, SideBySide
from .vector_lanes import PAGE, Lanes
from .vector_moves import PREFETCH, moves

AHEAD = 2
"""By how many steps memory is fetched before it is read or written, where steps are long and trajectories side by side:
their rows are more than a processor foresees."""
LONG_STEP = 1000
"""Nodes of a program from which on that is worth it."""


@dataclass(frozen=True)
class Feedback:
    """How a program goes round: what its state is made of, and what else it takes."""

    state: int
    """How many inputs are the state: the first, as many as there are outputs."""
    kept: tuple[int, ...]
    """The sizes of the leading parts of the state that are written down."""
    moving: frozenset[str]
    """The arguments that have a value of their own at every step."""
    clock: str = ""
    """The argument that is the time."""


def to_loop(program: Program, lanes: Lanes, feedback: Feedback, name: str = "loop", wide: Lanes | None = None) -> str:
    """The LLVM text of a program that is run over and over; one trajectory at a time with `wide` vectors for angles."""
    if len(program.outputs) != feedback.state:
        raise ValueError(f"a state of {feedback.state} numbers is followed by one of {len(program.outputs)}")
    if sum(feedback.kept) > feedback.state:
        raise ValueError(f"a state of {feedback.state} numbers has no parts of {feedback.kept}")
    printer = LoopPrinter(program, lanes) if wide is None else SingleLoopPrinter(program, wide)
    return printer.loop(feedback, name)


@dataclass(frozen=True)
class Argument:
    """An argument beside the state: its number among those, its inputs, and whether the program looks at any."""

    name: str
    number: int
    first: int
    size: int
    is_used: bool


class LoopPrinter(Printer):
    """Prints a program with a loop through time around it."""

    longest = 25_000  # which goes past what it need not do, as segments do not

    def loop(self, feedback: Feedback, name: str) -> str:
        self.nodes()
        read = dict(self._read_before())
        for place, i in enumerate(self.program.outputs):
            x = read.get(i, self.names[i])
            self.body.lines.append(f"store {self.lanes.vector} {x}, ptr {self._slot('gathered', place)}")
        return self._through_time(self.inside(name), feedback, name)

    def _read_before(self) -> Iterator[tuple[int, str]]:
        """Outputs that are inputs as they were, read before any place is written: segments load inputs where used."""
        for i in dict.fromkeys(self.program.outputs):
            if self.program.nodes[i].op == "input":
                yield i, self.body.put(f"bitcast {self.lanes.vector} {self.names[i]} to {self.lanes.vector}")

    def _through_time(self, inside: str, feedback: Feedback, name: str) -> str:
        """The two loops, over trajectories and steps, with what is moved in and out."""
        n, inputs = feedback.state, max(1, sum(size for _, size in self.program.arguments))
        others = self._others(n)
        once, ready = self._state("state", "begin", gather=True, size=n)
        used = [x for x in others if x.is_used]
        fixed = [x for x in used if x.name not in feedback.moving and x.name != feedback.clock]
        once, ready = self._once(fixed, once, ready)
        each = self._each([x for x in used if x.name in feedback.moving])
        each += [text for x in used if x.name == feedback.clock for text in self._time(x)]
        kept, noted = self._kept(feedback.kept)
        final, done = self._state("final", "over", gather=False, size=n)
        given = "".join(f", ptr noalias %in{x.number}, i64 %stride{x.number}, i64 %pace{x.number}" for x in others)
        given += "".join(f", ptr noalias %kept{p}, i64 %reach{p}, i64 %gap{p}" for p in range(len(feedback.kept)))
        lines = "\n".join
        return f"""{lines([self.declarations(), PREFETCH, *self.blocks.texts()])}
define void @{name}(i64 %start, i64 %end, i64 %first, i64 %stop, i64 %row, i64 %due, i64 %keep, i64 %total,
    ptr noalias %state{given}) {{
entry:
  %gathered = alloca [{inputs} x {self.lanes.vector}], align {PAGE}{self.allocated()}
  %last = sub i64 %end, 1
  br label %begin
begin:
  %b = phi i64 [%start, %entry], [%next, %{done}]
{lines(once)}
  br label %step
step:
  %s = phi i64 [%first, %{ready}], [%s1, %turn]
  %r = phi i64 [%row, %{ready}], [%r1, %turn]
  %d = phi i64 [%due, %{ready}], [%d1, %turn]
{lines(each)}
  br label %main
main:
  {inside}
  %s1 = add i64 %s, 1
  %is_due = icmp eq i64 %s1, %d
  br i1 %is_due, label %note, label %turn
note:
{lines(kept)}
  %r_next = add i64 %r, 1
  %d_far = add i64 %d, %keep
  %d_inside = icmp slt i64 %d_far, %total
  %d_next = select i1 %d_inside, i64 %d_far, i64 %total
  br label %turn
turn:
  %r1 = phi i64 [%r, %computed], [%r_next, %{noted}]
  %d1 = phi i64 [%d, %computed], [%d_next, %{noted}]
  %more_steps = icmp slt i64 %s1, %stop
  br i1 %more_steps, label %step, label %over
over:
{lines(final)}
  %next = add i64 %b, {self.lanes.width}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %begin, label %done
done:
  ret void
}}
"""

    def _others(self, state: int) -> list[Argument]:
        """The arguments beside the state."""
        used = {node.a for node in self.program.nodes if node.op == "input"}
        found, first = list[Argument](), 0
        for name, size in self.program.arguments:
            if first >= state:
                is_used = not used.isdisjoint(range(first, first + size))
                found.append(Argument(name, len(found), first, size, is_used))
            first += size
        return found

    def _state(self, tag: str, before: str, *, gather: bool, size: int) -> tuple[list[str], str]:
        """The lines that move the state in or out, and the block they end in."""
        if not size:
            return [], before
        return self._moved(tag, size, "%state", str(size), 0, gather=gather), f"{tag}_done"

    def _once(self, arguments: list[Argument], lines: list[str], label: str) -> tuple[list[str], str]:
        """More lines, that read arguments before the first step, and the block they end in."""
        for x in arguments:
            tag = f"in{x.number}"
            lines += self._moved(tag, x.size, f"%{tag}", f"%stride{x.number}", x.first, gather=True)
            label = f"{tag}_done"
        return lines, label

    def _each(self, arguments: list[Argument]) -> list[str]:
        """The lines that read arguments at every step."""
        lines = list[str]()
        for x in arguments:
            tag, k = f"now{x.number}", x.number
            lines += [
                f"  %ahead{k} = mul i64 %s, %pace{k}",
                f"  %here{k} = getelementptr {self.lanes.scalar}, ptr %in{k}, i64 %ahead{k}",
                *self._ahead(f"%coming{k}", f"%pace{k}"),
                *self._moved(tag, x.size, f"%here{k}", f"%stride{k}", x.first, gather=True, ahead=f"%coming{k}"),
            ]
        return lines

    def _time(self, x: Argument) -> list[str]:
        """The lines that compute the time, the same in every lane. Nothing is contracted: both are rounded."""
        T, V, W = self.lanes.scalar, self.lanes.vector, self.lanes.width
        narrow = ["  %time_single = fptrunc double %time to float"] if T == "float" else []
        now = "%time_single" if narrow else "%time"
        return [
            "  %steps_done = sitofp i64 %s to double",
            f"  %time_first = load double, ptr %in{x.number}",
            f"  %time_at = getelementptr double, ptr %in{x.number}, i64 1",
            "  %time_step = load double, ptr %time_at",
            "  %time_gone = fmul double %steps_done, %time_step",
            "  %time = fadd double %time_first, %time_gone",
            *narrow,
            f"  %time_one = insertelement {V} undef, {T} {now}, i32 0",
            f"  %time_all = shufflevector {V} %time_one, {V} undef, <{W} x i32> zeroinitializer",
            f"  %time_slot = getelementptr {V}, ptr %gathered, i64 {x.first}",
            f"  store {V} %time_all, ptr %time_slot",
        ]

    def _kept(self, sizes: tuple[int, ...]) -> tuple[list[str], str]:
        """The lines that write down the leading parts of the state, and the block they end in."""
        lines, label, first = list[str](), "note", 0
        for p, size in enumerate(sizes):
            if size:
                lines += [
                    f"  %kept_ahead{p} = mul i64 %r, %gap{p}",
                    f"  %kept_here{p} = getelementptr {self.lanes.scalar}, ptr %kept{p}, i64 %kept_ahead{p}",
                    *self._ahead(f"%kept_coming{p}", f"%gap{p}"),
                    *self._moved(
                        f"kept{p}",
                        size,
                        f"%kept_here{p}",
                        f"%reach{p}",
                        first,
                        gather=False,
                        ahead=f"%kept_coming{p}",
                    ),
                ]
                label = f"kept{p}_done"
            first += size
        return lines, label

    @property
    def _looks_ahead(self) -> bool:
        """Whether memory is fetched before it is used."""
        return self.lanes.width > 1 and len(self.program.nodes) >= LONG_STEP

    def _ahead(self, name: str, pace: str) -> list[str]:
        """The line that says how far ahead, of steps that are so far apart."""
        return [f"  {name} = mul i64 {pace}, {AHEAD}"] if self._looks_ahead else []

    def _moved(
        self, tag: str, size: int, array: str, stride: str, first: int, *, gather: bool, ahead: str | None = None
    ) -> list[str]:
        ahead = ahead if self._looks_ahead else None
        return moves(self.lanes, tag, size, array, stride, "gathered", first, gather=gather, table=None, ahead=ahead)


class SingleLoopPrinter(SideBySide, LoopPrinter):
    """Prints a program with a loop through time around it, for one trajectory at a time."""

    def __init__(self, program: Program, wide: Lanes) -> None:
        super().__init__(program, Lanes(wide.dtype, 1), OneStateBlocks(wide))
        self.beside(wide)

    def declarations(self) -> str:
        return declarations(self.OTHERS, self.lanes, self.wide)
