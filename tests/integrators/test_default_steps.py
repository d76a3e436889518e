"""Where nothing is said: steps that the joints' stiffness allows, and a word where they were too long."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import default_steps
from knuckle.joints import Prismatic, Revolute


def hinge(rate: float, frequency: float = 0.0) -> kn.Model:
    """A wheel that a damper slows with this rate, and a spring swings with this frequency."""
    b = kn.Builder("hinge", gravity=(0, 0, 0))
    b.body("wheel", joint=Revolute("y"), mass=1.0, inertia=(0.5, 0.5, 0.5), damping=0.5 * rate,
           stiffness=0.5 * frequency**2)  # fmt: skip
    return b.build()


def quietly(*args: Any, **options: Any) -> kn.Trajectory:
    """A simulation that must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return kn.simulate(*args, progress=False, **options)


@pytest.mark.parametrize(("rate", "parts"), [(0.0, 1), (490.0, 1), (510.0, 2), (1e4, 32), (1.25e5, 256)])
def test_dampers_divide_the_millisecond(rate: float, parts: int):
    steps = default_steps(hinge(rate))
    assert (steps.name, steps.parts, steps.dt) == ("rk4", parts, 1e-3 / parts)
    motion = quietly(hinge(rate), [0.0], [1.0], 0.01)
    assert (motion.integrator, motion.dt) == ("rk4", 1e-3 / parts)
    assert motion.times == pytest.approx(1e-3 * np.arange(11), abs=1e-15)
    assert motion.v[:, 0] == pytest.approx(np.exp(-rate * motion.times), abs=5e-4)
    assert ("stiff" in motion.message) == (parts > 1)


def test_springs_divide_it_too():
    model = hinge(0.0, 1000.0)
    assert default_steps(model).parts == 8
    motion = quietly(model, [0.01], None, 0.05)
    assert motion.q[:, 0] == pytest.approx(0.01 * np.cos(1000 * motion.times), abs=1e-5)


def test_what_is_given_is_taken():
    model = hinge(2e4)
    for given in ("heun", kn.integrators.RungeKutta4()):
        steps = default_steps(model, integrator=given)
        assert (steps.dt, steps.parts, steps.why) == (1e-3, 1, "")
    assert default_steps(model, integrator="adaptive").dt is None
    assert default_steps(model, 1e-4).name == "rk4"
    assert default_steps(model, 1e-3).name == "implicit"


def test_the_stiffest_of_several_states_counts():
    """A hand is lighter to its wrist where the arm is bent: here a rod on a slider, whose inertia depends on q."""
    b = kn.Builder("rod", gravity=(0, 0, 0))
    b.body("hub", joint=Revolute("y"), mass=0.1, inertia=(1e-3, 1e-3, 1e-3), damping=3.0)
    b.body("bob", on="hub", joint=Prismatic("x"), mass=1.0)
    model = b.build()
    assert default_steps(model, q=np.array([0.0, 1.0])).parts < default_steps(model, q=np.zeros(2)).parts
    both = default_steps(model, q=np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert both.parts == default_steps(model, q=np.zeros(2)).parts


@pytest.mark.parametrize("options", [{"dt": 1e-3}, {}])
def test_implicit_steps_are_said(options: dict[str, float]):
    """By the trajectory; by a warning where nothing looks at their errors afterwards."""
    model = hinge(2e4 if options else 1e7)
    motion = quietly(model, [0.0], [1.0], 0.1, **options)
    assert motion.integrator == "implicit"
    assert "hinge are stiff" in motion.message
    assert abs(motion.v[-1, 0]) < 1e-6
    length = "0.001" if options else "6.25e-05"
    with pytest.warns(RuntimeWarning, match=rf"hinge are stiff .*: steps of {length} s are implicit ones"):
        kn.simulate(model, [0.0], [1.0], 0.1, progress=False, controller=lambda model, q: 0 * q, **options)
    with pytest.warns(RuntimeWarning, match="are implicit ones"):
        found = kn.rollout(model, np.zeros((3, 1)), np.ones((3, 1)), None, 1e-3, steps=10)
    assert found.integrator == "implicit"
    assert found.finite.all()


def test_joints_that_become_stiffer_on_the_way():
    """A hub that draws in the weight it carries, and with it loses its inertia: RK4 gives way to implicit steps."""
    b = kn.Builder("hub", gravity=(0, 0, 0))
    b.body("hub", joint=Revolute("y"), mass=0.1, inertia=(1e-6, 1e-6, 1e-6), damping=0.3)
    b.body("bob", on="hub", joint=Prismatic("x"), mass=0.01, stiffness=100.0, damping=0.02)
    model = b.build()
    start = np.array([0.0, 0.3])
    assert default_steps(model, q=start).name == "rk4"
    assert default_steps(model, q=np.zeros(2)).name == "implicit"
    motion = kn.simulate(model, start, [0.1, 0.0], 0.3, progress=False)
    assert (motion.reason, motion.integrator) == ("finished", "implicit")
    assert "became too stiff for RK4" in motion.message


def test_steps_that_were_too_long_are_said():
    """And the step that the warning names does what it says."""
    b = kn.Builder("double pendulum")
    for name, on in (("upper", "base"), ("lower", "upper")):
        b.body(name, on=on, joint=Revolute("y"), at=(0, 0, 0 if on == "base" else -0.05), mass=1.0, com=(0, 0, -0.05),
               inertia=(1e-5, 1e-5, 1e-5))  # fmt: skip
    model, q = b.build(), [1.5, 0.5]
    right = quietly(model, q, None, 0.5, dt=1e-4)
    expected = r"may be off by about .* steps of 0.02 s are long for RungeKutta4. dt="
    with pytest.warns(RuntimeWarning, match=expected) as said:
        coarse = kn.simulate(model, q, None, 0.5, dt=0.02, progress=False)
    assert np.abs(coarse.q[-1] - right.q[-1]).max() > 1e-3
    better = float(str(said[0].message).split("dt=")[1].split()[0])
    fine = quietly(model, q, None, 0.5, dt=better)
    assert np.abs(fine.q[-1] - right.q[-1]).max() < 1e-3


def test_a_run_from_a_checkpoint_takes_the_same_steps(tmp_path: Any):
    model = hinge(2e4)
    whole = kn.simulate(model, [0.0], [1.0], 0.02, progress=False)
    kn.simulate(model, [0.0], [1.0], 0.02, progress=False, checkpoint=tmp_path / "run")
    again = kn.simulation.resume(tmp_path / "run")
    np.testing.assert_array_equal(again.q, whole.q)
