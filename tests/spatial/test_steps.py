"""Axial screws applied one after the other, and turns about coordinate axes in few operations (RBDA A.4)."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from knuckle.engine.trace import record
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Sym3, Transform, Vector
from knuckle.spatial.subspace import Subspace
from knuckle.spatial.three import IDENTITY3, Mat3, axis_of, congruence, rotated, transpose
from knuckle.spatial.vectors import Motion

from .zoo import Kind

AXES = (0, 1, 2)


def turn(kind: Kind, axis: int) -> Mat3:
    """A turn about a coordinate axis, rational in the numbers drawn."""
    w, z = kind.positive(), kind.scalar()
    n = w * w + z * z
    c, s = (w * w - z * z) / n, 2 * w * z / n
    i, j = (axis + 1) % 3, (axis + 2) % 3
    E: Any = [[ONE if a == b else ZERO for b in AXES] for a in AXES]
    E[i][i], E[i][j], E[j][i], E[j][j] = c, s, -s, c
    return tuple(tuple(row) for row in E)  # type: ignore[return-value]


def product(kind: Kind, a: int, b: int) -> tuple[Transform, Transform]:
    """A product of two turns with a step, and the same transform without its factors."""
    X = Transform(turn(kind, a), kind.vec3()) @ Transform(turn(kind, b), kind.vec3())
    return X, Transform(X.E, X.r)


@pytest.mark.parametrize("axis", AXES)
def test_the_axis_of_a_turn_is_known(kind: Kind, axis: int):
    assert axis_of(turn(kind, axis)) == axis
    assert axis_of(transpose(turn(kind, axis))) == axis


def test_no_axis_is_seen_where_none_is():
    """A one in the diagonal is not enough: a small tilt leaves one there, to rounding."""
    tilted = ((0.8, 0.6, 0.6e-9), (-0.6, 0.8, 0.8e-9), (ZERO, -1e-9, ONE))
    assert axis_of(tilted) is None
    assert axis_of(IDENTITY3) is None
    assert axis_of(((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0), (0.0, 0.0, 1.0))) is None  # plain numbers say nothing


@pytest.mark.parametrize("axis", AXES)
def test_turned_matrices(kind: Kind, axis: int):
    E, A, S = turn(kind, axis), (kind.vec3(), kind.vec3(), kind.vec3()), kind.sym3()
    for turned in (E, transpose(E)):
        kind.same(rotated(turned, A), congruence(turned, A))
        kind.same(S.rotated(turned).matrix, congruence(turned, S.matrix))


def test_what_a_turn_costs():
    """Beside s², cs, 2cs and 1 − 2s² 8 multiplications and 7 additions, and 12 of each without symmetry (RBDA A.4)."""

    def symmetric(c: Any, s: Any, A: Any) -> Any:
        E = ((c[0], s[0], ZERO), (-s[0], c[0], ZERO), (ZERO, ZERO, ONE))
        return Vector(Sym3(*A).rotated(E))

    def general(c: Any, s: Any, A: Any) -> Any:
        E = ((c[0], s[0], ZERO), (-s[0], c[0], ZERO), (ZERO, ZERO, ONE))
        return Vector(x for row in rotated(E, (A[:3], A[3:6], A[6:])) for x in row)

    def cost(text: Any, entries: int) -> tuple[int, int]:
        done = record(text, {"c": (1,), "s": (1,), "A": (entries,)}, lambda r: (list(r), (len(r),))).count()
        return done.mul, done.add

    assert cost(symmetric, 6) == (8 + 4, 7 + 1)
    assert cost(general, 9) == (12 + 2, 12)


@pytest.mark.parametrize(("a", "b"), [(a, b) for a in AXES for b in AXES if a != b])
def test_products_of_turns_act_as_their_composition(kind: Kind, a: int, b: int):
    X, plain = product(kind, a, b)
    assert X.steps is not None
    assert plain.steps is None
    kind.same(X, plain)
    S = Subspace(Motion, [kind.motion(), kind.motion()])
    for x in (kind.motion(), kind.force(), kind.inertia(), kind.articulated(), S):
        kind.same(X @ x, plain @ x)
        kind.same(X.inv @ x, plain.inv @ x)
    f, I = kind.force(), kind.articulated()
    kind.same(X.T @ f, plain.T @ f)
    kind.same(X.T @ I @ X, plain.T @ I @ plain)
    kind.same(X.point(f.linear), plain.point(f.linear))
    kind.same(X.turned(f.linear), plain.turned(f.linear))
    kind.same(X.matrix, plain.matrix)
    kind.same(X.inverse() @ X, Transform())


def test_only_two_turns_about_different_axes_are_kept(floats: Kind):
    x, z = Transform(turn(floats, 0), floats.vec3()), Transform(turn(floats, 2), floats.vec3())
    other = floats.transform()
    assert (z @ x).steps == (z, x)
    assert (x @ x).steps is None
    for left, right in ((other, x), (x, other), (z @ x, z), (x, z @ x), (Transform(), x), (x, Transform())):
        assert (left @ right).steps is None
        floats.same((left @ right).matrix, left.matrix @ right.matrix)


def test_factors_are_no_part_of_the_value(floats: Kind):
    X, plain = product(floats, 2, 0)
    assert plain == X
    assert hash(X) == hash(plain)
    assert repr(X) == repr(plain)
    copy = pickle.loads(pickle.dumps(X))
    assert copy == X
    assert copy.steps is None
