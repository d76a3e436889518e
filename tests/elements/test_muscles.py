"""Muscles: their curves, what the notes and MuJoCo say of them, and joint forces by activations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import CubicMuscle, HillMuscle, MujocoMuscle, MuscleLaw, Spring, activation_rate
from knuckle.errors import ModelError
from knuckle.model.elements.muscles.curves import HermiteCurve
from knuckle.model.elements.muscles.muscle_laws import ACTIVE, PASSIVE, VELOCITY

PRINTED = [
    (PASSIVE, 1.0, 1.3, (2.55305620081729, -7.02386028610914, 6.38855196976641, -1.91774788447456)),
    (PASSIVE, 1.3, 1.7, (-2.76122280853939, 14.6587935048229, -23.0429533092186, 11.3749950550874)),
    (ACTIVE, 0.4, 0.7, (-39.881247949014, 68.3443204612586, -35.5324573534802, 5.83029153632759)),
    (ACTIVE, 0.7, 1.2, (-0.322674853252855, -1.71744046959073, 4.40290549894003, -1.36279017609645)),
    (ACTIVE, 1.2, 1.81, (4.85118460831817, -20.9908796589089, 28.3080866793169, -11.2356843095252)),
    (VELOCITY, -0.05, 0.05, (-453.3333333333333, -8.780487804878049, 5.0, 1.0)),
]
"""The cubics of the notes, with their coefficients as printed (1.42, 1.44), and those that are missing (1.46)."""


@pytest.mark.parametrize(("curve", "low", "high", "coefficients"), PRINTED)
def test_curves_are_those_of_the_notes(curve: HermiteCurve, low: float, high: float, coefficients: tuple[float, ...]):
    for x in np.linspace(low, high, 7)[:-1]:
        assert curve(x) == pytest.approx(np.polyval(coefficients, x), abs=1e-11)


def test_the_ends_of_the_velocity_curve():
    for x in (-1.0, -0.6, -0.1):
        assert VELOCITY(x) == pytest.approx(0.9152534738643788 * (x + 1) ** 3, abs=1e-14)
    for x in (0.1, 0.6, 1.0):
        assert VELOCITY(x) == pytest.approx(1.4 + 0.2666486498660002 * (x - 1) ** 3, abs=1e-14)
    assert VELOCITY(-3.0) == 0
    assert VELOCITY(3.0) == 1.4
    x = np.linspace(-1, 1, 2001)
    assert (np.diff([VELOCITY(a) for a in x]) > 0).all()


@pytest.mark.parametrize("curve", [PASSIVE, ACTIVE, VELOCITY])
def test_curves_have_continuous_slopes_and_right_areas(curve: HermiteCurve):
    for x, y, slope in curve.knots:
        for at in (x - 1e-9, x + 1e-9):
            assert curve(at) == pytest.approx(y, abs=1e-7)
            assert np.imag(curve(complex(at, 1e-30))) / 1e-30 == pytest.approx(slope, abs=1e-5)
    for x in np.linspace(curve.knots[0][0] - 0.5, curve.knots[-1][0] + 0.5, 40):
        assert np.imag(curve.integral(complex(x, 1e-30))) / 1e-30 == pytest.approx(curve(x), abs=1e-13)
    assert curve.integral(curve.knots[0][0]) == 0


def test_a_muscle_of_the_notes():
    """Isometric, as fast as it can shorten, and as it lengthens: a f_opt, 0 and 1.4 a f_opt."""
    law = CubicMuscle(800.0, 0.1, 0.2, speed=10.0)
    for a in (0.3, 1.0):
        assert law.activated(0.3, 0.0, a) == pytest.approx(800 * a, rel=1e-12)
        assert law.activated(0.3, -1.0, a) == pytest.approx(0, abs=1e-12)
        assert law.activated(0.3, 1.0, a) == pytest.approx(1.4 * 800 * a, rel=1e-12)
    assert law.activated(0.2 + 0.17, 0.0, 0.0) == pytest.approx(800.0, rel=1e-12)
    assert law.tension(0.3, 0.2) == pytest.approx(0, abs=1e-12)


LAWS: list[MuscleLaw] = [
    CubicMuscle(800.0, 0.3, 0.1, activation=0.4),
    MujocoMuscle(500.0, (0.2, 0.5), activation=0.4),
    HillMuscle(600.0, 0.3, 0.1, pennation=0.3, activation=0.4, rigid_tendon=True),
    HillMuscle(600.0, 0.2, 0.2, pennation=0.3, activation=0.4),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_tension_at_rest_is_the_slope_of_the_energy(law: MuscleLaw):
    for x in np.linspace(0.05, 0.9, 60):
        slope = np.imag(law.energy(complex(x, 1e-30))) / 1e-30
        assert slope == pytest.approx(law.tension(x, 0.0), rel=1e-12, abs=1e-10)


def test_a_hill_muscle_by_its_curves():
    """Isometric at its best length, at its fastest, and lengthening; its fibers' rate solves the balance of forces."""
    law = HillMuscle(800.0, 0.1, 0.2, speed=10.0, damping=0.0, rigid_tendon=True)
    for a in (0.3, 1.0):
        assert law.activated(0.3, 0.0, a) == pytest.approx(800 * a, rel=1e-12)
        assert law.activated(0.3, -1.0, a) == pytest.approx(0, abs=1e-12)
        assert law.activated(0.3, 1e6, a) == pytest.approx(1.4 * 800 * a, rel=1e-5)
    assert law.activated(0.2 + 0.17, 0.0, 0.0) == pytest.approx(800.0, rel=1e-12)
    assert law.activated(0.19, 0.3, 1.0) == 0
    x = np.linspace(-1.2, 1.2, 2001)
    assert (np.diff([law._by_velocity(u) for u in x[x > -1]]) > 0).all()
    for at in (-1.0, 0.0):
        slopes = [np.imag(law._by_velocity(complex(at + e, 1e-30))) / 1e-30 for e in (-1e-9, 1e-9)]
        assert slopes[0] == pytest.approx(slopes[1], abs=1e-6)
    law = HillMuscle(800.0, 0.1, 0.2, pennation=0.25)
    for a in (0.0, 0.02, 0.5, 1.0):
        for fibers in (0.05, 0.09, 0.11, 0.16):
            for length in np.linspace(0.22, 0.4, 7):
                u = law.fiber_rate(length, fibers, a) / (0.1 * 10)
                along = np.sqrt(max(fibers**2 - (0.1 * np.sin(0.25)) ** 2, 1e-6))
                pull = law._tendon_force(length, along) * fibers / along
                rigid = HillMuscle(1.0, 0.1, 0.0, damping=0.1, rigid_tendon=True)
                own = a * law._active(fibers / 0.1) * law._by_velocity(u) + 0.1 * u + rigid.activated(fibers, 0.0, 0.0)
                assert own == pytest.approx(pull, rel=1e-12, abs=1e-13)


def arm(law: MuscleLaw) -> kn.Model:
    b = kn.Builder("arm", base="trunk")
    b.body("upper", on="trunk", joint=kn.joints.Revolute("y"), inertia=kn.model.rod(1.0, 0.3, at=(0, 0, -0.15)))
    b.body("lower", on="upper", joint=kn.joints.Revolute("y"), at=(0, 0, -0.3), inertia=kn.model.rod(0.7, 0.3))
    b.line("biceps", [("trunk", (0.05, 0, 0)), ("upper", (0.04, 0, -0.2)), ("lower", (0.02, 0, -0.05))], law)
    b.spring("tie", "trunk", "lower", stiffness=5.0)
    b.line("triceps", [("trunk", (-0.05, 0, 0)), ("lower", (-0.02, 0, -0.05))], law)
    return b.build()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_activations_are_joint_forces(law: MuscleLaw):
    """Muscles with other activations of their own give the same motion as those forces at the joints."""
    model = arm(law)
    q, v, tau = np.array([0.3, -0.7]), np.array([1.0, 0.5]), np.array([0.2, 0.1])
    activations = np.array([0.9, 0.1])
    added = elements.muscle_forces(model, q, v, activations)
    assert np.abs(added).max() > 0.1

    def with_activation(x: kn.elements.ForceElement, a: float) -> kn.elements.ForceElement:
        from dataclasses import replace

        assert isinstance(x, elements.Line)
        return replace(x, law=replace(x.law, activation=a))  # type: ignore[type-var]

    biceps, tie, triceps = model.elements
    tensed = model.replace(elements=(with_activation(biceps, 0.9), tie, with_activation(triceps, 0.1)))
    expected = kn.forward_dynamics(tensed, q, v, tau)
    assert kn.forward_dynamics(model, q, v, tau + added) == pytest.approx(expected, rel=1e-11)
    many = elements.muscle_forces(model, np.tile(q, (5, 1)), v, np.linspace(0, 1, 10).reshape(5, 2))
    assert many.shape == (5, 2)
    with pytest.raises(ValueError, match="activations"):
        elements.muscle_forces(model, q, v, np.zeros(3))
    assert kn.formats.read_json(kn.formats.to_json(model)) == model


def test_mujoco_says_the_same():
    """Gain and bias of MuJoCo's muscles, over lengths and velocities inside and outside of their range."""
    mujoco = pytest.importorskip("mujoco")
    prm = np.array([0.75, 1.05, 500.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2])
    law = MujocoMuscle(500.0, (0.2, 0.5))
    lengths = np.array([0.2, 0.5])
    text = """<mujoco><worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body></worldbody><actuator>
        <general joint="j" dyntype="none" gaintype="muscle" biastype="muscle" lengthrange="0.2 0.5" ctrllimited="false"
        gainprm="{0}" biasprm="{0}"/></actuator></mujoco>""".format(" ".join(map(str, prm)))
    there = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(there)
    assert there.actuator_lengthrange[0] == pytest.approx(lengths)
    for length in np.linspace(-0.2, 1.3, 60):
        for rate in (-3.0, -0.4, 0.0, 0.1, 0.4, 3.0):
            for a in (0.0, 0.5, 1.0):
                data.qpos[0], data.qvel[0], data.ctrl[0] = length, rate, a
                mujoco.mj_forward(there, data)
                assert law.activated(length, rate, a) == pytest.approx(-data.actuator_force[0], rel=1e-12, abs=1e-9)


def test_activation_follows_excitation():
    """As MuJoCo computes it: τ (½ + 3/2 a) up, τ / (½ + 3/2 a) down."""
    assert activation_rate(1.0, 0.0) == pytest.approx(1 / 0.005)
    assert activation_rate(0.0, 1.0) == pytest.approx(-2 / 0.04)
    a = np.array([0.0, 0.3, 1.0])
    assert activation_rate(np.ones(3), a) == pytest.approx((1 - a) / (0.01 * (0.5 + 1.5 * a)))


def test_what_is_refused():
    for wrong in (
        lambda: CubicMuscle(-1.0, 0.1),
        lambda: CubicMuscle(1.0, 0.0),
        lambda: CubicMuscle(1.0, 0.1, activation=2.0),
        lambda: MujocoMuscle(1.0, (0.5, 0.2)),
        lambda: MujocoMuscle(1.0, (0.2, 0.5), lmin=1.2),
        lambda: MujocoMuscle(1.0, (0.2, 0.5), fvmax=1.0),
        lambda: MujocoMuscle(1.0, 0.2),  # type: ignore[arg-type]
        lambda: HillMuscle(1.0, 0.1, 0.0),
        lambda: HillMuscle(1.0, 0.1, 0.2, damping=0.0),
        lambda: HillMuscle(1.0, 0.1, 0.2, pennation=2.0),
        lambda: HillMuscle(1.0, 0.1, "long"),  # type: ignore[arg-type]
        lambda: HillMuscle(1.0, 0.1, 0.2, rigid_tendon=True, fiber_length=0.1),
    ):
        with pytest.raises(ValueError, match="Muscle"):
            wrong()
    b = kn.Builder("x")
    b.body("a", joint=kn.joints.Prismatic("x"), mass=1.0)
    with pytest.raises(ModelError):
        b.line("line", ["a"], Spring(1.0))
    bad: Any = "big"
    for match, call in (
        ("line.*stiffness.*'big'", lambda: b.spring("line", "a", "base", stiffness=bad)),
        ("line.*rest.*'big'", lambda: b.cable("line", ["a", "base"], stiffness=1.0, rest=bad)),
        ("line.*law.*'big'", lambda: b.line("line", ["a", "base"], bad)),
        ("line.*point.*3", lambda: b.spring("line", "a", 3, stiffness=1.0)),  # type: ignore[arg-type]
        ("line.*point.*3", lambda: b.line("line", ["a", (3, 4)], Spring(1.0))),  # type: ignore[list-item]
        ("line.*points", lambda: b.line("line", "a", Spring(1.0))),
        ("line.*angular.*'big'", lambda: b.drag("line", "a", angular=bad)),
        ("line.*six.*'big'", lambda: b.bushing("line", "a", "base", stiffness=bad)),
        ("line.*force", lambda: b.point_force("line", "a", (1, bad, 3))),
        ("line.*nan", lambda: b.spring("line", "a", "base", stiffness=float("nan"))),
    ):
        with pytest.raises(ModelError, match=match):
            call()
