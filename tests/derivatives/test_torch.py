"""Tensors of torch: its own checks of first and second derivatives, batches, float32, vmap, memory that is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knuckle as kn

from .mechanisms_for_autodiff import FUNCTIONS, arguments, ball_and_hinge, pendulum, stage
from .rollouts_for_autodiff import DT, STEPS, cost, final, loss_of, start, step

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.slow


def tensors(arrays: list[Any], dtype: Any = None) -> list[Any]:
    return [torch.tensor(x, dtype=dtype or torch.float64, requires_grad=True) for x in arrays]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "two"])
def test_gradcheck_and_gradgradcheck(name: str, batch: tuple[int, ...]) -> None:
    """Torch's own differences agree with derivatives and with derivatives of derivatives, in both modes."""
    model = ball_and_hinge()
    function = FUNCTIONS[name]
    inputs = tensors(arguments(name, model, batch))

    def call(*values: Any) -> Any:
        return function(model, *values)

    assert torch.autograd.gradcheck(call, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, inputs)


def test_arguments_broadcast() -> None:
    """An argument that is shared among states gathers the derivatives of all of them."""
    model = pendulum()
    q = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64).reshape(3, 1, 2).requires_grad_()
    v = torch.linspace(0.5, 2.0, 8, dtype=torch.float64).reshape(4, 2).requires_grad_()
    a = torch.tensor([0.3, -0.4], dtype=torch.float64, requires_grad=True)
    result = kn.inverse_dynamics(model, q, v, a)
    assert result.shape == (3, 4, 2)
    assert torch.autograd.gradcheck(lambda *x: kn.inverse_dynamics(model, *x), (q, v, a))
    result.sum().backward()
    H = kn.mass_matrix(model, np.broadcast_to(q.detach().numpy(), (3, 4, 2)))
    np.testing.assert_allclose(a.grad, H.sum((0, 1, 2)), rtol=1e-12)


def test_a_number_may_be_a_tensor() -> None:
    model = pendulum()
    q, v, _ = (torch.tensor(x) for x in arguments("inverse dynamics", model, ()))
    stiffness = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
    force, energy = stage(model, q, v, stiffness)
    (slope,) = torch.autograd.grad(energy, stiffness)
    np.testing.assert_allclose(slope, 0.5 * q @ q, rtol=1e-12)
    assert force.shape == (2,)


def test_float32_stays_float32() -> None:
    model = pendulum()
    inputs = tensors(arguments("inverse dynamics", model, (5,)), torch.float32)
    result = kn.inverse_dynamics(model, *inputs)
    assert result.dtype == torch.float32
    result.square().sum().backward()
    exact = tensors([x.detach().numpy() for x in inputs])
    kn.inverse_dynamics(model, *exact).square().sum().backward()
    for rounded, x in zip(inputs, exact, strict=True):
        assert rounded.grad.dtype == torch.float32
        np.testing.assert_allclose(rounded.grad, x.grad, rtol=1e-4, atol=1e-4)


def test_vmap_is_a_batch() -> None:
    model = ball_and_hinge()
    q, v, tau = (torch.tensor(x) for x in arguments("forward dynamics", model, (4,)))

    def call(q: Any, v: Any, tau: Any) -> Any:
        return kn.forward_dynamics(model, q, v, tau)

    expected = call(q, v, tau)
    torch.testing.assert_close(torch.func.vmap(call)(q, v, tau), expected)
    torch.testing.assert_close(torch.func.vmap(call, in_dims=(0, 0, None))(q, v, tau[0]), call(q, v, tau[0]))
    slopes = torch.func.vmap(torch.func.jacrev(call, argnums=2))(q, v, tau)
    np.testing.assert_allclose(slopes, kn.mass_matrix_inverse(model, q.numpy()), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(torch.func.vmap(torch.func.jacfwd(call, argnums=2))(q, v, tau), slopes)


def test_hessian_of_energy_is_the_mass_matrix() -> None:
    model = ball_and_hinge()
    q, v = (torch.tensor(x) for x in arguments("energy", model, ()))
    H = torch.func.hessian(lambda v: kn.kinetic_energy(model, q, v))(v)
    np.testing.assert_allclose(H, kn.mass_matrix(model, q.numpy()), rtol=1e-12, atol=1e-14)


def test_what_torch_has_around_is_differentiated_with_it() -> None:
    """A network before the dynamics: its weights receive gradients through them."""
    model = pendulum()
    q, v, _ = (torch.tensor(x) for x in arguments("inverse dynamics", model, (3,)))
    weights = torch.full((2, 4), 0.1, dtype=torch.float64, requires_grad=True)

    def loss(weights: Any) -> Any:
        tau = torch.tanh(torch.cat([q, v], -1) @ weights.T)
        return kn.forward_dynamics(model, q, v, tau).square().sum()

    assert torch.autograd.gradcheck(loss, (weights,))


def test_memory_is_shared_with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the compiled code reads is the memory of the tensor, and what it writes becomes the memory of the result."""
    model = pendulum()
    inputs = [torch.tensor(x) for x in arguments("inverse dynamics", model, (7,))]
    read: list[int] = []
    written: list[int] = []
    wrap = _watched(read, written)
    monkeypatch.setattr("knuckle.engine.calls.torch_tensors.on_host", wrap)
    result = kn.inverse_dynamics(model, *inputs)
    assert read == [x.data_ptr() for x in inputs]
    assert written == [result.data_ptr()]


def _watched(read: list[int], written: list[int]) -> Callable[..., Any]:
    from knuckle.engine.calls.torch_tensors import on_host

    def call(function: Any, model: Any, call: Any, arrays: Any) -> Any:
        read.extend(x.ctypes.data for x in arrays)
        results = on_host(function, model, call, arrays)
        written.extend(x.ctypes.data for x in results)
        return results

    return call


class TestRollouts:
    @pytest.mark.parametrize("batch", [(), (3,)], ids=["one", "three"])
    def test_gradcheck_of_a_loss(self, batch: tuple[int, ...]) -> None:
        model = pendulum()
        inputs = tensors(start(model, batch))
        assert loss_of(model, *inputs).shape == batch
        assert torch.autograd.gradcheck(lambda *x: loss_of(model, *x), inputs, check_forward_ad=True)

    def test_forces_that_stay(self) -> None:
        model = pendulum()
        q0, v0, tau, weight = tensors(start(model))
        for shape in ((2,), (1, 2), (3, 1, 2)):
            held = tau[0].detach().expand(shape).clone().requires_grad_()
            assert torch.autograd.gradcheck(lambda x: loss_of(model, q0, v0, x, weight), (held,))

    def test_positions_with_quaternions_have_tangent_gradients(self) -> None:
        """Through `kn.integrate` they are those along the velocity variables, and none is along the quaternion."""
        model = ball_and_hinge()
        q0, v0, tau, weight = (torch.tensor(x) for x in start(model))
        way = torch.zeros(model.nv, dtype=torch.float64, requires_grad=True)
        (along,) = torch.autograd.grad(loss_of(model, kn.integrate(model, q0, way), v0, tau, weight), way)
        (entries,) = torch.autograd.grad(loss_of(model, q0.requires_grad_(), v0, tau, weight), q0)
        arrays = [x.detach().numpy() for x in (q0, v0, tau)]
        exact = kn.rollout_gradient(
            model, cost, *arrays, DT, steps=STEPS, final_loss=final, integrator="euler", parameters={"weight": 0.3}
        )["q0"]
        np.testing.assert_allclose(along, exact, rtol=1e-10, atol=1e-12)
        assert abs(entries[:4] @ q0[:4]) < 1e-12

    @pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "two"])
    def test_gradgradcheck_of_a_loss(self, batch: tuple[int, ...]) -> None:
        """Second derivatives, backward over backward and forward over backward."""
        model = pendulum()
        inputs = tensors(start(model, batch))
        assert torch.autograd.gradgradcheck(lambda *x: loss_of(model, *x), inputs, check_fwd_over_rev=True)

    def test_gradgradcheck_along_quaternions(self) -> None:
        """Through `kn.integrate`, whose second derivatives are those of entries."""
        model = ball_and_hinge()
        q0, v0, tau, weight = tensors(start(model))
        way = torch.tensor(np.linspace(-0.2, 0.3, model.nv), requires_grad=True)

        def loss(way: Any, v0: Any) -> Any:
            return loss_of(model, kn.integrate(model, q0.detach(), way), v0, tau.detach(), weight.detach())

        assert torch.autograd.gradgradcheck(loss, (way, v0))

    def test_hessian_is_symmetric_and_that_of_products(self) -> None:
        model = pendulum()
        q0, v0, tau, weight = (torch.tensor(x) for x in start(model))
        H = torch.func.hessian(lambda v: loss_of(model, q0, v, tau, weight))(v0)
        arrays = [x.numpy() for x in (q0, v0, tau)]
        products = kn.rollout_gradient(
            model, cost, *arrays, DT, steps=STEPS, final_loss=final, integrator="euler", parameters={"weight": 0.3},
            direction={"v0": np.eye(model.nv)}, wrt="v0",
        ).hessian_product  # fmt: skip
        assert products is not None
        np.testing.assert_allclose(H, products["v0"], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(H, H.T, rtol=1e-12, atol=1e-13)

    def test_controls_of_actuators(self) -> None:
        """By what actuators are told at every step, and by where their states begin, of both orders."""
        plain = pendulum()
        slow = kn.actuators.ActuatorDynamics("filter", 0.05)
        own = [kn.actuators.Actuator(x, kn.actuators.AtJoints((x,), (1.0,)), dynamics=slow) for x in plain.joint_names]
        model = plain.replace(actuators=tuple(own))
        q0, v0, u, _ = (torch.tensor(x) for x in start(model))

        def loss(u: Any, a: Any) -> Any:
            return kn.simulation.rollout_loss(
                model, None, q0, v0, None, DT, steps=STEPS, final_loss=final, integrator="euler", controls=u,
                actuator_states0=a,
            )  # fmt: skip

        inputs = (u.requires_grad_(), torch.tensor([0.1, -0.2], dtype=torch.float64, requires_grad=True))
        assert torch.autograd.gradcheck(loss, inputs)
        assert torch.autograd.gradgradcheck(loss, inputs)

    def test_third_derivatives_are_refused(self) -> None:
        model = pendulum()
        q0, v0, tau, weight = tensors(start(model))
        (slope,) = torch.autograd.grad(loss_of(model, q0, v0, tau, weight), v0, create_graph=True)
        (curve,) = torch.autograd.grad(slope.sum(), v0, create_graph=True)
        with pytest.raises(NotImplementedError, match="no third"):
            torch.autograd.grad(curve.sum(), v0)

    def test_gradgradcheck_of_steps_one_after_the_other(self) -> None:
        """A rollout of single steps, each a kernel, has second derivatives; its loss is that of the compiled one."""
        model = pendulum()
        q0, v0, tau, weight = tensors(start(model))

        def loss(q: Any, v: Any, tau: Any) -> Any:
            total = 0.0
            for k in range(STEPS):
                total = total + weight.detach() * (tau[k] @ tau[k]) + v @ v
                q, v = step(model, q, v, tau[k], DT)
            return total + kn.potential_energy(model, q) + v @ v

        torch.testing.assert_close(loss(q0, v0, tau), loss_of(model, q0, v0, tau, weight))
        assert torch.autograd.gradcheck(loss, (q0, v0, tau))
        assert torch.autograd.gradgradcheck(loss, (q0, v0, tau))
