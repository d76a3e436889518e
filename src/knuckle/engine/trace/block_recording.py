"""Blocks while they are recorded: a piece of text runs on symbols of its own, in a graph within the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knuckle.scalar.grid import Grid

from .blocks import Block, Called, Repeated, Ruled
from .dense_blocks import DENSE
from .expression import Expression, index_of
from .expression_graph import Graph
from .lookup_block import Lookup
from .product_block import ColumnPanel, MatrixProduct, SparseProduct, column_panels
from .program import Program, compact
from .regions import own_stretch, stretches_of
from .rolled_blocks import rolled_block

Text = Callable[[list[Any]], list[Any]]
"""A text over scalars in a row."""


@dataclass(frozen=True)
class Recorded:
    """A block that was recorded: its operands are some of its arguments, then nodes of the graph around it.

    Results that are no symbols are known.
    """

    block: Block
    arguments: tuple[int, ...]
    taken: tuple[int, ...]
    results: tuple[Any, ...]

    def on(self, graph: Graph, arguments: Sequence[Any]) -> list[Any]:
        """The results for these arguments."""
        operands = [_node(graph, arguments[k]) for k in self.arguments]
        call = graph.call(self.block, [*operands, *self.taken])
        parts = iter(range(self.block.outputs))
        return [
            Expression(graph, graph.part(call, next(parts))) if isinstance(x, Expression) else x for x in self.results
        ]


def called(
    memory: dict[Any, Any], text: Text, arguments: list[Any], is_general: bool = False, is_single: bool = False
) -> list[Any]:
    """The results of a piece of text that is printed once. `memory` holds what has been recorded of it.

    What is known of the arguments makes another piece, unless it is to be a general one.
    """
    graph = innermost(arguments)
    if not graph.has_blocks or (is_single and not graph.keeps_loops):
        return text(arguments)
    known = [None if is_general else _constant(graph, x) for x in arguments]
    key = graph, tuple(known)
    if key not in memory:
        memory[key] = _recorded_call(graph, text, arguments, known)
    return memory[key].on(graph, arguments)


def repeated(text: Text, state: list[Any], rounds: int, settles: bool = False) -> list[Any] | None:
    """The state after some rounds of a text; None where the rounds are to stand in a row."""
    graph = innermost(state)
    if not graph.has_blocks:
        return None
    inner, results = _run(graph, text, [None] * len(state))
    outputs = [_node(inner, x) for x in results]
    numbers, taken = _inputs(inner, list(range(len(state))), outputs)
    body = _body(inner, numbers, outputs)
    everything = tuple(Expression(inner, i) for i in outputs)
    return Recorded(Repeated(body, rounds, settles), tuple(range(len(state))), taken, everything).on(graph, state)


def ruled(text: Text, arguments: list[Any], rule: Any) -> list[Any] | None:
    """The results of a piece that has a rule for its derivatives; None where it is to be a text like any other."""
    graph = innermost(arguments)
    if not graph.has_rules:
        return None
    inner, results = _run(graph, text, [None] * len(arguments))
    outputs = [_node(inner, x) for x in results]
    numbers, taken = _inputs(inner, list(range(len(arguments))), outputs)
    if taken:
        rule = rule.with_symbols()
        known = {_node(graph, x): None for x in rule.symbols}
        if not known.keys() >= set(taken):
            return None
        numbers |= {inner.taken[i]: len(arguments) + k for k, i in enumerate(known) if i in inner.taken}
        taken = tuple(known)
    block = Ruled(_body(inner, numbers, outputs, len(arguments) + len(taken)), rule, stretches_of(inner, outputs))
    with own_stretch(graph):
        everything = tuple(Expression(inner, i) for i in outputs)
        return Recorded(block, tuple(range(len(arguments))), taken, everything).on(graph, arguments)


def looped(name: str, n: int, numbers: list[Any]) -> Any:
    """The results of dense linear algebra with n unknowns."""
    graph = innermost(numbers)
    if name == "lay" and graph.has_rules:  # what is differentiated has no loops over responses
        return None
    block = DENSE[name](n)
    call = graph.call(block, [_node(graph, x) for x in numbers])
    return [Expression(graph, graph.part(call, k)) for k in range(block.outputs)]


def looked_up(grid: Grid, row: Any, column: Any) -> list[Any]:
    """The window of a grid at a place of which one coordinate at least is a symbol."""
    graph = innermost([row, column])
    block = Lookup(grid)
    call = graph.call(block, [_node(graph, row), _node(graph, column)])
    return [Expression(graph, graph.part(call, k)) for k in range(block.outputs)]


def multiplied(rows: Sequence[Sequence[Any]], x: Sequence[Any]) -> list[Any] | None:
    """A matrix of constants, or of inputs, times a vector; None for others, whose entries have their own operations."""
    graph = innermost(x)
    matrix = [_node(graph, entry) for row in rows for entry in row]
    known = [value for i in matrix if (value := graph.value(i)) is not None]
    if len(known) == len(matrix):
        block, taken = MatrixProduct(len(rows), len(x), tuple(known)), list[int]()
    elif all(graph.nodes[i].op == "input" for i in matrix):
        block, taken = MatrixProduct(len(rows), len(x)), matrix
    else:
        return None
    call = graph.call(block, [*taken, *(_node(graph, entry) for entry in x)])
    return [Expression(graph, graph.part(call, k)) for k in range(block.outputs)]


def products(rows: Sequence[Sequence[Any]], vectors: Sequence[Sequence[Any]]) -> list[list[Any]] | None:
    """A matrix of any entries times some vectors, in loops; None where there are no symbols, or no blocks."""
    scalars = [*(x for row in rows for x in row), *(x for vector in vectors for x in vector)]
    if not any(isinstance(x, Expression) for x in scalars) or not (graph := innermost(scalars)).has_blocks:
        return None
    block, n = MatrixProduct(len(rows), len(rows[0]), vectors=len(vectors)), len(rows)
    call = graph.call(block, [_node(graph, x) for x in scalars])
    found = [Expression(graph, graph.part(call, k)) for k in range(block.outputs)]
    return [list[Any](found[first : first + n]) for first in range(0, len(found), n)]


MANY = 2_000
"""Products from which on matrices are multiplied in tiles."""


def sparse_product(
    A: Sequence[dict[int, Any]], B: Sequence[dict[int, Any]], is_half: bool = False
) -> list[dict[int, Any]] | None:
    """The rows of A B in tiles; None where there are few products, other scalars than symbols, or no blocks.

    Half of it is the entries on and below the diagonal, and those that come with them.
    """
    scalars = [x for row in (*A, *B) for x in row.values()]
    if sum(len(B[k]) for row in A for k in row) < MANY or not (graph := innermost(scalars)).has_blocks:
        return None
    left, right = _nodes(graph, A), _nodes(graph, B)
    if left is None or right is None:
        return None
    panels = column_panels(left, right)
    block = SparseProduct(
        tuple(tuple(row) for row in left),
        tuple(ColumnPanel(len(columns), rows, min(columns) if is_half else 0) for columns, rows in panels),
    )
    zero = graph.constant(0.0)
    entries = [left[i].get(k, zero) for i, k in block.entries]
    entries += [right[k].get(j, zero) for columns, rows in panels for k in rows for j in columns]
    call = graph.call(block, entries)
    found: list[dict[int, Any]] = [{} for _ in A]
    for (columns, _), sums in zip(panels, block.sums, strict=True):
        for i, row in sums.items():
            found[i] |= {j: Expression(graph, graph.part(call, row.place + c)) for c, j in enumerate(columns)}
    return found


def _nodes(graph: Graph, rows: Sequence[dict[int, Any]]) -> list[dict[int, int]] | None:
    """The entries that are not zero, in the order of their columns; None where one is no number and no symbol."""
    found: list[dict[int, int]] = []
    for row in rows:
        numbers = {k: index_of(graph, row[k]) for k in sorted(row)}
        if None in numbers.values():
            return None
        found.append({k: i for k, i in numbers.items() if i is not None and graph.value(i) != 0})
    return found


def innermost(scalars: Sequence[Any]) -> Graph:
    """The graph that is being recorded now, by some scalars of which one at least is a symbol."""
    return next(x.graph for x in scalars if isinstance(x, Expression)).open[-1]


def _recorded_call(graph: Graph, text: Text, arguments: list[Any], known: list[float | None]) -> Recorded:
    inner, results = _run(graph, text, known)
    outputs = [_node(inner, x) for x in results if isinstance(x, Expression)]
    read = {inner.nodes[i].a for i in inner.live(outputs) if inner.nodes[i].op == "input"}
    used = [k for k in range(len(arguments)) if k in read]
    numbers, taken = _inputs(inner, used, outputs)
    block = rolled_block(inner, numbers, outputs) or Called(_body(inner, numbers, outputs))
    return Recorded(block, tuple(used), taken, tuple(results))


def _run(graph: Graph, text: Text, known: Sequence[Any]) -> tuple[Graph, list[Any]]:
    """The results of a text on new symbols, but for arguments that are known, and the graph they are in."""
    inner = graph.within()
    symbols = [Expression(inner, inner.input(k)) if x is None else x for k, x in enumerate(known)]
    graph.open.append(inner)
    try:
        return inner, text(symbols)
    finally:
        graph.open.pop()


def _inputs(inner: Graph, arguments: list[int], outputs: list[int]) -> tuple[dict[int, int], tuple[int, ...]]:
    """The inputs of a block by their numbers while it was recorded, and the nodes it takes from around it."""
    read = {inner.nodes[i].a for i in inner.live(outputs) if inner.nodes[i].op == "input"}
    taken = {number: node for node, number in inner.taken.items() if number in read}
    return {old: new for new, old in enumerate([*arguments, *taken])}, tuple(taken.values())


def _body(inner: Graph, numbers: dict[int, int], outputs: list[int], count: int | None = None) -> Program:
    """The program of a block, its inputs being some arguments and what it takes from around it; or more of them."""
    program = compact(inner, (("taken", len(numbers) if count is None else count),), outputs, (len(outputs),))
    nodes = tuple(node._replace(a=numbers[node.a]) if node.op == "input" else node for node in program.nodes)
    return replace(program, nodes=nodes)


def _constant(graph: Graph, x: Any) -> Any:
    """An argument that is known: a number, or a scalar that is no symbol."""
    return graph.value(index_of(graph, x)) if isinstance(x, Expression) else x  # type: ignore[arg-type]


def _node(graph: Graph, x: Any) -> int:
    i = index_of(graph, x)
    if i is None:
        raise TypeError(f"a piece of a traced function has a {type(x).__name__}, which is no number and no symbol")
    return i
