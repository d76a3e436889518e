"""Every joint over every kind of scalar gives what it gives over floats."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from knuckle.joints import Composite, Driven, Fixed, Joint, Polynomial, Prismatic, SplineCurve, Translational
from knuckle.scalar import Dual, value_of
from knuckle.spatial import Transform, Vector

from ..seeds import quick
from .zoo import FEW, ZOO, close, control_frames, leaves, numbers, state

SEARCHED = ("composite", "spline", "own", "function")  # joints whose `loop` is a search: long to write out as symbols


def essentials(joint: Joint, q: Vector, v: Vector) -> list[Any]:
    """Where the joint is and how it moves, as scalars."""
    parts = (joint.motion(q, v), joint.subspace_rate(q, v), joint.rate(q, v), joint.integrate(q, v))
    return list(leaves(parts))


def everything(joint: Joint, q: Vector, v: Vector) -> list[Any]:
    """All that a joint gives."""
    moved = joint.integrate(q, v * 0.3)
    forces = joint.constraints(q), joint.actuation(q)
    parts = (joint.difference(q, moved), *joint.normalized(q, v), *forces, *joint.loop(joint.transform(moved)))
    return [*essentials(joint, q, v), *leaves(parts)]


def start(joint: Joint) -> tuple[Vector, Vector]:
    """A state away from where bases of T change sides, so that all precisions take the same."""
    return state(joint, 7)


@pytest.mark.slow
def test_complex(joint: Joint):
    q, v = start(joint)
    found = everything(joint, Vector(map(complex, q)), Vector(map(complex, v)))
    close(np.array([complex(x) for x in found]), everything(joint, q, v), 1e-11)


@pytest.mark.parametrize("name", quick(ZOO, FEW[::2]))
def test_mpmath(name: str):
    joint = ZOO[name]
    q, v = start(joint)
    with mp.workdps(40):
        found = everything(joint, Vector(map(mp.mpf, q)), Vector(map(mp.mpf, v)))
        close([float(x) for x in found], everything(joint, q, v), 1e-11)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(), (2, 3), (0,)])
def test_lanes(joint: Joint, shape: tuple[int, ...]):
    """Each lane is the joint alone; no lanes give no lanes."""
    q, v = start(joint)
    f = everything if shape == (0,) else essentials
    found = f(joint, *(Vector(np.full(shape, x) for x in vector) for vector in (q, v)))
    for x, y in zip(found, f(joint, q, v), strict=True):
        array = np.broadcast_to(np.asarray(x, dtype=float), shape)
        np.testing.assert_allclose(array, np.full(shape, float(y)), rtol=1e-11, atol=1e-11)


@pytest.mark.slow
def test_lanes_are_independent(joint: Joint):
    """Different states side by side give what they give one by one."""
    states = [state(joint, k) for k in (7, 1)]
    found = everything(joint, *(Vector(np.array([list(s[i]) for s in states]).T) for i in range(2)))
    for k, alone in enumerate(states):
        one = [np.broadcast_to(np.asarray(x, dtype=float), 2)[k] for x in found]
        close(one, everything(joint, *alone), 1e-11)


def test_single_precision_lanes_stay_single(joint: Joint):
    q, v = start(joint)
    lanes = (Vector(np.full(2, x, dtype=np.float32) for x in vector) for vector in (q, v))
    for x, y in zip(essentials(joint, *lanes), essentials(joint, q, v), strict=True):
        if isinstance(x, np.ndarray):
            assert x.dtype == np.float32
        np.testing.assert_allclose(np.asarray(x, dtype=float), float(y), atol=2e-5)


@pytest.mark.slow
def test_single_precision_loops(joint: Joint):
    """Closing a loop in single precision: everything stays single, and a reachable place has an error of rounding."""
    q, _ = start(joint)
    delta, T = joint.loop(joint.transform(Vector(np.full(2, x, dtype=np.float32) for x in q)))
    for x in leaves((delta, T)):
        assert not isinstance(x, np.ndarray) or x.dtype == np.float32
    assert all(np.all(np.abs(np.asarray(x, dtype=float)) < 2e-5) for x in delta)


def test_dual(joint: Joint):
    q, v = start(joint)
    found = everything(joint, Vector(Dual(x, 1.0) for x in q), Vector(Dual(x, 0.5) for x in v))
    close([float(value_of(x)) for x in found], everything(joint, q, v), 1e-11)


def evaluated(f: Callable[..., list[Any]], joint: Joint, q: Vector, v: Vector) -> np.ndarray:
    symbols = ca.SX.sym("q", len(q)), ca.SX.sym("v", len(v))
    lists = [Vector(s[i] for i in range(s.shape[0])) for s in symbols]
    found = [ca.SX(float(x)) if not isinstance(x, ca.SX) else x for x in f(joint, *lists)]
    function = ca.Function("f", list(symbols), [ca.vertcat(*found)])
    return np.array(function(np.array(list(q)), np.array(list(v)))).ravel()


@pytest.mark.parametrize("name", quick(ZOO, FEW[::2]))
def test_casadi(name: str):
    """SX symbols: the recorded expressions, evaluated."""
    joint = ZOO[name]
    f = essentials if any(word in name for word in SEARCHED) else everything
    q, v = start(joint)
    close(evaluated(f, joint, q, v), f(joint, q, v), 1e-12)


@pytest.mark.parametrize("name", quick([name for name in ZOO if "spline" not in name], FEW[1::2]))
def test_sympy(name: str):
    """Symbols, evaluated afterwards; choices become Piecewise."""
    joint = ZOO[name]
    q, v = start(joint)
    symbols = sp.symbols(f"q:{joint.nq}"), sp.symbols(f"v:{joint.nv}")
    Q, V = map(Vector, symbols)
    found = [sp.sympify(x) for x in leaves((joint.motion(Q, V), joint.rate(Q, V)))]
    function = sp.lambdify([*Q, *V], found, modules="math", cse=True)
    close([float(x) for x in function(*q, *v)], (joint.motion(q, v), joint.rate(q, v)), 1e-12)


@pytest.mark.parametrize("name", quick([name for name in ZOO if "spline" in name], FEW))
def test_sympy_numbers(name: str):
    """Splines as SymPy numbers: their symbols would fill pages."""
    joint = ZOO[name]
    q, v = start(joint)
    found = essentials(joint, *(Vector(sp.Float(x, 30) for x in vector) for vector in (q, v)))
    close([float(x) for x in found], essentials(joint, q, v), 1e-12)


@pytest.mark.parametrize(
    "joint",
    [
        Fixed(),
        Prismatic("y"),
        Translational(),
        Composite((Prismatic("x"), Translational(), Prismatic("z"))),
        Composite((Prismatic("x"), Prismatic("z"))).reversed(),
        Driven(Prismatic("x"), Polynomial((1.0, 2.0, 0.5))).at_time(Fraction(1, 3)),
    ],
)
def test_fractions_where_no_trigonometry_is_met(joint: Joint):
    """Exact rational numbers in, exact rational numbers out."""
    q, v = (Vector(Fraction(k + 1, 7) for k in range(n)) for n in (joint.nq, joint.nv))
    floats = Vector(map(float, q)), Vector(map(float, v))
    close([float(x) for x in essentials(joint, q, v)], essentials(joint, *floats), 1e-15)


def test_fractions_stay_fractions():
    X = Translational().transform(Vector([Fraction(1, 3), Fraction(-2, 7), Fraction(5, 11)]))
    assert X.r == (Fraction(1, 3), Fraction(-2, 7), Fraction(5, 11))
    delta, _ = Translational().loop(X)
    assert list(delta) == [0, 0, 0]
    with pytest.raises(TypeError, match="a fraction has no exact sine"):
        ZOO["revolute z"].transform(Vector([Fraction(1, 3)]))


def test_symbolic_segments_of_a_spline():
    """A CasADi curve of seven frames follows the float one through every segment."""
    joint = SplineCurve(control_frames(7))
    q = ca.SX.sym("q")
    X = joint.transform(Vector([q]))
    function = ca.Function("X", [q], [ca.vertcat(*map(ca.SX, leaves(X)))])
    for at in (-0.3, 0.0, 0.7, 1.0, 2.5, 3.0, 4.2):
        close(np.array(function(at)).ravel(), joint.transform(Vector([at])), 1e-14)


def test_dual_derivatives_of_located_positions():
    """dq/dt of a located position is S⁺ of the velocity with which X moves: the search carries derivatives along."""
    joint = ZOO["own"]
    q, v = state(joint, 1)
    moving = joint.transform(Vector(Dual(x, dx) for x, dx in zip(q, v, strict=True)))
    found = joint.locate(moving)
    close([x.value for x in found], numbers(joint.locate(joint.transform(q))))
    close([x.derivative for x in found], v, 1e-12)
    assert isinstance(moving, Transform)
