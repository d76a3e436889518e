"""URDF in: what each element becomes."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from knuckle.formats import read_urdf
from knuckle.joints import Continuous, Fixed, Free, Planar, Prismatic, Revolute
from knuckle.model import ROOT, Box, Capsule, Cylinder, Limits, Material, Mesh, Model, Note, Sphere, audit, mimic
from knuckle.model.edit import with_rotor_inertia
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import IDENTITY, Inertia, Transform

INF = math.inf


def link(name: str, inside: str | None = None) -> str:
    heavy = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    return f'<link name="{name}">{heavy if inside is None else inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def read(*parts: str, **options: object) -> Model:
    """The model of a document whose first part is on line 2."""
    return read_urdf("\n".join(['<robot name="r">', *parts, "</robot>"]), **options)  # type: ignore[arg-type]


def notes(model: Model, subject: str | None = None, level: str | None = None) -> list[Note]:
    found = (note for note in model.provenance.notes if subject is None or note.subject == subject)
    return [note for note in found if level is None or note.level == level]


def numbers(x: Sequence[object]) -> list[float]:
    return np.array(x, dtype=float).tolist()


# links


def test_inertia_about_the_link_frame():
    """RBDA 2.63, with the inertial frame turned: I = Rᵀ… compared with dense matrices."""
    inertial = (
        '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/><mass value="2.5"/>'
        '<inertia ixx="0.2" ixy="0.01" ixz="-0.02" iyy="0.3" iyz="0.03" izz="0.25"/></inertial>'
    )
    inertia = read(link("a", inertial)).base.inertia
    r, p, y = 0.4, 0.5, -0.6
    Rx = np.array([[1, 0, 0], [0, np.cos(r), -np.sin(r)], [0, np.sin(r), np.cos(r)]])
    Ry = np.array([[np.cos(p), 0, np.sin(p)], [0, 1, 0], [-np.sin(p), 0, np.cos(p)]])
    Rz = np.array([[np.cos(y), -np.sin(y), 0], [np.sin(y), np.cos(y), 0], [0, 0, 1]])
    R = Rz @ Ry @ Rx
    I_c = R @ np.array([[0.2, 0.01, -0.02], [0.01, 0.3, 0.03], [-0.02, 0.03, 0.25]]) @ R.T
    c = np.array([0.1, -0.2, 0.3])
    cx = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    assert inertia.mass == 2.5
    np.testing.assert_allclose(numbers(inertia.h), 2.5 * c, rtol=1e-15)
    np.testing.assert_allclose(numbers(inertia.I.matrix), I_c - 2.5 * cx @ cx, rtol=1e-14)


def test_link_without_inertial_has_none_and_a_note():
    model = read(link("a", ""))
    assert model.base.inertia == Inertia.zero()
    assert notes(model, "a") == [Note("info", "a", "no <inertial>: the link has no mass", 2)]


@pytest.mark.parametrize(
    ("mass", "moments", "level", "words"),
    [
        ("-1", (1, 1, 1), "error", "negative mass -1"),
        ("1", (1, 1, 3), "warning", "no body has these principal moments: (1, 1, 3)"),
        ("1", (1, -1, 1), "error", "not positive definite: principal moments (-1, 1, 1)"),
        ("1", (0, 0, 0), "warning", "a mass without moments of inertia"),
        ("0", (1, 1, 1), "warning", "moments of inertia without a mass"),
        ("1", (0, 1, 1), "info", "the smallest principal moment is zero"),
        ("0", (0, 0, 0), "info", "an <inertial> of zeros"),
    ],
)
def test_unphysical_inertia_is_noted(mass: str, moments: tuple[int, ...], level: str, words: str):
    xx, yy, zz = moments
    inside = (
        f'<inertial>\n<mass value="{mass}"/>'
        f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial>'
    )
    (note,) = notes(read(link("a", inside)), "a")
    assert (note.level, note.line) == (level, 2)
    assert words in note.text


def test_a_body_at_the_limit_of_the_triangle_inequality_is_not_noted():
    inside = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial>'
    assert notes(read(link("a", inside)), "a") == []


def test_shapes_and_materials():
    model = read(
        '<material name="blue"><color rgba="0 0 1 0.5"/></material>',
        '<material name="tiles"><texture filename="package://p/t.png"/></material>',
        '<link name="a">'
        '<visual name="v"><origin xyz="1 2 3"/><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>'
        '<visual><geometry><sphere radius="0.5"/></geometry><material name="own"><color rgba="1 0 0 1"/></material>'
        "</visual>"
        '<visual><geometry><cylinder radius="0.5" length="2"/></geometry><material name="tiles"/></visual>'
        '<visual><geometry><capsule radius="0.5" length="2"/></geometry><material name="own"/></visual>'
        '<collision><geometry><mesh filename="nowhere.stl" scale="1 1 0.001"/></geometry></collision>'
        '<visual><geometry><sphere radius="1"/></geometry><material name="unknown"/></visual>'
        "</link>",
    )
    box, ball, cylinder, capsule, last = model.base.visuals
    assert (box.shape, box.name) == (Box((1, 2, 3)), "v")
    assert box.material == Material("blue", (0, 0, 1, 0.5))
    assert Transform.translation((1, 2, 3)) == box.X
    assert (ball.shape, ball.material) == (Sphere(0.5), Material("own", (1, 0, 0, 1)))
    assert (cylinder.shape, cylinder.material) == (Cylinder(0.5, 2), Material("tiles", None, "package://p/t.png"))
    assert (capsule.shape, capsule.material) == (Capsule(0.5, 2), Material("own", (1, 0, 0, 1)))
    assert last.material == Material("unknown")
    (mesh,) = model.base.collisions
    assert mesh.shape == Mesh("nowhere.stl", (1, 1, 0.001), None)
    texts = {note.text: note.line for note in notes(model, "a")}
    assert texts["mesh not found: nowhere.stl"] == 4
    assert texts["material 'unknown' is defined nowhere before this"] == 4


def test_materials_may_be_defined_after_the_links():
    shape = '<visual><geometry><sphere radius="1"/></geometry><material name="m"/></visual>'
    model = read(link("a", shape), '<material name="m"><color rgba="1 1 1 1"/></material>')
    assert model.base.visuals[0].material == Material("m", (1, 1, 1, 1))


@pytest.mark.parametrize("inside", ["", "<geometry/>", "<geometry><cone/></geometry>"])
def test_a_visual_without_a_known_shape_is_left_out(inside: str):
    model = read(link("a", f"<visual>{inside}</visual>"))
    assert model.base.visuals == ()
    assert [n.text for n in notes(model, "a", "warning")] == ["<visual> without a shape that is known: left out"]


# joints


def test_types_of_joints():
    axis = '<axis xyz="0 1 0"/>'
    kinds = {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}
    for word, kind in kinds.items():
        assert read(link("a"), link("b"), joint("j", word, "a", "b", axis)).joints[0].type == kind((0.0, 1.0, 0.0))
    assert read(link("a"), link("b"), joint("j", "planar", "a", "b", axis)).joints[0].type == Planar((0.0, 1.0, 0.0))
    assert read(link("a"), link("b"), joint("j", "floating", "a", "b")).joints[0].type == Free()
    fixed = read(link("a"), link("b"), joint("j", "fixed", "a", "b"), merge_fixed=False)
    assert fixed.joints[0].type == Fixed()


def test_axis_default_and_normalisation():
    assert read(link("a"), link("b"), joint("j", "revolute", "a", "b")).joints[0].type == Revolute((1.0, 0.0, 0.0))
    model = read(link("a"), link("b"), joint("j", "revolute", "a", "b", '<axis xyz="0 3 4"/>'))
    assert model.joints[0].type == Revolute((0.0, 0.6, 0.8))
    assert Note("info", "j", "axis of length 5 normalised to length 1", 4) in model.provenance.notes


def test_axis_of_a_fixed_joint_does_not_matter():
    model = read(link("a"), link("b"), joint("j", "fixed", "a", "b", '<axis xyz="0 0 0"/>'), merge_fixed=False)
    assert Note("info", "j", "<axis> ignored: a fixed joint has none", 4) in model.provenance.notes


def test_placement():
    """The child's origin in the parent, and the parent's coordinates of its axes: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    origin = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    X = read(link("a"), link("b"), joint("j", "revolute", "a", "b", origin)).X_tree[0]
    pose = np.array(X.homogeneous.rows, dtype=float)
    cr, sr, cp, sp, cy, sy = (f(x) for x in (0.1, 0.2, 0.3) for f in (math.cos, math.sin))
    expected = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, 1],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr, 2],
        [-sp, cp * sr, cp * cr, 3],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(pose, expected, rtol=0, atol=1e-15)


def test_right_angles_are_structural():
    origin = '<origin xyz="0 0 1" rpy="1.5707963267948966 -3.141592653589793 0"/>'
    X = read(link("a"), link("b"), joint("j", "revolute", "a", "b", origin)).X_tree[0]
    assert all(entry is ZERO or entry is ONE or entry == -1 for row in X.E for entry in row)
    assert (X.r[0], X.r[2]) == (ZERO, ONE)
    assert X.r[0] is ZERO


def test_rounded_angles_stay_what_they_are():
    """1.5708 is not π/2: the file's number counts, as in every other reader."""
    X = read(link("a"), link("b"), joint("j", "revolute", "a", "b", '<origin rpy="1.5708 0 0"/>')).X_tree[0]
    assert X.E[1][1] == math.cos(1.5708) != 0


def test_limits_and_dynamics():
    inside = '<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/>'
    (found,) = read(link("a"), link("b"), joint("j", "revolute", "a", "b", inside)).joints
    assert found.limits == Limits((-1,), (2,), (3,), (4,))
    assert (found.damping, found.friction) == ((0.5,), (0.25,))


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        ("revolute", "", Limits((-INF,), (INF,), (INF,), (INF,))),
        ("revolute", '<limit velocity="1" effort="2"/>', Limits((0,), (0,), (1,), (2,))),
        ("prismatic", '<limit lower="-1" upper="1"/>', Limits((-1,), (1,), (INF,), (INF,))),
        ("revolute", '<limit lower="-1e16" upper="1e+16" velocity="inf" effort="1e20"/>', Limits.none(1, 1)),
        ("continuous", '<limit lower="1" upper="2" velocity="3" effort="4"/>', Limits((-INF,), (INF,), (3,), (4,))),
    ],
)
def test_limits_that_are_not_stated(kind: str, limit: str, expected: Limits):
    assert read(link("a"), link("b"), joint("j", kind, "a", "b", limit)).joints[0].limits == expected


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<limit lower="2" upper="1" velocity="1" effort="1"/>', "the lower limit 2 is above the upper limit 1"),
        ('<limit lower="1" upper="1" velocity="1" effort="1"/>', "leave no room to move"),
        ('<limit lower="0" upper="1" velocity="-1" effort="1"/>', "velocity limit -1 is negative"),
        ('<dynamics damping="-2"/>', "negative damping -2"),
    ],
)
def test_doubtful_joint_numbers_are_noted(inside: str, words: str):
    model = read(link("a"), link("b"), joint("j", "revolute", "a", "b", inside))
    (note,) = notes(model, "j", "warning")
    assert words in note.text
    assert note.line == 4


# mimic


def gripper(second: str, third: str = "", **options: object) -> Model:
    return read(
        *(link(name) for name in "abcd"),
        joint("j1", "revolute", "a", "b"),
        joint("j2", "revolute", "b", "c", second),
        joint("j3", "prismatic", "c", "d", third),
        **options,
    )


def test_mimic():
    model = gripper('<mimic joint="j1" multiplier="-2" offset="0.5"/>')
    assert model.couplings == (mimic(1, 0, -2.0, 0.5),)
    assert (model.nv, model.nb) == (2, 3)
    assert gripper('<mimic joint="j3"/>').couplings == (mimic(1, 2, 1.0, 0.0),)


def test_mimic_false_leaves_joints_independent():
    model = gripper('<mimic joint="j1"/>', mimic=False)
    assert (model.couplings, model.nv) == ((), 3)
    assert [note.text for note in notes(model, "j2") if "mimic" in note.text] == [
        "<mimic> ignored as asked for: it moves by itself"
    ]


def test_mimic_chains_are_followed():
    """q3 = 3 q2 + 1 = 3 (2 q1 + 0.5) + 1."""
    model = gripper('<mimic joint="j1" multiplier="2" offset="0.5"/>', '<mimic joint="j2" multiplier="3" offset="1"/>')
    assert set(model.couplings) == {mimic(1, 0, 2.0, 0.5), mimic(2, 0, 6.0, 2.5)}
    assert any("through 'j2'" in note.text for note in notes(model, "j3"))


def test_mimic_of_a_joint_that_is_not_there_is_noted_and_ignored():
    model = gripper('<mimic joint="j11"/>')
    assert (model.couplings, model.nv) == ((), 3)
    (note,) = notes(model, "j2", "error")
    assert (note.line, "did you mean 'j1'" in note.text) == (7, True)


def test_mimic_on_a_fixed_joint_is_ignored():
    model = read(link("a"), link("b"), joint("j", "fixed", "a", "b", '<mimic joint="k"/>'), merge_fixed=False)
    assert model.couplings == ()


# the tree


def test_joint_order_is_the_files():
    model = read(
        *(link(name) for name in "abcd"),
        joint("z", "revolute", "a", "d"),
        joint("y", "revolute", "a", "b"),
        joint("x", "revolute", "b", "c"),
    )
    assert model.joint_names == ("z", "y", "x")
    assert model.parents == (ROOT, ROOT, 1)


def test_a_joint_before_its_parents_joint_is_moved_no_further_than_needed():
    model = read(
        *(link(name) for name in "abcdef"),
        joint("cd", "revolute", "c", "d"),
        joint("ab", "revolute", "a", "b"),
        joint("ef", "revolute", "e", "f"),
        joint("bc", "revolute", "b", "c"),
        joint("ae", "revolute", "a", "e"),
    )
    assert model.joint_names == ("ab", "bc", "cd", "ae", "ef")
    moved = [(note.subject, note.line) for note in model.provenance.notes if "moved after" in note.text]
    assert moved == [("cd", 8), ("ef", 10)]


def test_fixed_joints_are_merged_and_their_links_stay_as_frames():
    parts = (
        *(link(name) for name in "abc"),
        joint("ab", "fixed", "a", "b", '<origin xyz="0 0 1"/>'),
        joint("bc", "revolute", "b", "c", '<origin xyz="0 0 1"/>'),
    )
    merged, kept = read(*parts), read(*parts, merge_fixed=False)
    assert (merged.nb, merged.base.inertia.mass, merged.X_tree[0].r[2]) == (1, 2, 2)
    assert [(frame.name, frame.body) for frame in merged.frames] == [("b", ROOT)]
    assert (kept.nb, kept.body_names, kept.frames) == (2, ("b", "c"), ())


def test_floating_base():
    parts = (link("a"), link("b"), joint("j", "revolute", "a", "b"))
    model = read(*parts, base="floating")
    assert model.joint_names == ("floating_base", "j")
    assert (model.joints[0].type, model.joints[0].X_tree, model.parents) == (Free(), IDENTITY, (ROOT, 0))
    assert (model.base.name, model.body_names, model.nq, model.nv) == ("world", ("a", "b"), 8, 7)
    with pytest.raises(ValueError, match='base=\'loose\'; it is "fixed" or "floating"'):
        read(*parts, base="loose")


def test_floating_base_finds_free_names():
    model = read(link("world"), link("b"), joint("floating_base", "revolute", "world", "b"), base="floating")
    assert (model.base.name, model.joint_names) == ("universe", ("root_joint", "floating_base"))


def test_floating_base_keeps_frames_mimics_and_merging_in_step():
    parts = (
        *(link(name) for name in "abcd"),
        joint("ab", "fixed", "a", "b"),
        joint("bc", "revolute", "b", "c"),
        joint("cd", "revolute", "c", "d", '<mimic joint="bc"/>'),
    )
    model = read(*parts, base="floating")
    assert (model.frames[0].name, model.frames[0].body, model.couplings) == ("b", 0, (mimic(2, 1, 1.0, 0.0),))


def test_a_robot_that_floats_by_its_file_gets_no_second_free_joint():
    model = read(link("w", ""), link("a"), joint("free", "floating", "w", "a"), base="floating")
    assert (model.nv, model.joint_names, model.base.name) == (6, ("free",), "w")
    assert any("floats" in note.text for note in notes(model, "free"))


def failing(model):
    """The joints on which forward dynamics fails, as the audit finds them in the model itself."""
    return [finding.subject for finding in audit(model).errors if "moves has mass" in finding.text]


def test_a_joint_that_moves_nothing_is_found_by_the_audit():
    model = read(link("a"), link("b", ""), joint("j", "revolute", "a", "b"))
    assert failing(model) == ["j"]
    assert failing(with_rotor_inertia(model, {"j": 0.1})) == []
    carried = read(link("a"), link("b", ""), link("c"), joint("j", "revolute", "a", "b"), joint("k", "fixed", "b", "c"))
    assert failing(carried) == []
    light_leader = (
        link("a"),
        link("b", ""),
        link("c"),
        joint("j", "revolute", "a", "b"),
        joint("k", "revolute", "a", "c", '<mimic joint="j"/>'),
    )
    assert failing(read(*light_leader)) == []
    assert failing(read(*light_leader, mimic=False)) == ["j"]


# the rest of the file


def test_ignored_tags_and_attributes_are_listed_with_their_lines():
    model = read(
        '<link name="a" type="x">',
        "<sensor/></link>",
        '<gazebo reference="a"><selfCollide>true</selfCollide></gazebo>',
        '<transmission name="t"/>',
        link("b"),
        joint("j", "revolute", "a", "b", '\n<calibration rising="0.1"/>\n<safety_controller k_velocity="1"/>'),
    )
    ignored = {(note.subject, note.text, note.line) for note in model.provenance.notes if "ignored" in note.text}
    assert ignored == {
        ("a", "type=… of <link> ignored", 2),
        ("a", "<sensor> in <link> ignored", 3),
        ("robot", "<gazebo> in <robot> ignored", 4),
        ("t", "ignored: only a SimpleTransmission of one joint and one actuator is known, not ''", 5),
        ("j", "<calibration> ignored: rising=0.1", 8),
        ("j", "<safety_controller> ignored: k_velocity=1", 9),
    }


def test_what_was_read_is_counted():
    model = read(link("a"), link("b"), joint("j", "revolute", "a", "b"))
    text = notes(model, "r")[-1].text
    assert text == "read: 1 <child>, 2 <inertia>, 2 <inertial>, 1 <joint>, 2 <link>, 2 <mass>, 1 <parent>, 1 <robot>"


def test_provenance_and_name():
    model = read_urdf(b"<robot><link name='a'/></robot>", file="some/arm.urdf")
    assert (model.provenance.file, model.provenance.format, model.name) == ("some/arm.urdf", "urdf", "arm")


def test_a_leftover_xacro_namespace_is_no_xacro():
    assert read_urdf('<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><link name="a"/></robot>').name == "r"


# meshes


def mesh_path(uri: str, file: Path | None, **options: object) -> str | None:
    shape = f'<visual><geometry><mesh filename="{uri}"/></geometry></visual>'
    text = f'<robot name="r"><link name="a">{shape}</link></robot>'
    model = read_urdf(text, file=None if file is None else str(file), **options)  # type: ignore[arg-type]
    found = model.base.visuals[0].shape
    assert isinstance(found, Mesh)
    assert found.uri == uri
    return found.path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """`ws/arm_description/{urdf/arm.urdf, meshes/a b.stl}` and `other/hand_description/hand.stl`."""
    for name in ("ws/arm_description/meshes/a b.stl", "ws/arm_description/urdf/near.stl", "other/hand/hand.stl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    return tmp_path


def test_meshes_are_found(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    package = workspace / "ws" / "arm_description"
    urdf, mesh = package / "urdf" / "arm.urdf", str(package / "meshes" / "a b.stl")
    assert mesh_path("package://arm_description/meshes/a b.stl", urdf) == mesh
    assert mesh_path("../meshes/a b.stl", urdf) == mesh
    assert mesh_path("near.stl", urdf) == str(package / "urdf" / "near.stl")
    assert mesh_path("meshes/a b.stl", urdf) == mesh
    assert mesh_path(mesh, None) == mesh
    assert mesh_path("file://" + mesh.replace(" ", "%20"), None) == mesh
    assert mesh_path("file://" + mesh, None) == mesh
    hand = "package://hand/hand.stl"
    assert mesh_path(hand, urdf) is None
    assert mesh_path(hand, urdf, package_dirs=[workspace / "other"]) == str(workspace / "other/hand/hand.stl")
    assert mesh_path(hand, urdf, package_dirs=[str(workspace / "other/hand")]) == str(workspace / "other/hand/hand.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{workspace / 'other'}")
    assert mesh_path(hand, None) == str(workspace / "other/hand/hand.stl")


@pytest.mark.parametrize(
    "uri", ["package://", "package://x", "http://h/a.stl", "file://[bad", "a" * 5000, "//", "", ".", "model://m/a.dae"]
)
def test_meshes_that_cannot_be_found_are_no_error(uri: str, tmp_path: Path):
    assert mesh_path(uri, tmp_path / "r.urdf") is None
