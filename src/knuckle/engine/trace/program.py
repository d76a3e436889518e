"""A recorded function: what it takes, the operations that remain, what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .expression_graph import LEAVES, Graph, Node
from .operations import OPERATIONS

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Straight-line code: nodes in order, each using earlier ones. Inputs are numbered through all arguments."""

    arguments: tuple[tuple[str, int], ...]
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    shape: Shape

    def count(self) -> Count:
        """The operations that remain after simplification."""
        tally: dict[str, int] = dict.fromkeys(("mul", "add", "div", "sqrt", "trig"), 0)
        for node in self.nodes:
            operation = OPERATIONS.get(node.op)
            if operation and operation.counts_as:
                tally[operation.counts_as] += 1
        return Count(**tally)

    def evaluate(self, values: Sequence[float]) -> list[float]:
        """The outputs for these inputs, node by node: slow and plain, an oracle for the printers."""
        done: list[Any] = []
        for node in self.nodes:
            if node.op == "input":
                done.append(values[node.a])
            elif node.op == "constant":
                done.append(node.a)
            else:
                operands = [done[k] for k in node[1:] if k is not None]
                done.append(OPERATIONS[node.op].value(*operands))
        return [done[i] for i in self.outputs]


@dataclass(frozen=True)
class Count:
    """Numbers of operations; sine and cosine count one each."""

    mul: int
    add: int
    div: int
    sqrt: int
    trig: int

    @property
    def total(self) -> int:
        return self.mul + self.add + self.div + self.sqrt + self.trig


def compact(graph: Graph, arguments: tuple[tuple[str, int], ...], outputs: list[int], shape: Shape) -> Program:
    """The live part of a graph as a program."""
    live = graph.live(outputs)
    number = [-1] * len(graph.nodes)
    nodes: list[Node] = []
    for new, old in enumerate(live):
        node = graph.nodes[old]
        number[old] = new
        if node.op not in LEAVES:
            op, a, b, c = node
            node = Node(op, number[a], None if b is None else number[b], None if c is None else number[c])
        nodes.append(node)
    return Program(arguments, tuple(nodes), tuple(number[i] for i in outputs), shape)
