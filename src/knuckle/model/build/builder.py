"""Mechanisms written in Python, body by body."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from knuckle.errors import ModelError, near
from knuckle.joints import Fixed, Joint, Revolute
from knuckle.model.coupling import Coupling
from knuckle.model.coupling_laws import law_from
from knuckle.model.edit.weld import merge_fixed as merged
from knuckle.model.elements.rest_lengths import with_rest_lengths
from knuckle.model.model import STANDARD_GRAVITY, Model
from knuckle.model.parts import ROOT, Body, Frame, Geometry, LoopJoint, Note, Provenance, Shape, TreeJoint
from knuckle.model.placement import Placement, finite, to_transform, vector
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.spatial import Inertia

from .checked_parts import GivenLimits, inertia_from, limits_from, per_freedom, start_from
from .deformable_builder import DeformableBuilder, with_attached_points
from .grounds import ground_plane, height_field, surface_from
from .own_joints import check_own_joint
from .spanning_tree import Connection, spanning


class Builder(DeformableBuilder):
    """Collects bodies, joints, frames, loops, couplings, surfaces, force elements and deformable bodies,
    and builds a `Model` of them.

    Bodies are added from the base outward, and keep that order:

        b = Builder("pendulum", base="world")
        b.body("arm", on="world", joint=Revolute("y"), inertia=rod(1.0, 0.5, at=(0, 0, -0.25)))
        b.frame("tip", on="arm", at=(0, 0, -0.5))
        model = b.build()

    For joints in any order and direction between bodies, loops included, see `Builder.from_graph`.
    """

    def __init__(
        self, name: str = "mechanism", *, gravity: Sequence[float] = STANDARD_GRAVITY, base: str | Body = "base"
    ) -> None:
        self.name = name
        self.gravity = vector(gravity, "gravity", name)
        self.base = base if isinstance(base, Body) else Body(base, Inertia.zero())
        super().__init__()
        self._bodies: list[Body] = []
        self._joints: list[TreeJoint] = []
        self._frames: list[Frame] = []
        self._loops: list[LoopJoint] = []
        self._couplings: list[Coupling] = []
        self._surfaces: list[Surface] = []
        self._pairs: list[tuple[str, str, dict[str, float]]] = []
        self._ignored: list[tuple[str, str]] = []
        self._notes: list[Note] = []
        self._known = {self.base.name: Frame(self.base.name, ROOT)}
        self._joint_numbers: dict[str, int | None] = {}

    @classmethod
    def from_graph(
        cls,
        bodies: Iterable[Body],
        joints: Iterable[Connection],
        *,
        name: str = "mechanism",
        gravity: Sequence[float] = STANDARD_GRAVITY,
        base: str | Body = "base",
    ) -> Builder:
        """A builder filled from a connectivity graph (RBDA 4.1): bodies, and joints between any two of them.

        `base` is one of the bodies, or another one. A spanning tree of least depth is chosen; joints that it passes
        against their direction are reversed; joints that are left over close loops; a part that nothing connects to
        the base gets a free joint. The frame of a body moves to the joint that carries it: a frame `NAME_origin`
        stays where NAME's was.
        """
        graph: dict[str, Body] = {}
        for body in bodies:
            if body.name in graph:
                raise ModelError(f"two bodies are called {body.name!r}: each name is used once", element=body.name)
            graph[body.name] = body
        builder = cls(name, gravity=gravity, base=graph.pop(base, base) if isinstance(base, str) else base)
        tree = spanning(builder.base, list(graph.values()), list(joints))
        builder._bodies, builder._joints = list(tree.bodies), list(tree.joints)
        builder._frames, builder._loops, builder._notes = list(tree.frames), list(tree.loops), list(tree.notes)
        builder._known |= {body.name: Frame(body.name, i) for i, body in enumerate(tree.bodies)}
        builder._known |= {frame.name: frame for frame in tree.frames}
        builder._joint_numbers = {joint.name: i for i, joint in enumerate(tree.joints)}
        builder._joint_numbers |= {loop.name: None for loop in tree.loops}
        return builder

    def body(
        self,
        name: str,
        on: str | None = None,
        joint: Joint | None = None,
        at: Placement = None,
        *,
        mass: Any = None,
        com: Any = None,
        inertia: Any = None,
        joint_name: str | None = None,
        limits: GivenLimits = None,
        damping: Any = 0.0,
        friction: Any = 0.0,
        rotor_inertia: Any = 0.0,
        stiffness: Any = 0.0,
        rest: Any = 0.0,
        start: Any = None,
        visuals: Shape | Geometry | Iterable[Shape | Geometry] = (),
        collisions: Shape | Geometry | Iterable[Shape | Geometry] = (),
        surface: str = "",
    ) -> str:
        """A body on a joint. Returns its name.

        Args:
            name: the body's name.
            on: the body or frame that carries it; the base if not given.
            joint: the joint that moves it; fixed if not given.
            at: where the joint is in the frame of `on`: a transform, (x, y, z), or dict(xyz=..., rpy=...).
            mass: in kg.
            com: the centre of mass in the body's own frame, the origin if not given.
            inertia: an `Inertia`, such as `solid_box(...)` returns; or, with `mass`, three principal moments or a 3x3
                matrix about the centre of mass, along the body's axes.
            joint_name: the joint's name, `NAME_joint` if not given.
            limits: (lower, upper), a dict of lower, upper, velocity and effort, or `Limits`.
            damping: force per velocity; here and below one number, or one per velocity variable.
            friction: Coulomb friction force.
            rotor_inertia: inertia of the drive, as felt at the joint.
            stiffness: force per displacement from `rest`.
            rest: the position in which the spring is at rest.
            start: where the joint is in `kn.neutral`, one number per position variable; neutral, if not given.
            visuals: shapes to draw.
            collisions: shapes to collide.
            surface: what its colliding shapes are made of that do not say so themselves: a name given to `surface`.
        """
        kind = Fixed() if joint is None else joint
        if not isinstance(kind, Joint):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"joint needs a joint such as Revolute('z'), not {kind!r}", element=name)
        self._new_name(name, "body")
        joint_name = f"{name}_joint" if joint_name is None else joint_name
        check_own_joint(kind, joint_name)
        self._new_joint_name(joint_name)
        host = self._frame(on, f"the body {name!r} is on")
        shapes = tuple(dataclasses.replace(x, surface=x.surface or surface) for x in _geometry(collisions))
        body = Body(name, inertia_from(mass, com, inertia, name), _geometry(visuals), shapes)
        tree_joint = TreeJoint(
            joint_name,
            kind,
            host.body,
            to_transform(at, "at", element=name) @ host.X,
            limits_from(limits, kind, joint_name),
            per_freedom(damping, kind, "damping", joint_name),
            per_freedom(friction, kind, "friction", joint_name),
            per_freedom(rotor_inertia, kind, "rotor_inertia", joint_name),
            per_freedom(stiffness, kind, "stiffness", joint_name),
            per_freedom(rest, kind, "rest", joint_name, signed=True),
            start_from(start, kind, joint_name),
        )
        self._known[name] = Frame(name, len(self._bodies))
        self._joint_numbers[joint_name] = len(self._joints)
        self._bodies.append(body)
        self._joints.append(tree_joint)
        return name

    def frame(self, name: str, on: str | None = None, at: Placement = None) -> str:
        """A named frame on a body, on another frame or on the base. Returns its name."""
        self._new_name(name, "frame")
        host = self._frame(on, f"frame {name!r} is on")
        self._known[name] = frame = Frame(name, host.body, to_transform(at, "at", element=name) @ host.X)
        self._frames.append(frame)
        return name

    def close_loop(
        self,
        name: str,
        joint: Joint,
        predecessor: str,
        successor: str,
        at_predecessor: Placement = None,
        at_successor: Placement = None,
    ) -> None:
        """A joint between two bodies (or frames) that the tree connects already (RBDA 4.2)."""
        self._new_joint_name(name)
        p, s = self._frame(predecessor, "the predecessor"), self._frame(successor, "the successor")
        X_p = to_transform(at_predecessor, "at_predecessor", element=name) @ p.X
        X_s = to_transform(at_successor, "at_successor", element=name) @ s.X
        self._joint_numbers[name] = None
        self._loops.append(LoopJoint(name, joint, p.body, s.body, X_p, X_s))

    def couple(self, joint: str, to: str | Sequence[str], law: Any, *, offset: float = 0.0) -> None:
        """Makes a joint follow others: q[joint] = γ(q[to], …) (RBDA 9.6). It has no variable of its own then.

        Args:
            joint: the joint that follows, of one freedom.
            to: the joint or joints it follows, of one freedom each, which follow none themselves.
            law: a ratio; a ratio for each of the joints (a differential); a function of their positions, written with
                the functions of `knuckle.scalar`; or a `CouplingLaw`.
            offset: added to what ratios give.
        """
        sources = (to,) if isinstance(to, str) else tuple(to)
        numbers = {name: self._joint_number(name) for name in (joint, *sources)}
        for name, number in numbers.items():
            kind = self._joints[number].type
            if (kind.nq, kind.nv) != (1, 1):
                what = type(kind).__name__.lower()
                raise ModelError(
                    f"only joints of one freedom follow others or are followed; it is {what}", element=name
                )
        if any(c.joint == numbers[joint] for c in self._couplings):
            raise ModelError("it follows another joint already", element=joint)
        followed = tuple(numbers[source] for source in sources)
        self._couplings.append(Coupling(numbers[joint], followed, law_from(law, offset, len(sources), joint)))

    def mimic(self, joint: str, source: str, *, ratio: float = 1.0, offset: float = 0.0) -> None:
        """Makes a joint follow another: q[joint] = ratio q[source] + offset, as URDF's <mimic> does."""
        self.couple(joint, source, ratio, offset=offset)

    def rotor(
        self,
        name: str,
        joint: str,
        *,
        ratio: float,
        inertia: float,
        mass: float = 0.0,
        axis: Any = None,
        on: str | None = None,
        at: Placement = None,
    ) -> None:
        """The rotor of a geared motor as a body of its own, the exact way (RBDA 9.6): `rotor_inertia` is the quick one.

        Args:
            name: of the rotor and, with "_shaft" after it, of its joint.
            joint: the revolute or prismatic joint that the motor drives.
            ratio: turns of the rotor, relative to the body that carries it, for one of the joint (radians for a metre).
            inertia: about its axis; half of that across it, as of a thin disc. `mass` is on the axis.
            axis: of the rotor, in the frame `on` placed at `at`; the joint's own axis where it is not given.
            on: the body or frame that carries the motor; the joint's parent where it is not given.
            at: where on it the rotor is; where the joint is, where neither is given.
        """
        driven = self._joints[self._joint_number(joint, name)]
        along = vector(getattr(driven.type, "axis", (0, 0, 1)) if axis is None else axis, "axis", name)
        J, m = finite(inertia, "inertia", name), finite(mass, "mass", name)
        length = math.hypot(*along)
        n = tuple(x / length for x in along)
        disc = tuple(tuple(J * ((i == k) / 2 + n[i] * n[k] / 2) for k in range(3)) for i in range(3))
        place = driven.X_tree if on is None and at is None else at
        host = (self.base.name, *(body.name for body in self._bodies))[driven.parent + 1] if on is None else on
        self.body(
            name, on=host, at=place, joint=Revolute(along), joint_name=f"{name}_shaft", mass=m, com=(0, 0, 0),
            inertia=disc,
        )  # fmt: skip
        self.couple(f"{name}_shaft", joint, ratio)

    # contact

    def surface(
        self,
        name: str,
        *,
        friction: float = 1.0,
        torsional: float = 0.0,
        rolling: float = 0.0,
        restitution: float = 0.0,
        stiffness: float | None = None,
        damping: float | None = None,
    ) -> str:
        """A kind of surface, in SI units; "default" is that of shapes that name none. Returns its name.

        Args:
            name: what shapes call it.
            friction: Coulomb's coefficient.
            torsional: the largest moment about the normal over the normal force, in metres.
            rolling: the same across the normal.
            restitution: the part of the approaching velocity that comes back, from 0 to 1.
            stiffness: of soft contact, in N/m; a surface without one is rigid.
            damping: of soft contact, in N s/m.
        """
        if name in (surface.name for surface in self._surfaces):
            raise ModelError(f"a surface is called {name!r} already: each name is used once", element=name)
        self._surfaces.append(surface_from(name, friction, torsional, rolling, restitution, stiffness, damping))
        return name

    def surface_pair(
        self,
        first: str,
        second: str,
        *,
        friction: float | None = None,
        torsional: float | None = None,
        rolling: float | None = None,
        restitution: float | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
    ) -> None:
        """What holds where two surfaces touch; what is not given comes from the two, as `Surface.against` has it."""
        values = {
            "friction": friction, "torsional": torsional, "rolling": rolling, "restitution": restitution,
            "stiffness": stiffness, "damping": damping,
        }  # fmt: skip
        checked = surface_from(f"{first} on {second}", *(0.0 if x is None else x for x in values.values()))
        if any({first, second} == {a, b} for a, b, _ in self._pairs):
            raise ModelError(f"there is a pair of {first!r} and {second!r} already: each is said once", element=first)
        self._pairs.append((first, second, {key: getattr(checked, key) for key, x in values.items() if x is not None}))

    def ground(
        self, normal: Sequence[float] = (0, 0, 1), height: float = 0.0, surface: str = "", name: str = "ground"
    ) -> str:
        """An endless plane on the base, to touch and to see. Returns its name.

        Args:
            normal: the direction away from the ground, in the base's axes, of any length.
            height: how far along it from the base's origin the plane is.
            surface: what it is made of.
            name: of its shape.
        """
        return self._on_base(ground_plane(normal, height, surface, name))

    def terrain(
        self,
        heights: Any,
        spacing: float | Sequence[float],
        at: Placement = None,
        surface: str = "",
        name: str = "terrain",
    ) -> str:
        """Ground of changing height on the base, to touch and to see. Returns its name.

        Args:
            heights: an array with a row for each place along y and a column for each along x.
            spacing: the distance of places, in metres: one number, or one along x and one along y.
            at: where the middle of the grid is on the base.
            surface: what it is made of.
            name: of its shape.
        """
        X = to_transform(at, "at", element=name)
        return self._on_base(Geometry(height_field(heights, spacing, name), X, name, surface=surface))

    def ignore_contact(self, first: str, second: str) -> None:
        """Makes two bodies, or a body and the base, pass through each other."""
        names = (self.base.name, *(body.name for body in self._bodies))
        for role, name in (("first", first), ("second", second)):
            if name not in names:
                raise ModelError(f"{role} is called {name!r}, and no body added so far is{near(name, names)}")
        if first == second:
            raise ModelError("first and second are one body, which does not touch itself anyway", element=first)
        self._ignored.append((first, second))

    def _on_base(self, shape: Geometry) -> str:
        if shape.name in (x.name for x in self.base.collisions):
            raise ModelError(f"a shape of the base is called {shape.name!r} already", element=shape.name)
        seen = Geometry(shape.shape, shape.X, shape.name)
        visuals, collisions = (*self.base.visuals, seen), (*self.base.collisions, shape)
        self.base = dataclasses.replace(self.base, visuals=visuals, collisions=collisions)
        return shape.name

    def _contact_rules(self) -> ContactRules:
        rules = ContactRules(tuple(self._surfaces), (), tuple(dict.fromkeys(self._ignored)))
        for first, second, values in self._pairs:
            try:
                rules = rules.with_pair(first, second, **values)
            except ValueError as error:
                raise ModelError(f"surface_pair({first!r}, {second!r}): {error}") from None
        return rules

    def build(self, merge_fixed: bool = True) -> Model:
        """The model; bodies on fixed joints are merged into their parents unless `merge_fixed` is false."""
        model = Model(
            bodies=tuple(self._bodies),
            joints=tuple(self._joints),
            frames=tuple(self._frames),
            loops=tuple(self._loops),
            couplings=tuple(self._couplings),
            gravity=self.gravity,
            name=self.name,
            base=self.base,
            contact=self._contact_rules(),
            provenance=Provenance(notes=tuple(self._notes)),
            elements=tuple(self._elements),
        )
        model = with_rest_lengths(model, self._at_rest) if self._at_rest else model
        model = with_attached_points(model, self._soft)
        return merged(model) if merge_fixed else model

    # names

    def _frame(self, name: str | None, role: str) -> Frame:
        if name is None:
            return Frame(self.base.name, ROOT)
        if name not in self._known:
            hint = near(name, self._known)
            raise ModelError(f"{role} is called {name!r}, and no body or frame added so far is{hint}")
        return self._known[name]

    def _joint_number(self, name: str, element: str | None = None) -> int:
        """The number of a joint of the tree."""
        number = self._joint_numbers.get(name)
        if number is None:
            names = [joint.name for joint in self._joints]
            raise ModelError(f"no joint is called {name!r}{near(name, names)}", element=element or name)
        return number

    def _new_name(self, name: str, what: str) -> None:
        if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"a {what} needs a name, not {name!r}")
        if name in self._known:
            raise ModelError(f"a body or frame is called {name!r} already: each name is used once", element=name)

    def _new_joint_name(self, name: str) -> None:
        if name in self._joint_numbers:
            raise ModelError(f"a joint is called {name!r} already: each name is used once", element=name)


def _geometry(shapes: Shape | Geometry | Iterable[Shape | Geometry]) -> tuple[Geometry, ...]:
    given: Iterable[Shape | Geometry] = shapes if isinstance(shapes, Iterable) else (shapes,)
    return tuple(shape if isinstance(shape, Geometry) else Geometry(shape) for shape in given)
