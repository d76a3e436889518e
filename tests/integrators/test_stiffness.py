"""How stiff a mechanism is, and what that says about explicit steps."""

import warnings

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import RungeKutta4
from knuckle.integrators.stiffness import Stiffness, stiffness
from knuckle.joints import Prismatic, Revolute
from knuckle.simulation.steps.stepper import stepper

from .mechanisms import BODY, mixed, start


def of(model: kn.Model, q=None, v=None, **forces) -> Stiffness:
    q = kn.neutral(model) if q is None else np.asarray(q, float)
    v = np.zeros(model.nv) if v is None else np.asarray(v, float)
    return stiffness(stepper(model, RungeKutta4(), **forces).system, 0.0, q, v, bool(forces))


def slider(**joint: float) -> kn.Model:
    builder = kn.Builder("slider", gravity=(0, 0, 0))
    builder.body("mass", joint=Prismatic("x"), mass=2.0, **joint)
    return builder.build()


def test_one_mass():
    found = of(slider(stiffness=800.0, damping=6.0))
    assert found.damping == pytest.approx(3.0)
    assert found.frequency == pytest.approx(20.0)
    assert found.rate == pytest.approx(20.0)
    assert of(slider()) == Stiffness(0.0, 0.0)


def test_gains_count():
    @kn.kernel
    def pd(model, q, v, kp, kd):
        return -kp * q - kd * v

    found = of(slider(stiffness=400.0), controller=pd, parameters={"kp": 400.0, "kd": 6.0})
    assert (found.damping, found.frequency) == pytest.approx((3.0, 20.0), rel=1e-6)


def test_gears_count():
    """A damper at a wheel that turns ten times as fast is felt a hundred times."""
    builder = kn.Builder("gears", gravity=(0, 0, 0))
    builder.body("arm", joint=Revolute("z"), inertia=(1, 1, 1.0), mass=1.0)
    builder.body("wheel", joint=Revolute("z"), inertia=(1, 1, 0.0), mass=1.0, damping=2.0)
    builder.couple("wheel_joint", "arm_joint", 10.0)
    assert of(builder.build()).damping == pytest.approx(200.0)


def test_a_light_body_far_out_is_what_counts():
    builder = kn.Builder("arm")
    builder.body("upper", joint=Revolute("y"), damping=1.0, **BODY)
    builder.body("finger", "upper", Revolute("y"), (0.3, 0.0, 0.0), mass=1e-4, inertia=(1e-6,) * 3, damping=0.01)
    assert of(builder.build()).damping == pytest.approx(1e4, rel=0.01)


def test_rates_of_a_tree_are_those_of_its_matrices():
    model = mixed(Prismatic("x"))
    q, _ = start(model)
    H, D = kn.mass_matrix(model, q), np.diag([x for joint in model.joints for x in joint.damping])
    K = np.diag([x for joint in model.joints for x in joint.stiffness])
    found = of(model, q)
    assert found.damping == pytest.approx(np.abs(np.linalg.eigvals(np.linalg.solve(H, D))).max(), rel=1e-9)
    assert found.frequency == pytest.approx(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(H, K))).max()), rel=1e-9)


@pytest.mark.parametrize("joint", [{"stiffness": 1e6, "damping": 1.0}, {"damping": 3e3}], ids=["spring", "damper"])
def test_it_says_which_steps_of_rk4_are_stable(joint: dict[str, float]):
    model = slider(**joint)
    rate = of(model).rate
    v = [0.0] if "stiffness" in joint else [1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the second diverges
        ends = [
            np.abs(kn.rollout(model, [1e-3], v, None, x / rate, steps=2000, integrator="rk4").v[-1]) for x in (2.6, 3.0)
        ]
    assert ends[0] < 1.1
    assert not ends[1] < 1e6
