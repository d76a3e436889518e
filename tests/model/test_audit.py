"""What the audit finds: each finding in a model made to have it, none of them in a good one."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable

import pytest
import sympy

import knuckle as kn
from knuckle.joints import Composite, Continuous, Driven, Fixed, Prismatic, Revolute, Sinusoid, Spherical, YawPitchRoll
from knuckle.model import (
    Audit,
    Body,
    Box,
    Builder,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Limits,
    LoopJoint,
    Mesh,
    Model,
    Note,
    Provenance,
    Sphere,
    TreeJoint,
    audit,
    edit,
    mimic,
    solid_box,
    solid_cylinder,
    to_planar,
)
from knuckle.spatial import Inertia, Transform
from knuckle.testing import general_chain
from knuckle.testing.oracles.other_libraries import robot_files

BOX = (0.1, 0.1, 0.4)


def good() -> Model:
    """An arm that has nothing to complain about."""
    b = Builder("arm", base="world")
    limits = dict(lower=-2.0, upper=2.0, velocity=3.0, effort=50.0)
    last = "world"
    for k in range(3):
        shape = Geometry(Box(BOX), Transform.translation((0, 0, 0.2)))
        last = b.body(f"link{k}", last, Revolute("y" if k else "z"), (0, 0, 0.4), limits=limits,
                      inertia=solid_box(4.0, BOX, at=(0, 0, 0.2)), visuals=shape, collisions=shape)  # fmt: skip
    b.frame("tool", last, (0, 0, 0.4))
    return b.build()


def inertia(I: Inertia) -> Model:
    return edit.with_inertia(good(), "link1", I)


def joint(**changes: object) -> Model:
    """The good arm with a joint as it is given, unchecked."""
    model = good()
    changed = dataclasses.replace(model.joints[1], **changes)  # type: ignore[arg-type]
    return model.replace(joints=(model.joints[0], changed, model.joints[2]))


def limits(lower: float, upper: float, velocity: float = 3.0, effort: float = 50.0) -> Model:
    return joint(limits=Limits((lower,), (upper,), (velocity,), (effort,)))


def shapes(*geometry: Geometry, inertia: Inertia | None = None) -> Model:
    model = good()
    body = dataclasses.replace(model.bodies[1], visuals=geometry, collisions=())
    if inertia is not None:
        body = dataclasses.replace(body, inertia=inertia)
    return model.replace(bodies=(model.bodies[0], body, model.bodies[2]))


def scaled(length: float = 1.0, mass: float = 1.0, moment: float = 1.0) -> Model:
    """The good arm as if its file had been written in other units."""

    def body(b: Body) -> Body:
        I = b.inertia
        return Body(b.name, Inertia.of(I.mass * mass, [c * length for c in I.com],
                                       [[x * moment for x in row] for row in I.I_com.matrix]))  # fmt: skip

    def tree_joint(j: TreeJoint) -> TreeJoint:
        return dataclasses.replace(j, X_tree=Transform.translation([x * length for x in j.X_tree.r]))

    model = good()
    return model.replace(bodies=tuple(map(body, model.bodies)), joints=tuple(map(tree_joint, model.joints)), frames=())


def finger(mass: float = 0.0, **changes: object) -> Model:
    """The good arm with one more body, massless unless said otherwise, on a joint at its end."""
    model = good()
    joint = TreeJoint("finger_joint", Prismatic("x"), 2, limits=Limits((-1.0,), (1.0,), (1.0,), (1.0,)), **changes)  # type: ignore[arg-type]
    body = Body("finger", solid_box(mass, (0.1, 0.1, 0.1)) if mass else Inertia.zero())
    return model.replace(bodies=(*model.bodies, body), joints=(*model.joints, joint))


def massless_chain() -> Model:
    model = finger()
    joint = dataclasses.replace(model.joints[-1], name="tip_joint", parent=3)
    return model.replace(
        bodies=(*model.bodies, Body("tip", Inertia.zero())), joints=(*model.joints, joint), frames=()
    )  # fmt: skip


def light_wrist(kind: object) -> Model:
    """A body without inertia between two with: ordinary in wrists, fatal only where two axes coincide."""
    b = Builder("wrist")
    b.body("arm", joint=Revolute("z"), inertia=solid_box(1.0, BOX), limits=(-2, 2))
    b.body("cross", "arm", kind, (0, 0, 0.4), limits=(-2, 2))  # type: ignore[arg-type]
    b.body("hand", "cross", Revolute("y"), inertia=solid_box(1.0, BOX), limits=(-2, 2))
    return b.build()


def looped(body: int = 2, gap: float = 0.0) -> Model:
    loop = LoopJoint("ring", Revolute("y"), body, -1, X_successor=Transform.translation((gap, 0.0, 1.2)))
    return good().replace(loops=(loop,))


def branched(*names: str) -> Model:
    b = Builder("tree")
    for name in names:
        b.body(name, joint=Revolute("z"), inertia=solid_box(1.0, BOX), limits=(-2, 2))
    b.body("tip", names[0], Revolute("z"), (0, 0, 0.4), inertia=solid_box(1.0, BOX), limits=(-2, 2))
    return b.build()


def mimicking() -> Model:
    model = finger(mass=0.1)
    return model.replace(couplings=(mimic(2, 1, -0.5, 0.25),))


def reading(*notes: Note) -> Model:
    return good().replace(provenance=Provenance("arm.urdf", "urdf", notes))


Case = tuple[str, Callable[[], Model], str, str, str]

CASES: list[Case] = [
    # what, model, level, subject, words
    ("negative mass", lambda: inertia(-1 * solid_box(1.0, BOX)), "error", "link1", "its mass is negative: -1 kg"),
    (
        "not positive",
        lambda: inertia(Inertia.of(4.0, (0, 0, 0.2), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, -0.01)))),
        "error", "link1", "its rotational inertia is not positive: principal moments -0.01, 0.1, 0.1",
    ),
    (
        "not finite",
        lambda: inertia(Inertia(4.0, (math.nan, 0.0, 0.0), solid_box(1.0, BOX).I)),
        "error", "link1", "no finite numbers",
    ),
    (
        "triangle inequality",
        lambda: inertia(Inertia.of(4.0, (0, 0, 0.2), ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.03)))),
        "warning", "link1", "break the triangle inequality, 0.01 + 0.01 < 0.03",
    ),
    (
        "rotational inertia without mass",
        lambda: inertia(Inertia.of(0.0, (0, 0, 0), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))),
        "warning", "link1", "rotational inertia but no mass",
    ),
    ("point mass", lambda: inertia(Inertia.of(4.0, (0, 0, 0.2), [[0] * 3] * 3)), "info", "link1", "a point mass: 4 kg"),
    ("symbols", lambda: inertia(Inertia.of(sympy.Symbol("m"), (0, 0, 0), [[0] * 3] * 3)), "info", "link1",
     "not made of plain numbers"),
    (
        "centre of mass outside the shapes",
        lambda: inertia(solid_box(4.0, BOX, at=(0, 0, 1.0))),
        "warning", "link1", "its centre of mass is 0.6 m outside its shapes, which are 0.424 m across",
    ),
    ("too dense", lambda: shapes(Geometry(Sphere(0.02)), inertia=solid_box(4.0, (0.02,) * 3)), "warning", "link1",
     "density of 1.19e+05 kg/m³"),
    ("too light", lambda: shapes(Geometry(Sphere(3.0)), inertia=solid_box(4.0, BOX)), "warning", "link1", "density of"),
    ("inertia beyond the shapes", lambda: inertia(solid_box(4.0, (2.0, 2.0, 2.0))), "warning", "link1",
     "at a radius of 0.816 m, but its shapes are 0.424 m across"),
    ("shape without size", lambda: shapes(Geometry(Cylinder(0.0, 1.0))), "error", "link1", "visual shape without size"),
    ("shape twice", lambda: shapes(*[Geometry(Box(BOX))] * 2), "info", "link1", "same visual shape in the same place"),
    ("missing mesh", lambda: shapes(Geometry(Mesh("package://arm/a.stl"))), "info", "arm",
     "1 mesh files were not found (the dynamics do not need them): package://arm/a.stl"),
    ("massless leaf", finger, "error", "finger_joint", "nothing it moves has mass or inertia (finger)"),
    ("massless chain", massless_chain, "error", "finger_joint", "nothing it moves has mass or inertia (finger, tip)"),
    (
        "no inertia about the axis",
        lambda: finger().replace(
            bodies=(*good().bodies, Body("finger", Inertia.of(1.0, (0, 0, 0), [[0] * 3] * 3))),
            joints=(*good().joints, TreeJoint("finger_joint", Revolute("z"), 2)),
        ),
        "error", "finger_joint", "the bodies it moves have no inertia about its axis",
    ),
    ("two axes in one", lambda: light_wrist(Revolute("y")), "error", "cross_joint", "no inertia about its axis"),
    (
        "singular where it starts",
        lambda: edit.lock(light_wrist(Composite((Revolute("z"), Revolute("x"), Revolute("z")))), {"hand_joint": 0.3}),
        "warning", "cross_joint", "at the neutral position the inertia matrix is singular",
    ),
    ("massless in between", lambda: light_wrist(Revolute("x")), "info", "cross", "no mass of its own"),
    ("limits crossed", lambda: limits(1.0, -1.0), "error", "link1_joint", "lower limit 1 is above its upper limit -1"),
    ("limits alike", lambda: limits(0.0, 0.0), "warning", "link1_joint", "no way to move: both are 0"),
    ("degrees", lambda: limits(-90.0, 90.0), "warning", "link1_joint", "a limit of 90 is more than two turns"),
    ("no limits", lambda: limits(-math.inf, math.inf), "info", "link1_joint", "no position limits"),
    ("no velocity", lambda: limits(-1.0, 1.0, velocity=0.0), "info", "link1_joint", "velocity limit of zero"),
    ("no effort", lambda: limits(-1.0, 1.0, effort=0.0), "info", "link1_joint", "effort limit of zero"),
    ("zero outside", lambda: limits(0.5, 1.0), "info", "link1_joint", "`neutral` is outside the limits"),
    ("negative damping", lambda: joint(damping=-0.1), "error", "link1_joint", "its damping is negative"),
    ("negative rotor", lambda: joint(rotor_inertia=-0.1), "error", "link1_joint", "its rotor inertia is negative"),
    ("mimic", mimicking, "info", "link2_joint", "follows 'link1_joint': q = -0.5 q[link1_joint] +0.25"),
    ("loop", looped, "info", "ring", "1 joints close 1 independent loops: 3 freedoms of the tree less 5 constraints"),
    ("open loop", lambda: looped(gap=0.3), "info", "ring", "the loop is open by 0.3 at the neutral position"),
    ("loop on one body", lambda: looped(body=-1), "warning", "ring", "it joins a body to itself"),
    ("order in the file", lambda: branched("a", "b"), "info", "tree",
     "children in the order of the file, has the joints as: a_joint, tip_joint, b_joint"),
    ("order by name", lambda: branched("b", "a"), "info", "tree",
     "by name, as Pinocchio does, has the joints as: a_joint, b_joint, tip_joint"),
    ("grams", lambda: scaled(mass=1e5, moment=1e5), "warning", "arm", "its total mass is 1.2e+06 kg: is it in grams?"),
    ("tonnes", lambda: scaled(mass=1e-6, moment=1e-6), "warning", "arm", "is it in tonnes?"),
    ("millimetres", lambda: scaled(length=1000.0), "warning", "link1_joint", "it is 400 m from its parent"),
    ("kilometres", lambda: scaled(length=0.001), "warning", "arm", "no joint is more than 0.0004 m from its parent"),
    ("kg mm²", lambda: scaled(moment=1e6), "warning", "link1", "is it in kg·mm², g·mm² or the like?"),
    ("centre in millimetres", lambda: scaled().replace(
        bodies=(good().bodies[0], Body("link1", solid_box(4.0, BOX, at=(0, 0, 200.0))), good().bodies[2])),
     "warning", "link1", "its centre of mass is 200 m from its frame"),
    ("no gravity", lambda: good().with_gravity((0, 0, 0)), "info", "arm", "there is no gravity"),
    ("gravity in cm", lambda: good().with_gravity((0, 0, -981)), "warning", "arm", "gravity is 981 m/s²"),
    ("gravity aside", lambda: good().with_gravity((0, -9.81, 0)), "info", "arm", "gravity points along (0, -9.81, 0)"),
]  # fmt: skip


def found(model: Model, level: str, subject: str, words: str) -> list[Note]:
    return [n for n in audit(model).findings if (n.level, n.subject) == (level, subject) and words in n.text]


@pytest.mark.parametrize(("model", "level", "subject", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_each_finding_is_found(model: Callable[[], Model], level: str, subject: str, words: str) -> None:
    assert len(found(model(), level, subject, words)) == 1, audit(model()).findings
    assert not found(good(), level, subject, words)


def test_a_good_model_has_no_findings() -> None:
    report = audit(good())
    assert report.findings == ()
    assert report.ok
    assert "Nothing to report." in str(report)
    assert "Errors: 0, warnings: 0; fit for use." in str(report)


@pytest.mark.parametrize(
    "model",
    [
        lambda: finger(mass=0.1),
        lambda: finger(rotor_inertia=0.01),
        lambda: limits(-2 * math.pi, 2 * math.pi),
        lambda: limits(-10.0, 10.0),
        lambda: light_wrist(Revolute("x")),
        lambda: shapes(Geometry(Mesh("a.stl", path="a.stl")), Geometry(Sphere(0.001))),
        lambda: joint(type=Continuous("y"), limits=Limits()),
        lambda: inertia(solid_cylinder(4.0, 0.05, 0.4, at=(0, 0, 0.2))),
        lambda: inertia(Inertia.of(4.0, (0, 0, 0.2), ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.02)))),
        lambda: scaled(mass=0.001, moment=0.001),
        lambda: scaled(length=10, moment=100),
        lambda: general_chain(5),
    ],
    ids=[
        "light finger", "rotor only", "full turns", "ten radians", "massless cross", "mesh and dot", "wheel",
        "cylinder", "thin plate", "insect", "crane", "general chain",
    ],
)  # fmt: skip
def test_ordinary_models_raise_no_alarm(model: Callable[[], Model]) -> None:
    report = audit(model())
    alarms = [n for n in report.findings if n.level != "info" and "gravity" not in n.text]
    assert alarms == []


def test_a_point_mass_written_far_from_its_frame_is_a_point_mass() -> None:
    """Moments that are zero about the centre leave rounding errors when they are moved there and back."""
    model = inertia(Inertia.of(0.3, (0.123, -0.456, 0.789), [[0] * 3] * 3))
    levels = {n.level for n in audit(model).findings if n.subject == "link1" and "point" in n.text}
    assert levels == {"info"}
    assert not [n for n in audit(model).errors if n.subject == "link1"]


@pytest.mark.parametrize(
    "shape", [Box((0.2, 0.2, 0.2)), Cylinder(0.1, 0.2), Capsule(0.1, 0.1), Sphere(0.1), Ellipsoid((0.1, 0.1, 0.1))]
)
def test_every_shape_has_an_extent(shape: Box) -> None:
    """A centre of mass a metre away from any of them is seen, one inside is not."""
    place = Transform.translation((0.0, 0.0, 0.2))
    inside = shapes(Geometry(shape, place), inertia=solid_box(4.0, (0.1, 0.1, 0.1), at=(0, 0, 0.2)))
    outside = shapes(Geometry(shape, place), inertia=solid_box(4.0, (0.1, 0.1, 0.1), at=(0, 0, 1.4)))
    assert not found(inside, "warning", "link1", "outside its shapes")
    assert len(found(outside, "warning", "link1", "outside its shapes")) == 1


def test_notes_of_the_reading_are_kept_apart_and_counted() -> None:
    notes = (
        Note("info", "link1", "<gazebo> ignored", 7),
        Note("info", "link2", "<gazebo> ignored", 9),
        Note("warning", "link0", "an odd tag", 3),
        Note("error", "x", "could not be read", 4),
    )
    report = audit(reading(*notes))
    assert report.reading == notes
    assert report.findings == ()
    assert [n.subject for n in report.errors] == ["x"]
    assert [n.subject for n in report.warnings] == ["link0"]
    assert not report.ok
    text = str(report)
    assert "link1 (line 7), link2 (line 9): <gazebo> ignored" in text
    assert "error: x (line 4): could not be read" in text
    assert "not fit for use" in text
    assert text.startswith("arm  (arm.urdf)\n")


def test_what_was_read_and_is_found_again_counts_once() -> None:
    model = limits(1.0, -1.0).replace(
        provenance=Provenance(notes=(Note("error", "link1_joint", "limits crossed", 3),))
    )  # fmt: skip
    assert len(audit(model).errors) == 1


def test_merged_links_are_listed() -> None:
    b = Builder("arm")
    b.body("a", joint=Revolute("z"), inertia=solid_box(1.0, BOX), limits=(-1, 1))
    b.body("plate", "a", Fixed(), (0, 0, 0.4), inertia=solid_box(1.0, BOX))
    assert "plate: merged into 'a'" in str(audit(b.build()))


def test_the_summary_comes_first() -> None:
    lines = str(audit(good())).splitlines()
    assert lines[0] == "arm"
    assert lines[1] == "  moving bodies: 3, nq: 3, nv: 3, frames: 1, loops: 0, coupled joints: 0"
    assert lines[2] == "  mass 12 kg; from 0 m to 1.6 m high at the neutral position"
    table = [line.split() for line in lines[5:9]]
    assert table[0] == ["joint", "type", "axis", "limits", "moves", "on"]
    assert table[1] == ["0", "link0_joint", "revolute", "z", "-2", "…", "2", "link0", "world"]


def test_the_table_knows_all_kinds_of_axes() -> None:
    b = Builder()
    b.body("a", joint=Prismatic((0, -1, 0)), inertia=solid_box(1.0, BOX))
    b.body("b", "a", Spherical().reversed(), inertia=solid_box(1.0, BOX))
    b.body("c", "b", Revolute((1, 1, 0)), inertia=solid_box(1.0, BOX), limits=(-1, 1))
    text = str(audit(b.build()))
    assert next(line.split()[2:5] for line in text.splitlines() if "a_joint" in line) == ["prismatic", "−y", "none"]
    assert "spherical, reversed" in text
    assert "0.707 0.707 0" in text


def test_joints_driven_in_time_are_looked_at_when_they_start() -> None:
    b = Builder()
    b.body("a", joint=Driven(Revolute("z"), Sinusoid(0.5, 2.0)), inertia=solid_box(1.0, BOX))
    b.body("b", "a", Revolute("y"), inertia=solid_box(1.0, BOX), limits=(-1, 1))
    report = audit(b.build())
    assert report.ok
    assert "driven" in str(report)


def test_euler_angles_at_their_singularity_are_an_error_only_where_they_always_are() -> None:
    """Yaw, pitch and roll are well apart at zero pitch: nothing to report."""
    b = Builder()
    b.body("a", joint=YawPitchRoll(), inertia=solid_box(1.0, BOX))
    assert not [n for n in audit(b.build()).findings if n.level != "info"]


def test_an_audit_is_a_value() -> None:
    assert audit(good()) == audit(good())
    assert isinstance(audit(good()), Audit)
    with pytest.raises(dataclasses.FrozenInstanceError):
        audit(good()).findings = ()  # type: ignore[misc]


def test_a_planar_model_is_sent_back() -> None:
    b = Builder("flat")
    b.body("a", joint=Revolute("z"), mass=1.0)
    with pytest.raises(kn.ModelError, match="flat: audit the spatial model"):
        audit(to_planar(b.build()))


def test_a_model_without_bodies() -> None:
    report = audit(Builder().build())
    assert report.ok
    assert "moving bodies: 0" in str(report)


def test_long_chains_do_not_take_long() -> None:
    begin = time.perf_counter()
    audit(general_chain(150))
    assert time.perf_counter() - begin < 5.0


CLEAN = ("a1.urdf", "anymal.urdf", "panda.urdf", "talos_reduced.urdf", "ur5_robot.urdf")
FLAWED = {"romeo_small.urdf": {"RShoulderYawLink", "RElbowYawLink"}, "romeo.urdf": {"LHand", "RHand"}}


def test_real_robots_raise_no_false_alarm() -> None:
    """Ordinary arms and legged robots of example-robot-data; what is wrong with Romeo stands in its files."""
    files = {path.name: path for path in robot_files()}
    for name in (*CLEAN, *FLAWED):
        report = audit(kn.load(files[name]))
        alarms = {n.subject for n in report.findings if n.level != "info"}
        assert alarms == FLAWED.get(name, set()), name
