"""Arrays of JAX: its own checks of first and second derivatives in both modes, jit, vmap, grad, batches, float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn

from .mechanisms_for_autodiff import FUNCTIONS, arguments, ball_and_hinge, pendulum, stage
from .rollouts_for_autodiff import DT, STEPS, loss_of, start, step

jax: Any = pytest.importorskip("jax")
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _in_double() -> Any:
    jax.config.update("jax_enable_x64", True)  # in every thread: calls back come from others than this one
    yield
    jax.config.update("jax_enable_x64", False)


def in_jax(arrays: list[Any]) -> list[Any]:
    return [jax.numpy.asarray(x) for x in arrays]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [1, 2])
def test_check_grads(name: str, order: int) -> None:
    """JAX's own differences agree with derivatives, forward and backward, and with those of derivatives."""
    from jax.test_util import check_grads

    model, function = ball_and_hinge(), FUNCTIONS[name]
    inputs = tuple(in_jax(arguments(name, model, () if order == 2 else (2,))))
    check_grads(lambda *x: function(model, *x), inputs, order=order, modes=("fwd", "rev"), rtol=1e-5, atol=1e-5)


def test_jit_vmap_and_grad_compose() -> None:
    model = ball_and_hinge()
    q, v, tau = in_jax(arguments("forward dynamics", model, (4,)))

    def call(q: Any, v: Any, tau: Any) -> Any:
        return kn.forward_dynamics(model, q, v, tau)

    expected = call(q, v, tau)
    np.testing.assert_array_equal(jax.jit(call)(q, v, tau), expected)
    np.testing.assert_array_equal(jax.vmap(call)(q, v, tau), expected)
    np.testing.assert_array_equal(jax.jit(jax.vmap(call, in_axes=(0, 0, None)))(q, v, tau[1]), call(q, v, tau[1]))
    inverse = kn.mass_matrix_inverse(model, np.asarray(q))
    for slopes in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(
            jax.jit(jax.vmap(slopes(call, argnums=2)))(q, v, tau), inverse, rtol=1e-9, atol=1e-12
        )


def test_gradient_of_energy_is_momentum_and_its_curvature_the_mass_matrix() -> None:
    model = ball_and_hinge()
    q, v = in_jax(arguments("energy", model, ()))
    H = kn.mass_matrix(model, np.asarray(q))
    energy = lambda v: kn.kinetic_energy(model, q, v)  # noqa: E731
    np.testing.assert_allclose(jax.jit(jax.grad(energy))(v), H @ np.asarray(v), rtol=1e-12)
    np.testing.assert_allclose(jax.hessian(energy)(v), H, rtol=1e-12, atol=1e-14)


def test_arguments_broadcast() -> None:
    """An argument that is shared among states gathers the derivatives of all of them."""
    model = pendulum()
    q = jax.numpy.linspace(-1.0, 1.0, 6).reshape(3, 1, 2)
    v = jax.numpy.linspace(0.5, 2.0, 8).reshape(4, 2)
    a = jax.numpy.array([0.3, -0.4])
    assert kn.inverse_dynamics(model, q, v, a).shape == (3, 4, 2)
    slope = jax.grad(lambda a: kn.inverse_dynamics(model, q, v, a).sum())(a)
    H = kn.mass_matrix(model, np.broadcast_to(np.asarray(q), (3, 4, 2)))
    np.testing.assert_allclose(slope, H.sum((0, 1, 2)), rtol=1e-12)


def test_a_number_may_be_traced() -> None:
    model = pendulum()
    q, v, stiffness = in_jax(arguments("kernel", model, ()))
    slope = jax.jit(jax.grad(lambda k: stage(model, q, v, k)[1]))(stiffness)
    np.testing.assert_allclose(slope, 0.5 * q @ q, rtol=1e-12)


def test_float32_stays_float32() -> None:
    model = pendulum()
    with jax.enable_x64(False):
        rounded = in_jax(arguments("inverse dynamics", model, (5,)))
        assert rounded[0].dtype == np.float32
        assert kn.inverse_dynamics(model, *rounded).dtype == np.float32
        slope = jax.jit(jax.grad(lambda q: (kn.inverse_dynamics(model, q, *rounded[1:]) ** 2).sum()))(rounded[0])
        assert slope.dtype == np.float32
    exact = in_jax(arguments("inverse dynamics", model, (5,)))
    expected = jax.grad(lambda q: (kn.inverse_dynamics(model, q, *exact[1:]) ** 2).sum())(exact[0])
    np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-4)


def test_memory_of_arguments_is_shared_with_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the compiled code reads is the memory of the arrays."""
    from knuckle.engine.calls import jax_arrays

    model = pendulum()
    inputs = in_jax(arguments("inverse dynamics", model, (64,)))
    read: list[Any] = []
    on_host = jax_arrays.on_host

    def watched(function: Any, model: Any, call: Any, arrays: Any) -> Any:
        read.append([x.ctypes.data for x in arrays])
        return on_host(function, model, call, arrays)

    monkeypatch.setattr(jax_arrays, "on_host", watched)
    kn.inverse_dynamics(model, *inputs).block_until_ready()
    assert read == [[x.unsafe_buffer_pointer() for x in inputs]]


class TestRollouts:
    @pytest.mark.parametrize("batch", [(), (3,)], ids=["one", "three"])
    def test_check_grads_of_a_loss(self, batch: tuple[int, ...]) -> None:
        from jax.test_util import check_grads

        model = pendulum()
        inputs = tuple(in_jax(start(model, batch)))
        assert loss_of(model, *inputs).shape == batch
        check_grads(lambda *x: loss_of(model, *x), inputs, order=1, modes=("fwd", "rev"), rtol=1e-6, atol=1e-6)

    def test_jit_and_vmap(self) -> None:
        model = pendulum()
        q0, v0, tau, weight = in_jax(start(model, (3,)))
        slope = jax.jit(jax.vmap(jax.grad(lambda *x: loss_of(model, *x), argnums=2), in_axes=(0, 0, None, None)))
        together = jax.grad(lambda tau: loss_of(model, q0, v0, tau, weight).sum())(tau)
        np.testing.assert_allclose(slope(q0, v0, tau, weight).sum(0), together, rtol=1e-12, atol=1e-14)

    @pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "two"])
    def test_check_grads_of_the_second_order(self, batch: tuple[int, ...]) -> None:
        from jax.test_util import check_grads

        model = pendulum()
        inputs = tuple(in_jax(start(model, batch)))
        check_grads(lambda *x: loss_of(model, *x), inputs, order=2, modes=("fwd", "rev"), rtol=1e-5, atol=1e-5)

    def test_check_grads_along_quaternions(self) -> None:
        """Through `kn.integrate`, whose second derivatives are those of entries."""
        from jax.test_util import check_grads

        model = ball_and_hinge()
        q0, v0, tau, weight = in_jax(start(model))

        def loss(way: Any, v0: Any) -> Any:
            return loss_of(model, kn.integrate(model, q0, way), v0, tau, weight)

        way = jax.numpy.linspace(-0.2, 0.3, model.nv)
        check_grads(loss, (way, v0), order=2, modes=("fwd", "rev"), rtol=1e-5, atol=1e-5)

    def test_hessian_under_jit_by_both_modes(self) -> None:
        model = pendulum()
        q0, v0, tau, weight = in_jax(start(model))
        loss = lambda tau: loss_of(model, q0, v0, tau, weight)  # noqa: E731
        H = jax.jit(jax.hessian(loss))(tau)
        assert H.shape == (*tau.shape, *tau.shape)
        np.testing.assert_allclose(H, jax.jacrev(jax.jacrev(loss))(tau), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(H, np.transpose(H, (2, 3, 0, 1)), rtol=1e-10, atol=1e-12)

    def test_third_derivatives_are_refused(self) -> None:
        model = pendulum()
        q0, v0, tau, weight = in_jax(start(model))
        with pytest.raises(NotImplementedError, match="no third"):
            jax.jacfwd(jax.hessian(lambda v: loss_of(model, q0, v, tau, weight)))(v0)

    def test_check_grads_of_steps_one_after_the_other(self) -> None:
        """A rollout of single steps, each a kernel, has second derivatives; its loss is that of the compiled one."""
        from jax.test_util import check_grads

        model = pendulum()
        q0, v0, tau, weight = in_jax(start(model))

        @jax.jit
        def loss(q: Any, v: Any, tau: Any) -> Any:
            total = 0.0
            for k in range(STEPS):
                total = total + weight * (tau[k] @ tau[k]) + v @ v
                q, v = step(model, q, v, tau[k], DT)
            return total + kn.potential_energy(model, q) + v @ v

        np.testing.assert_allclose(loss(q0, v0, tau), loss_of(model, q0, v0, tau, weight), rtol=1e-12)
        check_grads(loss, (q0, v0, tau), order=2, modes=("fwd", "rev"), rtol=1e-4, atol=1e-4)
