"""The bundled models: they load, they are fit for use, and their inertias are those of their shapes."""

import math
from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle import robots
from knuckle.joints import Free
from knuckle.model import ROOT, Model
from knuckle.model.build.solids import solid, volume
from knuckle.spatial import Inertia
from knuckle.testing import laws, random_state
from knuckle.testing.oracles.other_libraries import against_pinocchio

from ..seeds import quick

# name: joints besides a free one, whether it floats, mass in motion, a frame and where it is at the neutral position
EXPECTED = {
    "arm": (7, False, 16.7, "tool0", (0.0, 0.0, 1.28)),
    "cart_pole": (2, False, 1.75, "tip", (0.0, 0.0, 0.67)),
    "crank_slider": (3, False, 3.3, "piston", (0.28, 0.0, 0.0)),
    "double_pendulum": (2, False, 1.8, "tip", (0.0, 0.0, -0.9)),
    "four_bar": (3, False, 1.45, "coupler_point", (0.16, 0.0, 0.24)),
    "humanoid": (29, True, 64.7, "left_sole", (0.0, 0.09, -0.98)),
    "pendulum": (1, False, 1.2, "tip", (0.0, 0.0, -0.5)),
    "quadruped": (12, True, 22.0, "front_left_foot", (0.245, 0.147, -0.44 * math.cos(0.75))),
    "satellite": (7, True, 122.0, "beam", (0.0, 0.0, 1.16)),
}
LOOPS = {"four_bar": "rocker_pin", "crank_slider": "slider_pin"}
URDF = [name for name in EXPECTED if robots.path(name).suffix == ".urdf"]


@pytest.mark.parametrize("name", robots.names())
def test_bundled_robots_are_fit_for_use(name: str):
    found = kn.audit(robots.load(name))
    assert found.errors == ()
    assert found.warnings == ()


def test_names_and_paths_agree():
    assert robots.names() == tuple(EXPECTED)
    assert [robots.path(name).stem for name in robots.names()] == list(robots.names())


@pytest.mark.parametrize("name", ["leg", "", "../robots/arm", "arm.urdf"])
def test_an_unknown_robot_is_refused_with_the_names_there_are(name: str):
    with pytest.raises(kn.ModelError, match="there are: arm"):
        robots.path(name)


def test_options_reach_the_reader():
    model = robots.load("arm", base="floating")
    assert model.joint_names[0] == "floating_base"
    assert (model.nq, model.nv) == (14, 13)


@pytest.mark.parametrize("name", EXPECTED)
def test_size_mass_and_frames(name: str):
    joints, floats, mass, frame, place = EXPECTED[name]
    model = robots.load(name)
    assert model.name == name
    assert (model.nq, model.nv) == (joints + 7 * floats, joints + 6 * floats)
    assert kn.total_mass(model) == pytest.approx(mass, abs=1e-9)
    np.testing.assert_allclose(kn.pose(model, kn.neutral(model), frame)[:3, 3], place, atol=1e-12)
    free = [joint for joint in model.joints if isinstance(joint.type, Free)]
    assert len(free) == floats
    assert all(joint.parent == ROOT for joint in free)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_neutral_position_is_within_the_limits(name: str):
    model = robots.load(name)
    for joint in model.joints:
        for low, x, high in zip(joint.limits.lower, joint.type.neutral(), joint.limits.upper, strict=True):
            assert low <= float(x) <= high, joint.name


@pytest.mark.parametrize("name", EXPECTED)
def test_everything_is_drawn_in_a_colour(name: str):
    model = robots.load(name)
    for body in model.bodies:
        assert body.visuals, body.name
        assert all(g.material is not None and g.material.color is not None for g in body.visuals), body.name


@pytest.mark.parametrize("name", quick(EXPECTED, EXPECTED.keys() - {"humanoid"}))
def test_the_laws_hold(name: str):
    model = robots.load(name).without_loops()
    state = random_state(model, 3)
    for law, error in ((law, check(model, state)) for law, check in laws.LAWS.items()):
        assert error < 1e-10, f"{law}: {error}"


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_closed_at_the_neutral_position(name: str):
    """The two ends of the loop joint are the same frame: its error is zero (RBDA 8.25)."""
    model = robots.load(name)
    (loop,) = model.loops
    assert loop.name == LOOPS[name]
    poses = {ROOT: np.eye(4), **dict(enumerate(kn.body_poses(model, kn.neutral(model))))}
    ends = [
        poses[body] @ _matrix(X)
        for body, X in ((loop.predecessor, loop.X_predecessor), (loop.successor, loop.X_successor))
    ]
    np.testing.assert_allclose(*ends, atol=1e-16)
    assert not any("open by" in note.text for note in kn.audit(model).infos)


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_has_one_freedom(name: str):
    """The rates of the tree's joints that the loop joint lets through: RBDA 8.2, the null space of the constraints."""
    model = robots.load(name)
    (loop,) = model.loops
    q = kn.neutral(model)
    J = [
        kn.jacobian(model, q, model.body_names[body], expressed_in="world")
        for body in (loop.predecessor, loop.successor)
    ]
    p = _matrix(loop.X_predecessor)
    x, y, z = (kn.body_poses(model, q)[loop.predecessor] @ p)[:3, 3]
    axis = np.array([0.0, 1.0, 0.0, *np.cross((x, y, z), (0.0, 1.0, 0.0))])  # the pin's turn, as a twist at the origin
    K = (J[1] - J[0]) - np.outer(axis, axis @ (J[1] - J[0])) / (axis @ axis)
    assert np.linalg.matrix_rank(K, tol=1e-10) == model.nv - 1


def _matrix(X: kn.spatial.Transform) -> np.ndarray:
    """A transform from body to frame coordinates as the pose of the frame in the body."""
    pose = np.eye(4)
    pose[:3, :3] = np.array([[float(x) for x in row] for row in X.E]).T
    pose[:3, 3] = [float(x) for x in X.r]
    return pose


def uniform(model: Model, i: int) -> Inertia:
    """The inertia of body i if its visuals were solids of one density."""
    body = model.bodies[i]
    volumes = [volume(geometry.shape) or math.nan for geometry in body.visuals]
    parts = [
        geometry.X.T @ solid(geometry.shape, float(body.inertia.mass) * part / sum(volumes)) @ geometry.X
        for geometry, part in zip(body.visuals, volumes, strict=True)
    ]
    return sum(parts[1:], parts[0])


@pytest.mark.parametrize("name", robots.names())
def test_robots_weigh_what_their_shapes_weigh(name: str):
    model = robots.load(name)
    for i, body in enumerate(model.bodies):
        stated, drawn = body.inertia, uniform(model, i)
        numbers = [np.array([float(x) for x in (I.mass, *I.h, *I.I)]) for I in (stated, drawn)]
        # the file states ten digits
        np.testing.assert_allclose(*numbers, rtol=1e-8, atol=1e-10, err_msg=body.name)


@pytest.mark.parametrize("name", ["arm", "cart_pole", "quadruped", "humanoid"])
def test_another_library_reads_the_same_robot(name: str):
    assert max(against_pinocchio(Path(robots.path(name)), "fixed").values()) < 1e-12


@pytest.mark.parametrize("name", URDF)
def test_urdf_files_say_nothing_that_is_ignored(name: str):
    notes = robots.load(name).provenance.notes
    assert [note for note in notes if "ignored" in note.text or note.level != "info"] == []


def test_the_arm_has_seven_joints_a_tool_and_resistance():
    model = robots.load("arm")
    assert all(any(joint.damping) for joint in model.joints)
    assert any(any(joint.friction) for joint in model.joints)
    reach = np.linalg.norm(kn.pose(model, kn.neutral(model), "tool0")[:3, 3] - [0.0, 0.0, 0.31])
    assert reach == pytest.approx(0.97)


@pytest.mark.parametrize(("name", "feet"), [("quadruped", "foot"), ("humanoid", "sole")])
def test_legged_robots_stand_level_and_balanced(name: str, feet: str):
    model = robots.load(name)
    q = kn.neutral(model)
    places = np.array([kn.pose(model, q, f.name)[:3, 3] for f in model.frames if f.name.endswith(feet)])
    assert np.ptp(places[:, 2]) < 1e-12
    center = kn.center_of_mass(model, q)
    reach = 0.12 if feet == "sole" else 0.0  # a sole is longer than the point in its middle
    assert np.all(places[:, :2].min(0) - reach <= center[:2])
    assert np.all(center[:2] <= places[:, :2].max(0) + reach)
    assert center[1] == pytest.approx(0.0, abs=1e-9)


def test_the_satellite_is_weightless_and_turns_by_its_wheels():
    model = robots.load("satellite")
    assert model.gravity == (0.0, 0.0, 0.0)
    tau = np.zeros(model.nv)
    tau[model.v_slices[model.joint_index("wheel_z_drive")]] = 0.5
    a = kn.forward_dynamics(model, kn.neutral(model), np.zeros(model.nv), tau)
    assert a[2] < 0.0  # the bus turns against the wheel
    assert np.abs(kn.momentum(model, kn.neutral(model), a)).max() < 1e-12  # and nothing pushes the whole
