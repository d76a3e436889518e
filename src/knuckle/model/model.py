"""The system model (RBDA chapter 4, table 4.3): frozen, without state, caches or backend."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knuckle.errors import ModelError
from knuckle.joints import Joint
from knuckle.scalar import ONE, ZERO, constant
from knuckle.spatial import SPATIAL, Algebra, Matrix, Vector, project

from .connectivity import ancestors, children, subtree
from .content import content
from .numbers import lifted, lifted_body, lifted_frame, lifted_joint
from .parts import ROOT, Body, Frame, LoopJoint, Mimic, Provenance, TreeJoint

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
GROUND = Body("base", SPATIAL.Inertia.zero())


def _derived(doc: str) -> Any:
    return field(init=False, repr=False, compare=False, metadata={"doc": doc})


@dataclass(frozen=True, repr=False)
class Model:
    """A mechanism: a spanning tree of bodies, joints that close loops, couplings, frames and gravity.

    Bodies are numbered so that each comes after its parent; joint i connects body i to `parents[i]`. The state has
    `nq` position and `nv` velocity variables: those of the joints in order, without the joints that mimic others.
    Coulomb friction is smoothed over `friction_velocity`: f v/√(v² + ε²).
    """

    bodies: tuple[Body, ...]
    joints: tuple[TreeJoint, ...]
    frames: tuple[Frame, ...] = ()
    loops: tuple[LoopJoint, ...] = ()
    mimics: tuple[Mimic, ...] = ()
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    friction_velocity: float = 0.01
    name: str = "mechanism"
    base: Body = GROUND
    algebra: Algebra = SPATIAL
    provenance: Provenance = field(default=Provenance(), compare=False, repr=False)

    # derived from the above, and stored because every algorithm reads them

    nb: int = _derived("Number of moving bodies.")
    nq: int = _derived("Number of position variables.")
    nv: int = _derived("Number of velocity variables: the freedoms of the tree, less those that mimic others.")
    parents: tuple[int, ...] = _derived("λ: the parent of each body, ROOT (−1) for those on the base.")
    X_tree: tuple[Any, ...] = _derived("X_T: from each parent's frame to the joint's predecessor frame.")
    I: tuple[Any, ...] = _derived("The inertia of each body in its own frame.")
    rotor: tuple[Vector, ...] = _derived("Rotor inertia felt at each joint variable (RBDA 9.28).")
    springs: tuple[tuple[int, Vector, Vector], ...] = _derived("(joint, stiffness, rest position) of sprung joints.")
    ratios: tuple[Any, ...] = _derived("Each joint's entry of G (RBDA 9.26): its variables over the independent ones.")
    q_slices: tuple[slice, ...] = _derived("Each joint's place in q; a mimic joint has its source's.")
    v_slices: tuple[slice, ...] = _derived("Each joint's place in v; a mimic joint has its source's.")

    def __post_init__(self) -> None:
        def store(**values: Any) -> None:
            for name, value in values.items():
                object.__setattr__(self, name, value)

        for name in ("bodies", "joints", "frames", "loops", "mimics", "gravity"):
            store(**{name: tuple(getattr(self, name))})
        coupled = self.coupled
        store(
            nb=len(self.bodies),
            nq=sum(joint.kind.nq for i, joint in enumerate(self.joints) if i not in coupled),
            nv=sum(joint.kind.nv for i, joint in enumerate(self.joints) if i not in coupled),
            parents=tuple(joint.parent for joint in self.joints),
            X_tree=tuple(joint.X_tree for joint in self.joints),
            I=tuple(body.inertia for body in self.bodies),
            springs=tuple(
                (i, Vector(constant(k) for k in joint.stiffness), rest_position(joint))
                for i, joint in enumerate(self.joints)
                if any(joint.stiffness)
            ),
            rotor=tuple(Vector(constant(x) for x in joint.rotor_inertia) for joint in self.joints),
            ratios=tuple(constant(coupled[i].ratio) if i in coupled else ONE for i in range(len(self.joints))),
        )
        check(self)
        store(
            q_slices=self._slices([joint.kind.nq for joint in self.joints]),
            v_slices=self._slices([joint.kind.nv for joint in self.joints]),
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
            yield i, joint.parent, joint.kind

    def inward(self) -> Iterator[tuple[int, int, Joint]]:
        """(i, parent, joint) from the leaves to the base."""
        for i in reversed(range(self.nb)):
            yield i, self.joints[i].parent, self.joints[i].kind

    # what the algorithms read

    @property
    def g(self) -> Any:
        """The acceleration of gravity as a motion, in base coordinates."""
        g = SPATIAL.Motion.of((0.0, 0.0, 0.0, *self.gravity))
        return g if self.algebra is SPATIAL else project(g)

    @property
    def still(self) -> Any:
        """The velocity of the base."""
        return self.algebra.Motion.zero()

    @property
    def no_force(self) -> Any:
        """No force."""
        return self.algebra.Force.zero()

    # variables

    @property
    def coupled(self) -> Mapping[int, Mimic]:
        """The joints that mimic another, by number."""
        return {m.joint: m for m in self.mimics}

    def _slices(self, sizes: Sequence[int]) -> tuple[slice, ...]:
        slices: list[slice] = []
        start, mimics = 0, self.coupled
        for i, n in enumerate(sizes):
            if i in mimics:
                slices.append(slice(0, 0))
                continue
            slices.append(slice(start, start + n))
            start += n
        for m in self.mimics:
            slices[m.joint] = slices[m.source]
        return tuple(slices)

    def positions(self, q: Any) -> tuple[Vector, ...]:
        """q of each joint of the tree; mimic joints follow their source."""
        parts = [Vector(q[s]) for s in self.q_slices]
        for m in self.mimics:
            parts[m.joint] = Vector(constant(m.ratio) * x + constant(m.offset) for x in parts[m.source])
        return tuple(parts)

    def velocities(self, v: Any) -> tuple[Vector, ...]:
        """v, or an acceleration, of each joint of the tree (RBDA 9.26: G v)."""
        parts = [Vector(v[s]) for s in self.v_slices]
        for m in self.mimics:
            parts[m.joint] = constant(m.ratio) * parts[m.source]
        return tuple(parts)

    def forces(self, tau: Mapping[int, Vector] | Sequence[Vector]) -> Vector:
        """Generalised force from the forces at the tree's joints (RBDA 9.26: Gᵀ τ)."""
        total: list[Any] = [ZERO] * self.nv
        for i, s in enumerate(self.v_slices):
            for k, x in zip(range(s.start, s.stop), tau[i], strict=True):
                total[k] = total[k] + self.ratios[i] * x
        return Vector(total)

    def square(self, blocks: Mapping[tuple[int, int], Matrix]) -> Matrix:
        """Gᵀ H G from the blocks of H, missing blocks being zero (RBDA 6.5, 9.26)."""
        n, slices = self.nv, self.v_slices
        total: list[list[Any]] = [[ZERO] * n for _ in range(n)]
        for (i, j), block in blocks.items():
            for k, row in zip(range(slices[i].start, slices[i].stop), block.rows, strict=True):
                for m, x in zip(range(slices[j].start, slices[j].stop), row, strict=True):
                    total[k][m] = total[k][m] + self.ratios[i] * self.ratios[j] * x
        return Matrix(total, n)

    def columns(self, parts: Mapping[int, Iterable[Any]], zero: Any) -> list[Any]:
        """J G from the columns of each joint: one entry per velocity variable, `zero` where a joint has none."""
        total = [zero] * self.nv
        slices = self.v_slices
        for i, columns in parts.items():
            for k, column in zip(range(slices[i].start, slices[i].stop), columns, strict=True):
                total[k] = total[k] + column * self.ratios[i]
        return total

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

    def body_index(self, name: str) -> int:
        """The number of a body; ROOT for the base."""
        return _find(name, {self.base.name: ROOT, **{b: i for i, b in enumerate(self.body_names)}}, "body")

    def joint_index(self, name: str) -> int:
        """The number of a joint."""
        return _find(name, {j: i for i, j in enumerate(self.joint_names)}, "joint")

    def frame(self, name: str) -> Frame:
        """A frame by name: a body's own, the base's or an added one."""
        here = self.algebra.Transform.identity()
        own = {b: Frame(b, i, here) for i, b in enumerate(self.body_names)}
        added = {f.name: f for f in self.frames}
        return _find(name, {self.base.name: Frame(self.base.name, ROOT, here), **own, **added}, "frame")

    # variants

    def at(self, t: Any) -> Model:
        """The mechanism at time t: joints that move by a law of time stand where it puts them."""
        return self.replace(
            joints=tuple(dataclasses.replace(joint, kind=joint.kind.at(t)) for joint in self.joints),
            loops=tuple(dataclasses.replace(loop, kind=loop.kind.at(t)) for loop in self.loops),
        )

    def replace(self, **changes: Any) -> Model:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def without_friction(self) -> Model:
        """Without joint damping and friction, as most other libraries compute."""
        return self.replace(joints=tuple(dataclasses.replace(j, damping=(), friction=()) for j in self.joints))

    def without_loops(self) -> Model:
        """The spanning tree alone: the loop joints opened."""
        return self.replace(loops=())

    def without_mimic(self) -> Model:
        """With the mimic joints independent, as other libraries load them."""
        return self.replace(mimics=())

    def over(self, number: Callable[[Any], Any]) -> Model:
        """The same model with its inertias, lengths and coefficients as numbers of another kind.

        `model.over(mpmath.mpf)` computes with all the digits asked for, `model.over(sympy.nsimplify)` with exact
        numbers. Zeros and ones stay structural; the parameters of joint types (axes, pitches) stay floats.
        """
        return self.replace(
            bodies=tuple(lifted_body(body, number) for body in self.bodies),
            joints=tuple(lifted_joint(joint, number) for joint in self.joints),
            frames=tuple(lifted_frame(frame, number) for frame in self.frames),
            gravity=lifted(self.gravity, lambda x: number(x) if x else x),
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
            self.mimics,
            self.gravity,
            self.base,
            self.friction_velocity,
        )
        return hashlib.sha256(content((parts, self.algebra.name)).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"<knuckle.Model {self}>"

    def __str__(self) -> str:
        kinds = [type(joint.kind).__name__.lower() for joint in self.joints]
        return f"{self.name}: {self.nb} bodies, nq={self.nq}, nv={self.nv}, joints: {', '.join(kinds) or 'none'}"


def rest_position(joint: TreeJoint) -> Vector:
    """Where the joint's spring is at rest."""
    return joint.kind.integrate(joint.kind.neutral(), Vector(joint.rest))


def _find(name: str, table: Mapping[str, Any], what: str) -> Any:
    try:
        return table[name]
    except KeyError:
        import difflib

        near = difflib.get_close_matches(str(name), list(table), n=3)
        hint = f"did you mean {', '.join(map(repr, near))}?" if near else f"there are: {', '.join(list(table)[:20])}"
        raise KeyError(f"no {what} is called {name!r}; {hint}") from None


def check(model: Model) -> None:
    """The rules of a well-formed model (RBDA 4.1.2): numbering, unique names, sizes, couplings."""
    if len(model.bodies) != len(model.joints):
        raise ModelError(f"{len(model.bodies)} bodies but {len(model.joints)} tree joints: each body has one")
    for i, joint in enumerate(model.joints):
        if not ROOT <= joint.parent < i:
            raise ModelError(f"parent {joint.parent} of body {i} is not numbered before it", element=joint.name)
    for what, names in (
        ("joint", (*model.joint_names, *(loop.name for loop in model.loops))),
        ("frame", model.frame_names),
    ):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise ModelError(f"two {what}s are called {name!r}", element=name)
            seen.add(name)
    for loop in model.loops:
        for end in (loop.predecessor, loop.successor):
            if not ROOT <= end < model.nb:
                raise ModelError(f"body {end} does not exist", element=loop.name)
    for frame in model.frames:
        if not ROOT <= frame.body < model.nb:
            raise ModelError(f"body {frame.body} does not exist", element=frame.name)
    _check_mimics(model)


def _check_mimics(model: Model) -> None:
    coupled = model.coupled
    if len(coupled) != len(model.mimics):
        raise ModelError("a joint mimics two others")
    for m in model.mimics:
        for k in (m.joint, m.source):
            if not 0 <= k < model.nb or model.joints[k].kind.nq != 1 or model.joints[k].kind.nv != 1:
                raise ModelError("only joints of one freedom can mimic or be mimicked", element=f"joint {k}")
        if m.source in coupled:
            raise ModelError("a mimic joint must name an independent source", element=model.joint_names[m.joint])
