"""The tree that links and joints form: its root, the order of its joints, and the joints that follow others."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Mapping, Sequence

from knuckle.formats.xml import Element, shorten
from knuckle.model import Coupling, mimic

from .joint_element import Following, JointEntry
from .urdf_source import UrdfSource


def arrange(
    source: UrdfSource, robot: Element, links: Mapping[str, Element], joints: Sequence[JointEntry]
) -> tuple[str, list[JointEntry]]:
    """The root link, and the joints in the file's order, those that come before their parent's joint moved after it.

    Each step takes the first joint of the file whose parent link is placed already.
    """
    owner = _children(source, links, joints)
    roots = [name for name in links if name not in owner]
    if not links:
        raise source.error(robot, "robot", "no <link>; a robot has at least one")
    if len(roots) > 1:
        names = ", ".join(shorten(name) for name in roots[:8]) + ("…" if len(roots) > 8 else "")
        second = links[roots[1]]
        raise source.error(
            second, f"link {shorten(roots[1])!r}",
            f"{len(roots)} links have no parent joint ({names}); the tree needs exactly one root",
        )  # fmt: skip
    if not roots:
        raise _cycle(source, joints[0])
    outward: dict[str, list[int]] = {}
    for k, joint in enumerate(joints):
        outward.setdefault(joint.parent, []).append(k)
    order: list[JointEntry] = []
    ready = outward.get(roots[0], [])[:]
    while ready:
        k = heapq.heappop(ready)
        order.append(joints[k])
        for n in outward.get(joints[k].child, ()):
            heapq.heappush(ready, n)
            if n < k:
                text = f"moved after {shorten(joints[k].name)!r}, the joint that carries its parent link"
                source.note("info", joints[n].element, joints[n].name, text)
    if len(order) < len(joints):
        placed = {joint.name for joint in order}
        raise _cycle(source, next(joint for joint in joints if joint.name not in placed))
    return roots[0], order


def _children(source: UrdfSource, links: Mapping[str, Element], joints: Sequence[JointEntry]) -> dict[str, JointEntry]:
    """The joint that carries each link."""
    owner: dict[str, JointEntry] = {}
    for joint in joints:
        for tag, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                element = source.required(joint.element, tag, joint.owner)
                hint = source.near(link, links)
                raise source.error(element, joint.owner, f"there is no link called {shorten(link)!r}{hint}")
        if joint.child in owner:
            other = owner[joint.child]
            text = f"link {shorten(joint.child)!r} is the child of joint {shorten(other.name)!r} already"
            where = f"(line {other.element.line}); a link has one parent"
            raise source.error(source.required(joint.element, "child", joint.owner), joint.owner, f"{text} {where}")
        owner[joint.child] = joint
    return owner


def _cycle(source: UrdfSource, joint: JointEntry) -> Exception:
    text = f"its links {shorten(joint.parent)!r} and {shorten(joint.child)!r} hang on a closed loop of joints, not on"
    return source.error(joint.element, joint.owner, f"{text} the root; URDF is for trees")


def couplings(source: UrdfSource, joints: Sequence[JointEntry]) -> list[Coupling]:
    """The mimic relations by the joints' numbers, chains of them followed to the joint that moves by itself.

    A joint that follows one which is not in the file moves by itself too, and a note says so.
    """
    numbers = {joint.name: k for k, joint in enumerate(joints)}
    followed = [_followed(source, joint, joints, numbers) for joint in joints]
    resolved: dict[int, tuple[int, float, float]] = {}
    for k in range(len(joints)):
        way = _way(source, k, joints, followed, numbers, resolved)
        for i in reversed(way):
            via = followed[i]
            assert via is not None
            leader, inner, shift = resolved.get(numbers[via.source], (numbers[via.source], 1.0, 0.0))
            ratio, offset = via.ratio * inner, via.ratio * shift + via.offset
            if not (math.isfinite(ratio) and math.isfinite(offset)):
                raise source.error(via.element, joints[i].owner, "the multipliers of the joints it follows overflow")
            if numbers[via.source] in resolved:
                owner = joints[leader].owner
                text = f"follows {owner} (through {shorten(via.source)!r}): {ratio:g} q + {offset:g}"
                source.note("info", via.element, joints[i].name, text)
            resolved[i] = leader, ratio, offset
    return [mimic(k, *resolved[k]) for k in sorted(resolved)]


def _way(
    source: UrdfSource,
    k: int,
    joints: Sequence[JointEntry],
    followed: Sequence[Following | None],
    numbers: Mapping[str, int],
    resolved: Collection[int],
) -> list[int]:
    """Joint k, the joint it follows, and so on, up to the first whose leader is known or moves by itself."""
    way: dict[int, None] = {}
    while (via := followed[k]) is not None and k not in resolved:
        way[k] = None
        k = numbers[via.source]
        if k in way:
            raise source.error(
                via.element, joints[next(iter(way))].owner, f"follows itself, by way of {joints[k].owner}"
            )
    return list(way)


def _followed(
    source: UrdfSource, joint: JointEntry, joints: Sequence[JointEntry], numbers: Mapping[str, int]
) -> Following | None:
    """What a joint follows, if it can be followed."""
    via = joint.mimic
    if via is None:
        return None
    if via.source not in numbers:
        hint = source.near(via.source, numbers)
        text = f"<mimic> ignored: there is no joint called {shorten(via.source)!r}{hint}"
        source.note("error", via.element, joint.name, text)
        return None
    nv = joints[numbers[via.source]].type.nv
    if nv != 1:
        text = f"cannot follow joint {shorten(via.source)!r}, which has {nv} freedoms; it needs one that has 1"
        raise source.error(via.element, joint.owner, text)
    return via
