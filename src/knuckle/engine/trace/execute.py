"""The executer (RBDA 10.4): runs an algorithm on symbols and keeps the operations that its result needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from knuckle.scalar.refusals import NO_NUMBER
from knuckle.spatial import Matrix, Vector

from .expression import Condition, Expression, index_of
from .expression_graph import Graph
from .inline import inlined
from .node_order import in_good_order
from .program import Program, Shape, compact
from .simplify import simplify


def trace(
    text: Callable[..., Any],
    arguments: Mapping[str, Shape],
    unpack: Callable[[Any], tuple[list[Any], Shape]],
    gain: float = 0.01,
    *,
    has_rules: bool = False,
) -> Program:
    """Runs `text` on symbols, keeps what its result needs, simplifies that, and puts it in order.

    Args:
        text: a function of keyword arguments over scalars: vectors, or matrices for arguments of two axes.
        arguments: the shape of each argument.
        unpack: takes the result apart into scalars and their shape.
        gain: the simplifier goes on for as long as a pass saves more than this share of the operations; 0 for the
            fixed point. A pass over a long program has to save more.
        has_rules: whether pieces that have a rule for their derivatives are kept as blocks.
    """
    return in_good_order(simplify(inlined(record(text, arguments, unpack, has_rules=has_rules)), gain))


def record(
    text: Callable[..., Any],
    arguments: Mapping[str, Shape],
    unpack: Callable[[Any], tuple[list[Any], Shape]],
    *,
    has_rules: bool = False,
) -> Program:
    """The operations of `text` as they come, by the rules of the graph alone; see `trace`."""
    graph = Graph()
    graph.has_rules = has_rules
    symbols = symbols_for(graph, arguments)
    scalars, shape = unpack(text(**symbols))
    return compact(graph, sizes_of(arguments), [node_of(graph, x) for x in scalars], shape)


def symbols_for(graph: Graph, arguments: Mapping[str, Shape]) -> dict[str, Any]:
    """The arguments as vectors and matrices of inputs, numbered through all of them."""
    symbols: dict[str, Any] = {}
    start = 0
    for name, shape in arguments.items():
        flat = [Expression(graph, graph.input(start + k)) for k in range(prod(shape))]
        start += len(flat)
        rows = [flat[k : k + shape[-1]] for k in range(0, len(flat), max(1, shape[-1]))]
        symbols[name] = Vector(flat) if len(shape) == 1 else Matrix(rows, shape[-1])
    return symbols


def sizes_of(arguments: Mapping[str, Shape]) -> tuple[tuple[str, int], ...]:
    """How many inputs each argument has."""
    return tuple((name, prod(shape)) for name, shape in arguments.items())


def node_of(graph: Graph, x: Any) -> int:
    """The node of an output."""
    i = index_of(graph, x)
    if i is None:
        instead = f": {NO_NUMBER}" if isinstance(x, Condition) else ""
        raise TypeError(f"a traced function returned a {type(x).__name__}, which is no number and no symbol{instead}")
    return i
