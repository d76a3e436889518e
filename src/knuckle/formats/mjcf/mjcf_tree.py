"""MuJoCo's bodies and joints as a tree of ours.

MuJoCo lets several joints move one body, each about an anchor anywhere in the body's frame; our joints go one to a
body and pass through the origins of its frames. So a body with joints j1 … jn becomes n bodies: massless ones
"body/j1" … and last the body itself, whose frame sits at the anchor of jn. If that anchor is not the origin of MuJoCo's
body frame, our body is called "body/jn" and the name "body" goes to a frame where MuJoCo has it. The orientation of all
these frames is MuJoCo's. A joint's reference position (`ref`) is part of its placement: q means what qpos means, and
every joint starts where qpos0 has it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from knuckle.formats.right_angles import placed, snap
from knuckle.joints import Fixed, Free, Joint, Prismatic, Revolute, Spherical
from knuckle.model import ROOT, Body, Frame, Limits, TreeJoint
from knuckle.spatial import Inertia, Sym3, Transform, Vector, rotation
from knuckle.spatial.three import transpose

from .actuators.actuator_notes import motors
from .geoms.read_shapes import shapes
from .joint_variables import position
from .mjcf_source import MjcfSource, numbers, transform

_ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class BodyPlace:
    """Where a MuJoCo body is: the number of ours, and the place of our frame's origin in MuJoCo's body frame."""

    body: int
    origin: tuple[float, ...]


@dataclass
class MjcfTree:
    """The parts of the model so far; `places` by MuJoCo's body numbers, `numbers` by MuJoCo's joint numbers, names of
    frames by MuJoCo's numbers of sites and of geoms that tendons go over."""

    bodies: list[Body]
    joints: list[TreeJoint]
    frames: list[Frame]
    places: dict[int, BodyPlace]
    numbers: dict[int, int]
    sites: dict[int, str] = field(default_factory=dict[int, str])
    surfaces: dict[int, str] = field(default_factory=dict[int, str])


def build_tree(source: MjcfSource, file: str | None, floating: bool) -> MjcfTree:
    """All bodies and joints, in MuJoCo's order."""
    m = source.m
    tree = MjcfTree([], [], [], {0: BodyPlace(ROOT, _ORIGIN)}, {})
    bodies = [b for b in range(1, m.nbody) if b not in source.soft]
    source.used(source.name("body", b) for b in bodies)
    for b in bodies:
        _add_body(source, tree, b, file, floating)
    for s in range(m.nsite):
        place = tree.places[int(m.site_bodyid[s])]
        X = transform(m.site_pos[s], m.site_quat[s], place.origin)
        tree.sites[s] = source.claim("frame", source.name("site", s), "_site")
        tree.frames.append(Frame(tree.sites[s], place.body, X))
    return tree


def _add_body(source: MjcfSource, tree: MjcfTree, b: int, file: str | None, floating: bool) -> None:
    m, name = source.m, source.name("body", b)
    parent = tree.places[int(m.body_parentid[b])]
    first, count = int(m.body_jntadr[b]), int(m.body_jntnum[b])
    X, origin, above = transform(m.body_pos[b], m.body_quat[b], parent.origin), _ORIGIN, parent.body
    ids: list[int | None] = [*range(first, first + count)] if count else [None]
    for j in ids:
        kind, X, anchor = _placed_joint(source, j, X, origin)
        last = j == ids[-1]
        joint_name = f"{name}/fixed" if j is None else source.name("joint", j)
        start = () if j is None else _start(source, kind, j)
        if j is None and floating and parent.body == ROOT:
            joint_name, kind, start = "floating_base", Free(), _placed_at(X)
            X = Transform.identity()
        joint_name = source.claim("joint", joint_name, "_")
        origin, number = anchor, len(tree.bodies)
        own = last and origin == _ORIGIN
        body_name = name if own else source.claim("frame", f"{name}/{joint_name}", "_")
        tree.joints.append(_tree_joint(source, joint_name, kind, above, X, j, start))
        tree.bodies.append(_body(source, b, body_name, origin, file) if last else Body(body_name, Inertia.zero()))
        if j is not None:
            tree.numbers[j] = number
        if last and not own:
            tree.frames.append(Frame(name, number, Transform.translation(tuple(-x for x in origin))))
        above, X = number, Transform.identity()
    tree.places[b] = BodyPlace(above, origin)


def _placed_joint(
    source: MjcfSource, j: int | None, X: Transform, origin: tuple[float, ...]
) -> tuple[Joint, Transform, tuple[float, ...]]:
    """The joint, the transform to its predecessor frame, and where its frames' origin is in MuJoCo's body frame."""
    if j is None:
        return Fixed(), X, origin
    m, types = source.m, source.mujoco.mjtJoint
    code = int(m.jnt_type[j])
    if code == types.mjJNT_FREE:
        return Free(), Transform.identity(), _ORIGIN
    axis, anchor = tuple(map(float, snap(numbers(m.jnt_axis[j])))), numbers(m.jnt_pos[j])
    back = Vector((-float(m.qpos0[m.jnt_qposadr[j]]),))
    if code == types.mjJNT_SLIDE:
        slide = Prismatic(axis)
        return slide, _exact(slide.transform(back) @ X), origin
    X = Transform.translation(tuple(a - b for a, b in zip(anchor, origin, strict=True))) @ X
    if code == types.mjJNT_BALL:
        return Spherical(), X, anchor
    hinge = Revolute(axis)
    return hinge, _exact(hinge.transform(back) @ X), anchor


def _exact(X: Transform) -> Transform:
    return placed(X.E, X.r)


def _start(source: MjcfSource, kind: Joint, j: int) -> tuple[float, ...]:
    at = int(source.m.jnt_qposadr[j])
    return position(kind, source.m.qpos0[at : at + kind.nq])


def _placed_at(X: Transform) -> tuple[float, ...]:
    """The position of a free joint that leads where X does."""
    return numbers(Free().locate(X))


def _tree_joint(
    source: MjcfSource, name: str, kind: Joint, parent: int, X: Transform, j: int | None, start: tuple[float, ...]
) -> TreeJoint:
    if j is None:
        return TreeJoint(name, kind, parent, X, start=start)
    m = source.m
    dofs = slice(int(m.jnt_dofadr[j]), int(m.jnt_dofadr[j]) + kind.nv)
    damping, friction, armature = (numbers(x[dofs]) for x in (m.dof_damping, m.dof_frictionloss, m.dof_armature))
    if source.disabled("FRICTIONLOSS", "CONSTRAINT"):
        friction = (0.0,) * kind.nv
    if isinstance(kind, Free):
        damping, friction, armature = (x[3:] + x[:3] for x in (damping, friction, armature))
        if any(friction):
            source.note("warning", name, "frictionloss acts along the world's axes in MuJoCo, along the body's here")
        if any(armature[3:]):
            source.note("warning", name, "armature of a free joint: its velocity terms are not MuJoCo's")
    if kind.nv == 1:
        extra_armature, extra_damping = motors(source, j)
        armature, damping = (armature[0] + extra_armature,), (damping[0] + extra_damping,)
    stiffness, rest = _spring(source, name, kind, j)
    if source.disabled("DAMPER"):
        damping = ()
    limits = _limits(source, name, kind, j)
    return TreeJoint(name, kind, parent, X, limits, damping, friction, armature, stiffness, rest, start)


def _spring(source: MjcfSource, name: str, kind: Joint, j: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    m = source.m
    k, address = float(m.jnt_stiffness[j]), int(m.jnt_qposadr[j])
    if k == 0 or source.disabled("SPRING"):
        return (), ()
    if isinstance(kind, Free):
        source.note("warning", name, "spring of a free joint ignored: it acts along the world's axes")
        return (), ()
    rest = numbers(m.qpos_spring[address : address + kind.nq])
    if isinstance(kind, Spherical):
        rest = numbers(rotation.quaternion_log(rest))  # type: ignore[arg-type]
    return (k,) * kind.nv, rest


def _limits(source: MjcfSource, name: str, kind: Joint, j: int) -> Limits:
    m = source.m
    free = Limits.none(kind.nq, kind.nv)
    lower, upper, effort = free.lower, free.upper, free.effort
    if m.jnt_limited[j] and kind.nv == 1:
        (low, high) = numbers(m.jnt_range[j])
        lower, upper = (low,), (high,)
    elif m.jnt_limited[j]:
        source.note("info", name, f"range {numbers(m.jnt_range[j])} of the angle of a ball joint ignored")
    if m.jnt_actfrclimited[j] and kind.nv == 1:
        (low, high) = numbers(m.jnt_actfrcrange[j])
        effort = (max(abs(low), abs(high)),)
        if not math.isclose(-low, high):
            source.note("info", name, f"actuatorfrcrange ({low:g}, {high:g}) taken as ±{effort[0]:g}")
    return Limits(lower, upper, free.velocity, effort)


def _body(source: MjcfSource, b: int, name: str, origin: tuple[float, ...], file: str | None) -> Body:
    m = source.m
    X = transform(m.body_ipos[b], m.body_iquat[b], origin)
    xx, yy, zz = numbers(m.body_inertia[b])
    moments = Sym3(xx, 0.0, yy, 0.0, 0.0, zz).rotated(transpose(X.E))
    mass = float(m.body_mass[b])
    inertia = Inertia.of(mass, X.r, moments.matrix) if mass or any((xx, yy, zz)) else Inertia.zero()
    visuals, collisions = shapes(source, b, origin, file)
    return Body(name, inertia, visuals, collisions)
