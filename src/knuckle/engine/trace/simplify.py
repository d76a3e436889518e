"""The simplifier (RBDA 10.4): fewer operations for the same function.

The rules of a graph look at one operation. Those here look at a whole sum of products and at who else uses its parts:
what only this sum needs may be rearranged, what others need stays as it is. So no rewriting costs an operation:

    c x + d x = (c + d) x        terms that differ in a constant become one
    a b + a c = a (b + c)        the factor that the most terms share comes out first

A sum of many terms is added up by halves.

Both programs are the same function in exact arithmetic, and differ in rounding. A text that works with its own rounding
errors, as compensated sums do, does not survive this.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heapify, heappop, heappush

from .expression_graph import LEAVES, Graph, Node
from .program import Program, compact

SUM, PRODUCT = frozenset(("add", "sub", "neg")), frozenset(("mul",))

ARITHMETIC = {"add": Graph.add, "sub": Graph.sub, "mul": Graph.mul}

LONG, DEARER = 5_000, 10
"""Of a program of more operations than this, a pass must save so many times the share that is asked for."""
ROW = 8
"""Terms that are added one after the other."""
DEEPEST = 40
"""How far sums within sums are followed."""

Term = tuple[float, tuple[int, ...]]
"""A coefficient times the product of some nodes."""


def simplify(program: Program, gain: float = 0.0) -> Program:
    """The program with fewer operations: the rules applied until a pass saves no more than `gain` of them.

    A gain of 0 asks for the fixed point. The result never has more operations than `program`.
    """
    program = replace(
        program, blocks=tuple(block.mapped(lambda body: simplify(body, gain)) for block in program.blocks)
    )
    before = program.count().total
    while True:
        better = rearranged(program)
        after = better.count().total
        if after < before:
            program = better
        if before - after <= gain * before * (DEARER if before > LONG else 1):
            return program
        before = after


def rearranged(program: Program) -> Program:
    """One pass of the rules over all sums and products."""
    parts = _parts(program)
    graph, number = Graph(), list[int]()
    for i, node in enumerate(program.nodes):
        op, a, b, _ = node
        if parts[i]:
            number.append(-1)
        elif op in ARITHMETIC and not parts[a] and not parts[b]:
            number.append(ARITHMETIC[op](graph, number[a], number[b]))
        elif op in SUM:
            number.append(_sum(graph, _terms(program.nodes, parts, number, graph, i)))
        elif op in PRODUCT:
            number.append(_product(graph, *_factors(program.nodes, parts, number, graph, i)))
        elif op in LEAVES:
            number.append(graph.put(node))
        elif op == "call":
            number.append(graph.call(program.blocks[a], [number[k] for k in node.operands]))
        elif op == "part":
            number.append(graph.part(number[a], b))
        else:
            number.append(graph.apply(op, *(number[k] for k in node.operands)))
    return compact(graph, program.arguments, [number[i] for i in program.outputs], program.shape)


def _parts(program: Program) -> list[bool]:
    """Which nodes are part of one sum or product only, and nothing else needs."""
    uses, user = [0] * len(program.nodes), [""] * len(program.nodes)
    for i in program.outputs:
        uses[i] += 2  # an output is needed as it is
    for node in program.nodes:
        for k in node.operands:
            uses[k] += 1
            user[k] = node.op
    return [
        count == 1 and ((node.op in SUM and by in SUM) or (node.op in PRODUCT and (by in SUM or by in PRODUCT)))
        for count, by, node in zip(uses, user, program.nodes, strict=True)
    ]


def _terms(nodes: tuple[Node, ...], parts: list[bool], number: list[int], graph: Graph, root: int) -> list[Term]:
    """The terms of a sum, from left to right."""
    terms: list[Term] = []
    stack = [(root, 1.0)]
    while stack:
        i, sign = stack.pop()
        op, a, b, _ = nodes[i]
        if i != root and not parts[i]:
            terms.append(_taken(graph, sign, [number[i]]))
        elif op in PRODUCT:
            coefficient, factors = _factors(nodes, parts, number, graph, i)
            terms.append((sign * coefficient, factors))
        elif op == "neg":
            stack.append((a, -sign))
        else:
            stack.append((b, sign if op == "add" else -sign))
            stack.append((a, sign))
    return terms


def _factors(nodes: tuple[Node, ...], parts: list[bool], number: list[int], graph: Graph, root: int) -> Term:
    """The factors of a product."""
    _, a, b, _ = nodes[root]
    stack, atoms = [b, a], list[int]()
    while stack:
        i = stack.pop()
        if parts[i]:
            _, a, b, _ = nodes[i]
            stack += (b, a)
        else:
            atoms.append(number[i])
    return _taken(graph, 1.0, atoms)


def _taken(graph: Graph, coefficient: float, atoms: list[int]) -> Term:
    """Constants and signs of some factors taken into the coefficient."""
    factors: list[int] = []
    for k in atoms:
        op, a, _, _ = graph.nodes[k]
        if op == "neg":
            coefficient, k = -coefficient, a
            op, a, _, _ = graph.nodes[k]
        if op == "constant":
            coefficient *= a
        else:
            factors.append(k)
    factors.sort()
    return coefficient, tuple(factors)


def _product(graph: Graph, coefficient: float, factors: tuple[int, ...]) -> int:
    if not factors:
        return graph.constant(coefficient)
    product = factors[0]
    for k in factors[1:]:
        product = graph.mul(product, k)
    return graph.mul(graph.constant(coefficient), product)


def _sum(graph: Graph, terms: list[Term], depth: int = 0) -> int:
    """The node of a sum, its common factors taken out."""
    merged: dict[tuple[int, ...], float] = {}
    for coefficient, factors in terms:
        merged[factors] = merged.get(factors, 0.0) + coefficient
    nodes = [(c, f) for f, c in merged.items() if c != 0]
    if not nodes:
        return graph.constant(0.0)
    signed = [(c < 0, _product(graph, abs(c), f)) for c, f in _grouped(graph, nodes, depth)]
    is_negative, total = _added(graph, signed)
    return graph.neg(total) if is_negative else total


def _added(graph: Graph, terms: list[tuple[bool, int]]) -> tuple[bool, int]:
    """The sum of terms with signs, and its sign: a long one as the sum of its halves, so that rounding errors do not
    add up from the first term to the last."""
    if len(terms) > ROW:
        middle = len(terms) // 2
        return _pair(graph, _added(graph, terms[:middle]), _added(graph, terms[middle:]))
    ordered = sorted(terms, key=lambda term: term[0])
    total = ordered[0]
    for term in ordered[1:]:
        total = _pair(graph, total, term)
    return total


def _pair(graph: Graph, a: tuple[bool, int], b: tuple[bool, int]) -> tuple[bool, int]:
    if a[0] == b[0]:
        return a[0], graph.add(a[1], b[1])
    return (False, graph.sub(a[1], b[1])) if b[0] else (False, graph.sub(b[1], a[1]))


def _grouped(graph: Graph, terms: list[Term], depth: int) -> list[Term]:
    """The terms with a b + a c made a (b + c): the factor of the most terms first. Constants are factors too."""
    if len(terms) < 2 or depth == DEEPEST:
        return terms
    divisors = [_divisors(term) for term in terms]
    if sum(map(len, divisors)) == len(set[object]().union(*divisors)):
        return terms
    having: dict[object, set[int]] = {}
    for t, divisors_of_term in enumerate(divisors):
        for factor in divisors_of_term:
            having.setdefault(factor, set()).add(t)
    order = {factor: n for n, factor in enumerate(having)}
    heap = [(-len(at), order[factor], factor) for factor, at in having.items() if len(at) > 1]
    heapify(heap)
    remaining: dict[int, Term] = dict(enumerate(terms))
    while heap:
        size, place, factor = heappop(heap)
        group = sorted(having[factor])
        if len(group) < 2:
            continue
        if len(group) < -size:
            heappush(heap, (-len(group), place, factor))
            continue
        for t in group:
            for other in divisors[t]:
                having[other].discard(t)
        inner = _sum(graph, [_without(terms[t], factor) for t in group], depth + 1)
        outer = [graph.constant(factor[0])] if isinstance(factor, tuple) else [factor]
        for t in group[1:]:
            del remaining[t]
        remaining[group[0]] = _taken(graph, 1.0, [*outer, inner])  # type: ignore[list-item]
    return list(remaining.values())


def _divisors(term: Term) -> set[object]:
    """What can be taken out of a term and saves a multiplication there: its nodes, and its constant as a 1-tuple."""
    coefficient, factors = term
    scaled = abs(coefficient) != 1
    if len(factors) + scaled < 2:
        return set()
    common: set[object] = set(factors)
    if scaled:
        common.add((abs(coefficient),))
    return common


def _without(term: Term, factor: object) -> Term:
    coefficient, factors = term
    if isinstance(factor, tuple):
        return (1.0 if coefficient > 0 else -1.0), factors
    at = factors.index(factor)  # type: ignore[arg-type]
    return coefficient, factors[:at] + factors[at + 1 :]
