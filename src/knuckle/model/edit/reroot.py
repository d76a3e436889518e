"""The same mechanism seen from another body (RBDA 4.1.2, 4.4; chapter 9's floating bases)."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from knuckle.errors import ModelError
from knuckle.joints import Fixed, Free
from knuckle.model.coupling import renumbered
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Body, Frame, Keyframe, Note, TreeJoint
from knuckle.scalar import ZERO
from knuckle.spatial import IDENTITY, SPATIAL, Force, Inertia, Motion, Transform, Vector

from .places import Place, noted, on_frames, placed_frames, placed_loops, re_expressed, unused
from .weld import merge_fixed

_GROUND = ROOT - 1
"""The number of the new ground, when the old base has become a body like the others."""
_PROPERTIES = ("damping", "friction", "rotor_inertia", "stiffness")
_ROOT_JOINTS = {"floating": Free(), "fixed": Fixed()}


@dataclass(frozen=True)
class StateMap:
    """From states of a model to states of the same mechanism re-rooted, over scalars of any kind.

    `(q, v) -> (q', v')` is the call itself; `positions`, `velocities` and `accelerations` give one of them. `moved`
    holds, for every body whose frame had to move, the transform from its old frame to its new one.
    """

    old: Model
    new: Model
    root: int
    moved: Mapping[str, Transform]

    def __call__(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Vector, Vector]:
        return self.positions(q), self.velocities(q, v)

    def positions(self, q: Sequence[Any]) -> Vector:
        """q' of the re-rooted model."""
        qs = self.old.positions(q)
        X = {ROOT: Transform.identity()}
        for i in reversed(self.old.ancestors(self.root)):
            X[i] = self.old.joints[i].type.transform(qs[i]) @ self.old.X_tree[i] @ X[self.old.parents[i]]
        return self._assembled(qs, Free().locate(X[self.root]), self.new.nq, self.new.q_slices)

    def velocities(self, q: Sequence[Any], v: Sequence[Any]) -> Vector:
        """v' of the re-rooted model."""
        V, _ = self._root_motion(q, v, (ZERO,) * self.old.nv)
        return self._assembled(self.old.velocities(q, v), Vector(V.components), self.new.nv, self.new.v_slices)

    def accelerations(self, q: Sequence[Any], v: Sequence[Any], a: Sequence[Any]) -> Vector:
        """The rates of v' for the rates `a` of v."""
        _, A = self._root_motion(q, v, a)
        return self._assembled(self.old.accelerations(q, v, a), Vector(A.components), self.new.nv, self.new.v_slices)

    def force(self, body: str, f: Force) -> Force:
        """A force on a body, given in its old frame, in its new one."""
        return self.moved[body] @ f if body in self.moved else f

    def _root_motion(self, q: Sequence[Any], v: Sequence[Any], a: Sequence[Any]) -> tuple[Motion, Motion]:
        """Velocity and acceleration of the new root in the old model (RBDA 5.14, 5.15)."""
        model = self.old
        qs, vs, dvs = model.positions(q), model.velocities(q, v), model.accelerations(q, v, a)
        V, A = {ROOT: Motion.zero()}, {ROOT: Motion.zero()}
        for i in reversed(model.ancestors(self.root)):
            p = model.parents[i]
            XJ, S, vJ, cJ = model.joints[i].type.motion(qs[i], vs[i])
            X = XJ @ model.X_tree[i]
            V[i] = X @ V[p] + vJ
            A[i] = X @ A[p] + S @ dvs[i] + cJ + V[i].cross(vJ)
        return V[self.root], A[self.root]

    def _assembled(self, parts: Sequence[Vector], root: Vector, n: int, slices: Sequence[slice]) -> Vector:
        old = {name: i for i, name in enumerate(self.old.joint_names)}
        root_body = self.old.body_names[self.root]
        total: list[Any] = [None] * n
        for k, (body, joint) in enumerate(zip(self.new.bodies, self.new.joints, strict=True)):
            if k not in self.new.coupled:
                total[slices[k]] = root if body.name == root_body else parts[old[joint.name]]
        return Vector(total)


def reroot(
    model: Model, body: str, base: Literal["floating", "fixed"] = "floating", *, joint_name: str = "floating_base"
) -> tuple[Model, StateMap]:
    """The mechanism with another body as its root, and the map between the states.

    With `base="floating"` the body moves freely; with "fixed" it is welded to the ground. If a free joint connected
    the mechanism to the ground, it is taken out (its name goes to the new one). If not, the old base becomes a moving
    body like the others, with the inertia that `model.base` states; then the ground is a new one, called "ground".

    The joints on the way from the old root to the new one are reversed; their q and v keep their meaning, and so do
    limits, damping and the rest. A reversed joint ends at its old predecessor frame, so the frame of each body on
    the way moves there; inertia, shapes, frames and loops are re-expressed, and a frame `NAME_origin` stays where
    frame NAME was. All other bodies, the new root among them, keep their frames. With `base="floating"` the mechanism
    starts, and is in its keyframes, where it was.
    """
    if model.algebra is not SPATIAL:
        raise ModelError("re-rooting needs a spatial model: re-root it before taking it to the plane", element=body)
    if base not in ("floating", "fixed"):
        raise ModelError(f'base is "floating" or "fixed", not {base!r}', element=body)
    root = model.body_index(body)
    if root == ROOT:
        raise ModelError("it is the base, and the root already", element=body)
    *way, first = model.ancestors(root)
    if floats := isinstance(model.joints[first].type, Free):
        joint_name = model.joint_names[first]
    else:
        way.append(first)
    moves = {model.parents[i]: model.X_tree[i] for i in way if model.X_tree[i] != IDENTITY}
    turned = _turned(model, root, way, moves, floats, TreeJoint(joint_name, _ROOT_JOINTS[base], ROOT))
    reversed_joints = ", ".join(repr(model.joint_names[i]) for i in way) or "none"
    notes = [Note("info", body, f"now the root; joints reversed: {reversed_joints}")]
    if floats and any(any(getattr(model.joints[first], name)) for name in _PROPERTIES):
        text = f"the free joint is another one now: {', '.join(_PROPERTIES)} of the old one are left out"
        notes.append(Note("warning", joint_name, text))
    turned = noted(turned, notes)
    new = turned if base == "floating" else merge_fixed(turned)
    names = {ROOT: model.base.name, **dict(enumerate(model.body_names))}
    moved = {names[i]: X for i, X in moves.items()}
    if base == "floating":
        new = _standing(new, StateMap(model.at_time(0.0), new, root, moved))
    return new, StateMap(model, new, root, moved)


def _standing(model: Model, states: StateMap) -> Model:
    """The re-rooted model with its new root where the old model has that at the start, and in each of its keyframes."""
    try:
        start = tuple(float(x) for x in states.positions(states.old.start))
    except TypeError:  # lengths that are symbols: there is no number for where it stands
        return model
    k = model.body_index(states.old.body_names[states.root])
    at = model.q_slices[k]
    joints = (*model.joints[:k], dataclasses.replace(model.joints[k], start=start[at]), *model.joints[k + 1 :])
    keyframes: list[Keyframe] = []
    for key in states.old.keyframes:
        q, v = (tuple(float(x) for x in part) for part in states(key.q, key.v))
        keyframes.append(dataclasses.replace(key, q=q, v=v))
    return model.replace(joints=joints, keyframes=tuple(keyframes))


def _turned(
    model: Model, root: int, way: Sequence[int], moves: Mapping[int, Transform], floats: bool, joint: TreeJoint
) -> Model:
    """The model with the joints on the way reversed, bodies moved to their new frames, and `joint` at the root."""
    nodes = dict(enumerate(model.bodies)) if floats else {ROOT: model.base, **dict(enumerate(model.bodies))}
    bottom = ROOT if floats else _GROUND
    back = {i: X.inverse() for i, X in moves.items()}

    def from_new_frame(i: int, X: Transform) -> Transform:
        """X, which leads away from the old frame of body i, from its new frame."""
        return X @ back[i] if i in back else X

    # the joint that now moves each body, with bodies numbered as before
    moved_by = {
        i: dataclasses.replace(joint, X_tree=from_new_frame(joint.parent, joint.X_tree))
        for i, joint in enumerate(model.joints)
    }
    for i in way:
        old = model.joints[i]
        turned = old.type.reversed()
        moved_by[old.parent] = dataclasses.replace(old, type=turned, parent=i, X_tree=from_new_frame(i, IDENTITY))
    moved_by[root] = dataclasses.replace(joint, parent=bottom)

    order = _numbered({i: j.parent for i, j in moved_by.items()}, bottom, {root: model.ancestors(root)[-1]})
    number = {bottom: ROOT, **{i: k for k, i in enumerate(order)}}
    places = {i: Place(k, back.get(i, IDENTITY)) for i, k in number.items()}
    by_name = {moved_by[i].name: k for k, i in enumerate(order)}
    taken = set(model.frame_names)
    origins = [Frame(unused(f"{nodes[i].name}_origin", taken), places[i].body, places[i].X) for i in order if i in back]
    moved = {nodes[i].name: frame.name for i, frame in zip((i for i in order if i in back), origins, strict=True)}
    carried = {nodes[i].name: nodes[model.joints[i].parent].name for i in way}
    wound = {x.name for x in model.elements if x.wound_on}
    return model.replace(
        base=model.base if floats else Body(unused("ground", taken), Inertia.zero()),
        bodies=tuple(re_expressed(nodes[i], moves[i]) if i in moves else nodes[i] for i in order),
        joints=tuple(dataclasses.replace(moved_by[i], parent=number[moved_by[i].parent]) for i in order),
        frames=(*placed_frames(model.frames, places), *origins),
        loops=placed_loops(model.loops, places),
        couplings=renumbered(model.couplings, {i: by_name[name] for i, name in enumerate(model.joint_names)}),
        elements=tuple(y for x in model.elements for y in on_frames((x,), carried if x.name in wound else moved)),
    )


def _numbered(parents: Mapping[int, int], bottom: int, rank: Mapping[int, int]) -> list[int]:
    """The bodies with every parent before its children, otherwise by their old numbers; `rank` overrules those."""
    children: dict[int, list[int]] = {}
    for i, p in parents.items():
        children.setdefault(p, []).append(i)
    order: list[int] = []
    ready = [(rank.get(i, i), i) for i in children.get(bottom, [])]
    heapq.heapify(ready)
    while ready:
        _, i = heapq.heappop(ready)
        order.append(i)
        for child in children.get(i, []):
            heapq.heappush(ready, (rank.get(child, child), child))
    return order
