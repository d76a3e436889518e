"""MuJoCo's equality constraints: loop joints and couplings, where they are exactly that."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Any, TypeAlias

from knuckle.joints import Fixed, Joint, Revolute, Spherical
from knuckle.joints.axis import unit
from knuckle.model import Coupling, LoopJoint, Powers, mimic
from knuckle.spatial import Transform, rotation

from .mjcf_source import MjcfSource, numbers, transform
from .mjcf_tree import MjcfTree

_UPRIGHT = (1.0, 0.0, 0.0, 0.0)
_ENDS = ("below", "above")
Link: TypeAlias = tuple[int, tuple[float, ...]]
"""The joint that is followed, and the coefficients of the polynomial in its position."""


def constraints(source: MjcfSource, tree: MjcfTree, follow: bool) -> tuple[list[LoopJoint], list[Coupling]]:
    """Loop joints and couplings of the model, with a note on every constraint that becomes neither."""
    m, types = source.m, source.mujoco.mjtEq
    loops: list[LoopJoint] = []
    links: dict[int, Link] = {}
    off = source.disabled("EQUALITY", "CONSTRAINT")
    for e in range(m.neq):
        name, code = source.name("equality", e), int(m.eq_type[e])
        if off or not m.eq_active0[e]:
            source.note("info", name, "an equality that is not active: ignored")
        elif code == types.mjEQ_CONNECT:
            loops.append(_loop(source, tree, e, name, Spherical(), *_connect(source, tree, e)))
        elif code == types.mjEQ_WELD:
            loops.append(_loop(source, tree, e, name, Fixed(), *_weld(source, tree, e)))
        elif code == types.mjEQ_JOINT:
            _couple(source, tree, e, name, follow, links)
        else:
            source.note("warning", name, f"an equality of type {types(code).name[5:].lower()}: ignored")
    return pinned(loops), _resolved(source, tree, links)


def pinned(loops: Sequence[LoopJoint]) -> list[LoopJoint]:
    """The loops, with pairs of points that this library wrote for a pin ("…/below", "…/above") as that pin again."""
    found, by_name = list[LoopJoint](), {loop.name: loop for loop in loops}
    for loop in loops:
        name, _, end = loop.name.rpartition("/")
        other = by_name.get(f"{name}/{'above' if end == 'below' else 'below'}")
        pin = (
            _pin(name, by_name[f"{name}/below"], by_name[f"{name}/above"]) if name and other and end in _ENDS else None
        )
        if pin is None:
            found.append(loop)
        elif end == "below":
            found.append(pin)
    return found


def _pin(name: str, below: LoopJoint, above: LoopJoint) -> LoopJoint | None:
    """The pin through two points of two bodies; None if these differ, or are not as far from each other on both."""
    if (below.predecessor, below.successor) != (above.predecessor, above.successor):
        return None
    ends = [(low.r, high.r) for low, high in (
        (below.X_predecessor, above.X_predecessor), (below.X_successor, above.X_successor)
    )]  # fmt: skip
    one, two = (hypot(*(float(b - a) for a, b in zip(*end, strict=True))) for end in ends)
    if not one > 0 or abs(one - two) > 1e-9 * one:
        return None
    first, second = (_through(*end) for end in ends)
    return LoopJoint(name, Revolute("z"), below.predecessor, below.successor, first, second)


def _through(low: Any, high: Any) -> Transform:
    """The frame between two points, with its z axis from one to the other."""
    way = tuple(float(b - a) for a, b in zip(low, high, strict=True))
    middle = tuple(float(a + b) / 2 for a, b in zip(low, high, strict=True))
    axis = unit(way)
    rows: Any = (*rotation.perpendicular(axis), axis)
    return Transform(rows, middle)  # type: ignore[arg-type]


def _loop(
    source: MjcfSource, tree: MjcfTree, e: int, name: str, kind: Joint, X_predecessor: Transform, X_successor: Transform
) -> LoopJoint:
    source.note("info", name, "exact here; in MuJoCo a soft constraint (solref, solimp)")
    ends = (_end(source, tree, int(k), e) for k in (source.m.eq_obj1id[e], source.m.eq_obj2id[e]))
    predecessor, successor = (place.body for place in ends)
    return LoopJoint(source.claim("joint", name, "_loop"), kind, predecessor, successor, X_predecessor, X_successor)


def _is_site(source: MjcfSource, e: int) -> bool:
    return int(source.m.eq_objtype[e]) == int(source.mujoco.mjtObj.mjOBJ_SITE)


def _end(source: MjcfSource, tree: MjcfTree, k: int, e: int) -> Any:
    return tree.places[int(source.m.site_bodyid[k]) if _is_site(source, e) else k]


def _connect(source: MjcfSource, tree: MjcfTree, e: int) -> tuple[Transform, Transform]:
    """The two points that coincide: eq_data has the first in body 1 and the second in body 2."""
    if _is_site(source, e):
        return _sites(source, tree, e)
    data, ends = numbers(source.m.eq_data[e]), _ends(source, tree, e)
    points = (data[0:3], data[3:6])
    first, second = (transform(p, _UPRIGHT, end.origin) for p, end in zip(points, ends, strict=True))
    return first, second


def _weld(source: MjcfSource, tree: MjcfTree, e: int) -> tuple[Transform, Transform]:
    """The two frames that coincide: eq_data has a point in body 2, its place in body 1, and body 2's orientation."""
    if _is_site(source, e):
        return _sites(source, tree, e)
    data, (one, two) = numbers(source.m.eq_data[e]), _ends(source, tree, e)
    return transform(data[3:6], data[6:10], one.origin), transform(data[0:3], _UPRIGHT, two.origin)


def _ends(source: MjcfSource, tree: MjcfTree, e: int) -> tuple[Any, Any]:
    m = source.m
    return _end(source, tree, int(m.eq_obj1id[e]), e), _end(source, tree, int(m.eq_obj2id[e]), e)


def _sites(source: MjcfSource, tree: MjcfTree, e: int) -> tuple[Transform, Transform]:
    m = source.m
    ids = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    ends = _ends(source, tree, e)
    one, two = (
        transform(m.site_pos[k], m.site_quat[k], end.origin) for k, end in zip(ids, ends, strict=True)
    )  # fmt: skip
    return one, two


def _couple(source: MjcfSource, tree: MjcfTree, e: int, name: str, follow: bool, links: dict[int, Link]) -> None:
    """q1 − q1₀ = Σ aₖ (q2 − q2₀)ᵏ: a polynomial in q2."""
    m = source.m
    follower, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    joint = source.name("joint", follower)
    if leader < 0:
        source.note("warning", name, f"holds joint {joint!r} still: ignored; knuckle.model.edit.lock can do that")
    elif not follow:
        source.note("info", name, f"ignored as asked for: joint {joint!r} moves by itself")
    elif tree.numbers[follower] in links:
        source.note("warning", name, f"joint {joint!r} follows another already: ignored")
    else:
        q1, q2 = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (follower, leader))
        a0, *others = composed(numbers(m.eq_data[e][:5]), (-q2, 1.0))
        links[tree.numbers[follower]] = tree.numbers[leader], (q1 + a0, *others)


def composed(outer: Sequence[float], inner: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of the polynomial `outer` of the polynomial `inner`, without zeros at the end."""
    total = [0.0]
    for c in reversed(outer):
        product = [0.0] * (len(total) + len(inner) - 1)
        for i, x in enumerate(total):
            for j, y in enumerate(inner):
                product[i + j] += x * y
        product[0] += c
        while len(product) > 1 and product[-1] == 0:
            product.pop()
        total = product
    return tuple(total)


def _resolved(source: MjcfSource, tree: MjcfTree, links: dict[int, Link]) -> list[Coupling]:
    """The relations with chains of them followed to the joint that moves by itself; a ring of them is left open."""
    found: list[Coupling] = []
    for follower in list(links):
        leader, powers = links[follower]
        passed = {follower}
        while leader in links and leader not in passed:
            passed.add(leader)
            leader, inner = links[leader]
            powers = composed(powers, inner)
        if leader in passed:
            source.note("warning", tree.joints[follower].name, "follows itself through others: it moves by itself")
            del links[follower]
        elif len(powers) <= 2:
            offset, ratio = (*powers, 0.0)[:2]
            found.append(mimic(follower, leader, ratio, offset))
        else:
            found.append(Coupling(follower, (leader,), Powers(powers)))
    return found
