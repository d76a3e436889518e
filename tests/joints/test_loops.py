"""Joints that close loops: `locate` finds the position, `loop` gives δ and T (RBDA 8.25-8.27, table 8.1)."""

import math

import numpy as np
import pytest

from knuckle.joints import (
    Composite,
    Cylindrical,
    Euler,
    Fixed,
    Helical,
    Joint,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    Spherical,
    SplineCurve,
    Universal,
    YawPitchRoll,
)
from knuckle.joints.axis import frame
from knuckle.spatial import Force, Motion, Transform, Vector, lie, rotation
from knuckle.spatial.three import matmul, matvec, sub, transpose

from .zoo import SKEW, ZOO, close, control_frames, matrix, numbers, slope, state, twist


def random_transform(seed: int) -> Transform:
    rng = np.random.default_rng([seed, 21])
    return Transform(
        rotation.from_quaternion(tuple(rng.standard_normal(4).tolist())), tuple(rng.uniform(-1, 1, 3).tolist())
    )  # type: ignore[arg-type]


@pytest.mark.slow
def test_locate_inverts_transform(joint: Joint, seed: int):
    q, _ = state(joint, seed)
    X = joint.transform(q)
    close(joint.transform(joint.locate(X)), X)


def test_reachable_places_have_no_error(joint: Joint, seed: int):
    """δ = 0, and T are the constraint forces there."""
    q, _ = state(joint, seed)
    delta, T = joint.loop(joint.transform(q))
    close(delta, [0.0] * (6 - joint.nv))
    assert T.vector is Force
    close(T.T @ joint.subspace(q), np.zeros((6 - joint.nv) * joint.nv))


@pytest.mark.slow
def test_error_is_the_constrained_part_of_a_small_displacement(joint: Joint, seed: int):
    """For X = (1 − d×) X_J, δ = Tᵀd to first order, exact by a complex step of d."""
    q, _ = state(joint, seed)
    d = twist(seed)
    X = lie.exp(d * 1e-30j) @ joint.transform(q)
    delta, _ = joint.loop(X)
    _, T = joint.loop(joint.transform(q))
    close(slope(delta), T.T @ d)


def printed(kind: str, X: np.ndarray) -> list[float]:
    """Table 8.1, letter for letter; X[i, j] counts from one as the book does."""
    x = np.zeros((7, 7))
    x[1:, 1:] = X
    skew = [(x[2, 3] - x[3, 2]) / 2, (x[3, 1] - x[1, 3]) / 2, (x[1, 2] - x[2, 1]) / 2]
    return {
        "fixed": [*skew, (x[5, 3] - x[6, 2]) / 2, (x[6, 1] - x[4, 3]) / 2, (x[4, 2] - x[5, 1]) / 2],
        "revolute": [x[2, 3], -x[1, 3], x[5, 3], -x[4, 3], x[4, 1] * x[2, 1] + x[4, 2] * x[2, 2]],
        "prismatic": [*skew, x[5, 3], -x[4, 3]],
        "cylindrical": [x[2, 3], -x[1, 3], x[5, 3], -x[4, 3]],
        "spherical": [
            x[5, 1] * x[3, 1] + x[5, 2] * x[3, 2] + x[5, 3] * x[3, 3],
            x[6, 1] * x[1, 1] + x[6, 2] * x[1, 2] + x[6, 3] * x[1, 3],
            x[4, 1] * x[2, 1] + x[4, 2] * x[2, 2] + x[4, 3] * x[2, 3],
        ],
    }[kind]


TABLE_8_1 = {
    "fixed": (Fixed(), (1, 2, 3, 4, 5, 6)),
    "revolute": (Revolute(), (1, 2, 4, 5, 6)),
    "prismatic": (Prismatic(), (1, 2, 3, 4, 5)),
    "cylindrical": (Cylindrical(), (1, 2, 4, 5)),
    "spherical": (Spherical(), (4, 5, 6)),
}


@pytest.mark.parametrize("kind", TABLE_8_1)
def test_errors_are_those_of_table_8_1(kind: str, seed: int):
    """Equal to the printed entries for any X, small error or not, with T = the unit forces of table 4.1 in order."""
    joint, units = TABLE_8_1[kind]
    X = random_transform(seed)
    delta, T = joint.loop(X)
    close(delta, printed(kind, matrix_of(X)), 1e-15)
    assert matrix(T).T.tolist() == [np.eye(6)[k - 1].tolist() for k in units]


def matrix_of(X: Transform) -> np.ndarray:
    return np.array(X.matrix.rows, dtype=float)


@pytest.mark.parametrize("axis", ["x", "y", (0, 0, -1), SKEW])
@pytest.mark.parametrize("make", [Revolute, Prismatic, Cylindrical])
def test_errors_for_any_axis_are_those_for_z_in_turned_frames(make: type, axis: object, seed: int):
    """T and δ of an axis are those of z in frames whose z is that axis (for a slide, up to the order of couples)."""
    joint = make(axis)
    F = Transform(frame(joint.axis))
    X = random_transform(seed)
    delta, T = joint.loop(X)
    delta_z, T_z = make("z").loop(F @ X @ F.inverse())
    carried = [F.inv @ t for t in T_z]
    change = np.linalg.lstsq(matrix(T), np.array([t.components for t in carried], dtype=float).T, rcond=None)[0]
    close(delta_z, change.T @ numbers(delta))


def test_cylindrical_error_of_example_8_1():
    """X = (1 − d×) X_J with d₃ = d₆ = 0: δ = (d₁, d₂, d₄, d₅)."""
    d = Motion.of([0.3, -0.4, 0.0, 0.7, 0.2, 0.0])
    X = lie.exp(d * 1e-30j) @ Cylindrical().transform(Vector([0.6, 1.5]))
    delta, _ = Cylindrical().loop(X)
    close(slope(delta), [0.3, -0.4, 0.7, 0.2])


def test_spherical_error_is_the_gap_itself(seed: int):
    """The products of entries in table 8.1 are Er, exact for gaps of any size (row D-17)."""
    X = random_transform(seed)
    E, r = numbers(X.E).reshape(3, 3), numbers(X.r)
    close(Spherical().loop(X)[0], E @ r, 1e-15)
    close([np.linalg.norm(numbers(Spherical().loop(X)[0]))], [np.linalg.norm(r)])


@pytest.mark.slow
def test_reversed_error_keeps_its_value(joint: Joint, seed: int):
    """Seen from the other side δ is the same, and T the opposite forces on the other body.

    A search tells positions apart by the cost, to the root of its rounding: T moves by 1e-9 with X of other roundings.
    """
    q, _ = state(joint, seed)
    X = lie.exp(twist(seed) * 1e-3) @ joint.transform(q)
    delta, T = joint.loop(X)
    delta_back, T_back = Reversed(joint).loop(X.inverse())
    close(delta_back, delta, 1e-11)
    close(T_back, [-(X.inv @ t) for t in T], 1e-9)


@pytest.mark.parametrize("joint", [Helical("z", 0.2), Helical(SKEW, -0.01), RackAndPinion(0.4), RackAndPinion(-1e-3)])
@pytest.mark.parametrize("angle", [0.0, 3.0, math.pi, -4.0, 50.0, -1000.0])
def test_locate_counts_the_turns(joint: Joint, angle: float):
    """A screw's angle and a pinion's are seen modulo a turn; how far it got says which turn."""
    close(joint.locate(joint.transform(Vector([angle]))), [angle])


@pytest.mark.parametrize("joint", [Helical(SKEW, 0.2), RackAndPinion(0.4), RackAndPinion(-0.3, SKEW)])
@pytest.mark.parametrize("angle", [0.3, -4.0, 50.0])
def test_locate_takes_the_angle_from_the_turn_and_only_the_turns_from_the_way(joint: Joint, angle: float):
    """An error along the way of less than half a turn's leaves the angle as E shows it."""
    X = joint.transform(Vector([angle]))
    way = getattr(joint, "rack", joint.axis)  # type: ignore[attr-defined]
    for error in (0.5, -0.5):
        moved = Transform(X.E, tuple(r + error * a for r, a in zip(X.r, way, strict=True)))  # type: ignore[arg-type]
        close(joint.locate(moved), [angle])


def lanes_of(joint: Joint, n: int) -> tuple[Vector, list[Vector]]:
    rng = np.random.default_rng(31)
    states = [joint.random(rng) for _ in range(n)]
    return Vector(np.array([list(q) for q in states]).T), states


SEARCHED = [
    Composite((Revolute("x"), Prismatic("z"), Revolute("y"))),
    Composite((Revolute("z"), Prismatic("x"), Revolute("y"), Prismatic("z"), Revolute("x"))),
    Composite((Spherical(), Prismatic("x"))),
    ZOO["composite nested"],
    ZOO["own"],
    SplineCurve(control_frames(9)),
]


@pytest.mark.parametrize("joint", [*SEARCHED[:-1], pytest.param(SEARCHED[-1], marks=pytest.mark.slow)])
def test_search_finds_every_place_in_lanes(joint: Joint):
    """Two thousand places at once, none of them missed: every lane takes its own way by `select`."""
    q, _ = lanes_of(joint, 2000)
    X = joint.transform(q)
    left = lie.log(X @ joint.transform(joint.locate(X)).inverse())
    assert max(np.max(np.abs(np.asarray(x, dtype=float))) for x in left.components) < 1e-12


@pytest.mark.parametrize("joint", [SEARCHED[0], SEARCHED[-1]])
def test_search_in_lanes_is_the_search_of_each(joint: Joint):
    q, states = lanes_of(joint, 5)
    found = joint.locate(joint.transform(q))
    for k, one in enumerate(states):
        close(joint.transform(Vector(x[k] for x in found)), joint.transform(one))


@pytest.mark.parametrize("name", ["composite RP", "own", "function", "spline curve 7", "spline surface"])
def test_search_settles_where_it_cannot_come_nearer(name: str, seed: int):
    """Out of reach, the turn and the distance left over do no work on the freedoms: Sᵀ(φ, p) = 0.

    The search stops where the cost no longer tells places apart, which is at the root of its rounding.
    """
    joint = ZOO[name]
    X = lie.exp(twist(seed) * 0.1) @ joint.transform(state(joint, seed)[0])
    q = joint.locate(X)
    E, r = joint.transform(q).E, joint.transform(q).r
    left = Force(rotation.log(matmul(X.E, transpose(E))), matvec(E, sub(X.r, r)))
    close(joint.subspace(q).T @ left, [0.0] * joint.nv, 2e-8)
    assert max(map(abs, left.components)) > 0.05


@pytest.mark.parametrize("sequence", ["zxz", "zyx", "xyz", "yzy", "xzx"])
@pytest.mark.parametrize("second", [0.0, 1e-9, 0.4, math.pi / 2 - 1e-9, math.pi / 2, 2.0, math.pi - 1e-7, math.pi])
def test_euler_angles_are_found_at_and_next_to_their_singularities(sequence: str, second: float):
    joint = Euler(sequence)
    for sign in (1, -1):
        X = joint.transform(Vector([0.7, sign * second, -1.9]))
        close(joint.transform(joint.locate(X)), X, 1e-14)


def test_euler_angles_are_found_where_they_are_unique():
    """Within the half turn of the second angle nearest zero the angles themselves come back."""
    close(Euler("zxz").locate(Euler("zxz").transform(Vector([0.7, 0.4, -1.9]))), [0.7, 0.4, -1.9])
    close(Euler("zyx").locate(Euler("zyx").transform(Vector([0.7, -0.4, -1.9]))), [0.7, -0.4, -1.9])
    close(Euler("xyz").locate(Euler("xyz").transform(Vector([0.7, -0.4, -1.9]))), [0.7, -0.4, -1.9])
    close(YawPitchRoll().locate(YawPitchRoll().transform(Vector([0.7, -0.4, -1.9]))), [0.7, -0.4, -1.9])


def test_euler_out_of_reach_stops_at_the_border():
    """Three axes that are not square do not reach all rotations; δ has no part of what they miss."""
    joint = Euler(("x", (1.0, 0.5, 0.0), "x"))
    found = [joint.transform(joint.locate(random_transform(k))) for k in range(20)]
    gaps = [np.abs(numbers(X.E) - numbers(random_transform(k).E)).max() for k, X in enumerate(found)]
    assert min(gaps) < 1e-12 < 1e-2 < max(gaps)
    assert len(joint.loop(random_transform(0))[0]) == 3


def test_universal_axes_point_where_they_should():
    """The located joint carries the second axis exactly where X does, within what the first axis can turn."""
    X = Universal("xz").transform(Vector([0.4, 2.9]))
    close(Universal("xz").locate(X), [0.4, 2.9])
