"""Where the numbers of large blocks lie: operands are stored as they are computed, results stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Set

from knuckle.engine.trace import Node, Program

Array = tuple[int, ...]
"""Operands that lie beside each other."""


class BlockPlaces:
    """The rooms of the calls of such blocks in a program. Each call has its own, so that none is written too early."""

    def __init__(self, program: Program) -> None:
        self._program = program
        calls = [
            (i, node) for i, node in enumerate(program.nodes)
            if node.op == "call" and program.blocks[node.a].is_in_place
        ]  # fmt: skip
        self.given: dict[Node, str] = {node: f"given{i}" for i, node in calls}
        """The rooms of results"""
        self.rooms: dict[str, int] = {room: program.blocks[node.a].outputs for node, room in self.given.items()}
        """The sizes of all rooms"""
        self.stores: dict[int, list[tuple[str, int]]] = {}
        """Where nodes are to be stored: rooms, and places there"""
        self._laid: dict[Array, str] = {}
        self._parts = {
            i: node for i, node in enumerate(program.nodes) if node.op == "part" and program.nodes[node.a] in self.given
        } if calls else {}  # fmt: skip
        self.arrays: dict[Node, list[tuple[str, int]]] = {
            node: [self._array(f"taken{i}_{k}", operands) for k, operands in enumerate(_arrays(program, node))]
            for i, node in calls
        }
        """Where the arrays begin that a call takes"""

    def _array(self, room: str, operands: Array) -> tuple[str, int]:
        """Where these operands are, if that is beside each other; else a room in which they are to be stored."""
        first = self._parts.get(operands[0]) if operands else None
        if first is not None:
            beside = (self._parts.get(k) == first._replace(b=first.b + n) for n, k in enumerate(operands))
            if all(beside):
                return self.given[self._program.nodes[first.a]], first.b
        if operands in self._laid:
            return self._laid[operands], 0
        self._laid[operands] = room
        self.rooms[room] = len(operands)
        for place, k in enumerate(operands):
            self.stores.setdefault(k, []).append((room, place))
        return room, 0

    def unread(self, results: Set[int]) -> set[int]:
        """What blocks give that nothing reads but blocks, where it lies; `results` lie where they are to be."""
        if not self._parts:
            return set()
        read = set(self._program.outputs) - results | self.stores.keys()
        for node in self._program.nodes:
            if node not in self.arrays:
                read.update(node.operands)
        return self._parts.keys() - read

    def results(self) -> dict[Node, list[int]]:
        """What each call gives that is a result of the program."""
        found: dict[Node, list[int]] = {}
        for i in dict.fromkeys(self._program.outputs):
            if i in self._parts:
                found.setdefault(self._program.nodes[self._parts[i].a], []).append(i)
        return found


def _arrays(program: Program, node: Node) -> Iterator[Array]:
    """The operands of a call, array by array."""
    first = 0
    for size in program.blocks[node.a].arrays:
        yield node.operands[first : first + size]
        first += size
