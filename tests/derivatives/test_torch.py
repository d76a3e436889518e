"""Tensors of torch: its own checks of first and second derivatives, batches, float32, vmap, memory that is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knuckle as kn

from .mechanisms_for_autodiff import FUNCTIONS, arguments, ball_and_hinge, pendulum, stage

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
