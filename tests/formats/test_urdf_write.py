"""URDF out: reading what was written gives the model again."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle.errors import ModelError
from knuckle.formats import load, read_urdf, save, to_urdf, write_urdf
from knuckle.joints import Continuous, Free, Helical, Planar, Prismatic, Reversed, Revolute, Spherical
from knuckle.model import (
    ROOT,
    Body,
    Box,
    Builder,
    Capsule,
    Cylinder,
    Ellipsoid,
    Frame,
    Geometry,
    Limits,
    LoopJoint,
    Material,
    Mesh,
    Model,
    Sphere,
    TreeJoint,
    mimic,
)
from knuckle.spatial import PLANAR, Inertia, PlanarInertia, PlanarTransform, Sym3, Transform, rotation

INF = math.inf


def inertia(rng: np.random.Generator) -> Inertia:
    """A random physical inertia: one that a cloud of points has."""
    A = rng.normal(size=(3, 3))
    spread = A @ A.T
    return Inertia.of(
        rng.uniform(0.1, 5), rng.normal(size=3).tolist(), (np.trace(spread) * np.eye(3) - spread).tolist()
    )


def placement(rng: np.random.Generator) -> Transform:
    E = rotation.from_rpy(*rng.uniform(-math.pi, math.pi, 3).tolist())
    return Transform.of(E, rng.normal(size=3).tolist())


def everything(seed: int = 0) -> Model:
    """A model with everything that URDF can say."""
    rng = np.random.default_rng(seed)
    axis = tuple(rng.normal(size=3).tolist())
    red = Material("red", (1.0, 0.0, 0.0, 1.0))
    shapes = (
        Geometry(Box((1.0, 2.0, 3.0)), placement(rng), "box", red),
        Geometry(Sphere(0.5), placement(rng)),
        Geometry(Cylinder(0.1, 0.2), placement(rng), "", Material("wood", None, "wood & more.png")),
        Geometry(Capsule(0.1, 0.2), placement(rng)),
        Geometry(Mesh('package://p/"x".stl', (1.0, 2.0, 0.001)), placement(rng)),
    )
    kinds = [Free(), Revolute(axis), Continuous("y"), Prismatic("z"), Planar("x"), Revolute("z")]
    limits = [
        Limits(),
        Limits((-1.0,), (INF,), (2.0,), (INF,)),
        Limits((-INF,), (INF,), (2.0,), (3.0,)),
        Limits(),
        Limits(),
        Limits((-0.1,), (0.1,), (1.0,), (1.0,)),
    ]
    joints = [
        TreeJoint(f"joint <{i}>", kind, i - 1, placement(rng), limits[i])
        for i, kind in enumerate(kinds)
    ]  # fmt: skip
    joints[1] = dataclasses.replace(joints[1], damping=(0.5,), friction=(0.25,))
    bodies = [Body(f"link {i}", inertia(rng)) for i in range(len(kinds))]
    touching = tuple(dataclasses.replace(shape, contact_type=0) for shape in shapes[:2])  # as URDF is read
    bodies[1] = dataclasses.replace(bodies[1], visuals=shapes, collisions=touching)
    bodies[2] = dataclasses.replace(bodies[2], inertia=Inertia.zero())
    bodies[3] = dataclasses.replace(
        bodies[3], inertia=Inertia(0.0, (0.0, 0.0, 0.0), Sym3(0.1, 0.0, 0.1, 0.0, 0.0, 0.1))
    )
    frames = (Frame("tool", 5, placement(rng)), Frame("foot", ROOT, placement(rng)), Frame("joint <5>_joint", 0))
    couplings = (mimic(5, 1, -2.0, 0.5),)
    return Model(
        tuple(bodies), tuple(joints), frames, (), couplings, name="all & sundry", base=Body("ground", inertia(rng))
    )


def leaves(x: Any) -> list[Any]:
    """The numbers and words of a model, in order."""
    if dataclasses.is_dataclass(x):
        fields = [f for f in dataclasses.fields(x) if f.init and f.compare and f.name != "algebra"]
        return [leaf for f in fields for leaf in (f.name, *leaves(getattr(x, f.name)))]
    if isinstance(x, tuple):
        return [len(x), *(leaf for y in x for leaf in leaves(y))]
    return [x if x is None or isinstance(x, str) else float(x)]


def assert_same(a: Model, b: Model) -> None:
    """Equal words, and numbers that differ by rounding only.

    Angles and centres of mass are computed and taken back: a few rounding errors of numbers of order 1 to 10.
    """
    assert [type(joint.type) for joint in a.joints] == [type(joint.type) for joint in b.joints]
    for x, y in zip(leaves(a), leaves(b), strict=True):
        if isinstance(x, float) and isinstance(y, float):
            assert x == y or abs(x - y) <= 1e-14 * (1 + abs(x)), (x, y)
        else:
            assert x == y


@pytest.mark.parametrize("seed", range(20))
def test_round_trip(seed: int):
    model = everything(seed)
    assert_same(read_urdf(to_urdf(model)), model)


def test_a_second_round_trip_changes_no_frame():
    once = read_urdf(to_urdf(everything()))
    twice = read_urdf(to_urdf(once))
    assert_same(twice, once)
    assert twice.joint_names == once.joint_names


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-9, 1e-12 - math.pi / 2])
def test_placements_next_to_the_singularity_of_roll_pitch_yaw(pitch: float):
    """Roll and yaw are ill-determined there; the rotation they make together must not be."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        E = np.array(rotation.from_rpy(rng.uniform(-3, 3), pitch, rng.uniform(-3, 3)), dtype=float)
        noisy = (E + rng.uniform(-1e-16, 1e-16, (3, 3))).tolist()
        X = Transform.of(noisy, (0.0, 0.0, 0.0))
        model = Model((Body("b", Inertia.zero()),), (TreeJoint("j", Revolute("z"), ROOT, X),))
        back = read_urdf(to_urdf(model)).X_tree[0].E
        assert np.abs(np.array(back, dtype=float) - E).max() < 2e-15


def test_files(tmp_path: Path):
    model = everything()
    write_urdf(model, tmp_path / "a.urdf")
    save(model, tmp_path / "b.urdf")
    assert (tmp_path / "a.urdf").read_text() == (tmp_path / "b.urdf").read_text() == to_urdf(model)
    assert_same(load(tmp_path / "a.urdf"), model)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.urdf", "b.urdf"]


def test_other_readers_agree():
    """Pinocchio reads the file, and has the same masses and places."""
    pin = pytest.importorskip("pinocchio")
    model = everything()
    theirs = pin.buildModelFromXML(to_urdf(model))
    assert list(theirs.names)[1:] == list(model.joint_names)
    for i, body in enumerate(model.bodies):
        placed = np.array(model.X_tree[i].homogeneous.rows, dtype=float)
        np.testing.assert_allclose(theirs.jointPlacements[i + 1].homogeneous, placed, rtol=0, atol=1e-14)
        np.testing.assert_allclose(theirs.inertias[i + 1].mass, float(body.inertia.mass), rtol=1e-14)


def one_joint(kind: Any, **joint: Any) -> Model:
    return Model((Body("b", Inertia.zero()),), (TreeJoint("j", kind, ROOT, **joint),))


@pytest.mark.parametrize(
    ("model", "element", "words"),
    [
        (one_joint(Helical("z", 0.1)), "j", "URDF has no joint for Helical"),
        (one_joint(Spherical()), "j", "URDF has no joint for Spherical"),
        (one_joint(Reversed(Planar())), "j", "URDF has no joint for Reversed"),
        (
            one_joint(Revolute()).replace(loops=(LoopJoint("closing", Helical("z", 0.1), 0, ROOT),)),
            "closing",
            "our <loop> in URDF has no joint for Helical",
        ),
        (
            Model(
                (Body("b", PlanarInertia.zero()),),  # type: ignore[arg-type]
                (TreeJoint("j", Revolute(), ROOT, PlanarTransform.identity()),),  # type: ignore[arg-type]
                algebra=PLANAR,
                name="flat",
            ),
            "flat",
            "URDF has no planar models",
        ),
    ],
)
def test_structure_that_urdf_cannot_say(model: Model, element: str, words: str):
    for lossy in (False, True):
        with pytest.raises(ModelError) as caught:
            to_urdf(model, lossy=lossy)
        assert caught.value.element == element
        assert words in caught.value.message
        assert "JSON" in caught.value.message


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (one_joint(Revolute(), rotor_inertia=(0.1,)), "rotor inertia"),
        (one_joint(Revolute(), stiffness=(0.1,)), "stiffness"),
        (one_joint(Free(), damping=(1.0,) * 6), "damping and friction of a joint with several freedoms"),
        (one_joint(Free(), limits=Limits(velocity=(1.0,) * 6)), "limits of a joint with several freedoms"),
        (one_joint(Continuous(), limits=Limits((-1.0,), (1.0,))), "position limits of a continuous joint"),
        (one_joint(Revolute()).with_gravity((0, 0, -1.62)), "gravity (0.0, 0.0, -1.62)"),
        (
            one_joint(Revolute()).replace(
                base=Body("base", Inertia.zero(), (Geometry(Ellipsoid((1.0, 1.0, 2.0))), Geometry(Sphere(1.0))))
            ),
            "shape Ellipsoid",
        ),
    ],
)
def test_properties_that_urdf_cannot_say(model: Model, what: str):
    with pytest.raises(ModelError, match="URDF cannot say") as caught:
        to_urdf(model)
    assert what in caught.value.message
    text = to_urdf(model, lossy=True)
    assert what in text.splitlines()[1]
    back = read_urdf(text)
    assert back.joints[0].type == model.joints[0].type
    assert len(back.base.visuals) == sum(isinstance(g.shape, Sphere) for g in model.base.visuals)


def test_urdf_has_no_contact():
    b = Builder("crawler", base="world")
    b.surface("rubber", friction=0.9)
    b.surface_pair("rubber", "rubber", friction=0.4)
    b.ground()
    ball = Geometry(Sphere(0.1), contact_type=2)
    b.body("foot", joint=Revolute(), mass=1.0, collisions=[ball, Sphere(0.2)], surface="rubber")
    b.ignore_contact("world", "foot")
    with pytest.raises(ModelError, match=r"URDF cannot say: shape Plane \(and 7 more\)"):
        to_urdf(b.build())
    lost = [line for line in to_urdf(b.build(), lossy=True).splitlines() if "left out" in line]
    assert [line.partition("it: ")[2].removesuffix(" -->") for line in lost] == [
        "world: shape Plane",
        "world: shape Plane",
        "foot: that a colliding shape has the surface 'rubber'",
        "foot: with what a colliding shape may touch (contact_type, contact_affinity)",
        "foot: that a colliding shape has the surface 'rubber'",
        "rubber: a surface",
        "rubber on rubber: a pair of surfaces",
        "world: that it never touches 'foot'",
    ]


def test_numbers_and_names_that_xml_cannot_say():
    sympy = pytest.importorskip("sympy")
    symbolic = one_joint(Revolute(), X_tree=Transform.translation((sympy.Symbol("l"), 0, 0)))
    with pytest.raises(ModelError, match="URDF holds numbers, not Symbol: l"):
        to_urdf(symbolic)
    with pytest.raises(ModelError, match="URDF cannot say nan"):
        to_urdf(one_joint(Revolute(), X_tree=Transform.translation((math.nan, 0, 0))))
    with pytest.raises(ModelError, match="a character that XML cannot"):
        to_urdf(one_joint(Revolute()).replace(name="a\uffffb"))
    massless = Body("b", Inertia(0.0, (1.0, 0.0, 0.0), Sym3.zero()))
    with pytest.raises(ModelError, match="without a mass"):
        to_urdf(one_joint(Revolute()).replace(bodies=(massless,)))


def test_a_failed_write_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "r.urdf"
    write_urdf(one_joint(Revolute()), path)
    before = path.read_text()
    with pytest.raises(ModelError):
        write_urdf(one_joint(Spherical()), path)
    assert path.read_text() == before
