"""Loop clusters: loops that share joints of the tree, and so constrain each other (RBDA 8.9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .connectivity import ancestors
from .model import Model


@dataclass(frozen=True)
class Cluster:
    """Loops that are coupled, and the tree joints around them, by number. No other loop moves these joints."""

    loops: tuple[int, ...]
    joints: tuple[int, ...]


def around(model: Model, loop: int) -> frozenset[int]:
    """The tree joints that a loop joint constrains: those on one of the two ways to the base, but not on both."""
    joint = model.loops[loop]
    return frozenset(ancestors(model.parents, joint.successor)) ^ frozenset(ancestors(model.parents, joint.predecessor))


def _leaders(model: Model, joints: Iterable[int]) -> set[int]:
    """The joints whose variables move some joints: themselves, or those that they follow."""
    coupled = model.coupled
    return {s for j in joints for s in (coupled[j].sources if j in coupled else (j,))}


def clusters(model: Model) -> tuple[Cluster, ...]:
    """The minimal clusters, in the order of their first loop: the connected components of "shares a joint"."""
    found: list[tuple[set[int], set[int]]] = []
    for loop in range(len(model.loops)):
        loops, joints = {loop}, set(around(model, loop))
        apart: list[tuple[set[int], set[int]]] = []
        for other in found:
            if _leaders(model, other[1]) & _leaders(model, joints):
                loops |= other[0]
                joints |= other[1]
            else:
                apart.append(other)
        found = [*apart, (loops, joints)]
    made = [Cluster(tuple(sorted(loops)), tuple(sorted(joints))) for loops, joints in found]
    return tuple(sorted(made, key=lambda cluster: cluster.loops))
