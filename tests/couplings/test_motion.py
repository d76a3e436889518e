"""Motion with couplings: energy, compiled kernels of every size, batches, and integrators that look at the model."""

from __future__ import annotations

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import rolled_code
from knuckle.joints import Revolute
from knuckle.model import Builder, Model, solid_box
from knuckle.testing.compare import close

from .cases import CASES, cam, link, snake

BOX = solid_box(1.0, (0.4, 0.1, 0.2), at=(0.2, 0.01, 0.02))


def swinging() -> Model:
    """Two links in a row; a third follows the first along a curve, a fourth on another branch both."""
    b = Builder("swinging")
    for on, name, axis in ((None, "a", "y"), ("a", "b", "x"), ("b", "c", "y"), ("a", "d", "x")):
        b.body(name, on=on, joint=Revolute(axis), at=(0.3, 0, 0), inertia=BOX)
    b.couple("c_joint", "a_joint", cam)
    b.couple("d_joint", ("a_joint", "b_joint"), link)
    return b.build()


Q0, V0 = np.array([0.4, -0.7]), np.array([1.0, 2.0])


def energy(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q)


@pytest.fixture(scope="module")
def fine() -> kn.Trajectory:
    return kn.simulate(swinging(), Q0, V0, 0.2, dt=1e-4, integrator="rk4", save_every=10)


def test_energy_is_kept(fine: kn.Trajectory):
    """The classical method leaves (ω dt)⁵ in a step, of what moves here with some 20/s: nothing but rounding."""
    E = energy(swinging(), fine.q, fine.v)
    assert np.ptp(kn.kinetic_energy(swinging(), fine.q, fine.v)) > 1.0
    assert np.abs(E - E[0]).max() < 1e-10


@pytest.mark.parametrize(
    ("integrator", "order"), [("euler", 1), ("heun", 2), ("implicit", 1), ("bdf2", 2), ("variational", 2)]
)
def test_every_integrator_converges_to_the_motion(integrator: str, order: int, fine: kn.Trajectory):
    """Half the step, a part of 2^order of the error: explicit and implicit methods, and slopes of the Lagrangian."""
    model = swinging()
    ends = (kn.simulate(model, Q0, V0, 0.2, dt=dt, integrator=integrator).v[-1] for dt in (1e-3, 5e-4))
    coarse, half = (np.abs(v - fine.v[-1]).max() for v in ends)
    assert 0.75 * 2**order < coarse / half < 1.35 * 2**order


def test_the_variational_integrator_does_not_drift():
    """It computes with ∂L/∂y = Gᵀ ∂T/∂q + Ġᵀ ∂T/∂v: without the last part energy would leave at once."""
    model = swinging()
    motion = kn.simulate(model, Q0, V0, 5.0, dt=2e-3, integrator="variational", save_every=5)
    E = energy(model, motion.q, motion.v)
    assert np.abs(E - E[0]).max() < 1e-4 * np.ptp(kn.potential_energy(model, motion.q))


@pytest.mark.parametrize("name", CASES)
def test_kernels_are_the_text(name: str):
    """Compiled code, for batches, against the text on floats."""
    case = CASES[name]
    q = np.stack([case.q, case.q])
    before, kernels.policy = kernels.policy, "always"
    try:
        a = kn.forward_dynamics(case.model, q, [case.v, 0.5 * case.v], case.tau)
    finally:
        kernels.policy = before
    for k, v in enumerate((case.v, 0.5 * case.v)):
        text = [
            float(x) for x in kn.forward_dynamics.reference(case.model, case.q.tolist(), v.tolist(), case.tau.tolist())
        ]
        close(a[k], text, 1e5)


@pytest.mark.slow
def test_a_long_snake_of_two_freedoms(monkeypatch: pytest.MonkeyPatch):
    """More bodies than straight-line code is made for: rolled code, with couplings around it."""
    monkeypatch.setattr(rolled_code, "BODIES", 10)
    model = snake(14)
    assert model.nv == 2
    q, v, a = np.array([0.01, 0.02]), np.array([0.3, -0.2]), np.array([0.5, 0.1])
    G, g = kn.couplings.matrix(model, q), kn.couplings.bias(model, q, v)
    tree, Q = model.without_couplings(), kn.couplings.tree_positions(model, q)
    wanted = G.T @ kn.inverse_dynamics(tree, Q, G @ v, G @ a + g)
    before, kernels.policy = kernels.policy, "always"
    try:
        tau = kn.inverse_dynamics(model, q, v, a)
        back = kn.forward_dynamics(model, q, v, tau)
    finally:
        kernels.policy = before
    close(tau, wanted, 1e3)
    close(back, a, 1e4)
