"""Shapes that have no text, by coal and by MuJoCo: against each other, support functions and our own text."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import knuckle as kn
from knuckle.contact.colliders import LIBRARIES, collider
from knuckle.contact.shape_collider import candidates_at
from knuckle.joints import Free
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from knuckle.model.parts import Shape

from .placed_shapes import DRAWN, Placement, gaps

KINDS = ["sphere", "capsule", "box", "cylinder", "ellipsoid", "mesh"]


def drawn(kind: str, rng: np.random.Generator) -> Shape:
    if kind != "mesh":
        return DRAWN[kind](rng)
    points = 0.4 * rng.normal(size=(20, 3))
    return Mesh("hull", hull=tuple((float(x), float(y), float(z)) for x, y, z in points[ConvexHull(points).vertices]))


def support(shape: Shape, at: Placement, way: np.ndarray) -> float:
    """How far a shape reaches along a direction."""
    d = at.R.T @ way
    match shape:
        case Sphere(r):
            reach = r
        case Capsule(r, length):
            reach = r + abs(d[2]) * length / 2
        case Box(size):
            reach = abs(d) @ np.array(size) / 2
        case Cylinder(r, length):
            reach = r * np.hypot(d[0], d[1]) + abs(d[2]) * length / 2
        case Ellipsoid(radii):
            reach = float(np.linalg.norm(d * np.array(radii)))
        case Mesh():
            reach = float((np.array(shape.hull) @ d).max())
        case _:
            raise TypeError(shape)
    return float(reach + way @ at.r)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("one", "other"), list(itertools.combinations_with_replacement(KINDS, 2)))
def test_the_normal_separates_by_the_distance(one: str, other: str, library: str):
    """Duality: no shape reaches further along the normal than its nearest point, which proves both of them."""
    pytest.importorskip(library)
    rng = np.random.default_rng(0)
    for _ in range(12):
        first, second, X, Y = drawn(one, rng), drawn(other, rng), Placement.random(rng), Placement.random(rng)
        near = collider(library, first, second).nearest(X.R, X.r, Y.R, Y.r)
        if near.distance < 0 and library == "mujoco":
            continue  # its depths of capsules in boxes are none
        separation = -support(first, X, -near.normal) - support(second, Y, near.normal)
        assert separation == pytest.approx(near.distance, abs=3e-6)
        np.testing.assert_allclose(near.first - near.second, near.distance * near.normal, atol=3e-6)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_way_out_of_an_overlap_is_the_short_one(library: str):
    """Along the line to the nearer side: coal goes through both shapes here."""
    pytest.importorskip(library)
    first, second = Ellipsoid((0.1172362672, 0.1019796752, 0.1013991943)), Cylinder(0.0637774828, 0.3734539951)
    q = [0.342345707, -0.2223624705, -0.7768033543, -0.4795111025, 0.1903944568, 0.0024445467, 0.3408655634]
    p = [0.9162231614, -0.047950635, -0.0488215576, -0.3947813454, 0.1515330818, -0.1035053246, 0.4745457962]
    (R, r), (S, s) = ((Rotation.from_quat([*x[1:4], x[0]]).as_matrix(), np.array(x[4:])) for x in (p, q))
    near = collider(library, first, second).nearest(R, r, S, s)
    assert near.distance == pytest.approx(-0.04365, abs=2e-4)
    assert near.normal @ (r - s) > 0
    np.testing.assert_allclose(near.first - near.second, near.distance * near.normal, atol=3e-6)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_colliders_agree_with_our_text_on_boxes(library: str):
    pytest.importorskip(library)
    rng = np.random.default_rng(1)
    for _ in range(40):
        first, second, X, Y = drawn("box", rng), drawn("box", rng), Placement.random(rng), Placement.random(rng)
        near = collider(library, first, second).nearest(X.R, X.r, Y.R, Y.r)
        assert gaps(first, X.X, second, Y.X).min() == pytest.approx(near.distance, abs=1e-7)


def scene(first: Shape, second: Shape) -> kn.Model:
    """Two free bodies and the ground."""
    b = kn.Builder("pair")
    b.ground(height=-3.0)
    b.body("second", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=second)
    b.body("first", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=first)
    return b.build()


def position(*places: tuple[float, ...]) -> np.ndarray:
    return np.concatenate([[1.0, 0, 0, 0, *place] for place in places])


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_cylinder_that_stands_on_a_box_touches_all_around(library: str):
    pytest.importorskip(library)
    model = scene(Cylinder(0.2, 0.6), Box((1.0, 1.0, 0.2)))
    shapes = kn.contact.ShapeCollider.of(model, library)
    assert [pair.is_compiled for pair in shapes.pairs] == [True, True, False]
    assert shapes.counts == (4, 4, 5)
    for gap in (1e-3, -1e-3):
        found = shapes.places(position((0, 0, 0), (0.1, 0, 0.4 + gap)))
        assert found.shape == (13, 7)
        np.testing.assert_allclose(found[:4, 0], 2.9, atol=1e-12)
        apart = found[8:]
        np.testing.assert_allclose(apart[:, 4:], [[0, 0, 1]] * 5, atol=1e-6)
        touching = apart[apart[:, 0] < 0.1]
        np.testing.assert_allclose(touching[:, 0], gap, atol=1e-6)
        assert ConvexHull(touching[:, 1:3]).volume > 0.05  # of 0.126, the disc
        assert (np.hypot(touching[:, 1] - 0.1, touching[:, 2]) < 0.2 + 1e-6).all()


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_cylinder_that_lies_on_a_box_touches_along_its_length(library: str):
    pytest.importorskip(library)
    model = scene(Cylinder(0.2, 0.6), Box((1.0, 1.0, 0.2)))
    q = np.concatenate([[1.0, 0, 0, 0, 0, 0, 0], [np.sqrt(0.5), 0, np.sqrt(0.5), 0, 0, 0, 0.3]])
    found = kn.contact.ShapeCollider.of(model, library).places(q)[8:]
    touching = found[found[:, 0] < 0.1]
    np.testing.assert_allclose(touching[:, 0], 0, atol=1e-6)
    assert np.ptp(touching[:, 1]) == pytest.approx(0.6, abs=1e-3)


def test_ellipsoids_touch_at_one_place():
    model = scene(Ellipsoid((0.2, 0.3, 0.4)), Ellipsoid((0.5, 0.3, 0.2)))
    found = kn.contact.ShapeCollider.of(model).places(position((0, 0, 0), (0.1, 0.2, 0.5)))[2:]
    assert (found[:, 0] < 0.1).sum() == 1
    assert np.isfinite(found).all()


def test_places_are_those_of_the_text_where_there_is_one():
    model = scene(Box((0.4, 0.4, 0.4)), Box((1.0, 1.0, 0.2)))
    q = position((0, 0, 0), (0.1, 0.2, 0.31))
    found = kn.contact.ShapeCollider.of(model).places(q)
    np.testing.assert_array_equal(found[:, 0], kn.contact.gaps(model, q))
    np.testing.assert_array_equal(found[:, 1:4], kn.contact.points(model, q))
    np.testing.assert_array_equal(found[:, 4:], kn.contact.normals(model, q))
    candidates = candidates_at(model, found.tolist())
    assert [c.pair.names(model)[0] for c in candidates] == [*["second"] * 4, *["first"] * 8]
    assert [c.place.gap for c in candidates] == found[:, 0].tolist()


def test_what_cannot_be_computed_is_named():
    model = scene(Cylinder(0.2, 0.6), Box((1.0, 1.0, 0.2)))
    with pytest.raises(kn.ModelError, match="box of 'second' and a cylinder of 'first' cannot be computed in compiled"):
        kn.contact.contact_pairs(model)
    with pytest.raises(ValueError, match='library is "coal" or "mujoco", not \'bullet\''):
        kn.contact.ShapeCollider.of(model, "bullet")
    with pytest.raises(kn.ModelError, match=r"without the mesh's hull: kn.contact.with_hulls\(model\) reads it"):
        kn.contact.contact_pairs(scene(Mesh("a.stl"), Sphere(0.1)))
    b = kn.Builder("terrain")
    b.terrain([[0.0, 0.0], [0.0, 0.0]], spacing=1.0)
    b.body("sheet", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=Plane((1.0, 1.0)))
    with pytest.raises(kn.ModelError, match="a heightfield of 'base' and a plane of 'sheet' cannot be computed: give"):
        kn.contact.ShapeCollider.of(b.build())


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("knuckle.contact.shape_collider.installed_library", lambda: None)
    model = scene(Cylinder(0.2, 0.6), Box((1.0, 1.0, 0.2)))
    with pytest.raises(kn.ModelError, match=r"'first' and 'second' needs coal or mujoco, .* pip install coal"):
        kn.contact.ShapeCollider.of(model)
    assert kn.contact.ShapeCollider.of(scene(Sphere(0.1), Sphere(0.1))).library is None
