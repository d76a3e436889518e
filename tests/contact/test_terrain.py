"""Balls and capsules on height fields: the surface, the foot on it, rates, and motion."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

import knuckle as kn
from knuckle.algorithms.contact.pairs.terrain_surface import TerrainSurface
from knuckle.algorithms.contact.plane_gaps import cylinder_on_plane, ellipsoid_on_plane
from knuckle.joints import Free
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, HeightField, Sphere, solid_box, solid_sphere
from knuckle.spatial import Transform, rotation
from knuckle.spatial.three import scale

from .placed_shapes import Placement, gaps, places


def field(seed: int = 0, rough: float = 0.05) -> HeightField:
    heights = rough * np.random.default_rng(seed).normal(size=(9, 12))
    return HeightField(tuple(tuple(float(x) for x in row) for row in heights), (0.2, 0.3))


def inside(surface: TerrainSurface, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-0.95, 0.95, 2) * surface.reach


def test_the_surface_goes_through_the_heights():
    surface = TerrainSurface.of(field())
    a, b = surface.reach
    for i, row in enumerate(surface.field.heights):
        for k, height in enumerate(row):
            assert float(surface.at(0.2 * k - a, 0.3 * i - b).z) == pytest.approx(height, abs=1e-15)


def test_along_a_row_it_is_the_cubic_with_central_slopes():
    surface = TerrainSurface.of(field())
    (a, b), row = surface.reach, np.array(surface.field.heights[4])
    x = 0.2 * np.arange(len(row)) - a
    spline = CubicHermiteSpline(x, row, np.gradient(row, x))
    for at in np.linspace(-a, a, 57):
        height = surface.at(float(at), 0.3 * 4 - b)
        assert float(height.z) == pytest.approx(float(spline(at)), abs=1e-14)
        assert float(height.x) == pytest.approx(float(spline(at, 1)), abs=1e-13)


def test_heights_and_slopes_go_on_from_patch_to_patch():
    surface, rng = TerrainSurface.of(field()), np.random.default_rng(1)
    a, b = surface.reach
    for _ in range(50):
        x, y = inside(surface, rng)
        for one, other in (
            ((0.2 * round(x / 0.2) - a % 0.2 - 1e-9, y), (0.2 * round(x / 0.2) - a % 0.2 + 1e-9, y)),
            ((x, 0.3 * round(y / 0.3) - b % 0.3 - 1e-9), (x, 0.3 * round(y / 0.3) - b % 0.3 + 1e-9)),
        ):
            left, right = surface.at(*one), surface.at(*other)
            np.testing.assert_allclose(np.array(left[:3], float), np.array(right[:3], float), atol=1e-7)


def test_derivatives_are_those_of_the_heights():
    surface, rng, h = TerrainSurface.of(field()), np.random.default_rng(2), 1e-5
    for _ in range(30):
        x, y = inside(surface, rng)
        here = surface.at(x, y)
        by_x, by_y = (
            (np.array(surface.at(x + p, y + q), float) - np.array(surface.at(x - p, y - q), float)) / (2 * h)
            for p, q in ((h, 0.0), (0.0, h))
        )
        np.testing.assert_allclose([here.x, here.y, here.xy], [by_x[0], by_y[0], by_x[2]], atol=1e-7)


def test_the_normal_at_the_foot_goes_through_the_centre():
    rng = np.random.default_rng(3)
    for rough in (0.01, 0.05, 0.1):
        surface = TerrainSurface.of(field(rough=rough))
        for _ in range(15):
            c = (*(0.8 * inside(surface, rng)), float(rng.uniform(-0.1, 0.3)))
            foot, n = surface.foot(c)
            if abs(foot[0]) < surface.reach[0] - 1e-9 and abs(foot[1]) < surface.reach[1] - 1e-9:
                np.testing.assert_allclose(np.cross(np.array(c) - np.array(foot, float), n), 0, atol=1e-11)
            assert float(foot[2]) == float(surface.at(foot[0], foot[1]).z)


def test_a_tilted_field_is_a_plane():
    rng, slope = np.random.default_rng(4), (0.3, -0.2)
    rows = tuple(tuple(slope[0] * 0.2 * k + slope[1] * 0.3 * i for k in range(12)) for i in range(9))
    flat = HeightField(rows, (0.2, 0.3))
    at = TerrainSurface.of(flat).at(0.0, 0.0)
    n = np.array([-slope[0], -slope[1], 1]) / math.hypot(*slope, 1)
    X, Y = Placement.random(rng, 0.1), Placement.random(rng, 0.3)
    for shape, ends in ((Sphere(0.1), [0.0]), (Capsule(0.1, 0.3), [-0.15, 0.15])):
        expected = [n @ (Y.R.T @ (X.r + t * X.R[:, 2] - Y.r) - [0, 0, float(at.z)]) - 0.1 for t in ends]
        found = gaps(shape, X.X, flat, Y.X)
        assert len(found) == len(ends) + (len(ends) > 1)
        np.testing.assert_allclose(found[[0, -1]], [expected[0], expected[-1]], atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "rough"),
    [(Sphere(0.1), 0.03), (Capsule(0.1, 0.5), 0.03), (Box((0.3, 0.4, 0.2)), 0.03), (Ellipsoid((0.1, 0.15, 0.2)), 0.01)],
)
def test_gaps_close_with_the_velocity_along_the_normal(shape: Sphere | Capsule | Box | Ellipsoid, rough: float):
    rng, ground = np.random.default_rng(5), field(rough=rough)
    for _ in range(5):
        X, Y = Placement.random(rng, 0.2), Placement.random(rng, 0.05)
        Y = Placement(np.eye(3), Y.r, Y.w, Y.v)
        for moving, here in zip(
            places(shape, X.moving, ground, Y.moving), places(shape, X.X, ground, Y.X), strict=True
        ):
            point, normal = np.array(here.point, float), np.array(here.normal, float)
            expected = normal @ (X.velocity(point) - Y.velocity(point))
            assert float(moving.gap.derivative) == pytest.approx(expected, abs=1e-7)


def test_the_middle_place_of_a_capsule_finds_a_ridge():
    rows = tuple(tuple(0.3 if k == 10 else 0.0 for k in range(21)) for _ in range(5))
    X = Placement([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], (0.05, 0, 0.5))
    found = gaps(Capsule(0.05, 1.2), X.X, HeightField(rows, (0.1, 0.5)), Placement(np.eye(3), (0, 0, 0)).X)
    np.testing.assert_allclose(found, [0.45, 0.15, 0.45], atol=1e-12)


def test_a_box_finds_the_bump_below_it():
    rows = tuple(tuple(0.3 if (i, k) == (5, 10) else 0.0 for k in range(21)) for i in range(11))
    X = Placement(np.eye(3), (0.0, 0.0, 0.5))
    found = gaps(Box((0.6, 0.8, 0.2)), X.X, HeightField(rows, (0.1, 0.1)), Placement(np.eye(3), (0, 0, 0)).X)
    np.testing.assert_allclose(found, [0.4, 0.4, 0.4, 0.4, 0.1], atol=1e-12)


@pytest.mark.slow
def test_an_ellipsoid_touches_where_the_normals_are_one():
    """As a ball if it is one; on a slope as on a plane; and on rough ground no other point of it is nearer."""
    rng, ground, flat = np.random.default_rng(8), field(rough=0.02), HeightField(((0.0, 0.4),) * 2, (4.0, 4.0))
    here = Placement(np.eye(3), (0, 0, 0)).X
    for _ in range(4):
        X = Placement.random(rng, 0.2)
        np.testing.assert_allclose(
            gaps(Ellipsoid((0.1, 0.1, 0.1)), X.X, ground, here), gaps(Sphere(0.1), X.X, ground, here), atol=1e-12
        )
        shape = Ellipsoid((0.1, 0.15, 0.2))
        plane = Transform.of((*rotation.perpendicular((-0.1, 0, 1)), scale(1.01**-0.5, (-0.1, 0.0, 1.0))), (0, 0, 0.2))
        on_plane = float(ellipsoid_on_plane(shape, X.X, plane)[0].gap)
        np.testing.assert_allclose(gaps(shape, X.X, flat, here), [on_plane], atol=1e-12)
        raised = Placement(X.R, X.r + np.array([0, 0, 0.3]))
        (least,) = gaps(shape, raised.X, ground, here)
        way = rng.normal(size=(200, 3))
        way /= np.linalg.norm(way, axis=1)[:, None]
        points = raised.r + (way * shape.radii) @ raised.R.T
        nearest = min(float(TerrainSurface.of(ground).gap(tuple(p))[0]) for p in points[points[:, 2].argsort()[:40]])
        assert least <= nearest + 1e-12
        assert least > nearest - 0.02


def test_a_cylinder_stands_and_lies_as_on_a_plane_and_finds_bumps():
    rows = tuple(tuple(0.3 if (i, k) == (5, 10) else 0.0 for k in range(21)) for i in range(11))
    bump, here = HeightField(rows, (0.1, 0.1)), Placement(np.eye(3), (0, 0, 0)).X
    level = HeightField(((0.0,) * 21,) * 21, (0.2, 0.2))
    shape, rng = Cylinder(0.3, 0.8), np.random.default_rng(9)
    for _ in range(5):
        X = Placement.random(rng, 0.1)
        expected = [float(x.gap) for x in cylinder_on_plane(shape, X.X, here)]
        found = gaps(shape, X.X, level, here)
        np.testing.assert_allclose(found[:4], expected, atol=1e-12)
        assert min(found[4:]) > min(expected) - 1e-12
    stands = gaps(shape, Placement(np.eye(3), (0.0, 0.0, 0.9)).X, bump, here)
    np.testing.assert_allclose(stands, [0.5, 0.5, 0.5, 0.5 + 0.8, 0.2, 0.5 + 0.05], atol=1e-12)
    lies = gaps(shape, Placement([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], (0.0, 0.0, 0.8)).X, bump, here)
    assert lies[5] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [Cylinder(0.1, 0.2), Ellipsoid((0.15, 0.1, 0.08))])
def test_round_bodies_come_to_rest_in_a_bowl(shape: Cylinder | Ellipsoid):
    x = 0.1 * np.arange(-15, 16)
    b = kn.Builder("bowl")
    b.terrain(0.2 * (x[:, None] ** 2 + x**2), spacing=0.1)
    b.body("stone", joint=Free(), inertia=solid_box(1.0, (0.2, 0.2, 0.2)), collisions=shape)
    model = b.build()
    q = kn.neutral(model)
    q[4:] = 0.2, 0.1, 0.4
    motion = kn.simulate(model, q, None, 2.0)
    overlap = -kn.contact.gaps(model, motion.q).min()
    assert overlap < 2e-3
    assert np.diff(motion.energy).max() < 9.81 * overlap / 5  # a fifth of it is taken back in a step
    assert kn.contact.gaps(model, motion.q[-1]).min() < 1e-3
    assert motion.energy[-1] < motion.energy[0] - 1.0


@pytest.mark.slow
def test_a_box_lies_still_on_level_terrain():
    b = kn.Builder("level")
    b.surface("ground", friction=0.5)
    b.terrain(np.zeros((8, 8)), spacing=0.2, surface="ground")
    b.body(
        "box", joint=Free(), inertia=solid_box(1.0, (0.2, 0.3, 0.1)), collisions=Box((0.2, 0.3, 0.1)), surface="ground"
    )
    model = b.build()
    q = kn.neutral(model)
    q[6] = 0.05
    motion = kn.simulate(model, q, None, 0.3, dt=5e-3, integrator=kn.integrators.ContactSteps())
    np.testing.assert_allclose(motion.q[-1], q, atol=1e-12)


def terrain_model(heights: np.ndarray, friction: float = 0.0) -> kn.Model:
    b = kn.Builder("terrain")
    b.surface("ground", friction=friction)
    b.terrain(heights, spacing=0.1, surface="ground")
    b.body("ball", joint=Free(), inertia=solid_sphere(1.0, 0.05), collisions=Sphere(0.05), surface="ground")
    b.body(
        "box", joint=Free(), inertia=solid_box(1.0, (0.2, 0.3, 0.1)), collisions=Box((0.2, 0.3, 0.1)), surface="ground"
    )
    b.body("rod", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=Capsule(0.05, 0.3), surface="ground")
    return b.build()


@pytest.mark.slow
def test_code_agrees_with_numbers():
    model, rng = terrain_model(0.02 * np.random.default_rng(6).normal(size=(30, 40))), np.random.default_rng(7)
    q = np.stack([kn.random_configuration(model, rng) for _ in range(200)])
    found = kn.contact.gaps(model, q)
    for x, row in zip(q[:8], found, strict=False):
        plain = kn.contact.gaps(model, x.astype(object))
        np.testing.assert_allclose(np.array(plain, float), row, atol=1e-12)


def test_there_is_nothing_beyond_the_rim():
    surface = TerrainSurface.of(field())
    a, b = surface.reach
    for x, y, is_over in ((0.99 * a, 0.99 * b, True), (1.01 * a, 0, False), (0, -1.01 * b, False)):
        X = Placement(np.eye(3), (x, y, 0.0))
        assert (gaps(Sphere(0.1), X.X, surface.field, Placement(np.eye(3), (0, 0, 0)).X) < 1)[0] == is_over


def test_a_ball_comes_to_rest_at_the_bottom_of_a_bowl():
    x, y = np.meshgrid(0.1 * np.arange(-10, 11), 0.1 * np.arange(-10, 11))
    b = kn.Builder("bowl")
    b.surface("ground", friction=1.0)
    b.terrain(0.3 * (x**2 + y**2), spacing=0.1, surface="ground")
    b.body("ball", joint=Free(), inertia=solid_sphere(1.0, 0.05), collisions=Sphere(0.05), surface="ground")
    model = b.build()
    q = kn.neutral(model)
    q[4:] = 0.03, 0.02, 0.06
    motion = kn.simulate(model, q, None, 1.0, dt=2e-3, integrator=kn.integrators.ContactSteps())
    energy = kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)
    assert np.diff(energy).max() < 1e-4
    height = motion.q[:, 6] - 0.3 * (motion.q[:, 4] ** 2 + motion.q[:, 5] ** 2)
    assert abs(height[-300:] - 0.05).max() < 2e-3
