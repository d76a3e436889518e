"""Gradients through time: closed forms, differences, products of linear steps, and the same bits from less memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators.registry import INTEGRATORS
from knuckle.joints import Prismatic, Revolute
from knuckle.model import solid_box

from .rollout_mechanisms import arm, flying

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(5)
SMOOTH = [name for name in INTEGRATORS if name != "contact"]


def sledge(mass: float = 2.0) -> kn.Model:
    b = kn.Builder("sledge")
    b.body("sledge", joint=Prismatic((1.0, 0.0, 0.0)), inertia=solid_box(mass, (0.1, 0.1, 0.1)))
    return b.build()


def geared() -> kn.Model:
    b = kn.Builder("geared")
    b.body("a", joint=Revolute((0.0, 1.0, 0.0)), inertia=solid_box(1.0, (0.5, 0.1, 0.2)))
    b.body("b", "a", Revolute((0.0, 0.6, 0.8)), dict(xyz=(0.5, 0.0, 0.0)), inertia=solid_box(0.6, (0.4, 0.1, 0.1)))
    b.body("c", "b", Revolute((1.0, 0.0, 0.0)), dict(xyz=(0.1, 0.2, 0.0)), inertia=solid_box(0.3, (0.1, 0.1, 0.2)))
    b.mimic("c_joint", "a_joint", ratio=-2.0)
    return b.build()


@kn.kernel
def effort(model: kn.Model, q: Any, v: Any, tau: Any) -> Any:
    return 0.1 * (v @ v) + 0.2 * (tau @ tau)


@kn.kernel
def end(model: kn.Model, q: Any, v: Any) -> Any:
    return q @ q + v @ v + q[0] * v[0]


@kn.kernel
def place(model: kn.Model, q: Any, v: Any) -> Any:
    return q[0]


@kn.kernel
def energy(model: kn.Model, q: Any, v: Any) -> Any:
    return kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q)


def differences(f: Callable[[float], Any], e: float = 1e-4) -> Any:
    """The derivative at zero, with an error of the fourth order."""
    return (f(-2 * e) - 8 * f(-e) + 8 * f(e) - f(2 * e)) / (12 * e)


def start(model: kn.Model, seed: int = 1) -> tuple[Array, Array]:
    state = kn.testing.random_state(model, seed)
    return state.q, 0.3 * state.v


class TestClosedForms:
    N, DT = 7, 0.1

    def test_double_integrator(self) -> None:
        """q_N = q0 + N dt v0 + dt²/m Σ (N − k) τ_k for semi-implicit steps."""
        N, dt, mass = self.N, self.DT, 2.0
        tau = rng.normal(size=(N, 1))
        found = kn.rollout_gradient(
            sledge(), None, [0.3], [0.2], tau, dt, steps=N, final_loss=place, integrator="euler"
        )
        left = N - np.arange(N)
        assert np.isclose(found.loss, 0.3 + N * dt * 0.2 + dt**2 / mass * (left @ tau[:, 0]), rtol=1e-14)
        assert np.allclose(found["q0"], [1.0], rtol=1e-14)
        assert np.allclose(found["v0"], [N * dt], rtol=1e-14)
        assert np.allclose(found["tau"][:, 0], dt**2 / mass * left, rtol=1e-13)
        assert np.allclose(found.q, found.loss)

    def test_mass_of_the_double_integrator(self) -> None:
        """∂q_N/∂m = −dt²/m² Σ (N − k) τ for one force that stays, and ∂q_N/∂τ = dt²/m Σ (N − k)."""
        N, dt, mass = self.N, self.DT, np.array([[1.5], [4.0]])

        def heavy(model: kn.Model, mass: Any) -> kn.Model:
            return sledge(mass[0])

        found = kn.rollout_gradient(
            sledge(), None, [0.0], [0.0], [3.0], dt, steps=N, final_loss=place, integrator="euler", model_fn=heavy,
            parameters={"mass": mass}, wrt=("mass", "tau"),
        )  # fmt: skip
        both = dt**2 * N * (N + 1) / 2
        assert set(found.gradients) == {"mass", "tau"}
        assert found["mass"].shape == found["tau"].shape == (2, 1)
        assert np.allclose(found["mass"], -both * 3.0 / mass**2, rtol=1e-12)
        assert np.allclose(found["tau"], both / mass, rtol=1e-12)

    @pytest.mark.slow
    def test_energy_of_a_pendulum(self) -> None:
        """The energy at the end is that at the beginning, and so are its slopes."""
        model = kn.robots.load("pendulum")
        q, v = np.array([[0.4], [1.1]]), np.array([[0.3], [-0.5]])
        found = kn.rollout_gradient(model, None, q, v, dt=2e-3, steps=200, final_loss=energy, integrator="rk4")
        at_first = energy.grad(model, q, v)
        assert np.allclose(found["q0"], at_first["q"], rtol=1e-7)
        assert np.allclose(found["v0"], at_first["v"], rtol=1e-7)


def check_by_differences(
    model: kn.Model, q: Array, v: Array, integrator: str, tol: float = 1e-7, steps: int = 6, dt: float = 0.01
) -> None:
    """By every argument along a random direction."""
    tau = 0.1 * rng.normal(size=(steps, model.nv))

    def go(q: Array, v: Array, tau: Array, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return kn.rollout_gradient(
                model, effort, q, v, tau, dt, steps=steps, final_loss=end, integrator=integrator, **options
            )

    found = go(q, v, tau)
    dq, dv, dtau = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=tau.shape)
    # all three differences in one batch
    e = 1e-4 * np.array([-2, -1, 1, 2])
    qs = np.concatenate([kn.integrate(model, q, np.outer(e, dq)), np.tile(q, (8, 1))])
    vs = np.concatenate([np.tile(v, (4, 1)), v + np.outer(e, dv), np.tile(v, (4, 1))])
    taus = np.concatenate([np.tile(tau, (8, 1, 1)), tau + np.multiply.outer(e, dtau)])
    losses = go(qs, vs, taus).loss.reshape(3, 4)
    expected = losses @ np.array([1, -8, 8, -1]) / (12 * 1e-4)
    exact = np.array([found["q0"] @ dq, found["v0"] @ dv, (found["tau"] * dtau).sum()])
    assert np.allclose(exact, expected, rtol=tol, atol=tol)
    little = go(q, v, tau, memory=1)
    assert 1 < little.kept_every < steps == found.kept_every
    assert little.loss == found.loss
    assert all((little[name] == found[name]).all() for name in found.gradients)


class TestDifferences:
    def test_arm(self) -> None:
        check_by_differences(arm(), *start(arm()), "euler")

    @pytest.mark.slow
    @pytest.mark.parametrize("integrator", SMOOTH)
    def test_arm_by_every_integrator(self, integrator: str) -> None:
        check_by_differences(arm(), *start(arm()), integrator, tol=1e-6)

    @pytest.mark.slow
    @pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit", "variational"])
    def test_quaternions(self, integrator: str) -> None:
        check_by_differences(flying(), *start(flying()), integrator, steps=5)

    @pytest.mark.slow
    def test_couplings(self) -> None:
        check_by_differences(geared(), *start(geared()), "euler")

    @pytest.mark.slow
    @pytest.mark.parametrize("stabilization", ["projection", 0.1])
    @pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit"])
    def test_four_bar(self, integrator: str, stabilization: Any) -> None:
        """Along the motion that the loop allows."""
        model, steps, dt = kn.robots.load("four_bar"), 5, 0.01
        q = kn.loops.close(model).q
        v = kn.loops.project(model, q, np.ones(model.nv))[1]
        tau = 0.1 * rng.normal(size=(steps, model.nv))

        def go(q: Array, v: Array, tau: Array) -> Any:
            return kn.rollout_gradient(
                model, effort, q, v, tau, dt, steps=steps, final_loss=end, integrator=integrator,
                stabilization=stabilization,
            )  # fmt: skip

        found, dtau = go(q, v, tau), rng.normal(size=tau.shape)

        def at(s: float) -> tuple[Array, Array]:
            near = kn.loops.close(model, kn.integrate(model, q, s * v)).q
            return near, kn.loops.project(model, near, v)[1]

        tangent = differences(lambda s: np.concatenate([kn.difference(model, q, at(s)[0]), at(s)[1]]))
        exact = np.concatenate([found["q0"], found["v0"]]) @ tangent
        assert np.isclose(exact, differences(lambda s: go(*at(s), tau).loss), rtol=1e-6)
        assert np.isclose((found["tau"] * dtau).sum(), differences(lambda s: go(q, v, tau + s * dtau).loss), rtol=1e-6)

    def test_parameters(self) -> None:
        """Gains of the controller, weights of the loss, a reference over time, a mass, and gravity by its wrench."""
        model, steps = arm(), 4
        q, v = start(model)
        values: dict[str, Any] = {
            "gain": 0.3,
            "rest": np.array([0.1, -0.2]),
            "weight": 2.0,
            "damping": np.array([0.1, 0.2]),
        }
        values |= {"mass": 0.8, "path": rng.normal(size=(steps, 2))}

        @kn.kernel
        def holding(model: kn.Model, q: Any, v: Any, gain: Any, rest: Any, damping: Any) -> Any:
            return gain * (rest - q) - (damping @ v) * damping

        @kn.kernel
        def away(model: kn.Model, t: Any, q: Any, tau: Any, weight: Any, path: Any) -> Any:
            return weight * ((q - path) @ (q - path)) + tau @ tau + t * q[1]

        @kn.kernel
        def last(model: kn.Model, q: Any, v: Any, weight: Any) -> Any:
            return weight * (v @ v)

        def loaded(model: kn.Model, mass: Any) -> kn.Model:
            b = kn.Builder("arm")
            b.body("a", joint=Revolute((0.0, 1.0, 0.0)), inertia=solid_box(1.0, (0.5, 0.1, 0.2)), damping=0.05)
            load = solid_box(mass, (0.4, 0.1, 0.1))
            b.body("b", "a", Revolute((0.0, 0.6, 0.8)), dict(xyz=(0.5, 0.0, 0.0)), inertia=load)
            return b.build()

        def go(**changes: Any) -> Any:
            return kn.rollout_gradient(
                model, away, q, v, dt=0.02, steps=steps, final_loss=last, controller=holding, model_fn=loaded,
                parameters={**values, **changes}, time_varying=["path"], integrator="euler", wrt=tuple(values),
            )  # fmt: skip

        found = go()
        for name, value in values.items():
            direction = rng.normal(size=np.shape(value))
            assert found[name].shape == np.shape(value)
            expected = differences(lambda s, n=name, x=value, d=direction: go(**{n: x + s * d}).loss)
            assert np.isclose((found[name] * direction).sum(), expected, rtol=1e-7), name

    @pytest.mark.slow
    @pytest.mark.parametrize("integrator", ["euler", "implicit"])
    def test_controls_and_states_of_actuators(self, integrator: str) -> None:
        """Servos, one of them behind a filter; the loss has their torques."""
        actuators = kn.actuators
        servo = actuators.position_servo("a", "a_joint", kp=3.0, kv=0.1)
        slow = actuators.Actuator(
            "b", actuators.AtJoints(("b_joint",), (2.0,)), dynamics=actuators.ActuatorDynamics("filter", 0.05)
        )
        model, steps = arm().replace(actuators=(servo, slow)), 5
        q, v = start(model)
        first: dict[str, Any] = {"controls": rng.normal(size=(steps, 2)), "actuator_states0": np.array([0.4])}

        def go(**changes: Any) -> Any:
            return kn.rollout_gradient(
                model, effort, q, v, dt=0.01, steps=steps, final_loss=end, integrator=integrator, **{**first, **changes}
            )

        found = go()
        motion = kn.rollout(model, q, v, None, 0.01, steps=steps, integrator=integrator, **first)
        rows = slice(0, steps)
        total = 0.1 * (motion.v[rows] ** 2).sum() + 0.2 * (motion.tau[rows] ** 2).sum()
        assert np.isclose(found.loss - end(model, motion.q[-1], motion.v[-1]), total, rtol=1e-12)
        for name, value in first.items():
            d = rng.normal(size=value.shape)
            expected = differences(lambda s, n=name, x=value, d=d: go(**{n: x + s * d}).loss)
            assert np.isclose((found[name] * d).sum(), expected, rtol=1e-7), name

    def test_losses_know_what_sampled_controllers_hold(self) -> None:
        """Under a force that is held, the sum of τ² is that of a rollout."""
        law = kn.SampledController(kn.kernel(lambda model, q, v: -0.3 * q - 0.1 * v), 0.02)
        options: Any = {"dt": 0.01, "steps": 4, "integrator": "euler", "controller": law}
        found = kn.rollout_gradient(arm(), effort, [0.3, 0.2], [0.1, -0.4], **options)
        motion = kn.rollout(arm(), [0.3, 0.2], [0.1, -0.4], None, **options)
        expected = 0.1 * (motion.v[:-1] ** 2).sum() + 0.2 * (motion.tau[:-1] ** 2).sum()
        assert np.isclose(found.loss, expected, rtol=1e-12)


class TestLaws:
    def test_products_of_linear_steps(self) -> None:
        """λ_0 = A_0ᵀ … A_Nᵀ w, and ∂/∂τ_k = B_kᵀ A_{k+1}ᵀ … w."""
        model, steps, dt = arm(), 5, 0.02
        q, v = start(model)
        tau = 0.1 * rng.normal(size=(steps, 2))
        w = rng.normal(size=4)

        @kn.kernel
        def along(model: kn.Model, q: Any, v: Any, w: Any) -> Any:
            return w[:2] @ q + w[2:] @ v

        found = kn.rollout_gradient(
            model, None, q, v, tau, dt, steps=steps, final_loss=along, parameters={"w": w}, integrator="euler"
        )
        motion = kn.rollout(model, q, v, tau, dt, steps=steps, integrator="euler")
        A, B = kn.linearize(model, motion.q[:-1], motion.v[:-1], tau, dt, integrator="euler")
        adjoint = w
        for k in range(steps - 1, -1, -1):
            assert np.allclose(found["tau"][k], B[k].T @ adjoint, rtol=1e-12, atol=1e-14)
            adjoint = A[k].T @ adjoint
        assert np.allclose(np.concatenate([found["q0"], found["v0"]]), adjoint, rtol=1e-12)
        assert np.allclose(found["w"], np.concatenate([motion.q[-1], motion.v[-1]]), rtol=1e-14)
        few = 4 * steps * np.finfo(float).eps  # steps that note what they solve for may round in another order
        assert np.abs(found.q - motion.q[-1]).max() < few * np.abs(motion.q).max()
        assert np.abs(found.v - motion.v[-1]).max() < few * np.abs(motion.v).max()

    def test_batches_are_single_trajectories(self) -> None:
        """Of any shape, in pieces that memory asks for, with forces for all of them or for each."""
        model, steps = arm(), 4
        q, v = rng.normal(size=(2, 5, 2)), rng.normal(size=(5, 2))
        tau = rng.normal(size=(2, 1, steps, 2))
        options: Any = {"steps": steps, "final_loss": end, "integrator": "euler"}
        found = kn.rollout_gradient(model, effort, q, v, tau, 0.01, **options)
        assert found.loss.shape == found.growth.shape == (2, 5)
        assert found["tau"].shape == (2, 5, steps, 2)
        assert found["q0"].shape == (2, 5, 2)
        one = kn.rollout_gradient(model, effort, q[1, 2], v[2], tau[1, 0], 0.01, **options)
        assert np.isclose(one.loss, found.loss[1, 2], rtol=1e-14)
        for name, x in one.gradients.items():
            assert np.allclose(x, found[name][1, 2], rtol=1e-13, atol=1e-15)

    def test_nothing_happens_without_steps(self) -> None:
        found = kn.rollout_gradient(arm(), effort, [0.1, 0.2], [0.3, 0.4], steps=0, final_loss=end, integrator="euler")
        at_first = end.grad(arm(), np.array([0.1, 0.2]), np.array([0.3, 0.4]))
        assert (found["q0"] == at_first["q"]).all()
        assert (found["v0"] == at_first["v"]).all()

    @pytest.mark.slow
    def test_chaos_is_noticed(self) -> None:
        """A double pendulum over seconds, and not the same one over a moment."""
        model = kn.robots.load("double_pendulum")
        options: Any = {"dt": 5e-3, "final_loss": end, "integrator": "rk4"}
        with pytest.warns(RuntimeWarning, match="chaotic or unstable"):
            found = kn.rollout_gradient(model, None, [2.5, 1.0], [0.0, 0.0], steps=4000, **options)
        assert found.growth > 1e6
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert kn.rollout_gradient(model, None, [2.5, 1.0], [0.0, 0.0], steps=40, **options).growth < 100


def test_no_trajectories_have_no_gradients() -> None:
    found = kn.rollout_gradient(arm(), effort, np.zeros((0, 2)), np.zeros((0, 2)), None, 0.01, steps=3)
    assert found.loss.shape == (0,)
    assert found.gradients["v0"].shape == (0, 2)


class TestMistakes:
    def test_they_are_named(self) -> None:
        model, q, v = arm(), np.zeros(2), np.zeros(2)

        def raises(error: type[Exception], match: str, loss: Any = None, **options: Any) -> None:
            with pytest.raises(error, match=match):
                kn.rollout_gradient(model, loss, q, v, **{"steps": 2, "integrator": "euler", **options})

        raises(TypeError, "needs a loss, a final_loss or both")
        raises(TypeError, "loss must be a kernel", lambda model, q: q[0])
        raises(TypeError, "controller must be a kernel", effort, controller=lambda model, q: -q)
        sampled = kn.SampledController(lambda model, q: -q, 0.001)
        raises(TypeError, "the law of a SampledController must be a kernel", effort, controller=sampled)
        raises(TypeError, "wrt names arguments that are given: q0, v0, not 'tau'", effort, wrt="tau")
        raises(TypeError, "final_loss effort needs tau", final_loss=effort)
        raises(TypeError, "parameters has a, which no function asks for", effort, parameters={"a": 1.0})
        raises(
            TypeError,
            "steps by loops on numbers",
            effort,
            integrator=kn.integrators.ColliderSteps(kn.contact.ShapeCollider.of(arm())),
        )
        raises(TypeError, "returns a vector of 2, and must return one number", kn.kernel(lambda model, q: q))
