"""Laws of derivatives: energies and their gradients, second derivatives, parameters of the model, kernels of users."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.model.edit import attach, with_joint
from knuckle.scalar import sqrt
from knuckle.spatial import Inertia, Transform

from .cases import MECHANISMS

POINT = ((0.0, 0.0, 0.0),) * 3
RNG = np.random.default_rng(0)


def close(found: Any, wanted: Any, rounding: float = 1e-11) -> None:
    size = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=rounding * size)


@pytest.fixture(scope="module")
def floating() -> Any:
    return MECHANISMS["floating"]()


def test_the_gradient_of_kinetic_energy_is_momentum_and_its_curvature_the_mass_matrix(floating: Any) -> None:
    model, q = floating.model, floating.q
    v = RNG.normal(size=model.nv)
    H = kn.mass_matrix(model, q)
    close(kn.kinetic_energy.grad(model, q, v, wrt="v")["v"], H @ v)
    close(kn.kinetic_energy.hessian(model, q, v, wrt="v")["v"]["v"], H)


def test_the_gradient_of_potential_energy_is_what_holds_against_gravity(floating: Any) -> None:
    model, q = floating.model, floating.q
    close(kn.potential_energy.grad(model, q)["q"], kn.gravity_force(model, q))


def test_the_second_derivatives_along_a_turning_base_differ_by_the_bracket(floating: Any) -> None:
    """X_i X_j f − X_j X_i f = [X_i, X_j] f: turning about x, then y, is not y, then x."""
    model, q = floating.model, floating.q
    g = kn.potential_energy.grad(model, q)["q"]
    H = kn.potential_energy.hessian(model, q)["q"]["q"]
    bracket = np.zeros_like(H)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        bracket[i, j], bracket[j, i] = g[k], -g[k]  # two turns
        for a, b, sign in ((j, k, 1.0), (k, j, -1.0)):
            bracket[i, 3 + a] += sign * g[3 + b]  # a turn and a way, in coordinates of the body
            bracket[3 + a, i] -= sign * g[3 + b]
    assert np.abs(H - H.T).max() > 1e-3
    close(np.abs(H - H.T), np.abs(bracket))


def test_forward_over_inverse(floating: Any) -> None:
    """∂FD = −H⁻¹ ∂ID at the acceleration that forward dynamics gives."""
    model, q = floating.model, floating.q
    v, tau = RNG.normal(size=(2, model.nv))
    a, H = kn.forward_dynamics(model, q, v, tau), kn.mass_matrix(model, q)
    FD = kn.forward_dynamics.jacobian(model, q, v, tau)
    ID = kn.inverse_dynamics.jacobian(model, q, v, a)
    close(FD["q"], -np.linalg.solve(H, ID["q"]), 1e-10)
    close(FD["v"], -np.linalg.solve(H, ID["v"]), 1e-10)
    close(FD["tau"] @ H, np.eye(model.nv), 1e-10)
    close(ID["a"], H)


@kn.kernel
def loaded(model: kn.Model, q: Any, v: Any, tau: Any, mass: Any, length: Any) -> Any:
    """The acceleration with a point mass on the last frame, and the last joint at another distance."""
    longer = with_joint(model, model.joint_names[-1], X_tree=Transform.translation((0.0, 0.0, length)))
    return kn.forward_dynamics(
        attach(longer, longer.frame_names[-1], Inertia.of(mass, (0.0, 0.0, 0.1), POINT)), q, v, tau
    )


def test_parameters_of_the_model_are_arguments_to_differentiate_by() -> None:
    model = MECHANISMS["tree"]().model
    q, v, tau = RNG.normal(size=(3, model.nv))
    found = loaded.jacobian(model, q, v, tau, 0.7, 0.4, wrt=("mass", "length"))
    h = 1e-30
    for name, args in {"mass": (0.7 + 1j * h, 0.4), "length": (0.7, 0.4 + 1j * h)}.items():
        mass, length = args
        longer = with_joint(model, model.joint_names[-1], X_tree=Transform.translation((0.0, 0.0, length)))
        heavy = attach(longer, longer.frame_names[-1], Inertia.of(mass, (0.0, 0.0, 0.1), POINT))
        moved = kn.forward_dynamics.reference(heavy, q.tolist(), v.tolist(), tau.tolist())
        close(found[name], np.array([complex(x).imag / h for x in moved]))


@kn.kernel
def several(model: kn.Model, q: Any, v: Any, gain: Any) -> Any:
    return {"force": gain * kn.gravity_force(model, q), "energy": (kn.kinetic_energy(model, q, v), v)}


def test_several_results_have_weights_like_them(floating: Any) -> None:
    model, q = floating.model, floating.q
    v, w, u = RNG.normal(size=(3, model.nv))
    found = several.vjp(model, q, v, 2.0, weight={"force": w, "energy": (0.5, u)})
    close(found["gain"], w @ kn.gravity_force(model, q))
    close(found["v"], 0.5 * kn.mass_matrix(model, q) @ v + u)
    J = several.jacobian(model, q, v, 2.0, wrt="v")["v"]
    close(J["energy"][1], np.eye(model.nv))
    with pytest.raises(TypeError, match="takes 2 weights named force, energy"):
        several.vjp(model, q, v, 2.0, weight=w)


def test_batches_have_the_derivatives_of_each_state(floating: Any) -> None:
    model = floating.model
    q = np.stack([kn.random_configuration(model, k) for k in range(6)]).reshape(2, 3, -1)
    J = kn.gravity_force.jacobian(model, q)["q"]
    assert J.shape == (2, 3, model.nv, model.nv)
    close(J[1, 2], kn.gravity_force.jacobian(model, q[1, 2])["q"])
    packed = kn.gravity_force.jacobian(model, q, layout="packed")["q"]
    pattern = kn.gravity_force.pattern(model)["q"]
    assert packed.shape[-1] == pattern.count < model.nv**2
    np.testing.assert_array_equal(pattern.dense(packed) == 0, J == 0)
    close(pattern.dense(packed), J)
    blocks = kn.gravity_force.jacobian(model, q, layout="blocks")
    assert blocks.values.shape[1] <= pattern.count
    close(blocks.dense("q"), J)
    assert kn.gravity_force.jacobian(model, q[:0], layout="blocks").dense("q").shape == (0, 3, model.nv, model.nv)


def test_large_results_in_blocks(floating: Any) -> None:
    """Those that no cache holds are written another way; so is a part of them that begins anywhere."""
    model = floating.model
    few = np.stack([kn.random_configuration(model, k) for k in range(5)])
    count = kn.gravity_force.jacobian(model, few, layout="blocks").values.shape[1]
    q = np.tile(few, ((1 << 22) // (8 * count * len(few)) + 2, 1))
    blocks = kn.gravity_force.jacobian(model, q, layout="blocks")
    assert blocks.values.nbytes > 1 << 22
    np.testing.assert_array_equal(blocks.dense("q"), kn.gravity_force.jacobian(model, q)["q"])
    for states in (1023, 1024, 1029):  # where they begin to count as large, and none is left over or missed
        some = kn.gravity_force.jacobian(model, q[:states], layout="blocks")
        assert some.values.ctypes.data % 64 == 0
        np.testing.assert_array_equal(some.dense("q"), blocks.dense("q")[:states])


def test_a_derivative_is_a_function_that_is_found_again(floating: Any) -> None:
    gradient = kn.kinetic_energy.derivatives.by("grad", ("q",))
    assert pickle.loads(pickle.dumps(gradient)) is gradient
    assert kn.compilation.operation_count(gradient, floating.model).total > 0


@kn.kernel
def chosen(model: kn.Model, q: Any) -> Any:
    """1 − cos(r)/… at r = 0 and elsewhere: what is not chosen is infinite at zero."""
    r2 = q @ q
    r = sqrt(r2)
    return kn.where(r2 < 1e-20, 1.0 - r2 / 6.0, (r - r * r2 / 6.0) / r)


def test_what_is_not_chosen_does_not_spoil_gradients() -> None:
    model = MECHANISMS["tree"]().model
    assert np.all(chosen.grad(model, np.zeros(3))["q"] == 0)
    q = np.array([0.1, -0.2, 0.3])
    close(chosen.grad(model, q)["q"], -q / 3)
    close(chosen.hessian(model, np.zeros(3))["q"]["q"], -np.eye(3) / 3)


WEIGHTS = np.random.default_rng(4).normal(size=(20, 16))


@kn.kernel(matrices=("second",))
def network(model: kn.Model, x: Any, second: Any) -> Any:
    return np.sum(second @ np.tanh(WEIGHTS @ x))


def test_networks_have_gradients() -> None:
    """Products of large matrices are loops, of constants and of arguments."""
    model, x, second = MECHANISMS["tree"]().model, RNG.normal(size=16), RNG.normal(size=(18, 20))
    inner = np.tanh(WEIGHTS @ x)
    found = network.grad(model, x, second)
    close(found["x"], (second.sum(0) * (1 - inner**2)) @ WEIGHTS)
    close(found["second"], np.tile(inner, (18, 1)))
    _, rate = network.jvp(model, x, second, along={"x": x, "second": second})
    close(rate, found["x"] @ x + np.sum(found["second"] * second))


def test_wrong_names_and_shapes_are_said(floating: Any) -> None:
    model, q = floating.model, floating.q
    v = np.zeros(model.nv)
    with pytest.raises(TypeError, match="wrt names arguments of kinetic_energy: q, v, not 'x'"):
        kn.kinetic_energy.grad(model, q, v, wrt="x")
    with pytest.raises(TypeError, match="twice"):
        kn.kinetic_energy.grad(model, q, v, wrt=("q", "q"))
    with pytest.raises(TypeError, match="gives 7 numbers, and has a gradient where it gives one"):
        kn.gravity_force.grad(model, q)
    with pytest.raises(ValueError, match=r"weight has shape \(3,\), and must have shape \(\.\.\., 7\)"):
        kn.gravity_force.vjp(model, q, weight=np.zeros(3))
    with pytest.raises(ValueError, match="along_q has shape"):
        kn.gravity_force.jvp(model, q, along={"q": q})
    with pytest.raises(ValueError, match='layout is "dense", "packed" or "blocks"'):
        kn.gravity_force.jacobian(model, q, layout="sparse")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"inverse_dynamics is not differentiated by 'f_ext': .* are q, v, a"):
        kn.inverse_dynamics.jacobian(model, q, v, v, wrt="f_ext")
    with pytest.raises(TypeError, match=r"knuckle\.Model"):
        kn.gravity_force.jacobian(q)  # type: ignore[arg-type]
