"""Convex hulls of meshes on a plane."""

import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import knuckle as kn
from knuckle.algorithms.contact.pairs.terrain_surface import TerrainSurface
from knuckle.joints import Free
from knuckle.model import HeightField, Mesh, Plane

from .placed_shapes import Placement, gaps, places

GROUND = Plane((0.0, 0.0))
FLOOR = Placement(np.eye(3), (0, 0, 0))


def hull(points: np.ndarray) -> Mesh:
    corners = points[ConvexHull(points).vertices]
    return Mesh("hull", hull=tuple((float(x), float(y), float(z)) for x, y, z in corners))


def prism(n: int, radius: float = 0.3, height: float = 0.4) -> Mesh:
    turns = 2 * np.pi * np.arange(n) / n
    ring = radius * np.stack([np.cos(turns), np.sin(turns)], -1)
    return hull(np.vstack([np.insert(ring, 2, z, axis=1) for z in (-height / 2, height / 2)]))


def test_the_least_gap_is_that_of_the_lowest_corner():
    rng = np.random.default_rng(0)
    for _ in range(40):
        mesh, X, Y = hull(rng.normal(size=(30, 3))), Placement.random(rng), Placement.random(rng)
        heights = (np.array(mesh.hull) @ X.R.T + X.r - Y.r) @ Y.R[:, 2]
        assert gaps(mesh, X.X, GROUND, Y.X).min() == pytest.approx(heights.min(), abs=1e-14)
        for place in places(mesh, X.X, GROUND, Y.X):
            assert np.isfinite([place.gap, *place.point, *place.normal]).all()


def test_gaps_close_with_the_velocity_along_the_normal():
    rng = np.random.default_rng(1)
    for _ in range(20):
        mesh, X, Y = hull(rng.normal(size=(30, 3))), Placement.random(rng), Placement.random(rng)
        for moving, here in zip(places(mesh, X.moving, GROUND, Y.moving), places(mesh, X.X, GROUND, Y.X), strict=True):
            point, normal = np.array(here.point, float), np.array(here.normal, float)
            expected = normal @ (X.velocity(point) - Y.velocity(point))
            spare = float(here.gap) > float(min(x.gap for x in places(mesh, X.X, GROUND, Y.X))) + 4
            assert spare or float(moving.gap.derivative) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_on_terrain_the_deepest_corner_is_among_the_places():
    rng = np.random.default_rng(4)
    rows = tuple(tuple(float(x) for x in row) for row in 0.05 * rng.normal(size=(12, 12)))
    ground = HeightField(rows, (0.4, 0.4))
    surface = TerrainSurface.of(ground)
    for _ in range(4):
        mesh, X = hull(0.3 * rng.normal(size=(30, 3))), Placement.random(rng, 0.3)
        corners = np.array(mesh.hull) @ X.R.T + X.r
        deepest = min((surface.clearance((x, y, z)), k) for k, (x, y, z) in enumerate(corners.tolist()))[1]
        found = places(mesh, X.moving, ground, FLOOR.moving)
        assert len(found) == 5
        height, _ = surface.gap(tuple(corners[deepest]))
        assert float(found[4].gap.value) == pytest.approx(float(height), abs=1e-12)
        for place, here in zip(found, places(mesh, X.X, ground, FLOOR.X), strict=True):
            point, normal = np.array(here.point, float), np.array(here.normal, float)
            assert float(place.gap.derivative) == pytest.approx(normal @ X.velocity(point), abs=1e-7)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8, 64])
def test_a_face_on_the_ground_keeps_its_extent(n: int):
    """The places span at least half the area of the face, as the best four of a round one span 2/π of it."""
    mesh, rng = prism(n), np.random.default_rng(2)
    for tilt in (0.0, 1e-12, 1e-4):
        R = (Rotation.from_rotvec([*(tilt * rng.normal(size=2)), 0]) * Rotation.from_euler("z", 0.7)).as_matrix()
        found = [x for x in places(mesh, Placement(R, (1, 2, 0.2)).X, GROUND, FLOOR.X) if float(x.gap) < 0.1]
        points = np.array([x.point for x in found], float)
        assert abs(np.array([float(x.gap) for x in found])).max() < 1 * tilt + 1e-12
        area = n / 2 * 0.09 * np.sin(2 * np.pi / n)
        assert ConvexHull(points[:, :2]).volume > 0.5 * area


def on_the_ground(path: Path, scale: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> kn.Model:
    b = kn.Builder("mesh")
    b.ground()
    mesh = Mesh(path.name, scale, str(path))
    b.body("body", joint=Free(), mass=1.0, inertia=(0.1, 0.1, 0.1), collisions=mesh)
    return b.build()


@pytest.mark.slow
def test_a_mesh_file_lies_still_on_the_ground(tmp_path: Path):
    path = tmp_path / "cylinder.obj"
    trimesh.creation.cylinder(0.3, 0.8, sections=32).export(path)
    model = on_the_ground(path, (1.0, 1.0, 0.5))
    with pytest.raises(kn.ModelError, match=r"a mesh of 'body' cannot be computed without the mesh's hull"):
        kn.contact.gaps(model, kn.neutral(model))
    model = kn.contact.with_hulls(model)
    shape = model.bodies[0].collisions[0].shape
    assert isinstance(shape, Mesh)
    assert len(shape.hull) == 64
    assert kn.contact.with_hulls(model) == model
    q = kn.neutral(model)
    q[6] = 0.2
    motion = kn.simulate(model, q, None, 0.2, dt=5e-3, integrator=kn.integrators.ContactSteps())
    np.testing.assert_allclose(motion.q[-1], q, atol=1e-8)
    assert kn.contact.gaps(model, q[None]).shape == (1, 4)


def test_code_agrees_with_numbers(tmp_path: Path):
    path = tmp_path / "ball.stl"
    trimesh.creation.icosphere(2, 0.3).export(path)
    model, rng = kn.contact.with_hulls(on_the_ground(path)), np.random.default_rng(3)
    q = np.stack([kn.random_configuration(model, rng) for _ in range(100)])
    found = kn.contact.gaps(model, q)
    for x, row in zip(q[:5], found, strict=False):
        np.testing.assert_allclose(np.array(kn.contact.gaps(model, x.astype(object)), float), row, atol=1e-12)


def test_bad_mesh_files_are_named(tmp_path: Path):
    flat = tmp_path / "flat.obj"
    flat.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 3 4\n")
    with pytest.raises(kn.ModelError, match=r"flat.obj.*no volume"):
        kn.contact.with_hulls(on_the_ground(flat))
    broken = tmp_path / "broken.stl"
    broken.write_text("no mesh at all")
    with pytest.raises(kn.ModelError, match=r"broken.stl"):
        kn.contact.with_hulls(on_the_ground(broken))
    with pytest.raises(kn.ModelError, match="no such file"):
        kn.contact.with_hulls(on_the_ground(tmp_path / "none.stl"))


def test_a_hollow_mesh_is_named_once(tmp_path: Path, recwarn: pytest.WarningsRecorder):
    """A ring is not its hull, in any unit and scale; a ball is, and a sheet has no volume to compare."""
    ring, ball, sheet = (tmp_path / name for name in ("ring.stl", "ball.stl", "sheet.obj"))
    trimesh.creation.annulus(0.2, 0.3, 0.1, sections=64).export(ring)
    trimesh.creation.icosphere(2, 0.3).export(ball)
    sheet.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 1\nf 1 2 3\nf 2 3 4\n")
    for full in (ball, sheet):
        kn.contact.with_hulls(on_the_ground(full))
    assert not recwarn.list
    model = kn.contact.with_hulls(on_the_ground(ring, (2.0, 1.0, -0.5)))
    (warning,) = recwarn.list
    part = round(100 * (1 - (0.2 / 0.3) ** 2))
    assert re.search(rf"ring\.stl of link 'body' fills {part}% of its hull", str(warning.message))
    assert warning.filename == __file__
    recwarn.clear()
    kn.contact.with_hulls(model)
    assert not recwarn.list
