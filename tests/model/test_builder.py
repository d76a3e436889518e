"""Mechanisms written in Python, and what is said about mistakes in them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Cylindrical, Fixed, Free, Prismatic, Revolute, Spherical
from knuckle.model import (
    Body,
    Box,
    Builder,
    Connection,
    Geometry,
    Limits,
    Model,
    Sphere,
    point_mass,
    solid_box,
)
from knuckle.spatial import IDENTITY, Inertia, Transform
from knuckle.testing import random_inertia, random_transform

INF = math.inf


def arm() -> Builder:
    b = Builder("arm", gravity=(0, 0, -9.81), base="world")
    b.body(
        "link1", on="world", joint=Revolute("z"), at=(0, 0, 0.5), mass=2.0, com=(0, 0, 0.25), inertia=(0.1, 0.1, 0.02)
    )
    b.body("link2", on="link1", joint=Revolute("y"), at=dict(xyz=(0, 0, 0.5), rpy=(0, 0, math.pi)), mass=1.0)
    return b


def test_an_arm() -> None:
    b = arm()
    b.frame("tool", on="link2", at=(0.3, 0, 0))
    model = b.build()
    assert isinstance(model, Model)
    assert (model.name, model.base.name, model.gravity) == ("arm", "world", (0, 0, -9.81))
    assert model.body_names == ("link1", "link2")
    assert model.joint_names == ("link1_joint", "link2_joint")
    assert model.parents == (-1, 0)
    assert np.allclose(kn.pose(model, [0, 0], "tool")[:3, 3], (-0.3, 0, 1.0), atol=1e-15)
    assert model.bodies[0].inertia == Inertia.of(2.0, (0, 0, 0.25), np.diag((0.1, 0.1, 0.02)).tolist())


def test_everything_a_joint_can_have() -> None:
    b = Builder()
    b.body("a", joint=Cylindrical("x"), joint_name="screw",
           limits=dict(lower=(-1, -2), upper=1, velocity=3, effort=(4, 5)),
           damping=0.1, friction=(0.2, 0.3), rotor_inertia=0.4, stiffness=(0, 5), rest=(0, -0.5),
           visuals=Box((1, 1, 1)), collisions=[Sphere(1.0), Geometry(Sphere(2.0), name="s")])  # fmt: skip
    model = b.build()
    joint, body = model.joints[0], model.bodies[0]
    assert joint.name == "screw"
    assert joint.limits == Limits((-1, -2), (1, 1), (3, 3), (4, 5))
    assert (joint.damping, joint.friction, joint.rotor_inertia) == ((0.1, 0.1), (0.2, 0.3), (0.4, 0.4))
    assert (joint.stiffness, joint.rest) == ((0, 5), (0, -0.5))
    assert body.visuals == (Geometry(Box((1, 1, 1))),)
    assert [shape.shape for shape in body.collisions] == [Sphere(1.0), Sphere(2.0)]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (None, Limits((-INF,), (INF,), (INF,), (INF,))),
        ((-1, 2), Limits((-1,), (2,), (INF,), (INF,))),
        (Limits((-1,), (2,)), Limits((-1,), (2,), (INF,), (INF,))),
        (dict(effort=3), Limits((-INF,), (INF,), (INF,), (3,))),
    ],
)
def test_ways_to_give_limits(limits: object, expected: Limits) -> None:
    b = Builder()
    b.body("a", joint=Revolute("z"), limits=limits)  # type: ignore[arg-type]
    assert b.build().joints[0].limits == expected


def test_bodies_on_frames_and_on_the_base_by_default() -> None:
    b = Builder()
    assert b.body("a", joint=Revolute("z")) == "a"
    assert b.frame("mount", "a", (1, 0, 0)) == "mount"
    b.body("b", "mount", Revolute("z"), (0, 2, 0))
    model = b.build()
    assert model.joints[0].parent == -1
    assert model.joints[1].parent == 0
    assert model.joints[1].X_tree == Transform.translation((1, 2, 0))


def test_fixed_bodies_are_merged_unless_asked_not_to() -> None:
    b = arm()
    b.body("camera", on="link2", at=(0, 0, 0.1), mass=0.2)
    assert (b.build().nb, b.build(merge_fixed=False).nb) == (2, 3)
    assert "camera" in b.build().frame_names
    assert isinstance(b.build(merge_fixed=False).joints[2].type, Fixed)


def test_a_builder_goes_on_after_building() -> None:
    b = arm()
    first = b.build()
    b.body("link3", on="link2", joint=Revolute("y"), mass=1.0)
    assert (first.nb, b.build().nb) == (2, 3)


def test_a_base_with_mass() -> None:
    base = Body("cart", solid_box(5.0, (1, 1, 1)))
    assert Builder(base=base).build().base == base


def test_masses_may_be_symbols() -> None:
    import sympy

    m = sympy.Symbol("m")
    b = Builder()
    b.body("a", joint=Revolute("z"), mass=m, com=(sympy.Symbol("c"), 0, 0), inertia=(0, 0, sympy.Symbol("I")))
    assert b.build().bodies[0].inertia.mass == m


def test_loops_and_couplings() -> None:
    b = arm()
    b.close_loop("pin", Revolute("y"), "link2", "world", (0.3, 0, 0), (1, 0, 0))
    b.mimic("link2_joint", "link1_joint", ratio=-2.0, offset=0.5)
    model = b.build()
    (loop,) = model.loops
    assert (loop.predecessor, loop.successor) == (1, -1)
    assert (loop.X_predecessor.r, loop.X_successor.r) == ((0.3, 0, 0), (1, 0, 0))
    assert model.nq == 1
    assert model.positions([1.0])[1][0] == -1.5


MISTAKES: list[tuple[dict[str, object], str]] = [
    (dict(name="link1"), "link1: a body or frame is called 'link1' already"),
    (dict(name="world"), "a body or frame is called 'world' already"),
    (dict(name=""), "a body needs a name, not ''"),
    (dict(name="x", on="link3"), "the body 'x' is on is called 'link3', and no body or frame added so far is; did you"),
    (dict(name="x", joint_name="link1_joint"), "link1_joint: a joint is called 'link1_joint' already"),
    (dict(name="x", joint="revolute"), r"x: joint needs a joint such as Revolute\('z'\), not 'revolute'"),
    (dict(name="x", at=(1, 2)), r"x: at is a Transform, \(x, y, z\).* not \(1, 2\)"),
    (dict(name="x", at=5.0), "x: at is a Transform"),
    (dict(name="x", at=(0, 0, math.nan)), "x: at needs a finite number, not nan"),
    (dict(name="x", at=dict(xyz=(0, 0, 0), ypr=(0, 0, 0))), "x: at is .* not a dict of 'xyz', 'ypr'"),
    (dict(name="x", mass=-1.0), "x: its mass is negative: -1.0 kg"),
    (dict(name="x", mass=math.inf), "x: mass needs a finite number"),
    (dict(name="x", mass="1"), "x: mass needs a number, not '1'"),
    (dict(name="x", com=(0, 0, 1)), "x: a centre of mass or an inertia needs a mass too"),
    (dict(name="x", inertia=(1, 1, 1)), "x: a centre of mass or an inertia needs a mass too"),
    (dict(name="x", mass=1.0, com=(0, 1)), "x: com needs 3 numbers"),
    (dict(name="x", mass=1.0, com=(0, 1, math.nan)), "x: com needs a finite number"),
    (dict(name="x", mass=1.0, inertia=(1, 1)), "x: inertia is three principal moments or a symmetric 3x3 matrix"),
    (dict(name="x", mass=1.0, inertia=((1, 0), (0, 1), (0, 0))), "x: inertia is three principal moments"),
    (
        dict(name="x", mass=1.0, inertia=((1, 2, 0), (0, 1, 0), (0, 0, 1))),
        r"x: inertia is not symmetric: \[0\]\[1\] is 2",
    ),
    (dict(name="x", mass=1.0, inertia=(1, math.nan, 1)), "x: inertia needs a finite number, not nan"),
    (dict(name="x", mass=1.0, inertia=3.0), "x: inertia is three principal moments"),
    (dict(name="x", mass=1.0, inertia=point_mass(1.0)), "x: give inertia=Inertia"),
    (dict(name="x", inertia=Inertia(-1.0, (0, 0, 0), Inertia.zero().I)), "x: its mass is negative"),
    (dict(name="x", inertia=Inertia(1.0, (math.nan, 0, 0), Inertia.zero().I)), "x: inertia needs a finite number"),
    (dict(name="x", joint=Revolute("z"), limits=(2, 1)), "x_joint: the lower limit 2.0 is above the upper limit 1.0"),
    (dict(name="x", joint=Revolute("z"), limits=(1, 2, 3)), r"x_joint: limits are \(lower, upper\), a dict or Limits"),
    (dict(name="x", joint=Revolute("z"), limits=dict(low=1)), "x_joint: limits have lower, upper, velocity and effort"),
    (dict(name="x", joint=Revolute("z"), limits=dict(lower=(1, 2))), "x_joint: lower limit needs 1 numbers, not 2"),
    (dict(name="x", joint=Revolute("z"), limits=(math.nan, 1)), "x_joint: lower limit cannot be nan"),
    (dict(name="x", joint=Revolute("z"), limits=dict(effort=-1)), "x_joint: effort limit cannot be -1.0"),
    (dict(name="x", joint=Spherical(), damping=(1, 2)), "x_joint: damping needs 3 numbers, not 2"),
    (dict(name="x", joint=Revolute("z"), damping=-1), "x_joint: damping cannot be negative"),
    (dict(name="x", joint=Revolute("z"), friction=math.nan), "x_joint: friction needs a finite number"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes_are_named(mistake: dict[str, object], message: str) -> None:
    b = arm()
    with pytest.raises(kn.ModelError, match=message):
        b.body(**mistake)  # type: ignore[arg-type]
    assert b.build() == arm().build(), "a refused body must leave nothing behind"


def test_mistakes_elsewhere() -> None:
    b = arm()
    with pytest.raises(kn.ModelError, match="gravity needs 3 numbers"):
        Builder(gravity=(0, 0))
    with pytest.raises(kn.ModelError, match=r"frame 'f' is on is called 'lnk1'.*did you mean 'link1'"):
        b.frame("f", "lnk1")
    with pytest.raises(kn.ModelError, match="a body or frame is called 'link1' already"):
        b.frame("link1", "link2")
    with pytest.raises(kn.ModelError, match="the successor is called 'wrld'"):
        b.close_loop("l", Revolute("z"), "link1", "wrld")
    with pytest.raises(kn.ModelError, match="a joint is called 'link1_joint' already"):
        b.close_loop("link1_joint", Revolute("z"), "link1", "world")
    with pytest.raises(kn.ModelError, match="no joint is called 'link1'; did you mean 'link1_joint'"):
        b.mimic("link2_joint", "link1")
    with pytest.raises(kn.ModelError, match="link2_joint: ratio needs a finite number"):
        b.mimic("link2_joint", "link1_joint", ratio=math.nan)
    b.body("ball", "link2", Spherical(), mass=1.0)
    with pytest.raises(
        kn.ModelError, match="ball_joint: only joints of one freedom follow others or are followed; it is spherical"
    ):
        b.mimic("ball_joint", "link1_joint")
    b.mimic("link2_joint", "link1_joint")
    with pytest.raises(kn.ModelError, match="link2_joint: it follows another joint already"):
        b.mimic("link2_joint", "link1_joint")


# graphs


def parts(*names: str) -> list[Body]:
    return [Body(name, solid_box(1.0, (1, 1, 1))) for name in names]


def test_a_four_bar_linkage_from_its_graph() -> None:
    """Any order, any direction: crank and rocker on the base, the coupler's far joint closes the loop."""
    joints = [
        Connection("knee", Revolute("z"), "coupler", "crank", (0, 0, 0), (1, 0, 0)),
        Connection("swing", Revolute("z"), "rocker", "coupler", (1, 0, 0), (2, 0, 0)),
        Connection("right", Revolute("z"), "rocker", "base", (0, 0, 0), (3, 0, 0)),
        Connection("left", Revolute("z"), "base", "crank"),
    ]
    model = Builder.from_graph(parts("coupler", "rocker", "crank"), joints, name="four bar").build()
    assert set(model.body_names) == {"crank", "rocker", "coupler"}
    assert [model.parents[model.joint_index(j)] for j in ("left", "right")] == [-1, -1]
    assert len(model.loops) == 1
    assert max(len(model.ancestors(i)) for i in range(3)) == 2
    kinds = {joint.name: joint.type for joint in model.joints}
    assert kinds["left"] == Revolute("z")
    assert kinds["right"] == Revolute("z").reversed()


def test_the_body_that_is_named_as_base_is_the_base() -> None:
    model = Builder.from_graph(parts("a", "b"), [Connection("j", Revolute("z"), "b", "a")], base="b").build()
    assert model.base == parts("b")[0]
    assert model.body_names == ("a",)


@pytest.mark.parametrize("seed", range(10))
def test_whatever_the_spanning_tree_the_geometry_is_that_of_the_graph(seed: int) -> None:
    """Each connection has its frames where they were given, apart by just what its joint says."""
    rng = np.random.default_rng(seed)
    names = [f"b{i}" for i in range(6)]
    bodies = [
        Body(name, random_inertia(rng), (Geometry(Box((1.0, 1.0, 1.0)), random_transform(rng)),)) for name in names
    ]
    connections = []
    for i in range(8):
        ends = rng.choice(["base", *names], 2, replace=False)
        kind = [Revolute("z"), Prismatic((1, 2, 2)), Spherical(), Cylindrical("x")][int(rng.integers(4))]
        place = [random_transform(rng) if rng.random() < 0.7 else IDENTITY for _ in range(2)]
        connections.append(Connection(f"j{i}", kind, str(ends[0]), str(ends[1]), *place))
    model = Builder.from_graph(bodies, connections).build()
    assert sorted(model.body_names) == names
    assert len(model.joints) + len(model.loops) == 8 + sum(isinstance(j.type, Free) for j in model.joints)

    q = kn.random_configuration(model, rng)
    where = {}
    for name in ("base", *names):
        frame = f"{name}_origin" if f"{name}_origin" in model.frame_names else name
        where[name] = kn.pose(model, q, frame)
    qs = dict(zip(model.joint_names, model.positions(list(q)), strict=True))
    for c in connections:
        if c.name not in qs:
            continue
        ends = [where[b] @ np.array(X.homogeneous.rows, float)
                for b, X in ((c.predecessor, c.at_predecessor), (c.successor, c.at_successor))]  # fmt: skip
        between = np.linalg.inv(ends[0]) @ ends[1]
        assert np.allclose(between, np.array(c.type.transform(qs[c.name]).homogeneous.rows, float), atol=1e-12), c.name
    for loop in model.loops:
        c = next(c for c in connections if c.name == loop.name)
        owner = ["base", *model.body_names]
        for body, X, at in ((loop.predecessor, loop.X_predecessor, c.at_predecessor),
                            (loop.successor, loop.X_successor, c.at_successor)):  # fmt: skip
            name = owner[body + 1]
            found = kn.pose(model, q, name) @ np.array(X.homogeneous.rows, float)
            assert np.allclose(found, where[name] @ np.array(at.homogeneous.rows, float), atol=1e-12)
    # inertia and shapes stayed on the bodies
    for body in bodies:
        now = model.bodies[model.body_index(body.name)]
        com = [np.append(np.array(b.inertia.com, float), 1.0) for b in (body, now)]
        assert np.allclose(where[body.name] @ com[0], kn.pose(model, q, body.name) @ com[1], atol=1e-12)
        shape = [np.array(b.visuals[0].X.homogeneous.rows, float) for b in (body, now)]
        assert np.allclose(where[body.name] @ shape[0], kn.pose(model, q, body.name) @ shape[1], atol=1e-12)


def test_parts_adrift_float() -> None:
    joints = [Connection("hinge", Revolute("z"), "b", "c")]
    builder = Builder.from_graph(parts("a", "b", "c"), joints)
    model = builder.build()
    assert {joint.name for joint in model.joints} == {"a_free", "b_free", "hinge"}
    assert model.nv == 6 + 6 + 1
    notes = [note for note in model.provenance.notes if note.level == "warning"]
    assert [note.subject for note in notes] == ["a", "b"]
    assert "nothing connects it to 'base'" in notes[0].text


def test_what_a_loop_joint_cannot_carry_is_said() -> None:
    joints = [
        Connection("one", Revolute("z"), "base", "a"),
        Connection("two", Revolute("z"), "base", "a", damping=0.5, limits=(-1, 1)),
    ]
    model = Builder.from_graph(parts("a"), joints).build()
    assert [loop.name for loop in model.loops] == ["two"]
    (note,) = model.provenance.notes
    assert (note.subject, note.text) == ("two", "closes a loop, and its damping, limits are left out")


@pytest.mark.parametrize(
    ("bodies", "joints", "message"),
    [
        (("a", "a"), (), "a: two bodies are called 'a'"),
        (("a",), (("j", "base", "b"),), "j: no body is called 'b', its successor; there are 'base', 'a'"),
        (("arm",), (("j", "amr", "base"),), "j: no body is called 'amr', its predecessor; did you mean 'arm'"),
        (("a",), (("j", "a", "a"),), "j: it joins 'a' to itself"),
        (("a", "b"), (("j", "base", "a"), ("j", "a", "b")), "j: two joints are called 'j'"),
    ],
)
def test_graphs_that_make_no_sense(bodies: tuple[str, ...], joints: tuple[tuple[str, ...], ...], message: str) -> None:
    with pytest.raises(kn.ModelError, match=message):
        Builder.from_graph(parts(*bodies), [Connection(name, Revolute("z"), a, b) for name, a, b in joints])


def test_a_graph_can_be_added_to() -> None:
    builder = Builder.from_graph(parts("a"), [Connection("j", Revolute("z"), "base", "a")])
    builder.body("tool", "a", Prismatic("x"), mass=1.0)
    builder.frame("tip", "tool")
    assert builder.build().body_names == ("a", "tool")
