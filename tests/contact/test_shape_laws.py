"""What holds for the places of every pair of shapes: distances, rates, symmetries, and finite numbers everywhere."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation
from tests.seeds import quick

from knuckle.model import Box, Capsule, Sphere
from knuckle.scalar import Dual

from .placed_shapes import DRAWN, Placement, core, distance, gaps, places, separation

ROUND = [("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "box"), ("capsule", "capsule")]
PAIRS = [*ROUND, ("capsule", "box"), ("box", "box")]
ON_PLANE = [(name, "plane") for name in ("sphere", "capsule", "box", "cylinder", "ellipsoid")]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_least_gap_is_the_distance(one: str, other: str):
    rng, apart = np.random.default_rng(0), 0
    for _ in range(80):
        first, second, X, Y = DRAWN[one](rng), DRAWN[other](rng), Placement.random(rng), Placement.random(rng)
        expected = distance(first, X, second, Y)
        if expected is not None:
            apart += 1
            assert gaps(first, X.X, second, Y.X).min() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert apart > 25


def test_the_least_gap_of_boxes_that_overlap_is_the_way_out():
    rng, inside = np.random.default_rng(1), 0
    for _ in range(90):
        first, second = DRAWN["box"](rng), DRAWN["box"](rng)
        assert isinstance(first, Box)
        assert isinstance(second, Box)
        X, Y = Placement.random(rng, 0.3), Placement.random(rng, 0.3)
        expected = separation(first, X, second, Y)
        if expected < 0:
            inside += 1
            assert gaps(first, X.X, second, Y.X).min() == pytest.approx(expected, abs=1e-7)
    assert inside > 30


def test_a_capsule_in_a_box_goes_out_the_shortest_way():
    """By the least way along which the axis leaves: through faces and over edges, as of a box without width."""
    rng, inside = np.random.default_rng(11), 0
    for _ in range(60):
        capsule, box = DRAWN["capsule"](rng), DRAWN["box"](rng)
        assert isinstance(capsule, Capsule)
        assert isinstance(box, Box)
        X, Y = Placement.random(rng, 0.1), Placement.random(rng, 0.1)
        axis = separation(Box((0.0, 0.0, capsule.length)), X, box, Y)
        if axis < -1e-3:
            inside += 1
            least = gaps(capsule, X.X, box, Y.X).min()
            assert least == pytest.approx(axis - capsule.radius, abs=1e-7)
    assert inside > 20


@pytest.mark.parametrize(("one", "other"), [*PAIRS, *ON_PLANE])
def test_the_least_gap_closes_with_the_velocity_along_the_normal(one: str, other: str):
    """φ̇ = n · (v₁ − v₂) at the point (RBDA 11.37), overlapping or not."""
    rng = np.random.default_rng(2)
    for _ in range(25):
        first, second, X, Y = DRAWN[one](rng), DRAWN[other](rng), Placement.random(rng), Placement.random(rng)
        k = int(gaps(first, X.X, second, Y.X).argmin())
        moving, here = (places(first, a, second, b)[k] for a, b in ((X.moving, Y.moving), (X.X, Y.X)))
        point, normal = np.array(here.point, float), np.array(here.normal, float)
        assert np.linalg.norm(normal) == pytest.approx(1, abs=1e-14)
        expected = normal @ (X.velocity(point) - Y.velocity(point))
        assert float(moving.gap.derivative) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_nearest_point_is_half_way(one: str, other: str):
    """As far from one shape as from the other, by half the gap."""
    rng, apart = np.random.default_rng(6), 0
    for _ in range(40):
        first, second = DRAWN[one](rng), DRAWN[other](rng)
        X, Y = Placement.random(rng, 1.2), Placement.random(rng, 1.2)
        place = min(places(first, X.X, second, Y.X), key=lambda place: float(place.gap))
        if not float(place.gap) > 0:
            continue
        apart += 1
        for shape, at in ((first, X), (second, Y)):
            half, radius = core(shape)
            local = at.R.T @ (np.array(place.point, float) - at.r)
            away = float(np.linalg.norm(local - np.clip(local, -half, half))) - radius
            assert away == pytest.approx(float(place.gap) / 2, abs=1e-9)
    assert apart > 15


@pytest.mark.parametrize(("one", "other"), [*PAIRS, *ON_PLANE])
def test_places_move_with_the_shapes(one: str, other: str):
    rng = np.random.default_rng(3)
    for _ in range(30):
        first, second, X, Y = DRAWN[one](rng), DRAWN[other](rng), Placement.random(rng), Placement.random(rng)
        to = Placement.random(rng)
        here = places(first, X.X, second, Y.X)
        there = places(first, X.moved(to.R, to.r).X, second, Y.moved(to.R, to.r).X)
        assert len(here) == len(there)
        for a, b in zip(here, there, strict=True):
            assert float(b.gap) == pytest.approx(float(a.gap), abs=1e-10)
            np.testing.assert_allclose(np.array(b.point, float), to.R @ np.array(a.point, float) + to.r, atol=1e-8)
            np.testing.assert_allclose(np.array(b.normal, float), to.R @ np.array(a.normal, float), atol=1e-8)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box"])
def test_exchanged_shapes_have_the_opposite_normal(kind: str):
    rng = np.random.default_rng(4)
    for _ in range(60):
        first, second, X, Y = DRAWN[kind](rng), DRAWN[kind](rng), Placement.random(rng), Placement.random(rng)
        one, other = places(first, X.X, second, Y.X), places(second, Y.X, first, X.X)
        a, b = (min(x, key=lambda place: float(place.gap)) for x in (one, other))
        assert float(a.gap) == pytest.approx(float(b.gap), abs=1e-10)
        np.testing.assert_allclose(np.array(a.normal, float), -np.array(b.normal, float), atol=1e-7)
        np.testing.assert_allclose(np.array(a.point, float), np.array(b.point, float), atol=1e-7)


AT = [(0, 0, 0), (1, 1, 1), (0, 0, 0.4), (0.6, 0, 0), (0.25, 0.1, -0.4), (0, 3, 0)]
TURNS = [0.0, 1e-17, 1e-8, 1e-3, np.pi / 4, np.pi / 2]


@pytest.mark.parametrize(("one", "other"), [*PAIRS, *ON_PLANE])
@pytest.mark.parametrize("at", quick(AT, AT[::4]))
def test_numbers_are_finite_wherever_shapes_are(one: str, other: str, at: tuple[float, ...]):
    """Centred, touching, parallel and crossed; derivatives too."""
    shapes = {"sphere": Sphere(0.2), "capsule": Capsule(0.2, 0.4), "box": Box((0.4, 0.4, 0.4))}
    rng = np.random.default_rng(5)
    first, second = (shapes.get(name) or DRAWN[name](rng) for name in (one, other))
    for axis in ("x", "y", "z"):
        for turn in TURNS:
            X = Placement(Rotation.from_euler(axis, turn).as_matrix(), at, rng.normal(size=3), rng.normal(size=3))
            Y = Placement(np.eye(3), (0, 0, 0))
            for place in places(first, X.moving, second, Y.moving):
                for x in (place.gap, *place.point, *place.normal):
                    value, slope = (x.value, x.derivative) if isinstance(x, Dual) else (x, 0.0)
                    assert np.isfinite(float(value))
                    assert np.isfinite(float(slope))
                assert np.linalg.norm([float(getattr(x, "value", x)) for x in place.normal]) == pytest.approx(1)


def on_top(rng: np.random.Generator, tilt: float) -> tuple[Box, Placement, Box, Placement, float]:
    """A box on a box, turned and shifted, tilted a little and lifted; both moved somewhere."""
    first, second = DRAWN["box"](rng), DRAWN["box"](rng)
    assert isinstance(first, Box)
    assert isinstance(second, Box)
    lift = float(rng.uniform(-1e-3, 1e-3))
    shift = 0.35 * rng.uniform(-1, 1, 2) * (np.array(first.size[:2]) + second.size[:2])
    R = Rotation.from_rotvec([*(tilt * rng.normal(size=2)), 0]) * Rotation.from_euler("z", rng.uniform(-4, 4))
    X = Placement(R.as_matrix(), [*shift, (first.size[2] + second.size[2]) / 2 + lift])
    return first, X, second, Placement(np.eye(3), (0, 0, 0)), lift


def test_a_face_on_a_face_keeps_the_extent_of_what_they_share():
    """All four places are in both faces at the same gap, and they span at least half of the area that these share."""
    rng, least = np.random.default_rng(6), 1.0
    for _ in range(40):
        first, X, second, Y, lift = on_top(rng, 0.0)
        sides = []
        for box, at in ((first, X), (second, Y)):
            for n, h in zip(at.R.T[:2], np.array(box.size[:2]) / 2, strict=True):
                sides += [[*n[:2], -n @ at.r - h], [*-n[:2], n @ at.r - h]]
        middle = _inner_point(np.array(sides))
        if middle is None:
            continue
        area = ConvexHull(HalfspaceIntersection(np.array(sides), middle).intersections).volume
        found = [x for x in places(first, X.X, second, Y.X) if float(x.gap) < 0.1]
        points = np.array([x.point for x in found], float)
        assert len(points) >= 3
        np.testing.assert_allclose([float(x.gap) for x in found], lift, atol=1e-12)
        np.testing.assert_allclose(points[:, 2], (second.size[2] + lift) / 2, atol=1e-12)  # half-way between the faces
        assert (np.array(sides)[:, :2] @ points[:, :2].T + np.array(sides)[:, 2:]).max() < 1e-9
        least = min(least, ConvexHull(points[:, :2]).volume / area)
    assert least > 0.5


def _inner_point(sides: np.ndarray) -> np.ndarray | None:
    """The middle of the largest disc in a polygon; None where there is none of some size."""
    rows = np.hstack([sides[:, :2], np.ones((len(sides), 1))])
    found = linprog([0, 0, -1], rows, -sides[:, 2], bounds=(None, None))
    return found.x[:2] if found.x[2] > 1e-3 else None


def test_places_of_tilted_faces_are_those_of_flat_ones_but_for_the_tilt():
    rng = np.random.default_rng(7)
    for tilt in (1e-9, 1e-6, 1e-3):
        for _ in range(20):
            first, X, second, Y, lift = on_top(rng, tilt)
            found = [x for x in places(first, X.X, second, Y.X) if float(x.gap) < 0.1]
            assert len(found) >= 3
            for place in found:
                assert abs(float(place.gap) - lift) < 5 * tilt
                assert float(place.normal[2]) > 0.9


def test_a_box_that_lies_still_keeps_the_order_of_its_places():
    """What impulses are remembered by: noise far below a nanometre exchanges no places."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        first, X, second, Y, _ = on_top(rng, 0.0)
        before = places(first, X.X, second, Y.X)
        noise = Rotation.from_rotvec(1e-13 * rng.normal(size=3)).as_matrix()
        after = places(first, X.moved(noise, 1e-13 * rng.normal(size=3)).X, second, Y.X)
        for a, b in zip(before, after, strict=True):
            np.testing.assert_allclose(np.array(a.point, float), np.array(b.point, float), atol=1e-9)


def test_a_capsule_that_lies_on_a_box_touches_at_both_ends():
    for along, shift in (("x", 0.0), ("y", 0.1), ("x", 0.3)):
        R = Rotation.from_euler("y" if along == "x" else "x", np.pi / 2) * Rotation.from_euler("z", 0.3)
        X = Placement(R.as_matrix(), (shift, 0, 0.5))
        found = places(Capsule(0.1, 0.4), X.X, Box((0.8, 0.8, 0.8)), Placement(np.eye(3), (0, 0, 0)).X)
        points = np.array([place.point for place in found], float)
        np.testing.assert_allclose([float(place.gap) for place in found], 0.0, atol=1e-15)
        ends = sorted(points[:, 0 if along == "x" else 1])
        middle = shift if along == "x" else 0.0
        np.testing.assert_allclose(ends, [middle - 0.2, min(middle + 0.2, 0.4)], atol=1e-12)


def test_crossed_bars_touch_over_the_whole_of_what_they_share():
    """No corner of one is near the other, only edges cross."""
    for turn in (np.pi / 2, 0.3, 1.0):
        for lift in (1e-3, 0.0, -1e-3):
            X = Placement(Rotation.from_euler("z", turn).as_matrix(), (0.1, -0.05, 0.2 + lift))
            found = places(Box((2.0, 0.2, 0.2)), X.X, Box((2.0, 0.2, 0.2)), Placement(np.eye(3), (0, 0, 0)).X)
            np.testing.assert_allclose([float(place.gap) for place in found], lift, atol=1e-12)
            area = ConvexHull(np.array([place.point[:2] for place in found], float)).volume
            assert area == pytest.approx(0.04 / np.sin(turn))


@pytest.mark.parametrize(("one", "other"), [*PAIRS, *ON_PLANE])
def test_what_is_not_a_number_stays_none(one: str, other: str):
    """A place that is not known has no gap, however many comparisons it went through."""
    rng = np.random.default_rng(9)
    first, second, Y = DRAWN[one](rng), DRAWN[other](rng), Placement.random(rng)
    for X in (Placement(np.full((3, 3), np.nan), (0, 0, 0)), Placement(np.eye(3), (0, np.nan, 0))):
        assert np.isnan(gaps(first, X.X, second, Y.X)).all() or (one == "sphere" and np.isnan(X.R).all())
