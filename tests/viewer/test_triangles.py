"""Surfaces: closed, turned outwards, of the right size, smooth where they should be."""

import numpy as np
import pytest

from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere
from knuckle.viewer.scene.triangles import (
    Triangles,
    box,
    creased,
    cylinder,
    decimated,
    ellipsoid,
    joined,
    merged,
    primitive,
    strut,
)

_ROUND = 0.02
"""A polygon of 40 sides has 0.4 % less area than its circle; a ball of 20 rings 1 % less volume."""


def volume(surface: Triangles) -> float:
    """By Gauss: a sixth of the sum of triple products, positive if the triangles look outwards."""
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    return float(np.einsum("fi,fi->", a, np.cross(b, c))) / 6


SHAPES = {
    "box": (Box((1.0, 2.0, 3.0)), 6.0, (0.5, 1.0, 1.5)),
    "cylinder": (Cylinder(0.5, 2.0), np.pi * 0.25 * 2, (0.5, 0.5, 1.0)),
    "capsule": (Capsule(0.5, 2.0), np.pi * 0.25 * 2 + np.pi / 6, (0.5, 0.5, 1.5)),
    "sphere": (Sphere(0.7), 4 / 3 * np.pi * 0.7**3, (0.7, 0.7, 0.7)),
    "ellipsoid": (Ellipsoid((1.0, 2.0, 3.0)), 8 * np.pi, (1.0, 2.0, 3.0)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_their_volume_and_size(name: str):
    shape, expected, half = SHAPES[name]
    surface = primitive(shape)
    assert surface is not None
    assert np.allclose(surface.bounds, [np.negative(half), half], rtol=0, atol=1e-12)
    assert expected * (1 - _ROUND) < volume(surface) <= expected * (1 + 1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_closed(name: str):
    """Every edge of the merged surface belongs to two triangles that run along it in opposite directions."""
    surface = primitive(SHAPES[name][0])
    assert surface is not None
    faces = merged(surface).faces
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there, back = {tuple(e) for e in edges.tolist()}, {tuple(e[::-1]) for e in edges.tolist()}
    assert len(there) == len(edges)
    assert there == back


def test_planes_and_meshes():
    plane = primitive(Plane((1.0, 2.0)))
    assert plane is not None
    assert np.allclose(np.ptp(plane.vertices, axis=0), [2.0, 4.0, 0.0])
    assert primitive(Plane((0.0, 0.0))) is None
    assert primitive(Mesh("a.stl")) is None


def test_terrain_is_where_its_heights_are_and_looks_up():
    heights = ((0.0, 1.0, 2.0), (5.0, 4.0, 3.0))
    surface = primitive(HeightField(heights, (0.5, 2.0)))
    assert surface is not None
    rows = surface.vertices.reshape(2, 3, 3)
    assert rows[..., 2].tolist() == [list(row) for row in heights]
    assert rows[0, :, 0].tolist() == [-0.5, 0.0, 0.5]
    assert rows[:, 1, 1].tolist() == [-1.0, 1.0]
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert len(normals) == 4
    assert normals[:, 2] == pytest.approx(1.0)


def test_a_mirror_image_still_looks_outwards():
    mirrored = box((1.0, 2.0, 3.0)).moved(np.diag([-1.0, 1.0, 1.0, 1.0]))
    assert volume(mirrored) == pytest.approx(6.0)


def test_a_strut_goes_from_point_to_point():
    a, b = np.array([0.1, -0.2, 0.3]), np.array([0.7, 0.4, -0.5])
    surface = strut(a, b, 0.05)
    along = (b - a) / np.linalg.norm(b - a)
    reach = (surface.vertices - a) @ along
    assert reach.min() == pytest.approx(-0.05)
    assert reach.max() == pytest.approx(np.linalg.norm(b - a) + 0.05)
    away = np.linalg.norm(surface.vertices - a - reach[:, None] * along, axis=-1)
    assert away.max() == pytest.approx(0.05)
    assert volume(strut(a, a, 0.05)) > 0


def test_creases_are_sharp_and_the_rest_is_smooth():
    """A cylinder given as loose triangles: the wall shares its vertices, the lids have their own."""
    loose = cylinder(0.5, 2.0)
    loose = Triangles(loose.vertices[loose.faces].reshape(-1, 3), np.arange(3 * len(loose.faces)).reshape(-1, 3))
    tidy = creased(loose)
    assert volume(tidy) == pytest.approx(volume(loose))
    rim = tidy.vertices[np.isclose(np.hypot(*tidy.vertices[:, :2].T), 0.5) & (tidy.vertices[:, 2] > 0)]
    assert len(rim) > 40
    ball = creased(ellipsoid((1.0, 1.0, 1.0)))
    assert len(ball.vertices) == len(merged(ellipsoid((1.0, 1.0, 1.0))).vertices)


def test_decimation_keeps_the_shape():
    ball = ellipsoid((1.0, 1.0, 1.0))
    coarse = decimated(ball, 400)
    assert len(coarse.faces) <= 400
    assert volume(coarse) == pytest.approx(volume(ball), rel=0.05)
    assert decimated(ball, 10**6) is ball


def test_joined_surfaces_keep_their_triangles():
    one, other = box((1.0, 1.0, 1.0)), box((2.0, 1.0, 1.0))
    assert volume(joined([one, other])) == pytest.approx(3.0)


def test_outermost_vertices_bound_the_surface():
    surface = ellipsoid((1.0, 2.0, 3.0))
    few = surface.outermost
    assert len(few) <= 26
    assert np.array_equal([few.min(axis=0), few.max(axis=0)], surface.bounds)
