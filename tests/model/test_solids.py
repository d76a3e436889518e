"""Inertias of uniform bodies, against integrals over their volumes, and the ways to place them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.model import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Sphere,
    hollow_box,
    hollow_cylinder,
    hollow_sphere,
    point_mass,
    rod,
    solid,
    solid_box,
    solid_capsule,
    solid_cylinder,
    solid_ellipsoid,
    solid_sphere,
)
from knuckle.model.build.solids import volume
from knuckle.model.placement import to_transform
from knuckle.spatial import Inertia, Transform


def moments(I: Inertia) -> np.ndarray:
    return np.array([float(x) for x in I.I_com])


def by_slices(area: object, radius_squared: object, low: float, high: float) -> tuple[float, float, float]:
    """Volume, axial and crosswise second moments of a body of revolution about z and its middle, by Gauss points.

    A disc of radius r has ∫x² = r⁴π/4 per thickness; its slices add z² each.
    """
    x, w = np.polynomial.legendre.leggauss(40)
    z, w = (high - low) / 2 * x + (high + low) / 2, (high - low) / 2 * w
    r2 = radius_squared(z)  # type: ignore[operator]
    A = area(r2)  # type: ignore[operator]
    return float(w @ A), float(w @ (A * r2 / 2)), float(w @ (A * (r2 / 4 + z * z)))


def revolution(pieces: list[tuple[object, float, float]], mass: float) -> tuple[float, float]:
    """Crosswise and axial moments of a solid of revolution given by pieces (r²(z), from, to)."""
    total = np.sum([by_slices(lambda r2: np.pi * r2, *piece) for piece in pieces], axis=0)
    return mass * total[2] / total[0], mass * total[1] / total[0]


@pytest.mark.parametrize(
    ("inertia", "pieces"),
    [
        (solid_cylinder(3.0, 0.4, 1.2), [(lambda z: 0.16 + 0 * z, -0.6, 0.6)]),
        (solid_sphere(3.0, 0.4), [(lambda z: 0.16 - z * z, -0.4, 0.4)]),
        (solid_ellipsoid(3.0, (0.4, 0.4, 0.9)), [(lambda z: 0.16 * (1 - z * z / 0.81), -0.9, 0.9)]),
        (
            solid_capsule(3.0, 0.4, 1.2),
            [
                (lambda z: 0.16 + 0 * z, -0.6, 0.6),
                (lambda z: 0.16 - (z - 0.6) ** 2, 0.6, 1.0),
                (lambda z: 0.16 - (z + 0.6) ** 2, -1.0, -0.6),
            ],
        ),
    ],
)
def test_solids_of_revolution(inertia: Inertia, pieces: list[tuple[object, float, float]]) -> None:
    across, axial = revolution(pieces, 3.0)
    assert moments(inertia) == pytest.approx([across, 0, across, 0, 0, axial], rel=1e-12, abs=1e-15)
    assert float(inertia.mass) == 3.0


def test_a_box() -> None:
    assert moments(solid_box(12.0, (1, 2, 3))) == pytest.approx([4 + 9, 0, 1 + 9, 0, 0, 1 + 4])


def test_an_ellipsoid_with_three_axes() -> None:
    assert moments(solid_ellipsoid(5.0, (1, 2, 3))) == pytest.approx([4 + 9, 0, 1 + 9, 0, 0, 1 + 4])


def test_a_thin_rod_is_the_limit_of_a_thin_cylinder() -> None:
    assert moments(rod(3.0, 2.0)) == pytest.approx(moments(solid_cylinder(3.0, 1e-9, 2.0)), abs=1e-15)


def test_hollow_bodies_are_differences() -> None:
    """Solids of one density, the inner cut out of the outer."""
    inner, outer = (4 / 3 * math.pi * r**3 for r in (0.3, 0.5))
    cut = solid_sphere(outer, 0.5) - solid_sphere(inner, 0.3)
    assert moments(hollow_sphere(outer - inner, 0.5, 0.3)) == pytest.approx(moments(cut))
    inner, outer = (math.pi * r**2 * 2.0 for r in (0.3, 0.5))
    cut = solid_cylinder(outer, 0.5, 2.0) - solid_cylinder(inner, 0.3, 2.0)
    assert moments(hollow_cylinder(outer - inner, 0.5, 2.0, 0.3)) == pytest.approx(moments(cut))
    cut = solid_box(24.0, (2, 3, 4)) - solid_box(1.5 * 2.5 * 3.5, (1.5, 2.5, 3.5))
    assert moments(hollow_box(24.0 - 13.125, (2, 3, 4), 0.25)) == pytest.approx(moments(cut))


def test_thin_shells() -> None:
    assert moments(hollow_sphere(3.0, 0.5, 0.5))[0] == pytest.approx(2 / 3 * 3.0 * 0.25)
    assert moments(hollow_cylinder(3.0, 0.5, 2.0, 0.5))[5] == pytest.approx(3.0 * 0.25)


def test_a_capsule_without_length_would_be_a_ball() -> None:
    assert moments(solid_capsule(3.0, 0.5, 1e-12)) == pytest.approx(moments(solid_sphere(3.0, 0.5)), abs=1e-11)


def test_placed_elsewhere() -> None:
    """Turned by a right angle about y the long axis lies along x; the parallel axis theorem does the rest."""
    I = rod(3.0, 2.0, at=dict(xyz=(1, 0, 0), rpy=(0, math.pi / 2, 0)))
    assert np.array(I.com, float) == pytest.approx([1, 0, 0])
    assert moments(I) == pytest.approx([0, 0, 1, 0, 0, 1], abs=1e-15)
    assert [float(x) for x in I.I] == pytest.approx([0, 0, 4, 0, 0, 4], abs=1e-15)
    assert [float(x) for x in point_mass(2.0, (0, 3, 0)).I] == [18, 0, 0, 0, 0, 18]


@pytest.mark.parametrize(
    ("shape", "expected", "filled"),
    [
        (Box((1, 2, 3)), solid_box(2.0, (1, 2, 3)), 6.0),
        (Cylinder(1, 2), solid_cylinder(2.0, 1, 2), 2 * math.pi),
        (Capsule(1, 2), solid_capsule(2.0, 1, 2), 2 * math.pi + 4 / 3 * math.pi),
        (Sphere(2), solid_sphere(2.0, 2), 32 / 3 * math.pi),
        (Ellipsoid((1, 2, 3)), solid_ellipsoid(2.0, (1, 2, 3)), 8 * math.pi),
    ],
)
def test_shapes_as_solids(shape: Box, expected: Inertia, filled: float) -> None:
    assert solid(shape, 2.0) == expected
    assert volume(shape) == pytest.approx(filled)


def test_a_mesh_has_no_known_volume() -> None:
    assert volume(Mesh("a.stl")) is None
    with pytest.raises(kn.ModelError, match="a mesh has no volume"):
        solid(Mesh("a.stl"), 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: solid_box(-1.0, (1, 1, 1)), "mass cannot be negative"),
        (lambda: solid_box(1.0, (1, 0, 1)), "size needs to be above zero, not 0"),
        (lambda: solid_box(1.0, (1, 1)), "size needs 3 numbers"),
        (lambda: solid_sphere(1.0, -2), "radius needs to be above zero, not -2"),
        (lambda: solid_sphere(math.nan, 1), "mass needs a finite number"),
        (lambda: hollow_sphere(1.0, 1.0, 2.0), "inner_radius 2.0 is larger than the radius 1.0"),
        (lambda: hollow_box(1.0, (1, 1, 1), 0.5), "walls of 0.5 leave no room"),
    ],
)
def test_solids_that_cannot_be(make: object, message: str) -> None:
    with pytest.raises(kn.ModelError, match=message):
        make()  # type: ignore[operator]


# placements


def test_ways_to_place() -> None:
    quarter = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    expected = np.array(quarter, float)
    half = math.sqrt(0.5)
    for at in (
        Transform.of(((0, 1, 0), (-1, 0, 0), (0, 0, 1)), (1, 2, 3)),
        dict(xyz=(1, 2, 3), rpy=(0, 0, math.pi / 2)),
        dict(xyz=(1, 2, 3), quaternion=(half, 0, 0, half)),
        dict(xyz=np.array([1, 2, 3]), quaternion=(2, 0, 0, 2)),
        dict(xyz=(1, 2, 3), E=((0, 1, 0), (-1, 0, 0), (0, 0, 1))),
        quarter,
        np.array(quarter),
    ):
        assert np.allclose(np.array(to_transform(at).homogeneous.rows, float), expected, atol=1e-15)  # type: ignore[arg-type]
    assert to_transform(None) == Transform.identity()
    assert to_transform(np.array([1, 0, 2.5])) == Transform.translation((1, 0, 2.5))


def test_roll_pitch_and_yaw_are_about_fixed_axes() -> None:
    """A roll, then a yaw about the axis that stayed: z goes to −y by the roll, and that to x by the yaw."""
    X = to_transform(dict(rpy=(math.pi / 2, 0, math.pi / 2)))
    assert np.array(X.homogeneous.rows, float)[:3, 2] == pytest.approx([1, 0, 0], abs=1e-15)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (dict(rpy=(0, 0)), "placement: rpy needs 3 numbers"),
        (dict(rpy=(0, 0, 0), quaternion=(1, 0, 0, 0)), "not a dict of 'rpy', 'quaternion'"),
        (dict(quaternion=(0, 0, 0, 0)), "a quaternion of zeros"),
        (dict(E=((1, 0, 0), (0, 1, 0), (0, 0, -1))), "right angles, of length one and right-handed"),
        (dict(E=((2, 0, 0), (0, 1, 0), (0, 0, 1))), "right angles"),
        (dict(E=((1, 0, 0), (0, 1, 0))), "a rotation has 3 rows"),
        (np.eye(3), "placement is a Transform"),
        (np.diag([1, 1, 2, 1]), "right angles"),
        (("a", 0, 0), "placement is a Transform"),
        ("abc", "placement is a Transform"),
    ],
)
def test_places_that_are_none(at: object, message: str) -> None:
    with pytest.raises(kn.ModelError, match=message):
        to_transform(at)  # type: ignore[arg-type]
