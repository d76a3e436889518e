"""Second derivatives of losses of rollouts, times directions: closed forms, differences of gradients, symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators.registry import INTEGRATORS
from knuckle.joints import Prismatic, Revolute
from knuckle.model import solid_box
from knuckle.simulation.gradients.position_entries import PositionEntries

from .rollout_mechanisms import arm, flying

Array = np.ndarray[Any, Any]
SMOOTH = [name for name in INTEGRATORS if name != "contact"]
AROUND = np.array([-2, -1, 1, 2])
WEIGHTS = np.array([1, -8, 8, -1]) / 12


@kn.kernel
def effort(model: kn.Model, q: Any, v: Any, tau: Any) -> Any:
    return 0.1 * (v @ v) * (q @ q) + 0.2 * (tau @ tau)


@kn.kernel
def end(model: kn.Model, q: Any, v: Any) -> Any:
    return q @ q + v @ v + q[0] * v[0] * v[1]


def check_by_differences(model: kn.Model, integrator: str, tol: float = 1e-8, steps: int = 5, dt: float = 0.01) -> None:
    """The gradients change along a direction of all arguments as products say, and so does the loss."""
    rng = np.random.default_rng(2)
    q, v = (x := kn.testing.random_state(model, 1)).q, 0.3 * x.v
    tau = 0.1 * rng.normal(size=(steps, model.nv))
    way = {"q0": rng.normal(size=model.nv), "v0": rng.normal(size=model.nv), "tau": rng.normal(size=tau.shape)}

    def go(s: Any, **options: Any) -> Any:
        s = np.asarray(s)
        return kn.rollout_gradient(
            model, effort, kn.integrate(model, q, np.multiply.outer(s, way["q0"])),
            v + np.multiply.outer(s, way["v0"]), tau + np.multiply.outer(s, way["tau"]),
            dt, steps=steps, final_loss=end, integrator=integrator, **options,
        )  # fmt: skip

    found, e = go(0.0, direction=way), 1e-3
    around = go(e * AROUND)
    assert np.isclose(found.rate, WEIGHTS @ around.loss / e, rtol=tol)
    for name, x in found.hessian_product.items():
        expected = np.tensordot(WEIGHTS, around[name], 1) / e
        assert x.shape == found[name].shape == expected.shape
        assert np.allclose(x, expected, rtol=tol, atol=tol * np.abs(expected).max()), name
    little = go(0.0, direction=way, memory=1)
    assert 1 < little.kept_every < steps == found.kept_every
    assert all((little.hessian_product[name] == x).all() for name, x in found.hessian_product.items())
    assert all(np.allclose(go(0.0)[name], x, rtol=1e-13, atol=1e-15) for name, x in found.gradients.items())


class TestDifferences:
    @pytest.mark.slow
    @pytest.mark.parametrize("integrator", SMOOTH)
    def test_arm_by_every_integrator(self, integrator: str) -> None:
        check_by_differences(arm(), integrator)

    @pytest.mark.slow
    @pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit"])
    def test_quaternions(self, integrator: str) -> None:
        check_by_differences(flying(), integrator, tol=1e-7)

    @pytest.mark.slow
    def test_parameters(self) -> None:
        """Gains of the controller, a reference over time, a mass: each changes the gradients by all the others."""
        model, steps = arm(), 3
        rng = np.random.default_rng(4)
        values: dict[str, Any] = {"gain": 0.3, "rest": np.array([0.1, -0.2]), "path": rng.normal(size=(steps, 2))}
        values["mass"] = 0.8

        @kn.kernel
        def holding(model: kn.Model, q: Any, v: Any, gain: Any, rest: Any) -> Any:
            return gain * (rest - q) - gain * gain * v

        @kn.kernel
        def away(model: kn.Model, q: Any, tau: Any, path: Any) -> Any:
            return (q - path) @ (q - path) + tau @ tau

        @kn.kernel
        def last(model: kn.Model, v: Any, gain: Any) -> Any:
            return gain * gain * (v @ v)

        def loaded(model: kn.Model, mass: Any) -> kn.Model:
            b = kn.Builder("arm")
            b.body("a", joint=Revolute((0.0, 1.0, 0.0)), inertia=solid_box(1.0, (0.5, 0.1, 0.2)), damping=0.05)
            load = solid_box(mass, (0.4, 0.1, 0.1))
            b.body("b", "a", Revolute((0.0, 0.6, 0.8)), dict(xyz=(0.5, 0.0, 0.0)), inertia=load)
            return b.build()

        way = {name: rng.normal(size=np.shape(x)) for name, x in values.items()}

        def go(s: float, **options: Any) -> Any:
            return kn.rollout_gradient(
                model, away, [0.3, -0.4], [0.5, 0.2], dt=0.02, steps=steps, final_loss=last, controller=holding,
                model_fn=loaded, parameters={name: x + s * way[name] for name, x in values.items()},
                time_varying=["path"], integrator="euler", **options,
            )  # fmt: skip

        found, e = go(0.0, direction=way), 1e-3
        around = [go(s * e) for s in AROUND]
        for name, x in found.hessian_product.items():
            expected = sum(w * near[name] for w, near in zip(WEIGHTS, around, strict=True)) / e
            assert np.allclose(x, expected, rtol=1e-8, atol=1e-9), name


class TestLaws:
    def test_double_integrator(self) -> None:
        """q_N² with q_N = q0 + N dt v0 + dt²/m Σ (N − k) τ_k: its second derivatives are 2 ∂q_N ∂q_Nᵀ."""
        N, dt, mass = 5, 0.1, 2.0
        b = kn.Builder("sledge")
        b.body("sledge", joint=Prismatic((1.0, 0.0, 0.0)), inertia=solid_box(mass, (0.1, 0.1, 0.1)))

        @kn.kernel
        def square(model: kn.Model, q: Any) -> Any:
            return q[0] * q[0]

        way = {"q0": [0.7], "v0": [-0.4], "tau": np.linspace(-1, 1, N)[:, None]}
        found = kn.rollout_gradient(
            b.build(), None, [0.3], [0.2], np.ones((N, 1)), dt, steps=N, final_loss=square, integrator="euler",
            direction=way,
        )  # fmt: skip
        slopes = dt**2 / mass * (N - np.arange(N))
        rate = 0.7 - 0.4 * N * dt + slopes @ way["tau"][:, 0]
        products = found.hessian_product
        assert products is not None
        assert np.allclose(products["q0"], 2 * rate, rtol=1e-13)
        assert np.allclose(products["v0"], 2 * N * dt * rate, rtol=1e-13)
        assert np.allclose(products["tau"][:, 0], 2 * slopes * rate, rtol=1e-13)

    def test_a_batch_of_directions_is_a_symmetric_matrix(self) -> None:
        """Its rows are differences of gradients."""
        model, v = arm(), np.array([0.5, 0.2])
        options: Any = {"steps": 4, "final_loss": end, "integrator": "euler"}
        found = kn.rollout_gradient(
            model, effort, [0.3, -0.4], v, [0.1, 0.2], 0.02, **options,
            direction={"q0": np.eye(6)[:, :2], "v0": np.eye(6)[:, 2:4], "tau": np.eye(6)[:, None, 4:]},
        )  # fmt: skip
        assert found.loss.shape == (6,)
        assert found.hessian_product is not None
        H = np.concatenate([found.hessian_product[name] for name in ("q0", "v0", "tau")], -1)
        assert np.allclose(H, H.T, rtol=1e-12, atol=1e-13)
        assert np.linalg.matrix_rank(H) == 6
        vs = v + 1e-3 * np.outer(AROUND, [0.0, 1.0])
        near = kn.rollout_gradient(model, effort, [0.3, -0.4], vs, [0.1, 0.2], 0.02, **options)
        expected = [WEIGHTS @ near[name] / 1e-3 for name in ("q0", "v0", "tau")]
        assert np.allclose(H[3], np.concatenate(expected), rtol=1e-9, atol=1e-9)

    def test_second_derivatives_by_entries_of_quaternions(self) -> None:
        """Those of the function of normalised positions, in all directions, also across."""
        model = flying()
        q = kn.testing.random_state(model, 3).q

        @kn.kernel
        def height(model: kn.Model, q: Any) -> Any:
            tip = kn.pose(model, q, "ball")
            return kn.potential_energy(model, q) + tip[0, 3] * tip[1, 0] * tip[0, 2]

        def entries(x: Array) -> Array:
            """The gradient by entries of the function of normalised positions: P g / |x| for each quaternion."""
            unit, sizes = x.copy(), np.ones_like(x)
            for part in (slice(0, 4), slice(7, 11)):
                sizes[part] = np.linalg.norm(x[part])
                unit[part] = x[part] / sizes[part]
            return PositionEntries.at(model, unit).gradient(height.grad(model, unit)["q"]) / sizes

        way, e = np.random.default_rng(5).normal(size=model.nq), 1e-3
        there = PositionEntries.at(model, q)
        g = height.grad(model, q)["q"]
        w = there.velocities(way)
        around = [height.grad(model, kn.integrate(model, q, s * e * w))["q"] for s in AROUND]
        found = there.product(g, np.tensordot(WEIGHTS, around, 1) / e, way)
        expected = np.tensordot(WEIGHTS, [entries(q + s * e * way) for s in AROUND], 1) / e
        assert np.allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_mistakes_are_named() -> None:
    def raises(error: type[Exception], match: str, direction: Any, **options: Any) -> None:
        with pytest.raises(error, match=match):
            kn.rollout_gradient(
                arm(), effort, np.zeros(2), np.zeros(2), steps=3, integrator="euler", direction=direction, **options
            )

    raises(TypeError, "direction names arguments that are given: q0, v0, not 'tau'", {"tau": np.zeros(2)})
    raises(TypeError, "direction is empty", {})
    raises(TypeError, "in a dict; not in a list", [1.0, 0.0])
    raises(ValueError, r"direction\['v0'\] has shape \(3,\)", {"v0": np.zeros(3)})
    raises(ValueError, r"direction\['tau'\] has shape \(2,\)", {"tau": np.zeros(2)}, tau=np.zeros((3, 2)))
    with pytest.raises(TypeError, match="rollout_loss has no direction"):
        kn.simulation.rollout_loss(arm(), effort, direction={})
