"""What makes the variational integrator one: it is symplectic, reversible, and it knows every force."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import DormandPrince, Variational
from knuckle.integrators.methods import newton
from knuckle.joints import Composite, Free, Joint, Planar, Revolute, Spherical
from knuckle.simulation.steps.stepper import stepper

from ..seeds import quick
from .mechanisms import AHEAD, BODY, ball, distance, mixed, pair, run, start

PENDULUM = kn.robots.load("double_pendulum")


@pytest.mark.parametrize("order", [2, 4])
def test_a_step_is_symplectic(order: int):
    """Aᵀ J A = J for the derivative A of (q, p) → (q', p'), by central differences of 10⁻⁵: good to 10⁻⁹."""
    stepping = stepper(PENDULUM, Variational(order=order, iterations=10))

    def step(y: np.ndarray) -> np.ndarray:
        q, p = y[:2], y[2:]
        state = stepping.start(0.0, q, np.linalg.solve(kn.mass_matrix(PENDULUM, q), p), 0.01)
        new = stepping.step(0.0, state, 0.01)
        return np.concatenate([new.q, kn.mass_matrix(PENDULUM, new.q) @ new.v])

    y, h = np.array([0.7, -0.4, 0.3, 0.5]), 1e-5
    A = np.stack([(step(y + h * e) - step(y - h * e)) / (2 * h) for e in np.eye(4)], axis=-1)
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert np.abs(A - np.eye(4)).max() > 0.02
    np.testing.assert_allclose(A.T @ J @ A, J, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "model", [ball(), pytest.param(mixed(Free()).without_friction(), marks=pytest.mark.slow)], ids=["ball", "mixed"]
)
def test_a_step_back_undoes_a_step(model: kn.Model):
    stepping = stepper(model, Variational())
    state = stepping.start(0.0, *start(model), 0.01)
    there = stepping.step(0.0, state, 0.01)
    back = stepping.step(0.01, there, -0.01)
    assert distance(model, state, there) > 1e-3
    assert distance(model, state, back) < 1e-12


def test_forces_of_every_kind_act():
    """Controller, external wrenches, damping, springs and weight, against the adaptive pair: an error of order two."""
    model = pair()

    def push(model, t, q, v):
        return np.array([0.5, -0.2, 0.1, 1.0]) * np.cos(3 * t) - 0.3 * v

    def wind(model, t):
        return np.full((model.nb, 6), 0.2 * np.sin(2 * t))

    exact = run(model, DormandPrince(), 0.2, 100, controller=push, external_forces=wind)
    coarse, fine = (
        distance(model, run(model, Variational(), 0.2, n, controller=push, external_forces=wind), exact)
        for n in (20, 40)
    )
    assert np.log2(coarse / fine) == pytest.approx(2, abs=0.1)


def test_a_stiff_damper_does_not_stop_the_iteration():
    """The damper's slope is part of the approximate inverse: H x + ½ dt d x = H v, with ½ dt d/H of 25."""
    builder = kn.Builder("damped")
    builder.body("rod", joint=kn.joints.Revolute("y"), mass=1.0, inertia=(0.01, 0.01, 0.01), damping=50.0)
    model = builder.build()
    stepping = stepper(model, Variational())
    state = stepping.step(0.0, stepping.start(0.0, np.zeros(1), np.ones(1), 0.01), 0.01)
    assert state.q[0] == pytest.approx(0.01 * 0.01 / (0.01 + 0.005 * 50), rel=1e-12)


def test_rollouts_and_single_steps_agree(monkeypatch: pytest.MonkeyPatch):
    """A rollout improves a fixed number of times, single steps of larger mechanisms as long as it helps."""
    q, v = np.array([0.7, -0.4]), np.array([0.3, 0.5])
    found = kn.rollout(PENDULUM, q, v, None, 1e-3, steps=5, integrator=Variational())
    monkeypatch.setattr(newton, "SHORT", 0)
    stepping = stepper(PENDULUM, Variational())
    assert not stepping.is_compiled
    state = stepping.start(0.0, q, v, 1e-3)
    for k in range(5):
        state = stepping.step(k * 1e-3, state, 1e-3)
    np.testing.assert_allclose(found.v[-1], state.v, rtol=0, atol=1e-12)


ROTORS: dict[str, tuple[Joint, tuple[float, ...]]] = {
    "ball": (Spherical(), (0.3, 0.1, 0.02)),
    "free": (Free(), (0.3, 0.1, 0.02, 0.5, 0.1, 0.9)),
    "free of one size": (Free(), (0.1,) * 6),
    "planar": (Planar("y"), (0.1, 0.4, 0.9)),
    "composite": (Composite((Planar("z"), Revolute("x"))), (0.1, 0.4, 0.9, 0.2)),
    "reversed": (Spherical().reversed(), (0.3, 0.1, 0.02)),
}


def geared(name: str) -> kn.Model:
    """A body on a joint of several freedoms that has rotors, and a hinge with a rotor on it."""
    kind, rotors = ROTORS[name]
    builder = kn.Builder(name, gravity=(0, 0, -1.0))
    builder.body("body", joint=kind, rotor_inertia=rotors, **BODY)
    builder.body("hinge", "body", Revolute("x"), AHEAD, rotor_inertia=0.2, **BODY)
    return builder.build()


@pytest.mark.parametrize("order", [4, 2])
@pytest.mark.parametrize("name", quick(ROTORS, ["free", "reversed"]))
@pytest.mark.sampled
def test_rotors_of_any_joint_move_as_in_forward_dynamics(name: str, order: int):
    """ρ v̇ in the variables of the joint, without terms of velocity: what H + ρ and C say."""
    model = geared(name)
    exact = run(model, DormandPrince(), 0.4, 160)
    coarse, fine = (distance(model, run(model, Variational(order=order), 0.4, n), exact) for n in (20, 40))
    assert fine > 1e-13
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("name", quick(["ball", "free", "planar"], ["free"]))
def test_rotors_of_any_joint_leave_the_energy(name: str):
    model = geared(name).with_gravity((0, 0, 0 if name == "planar" else -1.0))
    found = kn.rollout(model, *start(model), None, 5e-3, steps=10_000, save_every=25, integrator="variational")
    kinetic = kn.kinetic_energy(model, found.q, found.v)
    error = (kinetic + kn.potential_energy(model, found.q)) / kinetic.max()
    error = np.abs(error - error[0])
    assert 1e-9 < error.max() < 1e-4
    assert error[-100:].max() < 3 * error[:100].max()


@pytest.mark.parametrize(("order", "steps"), [(2, 10_000), pytest.param(4, 20_000, marks=pytest.mark.slow)])
def test_rounding_adds_nothing_to_the_momentum_of_what_turns_steadily(order: int, steps: int):
    """A fifth is no double, nor is five its inverse: v = p / I and p = I v in each step would add half a rounding."""
    b = kn.Builder("top", gravity=(0, 0, 0))
    b.body("top", None, Free(), mass=1.0, com=(0, 0, 0), inertia=(0.1, 0.2, 0.25))
    model, q = b.build(), np.array([1.0, 0, 0, 0, 0, 0, 0])
    v = np.array([0.01, 3.0, 0.02, 0, 0, 0])
    found = kn.rollout(
        model, q, v, None, 1e-3, steps=steps, save_every=steps // 10, integrator=Variational(order=order)
    )
    h = kn.momentum(model, found.q, found.v)[:, :3]
    error = np.linalg.norm(h - h[0], axis=1) / np.linalg.norm(h[0])
    assert error.max() < steps * 2.0**-53 / 10


def test_a_velocity_that_was_changed_between_steps_counts():
    """What the steps remember of the momentum is not what a push from outside leaves."""
    model, dt = PENDULUM, 0.01
    stepping = stepper(model, Variational())
    state = stepping.step(0.0, stepping.start(0.0, np.array([0.7, -0.4]), np.array([0.3, 0.5]), dt), dt)
    pushed = state._replace(v=state.v + np.array([0.2, -0.1]))
    anew = stepping.start(dt, pushed.q, pushed.v, dt)
    assert distance(model, stepping.step(dt, pushed, dt), stepping.step(dt, anew, dt)) < 1e-13
    assert distance(model, stepping.step(dt, pushed, dt), stepping.step(dt, state, dt)) > 1e-3
