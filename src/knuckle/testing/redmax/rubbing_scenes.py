"""RedMax's scenes with friction in joints and on a floor (notes 2.11), by number, with what RedMax prints for them.

Its steps leave M J̇q̇ out of what joints pass on (2.113), and pass that on to the body before in the list instead of the
one that carries the joint. `corrected` are energies without these faults.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import atan2, pi, prod, sqrt
from typing import Any

from knuckle.algorithms.contact.joint_bearings import BearingPlace, ball_places, hinge_places
from knuckle.joints import Composite, ExponentialSpherical, Fixed, Joint, Revolute, Translational
from knuckle.model import Model, solid_box, solid_cylinder, solid_sphere
from knuckle.model.placement import to_transform
from knuckle.spatial import Transform
from knuckle.spatial.three import Vec3

from .bars import ALONG, GRAVITY, NONE, Bars, Sides

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class RubbingPlace:
    """A place of a bearing: what presses there, along one or two normals, rubs along the same ways."""

    point: Vec3
    normals: tuple[Vec3, ...]
    ways: tuple[Vec3, ...]


@dataclass(frozen=True)
class RubbingJoint:
    """The surfaces of a joint, on a body and in its coordinates."""

    body: int
    places: tuple[RubbingPlace, ...]
    closes: int | None = None
    """The body that it is joined to where it closes a loop; else the body's own joint is meant"""


@dataclass(frozen=True)
class Pin:
    """A point of a body that stays at a point of another in the xz plane."""

    body: int
    point: Sides
    other: int
    at: Sides


@dataclass(frozen=True)
class RubbingScene:
    """A mechanism with friction, how it begins, and RedMax's energy at its end."""

    name: str
    model: Model
    q: tuple[float, ...]
    joints: tuple[RubbingJoint, ...]
    friction: float
    duration: float = 1.0
    step: float = 0.01
    pull: float = 5.0
    """γ in G q̇⁺ = −ġ − γ g"""
    pin: Pin | None = None
    driven: tuple[int, float] | None = None
    """A hinge about y, and its speed"""
    balls: tuple[int, ...] = ()
    """Bodies that are balls of radius one, over a floor"""
    floor: float = 0.0
    floor_friction: float = 0.0
    centres: tuple[Transform, ...] = ()
    """The axes in which RedMax has each body, where its fault in passing wrenches on depends on them"""
    printed: float = 0.0
    corrected: float | None = None


def grouped(places: Iterable[BearingPlace]) -> tuple[RubbingPlace, ...]:
    """Places of a bearing, those with the same point and ways as one."""
    normals: dict[tuple[Vec3, tuple[Vec3, ...]], list[Vec3]] = {}
    for place in places:
        normals.setdefault((place.point, place.ways), []).append(place.normal)
    return tuple(RubbingPlace(point, tuple(own), ways) for (point, ways), own in normals.items())


def _hinge(body: int, axes: tuple[Vec3, ...], radius: float, height: float, at: Vec3 = NONE, **more: Any) -> Any:
    return RubbingJoint(body, grouped(hinge_places(at, axes, radius, height, 4)), **more)


def _turned_chain() -> Model:
    b = Bars("a chain on a slope", gravity=GRAVITY)
    inertia = solid_box(prod(ALONG), ALONG, at=(5.0, 0.0, 0.0))
    first = b.body("bar0", None, Revolute("z"), {"rpy": (pi / 4, 0.0, 0.0)}, inertia=inertia)
    b.along(Revolute("z"), (10.0, 0.0, 0.0), first)
    return b.build()


def _ball_chain() -> Model:
    b = Bars("a chain on ball joints", gravity=GRAVITY)
    b.along(ExponentialSpherical(), (10.0, 0.0, 0.0), b.along(ExponentialSpherical()))
    return b.build()


def _arm_with_ball() -> Model:
    b = Bars("an arm over a floor", gravity=GRAVITY)
    last = b.along(Revolute("y"), (10.0, 0.0, 0.0), b.along(Revolute("y")))
    _ball(b, last, (10.0, 0.0, 0.0))
    return b.build(merge_fixed=False)


def _ball(b: Bars, on: str, at: Sides) -> str:
    return b.body(f"ball{len(b._bodies)}", on, Fixed(), at, inertia=solid_sphere(4 / 3 * pi, 1.0))  # pyright: ignore[reportPrivateUsage]


def _altitude() -> tuple[float, float]:
    """Where the tip of a triangle with sides 6, 12 and 14 is, from the corner between the first and the last."""
    a, b, c = 6.0, 12.0, 14.0
    s = (a + b + c) / 2
    z = 2 * sqrt(s * (s - a) * (s - b) * (s - c)) / a
    return sqrt(c * c - z * z), z


def _linkage(base: Joint, at: Sides) -> Bars:
    """Bars of lengths 10, 4, 14 and 12 one after the other; the last ends where the first does."""
    b, (x, z) = Bars("four bars", gravity=GRAVITY), _altitude()
    first = _thin(b, base, 10.0, NONE, 0.0, at)
    crank = _thin(b, Revolute("y"), 4.0, (2.0, 0.0, 0.0), 0.0, (-5.0, 0.0, 0.0), first)
    coupler = _thin(b, Revolute("y"), 14.0, (x / 2, 0.0, z / 2), atan2(z, x), (4.0, 0.0, 0.0), crank)
    away = x - 6
    _thin(b, Revolute("y"), 12.0, (-away / 2, 0.0, -z / 2), atan2(z, away), (x, 0.0, z), coupler)
    return b


def _thin(b: Bars, joint: Joint, length: float, centre: Sides, slope: float, at: Sides, on: str | None = None) -> str:
    sides, name = (length, 0.5, 0.5), f"bar{len(b._bodies)}"  # pyright: ignore[reportPrivateUsage]
    placed = {"xyz": centre, "rpy": (0.0, -slope, 0.0)}
    return b.body(name, on, joint, at, inertia=solid_box(prod(sides), sides, at=placed))


def _closing() -> tuple[Pin, RubbingJoint]:
    """The hinge between the last bar and the first, with places in the axes of the last."""
    x, z = _altitude()
    end, turn = (-(x - 6), 0.0, -z), _centred("y", -atan2(z, x - 6), NONE)
    axes = tuple(turn.inv.point(axis) for axis in (Y, X, Z))
    return Pin(3, end, 0, (5.0, 0.0, 0.0)), _hinge(3, axes, 0.5, 0.5, end, closes=0)


def _centred(axis: str, angle: float, at: Sides) -> Transform:
    return to_transform({"xyz": at, "rpy": (angle, 0.0, 0.0) if axis == "x" else (0.0, angle, 0.0)})


def _centres() -> tuple[Transform, ...]:
    """Of the bars, balls and the axle of scene 33."""
    (x, z), unmoved = _altitude(), Transform.identity()
    bars = (
        unmoved,
        _centred("y", 0.0, (2.0, 0.0, 0.0)),
        _centred("y", -atan2(z, x), (x / 2, 0.0, z / 2)),
        _centred("y", -atan2(z, x - 6), (-(x - 6) / 2, 0.0, -z / 2)),
    )
    return *bars, unmoved, unmoved, _centred("x", pi / 2, NONE), unmoved, unmoved


def _walker() -> Model:
    """Scene 33: the four bars on a free base, with balls below the first and beside the third."""
    b = _linkage(Composite((ExponentialSpherical(), Translational())), (0.0, 0.0, 1.0))
    for x in (-5.0, 5.0):
        _ball(b, "bar0", (x, 0.0, 0.0))
    across = solid_cylinder(pi * 0.25 * 5, 0.5, 5.0, at={"rpy": (pi / 2, 0.0, 0.0)})
    axle = b.body("axle", "bar2", Fixed(), inertia=across)
    for y in (2.5, -2.5):
        _ball(b, axle, (0.0, y, 0.0))
    return b.build(merge_fixed=False)


_PIN, _LAST_HINGE = _closing()
_HINGES = tuple(_hinge(i, (Y, X, Z), 0.5, 0.5) for i in (1, 2, 3))
_BALLS = tuple(RubbingJoint(i, grouped(ball_places(NONE, (X, Y, Z), 1.0))) for i in (0, 1))

RUBBING = {
    27: RubbingScene(
        "hinges that rub", _turned_chain(), (0.0,) * 2, tuple(_hinge(i, (Z, X, Y), 0.5, 1.0) for i in (0, 1)), 0.6,
        printed=-137371.12852, corrected=-137492.962,
    ),
    28: RubbingScene(
        "ball joints that rub", _ball_chain(), (0.0,) * 6, _BALLS, 5.0, printed=-184565.94591, corrected=-185762.314
    ),
    30: RubbingScene(
        "four bars that rub", _linkage(Fixed(), NONE).build(merge_fixed=False), (0.0,) * 3,
        (*_HINGES, _LAST_HINGE), 0.3, 1.0, 0.005, 200.0, _PIN, printed=-14581.15085, corrected=-15878.172,
    ),
    31: RubbingScene(
        "an arm that falls on a floor", _arm_with_ball(), (pi / 4, -pi / 4),
        tuple(_hinge(i, (Y, X, Z), 1.0, 1.0) for i in (0, 1)), 0.1, 2.0, pull=10.0, balls=(2,), floor=-15.0,
        floor_friction=0.2, printed=-90558.13460, corrected=-90672.987,
    ),
    33: RubbingScene(
        "four bars that walk", _walker(), (0.0,) * 9, (*_HINGES, _LAST_HINGE), 0.8, 1.0, 0.005, 20.0, _PIN,
        (1, -4 * pi), (4, 5, 7, 8), 0.0, 0.8, _centres(), printed=19598.86051,
    ),
}  # fmt: skip
