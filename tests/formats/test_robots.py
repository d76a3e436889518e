"""Real robots: every URDF file of example-robot-data, read as Pinocchio reads it."""

import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.formats import adapters, load, read_json, read_urdf, to_json, to_urdf
from knuckle.model import ROOT, Model

from ..seeds import quick

pin = pytest.importorskip("pinocchio")

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
FILES = sorted(FOLDER.rglob("*.urdf"))
# Pinocchio refuses these two as well.
BROKEN = {
    "falcon.urdf": "there is no link called 'Z_propeller'",
    "ur3.urdf": "no <link>",
}
GOOD = [path for path in FILES if path.name not in BROKEN]
DYNAMICS = ("panda.urdf", "ur5_robot.urdf", "solo12.urdf", "talos_reduced.urdf", "tiago.urdf", "kinova.urdf")

pytestmark = pytest.mark.skipif(not FILES, reason="needs the package example-robot-data")


def name(path: Path) -> str:
    return path.stem


def theirs(path: Path, base: str) -> Any:
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    return pin.buildModelFromUrdf(str(path), *root)


def all_poses(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Where every named frame is."""
    poses = {ROOT: np.eye(4), **dict(enumerate(np.asarray(kn.body_poses(model, q))))}
    frames = [model.frame(f) for f in model.frame_names]
    return {f.name: poses[f.body] @ np.array(f.X.homogeneous.rows, dtype=float) for f in frames}


def test_there_are_enough():
    assert len(GOOD) >= 60


@pytest.mark.parametrize("path", [path for path in FILES if path.name in BROKEN], ids=name)
def test_broken_files_are_refused_with_the_line(path: Path):
    with pytest.raises(ModelError) as caught:
        load(path)
    assert BROKEN[path.name] in caught.value.message
    assert caught.value.line is not None


@pytest.mark.sampled
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("path", quick(GOOD, GOOD[::2]), ids=name)
def test_places_masses_and_sizes(path: Path, base: str):
    """Every link's pose at a random configuration, the inertia of every body, the number of variables."""
    model, other = load(path, base=base, mimic=False), theirs(path, base)
    assert model.nv == other.nv
    there, data = adapters.pinocchio(model, other), other.createData()
    q = np.asarray(kn.random_configuration(model, np.random.default_rng(0)))
    pin.framesForwardKinematics(other, data, there.q_to(q))
    expected = {f.name: data.oMf[k].homogeneous for k, f in enumerate(other.frames) if f.type == pin.FrameType.BODY}
    poses = all_poses(model, q)
    reach = 1 + max(np.abs(pose[:3, 3]).max() for pose in expected.values())
    for link, pose in expected.items():
        if link in poses:  # "universe" is Pinocchio's own
            np.testing.assert_allclose(poses[link], pose, rtol=0, atol=1e-13 * reach, err_msg=link)
    assert set(expected) - set(poses) <= {"universe"}
    for i, joint in enumerate(model.joints):
        their_name = "root_joint" if base == "floating" and i == 0 else joint.name
        inertia = other.inertias[other.getJointId(their_name)]
        ours = model.bodies[i].inertia
        assert float(ours.mass) == pytest.approx(inertia.mass, rel=1e-14)
        # Pinocchio's order is linear, angular
        matrix = np.array(ours.matrix.rows, dtype=float)[np.ix_([3, 4, 5, 0, 1, 2], [3, 4, 5, 0, 1, 2])]
        np.testing.assert_allclose(matrix, inertia.matrix(), rtol=0, atol=1e-14 * (1 + np.abs(matrix).max()))


@pytest.mark.parametrize("path", [path for path in GOOD if path.name in DYNAMICS], ids=name)
def test_inverse_dynamics(path: Path):
    model, other = load(path, base="floating", mimic=False).without_friction(), theirs(path, "floating")
    there, data, rng = adapters.pinocchio(model, other), other.createData(), np.random.default_rng(1)
    q = np.asarray(kn.random_configuration(model, rng))
    v, a = rng.normal(size=(2, model.nv))
    tau = pin.rnea(other, data, there.q_to(q), there.v_to(q, v), there.a_to(q, v, a))
    ours = kn.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(ours, there.tau_from(there.q_to(q), tau), rtol=0, atol=1e-13 * np.abs(tau).max())


def test_joint_order_is_the_files():
    """Pinocchio sorts children by name; the file, the driver and we do not."""
    path = next(path for path in GOOD if path.name == "baxter.urdf")
    import xml.etree.ElementTree as ElementTree

    joints = ElementTree.parse(path).getroot().findall("joint")
    moving = [j.get("name") for j in joints if j.get("type") not in ("fixed", "floating")]
    assert list(load(path, mimic=False).joint_names) == moving
    assert list(theirs(path, "fixed").names)[1:] != moving


@pytest.mark.parametrize("path", GOOD[::6], ids=name)
def test_round_trips(path: Path):
    """JSON gives the same model; URDF gives the same inertia matrix and forces, up to rounding."""
    model = load(path, base="floating")
    again = read_json(to_json(model))
    assert again == model
    assert again.content_hash == model.content_hash
    back = read_urdf(to_urdf(model))
    assert (back.joint_names, back.frame_names, back.nq) == (model.joint_names, model.frame_names, model.nq)
    rng = np.random.default_rng(2)
    q = np.asarray(kn.random_configuration(model, rng))
    v, a = rng.normal(size=(2, model.nv))
    tau = kn.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(kn.inverse_dynamics(back, q, v, a), tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_packages_are_found():
    path = next(path for path in GOOD if path.name == "talos_reduced.urdf")
    missing = [note for note in load(path).provenance.notes if "mesh not found" in note.text]
    assert missing == []
