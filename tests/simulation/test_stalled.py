"""Simulations whose time does not advance end, say why, and keep what was computed."""

import time

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ConvergenceError, DormandPrince
from knuckle.joints import Composite, Prismatic, Revolute, Spherical
from knuckle.simulation import simulator
from knuckle.simulation.singular_states import singular_joints, singularity
from knuckle.simulation.steps import step_policy
from knuckle.simulation.stops import stop_spec
from knuckle.solvers import complementarity

from ..seeds import quick

PENDULUM = kn.robots.load("double_pendulum")


def redundant(rotor: float = 0.0) -> kn.Model:
    """A hinge and a ball in one place: four motions of which three are independent."""
    box = kn.model.solid_box(1.0, (0.1, 0.2, 0.3), at=(0.05, 0, -0.15))
    builder = kn.Builder("redundant")
    builder.body("a", joint=Revolute("y"), inertia=box)
    joint = Composite((Revolute("x"), Spherical()))
    builder.body("b", on="a", at=(0, 0, -0.3), joint=joint, inertia=box, damping=0.1, rotor_inertia=rotor)
    return builder.build()


@pytest.mark.parametrize("tolerance", [1e-11, 1e-4])
def test_adaptive_steps_end_where_the_mass_matrix_is_singular(tolerance: float):
    model = redundant()
    q = kn.integrate(model, kn.neutral(model), 0.4 * np.arange(1, model.nv + 1))
    method = DormandPrince(rtol=tolerance, atol_q=tolerance, atol_v=tolerance)
    began = time.monotonic()
    with pytest.warns(RuntimeWarning, match="of redundant stalled at t = 0 s: DormandPrince cannot go on.*'b_joint'"):
        motion = kn.simulate(model, q, np.linspace(1, 2, model.nv), 0.5, integrator=method, progress=False)
    assert motion.reason == "stalled"
    assert time.monotonic() - began < 20
    assert len(motion) < 100


def test_steps_down_to_the_rounding_of_the_span_are_taken():
    """A force that dies away in a nanosecond of a hundred seconds needs steps as short, and gets them."""
    builder = kn.Builder("cart", gravity=(0, 0, 0))
    builder.body("cart", joint=Prismatic("x"), mass=1.0)
    model, blow = builder.build(), 1e-9

    def push(model, t):
        return np.array([np.exp(-t / blow) / blow])

    motion = kn.simulate(model, None, None, 100.0, integrator="adaptive", controller=push, progress=False)
    assert motion.reason == "finished"
    assert np.diff(motion.times).min() < 2e-9
    assert motion.v[-1, 0] == pytest.approx(1.0, rel=1e-5)


def test_a_pace_that_would_never_end_is_the_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(step_policy, "MANY", 10)
    monkeypatch.setattr(step_policy, "MOST", 1e3)
    with pytest.warns(RuntimeWarning, match=r"stalled at t = .*: the last 10 steps took .* s of 1000 s together"):
        motion = kn.simulate(PENDULUM, [1.0, 0.5], None, 1000.0, integrator="adaptive", progress=False)
    assert motion.reason == "stalled"
    assert len(motion) == 21


@pytest.mark.parametrize("integrator", quick(["rk4", "adaptive"], ["rk4"]))
def test_endless_events_end_a_run_with_what_was_computed(integrator: str, monkeypatch: pytest.MonkeyPatch):
    """An action that brings its own event about again."""
    monkeypatch.setattr(simulator, "MOST_INTERRUPTIONS", 300)
    when = [0.10005]

    def due(t, q, v):
        return t - when[0]

    def again(t, q, v):
        when[0] = t + 1e-9
        return q, v

    with pytest.warns(RuntimeWarning, match=r"stalled at t = .*: the step was interrupted \d+ times by stops and ev"):
        motion = kn.simulate(
            PENDULUM,
            [1.0, 0.5],
            None,
            1.0,
            integrator=integrator,
            events=kn.simulation.Event(due, action=again),
            progress=False,
        )
    assert motion.reason == "stalled"
    assert motion.times[-1] == pytest.approx(0.1, abs=1e-4)
    assert len(motion.events) == simulator.MOST_INTERRUPTIONS + 1


def test_impacts_of_many_stops_are_solved_or_said(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(14, 14))
    A, b = root @ root.T, rng.normal(size=14)
    x = stop_spec.complementary(A, b)
    assert x.min() >= 0
    assert (A @ x + b).min() > -1e-9
    assert abs(x @ (A @ x + b)) < 1e-9
    monkeypatch.setattr(complementarity, "TOGETHER", 0)
    monkeypatch.setattr(complementarity, "PIVOTS", 3)
    with pytest.raises(ConvergenceError, match="14 forces between bounds were not found by 3 pivots"):
        stop_spec.complementary(A, b)


def test_what_is_singular_is_named():
    model = redundant()
    q = kn.neutral(model)
    assert singular_joints(model, q) == ["b_joint"]
    assert "coordinates of joint 'b_joint'" in singularity(model, 0.0, q)
    builder = kn.Builder("point on a shaft")
    builder.body("disc", joint=Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.body("point", on="disc", joint=Revolute("z"), inertia=kn.model.point_mass(1.0, at=(0, 0, 0.5)))
    assert "mass matrix is singular" in singularity(builder.build(), 0.0, np.zeros(2))
    assert singularity(PENDULUM, 0.0, np.zeros(2)) == ""
