"""The ellipsoid and the box of an inertia are those that have it."""

import numpy as np
import pytest

from knuckle.model import point_mass, rod, solid_box, solid_ellipsoid, to_planar
from knuckle.spatial import Inertia, Transform
from knuckle.testing import auto_tree, random_transform
from knuckle.viewer.scene.ellipsoids import principal


@pytest.mark.parametrize("seed", range(5))
def test_an_ellipsoid_is_found_wherever_it_is(seed: int):
    """Half axes by size, the centre, and axes that are principal: the inertia is diagonal in them."""
    rng = np.random.default_rng(seed)
    radii = np.sort(rng.uniform(0.1, 0.9, 3))
    X = random_transform(rng)
    solid = principal(X.inverse() @ solid_ellipsoid(3.0, radii))
    assert solid is not None
    E = np.array(X.E, float)
    assert np.allclose(np.sort(solid.radii), radii, rtol=1e-9)
    assert np.allclose(solid.com, np.array(X.r, float), atol=1e-12)
    assert np.allclose(solid.axes.T @ solid.axes, np.eye(3), atol=1e-12)
    assert np.linalg.det(solid.axes) == pytest.approx(1.0)
    alignment = np.abs(E @ solid.axes)  # each principal axis is an axis of the ellipsoid
    order = np.argsort(solid.radii)
    assert np.allclose(alignment[:, order], np.eye(3), atol=1e-9)


def test_the_ellipsoid_has_the_inertia():
    """Integrating the uniform ellipsoid back gives mass, centre and inertia."""
    inertia = random_transform(np.random.default_rng(7)) @ solid_box(2.0, (0.2, 0.5, 0.9))
    solid = principal(inertia)
    assert solid is not None
    R, c = solid.axes, solid.com
    back = Transform(E=tuple(map(tuple, R.T)), r=tuple(c)).inverse() @ solid_ellipsoid(solid.mass, solid.radii)
    assert np.allclose(np.array(back.matrix.rows, float), np.array(inertia.matrix.rows, float), atol=1e-12)
    assert np.allclose(np.sort(solid.sides), [0.2, 0.5, 0.9], rtol=1e-9)


def test_thin_and_tiny_bodies():
    needle = principal(rod(1.0, 2.0))
    assert needle is not None
    assert np.allclose(np.sort(needle.sides), [0.0, 0.0, 2.0], atol=1e-7)
    dot = principal(point_mass(1.0, (0.1, 0.2, 0.3)))
    assert dot is not None
    assert np.allclose(dot.radii, 0.0, atol=1e-8)
    assert np.allclose(dot.com, (0.1, 0.2, 0.3))
    assert principal(Inertia.zero()) is None


def test_a_planar_body_is_a_disc():
    flat = to_planar(auto_tree(2))
    solid = principal(flat.bodies[0].inertia)
    assert solid is not None
    assert solid.radii[2] == 0
    assert solid.radii[0] == solid.radii[1] > 0
    assert solid.mass * np.sum(solid.radii[:2] ** 2) / 5 == pytest.approx(float(flat.bodies[0].inertia.I_com))
