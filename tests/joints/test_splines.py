"""Spline joints: the curve of notes 2.4.11 and the surface of 2.4.12."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from knuckle.joints import Joint, SplineCurve, SplineSurface
from knuckle.joints.splines.b_splines import basis, cumulative, weights
from knuckle.scalar import Dual
from knuckle.spatial import Motion, Transform, Vector, lie, rotation
from knuckle.spatial.three import IDENTITY3

from .zoo import close, control_frames, control_grid, matrix, numbers

B = np.array([[1, -3, 3, -1], [4, 0, -6, 3], [1, 3, 3, -3], [0, 0, 0, 1]]) / 6


@pytest.mark.parametrize("u", [0.0, 0.3, 1.0])
def test_basis_is_that_of_the_notes(u: float):
    """Eqs. 2.57, 2.61 and 2.62, with their derivatives."""
    powers = np.array([[1, u, u**2, u**3], [0, 1, 2 * u, 3 * u**2], [0, 0, 2, 6 * u]])
    expected = powers @ B.T
    close(np.array(basis(u)).T, expected, 1e-15)
    sums = expected[:, ::-1].cumsum(axis=1)[:, ::-1]
    close(np.array(cumulative(u)).T, sums[:, 1:], 1e-15)
    close(sums[:, 0], [1, 0, 0], 1e-15)


@pytest.mark.parametrize("count", [4, 5, 8])
def test_weights_of_all_control_values(count: int):
    """They sum to one, four at most are not zero, and their derivatives are derivatives, across the segments too."""
    for q in np.linspace(-0.2, count - 2.8, 23):
        found = np.array([[float(x) for x in w] for w in weights(float(q), count)])
        close(found.sum(axis=0), [1, 0, 0], 1e-14)
        assert np.count_nonzero(found[:, 0]) <= 4
        first = [w.value.derivative if isinstance(w.value, Dual) else 0.0 for w in weights(Dual(float(q), 1.0), count)]
        second = [w.first.derivative if isinstance(w.first, Dual) else 0.0 for w in weights(Dual(float(q), 1.0), count)]
        close(found[:, 1], first, 1e-14)
        close(found[:, 2], second, 1e-14)


def algorithm_3(frames: list[Transform], q: float, *, printed: bool) -> tuple[np.ndarray, np.ndarray]:
    """S and ∂S/∂q of four control frames as algorithm 3 has them, in 4x4 and 6x6 matrices."""

    def adjoint(d: Motion) -> np.ndarray:
        return np.array([numbers(d.cross(e)) for e in Motion.basis()]).T

    steps = [lie.log(b @ a.inverse()) for a, b in pairwise(frames)]
    weights_of = cumulative(q)
    S, dS = numbers(steps[0] * weights_of[0].first), numbers(steps[0] * weights_of[0].second)
    for step, w in zip(steps[1:], weights_of[1:], strict=True):
        Ad = np.array(lie.exp(step * w.value).matrix.rows, dtype=float)
        ad = adjoint(Motion.of(S.tolist()))
        factor = w.value if printed else w.first
        S, dS = (
            numbers(step * w.first) + Ad @ S,
            numbers(step * w.second) + Ad @ (dS + ad @ numbers(step * factor)),
        )
    return S, dS


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_hessian_of_algorithm_3_needs_the_derivative_of_the_basis(q: float):
    """As printed, with B̃ in its last line, ∂S/∂q is wrong; with B̃' it is the derivative of S."""
    frames = control_frames(4)
    joint = SplineCurve(frames)
    exact = [getattr(x, "derivative", 0.0) for x in joint.subspace(Vector([Dual(q, 1.0)]))[0].components]
    S, mended = algorithm_3(frames, q, printed=False)
    _, printed = algorithm_3(frames, q, printed=True)
    close(joint.subspace(Vector([q])), S, 1e-14)
    close(mended, exact, 1e-13)
    close(joint.subspace_rate(Vector([q]), Vector([1.0])), exact, 1e-13)
    assert np.abs(printed - np.array(exact)).max() > 1e-2


@pytest.mark.parametrize("knot", [1, 2, 3])
def test_curve_is_smooth_to_second_order_across_segments(knot: int):
    """X, S and ∂S/∂q of the two segments agree at a knot; the third derivative need not."""
    joint = SplineCurve(control_frames(7))
    below, above = Vector([np.nextafter(float(knot), 0.0)]), Vector([float(knot)])
    one = Vector([1.0])
    close(joint.motion(below, one), joint.motion(above, one), 1e-13)
    rates = [matrix(joint.subspace_rate(Vector([knot + h]), one)) for h in (-2e-4, -1e-4, 1e-4, 2e-4)]
    jump = ((rates[3] - rates[2]) - (rates[1] - rates[0])) / 1e-4
    assert np.abs(jump).max() > 1e-2


def test_curve_follows_its_control_frames():
    """Equal control frames give that frame; frames along one screw give that screw (B-splines reproduce lines)."""
    still = Transform(rotation.exp((0.3, -0.2, 0.5)), (0.1, 0.2, 0.3))
    joint = SplineCurve([still] * 4)
    close(joint.transform(Vector([0.4])), still, 1e-15)
    close(joint.subspace(Vector([0.4])), [0.0] * 6, 1e-15)
    screw = Motion.of([0.1, 0.2, -0.3, 0.5, -0.1, 0.2])
    joint = SplineCurve([lie.exp(screw * float(k)) for k in range(6)])
    for q in (0.0, 0.4, 1.0, 2.7):
        close(joint.transform(Vector([q])), lie.exp(screw * (q + 1)), 1e-14)
        close(joint.subspace(Vector([q])), screw, 1e-14)
        close(joint.subspace_rate(Vector([q]), Vector([1.0])), [0.0] * 6, 1e-14)


def test_curve_of_translations_is_the_spline_of_points():
    """x(q) = C B (1, q, q², q³) (eq. 2.58), segment by segment."""
    points = np.random.default_rng(3).uniform(-1, 1, (6, 3))
    joint = SplineCurve([Transform.translation(p.tolist()) for p in points])
    assert joint.end == 3.0
    for q in (0.0, 0.6, 1.0, 1.5, 2.9, 3.0):
        k = min(int(q), 2)
        u = q - k
        expected = points[k : k + 4].T @ B @ [1, u, u**2, u**3]
        X = joint.transform(Vector([q]))
        close(X.r, expected, 1e-15)
        close(X.E, numbers(IDENTITY3), 0.0)


def test_curve_goes_on_beyond_its_ends():
    """Outside [0, end] the outer segments go on, without a break."""
    joint = SplineCurve(control_frames(6))
    for end in (0.0, joint.end):
        inside, outside = (joint.motion(Vector([end + h]), Vector([1.0])) for h in (-1e-9, 1e-9))
        close(inside, outside, 1e-6)
    assert 0.0 <= joint.random(np.random.default_rng(1))[0] <= joint.end


def test_lanes_pick_their_own_segments():
    joint = SplineCurve(control_frames(7))
    q = np.linspace(-0.5, 4.5, 21)
    lanes = joint.motion(Vector([q]), Vector([np.ones(21)]))
    for k, one in enumerate(q):
        alone = joint.motion(Vector([float(one)]), Vector([1.0]))
        close(
            [np.broadcast_to(x, 21)[k] for x in (*lanes.v.components, *lanes.c.components)], (alone.v, alone.c), 1e-14
        )


def algorithm_4(joint: SplineSurface, q: Vector) -> tuple[np.ndarray, np.ndarray]:
    """S and ∂S/∂q as algorithm 4 has them: six exponentials, translations first."""
    C = np.array(joint.controls)
    w = [np.array([[float(x) for x in b] for b in weights(x, n)]) for x, n in zip(q, C.shape[:2], strict=True)]

    def f(k: int, i: int, j: int) -> float:
        return float(w[0][:, i] @ C[:, :, k] @ w[1][:, j])

    axes = [Motion.basis()[k] for k in (3, 4, 5, 0, 1, 2)]
    S, dS = [Motion.zero()] * 2, {(i, j): Motion.zero() for i in range(2) for j in range(2)}
    orders = [(1, 0), (0, 1)]
    for k, e in enumerate(axes):
        Ad = lie.exp(e * f(k, 0, 0))
        for i in range(2):
            for j in range(2):
                mixed = f(k, orders[i][0] + orders[j][0], orders[i][1] + orders[j][1])
                dS[i, j] = e * mixed + Ad @ (dS[i, j] + S[i].cross(e * f(k, *orders[j])))
        S = [e * f(k, *orders[i]) + Ad @ S[i] for i in range(2)]
    return np.array([numbers(s) for s in S]).T, np.array([[numbers(dS[i, j]) for j in range(2)] for i in range(2)])


@pytest.mark.parametrize("shape", [(4, 4), (5, 6)])
def test_surface_is_that_of_algorithm_4(shape: tuple[int, int]):
    joint = SplineSurface(control_grid(*shape))
    for seed in range(5):
        q = joint.random(np.random.default_rng(seed))
        v = Vector([0.7, -1.2])
        S, dS = algorithm_4(joint, q)
        close(matrix(joint.subspace(q)), S, 1e-14)
        close(matrix(joint.subspace_rate(q, v)), np.einsum("ijk,j->ki", dS, numbers(v)), 1e-13)


@pytest.mark.parametrize("along", [0, 1])
def test_surface_is_smooth_to_second_order_across_patches(along: int):
    joint = SplineSurface(control_grid(5, 6))
    v = Vector([0.7, -1.2])
    above = [0.3, 0.4]
    above[along] = 1.0
    below = list(above)
    below[along] = np.nextafter(1.0, 0.0)
    close(joint.motion(Vector(below), v), joint.motion(Vector(above), v), 1e-13)
    assert joint.ends == (2.0, 3.0)
    drawn = np.array([list(joint.random(np.random.default_rng(k))) for k in range(200)])
    assert drawn.min() < 0.1
    assert np.all((drawn >= 0.0) & (drawn <= joint.ends))


def test_surface_of_a_plane_is_two_slides():
    """B-splines reproduce linear fields: control points (i, j) give the plane itself, one unit ahead."""
    joint = SplineSurface([[[float(i), float(j), 0, 0, 0, 0] for j in range(5)] for i in range(4)])
    X, S, _, c = joint.motion(Vector([0.3, 1.4]), Vector([0.7, -1.2]))
    close(X.r, [1.3, 2.4, 0.0], 1e-15)
    close(S, [*Motion.basis()[3:5]], 1e-15)
    close(c, [0.0] * 6, 1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SplineCurve(control_frames(4)[:3]), "frames: a cubic spline has four control frames or more, not 3"),
        (lambda: SplineCurve([*control_frames(4), Transform(((1, 0, 0), (0, 2, 0), (0, 0, 1)))]), r"frames\[4\]\.E"),
        (lambda: SplineSurface(control_grid(3, 5)), "controls is a grid of 4 by 4 or more"),
        (lambda: SplineSurface(control_grid(4, 3)), "controls is a grid of 4 by 4 or more"),
        (lambda: SplineSurface([*control_grid(4, 4), control_grid(4, 5)[0]]), "controls is a grid"),
        (lambda: SplineSurface([[cell[:5] for cell in row] for row in control_grid(4, 4)]), "six numbers"),
        (lambda: SplineSurface([[[float("nan")] * 6] * 4] * 4), "controls"),
    ],
)
def test_malformed_splines_are_refused(make, message: str):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("joint", [SplineCurve(control_frames(9)), SplineSurface(control_grid(5, 6))])
def test_nearest_place_is_found_on_long_splines(joint: Joint):
    rng = np.random.default_rng(12)
    q = Vector(np.array([list(joint.random(rng)) for _ in range(500)]).T)
    found = joint.locate(joint.transform(q))
    assert max(np.max(np.abs(a - b)) for a, b in zip(found, q, strict=True)) < 1e-9


def test_a_cyclic_curve_goes_round():
    """It is the open curve of the same frames and the first three again, and once around it is where it was."""
    frames = control_frames(5)
    cyclic, open_one = SplineCurve(frames, cyclic=True), SplineCurve([*frames, *frames[:3]])
    assert cyclic.end == open_one.end == 5
    for q in np.linspace(0.0, 5.0, 23):
        for turns in (-2, 0, 1):
            at, v = Vector([float(q) + 5 * turns]), Vector([0.7])
            for a, b in zip(cyclic.motion(at, v), open_one.motion(Vector([float(q)]), v), strict=True):
                close(getattr(a, "matrix", a), getattr(b, "matrix", b), 1e-12)


def test_a_cyclic_surface_goes_round():
    grid = control_grid(4, 5)
    cyclic, open_one = SplineSurface(grid, cyclic=(True, False)), SplineSurface([*grid, *grid[:3]])
    assert cyclic.ends == open_one.ends == (4.0, 2.0)
    for q in np.linspace(0.1, 3.9, 7):
        v = Vector([0.7, -0.3])
        for a, b in zip(
            cyclic.motion(Vector([float(q) - 8, 0.4]), v), open_one.motion(Vector([float(q), 0.4]), v), strict=True
        ):
            close(getattr(a, "matrix", a), getattr(b, "matrix", b), 1e-12)
    with pytest.raises(ValueError, match="cyclic says of"):
        SplineSurface(grid, cyclic=(True,))


def test_the_motion_of_a_cyclic_curve_is_the_rate_of_its_place():
    curve = SplineCurve(control_frames(5), cyclic=True)
    for q in (-0.3, 4.9, 12.2):
        X, S, _, _ = curve.motion(Vector([q]), Vector([1.0]))
        by_place = Joint.subspace(curve, Vector([q]))
        close(S.matrix, by_place.matrix, 1e-12)
        close(
            curve.subspace_rate(Vector([q]), Vector([1.0])).matrix,
            Joint.subspace_rate(curve, Vector([q]), Vector([1.0])).matrix,
            1e-11,
        )
        close(curve.transform(curve.locate(X)).matrix, X.matrix, 1e-10)
