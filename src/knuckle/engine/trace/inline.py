"""Blocks put back into the text where a function of their own does not pay: those called once, and small ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce

from .blocks import Called
from .expression_graph import Graph
from .product_block import SparseProduct
from .program import Program, compact

SMALL = 60
"""Operations of a block that is shorter where it is used than a call of it."""


def inlined(program: Program) -> Program:
    """The program with the bodies of such blocks in place of their calls."""
    if not program.blocks:
        return program
    program = replace(program, blocks=tuple(block.mapped(inlined) for block in program.blocks))
    calls = Counter(node.a for node in program.nodes if node.op == "call")
    into = {
        k: block.body
        for k, block in enumerate(program.blocks)
        if isinstance(block, Called) and (calls[k] == 1 or block.size() <= SMALL)
    }
    return _with(program, {k: partial(_copied, body=body) for k, body in into.items()})


def without_sparse_products(program: Program) -> Program:
    """The program with every product of such matrices written out."""
    products = {k: block for k, block in enumerate(program.blocks) if isinstance(block, SparseProduct)}
    return _with(program, {k: partial(_multiplied, block=block) for k, block in products.items()})


def _with(program: Program, into: Mapping[int, Callable[[Graph, list[int]], list[int]]]) -> Program:
    """The program with other operations in place of some blocks: from their inputs to their outputs."""
    if not into:
        return program
    graph, number = Graph(), list[int]()
    results: dict[int, list[int]] = {}
    for i, node in enumerate(program.nodes):
        if node.op == "call" and node.a in into:
            results[i] = into[node.a](graph, [number[k] for k in node.operands])
            number.append(-1)
        elif node.op == "part" and node.a in results:
            number.append(results[node.a][node.b])
        else:
            number.append(_copy(graph, program, i, number))
    return compact(graph, program.arguments, [number[i] for i in program.outputs], program.shape)


def _multiplied(graph: Graph, inputs: list[int], block: SparseProduct) -> list[int]:
    """The entries of a product of such nodes."""
    B, found = inputs[block.arrays[0] :], list[int]()
    for panel, rows in zip(block.panels, block.sums, strict=True):
        for row in rows.values():
            for c in range(panel.width):
                terms = [graph.apply("mul", inputs[a], B[b + c]) for a, b in row.terms]
                found.append(reduce(partial(graph.apply, "add"), terms))
    return found


def _copied(graph: Graph, inputs: list[int], body: Program) -> list[int]:
    """The outputs of a body on these nodes."""
    number = list[int]()
    for i, node in enumerate(body.nodes):
        number.append(inputs[node.a] if node.op == "input" else _copy(graph, body, i, number))
    return [number[i] for i in body.outputs]


def _copy(graph: Graph, program: Program, i: int, number: list[int]) -> int:
    """A node of a program in a graph, where its operands have these numbers."""
    node = program.nodes[i]
    if node.op == "call":
        return graph.call(program.blocks[node.a], [number[k] for k in node.operands])
    if node.op in ("part", "input", "constant"):
        return graph.put(node.renumbered(number))
    return graph.apply(node.op, *(number[k] for k in node.operands))
