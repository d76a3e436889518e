"""The executer (RBDA 10.4): runs an algorithm on symbols and keeps the operations that its result needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from knuckle.spatial import Matrix, Vector

from .expression import Expression, index_of
from .graph import Graph
from .program import Program, Shape, compact
from .simplify import simplify


def trace(
    text: Callable[..., Any],
    arguments: Mapping[str, Shape],
    unpack: Callable[[Any], tuple[list[Any], Shape]],
    gain: float = 0.01,
) -> Program:
    """Runs `text` on symbols, keeps what its result needs, and simplifies that.

    Args:
        text: a function of keyword arguments over scalars: vectors, or matrices for arguments of two axes.
        arguments: the shape of each argument.
        unpack: takes the result apart into scalars and their shape.
        gain: the simplifier goes on for as long as a pass saves more than this share of the operations; 0 for the
            fixed point.
    """
    return simplify(record(text, arguments, unpack), gain)


def record(
    text: Callable[..., Any], arguments: Mapping[str, Shape], unpack: Callable[[Any], tuple[list[Any], Shape]]
) -> Program:
    """The operations of `text` as they come, by the rules of the graph alone; see `trace`."""
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
