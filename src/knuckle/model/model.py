"""The system model (RBDA chapter 4, table 4.3): frozen, without state, caches or backend."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from knuckle.joints import Joint
from knuckle.scalar import ZERO, constant
from knuckle.spatial import SPATIAL, Algebra, Matrix, Vector, project

from . import reduction
from .actuators.actuator import Actuator
from .connectivity import ancestors, children, subtree
from .content import content
from .coupling import Coupling
from .deformables import Deformable
from .elements import ForceElement
from .keyframes import carried
from .parts import ROOT, Body, Frame, Keyframe, LoopJoint, Provenance, TreeJoint
from .rules import check
from .surfaces import ContactRules
from .with_scalars import (
    lifted,
    lifted_body,
    lifted_coupling,
    lifted_element,
    lifted_frame,
    lifted_joint,
    nonzero,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
GROUND = Body("base", SPATIAL.Inertia.zero())


def _derived(doc: str) -> Any:
    return field(init=False, repr=False, compare=False, metadata={"doc": doc})


@dataclass(frozen=True, repr=False)
class Model:
    """A mechanism: a spanning tree of bodies, joints that close loops, couplings, frames, force elements,
    deformable bodies and gravity.

    Bodies are numbered so that each comes after its parent; joint i connects body i to `parents[i]`. The state has
    `nq` position and `nv` velocity variables: those of the joints in order, without the joints that follow others.
    `start` is the position that `kn.neutral` returns; `keyframes` are further states that have a name.
    """

    bodies: tuple[Body, ...]
    joints: tuple[TreeJoint, ...]
    frames: tuple[Frame, ...] = ()
    loops: tuple[LoopJoint, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    name: str = "mechanism"
    base: Body = GROUND
    algebra: Algebra = SPATIAL
    keyframes: tuple[Keyframe, ...] = ()
    contact: ContactRules = field(default_factory=ContactRules)
    elements: tuple[ForceElement, ...] = ()
    deformables: tuple[Deformable, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    provenance: Provenance = field(default=Provenance(), compare=False, repr=False)

    # derived from the above, and stored because every algorithm reads them

    nb: int = _derived("Number of moving bodies.")
    nq: int = _derived("Number of position variables.")
    nv: int = _derived("Number of velocity variables: the freedoms of the tree, less those that follow others.")
    parents: tuple[int, ...] = _derived("λ: the parent of each body, ROOT (−1) for those on the base.")
    X_tree: tuple[Any, ...] = _derived("X_T: from each parent's frame to the joint's predecessor frame.")
    I: tuple[Any, ...] = _derived("The inertia of each body in its own frame.")
    rotor: tuple[Vector, ...] = _derived("Rotor inertia felt at each joint variable (RBDA 9.28).")
    springs: tuple[tuple[int, Vector, Vector], ...] = _derived("(joint, stiffness, rest position) of sprung joints.")
    q_slices: tuple[slice, ...] = _derived("Each joint's place in q; empty for a joint that follows others.")
    v_slices: tuple[slice, ...] = _derived("Each joint's place in v; empty for a joint that follows others.")

    def __post_init__(self) -> None:
        def store(**values: Any) -> None:
            for name, value in values.items():
                object.__setattr__(self, name, value)

        for name in (
            "bodies",
            "joints",
            "frames",
            "loops",
            "couplings",
            "gravity",
            "keyframes",
            "elements",
            "deformables",
            "actuators",
        ):
            store(**{name: tuple(getattr(self, name))})
        coupled = self.coupled
        store(
            nb=len(self.bodies),
            nq=sum(joint.type.nq for i, joint in enumerate(self.joints) if i not in coupled),
            nv=sum(joint.type.nv for i, joint in enumerate(self.joints) if i not in coupled),
            parents=tuple(joint.parent for joint in self.joints),
            X_tree=tuple(joint.X_tree for joint in self.joints),
            I=tuple(body.inertia for body in self.bodies),
            springs=tuple(
                (i, Vector(constant(k) for k in joint.stiffness), rest_position(joint))
                for i, joint in enumerate(self.joints)
                if any(constant(k) is not ZERO for k in joint.stiffness)
            ),
            rotor=tuple(Vector(constant(x) for x in joint.rotor_inertia) for joint in self.joints),
        )
        check(self)
        store(
            q_slices=self._slices([joint.type.nq for joint in self.joints]),
            v_slices=self._slices([joint.type.nv for joint in self.joints]),
        )

    # connectivity (RBDA 4.1)

    def ancestors(self, i: int) -> tuple[int, ...]:
        """κ(i): body i and its ancestors, outermost last, without the base."""
        return ancestors(self.parents, i)

    def children(self, i: int) -> tuple[int, ...]:
        """μ(i): the children of body i (or of ROOT)."""
        return children(self.parents, i)

    def subtree(self, i: int) -> tuple[int, ...]:
        """ν(i): body i and everything outward of it."""
        return subtree(self.parents, i)

    def outward(self) -> Iterator[tuple[int, int, Joint]]:
        """(i, parent, joint) from the base to the leaves."""
        for i, joint in enumerate(self.joints):
            yield i, joint.parent, joint.type

    def inward(self) -> Iterator[tuple[int, int, Joint]]:
        """(i, parent, joint) from the leaves to the base."""
        for i in reversed(range(self.nb)):
            yield i, self.joints[i].parent, self.joints[i].type

    # what the algorithms read

    @property
    def g(self) -> Any:
        """The acceleration of gravity as a motion, in base coordinates."""
        g = SPATIAL.Motion.of((0.0, 0.0, 0.0, *self.gravity))
        return g if self.algebra is SPATIAL else project(g)

    @property
    def zero_motion(self) -> Any:
        """The velocity of the base."""
        return self.algebra.Motion.zero()

    @property
    def zero_force(self) -> Any:
        """No force."""
        return self.algebra.Force.zero()

    # variables

    @property
    def coupled(self) -> Mapping[int, Coupling]:
        """The joints that follow others, by number."""
        return {c.joint: c for c in self.couplings}

    @property
    def start(self) -> tuple[float, ...]:
        """The position (nq) in which the mechanism starts: that of every joint with variables of its own."""
        coupled = self.coupled
        return tuple(x for i, joint in enumerate(self.joints) if i not in coupled for x in joint.start)

    @property
    def lower(self) -> NDArray[Any]:
        """The lower limits (nq,) of the positions; −∞ where there is none."""
        return self._limits("lower")

    @property
    def upper(self) -> NDArray[Any]:
        """The upper limits (nq,) of the positions; ∞ where there is none."""
        return self._limits("upper")

    @property
    def velocity_limit(self) -> NDArray[Any]:
        """The largest speeds (nv,) of the joints; ∞ where there is no limit."""
        return self._limits("velocity")

    @property
    def effort_limit(self) -> NDArray[Any]:
        """The largest forces (nv,) at the joints; ∞ where there is no limit."""
        return self._limits("effort")

    def _limits(self, what: str) -> NDArray[Any]:
        import numpy as np

        coupled = self.coupled
        own = (joint.limits for i, joint in enumerate(self.joints) if i not in coupled)
        return np.array([x for limits in own for x in getattr(limits, what)], float)

    @property
    def ties_branches(self) -> bool:
        """Whether the mass matrix has more entries than the tree: couplings, or lines with armature, tie branches."""
        return bool(self.couplings) or any(element.armature for element in self.elements)

    def variables(self, i: int) -> tuple[int, ...]:
        """The velocity variables that move joint i: its own, or those of the joints that it follows."""
        joints = self.coupled[i].sources if i in self.coupled else (i,)
        return tuple(k for j in joints for k in range(self.v_slices[j].start, self.v_slices[j].stop))

    def _slices(self, sizes: Sequence[int]) -> tuple[slice, ...]:
        slices: list[slice] = []
        start, coupled = 0, self.coupled
        for i, n in enumerate(sizes):
            stop = start if i in coupled else start + n
            slices.append(slice(start, stop))
            start = stop
        return tuple(slices)

    def positions(self, q: Any) -> tuple[Vector, ...]:
        """q of each joint of the tree; joints that follow others are where their laws put them (RBDA 8.11: γ)."""
        return reduction.positions(self, q)

    def velocities(self, q: Any, v: Any) -> tuple[Vector, ...]:
        """v of each joint of the tree at the position q, or any other vector that goes like it (RBDA 8.42: G v)."""
        return reduction.velocities(self, q, v)

    def accelerations(self, q: Any, v: Any, a: Any) -> tuple[Vector, ...]:
        """a of each joint of the tree (RBDA 8.42: G a + g, with g = Ġ v)."""
        return reduction.accelerations(self, q, v, a)

    def forces(self, q: Any, tau: Mapping[int, Vector] | Sequence[Vector]) -> Vector:
        """Generalised force from the forces at the tree's joints, at the position q (RBDA 9.26: Gᵀ τ)."""
        return reduction.forces(self, q, tau)

    def square(self, q: Any, blocks: reduction.Blocks) -> Matrix:
        """Gᵀ H G from the blocks of H, missing blocks being zero (RBDA 6.5, 9.26)."""
        return reduction.square(self, q, blocks)

    def square_rate(self, q: Any, v: Any, blocks: reduction.Blocks) -> Matrix:
        """Gᵀ H Ġ: what a change of G adds to the Coriolis matrix (RBDA 8.42 in 8.44)."""
        return reduction.square_rate(self, q, v, blocks)

    def columns(self, q: Any, parts: Mapping[int, Iterable[Any]], zero: Any) -> list[Any]:
        """J G from the columns of each joint: one entry per velocity variable, `zero` where a joint has none."""
        return reduction.columns(self, q, parts, zero)

    def column_rates(self, q: Any, v: Any, parts: Mapping[int, Iterable[Any]], zero: Any) -> list[Any]:
        """J Ġ from the columns of each joint: what a change of G does to J G."""
        return reduction.column_rates(self, q, v, parts, zero)

    # names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in order."""
        return tuple(joint.name for joint in self.joints)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the moving bodies in order."""
        return tuple(body.name for body in self.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of everything `pose` and `jacobian` know: the base, the bodies and the frames."""
        return (self.base.name, *self.body_names, *(frame.name for frame in self.frames))

    def joint(self, name: str) -> TreeJoint:
        """A joint of the tree by name: its type, limits, damping and the rest."""
        return self.joints[self.joint_index(name)]

    def body(self, name: str) -> Body:
        """A body, or the base, by name: its inertia and its shapes."""
        i = self.body_index(name)
        return self.base if i == ROOT else self.bodies[i]

    def body_index(self, name: str) -> int:
        """The number of a body; ROOT for the base."""
        return _find(name, {self.base.name: ROOT, **{b: i for i, b in enumerate(self.body_names)}}, "body")

    def joint_index(self, name: str) -> int:
        """The number of a joint."""
        return _find(name, {j: i for i, j in enumerate(self.joint_names)}, "joint")

    def frame(self, name: str) -> Frame:
        """A frame by name: a body's own, the base's or an added one."""
        return _find(name, self.frame_table, "frame")

    @property
    def frame_table(self) -> dict[str, Frame]:
        """All frames by name: the base's, the bodies' own and the added ones."""
        here = self.algebra.Transform.identity()
        own = {b: Frame(b, i, here) for i, b in enumerate(self.body_names)}
        return {self.base.name: Frame(self.base.name, ROOT, here), **own, **{f.name: f for f in self.frames}}

    def actuator(self, name: str) -> Actuator:
        """An actuator by name."""
        return _find(name, {x.name: x for x in self.actuators}, "actuator")

    def deformable(self, name: str) -> Deformable:
        """A deformable body by name."""
        return _find(name, {x.name: x for x in self.deformables}, "deformable")

    def keyframe(self, name: str) -> Keyframe:
        """A keyframe by name."""
        return _find(name, {key.name: key for key in self.keyframes}, "keyframe")

    # variants

    def at_time(self, t: Any) -> Model:
        """The mechanism at time t: joints that move by a law of time stand where it puts them."""
        return self.replace(
            joints=tuple(dataclasses.replace(joint, type=joint.type.at_time(t)) for joint in self.joints),
            loops=tuple(dataclasses.replace(loop, type=loop.type.at_time(t)) for loop in self.loops),
        )

    @property
    def depends_on_time(self) -> bool:
        """Whether some joint, or loop joint, moves by a law of time."""
        return any(joint.type.at_time(0.0) != joint.type for joint in (*self.joints, *self.loops))

    def replace(self, **changes: Any) -> Model:
        """A copy with some fields changed.

        Keyframes follow the joints, by their names; one that is new in them stands where it starts. Actuators of what
        is no longer there are left out.
        """
        if self.actuators and "actuators" not in changes:
            changes["actuators"] = staying(self, changes)
        if not self.keyframes or "keyframes" in changes or not changes.keys() & {"joints", "couplings"}:
            return dataclasses.replace(self, **changes)
        made = dataclasses.replace(self, **changes, keyframes=())
        return dataclasses.replace(made, keyframes=carried(self, made))

    def without_friction(self) -> Model:
        """Without joint damping and friction, as most other libraries compute."""
        return self.replace(joints=tuple(dataclasses.replace(j, damping=(), friction=()) for j in self.joints))

    def without_actuators(self) -> Model:
        """Without its actuators."""
        return self.replace(actuators=())

    def without_loops(self) -> Model:
        """The spanning tree alone: the loop joints opened."""
        return self.replace(loops=())

    def without_couplings(self) -> Model:
        """With every joint of the tree independent, as other libraries load mimic joints."""
        return self.replace(couplings=())

    def without_elements(self) -> Model:
        """Without its force elements."""
        return self.replace(elements=())

    def without_deformables(self) -> Model:
        """Without its deformable bodies."""
        return self.replace(deformables=())

    def with_scalars(self, number: Callable[[Any], Any]) -> Model:
        """The same model with its inertias, lengths and coefficients as numbers of another kind.

        `model.with_scalars(mpmath.mpf)` computes with all the digits asked for, `model.with_scalars(sympy.nsimplify)`
        with exact numbers. Zeros and ones stay structural; the parameters of joint types (axes, pitches) stay floats.
        """
        return self.replace(
            bodies=tuple(lifted_body(body, number) for body in self.bodies),
            joints=tuple(lifted_joint(joint, number) for joint in self.joints),
            frames=tuple(lifted_frame(frame, number) for frame in self.frames),
            couplings=tuple(lifted_coupling(coupling, number) for coupling in self.couplings),
            gravity=lifted(self.gravity, nonzero(number)),
            elements=tuple(lifted_element(element, number) for element in self.elements),
        )

    def with_gravity(self, gravity: Sequence[float]) -> Model:
        """In another field of gravity."""
        x, y, z = gravity
        return self.replace(gravity=(float(x), float(y), float(z)))

    @property
    def content_hash(self) -> str:
        """A hash of everything that makes the model what it is, the same in every process."""
        parts: Any = (
            self.bodies,
            self.joints,
            self.frames,
            self.loops,
            self.couplings,
            self.gravity,
            self.base,
            self.contact,
            self.elements,
            self.deformables,
            *((self.actuators,) if self.actuators else ()),
        )
        return hashlib.sha256(content((parts, self.algebra.name)).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"<knuckle.Model {self}>"

    def __str__(self) -> str:
        from knuckle.functions.loops.freedoms_at_start import freedoms_at_start

        kinds = Counter(type(joint.type).__name__.lower() for joint in self.joints)
        joints = ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in kinds.items()) or "none"
        loops = f", loops: {len(self.loops)}" if self.loops else ""
        found = freedoms_at_start(self)
        freedoms = "" if found is None else f", freedoms: {found.freedoms}"
        return f"{self.name}: {self.nb} bodies, nq={self.nq}, nv={self.nv}{loops}{freedoms}, joints: {joints}"

    def _repr_html_(self) -> str:
        """In a notebook: a drawing of its tree, and a table of its joints."""
        from knuckle.viewer.notebook.model_html import model_html

        return model_html(self)


def rest_position(joint: TreeJoint) -> Vector:
    """Where the joint's spring is at rest."""
    return joint.type.integrate(joint.type.neutral(), Vector(joint.rest))


def staying(model: Model, changes: Mapping[str, Any]) -> tuple[Actuator, ...]:
    """The actuators whose joints, frames or lines are still there after some changes."""
    if not changes.keys() & {"joints", "bodies", "frames", "elements", "base"}:
        return model.actuators
    now = {what: changes.get(what, getattr(model, what)) for what in ("joints", "bodies", "frames", "elements")}
    joints, bodies, frames, elements = ({x.name for x in parts} for parts in now.values())
    there = bodies | frames | {changes.get("base", model.base).name}
    return tuple(x for x in model.actuators if x.transmission.stays(joints, there, elements))


def _find(name: str, table: Mapping[str, Any], what: str) -> Any:
    try:
        return table[name]
    except KeyError:
        import difflib

        near = difflib.get_close_matches(str(name), list(table), n=3)
        hint = (
            f"did you mean {', '.join(map(repr, near))}?"
            if near
            else f"there are: {', '.join(list(table)[:20]) or 'none'}"
        )
        raise KeyError(f"no {what} is called {name!r}; {hint}") from None
