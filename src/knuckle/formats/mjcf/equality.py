"""MuJoCo's equality constraints: loop joints and mimic relations, where they are exactly that."""

from __future__ import annotations

from typing import Any

from knuckle.joints import Fixed, Joint, Spherical
from knuckle.model import LoopJoint, Mimic
from knuckle.spatial import Transform

from .source import Source, numbers, transform
from .tree import Tree

_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def constraints(source: Source, tree: Tree, mimic: bool) -> tuple[list[LoopJoint], list[Mimic]]:
    """Loop joints and mimic relations of the model, with a note on every constraint that becomes neither."""
    m, types = source.m, source.mujoco.mjtEq
    loops: list[LoopJoint] = []
    links: dict[int, tuple[int, float, float]] = {}
    bits = source.mujoco.mjtDisableBit
    off = int(m.opt.disableflags) & (int(bits.mjDSBL_EQUALITY) | int(bits.mjDSBL_CONSTRAINT))
    for e in range(m.neq):
        name, code = source.name("equality", e), int(m.eq_type[e])
        if off or not m.eq_active0[e]:
            source.note("info", name, "an equality that is not active: ignored")
        elif code == types.mjEQ_CONNECT:
            loops.append(_loop(source, tree, e, name, Spherical(), *_connect(source, tree, e)))
        elif code == types.mjEQ_WELD:
            loops.append(_loop(source, tree, e, name, Fixed(), *_weld(source, tree, e)))
        elif code == types.mjEQ_JOINT:
            _couple(source, tree, e, name, mimic, links)
        else:
            source.note("warning", name, f"an equality of type {types(code).name[5:].lower()}: ignored")
    return loops, _resolved(source, tree, links)


def _loop(
    source: Source, tree: Tree, e: int, name: str, kind: Joint, X_predecessor: Transform, X_successor: Transform
) -> LoopJoint:
    source.note("info", name, "exact here; in MuJoCo a soft constraint (solref, solimp)")
    ends = (_end(source, tree, int(k), e) for k in (source.m.eq_obj1id[e], source.m.eq_obj2id[e]))
    predecessor, successor = (place.body for place in ends)
    return LoopJoint(source.claim("joint", name, "_loop"), kind, predecessor, successor, X_predecessor, X_successor)


def _is_site(source: Source, e: int) -> bool:
    return int(source.m.eq_objtype[e]) == int(source.mujoco.mjtObj.mjOBJ_SITE)


def _end(source: Source, tree: Tree, k: int, e: int) -> Any:
    return tree.places[int(source.m.site_bodyid[k]) if _is_site(source, e) else k]


def _connect(source: Source, tree: Tree, e: int) -> tuple[Transform, Transform]:
    """The two points that coincide: eq_data has the first in body 1 and the second in body 2."""
    if _is_site(source, e):
        return _sites(source, tree, e)
    data, ends = numbers(source.m.eq_data[e]), _ends(source, tree, e)
    points = (data[0:3], data[3:6])
    first, second = (transform(p, _UPRIGHT, end.origin) for p, end in zip(points, ends, strict=True))
    return first, second


def _weld(source: Source, tree: Tree, e: int) -> tuple[Transform, Transform]:
    """The two frames that coincide: eq_data has a point in body 2, its place in body 1, and body 2's orientation."""
    if _is_site(source, e):
        return _sites(source, tree, e)
    data, (one, two) = numbers(source.m.eq_data[e]), _ends(source, tree, e)
    return transform(data[3:6], data[6:10], one.origin), transform(data[0:3], _UPRIGHT, two.origin)


def _ends(source: Source, tree: Tree, e: int) -> tuple[Any, Any]:
    m = source.m
    return _end(source, tree, int(m.eq_obj1id[e]), e), _end(source, tree, int(m.eq_obj2id[e]), e)


def _sites(source: Source, tree: Tree, e: int) -> tuple[Transform, Transform]:
    m = source.m
    ids = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    ends = _ends(source, tree, e)
    one, two = (
        transform(m.site_pos[k], m.site_quat[k], end.origin) for k, end in zip(ids, ends, strict=True)
    )  # fmt: skip
    return one, two


def _couple(
    source: Source, tree: Tree, e: int, name: str, mimic: bool, links: dict[int, tuple[int, float, float]]
) -> None:
    """q1 − q1₀ = a₀ + a₁ (q2 − q2₀): a mimic relation, if there are no higher terms."""
    m = source.m
    follower, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    a0, a1, *higher = numbers(m.eq_data[e][:5])
    joint = source.name("joint", follower)
    if leader < 0:
        source.note("warning", name, f"holds joint {joint!r} still: ignored; knuckle.model.edit.lock can do that")
    elif any(higher):
        source.note("warning", name, f"couples joint {joint!r} by a polynomial of higher degree: ignored")
    elif not mimic:
        source.note("info", name, f"ignored as asked for: joint {joint!r} moves by itself")
    elif tree.numbers[follower] in links:
        source.note("warning", name, f"joint {joint!r} follows another already: ignored")
    else:
        q1, q2 = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (follower, leader))
        links[tree.numbers[follower]] = tree.numbers[leader], a1, q1 + a0 - a1 * q2


def _resolved(source: Source, tree: Tree, links: dict[int, tuple[int, float, float]]) -> list[Mimic]:
    """The relations with chains of them followed to the joint that moves by itself; a ring of them is left open."""
    found: list[Mimic] = []
    for follower in list(links):
        leader, ratio, offset = links[follower]
        passed = {follower}
        while leader in links and leader not in passed:
            passed.add(leader)
            leader, r, o = links[leader]
            ratio, offset = ratio * r, ratio * o + offset
        if leader in passed:
            source.note("warning", tree.joints[follower].name, "follows itself through others: it moves by itself")
            del links[follower]
        else:
            found.append(Mimic(follower, leader, ratio, offset))
    return found
