"""Loops and conditions in LLVM text, over vectors in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .vector_lanes import Lanes
from .vector_moves import Lines


class LoopValues:
    """Values that a loop takes from round to round: `values` are those of this round, and after it the last."""

    def __init__(self, values: list[str]) -> None:
        self.values = values
        self.later = list(values)


class LoopLines(Lines):
    """Lines with loops in them, from the block "entry" on."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__("  ", "%x")
        self.lanes, self.V, self.W, self.one = lanes, lanes.vector, lanes.width, lanes.constant(1.0)
        self._labels, self._here = 0, "entry"

    def at(self, buffer: str, place: str | int) -> str:
        """Where a vector of a buffer is."""
        return self.put(f"getelementptr {self.V}, ptr {buffer}, i64 {place}")

    def load(self, address: str) -> str:
        return self.put(f"load {self.V}, ptr {address}")

    def store(self, x: str, address: str) -> None:
        self.add(f"store {self.V} {x}, ptr {address}")

    def times(self, a: str, b: str) -> str:
        return self.put(f"fmul contract {self.V} {a}, {b}")

    def less_product(self, x: str, a: str, b: str) -> str:
        """x − a b."""
        return self.put(f"fsub contract {self.V} {x}, {self.times(a, b)}")

    def plus_product(self, x: str, a: str, b: str) -> str:
        """x + a b."""
        return self.put(f"fadd contract {self.V} {x}, {self.times(a, b)}")

    def reciprocal(self, x: str) -> str:
        return self.put(f"fdiv {self.V} {self.one}, {x}")

    def differ_from_zero(self, *numbers: str) -> str:
        """Lanes, as bits, in which one of these is not zero."""
        bits = [
            self.put(
                f"bitcast {self.lanes.of('i1')} {self.put(f'fcmp une {self.V} {x}, zeroinitializer')} to i{self.W}"
            )
            for x in numbers
        ]
        return self.either(*bits)

    def either(self, *bits: str) -> str:
        found = bits[0]
        for more in bits[1:]:
            found = self.put(f"or i{self.W} {found}, {more}")
        return found

    def _label(self, kind: str) -> str:
        self._labels += 1
        return f"{kind}{self._labels}"

    @contextmanager
    def loop(self, stop: str | int, *carried: tuple[str, str]) -> Iterator[tuple[str, LoopValues]]:
        """Lines for each number from 0 to before `stop`, with what is (type, first value) carried along."""
        label, before = self._label("loop"), self._here
        counter, names = f"%{label}_k", [f"%{label}_c{k}" for k in range(len(carried))]
        along = LoopValues(names)
        self.add(f"br label %{label}")
        self.block(label)
        self.add(f"{counter} = phi i64 [0, %{before}], [{counter}_next, %{label}_next]")
        head = len(self.lines)
        self.add(f"{counter}_goes = icmp slt i64 {counter}, {stop}")
        self.add(f"br i1 {counter}_goes, label %{label}_body, label %{label}_done")
        self._enter(f"{label}_body")
        yield counter, along
        phis = [
            f"  {name} = phi {kind} [{first}, %{before}], [{later}, %{label}_next]"
            for name, (kind, first), later in zip(names, carried, along.later, strict=True)
        ]
        self.lines[head:head] = phis
        self.add(f"br label %{label}_next")
        self.block(f"{label}_next")
        self.add(f"{counter}_next = add i64 {counter}, 1")
        self.add(f"br label %{label}")
        self._enter(f"{label}_done")

    @contextmanager
    def when_any(self, bits: str) -> Iterator[None]:
        """Lines that are run if one of some bits is set."""
        label = self._label("if")
        some = self.put(f"icmp ne i{self.W} {bits}, 0")
        self.add(f"br i1 {some}, label %{label}_so, label %{label}_done")
        self._enter(f"{label}_so")
        yield
        self.add(f"br label %{label}_done")
        self._enter(f"{label}_done")

    def _enter(self, label: str) -> None:
        self.block(label)
        self._here = label
