"""The order of operations: few values should wait for their use, for registers are few.

A text over a tree first goes outward through all bodies and then comes back, so that what it finds on the way out waits
for long. Where there are many results, as in a matrix, it is shorter to compute one result after the other, each with
what it needs and nobody has computed yet: of the outermost bodies first, as the text gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .expression_graph import LEAVES, Node
from .program import Program

WORTH_IT = 0.75
"""The share of the waiting values up to which another order is taken."""
NO_VALUES = LEAVES | {"call"}
"""What needs no register."""


def in_good_order(program: Program) -> Program:
    """The program in the order in which clearly fewer values wait; blocks that share rooms keep what they run in."""
    if not all(block.is_in_place for block in program.blocks):
        return program
    other = result_by_result(program)
    return other if most_waiting(other.nodes) <= WORTH_IT * most_waiting(program.nodes) else program


def result_by_result(program: Program) -> Program:
    """The same operations in the order in which the results need them, those that came first before the others.

    What a block takes is as good as a result. What it gives comes right after it.
    """
    number, nodes = [-1] * len(program.nodes), list[Node]()
    wanted, parts = set(program.outputs), dict[int, list[int]]()
    for i, node in enumerate(program.nodes):
        if node.op == "call":
            wanted |= {i, *node.operands}
        elif node.op == "part":
            parts.setdefault(node.a, []).append(i)
    for output in sorted(wanted):
        stack = [output]
        while stack:
            i = stack[-1]
            missing = [k for k in program.nodes[i].operands if number[k] < 0]
            if number[i] < 0 and not missing:
                for k in (i, *parts.get(i, ())):
                    number[k] = len(nodes)
                    nodes.append(program.nodes[k].renumbered(number))
            if missing:
                stack += reversed(missing)
            else:
                stack.pop()
    return replace(program, nodes=tuple(nodes), outputs=tuple(number[i] for i in program.outputs))


def most_waiting(nodes: Sequence[Node]) -> int:
    """How many values at most are known and still needed; inputs and constants are there anyway.

    Those that only blocks and results need are where they are to be.
    """
    last = [-1] * len(nodes)
    for i, node in enumerate(nodes):
        if node.op != "call":
            for k in node.operands:
                last[k] = i
    waiting = most = 0
    for i, node in enumerate(nodes):
        waiting += last[i] >= 0 and node.op not in NO_VALUES
        most = max(most, waiting)
        waiting -= sum(last[k] == i and nodes[k].op not in NO_VALUES for k in set(node.operands))
    return most
