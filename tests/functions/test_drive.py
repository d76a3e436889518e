"""Joints that move by a law of time: their drives' forces, and what these do to the energy (RBDA 3.4, 9.1)."""

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import knuckle as kn
from knuckle.joints import Driven, Free, Joint, Polynomial, Prismatic, Revolute, Sinusoid, Together, Universal
from knuckle.joints.composed.time_laws import Law
from knuckle.model import Builder, Model, solid_box
from knuckle.testing.compare import close

from ..seeds import quick

SWING = Sinusoid(amplitude=0.3, frequency=1.0, phase=0.2, offset=0.1)


def arm(shoulder: Joint, mount: Joint | None = None) -> Model:
    """A shoulder with an arm hanging from it, on the ground or on something that moves."""
    b = Builder("arm", base="world")
    if mount is not None:
        b.body("mount", on="world", joint=mount, inertia=solid_box(3.0, (0.5, 0.4, 0.3)))
    b.body("upper", on="mount" if mount else "world", joint=shoulder, at=(0.1, 0, 0.2),
           inertia=solid_box(1.0, (0.05, 0.02, 0.2), at=(0, 0.01, 0.1)))  # fmt: skip
    b.body("lower", on="upper", joint=Revolute((0.2, 1, 0)), at=(0, 0, 0.2),
           inertia=solid_box(1.0, (0.5, 0.02, 0.05), at=(0.25, 0, 0.1)))  # fmt: skip
    return b.build()


def four_bar(crank: Joint) -> Model:
    b = Builder("four-bar", base="world")
    b.body("crank", on="world", joint=crank, inertia=solid_box(1.0, (0.05, 0.02, 0.2), at=(0, 0, 0.1)))
    b.body("coupler", on="crank", joint=Revolute("y"), at=(0, 0, 0.2),
           inertia=solid_box(1.0, (0.5, 0.02, 0.05), at=(0.25, 0, 0.1)))  # fmt: skip
    b.body("rocker", on="world", joint=Revolute("y"), at=(0.6, 0, 0),
           inertia=solid_box(1.0, (0.05, 0.02, 0.4), at=(0, 0, 0.2)))  # fmt: skip
    b.close_loop("pin", Revolute("y"), "coupler", "rocker", at_predecessor=(0.5, 0, 0.2), at_successor=(0, 0, 0.4))
    return b.build()


def beside(model: Model, name: str, law: Law, t: float, x: np.ndarray, part: int) -> np.ndarray:
    """The variables of the mechanism without laws: those of the law (0: q, 1: v, 2: a) put where the joint has them."""
    i = model.joint_index(name)
    start = (model.q_slices if part == 0 else model.v_slices)[i].start
    return np.insert(x, start, law(t)[part])


CASES = {
    "turning": (lambda kind: arm(kind), Revolute("x"), SWING, "upper_joint"),
    "sliding": (lambda kind: arm(kind), Prismatic("z"), Polynomial((0.1, 0.4, -0.8)), "upper_joint"),
    "two freedoms": (lambda kind: arm(kind), Universal(), Together((SWING, Polynomial((0.2, 1.0)))), "upper_joint"),
    "on a floating base": (lambda kind: arm(kind, Free()), Revolute("x"), SWING, "upper_joint"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_force_is_that_of_hybrid_dynamics(case: str):
    """A drive is a joint whose acceleration is given: the forces of hybrid dynamics of the mechanism without laws."""
    build, kind, law, name = CASES[case]
    driven, plain = build(Driven(kind, law)), build(kind)
    rng, t = np.random.default_rng(1), 0.37
    q = kn.random_configuration(driven, rng)
    v, tau = rng.normal(size=(2, driven.nv))
    f = rng.normal(size=(driven.nb, 6))
    Q, V, A, T = (
        beside(plain, name, law, t, x, part) for x, part in ((q, 0), (v, 1), (np.zeros(driven.nv), 2), (tau, 1))
    )
    a, forces = kn.hybrid_dynamics(plain, Q, V, T, A, f, prescribed=[name])
    found = kn.drive_forces(driven, t, q, v, tau, f)
    assert list(found) == [name]
    where = plain.v_slices[plain.joint_index(name)]
    close(found[name], forces[where], 100.0)
    close(kn.forward_dynamics(driven.at_time(t), q, v, tau, f), np.delete(a, range(where.start, where.stop)), 100.0)


@pytest.mark.parametrize("case", quick(CASES, ["two freedoms"]))
def test_the_power_of_the_drive_is_what_the_energy_gains(case: str):
    """E(t) − E(0) = ∫ τ·v dt over the law's velocity: the simulation takes q, v and v̇ from it (RBDA P12).

    Simpson's rule and the integrator have errors of the fourth order in a step of a millisecond.
    """
    build, kind, law, name = CASES[case]
    model = build(Driven(kind, law))
    trajectory = kn.simulate(model, duration=0.5, dt=1e-3)
    rates = np.array([law(t)[1] for t in trajectory.times])
    power = np.sum(trajectory.drive_forces()[name] * rates, axis=-1)
    work = cumulative_simpson(power, x=trajectory.times, initial=0)
    gained = trajectory.energy - trajectory.energy[0]
    assert np.abs(gained).max() > 0.01
    np.testing.assert_allclose(gained, work, rtol=0, atol=1e-8 * np.abs(power).max())


@pytest.mark.slow
def test_a_drive_in_a_closed_loop():
    """A four-bar whose crank follows a law: nothing is free, the loop stays closed, and the drive does all the work."""
    driven, plain = four_bar(Driven(Revolute("y"), SWING)), four_bar(Revolute("y"))
    start, rate, _ = SWING(0.0)
    Q = kn.loops.close(plain, [*start, 0.0, 0.0], keep=["crank_joint"]).q
    K = kn.loops.jacobian(plain, Q)
    v0 = -np.linalg.pinv(K[:, 1:]) @ K[:, 0] * rate[0]
    trajectory = kn.simulate(driven, Q[1:], v0, 0.5, dt=1e-3)
    force = trajectory.drive_forces()["crank_joint"][:, 0]
    rates = np.array([SWING(t)[1][0] for t in trajectory.times])
    work = cumulative_simpson(force * rates, x=trajectory.times, initial=0)
    np.testing.assert_allclose(trajectory.energy - trajectory.energy[0], work, rtol=0, atol=1e-8)
    k = 200
    q, v = (
        beside(plain, "crank_joint", SWING, trajectory.times[k], x[k], part)
        for part, x in enumerate((trajectory.q, trajectory.v))
    )
    assert np.abs(kn.loops.error(plain, q)).max() < 1e-8
    a = np.array([*SWING(trajectory.times[k])[2], 0, 0])
    _, forces = kn.hybrid_dynamics(plain, q, v, np.zeros(3), a, prescribed=["crank_joint"])
    np.testing.assert_allclose(force[k], forces[0], rtol=0, atol=1e-6 * np.abs(force).max())


def test_inside_a_kernel_and_one_by_one():
    """Rows of a trajectory at once, one instant, and inside a kernel: the same force."""
    model = arm(Driven(Revolute("x"), SWING))
    rng = np.random.default_rng(3)
    t, q, v = np.linspace(0, 1, 5), *rng.normal(size=(2, 5, 1))
    rows = kn.drive_forces(model, t, q, v)["upper_joint"]

    @kn.kernel
    def power(model, t, q, v):
        (rate,) = SWING(t)[1]
        return kn.drive_forces(model, t, q, v)["upper_joint"][0] * rate

    for k in range(5):
        close(kn.drive_forces(model, float(t[k]), q[k], v[k])["upper_joint"], rows[k])
        close(power(model, float(t[k]), q[k], v[k]), rows[k, 0] * SWING(float(t[k]))[1][0])


def test_a_weight_on_a_lift():
    """By hand: a lift that accelerates by 1 m/s² holds m (g + 1), whatever it carries sideways."""
    b = Builder("lift", base="world")
    b.body("cabin", on="world", joint=Driven(Prismatic("z"), Polynomial((0, 0, 0.5))), mass=20.0, inertia=(1, 1, 1))
    b.body("cart", on="cabin", joint=Prismatic("x"), mass=5.0, inertia=(1, 1, 1))
    force = kn.drive_forces(b.build(), 2.0, [0.3], [0.1])["cabin_joint"]
    assert force[0] == pytest.approx(25.0 * (9.81 + 1.0), rel=1e-14)


def test_what_has_no_drive_is_said():
    model = arm(Revolute("x"))
    with pytest.raises(kn.ModelError, match="no joint moves by a law of time"):
        kn.drive_forces(model, 0.0, [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(TypeError, match=r"drive_forces needs a knuckle\.Model first, not str"):
        kn.drive_forces("arm", 0.0, [0.0], [0.0])  # type: ignore[arg-type]
