"""A program on scalars of any kind, and its derivatives: forward along directions, backward from weights.

The scalars may be numbers, dual numbers or symbols of another trace: a derivative is a text like any other, which is
compiled, batched, run with fifty digits or differentiated again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from knuckle.engine.trace.blocks import Block, Ruled
from knuckle.engine.trace.expression_graph import Node
from knuckle.engine.trace.program import Program
from knuckle.engine.trace.regions import Stretches
from knuckle.scalar import ONE, ZERO, absolute, elementary, less, maximum, minimum, select
from knuckle.scalar.operations import CONDITIONS, FUNCTIONS, OPERATIONS

Columns: TypeAlias = Mapping[int, Any]
"""The derivatives of a scalar by direction; directions in which it does not change are left out."""

ON_SCALARS: Mapping[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "abs": absolute, "min": minimum, "max": maximum,
    "less": less, "at_most": operator.le, "equal": operator.eq, "select": select,
    **{function.name: getattr(elementary, function.name) for function in FUNCTIONS if function.name != "abs"},
}  # fmt: skip
"""The operations of the table on scalars of any kind."""


@dataclass(frozen=True)
class Pieces:
    """What blocks become on scalars, once for each block, so that its code is printed once."""

    made: dict[tuple[str, Block], Any] = field(default_factory=dict[tuple[str, Block], Any])

    def get(self, purpose: str, block: Block, make: Callable[[], Any]) -> Any:
        """A piece of a block, made if there is none."""
        key = purpose, block
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


def is_solving(block: Block) -> bool:
    """Whether a block has results that take long to find, and a rule that goes by them."""
    return isinstance(block, Ruled) and block.rule.is_solving


class Sweep:
    """A program on some scalars: the value of every node, the results of a call as a list."""

    def __init__(
        self,
        program: Program,
        inputs: Sequence[Any],
        pieces: Pieces | None = None,
        stretches: Stretches | None = None,
        known: Sequence[Any] | None = None,
    ) -> None:
        """Runs a program; in a graph whose loops are kept, in the stretches that its nodes were made in.

        What its pieces that solve give may be `known` from another run, all of it in a row.
        """
        from .block_rules import rule_of

        self.stretches = stretches
        self.program, self.pieces = program, Pieces() if pieces is None else pieces
        self.values: list[Any] = []
        self.solved: list[Any] = []
        """What pieces that solve give, in a row"""
        self._columns: list[Any] = []
        values = self.values
        for i, node in enumerate(program.nodes):
            if stretches is not None:
                stretches.forward(i)
            match node.op:
                case "input":
                    values.append(inputs[node.a])
                case "constant":
                    values.append(node.a if node.a else ZERO)
                case "call":
                    block = program.blocks[node.a]
                    if known is not None and is_solving(block):
                        results = list(known[len(self.solved) : len(self.solved) + block.outputs])
                    else:
                        results = rule_of(block).values(self, block, [values[k] for k in node.b])
                    values.append(results)
                    self.solved += results if is_solving(block) else ()
                case "part":
                    values.append(values[node.a][node.b])
                case op:
                    values.append(ON_SCALARS[op](*[values[k] for k in node.operands]))

    @property
    def outputs(self) -> list[Any]:
        """The results of the program."""
        return [self.values[i] for i in self.program.outputs]

    def pushed(self, seeds: Mapping[int, Columns]) -> list[Columns]:
        """The derivatives of the results, from those of the inputs by their numbers."""
        from .block_rules import rule_of

        nodes, columns = self.program.nodes, list[Any]()
        self._columns = columns
        if self.stretches is not None:
            self.stretches = self.stretches.ready(x for row in seeds.values() for x in row.values())
        for i, node in enumerate(nodes):
            if self.stretches is not None:
                self.stretches.forward(i)
            match node.op:
                case "input":
                    columns.append(seeds.get(node.a, _NONE))
                case "constant" | "less" | "at_most" | "equal":
                    columns.append(_NONE)
                case "call":
                    block = self.program.blocks[node.a]
                    columns.append(rule_of(block).pushed(self, i, block, [columns[k] for k in node.b]))
                case "part":
                    columns.append(columns[node.a][node.b] if columns[node.a] else _NONE)
                case _:
                    columns.append(self._pushed(i, node, [columns[k] for k in node.operands]))
        if self.stretches is not None:
            self.stretches.end()
        return [columns[i] for i in self.program.outputs]

    def columns_of(self, nodes: Sequence[int]) -> list[Columns]:
        """The derivatives of some nodes, while those after them are found."""
        return [self._columns[k] for k in nodes]

    def _pushed(self, i: int, node: Node, rates: list[Columns]) -> Columns:
        """The derivatives of an operation, by those of its operands."""
        directions = set[int]().union(*rates)
        if not directions:
            return _NONE
        operation, z = OPERATIONS[node.op], self.values[i]
        args = [self.values[k] for k in node.operands]
        if operation.is_curved and len(directions) > 1:
            slopes = operation.partials(z, *args)
            terms = {
                c: [s * rate[c] for s, rate in zip(slopes, rates, strict=True) if c in rate] for c in sorted(directions)
            }
            return _without_zeros({c: sum(some[1:], some[0]) for c, some in terms.items()})
        return _without_zeros(
            {c: operation.tangent(z, args, [r.get(c, ZERO) for r in rates]) for c in sorted(directions)}
        )

    def pulled(self, weights: Sequence[Any]) -> dict[int, Any]:
        """The derivatives of the sum of the results, each times a weight, by the inputs, by their numbers."""
        from .block_rules import rule_of

        nodes = self.program.nodes
        gathered = Gathered(len(nodes))
        for i, weight in zip(self.program.outputs, weights, strict=True):
            gathered.add(i, weight, None)
        found: dict[int, Any] = {}
        for i in range(len(nodes) - 1, -1, -1):
            node, weight = nodes[i], gathered.weights[i]
            if self.stretches is not None:
                self.stretches.backward(i)
            if node.op == "part":
                if weight is not ZERO:
                    gathered.parts.setdefault(node.a, {})[node.b] = weight
            elif node.op == "call":
                if i in gathered.parts:
                    block = self.program.blocks[node.a]
                    rule_of(block).pulled(self, i, block, gathered.parts[i], gathered)
            elif weight is ZERO or node.op == "constant" or node.op in CONDITIONS:
                continue
            elif node.op == "input":
                found[node.a] = found[node.a] + weight if node.a in found else weight
            elif node.op == "select":
                self._chosen(node, weight, gathered, gathered.where(i))
            else:
                self._pulled(i, node, weight, gathered)
        if self.stretches is not None:
            self.stretches.end()
        return found

    def _chosen(self, node: Node, weight: Any, gathered: Gathered, where: Any) -> None:
        """A choice: its weight goes to what was chosen, and nothing to what was not."""
        condition = self.values[node.a]
        for k, sides in ((node.b, (ONE, ZERO)), (node.c, (ZERO, ONE))):
            if self.program.nodes[k].op != "constant":
                here = select(condition, *sides)
                one_side = select(condition, *(weight if side is ONE else ZERO for side in sides))
                gathered.add(k, one_side, here if where is None else here * where)

    def _pulled(self, i: int, node: Node, weight: Any, gathered: Gathered) -> None:
        """The weight of an operation to its operands. What was not chosen may be infinite: it gets none."""
        operation, z, operands = OPERATIONS[node.op], self.values[i], node.operands
        args, where = [self.values[k] for k in operands], gathered.where(i)
        is_masked = where is not None and self._may_be_infinite[i]
        slopes = operation.partials(z, *args) if operation.is_curved else None
        for place, k in enumerate(operands):
            if self.program.nodes[k].op == "constant":
                continue
            if slopes is not None:
                part = slopes[place] * weight
            else:
                part = operation.tangent(z, args, [weight if n == place else ZERO for n in range(operation.arity)])
            gathered.add(k, select(less(0, where), part, ZERO) if is_masked else part, where)

    @cached_property
    def _may_be_infinite(self) -> list[bool]:
        """Whether a node may be infinite for finite inputs, or its derivative."""
        found: list[bool] = []
        for node in self.program.nodes:
            operation = OPERATIONS.get(node.op)
            found.append(operation is not None and (operation.may_be_infinite or any(found[k] for k in node.operands)))
        return found


class Gathered:
    """The weights that have come together at the nodes of a program, and those of the results of its calls.

    What is used only where a condition holds has a number that is above zero there.
    """

    def __init__(self, size: int) -> None:
        self.weights: list[Any] = [ZERO] * size
        self.parts: dict[int, dict[int, Any]] = {}
        self._where: dict[int, Any] = {}

    def add(self, i: int, weight: Any, where: Any = None) -> None:
        """Adds to the weight of a node, which is used where a number is above zero, or everywhere."""
        if weight is ZERO:
            return
        was = self.weights[i]
        self.weights[i] = weight if was is ZERO else was + weight
        if i not in self._where:
            self._where[i] = where
        elif where is None or self._where[i] is None:
            self._where[i] = None
        else:
            self._where[i] = self._where[i] + where

    def where(self, i: int) -> Any:
        """What is above zero where a node is used; None if it is used everywhere."""
        return self._where.get(i)


_NONE: Columns = {}


def _without_zeros(columns: Columns) -> Columns:
    return {c: x for c, x in columns.items() if x is not ZERO}
