"""Which way a program is differentiated with fewer operations: forward, direction by direction, or backward."""

from __future__ import annotations

from collections.abc import Mapping

from knuckle.engine.trace.blocks import Ruled
from knuckle.engine.trace.expression_graph import LEAVES, Node
from knuckle.engine.trace.program import Program

WORTH = 6
"""Directions from which on all derivatives of a piece by a rule of its own take less than those along directions."""
DEARER = 1.3
"""How many times as much a step backward costs as one forward: it computes products and their sums."""


def is_shorter_backward(program: Program, seeds: Mapping[int, Mapping[int, object]]) -> bool:
    """Whether the Jacobian takes fewer operations from the results than from the inputs that change.

    Counted before anything is made: every node forward in the directions that reach it, and backward from the results
    that it reaches.
    """
    return DEARER * _backward(program, seeds) < _forward(program, seeds)


def _forward(program: Program, seeds: Mapping[int, Mapping[int, object]]) -> int:
    reached, count = list[int](), 0
    for node in program.nodes:
        if node.op == "input":
            reached.append(sum(1 << c for c in seeds.get(node.a, ())))
            continue
        bits = 0
        for k in node.operands:
            bits |= reached[k]
        reached.append(bits)
        count += _work(program, node, bits.bit_count(), forward=True)
    return count


def _work(program: Program, node: Node, times: int, *, forward: bool) -> int:
    """The operations that a node takes in so many directions, or from so many results."""
    if node.op != "call":
        return times
    block = program.blocks[node.a]
    return block.work() * (min(times, WORTH) if forward and isinstance(block, Ruled) else times)


def _backward(program: Program, seeds: Mapping[int, Mapping[int, object]]) -> int:
    changes: list[bool] = []
    for node in program.nodes:
        changes.append(bool(seeds.get(node.a)) if node.op == "input" else any(changes[k] for k in node.operands))
    reaches, count = [0] * len(program.nodes), 0
    for bit, i in enumerate(program.outputs):
        reaches[i] |= 1 << bit
    for i in range(len(program.nodes) - 1, -1, -1):
        node = program.nodes[i]
        if node.op in LEAVES or not changes[i]:
            continue
        count += _work(program, node, reaches[i].bit_count(), forward=False)
        for k in node.operands:
            reaches[k] |= reaches[i]
    return count
