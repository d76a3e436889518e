"""Mode switches: the simulator knows the interface only, and what a switch may do."""

import ast
from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Prismatic
from knuckle.simulation import simulator
from knuckle.simulation.crossings import root
from knuckle.simulation.mode_switch import SWITCHES, Crossing, EndOfRun, ModeSwitch
from knuckle.simulation.run_settings import RunSettings
from knuckle.simulation.simulator import Simulator
from knuckle.simulation.steps.step_policy import step_policy
from knuckle.simulation.steps.stepper import stepper

FRONT = 1.0


def block():
    b = kn.Builder("block", gravity=(0, 0, 0))
    b.body("block", joint=Prismatic("x"), mass=2.0)
    return b.build()


class Front(ModeSwitch):
    """Beyond a place another force acts. `limit` is how many passages end the run."""

    def __init__(self, other, limit=99):
        self.other, self.limit, self.passages, self.is_beyond = other, limit, 0, False

    def undisturbed(self, run, stepper, times, rows, dt):
        same = (rows.q[:, 0] > FRONT) == self.is_beyond
        return len(same) if same.all() else int(np.argmin(same))

    def stepper(self, stepper):
        return self.other if self.is_beyond else stepper

    def crossings(self, run, step):
        old, new = (float(x.q[0]) - FRONT for x in (step.old, step.new))
        if (new > 0) == self.is_beyond:
            return ()
        theta = root(lambda x: float(step.state(x)[0][0]) - FRONT, 0.0, 1.0, old, new)
        return (Crossing(theta, SWITCHES, "front", 0, self),)

    def act(self, run, step, crossing):
        self.is_beyond, self.passages = not self.is_beyond, self.passages + 1
        q, v = step.state(crossing.theta)
        run.record("front", "passage", q, v, v, step.time(crossing.theta))
        if self.passages == self.limit:
            run.end("event", "enough", (step.time(crossing.theta), q, v))
        run.continue_from(step.time(crossing.theta), q, v)
        return True


def simulated(integrator, dt, limit=99):
    model = block()
    ahead, back = (stepper(model, kn.integrators.integrator_of(integrator), [f]) for f in (2.0, -6.0))
    front = Front(back, limit)
    run = Simulator.start(
        RunSettings(model, ahead, step_policy(ahead, 4.0, dt), 1, (front,)), np.array([0.0]), np.array([0.0])
    )
    while not run.is_done:
        run.advance()
    return run


@pytest.mark.parametrize(("integrator", "dt"), [("rk4", 0.01), ("heun", 0.013), ("adaptive", None)])
def test_a_switch_changes_the_forces_of_the_steps_after_it(integrator, dt):
    """a = 1 up to x = 1 at t = √2 with v = √2; beyond it a = −3, so that it comes back with −√2 after 2√2/3."""
    run = simulated(integrator, dt)
    there = np.sqrt(2.0)
    times = [there, there + 2 * there / 3]
    assert [e.time for e in run.events[:2]] == pytest.approx(times, abs=1e-12)
    assert [float(e.v[0]) for e in run.events[:2]] == pytest.approx([there, -there], abs=1e-11)
    rest = 4.0 - times[1]
    assert float(run.state.q[0]) == pytest.approx(1 - there * rest + rest**2 / 2, abs=1e-11)


def test_a_switch_ends_the_run():
    with pytest.raises(EndOfRun, match="enough") as ended:
        simulated("rk4", 0.01, limit=1)
    assert ended.value.reason == "event"


def test_the_simulator_knows_no_switch_by_name():
    tree = ast.parse(Path(simulator.__file__).read_text("utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    rooms = {part for module in imported for part in module.split(".")}
    assert "mode_switch" in rooms
    assert not rooms & {"stops", "friction", "events", "divergence", "step_policy"}
