"""Denavit-Hartenberg parameters (RBDA 4.3; inventory D-09 to D-11, F-17)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import sympy

import knuckle as kn
from knuckle.joints import Continuous, Cylindrical, Fixed, Helical, Joint, Prismatic, Revolute, Spherical
from knuckle.model import DH, Builder, DHRow, JointAxis, dh_of, from_dh, solid_box, to_dh
from knuckle.spatial import Transform
from knuckle.testing import random_transform

TOLERANCE = 1e-12
"""Of lengths of order one. Feet of common perpendiculars lie farther away, and errors grow with that: see `scale`."""


def T(*factors: np.ndarray) -> np.ndarray:
    result = np.eye(4)
    for factor in factors:
        result = result @ factor
    return result


def turn(axis: int, angle: float) -> np.ndarray:
    X = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    X[i, i] = X[j, j] = math.cos(angle)
    X[i, j], X[j, i] = -math.sin(angle), math.sin(angle)
    return X


def shift(x: float, y: float, z: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def matrix(X: Transform) -> np.ndarray:
    return np.array(X.homogeneous.rows, dtype=float)


def scale(dh: DH) -> float:
    rows = [dh.base, *dh.rows, *([dh.tool] if dh.tool else [])]
    return max(1.0, *(abs(row.d) for row in rows), *(abs(row.a) for row in rows))


ROWS = [(0.1, 0.3, 0.5, -0.2), (0.4, -1.2, 0.0, 0.7), (0.0, math.pi / 2, -0.3, 0.0)]


def test_a_chain_of_the_book() -> None:
    """Frame by frame: a and α along and about x, then d and θ along and about z, by homogeneous matrices."""
    model = from_dh(ROWS)
    q = [0.4, -0.9, 1.3]
    expected = np.eye(4)
    for k, ((a, alpha, d, theta), angle) in enumerate(zip(ROWS, q, strict=True), start=1):
        expected = T(expected, shift(a, 0, 0), turn(0, alpha), shift(0, 0, d), turn(2, theta + angle))
        assert np.allclose(kn.pose(model, q, f"link{k}"), expected, atol=TOLERANCE)
    assert model.frame_names == ("base", "link1", "link2", "link3")


def test_the_four_kinds_of_variable() -> None:
    """D-10: θ of a revolute joint, d of a prismatic, both of a cylindrical, θ with d + hθ of a helical one."""
    a, alpha, d, theta = 0.2, 0.7, 0.3, -0.4
    link = T(shift(a, 0, 0), turn(0, alpha))
    for kind, q, angle, distance in (
        ("R", [1.1], 1.1, 0.0),
        ("P", [1.1], 0.0, 1.1),
        ("C", [1.1, 0.6], 1.1, 0.6),
        (Helical("z", 0.25), [1.1], 1.1, 0.25 * 1.1),
        ("prismatic", [0.5], 0.0, 0.5),
    ):
        model = from_dh([(a, alpha, d, theta, kind)])
        expected = T(link, shift(0, 0, d + distance), turn(2, theta + angle))
        assert np.allclose(kn.pose(model, q, "link1"), expected, atol=TOLERANCE)


def test_the_prismatic_link_of_the_inventory() -> None:
    """D-10: X_T = rotz(θ) xlt([a 0 0]) rotx(α)."""
    row = DHRow(0.2, 0.7, 0.0, -0.4, Prismatic("z"))
    expected = T(turn(0, 0.7), shift(0.2, 0, 0), turn(2, -0.4))
    assert np.allclose(matrix(row.X_tree), expected, atol=TOLERANCE)


def test_base_tool_names_and_inertias() -> None:
    tool = dict(xyz=(0, 0, 0.1))
    model = from_dh(ROWS, base=(0, 0, 1), tool=tool, inertias=[solid_box(1.0, (1, 1, 1))] * 3, names="abc", name="puma")
    assert model.body_names == ("a", "b", "c")
    assert model.joint_names == ("a_joint", "b_joint", "c_joint")
    assert model.bodies[2].inertia == solid_box(1.0, (1, 1, 1))
    bare = from_dh(ROWS)
    q = [0.1, 0.2, 0.3]
    expected = T(shift(0, 0, 1), kn.pose(bare, q, "link3"), shift(0, 0, 0.1))
    assert np.allclose(kn.pose(model, q, "tool"), expected, atol=TOLERANCE)


def test_the_classic_convention() -> None:
    """T_i = R_z(θ) T_z(d) T_x(a) R_x(α): the Stanford arm has a prismatic joint in third place."""
    half = math.pi / 2
    rows = [(0, -half, 0.4, 0.0), (0, half, 0.15, 0.0), (0, 0, 0.3, 0.0, "P"), (0.1, -half, 0, 0), (0, half, 0, 0.2)]
    model = from_dh(DH.classic(rows))
    q = [0.3, -0.7, 0.2, 1.1, -0.4]
    expected = np.eye(4)
    for row, x in zip(rows, q, strict=True):
        a, alpha, d, theta = row[:4]
        slide = x if len(row) == 5 else 0.0
        expected = T(expected, turn(2, theta + x - slide), shift(0, 0, d + slide), shift(a, 0, 0), turn(0, alpha))
    assert np.allclose(kn.pose(model, q, "tool"), expected, atol=TOLERANCE)


@pytest.mark.slow
def test_symbols_as_parameters() -> None:
    l1, l2, q1, q2 = sympy.symbols("l1 l2 q1 q2", real=True)
    model = from_dh([(0, 0, 0, 0), (l1, 0, 0, 0)], tool=(l2, 0, 0))
    X = kn.algorithms.kinematics.jacobians.pose(model, model.positions([q1, q2]), model.frame("tool"))
    x, y, _ = X.r
    assert sympy.simplify(x - l1 * sympy.cos(q1) - l2 * sympy.cos(q1 + q2)) == 0
    assert sympy.simplify(y - l1 * sympy.sin(q1) - l2 * sympy.sin(q1 + q2)) == 0


# from axes


KINDS: list[Joint] = [Revolute("z"), Prismatic("z"), Cylindrical("z"), Helical("z", 0.3)]


def random_axes(rng: np.random.Generator, way: str, n: int = 6) -> list[JointAxis]:
    axes = []
    for _ in range(n):
        p, d = rng.uniform(-1, 1, 3), rng.standard_normal(3)
        if way == "parallel and crossing":
            d, p = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]), rng.integers(-1, 2, 3) / 2
        elif way == "all parallel":
            d, p = np.array([0, 0, rng.choice([-2.0, 2.0])]), rng.integers(-1, 2, 3).astype(float)
        elif way == "all meeting":
            p = np.array([0.25, 0.5, -1.0]) + d * rng.uniform(-1, 1)
        elif way == "coincident":
            d, p = np.array([1.0, 0, 0]) * rng.choice([-1, 1]), np.array([rng.uniform(-1, 1), 0, 0.5])
        elif way == "tilted frame":
            d, p = np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1]])[rng.integers(3)], rng.integers(-1, 2, 3) * 0.3
        axes.append(JointAxis(tuple(p), tuple(d), KINDS[int(rng.integers(4))]))
    return axes


WAYS = ("skew", "parallel and crossing", "all parallel", "all meeting", "coincident", "tilted frame")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(12))
def test_the_chain_has_the_axes_that_were_asked_for(seed: int, way: str) -> None:
    """F-17: directions of all joints, lines of all but the prismatic ones, and the tool, at q = 0."""
    rng = np.random.default_rng([seed, WAYS.index(way)])
    axes = random_axes(rng, way)
    tool = random_transform(rng) if seed % 3 else None
    dh = to_dh(axes, tool)
    assert all(row.a >= 0 for row in dh.rows)
    assert (dh.base.a, dh.base.alpha) == (0, 0)
    model = from_dh(dh)
    bound = TOLERANCE * scale(dh)
    q = np.zeros(model.nq)
    for k, axis in enumerate(axes, start=1):
        X = kn.pose(model, q, f"link{k}")
        direction = np.array(axis.direction) / np.linalg.norm(axis.direction)
        assert np.abs(X[:3, 2] - direction).max() < bound, k
        if not isinstance(axis.type, Prismatic):
            assert np.abs(np.cross(X[:3, 3] - np.array(axis.point), direction)).max() < bound, k
        assert type(dh.rows[k - 1].type) is type(axis.type)
    if tool is not None:
        assert np.abs(kn.pose(model, q, "tool") - matrix(tool)).max() < bound


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_parameters_of_parameters_are_the_same(seed: int, way: str) -> None:
    """to_dh of the axes of a chain made by to_dh finds the same parameters: the rules leave no choice open."""
    axes = random_axes(np.random.default_rng([seed, WAYS.index(way), 1]), way)
    axes = [JointAxis(axis.point, axis.direction) for axis in axes]  # a prismatic axis has no place to find again
    dh = to_dh(axes)
    again = dh_of(from_dh(dh))
    for row, other in zip((dh.base, *dh.rows), (again.base, *again.rows), strict=True):
        for x, y in zip((row.a, row.d), (other.a, other.d), strict=True):
            assert abs(x - y) < 1e-10 * scale(dh)
        for x, y in zip((row.alpha, row.theta), (other.alpha, other.theta), strict=True):
            assert abs(math.remainder(x - y, 2 * math.pi)) < 1e-10 * scale(dh)


def test_the_degenerate_rules() -> None:
    """D-11, one by one."""
    z, x = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    # parallel: the perpendicular that meets the one before, so d = 0
    dh = to_dh([JointAxis((1, 0, 5), z), JointAxis((2, 0, -3), z), JointAxis((2, 1, 9), z)])
    assert [(r.a, r.alpha, r.d) for r in dh.rows] == [(1, 0, 0), (1, 0, 0), (1, 0, 0)]
    assert [r.theta for r in dh.rows] == pytest.approx([0, math.pi / 2, 0])
    # anti-parallel: α = π
    dh = to_dh([JointAxis((1, 0, 0), z), JointAxis((2, 0, 0), (0, 0, -1))])
    assert dh.rows[1].alpha == pytest.approx(math.pi)
    # meeting: a = 0 and 0 < α < π
    dh = to_dh([JointAxis((0, 0, 1), z), JointAxis((0, 0, 1), x)])
    assert (dh.rows[1].a, dh.rows[1].alpha) == (0, pytest.approx(math.pi / 2))
    assert dh.rows[0].d == 1
    dh = to_dh([JointAxis((0, 0, 1), z), JointAxis((0, 0, 1), (-1, 0, 0))])
    assert dh.rows[1].alpha == pytest.approx(math.pi / 2)
    # coincident: nothing but zeros
    dh = to_dh([JointAxis((0, 0, 1), z), JointAxis((0, 0, 7), z)])
    assert all((r.a, r.alpha, r.d, r.theta) == (0, 0, 0, 0) for r in dh.rows)
    # prismatic: moved onto the axis before
    dh = to_dh([JointAxis((0, 0, 0), z), JointAxis((5, 6, 7), x, Prismatic("z"))])
    assert (dh.rows[1].a, dh.rows[0].d) == (0, 0)


def test_four_parameters_per_link_and_six_more() -> None:
    """D-10: 4n + 6 numbers, two for the base and four for the tool."""
    dh = to_dh(random_axes(np.random.default_rng(0), "skew", 3), Transform.translation((1, 1, 1)))
    assert (dh.base.a, dh.base.alpha) == (0, 0)
    assert len(dh.rows) == 3
    assert dh.tool is not None
    assert isinstance(dh.tool.type, Fixed)


def chain(kinds: Sequence[Joint], seed: int) -> kn.Model:
    rng = np.random.default_rng(seed)
    b = Builder()
    last = "base"
    for k, kind in enumerate(kinds):
        last = b.body(f"l{k}", last, kind, random_transform(rng), mass=1.0)
    b.frame("hand", last, random_transform(rng))
    return b.build()


@pytest.mark.parametrize("seed", range(12))
def test_parameters_of_a_model_move_its_tool_alike(seed: int) -> None:
    """Whatever the axes in the model's own frames, at every q the tool is where the model has it."""
    rng = np.random.default_rng(seed)
    all_kinds = [
        Revolute(tuple(rng.standard_normal(3))),
        Prismatic(tuple(rng.standard_normal(3))),
        Continuous("y"),
        Helical((0, -1, 0), 0.2),
        Cylindrical((1, 1, 0)),
        Prismatic("x"),
    ]
    model = chain([all_kinds[i] for i in rng.integers(0, 6, 5)], seed)
    dh = dh_of(model, "hand")
    other = from_dh(dh)
    for _ in range(3):
        q = rng.uniform(-2, 2, model.nq)
        difference = kn.pose(other, q, "tool") - kn.pose(model, q, "hand")
        assert np.abs(difference).max() < TOLERANCE * 10 * scale(dh)
    assert [type(row.type) for row in dh.rows] == [type(joint.type) for joint in model.joints]


def test_what_has_no_parameters() -> None:
    with pytest.raises(kn.ModelError, match="l1_joint: a spherical joint has no DH parameters: only revolute"):
        dh_of(chain([Revolute("z"), Spherical()], 0))
    b = Builder()
    b.body("a", joint=Revolute("z"))
    b.body("b", joint=Revolute("z"))
    with pytest.raises(kn.ModelError, match="b_joint: DH parameters describe a chain"):
        dh_of(b.build())
    with pytest.raises(kn.ModelError, match="base: the tool has to be on the last body"):
        dh_of(chain([Revolute("z")], 0), "base")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: from_dh([(0, 0, 0)]), r"row 1: a row is \(a, alpha, d, theta\)"),
        (lambda: from_dh([(0, 0, 0, 0), (0, 0, 0, 0, "X")]), "row 2: its joint is one of 'R', 'P', 'C'"),
        (lambda: from_dh([(0, 0, 0, 0, 5)]), "row 1: its joint is a joint along z, not 5"),
        (lambda: from_dh([(0, 0, math.nan, 0)]), "row 1: a parameter needs a finite number"),
        (lambda: from_dh(ROWS, names=["a"]), "3 links need 3 names, not 1"),
        (lambda: from_dh(ROWS, inertias=[]), "3 links need 3 inertias, not 0"),
        (lambda: to_dh([JointAxis((0, 0, 0), (0, 0, 0))]), "axis 1: its direction is zero"),
        (lambda: to_dh([JointAxis((0, 0, math.inf), (0, 0, 1))]), "axis 1: point needs a finite number"),
        (lambda: to_dh([JointAxis((0, 0, 0), (0, 0, 1), Spherical())]), "axis 1: the joint is revolute"),
    ],
)
def test_refusals(make: object, message: str) -> None:
    with pytest.raises(kn.ModelError, match=message):
        make()  # type: ignore[operator]
