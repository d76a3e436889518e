"""Long straight code in segments: functions of some hundred operations, one after the other.

LLVM's time grows faster than the length of a basic block, and of a very long one it makes poor code: hundreds of values
wait for their use, and are moved about. In segments they wait in memory. A value that a later segment uses is stored
where it is computed and loaded where it is used; comparisons and addresses are computed again instead, and so is one
operation on values that wait anyway, where it costs no more than to wait. Names stay what they are, for each function
has its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

CROSSING = "crossing"
"""The room of the values that segments leave for others."""

_NAME = re.compile(r"%(\w+)")
_AGAIN = frozenset(("fcmp", "icmp", "getelementptr", "or", "and"))
"""What is computed again rather than stored."""
_ARITHMETIC = frozenset(("fadd", "fsub", "fmul", "fneg"))
"""What may be computed again."""
_STORE = 2
"""As how many loads, or operations, a store counts."""


@dataclass
class CodeLine:
    """A line, the value that it defines, the names that it uses, and the segment that it is in."""

    text: str
    value: str
    uses: list[str]
    segment: int
    is_again: bool = False
    """Whether other segments compute it again"""
    is_arithmetic: bool = False
    """Whether they might"""


@dataclass
class Segment:
    """What becomes a function: its lines, and the places outside that it refers to."""

    lines: list[str] = field(default_factory=list[str])
    places: dict[str, None] = field(default_factory=dict[str, None])


class Segments:
    """Lines cut in segments; what comes after the last mark stays in the function around them."""

    def __init__(self, lines: list[str], marks: list[int], vector: str, name: str, changing: Set[str]) -> None:
        """Segments end at the `marks`. What is loaded from a place that is not `changing` can be loaded again."""
        self._vector, self._name = vector, name
        self._lines = list(_parsed(lines, marks, changing))
        self._count = len(marks)
        self._of = {line.value: line for line in self._lines if line.value}
        self._choose_again()
        self._slots = self._places()
        self._segments = self._filled()

    @property
    def room(self) -> int:
        """How many values wait at a time."""
        return 1 + max(self._slots.values(), default=0)

    def calls(self) -> list[str]:
        """The lines of the function around them that call each."""
        return [
            f"call void @{self._name}_{k}({', '.join(f'ptr %{place}' for place in segment.places)})"
            for k, segment in enumerate(self._segments[:-1])
        ]

    def places(self) -> list[list[str]]:
        """The places outside that each refers to."""
        return [list(segment.places) for segment in self._segments[:-1]]

    def left(self) -> list[str]:
        """The lines that were left."""
        return self._segments[-1].lines

    def texts(self) -> list[str]:
        """The functions."""
        newline = "\n  "
        return [
            f"""
define internal void @{self._name}_{k}({", ".join(f"ptr noalias %{place}" for place in segment.places)}) {{
entry:
  {newline.join(segment.lines)}
  ret void
}}
"""
            for k, segment in enumerate(self._segments[:-1])
        ]

    def _filled(self) -> list[Segment]:
        segments = [Segment() for _ in range(self._count + 1)]
        known: list[set[str]] = [set() for _ in segments]
        for line in self._lines:
            segment = segments[line.segment]
            for name in line.uses:
                self._bring(name, segment, known[line.segment])
            segment.lines.append(line.text)
            known[line.segment].add(line.value)
            if line.value in self._slots:
                at = self._address("to", line.value, segment)
                segment.lines.append(f"store {self._vector} %{line.value}, ptr {at}")
        return segments

    def _bring(self, name: str, segment: Segment, known: set[str]) -> None:
        """Makes a name known in a segment: a place, a value that waits, or one that is computed again."""
        if name in known:
            return
        known.add(name)
        line = self._of.get(name)
        if line is None:
            segment.places[name] = None
        elif line.is_again:
            for other in line.uses:
                self._bring(other, segment, known)
            segment.lines.append(line.text)
        else:
            at = self._address("from", name, segment)
            segment.lines.append(f"%{name} = load {self._vector}, ptr {at}")

    def _address(self, tag: str, name: str, segment: Segment) -> str:
        segment.places[CROSSING] = None
        place = f"%{tag}_{name}"
        segment.lines.append(f"{place} = getelementptr {self._vector}, ptr %{CROSSING}, i64 {self._slots[name]}")
        return place

    def _choose_again(self) -> None:
        """Marks operations that other segments do again: on values that wait as long anyway, if that costs no more."""
        readers: dict[str, set[int]] = {}
        for line in self._lines:
            for name in self._read(line.uses, line.segment):
                readers.setdefault(name, set()).add(line.segment)
        needed = set[str]()
        for line in reversed(self._lines):
            if not line.is_arithmetic or line.value not in readers or line.value in needed:
                continue
            there, operands = readers[line.value], set(self._read(line.uses))
            if any(max(readers.get(name, {-1})) < max(there) for name in operands):
                continue
            if sum(1 + sum(k not in readers[name] for name in operands) for k in there) <= _STORE + len(there):
                line.is_again = True
                needed |= operands
                for name in operands:
                    readers[name] |= there

    def _places(self) -> dict[str, int]:
        """Where each value waits that crosses into another segment; places are used again when all have read them."""
        last: dict[str, int] = {}
        for line in self._lines:
            for name in self._read(line.uses, line.segment):
                last[name] = max(line.segment, last.get(name, 0))
        leaving: dict[int, list[int]] = {}
        slots, free, most = dict[str, int](), list[int](), 0
        now = 0
        for line in self._lines:
            while now < line.segment:
                free += leaving.pop(now, [])
                now += 1
            if line.value in last:
                if free:
                    slot = free.pop()
                else:
                    slot, most = most, most + 1
                slots[line.value] = slot
                leaving.setdefault(last[line.value], []).append(slot)
        return slots

    def _read(self, names: Iterable[str], segment: int = -1) -> Iterable[str]:
        """The values of other segments than this one that these names come down to."""
        for name in names:
            line = self._of.get(name)
            if line is None or line.segment == segment:
                continue
            if line.is_again:
                yield from self._read(line.uses, segment)
            else:
                yield name


def _parsed(lines: list[str], marks: list[int], changing: Set[str]) -> Iterable[CodeLine]:
    segment, based_on = 0, dict[str, str]()
    for k, text in enumerate(lines):
        while segment < len(marks) and k >= marks[segment]:
            segment += 1
        names = _NAME.findall(text)
        if text.startswith("%"):
            value, names = names[0], names[1:]
            operation = text.split(" ", 3)[2]
            if operation == "getelementptr":
                based_on[value] = names[0]
            is_again = operation in _AGAIN or (operation == "load" and based_on[names[0]] not in changing)
            yield CodeLine(text, value, names, segment, is_again, operation in _ARITHMETIC)
        else:
            yield CodeLine(text, "", names, segment)
