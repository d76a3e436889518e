"""Mechanisms to test with: the book's chains, Featherstone's tapered trees, random trees over every joint type."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle import joints
from knuckle.functions import neutral, normalize, random_configuration
from knuckle.joints import Joint
from knuckle.model import Body, Frame, Model, TreeJoint
from knuckle.spatial import Inertia, Transform, rotation

Generator = np.random.Generator


def random_axis(rng: Generator) -> tuple[float, float, float]:
    """A unit vector: a coordinate axis one time in three."""
    if rng.random() < 1 / 3:
        sign = float(rng.choice([-1.0, 1.0]))
        x, y, z = np.eye(3)[rng.integers(3)] * sign
    else:
        x, y, z = rng.standard_normal(3)
    return float(x), float(y), float(z)


def random_rotation(rng: Generator) -> Any:
    """A rotation matrix E: a turn by a right angle one time in four."""
    if rng.random() < 1 / 4:
        E = rotation.about((0.0, 0.0, 1.0), float(rng.integers(4)) * math.pi / 2)
        return tuple(tuple(float(round(float(x))) for x in row) for row in E)
    w, x, y, z = (float(p) for p in rng.standard_normal(4))
    return rotation.from_quaternion((w, x, y, z))


def random_transform(rng: Generator, length: float = 1.0) -> Transform:
    """A placement within `length`, with no distance at all one time in five."""
    r = np.zeros(3) if rng.random() < 1 / 5 else rng.uniform(-length, length, 3)
    return Transform.of(random_rotation(rng), [float(x) for x in r])


def random_inertia(rng: Generator, size: float = 0.5) -> Inertia:
    """The inertia of a solid body: a positive mass and principal moments that a real body can have."""
    mass = float(rng.uniform(0.5, 2.0))
    a, b, c = (float(x) for x in rng.uniform(0.2, 1.0, 3) * size)
    E = np.array(random_rotation(rng), dtype=float)
    I = E.T @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ E * (mass / 5)
    return Inertia.of(mass, [float(x) for x in rng.uniform(-size, size, 3)], ((I + I.T) / 2).tolist())


def _control_frames(rng: Generator, n: int) -> tuple[Transform, ...]:
    def frame(k: int) -> Transform:
        phi = tuple(float(x) for x in rng.uniform(-0.4, 0.4, 3))
        return Transform(rotation.exp(phi), (0.3 * k, *(float(x) for x in rng.uniform(-0.3, 0.3, 2))))  # type: ignore[arg-type]

    return tuple(frame(k) for k in range(n))


def _control_grid(rng: Generator) -> list[list[list[float]]]:
    """Positions and small turns over a wavy surface."""
    return [[[0.4 * i, 0.4 * j, *rng.uniform(-0.2, 0.2, 4).tolist()] for j in range(4)] for i in range(5)]


JOINTS: dict[str, Callable[[Generator], Joint]] = {
    "fixed": lambda rng: joints.Fixed(),
    "revolute": lambda rng: joints.Revolute(random_axis(rng)),
    "continuous": lambda rng: joints.Continuous(random_axis(rng)),
    "prismatic": lambda rng: joints.Prismatic(random_axis(rng)),
    "helical": lambda rng: joints.Helical(random_axis(rng), float(rng.uniform(-0.5, 0.5))),
    "cylindrical": lambda rng: joints.Cylindrical(random_axis(rng)),
    "planar": lambda rng: joints.Planar(random_axis(rng)),
    "planar_local": lambda rng: joints.PlanarLocal(random_axis(rng)),
    "spherical": lambda rng: joints.Spherical(),
    "yaw_pitch_roll": lambda rng: joints.YawPitchRoll(),
    "euler": lambda rng: joints.Euler(str(rng.choice(["zxz", "zyz", "xyz", "yxy"]))),
    "exponential": lambda rng: joints.ExponentialSpherical(),
    "universal": lambda rng: joints.Universal(),
    "translational": lambda rng: joints.Translational(),
    "free": lambda rng: joints.Free(),
    "rack_and_pinion": lambda rng: joints.RackAndPinion(float(rng.uniform(-0.5, 0.5))),
    "composite": lambda rng: joints.Composite(
        (joints.Revolute(random_axis(rng)), joints.Helical(random_axis(rng), 0.2))
    ),
    "spline_curve": lambda rng: joints.SplineCurve(_control_frames(rng, 6)),
    "spline_surface": lambda rng: joints.SplineSurface(_control_grid(rng)),
}
"""A random joint of every type that does not depend on time."""


def general_chain(n: int, rng: Generator | int = 0) -> Model:
    """The book's GU(n): n bodies in a row on revolute joints, with parameters as general as can be (RBDA 10.3)."""
    g = np.random.default_rng(rng)
    chain = _model(g, [joints.Revolute("z")] * n, [i - 1 for i in range(n)], name=f"GU({n})")
    general = [replace(joint, X_tree=_general_transform(g)) for joint in chain.joints]
    bodies = [replace(body, inertia=_general_inertia(g)) for body in chain.bodies]
    return chain.replace(joints=tuple(general), bodies=tuple(bodies))


def _general_transform(rng: Generator) -> Transform:
    """A placement in which nothing vanishes."""
    w, x, y, z = (float(p) for p in rng.standard_normal(4))
    a, b, c = (float(p) for p in rng.uniform(-1.0, 1.0, 3))
    return Transform(rotation.from_quaternion((w, x, y, z)), (a, b, c))


def _general_inertia(rng: Generator) -> Inertia:
    """An inertia in which nothing vanishes."""
    return _general_transform(rng) @ random_inertia(rng)


def auto_tree(nb: int, branching: float = 1.0, skew: float = 0.0, taper: float = 1.0) -> Model:
    """Featherstone's family of trees in four numbers.

    Args:
        nb: number of bodies.
        branching: 1 for a chain, 2 for a binary tree; values between give trees between.
        skew: angle between successive revolute axes.
        taper: ratio of lengths of successive bodies; mass goes with its cube.
    """
    bodies: list[Body] = []
    tree: list[TreeJoint] = []
    length = [taper**i for i in range(nb)]
    for i in range(nb):
        parent = math.floor((i - 1 + math.ceil(branching)) / branching) - 1
        mass = taper ** (3 * i)
        thin, thick = (k * mass * length[i] ** 2 for k in (0.0025, 1.015 / 12))
        inertia = Inertia.of(mass, (length[i] / 2, 0.0, 0.0), ((thin, 0.0, 0.0), (0.0, thick, 0.0), (0.0, 0.0, thick)))
        X = Transform.rotation(rotation.rx(skew)) @ Transform.translation((length[parent], 0.0, 0.0))
        bodies.append(Body(f"body{i}", inertia))
        tree.append(TreeJoint(f"joint{i}", joints.Revolute("z"), parent, X if parent >= 0 else Transform()))
    return Model(bodies=tuple(bodies), joints=tuple(tree), name=f"auto_tree({nb}, {branching}, {skew}, {taper})")


def random_tree(
    rng: Generator | int,
    nb: int | None = None,
    *,
    types: Sequence[str] | None = None,
    floating: bool = False,
    resistance: bool = True,
) -> Model:
    """A random tree over every joint type: branched, with reversed joints, coincident frames and rotors.

    Args:
        rng: where the numbers come from.
        nb: number of bodies; a few, if not given.
        types: names from `JOINTS` to draw from; all of them, if not given.
        floating: whether the first joint is free and carries everything else.
        resistance: whether some joints have damping and friction.
    """
    g = np.random.default_rng(rng)
    n = int(g.integers(2, 9)) if nb is None else nb
    names = list(JOINTS) if types is None else list(types)
    kinds = [JOINTS[str(g.choice(names))](g) for _ in range(n)]
    kinds = [kind.reversed() if g.random() < 1 / 4 else kind for kind in kinds]
    parents = [int(g.integers(max(-1, i - 3), i)) for i in range(n)]
    if floating:
        kinds[0], parents = joints.Free(), [-1, *(max(0, p) for p in parents[1:])]
    return _model(g, kinds, parents, rotors=True, resistance=resistance, name="random tree")


def _model(
    rng: Generator,
    kinds: Sequence[Joint],
    parents: Sequence[int],
    *,
    rotors: bool = False,
    resistance: bool = False,
    name: str,
) -> Model:
    def some(on: bool, n: int) -> tuple[float, ...]:
        return tuple(float(x) for x in rng.uniform(0.1, 1.0, n)) if on and rng.random() < 1 / 3 else ()

    tree = [
        TreeJoint(
            f"joint{i}",
            kind,
            parent,
            random_transform(rng),
            damping=some(resistance, kind.nv),
            friction=some(resistance, kind.nv),
            rotor_inertia=some(rotors, kind.nv),
        )
        for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True))
    ]
    bodies = [Body(f"body{i}", random_inertia(rng)) for i in range(len(tree))]
    frames = [Frame(f"frame{i}", i, random_transform(rng)) for i in range(len(tree))]
    x, y, z = (float(c) for c in rng.standard_normal(3) * 5)
    return Model(tuple(bodies), tuple(tree), tuple(frames), gravity=(x, y, z), name=name)


@dataclass(frozen=True)
class FullState:
    """A state of a model with an acceleration, and a wrench on every body."""

    q: NDArray[Any]
    v: NDArray[Any]
    a: NDArray[Any]
    f_ext: NDArray[Any]


def random_state(model: Model, rng: Generator | int, *, near_singular: bool = False) -> FullState:
    """Random position, velocity, acceleration and wrenches.

    `near_singular` puts every angle within 2e-4 of a multiple of 90°, where Euler angles lock, and rotations near half
    turns or none at all.
    """
    g = np.random.default_rng(rng)
    q = random_configuration(model, g)
    if near_singular:
        right = np.round(q / (math.pi / 2)) * (math.pi / 2)
        units = [u for i, joint in enumerate(model.joints) if i not in model.coupled for u in joint.type.q_units]
        off = 1e-4 * g.uniform(0.5, 2.0, len(q)) * g.choice([-1.0, 1.0], len(q))
        near = np.where(np.array([u == "rad" for u in units], dtype=bool), right + off, q)
        quaternion = np.array([u == "1" for u in units], dtype=bool)
        q = np.where(quaternion, neutral(model) + 1e-7 * g.standard_normal(len(q)), near)
        q, _ = normalize(model, q, np.zeros(model.nv))
    return FullState(q, g.standard_normal(model.nv), g.standard_normal(model.nv), g.standard_normal((model.nb, 6)))
