"""A recorded function: what it takes, the operations that remain, what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from knuckle.spatial import Matrix, Vector

from .expression import Expression, index_of
from .graph import Graph, Node
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
        tally = dict.fromkeys(("mul", "add", "div", "sqrt", "trig"), 0)
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


def trace(
    text: Callable[..., Any], arguments: Mapping[str, Shape], unpack: Callable[[Any], tuple[list[Any], Shape]]
) -> Program:
    """Runs `text` on symbols and keeps what its result needs.

    Args:
        text: a function of keyword arguments over scalars: vectors, or matrices for arguments of two axes.
        arguments: the shape of each argument.
        unpack: takes the result apart into scalars and their shape.
    """
    graph, start = Graph(), 0
    symbols: dict[str, Any] = {}
    for name, shape in arguments.items():
        flat = [Expression(graph, graph.input(start + k)) for k in range(prod(shape))]
        start += len(flat)
        rows = [flat[k : k + shape[-1]] for k in range(0, len(flat), max(1, shape[-1]))]
        symbols[name] = Vector(flat) if len(shape) == 1 else Matrix(rows, shape[-1])
    scalars, shape = unpack(text(**symbols))
    outputs = [_index(graph, x) for x in scalars]
    return compact(graph, tuple((name, prod(s)) for name, s in arguments.items()), outputs, shape)


def _index(graph: Graph, x: Any) -> int:
    i = index_of(graph, x)
    if i is None:
        raise TypeError(f"a traced function returned a {type(x).__name__}, which is no number and no symbol")
    return i


def compact(graph: Graph, arguments: tuple[tuple[str, int], ...], outputs: list[int], shape: Shape) -> Program:
    """The live part of a graph as a program."""
    live = graph.live(outputs)
    number = {old: new for new, old in enumerate(live)}

    def renumbered(i: int) -> Node:
        node = graph.nodes[i]
        if node.op in ("input", "constant"):
            return node
        return Node(node.op, *(None if k is None else number[k] for k in node[1:]))

    return Program(arguments, tuple(map(renumbered, live)), tuple(number[i] for i in outputs), shape)
