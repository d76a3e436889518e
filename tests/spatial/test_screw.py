"""Lines, free vectors, screws and pitch (RBDA 2.4-2.7)."""

import numpy as np
import pytest

from knuckle.scalar import ZERO
from knuckle.spatial import Force, Motion, PlanarMotion, line_and_free, pitch, screw
from knuckle.spatial.three import add, cross, dot, matvec, scale

from .zoo import Kind


def parts(s):
    """(line, field at the origin)."""
    return (s.angular, s.linear) if isinstance(s, Motion) else (s.linear, s.angular)


@pytest.mark.parametrize("make", ["motion", "force"])
def test_b13_line_and_free_part(kind: Kind, make: str):
    """s = line + free: the first passes through a line, the second has no line, and both have one direction."""
    s = getattr(kind, make)()
    line, free = line_and_free(s)
    kind.same(line + free, s)
    direction, field = parts(line)
    kind.nothing(dot(direction, field))
    assert parts(free)[0] == (ZERO, ZERO, ZERO)
    kind.nothing(cross(parts(free)[1], direction))
    kind.same(parts(free)[1], scale(pitch(s), direction))


def test_b13_slots_of_each_kind(kind: Kind):
    """Motion: (s, s_O − hs) + (0, hs). Force: (f_O − hf, f) + (hf, 0)."""
    m, f = kind.motion(), kind.force()
    h = dot(m.angular, m.linear) / dot(m.angular, m.angular)
    line, free = line_and_free(m)
    kind.same(line.angular, m.angular)
    kind.same(free.linear, scale(h, m.angular))
    h = dot(f.linear, f.angular) / dot(f.linear, f.linear)
    line, free = line_and_free(f)
    kind.same(line.linear, f.linear)
    kind.same(free.angular, scale(h, f.linear))
    assert isinstance(line, Force)
    assert isinstance(free, Force)


@pytest.mark.parametrize("make", ["motion", "force"])
def test_b13_points_of_the_line(kind: Kind, make: str):
    """OP × s = s_O for every point P of the axis; the nearest is s × s_O / s·s."""
    s = getattr(kind, make)()
    axis = screw(s)
    direction, field = parts(line_and_free(s)[0])
    kind.same(axis.direction, direction)
    for t in (0, 1, kind.scalar()):
        kind.same(cross(add(axis.point, scale(t, direction)), direction), field)
    kind.nothing(dot(axis.point, direction))


@pytest.mark.parametrize("make", ["motion", "force"])
def test_b14_pitch_belongs_to_the_vector_not_to_the_frame(kind: Kind, make: str):
    s, X = getattr(kind, make)(), kind.transform()
    kind.same(pitch(X @ s), pitch(s))
    kind.same(pitch(s * 3), pitch(s))
    moved, axis = screw(X @ s), screw(s)
    kind.same(moved.direction, matvec(X.E, axis.direction))
    line, field = parts(X @ line_and_free(s)[0])
    kind.nothing(dot(line, field))
    kind.same(cross(X.point(axis.point), moved.direction), field)


def test_b14_velocity_of_a_screw():
    """A nut on a screw along z through (1, 2, 0): one turn moves it by 2π times the pitch."""
    turn = Motion((0, 0, 2.0), add((0, 0, 0.5), cross((1.0, 2.0, 0.0), (0, 0, 2.0))))
    assert pitch(turn) == 0.25
    axis = screw(turn)
    assert axis.point == (1, 2, 0)
    assert axis.direction == (0, 0, 2)
    assert axis.pitch == 0.25


def test_b14_wrench_of_a_screwdriver():
    """A push of 3 N along x through (0, 0, 2) with 6 Nm about it: pitch 2 m."""
    wrench = Force(add((6.0, 0, 0), cross((0, 0, 2.0), (3.0, 0, 0))), (3.0, 0, 0))
    assert pitch(wrench) == 2
    assert screw(wrench).point == (0, 0, 2)


def test_b13_line_and_free_vectors_by_themselves():
    rotation = Motion((0, 0, 1.0), cross((1.0, 2.0, 3.0), (0, 0, 1.0)))
    line, free = line_and_free(rotation)
    assert pitch(rotation) == 0
    assert line == rotation
    assert all(x == 0 for x in free.components)


@pytest.mark.parametrize("free", [Motion((ZERO,) * 3, (1.0, 2.0, 3.0)), Force((1.0, 2.0, 3.0), (0.0, 0.0, 0.0))])
def test_b14_a_free_vector_has_infinite_pitch(free):
    """Only a direction, no axis."""
    for f in (pitch, screw, line_and_free):
        with pytest.raises(ZeroDivisionError):
            f(free)


def test_b14_infinite_pitch_in_lanes():
    free = Motion((np.zeros(2), np.zeros(2), np.array([0.0, 2.0])), (np.ones(2), np.zeros(2), np.ones(2)))
    with np.errstate(all="ignore"):
        found = pitch(free)
    assert np.isnan(found[0]) or np.isinf(found[0])
    assert found[1] == 0.5


def test_planar_vectors_have_no_screws():
    for f in (pitch, screw, line_and_free):
        with pytest.raises(TypeError, match="not PlanarMotion"):
            f(PlanarMotion(1.0, 2.0, 3.0))
