"""Poses in the scene are those of the library."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.model import to_planar
from knuckle.spatial import rotation
from knuckle.testing import auto_tree, random_state, random_tree
from knuckle.viewer.scene.poses import frames, poses, quaternions, upright


@pytest.mark.parametrize("seed", range(4))
def test_poses_are_body_poses(seed: int):
    model = random_tree(seed, 6)
    q = np.stack([kn.random_configuration(model, k) for k in range(3)])
    T = poses(model, q)
    assert T.shape == (3, 7, 4, 4)
    assert np.array_equal(T[:, 0], np.broadcast_to(np.eye(4), (3, 4, 4)))
    assert np.array_equal(T[:, 1:], kn.body_poses(model, q))


def test_planar_poses_lie_in_the_plane():
    space = auto_tree(4)
    flat = to_planar(space)
    q = kn.random_configuration(space, 1)
    assert np.allclose(poses(flat, q), poses(space, q), atol=1e-14)


def test_frames_are_where_the_library_has_them():
    model = kn.robots.load("arm")
    q = random_state(model, 0).q
    T = poses(model, q)
    for name, body, place in frames(model):
        assert np.allclose(T[body + 1] @ place, kn.pose(model, q, name), atol=1e-14), name
    assert {name for name, _, _ in frames(model)} == set(model.frame_names)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi])
def test_quaternions_at_every_angle(angle: float):
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(20, 3))
    axes = np.concatenate([axes, np.eye(3)]) / np.linalg.norm(np.concatenate([axes, np.eye(3)]), axis=-1, keepdims=True)
    given = np.concatenate([np.full((23, 1), np.cos(angle / 2)), np.sin(angle / 2) * axes], -1)
    R = np.array([np.array(rotation.from_quaternion(tuple(p)), float).T for p in given])
    found = quaternions(R)
    assert np.allclose(np.abs(np.sum(found * given, axis=-1)), 1.0, atol=1e-14)
    assert np.all(found[:, 0] >= 0)


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, -9.81, 0), (0, 0, 3.0), (1.0, 2.0, -3.0), (0, 0, 0)])
def test_upright_turns_gravity_down(gravity: tuple[float, float, float]):
    model = auto_tree(2).with_gravity(gravity)
    R = upright(model)[:3, :3]
    assert np.allclose(R @ gravity, (0, 0, -np.linalg.norm(gravity)), atol=1e-12)
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0)
