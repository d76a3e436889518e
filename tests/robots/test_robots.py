"""The bundled models: they load, they are fit for use, and their inertias are those of their shapes."""

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle import robots
from knuckle.model import Model
from knuckle.model.solids import solid, volume
from knuckle.spatial import Inertia


@pytest.mark.parametrize("name", robots.names())
def test_bundled_robots_are_fit_for_use(name: str):
    found = kn.audit(robots.load(name))
    assert found.errors == ()
    assert found.warnings == ()


def test_names_and_paths_agree():
    assert robots.names() == ("arm", "double_pendulum")
    assert [robots.path(name).stem for name in robots.names()] == list(robots.names())


@pytest.mark.parametrize("name", ["leg", "", "../robots/arm", "arm.urdf"])
def test_an_unknown_robot_is_refused_with_the_names_there_are(name: str):
    with pytest.raises(kn.ModelError, match="there are: arm"):
        robots.path(name)


def test_options_reach_the_reader():
    model = robots.load("arm", base="floating")
    assert model.joint_names[0] == "floating_base"
    assert (model.nq, model.nv) == (14, 13)


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


def test_the_arm_has_seven_joints_a_tool_and_resistance():
    model = robots.load("arm")
    assert (model.nq, model.nv) == (7, 7)
    assert "tool0" in model.frame_names
    assert all(any(joint.damping) for joint in model.joints)
    assert any(any(joint.friction) for joint in model.joints)
    assert kn.total_mass(model) == pytest.approx(16.7)
    reach = np.linalg.norm(kn.pose(model, kn.neutral(model), "tool0")[:3, 3] - [0.0, 0.0, 0.31])
    assert reach == pytest.approx(0.97)
