"""Actuator forces of mechanisms with loops (RBDA 8.12; X6): under-, fully and redundantly actuated."""

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.testing.loops.linkages import LINKAGES, five_bar

from .oracle import allowed
from .test_examples import L1, L2, gamma, piston_arm


def motion(y1: float = 1.2) -> tuple[kn.Model, np.ndarray, np.ndarray, np.ndarray]:
    """The piston arm in motion, with an acceleration that keeps its loop closed."""
    model, q = piston_arm(), gamma(y1, 0.4)
    choice = kn.loops.independent_variables(model, q, joints=["q1", "q4"])
    G = kn.loops.null_space(model, q, choice=choice)
    v = G @ [0.9, -0.6]
    return model, q, v, G @ [0.3, 0.8] + kn.loops.null_space_bias(model, q, v, choice=choice)


def applied(model: kn.Model, q: np.ndarray, actuated: tuple[str, ...], u: np.ndarray) -> np.ndarray:
    """τ of the forces of single-freedom actuators."""
    tau, at_loops = np.zeros(model.nv), kn.loops.active_jacobian(model, q)
    for name, force in zip(actuated, u, strict=True):
        if name in model.joint_names:
            tau[model.v_slices[model.joint_index(name)].start] += force
        else:
            tau += force * at_loops[[loop.name for loop in model.loops].index(name)]
    return tau


def test_the_piston_and_the_outer_joint():
    """X6: u = [[1/u2, u1/u2, 1, 0], [0, 0, 0, 1]] τ_ID."""
    model, q, v, a = motion()
    d = q[2]
    u1, u2 = (L2**2 - L1 * L2 * math.cos(1.2)) / d**2, L1 * L2 * math.sin(1.2) / d
    tau = kn.inverse_dynamics(model.without_loops(), q, v, a)
    u = kn.loops.actuator_forces(model, q, v, a, actuated=("q3", "q4"))
    np.testing.assert_allclose(u, np.array([[1 / u2, u1 / u2, 1, 0], [0, 0, 0, 1]]) @ tau, rtol=1e-12)


@pytest.mark.parametrize("first", ["q1", "q2", "q3", "pin"])
def test_any_joint_around_the_loop_will_do(first: str):
    """X6: joint 4 plus any one of the joints of the loop, the one that closes it included."""
    model, q, v, a = motion()
    u = kn.loops.actuator_forces(model, q, v, a, actuated=(first, "q4"))
    np.testing.assert_allclose(kn.forward_dynamics(model, q, v, applied(model, q, (first, "q4"), u)), a, atol=1e-12)
    assert kn.loops.actuation(model, q, (first, "q4")).is_full


def test_redundant_actuators_share_by_the_least_norm():
    model, q, v, a = motion()
    names = ("q1", "q2", "q3", "pin", "q4")
    u = kn.loops.actuator_forces(model, q, v, a, actuated=names)
    np.testing.assert_allclose(kn.forward_dynamics(model, q, v, applied(model, q, names, u)), a, atol=1e-12)
    for some in ((*names[:2], "q4"), ("q3", "q4"), ("pin", "q4")):
        assert np.linalg.norm(u) < np.linalg.norm(kn.loops.actuator_forces(model, q, v, a, actuated=some))
    report = kn.loops.actuation(model, q, names)
    assert (report.freedoms, report.actuators, report.rank) == (2, 5, 2)
    assert str(report) == "actuators: 5, freedoms: 2; redundant, ways to work against each other: 3"


def test_too_few_actuators_come_as_near_as_they_can():
    """What is left of τ_ID does no work on the freedoms that the actuators move."""
    model, q, v, a = motion()
    report = kn.loops.actuation(model, q, ["q1", "q3"])
    assert report.is_underactuated
    assert report.is_redundant
    u = kn.loops.actuator_forces(model, q, v, a, actuated=("q1", "q3"))
    left = kn.inverse_dynamics(model.without_loops(), q, v, a) - applied(model, q, ("q1", "q3"), u)
    choice = kn.loops.independent_variables(model, q, joints=["q1", "q4"])
    G = kn.loops.null_space(model, q, choice=choice)
    assert abs(G[:, 0] @ left) < 1e-12
    assert abs(G[:, 1] @ left) > 1e-2


def test_at_the_dead_centre_the_piston_moves_nothing():
    """D-20: with y1 = 0 the piston has no lever; the report says so, and the forces stay finite."""
    model, q, v, a = motion(0.0)
    assert kn.loops.actuation(model, q, ["q3", "q4"]).rank == 1
    assert kn.loops.actuation(model, q, ["q1", "q4"]).is_full
    assert np.isfinite(kn.loops.actuator_forces(model, q, v, a, actuated=("q3", "q4"))).all()


@pytest.mark.parametrize("name", sorted(LINKAGES))
def test_all_joints_give_any_acceleration(name: str):
    """Every joint driven: forward dynamics returns what was asked for, with wrenches on the bodies too."""
    made, rng = LINKAGES[name](), np.random.default_rng(3)
    model, q = made.model, made.q
    v, f = allowed(model, q, rng), rng.standard_normal((model.nb, 6))
    a = kn.forward_dynamics(model, q, v, rng.standard_normal(model.nv), f)
    u = kn.loops.actuator_forces(model, q, v, a, f, actuated=model.joint_names)
    np.testing.assert_allclose(kn.forward_dynamics(model, q, v, u, f), a, atol=1e-9 * (1 + np.abs(a).max()))
    K = kn.loops.jacobian(model, q)
    assert np.abs(np.linalg.pinv(K.T, rcond=1e-6) @ u).max() < 1e-8 * (1 + np.abs(u).max())  # the least norm has no Kᵀμ


def test_batches_and_couplings():
    made = five_bar()
    model, q = made.model, made.q
    rng = np.random.default_rng(0)
    v = np.array([allowed(model, q, rng) for _ in range(6)])
    a = kn.forward_dynamics(model, q, v, rng.standard_normal((6, 4)))
    cranks = ("left crank_joint", "right crank_joint")
    u = kn.loops.actuator_forces(model, q, v, a, actuated=cranks)
    assert u.shape == (6, 2)
    for k in range(6):
        np.testing.assert_allclose(kn.loops.actuator_forces(model, q, v[k], a[k], actuated=cranks), u[k], rtol=1e-12)


def test_inverse_dynamics_says_what_to_call():
    model, q, v, a = motion()
    with pytest.raises(kn.ModelError, match=r"knows trees.*without_loops.*kn\.loops\.actuator_forces"):
        kn.inverse_dynamics(model, q, v, a)
    with pytest.raises(ValueError, match=r"q has shape \(1, 4\)"):
        kn.loops.actuation(model, q[None], ["q1"])
    with pytest.raises(KeyError, match="no joint is called 'q7'"):
        kn.loops.actuation(model, q, ["q7"])
