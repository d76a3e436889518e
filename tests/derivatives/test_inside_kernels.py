"""Dynamics inside kernels: differentiated by their own equations, in whatever directions their arguments change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls.function import Function
from knuckle.engine.differentiate import own_slopes
from knuckle.engine.differentiate.derivative_texts import Jacobian, OfUser
from knuckle.model.edit import attach
from knuckle.spatial import Inertia, Vector

from ..seeds import seeds
from .cases import MECHANISMS

POINT = ((0.0, 0.0, 0.0),) * 3
NONE = 10**9
"""Directions that no call has."""


def _driven(model: kn.Model, v: Any, q: Any, gain: Any) -> Any:
    return gain * np.sin(v) - 0.3 * v + 0.1 * (q @ q)


@kn.kernel
def servo(model: kn.Model, q: Any, v: Any, a: Any, gain: Any) -> Any:
    """Accelerations that change with everything; the result once more with others."""
    tau = kn.inverse_dynamics(model, q, v, a + _driven(model, v, q, gain))
    return tau, gain * kn.bias_force(model, q, 2.0 * v)


@kn.kernel
def driven(model: kn.Model, q: Any, v: Any, a: Any, gain: Any) -> Any:
    return kn.forward_dynamics(model, q, v, _driven(model, v, q, gain) - a) * gain


@kn.kernel
def moved(model: kn.Model, q: Any, v: Any, a: Any, gain: Any) -> Any:
    """At positions that are no argument."""
    q = kn.integrate(model, q, 0.1 * v)
    return kn.forward_dynamics(model, q, v, gain * a), kn.inverse_dynamics(model, q, a, v)


@kn.kernel
def heavier(model: kn.Model, q: Any, v: Any, a: Any, gain: Any) -> Any:
    """By a parameter of the model too, with which forces change as well."""
    load = attach(model, model.frame_names[-1], Inertia.of(gain, (0.0, 0.02, 0.1), POINT))
    return kn.forward_dynamics(load, q, v, gain * a), kn.inverse_dynamics(load, q, gain * v, a)


@kn.kernel
def pushed(model: kn.Model, q: Any, v: Any, a: Any, gain: Any, f_ext: Any) -> Any:
    """Under forces from outside that change as well, by themselves and with others."""
    return kn.forward_dynamics(model, q, v, gain * a, gain * f_ext), kn.inverse_dynamics(model, q, v, a, f_ext)


KERNELS = {f.__name__: f for f in (servo, driven, moved, heavier, pushed)}


def _arguments(model: kn.Model, q: Any, f: Function[..., Any]) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    v, a = rng.normal(size=(2, model.nv))
    forces = {"f_ext": rng.normal(size=(model.nb, 6))} if f is pushed else {}
    return {"q": q, "v": v, "a": a, "gain": 0.7, **forces}


def _jacobian(f: Function[..., Any], model: kn.Model, values: dict[str, Any], wrt: tuple[str, ...]) -> Any:
    """All entries, by the operations that remain."""
    program = f.derivatives.by("jacobian", wrt).program(model, **{name: np.shape(x) for name, x in values.items()})
    numbers = [float(x) for value in values.values() for x in np.ravel(value)]
    return np.array(program.evaluate(numbers))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("mechanism", ["tree", "floating", "ball", "couplings", "springs", "friction"])
def test_their_own_equations_say_what_their_operations_say(
    name: str, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, case = KERNELS[name], MECHANISMS[mechanism]()
    values = _arguments(case.model, case.q, f)
    wrt = ("q", "v", "a", "gain", *(("f_ext",) if f is pushed else ()))
    own = _jacobian(f, case.model, values, wrt)
    monkeypatch.setattr(own_slopes, "WORTH", NONE)
    plain = _jacobian(f, case.model, values, wrt)
    np.testing.assert_allclose(own, plain, rtol=0, atol=1e-10 * np.abs(plain).max())


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_of_random_mechanisms(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of joints of every kind."""
    model = kn.testing.random_tree(seed, nb=4)
    q = np.array(kn.testing.random_state(model, seed).q, float)
    values = _arguments(model, q, driven)
    rounding = 1e-13 * np.linalg.cond(kn.mass_matrix(model, q))
    for f, error in ((servo, 1e-10), (driven, max(1e-10, rounding))):
        with monkeypatch.context() as patch:
            patch.setattr(own_slopes, "WORTH", 1)
            own = _jacobian(f, model, values, ("q", "v", "a"))
            patch.setattr(own_slopes, "WORTH", NONE)
            plain = _jacobian(f, model, values, ("q", "v", "a"))
        np.testing.assert_allclose(own, plain, rtol=0, atol=error * np.abs(plain).max())


@pytest.mark.parametrize("robot", ["arm", "quadruped"])
@pytest.mark.parametrize("function", [kn.inverse_dynamics, kn.forward_dynamics], ids=["inverse", "forward"])
def test_they_take_no_more_than_by_themselves(
    robot: str, function: Function[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Operations of the derivatives of a kernel that calls the function, and of the function's own."""
    model, text = kn.robots.load(robot), function
    last = "a" if function is kn.inverse_dynamics else "tau"
    wrapped = kn.kernel(lambda model, q, v, x: text(model, q, v, x))

    def operations(f: Function[..., Any], x: str) -> int:
        shapes = {} if x == last else {x: (model.nv,)}
        return f.derivatives.by("jacobian", ("q", "v")).program(model, **shapes).count().total

    alone, inside = operations(function, last), operations(wrapped, "x")
    assert inside < 1.02 * alone
    monkeypatch.setattr(own_slopes, "WORTH", NONE)
    assert operations(wrapped, "x") > 1.1 * alone, "what it is worth"


@pytest.mark.parametrize("mechanism", ["floating", "ball"])
def test_by_the_entries_of_quaternions(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch, JAX and CasADi have them. What makes a quaternion longer changes nothing."""
    case = MECHANISMS[mechanism]()
    rng = np.random.default_rng(3)
    values = {"q": case.q, "v": rng.normal(size=case.model.nv), "a": rng.normal(size=case.model.nv)}

    def text(model: kn.Model, q: Any, v: Any, a: Any) -> Any:
        return kn.inverse_dynamics(model, q, v, a) - 2.0 * kn.forward_dynamics(model, 1.0 * q, v, a)

    jacobian = Jacobian(OfUser(("q", "v", "a"), (), text), ("q", "v", "a"))
    arguments = {name: Vector(x.tolist()) for name, x in values.items()}
    own = jacobian(case.model, **arguments)
    monkeypatch.setattr(own_slopes, "WORTH", NONE)
    plain = jacobian(case.model, **arguments)
    for name in values:
        found, wanted = _array(own[name]), _array(plain[name])
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
    away = np.array([*case.q[:4], *np.zeros(len(case.q) - 4)])
    assert np.abs(_array(own["q"]) @ away).max() < 1e-11 * np.abs(_array(own["q"])).max()


def _array(matrix: Any) -> Any:
    return np.array([[float(x) for x in row] for row in matrix.rows])
