"""Closed loops through time: projection and Baumgarte stabilisation in every integrator, rollouts, events and stops."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.model import ROOT, Limits, TreeJoint
from knuckle.simulation.long_runs.run_spec import resume
from knuckle.simulation.stops.stop_spec import RigidStops
from knuckle.testing.loops.linkages import four_bar
from knuckle.testing.loops.moving_linkages import MOVING, Moving, moving

from ..seeds import quick

WAYS = ["projection", 0.1]
INTEGRATORS = ["euler", "heun", "rk4", "adaptive", "implicit", "bdf1", "bdf2", "variational", "variational4"]


@pytest.fixture(scope="module")
def bar() -> Moving:
    return MOVING["four-bar"]()


def error(made: Moving, q: np.ndarray) -> float:
    return float(np.abs(kn.loops.error(made.model, q)).max())


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", quick(["four-bar", "crank-slider", "five-bar", "Bennett"], ["four-bar", "Bennett"]))
def test_ten_seconds(name: str, way: Any):
    """Energy within 10⁻⁶, loops within 10⁻⁸, over ten seconds of RK4 in milliseconds."""
    made = MOVING[name]()
    path = kn.simulate(made.model, made.q, made.v, 10.0, stabilization=way)
    assert made.energy_error(path.q, path.v) < 1e-6
    assert error(made, path.q) < (1e-14 if way == "projection" else 1e-8)


@pytest.mark.parametrize("integrator", quick(INTEGRATORS, ["euler", "adaptive", "implicit", "bdf2", "variational"]))
def test_every_integrator(bar: Moving, integrator: str):
    """Projection leaves no loop error, and the motion is that of RK4 to the order of the method."""
    wanted = kn.simulate(bar.model, bar.q, bar.v, 0.2, dt=5e-4).q[-1]
    path = kn.simulate(bar.model, bar.q, bar.v, 0.2, dt=_step(integrator), integrator=integrator)
    assert error(bar, path.q) < 1e-11
    order = kn.integrators.integrator_of(integrator).order
    assert np.abs(path.q[-1] - wanted).max() < {1: 5e-2, 2: 1e-4}.get(order, 1e-6)


@pytest.mark.parametrize("integrator", ["heun", "implicit", "bdf2"])
def test_baumgarte_pulls_open_loops_together(bar: Moving, integrator: str):
    """A loop that is open by a millimetre closes within some T_stab."""
    q = bar.q + np.array([0.0, 0.0, 2e-3])
    left = {}
    for way in (0.02, None):
        path = kn.simulate(bar.model, q, bar.v, 0.2, integrator=integrator, stabilization=way)
        left[way] = float(np.abs(kn.loops.error(bar.model, path.q[-1])).max())
    assert left[0.02] < 1e-4
    assert left[None] > 5e-4


def _step(integrator: str) -> float | None:
    return None if integrator == "adaptive" else 1e-3


def test_variational_steps_close_loops_by_themselves(bar: Moving):
    """The constraint forces are at the ends of the step (RATTLE): no drift of energy, no stabilisation."""
    path = kn.simulate(bar.model, bar.q, bar.v, 4.0, dt=2e-3, integrator="variational", stabilization=None)
    assert error(bar, path.q) < 1e-13
    energy = kn.kinetic_energy(bar.model, path.q, path.v) + kn.potential_energy(bar.model, path.q)
    first, last = energy[:1000], energy[-1000:]
    assert abs(last.max() - first.max()) < 0.2 * np.ptp(first)


def test_velocities_stay_allowed(bar: Moving):
    path = kn.simulate(bar.model, bar.q, bar.v, 1.0)
    assert np.abs(kn.loops.error_rate(bar.model, path.q, path.v)).max() < 1e-13


@pytest.mark.parametrize("way", [*WAYS, None])
def test_rollouts_are_simulations(bar: Moving, way: Any):
    """Many at once, with a torque of their own each: to the last bit those of single simulations."""
    tau = np.zeros((4, 1, 3))
    tau[:, 0, 0] = [0.0, 1.0, -1.0, 2.0]
    many = kn.rollout(bar.model, bar.q, bar.v, tau, 1e-3, steps=50, integrator="rk4", stabilization=way)
    for k in range(4):
        one = kn.simulate(bar.model, bar.q, bar.v, 0.05, controller=tau[k, 0], stabilization=way)
        np.testing.assert_array_equal(many.q[k, -1], one.q[-1])
    assert error(bar, many.q) < (1e-14 if way == "projection" else 1e-9)


def test_controllers_and_python(bar: Moving):
    """A kernel, compiled into the step, and the same as a Python function."""

    @kn.kernel
    def brake(model: kn.Model, v: Any, gain: Any) -> Any:
        return v * -gain

    def in_python(model: kn.Model, v: np.ndarray, gain: float) -> np.ndarray:
        return -gain * v

    paths = [
        kn.simulate(bar.model, bar.q, bar.v, 0.1, controller=c, parameters={"gain": 0.5}) for c in (brake, in_python)
    ]
    np.testing.assert_allclose(paths[0].q, paths[1].q, atol=1e-12)
    assert error(bar, paths[1].q) < 1e-14


def test_events_leave_closed_states(bar: Moving):
    """The state of an event lies within a step, and has its loops closed as any other."""
    path = kn.simulate(bar.model, bar.q, bar.v, 1.0, dt=5e-3, events={"up": lambda t, q, v: q[0] - 0.3})
    assert path.events
    for event in path.events:
        assert abs(event.q[0] - 0.3) < 1e-9
        assert np.abs(kn.loops.error(bar.model, event.q)).max() < 1e-14


def test_rigid_stops(bar: Moving):
    """An elastic stop of the rocker turns the whole linkage round: energy and loops are kept, and the gap stays."""
    limited = replace(bar.model.joints[2], limits=Limits((-0.2,), (0.25,)).filled(1, 1))
    model = bar.model.replace(joints=(*bar.model.joints[:2], limited))
    made = moving(type(four_bar())(model, bar.q))
    path = kn.simulate(model, made.q, made.v, 1.0, joint_limits=RigidStops(restitution=1.0))
    hits = [event for event in path.events if event.kind == "impact"]
    assert hits
    for event in hits:
        assert np.abs(kn.loops.error_rate(model, event.q, event.v)).max() < 1e-9
    assert made.energy_error(path.q, path.v) < 1e-6
    assert path.q[:, 2].max() < 0.25 + 1e-9
    assert path.q[:, 2].min() > -0.2 - 1e-9
    assert error(made, path.q) < 1e-8


@pytest.mark.slow
def test_joints_that_rest_on_stops_keep_loops_closed(bar: Moving):
    limited = replace(bar.model.joints[2], limits=Limits((-0.2,), (0.25,)).filled(1, 1))
    model = bar.model.replace(joints=(*bar.model.joints[:2], limited))
    path = kn.simulate(model, bar.q, bar.v, 0.6, joint_limits="rigid")
    assert any(event.kind == "rest" for event in path.events)
    assert np.abs(kn.loops.error(model, path.q)).max() < 1e-8
    assert np.abs(path.v[-1]).max() < 1e-9


@pytest.mark.parametrize("way", ["projection", 0.05, "choice"])
def test_checkpoints(bar: Moving, way: Any, tmp_path: Path):
    """A run that is resumed knows how its loops are kept closed."""
    how = kn.loops.independent_variables(bar.model, bar.q) if way == "choice" else way
    whole = kn.simulate(bar.model, bar.q, bar.v, 0.05, stabilization=how, checkpoint=tmp_path / "run")
    again = resume(tmp_path / "run")
    np.testing.assert_array_equal(again.q, whole.q)
    with pytest.raises(ValueError, match="stabilization was not the same"):
        kn.simulate(
            bar.model, bar.q, bar.v, 0.05, stabilization=None, checkpoint=tmp_path / "run", resume=True
        )  # fmt: skip


def test_a_first_state_that_is_open_is_refused(bar: Moving):
    with pytest.raises(ValueError, match=r"q0: loop 'pin' is open by .* kn\.loops\.close\(model, q0\)\.q"):
        kn.simulate(bar.model, bar.q + np.array([0, 0, 1e-3]), bar.v, 0.1)
    with pytest.raises(ValueError, match=r"v0: the loops open with .* kn\.loops\.project\(model, q0, v0\)"):
        kn.rollout(bar.model, bar.q, bar.v + np.array([0, 0, 0.1]), None, 1e-3, steps=1)
    for wrong in ("project", 0.0, -1.0, True, np.inf):
        with pytest.raises(ValueError, match='stabilization is "projection"'):
            kn.simulate(bar.model, bar.q, bar.v, 0.1, stabilization=wrong)  # type: ignore[arg-type]


def test_driven_cranks():
    """A crank that turns by a law of time, and the loop that takes the others along (RBDA 8.3: σ)."""
    from knuckle.joints import Driven
    from knuckle.joints.composed.time_laws import Polynomial

    made = four_bar()
    crank = TreeJoint("crank_joint", Driven(Revolute("y"), Polynomial((0.0, 2.0))), ROOT)
    model = made.model.replace(joints=(crank, *made.model.joints[1:]))
    choice = kn.loops.independent_variables(made.model, made.q, joints=["crank_joint"])
    v = (kn.loops.null_space(made.model, made.q, choice=choice) @ [2.0])[1:]
    path = kn.simulate(model, made.q[1:], v, 0.2)
    wanted = kn.loops.solve_dependent(made.model, np.array([0.4, *path.q[-1]]), choice=choice)
    np.testing.assert_allclose(path.q[-1], wanted[1:], atol=1e-12)


def test_rows_of_a_batch_are_alone(bar: Moving):
    """A state that is no number stays alone, and mechanisms of other masses move in one batch."""
    q = np.stack([bar.q, bar.q * np.nan, bar.q])
    with pytest.warns(RuntimeWarning, match=r"1 of 3 trajectories of four-bar began with a state that is not finite"):
        many = kn.rollout(bar.model, q, bar.v, None, 1e-3, steps=20, integrator="rk4")
    assert [*np.isfinite(many.q[:, -1]).all(axis=-1)] == [True, False, True]

    def heavier(model: kn.Model, mass: Any) -> kn.Model:
        first, *others = model.bodies
        return model.replace(bodies=(replace(first, inertia=first.inertia * mass[0]), *others))

    masses = {"mass": np.array([[1.0], [2.0]])}
    two = kn.rollout(
        bar.model, bar.q, bar.v, None, 1e-3, steps=20, integrator="rk4", model_fn=heavier, parameters=masses
    )
    np.testing.assert_allclose(two.q[0, -1], many.q[0, -1], atol=1e-13)
    assert np.abs(two.q[1, -1] - two.q[0, -1]).max() > 1e-6
    assert error(bar, two.q) < 1e-14
