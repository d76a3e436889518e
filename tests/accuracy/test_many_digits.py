"""Numbers of many digits: the same as mpmath's, with all their digits, for many states at once."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle.accuracy.exact_model import exact, nearest_rotation
from knuckle.accuracy.many_digits import ManyDigits, digits_of, precision
from knuckle.accuracy.reference_run import run
from knuckle.joints import Revolute
from knuckle.model import Model, solid_box
from knuckle.scalar import arctan2, cos, select, sin, sqrt
from knuckle.spatial.three import matmul, transpose


def slanted() -> Model:
    """Rotations and axes of which no entry is a zero."""
    b = kn.Builder("slanted")
    b.body("a", joint=Revolute((0.6, 0.5, 0.4)), at={"rpy": (0.3, 0.2, 0.1)}, inertia=solid_box(2.0, (0.1, 0.2, 0.3)))
    b.body("b", "a", Revolute("z"), {"xyz": (0.1, 0.4, 0.2), "rpy": (1, 2, 3)}, mass=1.0, com=(0.1, 0.2, 0.3))
    return b.build()


def test_functions_of_lanes_are_those_of_mpmath() -> None:
    x, y = np.array([0.3, -2.0, 4.0]), np.array([1.5, 0.1, -7.0])
    with precision(50), mp.workdps(60):
        a, b = digits_of(x), digits_of(y)
        for found, wanted in (
            (sin(a), mp.sin), (cos(a), mp.cos), (sqrt(a * a), lambda p: abs(p)),
            (arctan2(a, b), mp.atan2), (a / b - 2 * a + 1, lambda p, r: p / r - 2 * p + 1),
        ):  # fmt: skip
            for k, lane in enumerate(found.lanes):
                args = (mp.mpf(float(x[k])), mp.mpf(float(y[k])))
                right = wanted(*args) if wanted in (mp.atan2,) or wanted.__code__.co_argcount == 2 else wanted(args[0])
                assert abs(mp.mpf(str(lane)) - right) < mp.mpf(10) ** -48 * (1 + abs(right))


def test_select_chooses_lane_by_lane() -> None:
    with precision(50):
        x = digits_of(np.array([1.0, -1.0]))
        assert list(select(x < 0, -x, 2 * x).lanes) == [2, 1]
        assert select(digits_of(1.0) < 0, 1.0, x) is x


def test_forward_after_inverse_dynamics_has_fifty_digits() -> None:
    """Only with rotations that are rotations: the doubles of a model are not, and then sixteen digits are right."""
    model = slanted()
    q, v, a = np.random.default_rng(0).standard_normal((3, 4, 2))
    with precision(50):
        for many, limit, least in ((exact(model), 1e-45, 0.0), (model.with_scalars(digits_of), 1e-13, 1e-30)):
            tau = run(kn.inverse_dynamics, many, [q, v, a])
            error = float(abs(run(kn.forward_dynamics, many, [q, v, tau]) - a).max())
            assert least <= error < limit


def test_the_reference_is_the_text_on_mpmath_numbers() -> None:
    model = kn.robots.load("double_pendulum")
    q = np.array([[0.3, 1.1], [2.0, -0.4]])
    with precision(50), mp.workdps(60):
        H = run(kn.mass_matrix, exact(model), [q])
        one = kn.mass_matrix(model.with_scalars(mp.mpf), [mp.mpf(x) for x in q[1]])
        assert max(abs(mp.mpf(str(H[1, i, j])) - one[i, j]) for i in range(2) for j in range(2)) < mp.mpf(10) ** -48


def test_the_nearest_rotation_is_one() -> None:
    E = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    with precision(50):
        R = nearest_rotation(tuple(tuple(digits_of(float(x)) for x in row) for row in E))  # type: ignore[arg-type]
        for i, row in enumerate(matmul(transpose(R), R)):
            for j, x in enumerate(row):
                assert abs(float(x - int(i == j))) < 1e-48
        assert max(abs(float(R[i][j]) - E[i, j]) for i in range(3) for j in range(3)) < 4e-16


def test_vectors_compute_mixed_expressions() -> None:
    with precision(50):
        v = kn.spatial.Motion.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        assert isinstance((digits_of(2.0) * v).components[0], ManyDigits)


def test_without_mpmath_and_gmpy2_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from knuckle.accuracy import many_digits

    def absent(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(many_digits, "import_module", absent)
    monkeypatch.setattr("knuckle.extras.importlib.import_module", absent)
    with pytest.raises(ImportError, match="many digits need mpmath"):
        digits_of(1.0)
