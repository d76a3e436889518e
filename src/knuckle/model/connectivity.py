"""Trees by their parent arrays (RBDA 4.1): λ, κ, μ, ν, spanning trees and regular numberings.

Bodies count from 0 and the base is −1, so the book's λ(i) is `parents[i] + 1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

ROOT = -1


def ancestors(parents: Sequence[int], i: int) -> tuple[int, ...]:
    """κ(i): i and its ancestors up to the base, which is left out."""
    path: list[int] = []
    while i != ROOT:
        path.append(i)
        i = parents[i]
    return tuple(path)


def children(parents: Sequence[int], i: int) -> tuple[int, ...]:
    """μ(i)."""
    return tuple(j for j, p in enumerate(parents) if p == i)


def subtree(parents: Sequence[int], i: int) -> tuple[int, ...]:
    """ν(i): i and all its descendants; of the base, every body."""
    inside = {i}
    for j, p in enumerate(parents):
        if p in inside:
            inside.add(j)
    return tuple(sorted(inside - {ROOT}))


def is_regular(parents: Sequence[int]) -> bool:
    """Whether every body comes after its parent (RBDA 4.1.2)."""
    return all(ROOT <= p < i for i, p in enumerate(parents))


def expand_parents(parents: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    """λ' of the variables from λ of the bodies (RBDA table 6.4): each variable's parent variable, −1 for none.

    `sizes` are the joints' numbers of freedoms. A joint without freedom passes its parent's last variable on, which
    the printed algorithm does not.
    """
    last: dict[int, int] = {ROOT: ROOT}
    expanded: list[int] = []
    for i, (p, n) in enumerate(zip(parents, sizes, strict=True)):
        for k in range(n):
            expanded.append(last[p] if k == 0 else len(expanded) - 1)
        last[i] = len(expanded) - 1 if n else last[p]
    return tuple(expanded)


def elimination_parents(count: int, together: Iterable[Set[int]]) -> tuple[int, ...]:
    """The parents of variables of which groups act together: in a matrix each has entries with its ancestors only.

    The tree of an elimination from the last variable to the first: what is left of a variable falls to the highest one
    below it that it acts together with.
    """
    below: list[set[int]] = [set() for _ in range(count)]
    for group in together:
        for k in group:
            below[k] |= {j for j in group if j < k}
    parents = [-1] * count
    for k in reversed(range(count)):
        if below[k]:
            parents[k] = max(below[k])
            below[parents[k]] |= below[k] - {parents[k]}
    return tuple(parents)


def regular_numberings(nb: int, edges: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every spanning tree of a graph with every regular numbering of it (RBDA 4.1.2), for small graphs.

    Bodies are 0 … nb−1 and the base −1; each pair of `edges` is a joint. Yields (order, parents): `order[k]` is the
    body that gets number k.
    """
    yield from _grow(nb, edges, (), (), frozenset())


def _grow(
    nb: int, edges: Sequence[tuple[int, int]], order: tuple[int, ...], parents: tuple[int, ...], used: frozenset[int]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    if len(order) == nb:
        yield order, parents
        return
    for e, (a, b) in enumerate(edges):
        for inner, outer in ((a, b), (b, a)):
            if e in used or outer == ROOT or outer in order or not (inner == ROOT or inner in order):
                continue
            number = ROOT if inner == ROOT else order.index(inner)
            yield from _grow(nb, edges, (*order, outer), (*parents, number), used | {e})


def spanning_tree(
    nb: int, edges: Sequence[tuple[int, int]]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A spanning tree of least depth (RBDA 10.2 prefers it): (order, parents, tree edge of each body) breadth first.

    Bodies that the graph does not connect to the base are left out of `order`.
    """
    order: list[int] = []
    parents: list[int] = []
    used: list[int] = []
    frontier = [(ROOT, ROOT)]
    reached = {ROOT}
    while frontier:
        following: list[tuple[int, int]] = []
        for body, number in frontier:
            for e, (a, b) in enumerate(edges):
                other = b if a == body else a if b == body else None
                if other is None or other in reached:
                    continue
                reached.add(other)
                following.append((other, len(order)))
                order.append(other)
                parents.append(number)
                used.append(e)
        frontier = following
    return tuple(order), tuple(parents), tuple(used)
