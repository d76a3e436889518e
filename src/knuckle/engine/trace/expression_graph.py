"""The expression graph: scalar operations recorded while an algorithm runs on symbols (RBDA 10.4).

Nodes are shared (equal operations are one node) and simplified as they are made, so that the rules have reached their
fixed point when the algorithm ends: constants are folded, zeros and ones vanish, signs travel outward, multiples of a
node add up. 0 x, x − x, x / x, x + (y − x) and x (y / x) are known without x, also where x should turn out to be
infinite or NaN.

A piece of text that runs several times, or over and over, is a block (`blocks`): a graph within this one while it is
recorded, whose inputs are its arguments and what it takes from the graph around it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from knuckle.scalar.operations import CONDITIONS, OPERATIONS

if TYPE_CHECKING:
    from .blocks import Block

LEAVES = frozenset(("input", "constant"))
"""What is no operation."""
BLOCK_OPERATIONS = frozenset(("call", "part"))
"""What runs a block, and what takes one of its results."""


class Node(NamedTuple):
    """An operation on earlier nodes; inputs ("input", number) and constants ("constant", value) have none.

    A block is run by ("call", its number, its operands), and ("part", call, k) is its k-th result.
    """

    op: str
    a: Any = None
    b: Any = None
    c: Any = None

    @property
    def operands(self) -> tuple[int, ...]:
        """The nodes that this one uses."""
        op, a, b, c = self
        if c is not None:
            return a, b, c
        if b is None:
            return () if op in LEAVES else (a,)
        if op in BLOCK_OPERATIONS:
            return b if op == "call" else (a,)
        return a, b

    def renumbered(self, number: Sequence[int]) -> Node:
        """The same operation where node k is number[k]."""
        if self.op in LEAVES:
            return self
        if self.op in BLOCK_OPERATIONS:
            if self.op == "call":
                return Node("call", self.a, tuple(number[k] for k in self.b))
            return Node("part", number[self.a], self.b)
        op, a, b, c = self
        return new_node((op, number[a], None if b is None else number[b], None if c is None else number[c]))


new_node = partial(tuple.__new__, Node)
"""A node of (op, a, b, c), all of them: a third of the time of `Node(…)`, and a graph makes many."""

FIRST_TAKEN = 1 << 30
"""The number of the first input that a block takes from around it, until it is known how many arguments it has."""


class Graph:
    """Nodes in an order in which each comes after those it uses."""

    keeps_loops: ClassVar[bool] = False
    """Whether it knows the loops over bodies that its nodes come from"""

    __slots__ = (
        "__weakref__", "_block_number", "_number", "blocks", "depth", "has_blocks", "has_rules", "nodes", "open",
        "parent", "taken",
    )  # fmt: skip

    def __init__(self, parent: Graph | None = None) -> None:
        self.nodes: list[Node] = []
        self._number: dict[Node, int] = {}
        self.has_blocks = True  # whether pieces of text that repeat are kept as blocks; else they stand in a row
        self.has_rules = False  # whether pieces with a rule for their derivatives are kept as blocks
        self.blocks: list[Block] = []
        self._block_number: dict[Block, int] = {}
        self.parent = parent
        if parent is not None:
            self.has_rules = parent.has_rules
        self.open: list[Graph] = [self] if parent is None else parent.open  # those being recorded, the innermost last
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.taken: dict[int, int] = {}  # what a block takes from the graph around it: node there → input here

    def within(self) -> Graph:
        """A graph for a block in this one."""
        return Graph(self)

    def captured(self, i: int) -> int:
        """The node of a value of the graph around this one: a constant, or one more input."""
        assert self.parent is not None
        x = self.parent.value(i)
        if x is not None:
            return self.constant(x)
        return self.input(self.taken.setdefault(i, FIRST_TAKEN + len(self.taken)))

    def call(self, block: Block, operands: Sequence[int]) -> int:
        """The node of a block on these nodes."""
        k = self._block_number.setdefault(block, len(self.blocks))
        if k == len(self.blocks):
            self.blocks.append(block)
        return self.put(Node("call", k, tuple(operands)))

    def part(self, call: int, k: int) -> int:
        """The k-th result of a block."""
        return self.put(Node("part", call, k))

    def put(self, node: Node) -> int:
        """The number of a node, new or known."""
        number = self._number.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return number

    def input(self, k: int) -> int:
        return self.put(Node("input", k))

    def constant(self, x: float) -> int:
        """The node of a number. There is one zero, without sign, and one NaN."""
        return self.put(new_node(("constant", math.nan if x != x else float(x) + 0.0, None, None)))

    def value(self, i: int) -> float | None:
        """The value of a constant node; None for others."""
        node = self.nodes[i]
        return node.a if node.op == "constant" else None

    # the operations, with their rules

    def add(self, i: int, j: int) -> int:
        first, second = self.nodes[i], self.nodes[j]
        op, other = first.op, second.op
        if op == "constant" or other == "constant":
            if op == other:
                return self.constant(first.a + second.a)
            if op == "constant" and first.a == 0:
                return j
            if other == "constant" and second.a == 0:
                return i
        if other == "neg":
            return self.sub(i, second.a)
        if op == "neg":
            return self.sub(j, first.a)
        if other == "sub" and second.b == i:  # x + (y − x) = y
            return second.a
        if op == "sub" and first.b == j:
            return first.a
        if op == "mul" or other == "mul" or i == j:
            (c, k), (d, l) = self._apart(i), self._apart(j)
            if k == l:
                return self.mul(self.constant(c + d), k)
        return self.put(new_node(("add", i, j, None) if i < j else ("add", j, i, None)))

    def sub(self, i: int, j: int) -> int:
        if i == j:
            return self.constant(0.0)
        first, second = self.nodes[i], self.nodes[j]
        op, other = first.op, second.op
        if op == "constant" or other == "constant":
            if op == other:
                return self.constant(first.a - second.a)
            if op == "constant" and first.a == 0:
                return self.neg(j)
            if other == "constant" and second.a == 0:
                return i
        if other == "neg":
            return self.add(i, second.a)
        if op == "neg":
            return self.neg(self.add(first.a, j))
        if op == "mul" or other == "mul":
            (c, k), (d, l) = self._apart(i), self._apart(j)
            if k == l:
                return self.mul(self.constant(c - d), k)
        return self.put(new_node(("sub", i, j, None)))

    def _apart(self, i: int) -> tuple[float, int]:
        """A node as a constant times a node."""
        node = self.nodes[i]
        if node.op == "mul" and self.nodes[node.a].op == "constant":
            return self.nodes[node.a].a, node.b
        return 1.0, i

    def neg(self, i: int) -> int:
        node = self.nodes[i]
        if node.op == "constant":
            return self.constant(-node.a)
        if node.op == "neg":
            return node.a
        if node.op == "sub":
            return self.put(new_node(("sub", node.b, node.a, None)))
        return self.put(new_node(("neg", i, None, None)))

    def mul(self, i: int, j: int) -> int:
        nodes = self.nodes
        first, second = nodes[i], nodes[j]
        op, other = first.op, second.op
        if op == "constant":
            return self.constant(first.a * second.a) if other == "constant" else self._scaled(first.a, j)
        if other == "constant":
            return self._scaled(second.a, i)
        if op == "neg" or other == "neg":
            product = self.mul(first.a if op == "neg" else i, second.a if other == "neg" else j)
            return product if op == other else self.neg(product)
        for x, node in ((i, second), (j, first)):  # (a/x)·x = a: the row of Ia along the joint's axis is zero
            if node.op == "div" and node.b == x:
                return node.a
            if node.op == "mul":  # and (a/x)·b·x = a·b: there pa has the joint's own force
                a, b = nodes[node.a], nodes[node.b]
                if a.op == "div" and a.b == x:
                    return self.mul(a.a, node.b)
                if b.op == "div" and b.b == x:
                    return self.mul(b.a, node.a)
        return self.put(new_node(("mul", i, j, None) if i < j else ("mul", j, i, None)))

    def _scaled(self, x: float, j: int) -> int:
        """x times node j, which is no constant."""
        if x == 0 or x == 1:
            return self.constant(0.0) if x == 0 else j
        node = self.nodes[j]
        if x < 0 or node.op == "neg":
            sign = (x < 0) != (node.op == "neg")
            product = self._scaled(abs(x), node.a if node.op == "neg" else j)
            return self.neg(product) if sign else product
        if node.op == "mul" and (y := self.value(node.a)) is not None:
            return self._scaled(x * y, node.b)
        return self.put(Node("mul", self.constant(x), j))

    def div(self, i: int, j: int) -> int:
        x, y = self.value(i), self.value(j)
        if x is not None and y is not None:
            return self.constant(OPERATIONS["div"].value(x, y))
        if y is not None and y != 0 and math.isfinite(1 / y):
            return self.mul(self.constant(1 / y), i)
        if x == 0:
            return i
        if i == j:
            return self.constant(1.0)
        first, second = self.nodes[i], self.nodes[j]
        if first.op == "neg" or second.op == "neg":
            sign = (first.op == "neg") != (second.op == "neg")
            quotient = self.div(first.a if first.op == "neg" else i, second.a if second.op == "neg" else j)
            return self.neg(quotient) if sign else quotient
        return self.put(Node("div", i, j))

    def apply(self, op: str, *args: int) -> int:
        """Any operation: the arithmetic above, or one with few rules."""
        if op in ("add", "sub", "mul", "div", "neg"):
            return getattr(self, op)(*args)
        if op == "select" and args[1] == args[2]:
            return args[1]
        values = [self.value(i) for i in args]
        if None not in values and op not in CONDITIONS and op != "select":
            return self.constant(OPERATIONS[op].value(*values))
        first = self.nodes[args[0]]
        if op in ("min", "max") and args[0] == args[1]:
            return args[0]
        if op in ("min", "max", "equal"):
            return self.put(Node(op, min(args), max(args)))
        if op == "abs" and first.op in ("abs", "sqrt"):
            return args[0]
        if first.op == "neg" and op in ("sin", "cos", "abs"):
            turned = self.apply(op, first.a)
            return self.neg(turned) if op == "sin" else turned
        return self.put(Node(op, *args))

    def operands(self, i: int) -> tuple[int, ...]:
        """The nodes that node i uses."""
        return self.nodes[i].operands

    def live(self, outputs: list[int]) -> list[int]:
        """The nodes that `outputs` need, in order: everything else is dead code."""
        needed = bytearray(len(self.nodes))
        for i in outputs:
            needed[i] = True
        for i in range(len(self.nodes) - 1, -1, -1):
            if needed[i]:
                for k in self.nodes[i].operands:
                    needed[k] = True
        return [i for i, alive in enumerate(needed) if alive]
