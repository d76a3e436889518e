"""Staggered projections and the single program, against the exact solver, closed forms and counterexamples."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.seeds import seeds

import knuckle as kn
from knuckle.algorithms.contact.cone_problem import ConeProblem, residual
from knuckle.algorithms.contact.impulse_laws import Cone
from knuckle.contact import JointBearing, bilateral_staggered_projections, single_contact_program, staggered_projections
from knuckle.contact.bearings import bearing_of
from knuckle.contact.staggered_steps import joint_loads
from knuckle.integrators import ContactSteps
from knuckle.joints import Prismatic, Revolute, Spherical
from knuckle.model import Geometry, Model, Plane, Sphere, solid_box
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.solvers.staggered_projections import Places, staggered
from knuckle.spatial import Transform, Vector

from .scenes import RADIUS, G, ball, box, on_plane, placed

DT = 1e-3


def exact(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The velocity after a step of the exact solver."""
    steps = kn.simulation.stepper(model, ContactSteps())
    return steps.step(0.0, steps.start(0.0, q, v, DT), DT).v


@pytest.mark.parametrize(
    ("friction", "slope", "velocity"),
    [
        pytest.param(0.0, 0.3, (0.5, 0.2, -1.0), id="nothing rubs", marks=pytest.mark.slow),
        pytest.param(0.8, 0.3, (0, 0, 0), id="it sticks", marks=pytest.mark.slow),
        pytest.param(0.8, 0.3, (0, 0, -1.0), id="it falls and sticks"),
        pytest.param(0.3, 0.6, (1.0, 0, 0), id="it slides straight on", marks=pytest.mark.slow),
        pytest.param(0.3, 0.2, (0.4, -0.3, 0), id="it slides aside"),
        pytest.param(0.3, 0.2, (1e-4, 2e-4, 0), id="it comes to rest", marks=pytest.mark.slow),
    ],
)
def test_they_agree_with_the_exact_solver(friction: float, slope: float, velocity: tuple[float, ...]):
    for thing, height in ((ball(), RADIUS), (box(), 0.1)):
        model = on_plane(thing, friction=friction, slope=slope)
        q, v = placed(model, (0, 0, height)), np.array([0, 0, 0, *velocity], float)
        found = staggered_projections(model, q, v, dt=DT)
        assert found.is_converged
        ahead = model.joints[0].type.coasted(Vector(q.tolist()), Vector(found.v.tolist()), DT)[1]
        np.testing.assert_allclose([float(x) for x in ahead], exact(model, q, v), atol=1e-9)  # in the axes of the end
        momentum = found.impulses.sum(axis=0)
        free = v + DT * kn.forward_dynamics(model, q, v, np.zeros(6))
        np.testing.assert_allclose(momentum, model.bodies[0].inertia.mass * (found.v - free)[3:], atol=1e-12)


@pytest.mark.parametrize("seed", seeds(40, quick=4))
def test_where_they_converge_coulombs_law_holds(seed: int):
    """Random contacts on a mechanism: at a fixed point the residual of the exact cone problem is rounding."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(9, 12))
    v, mu = rng.normal(size=12), rng.uniform(0.1, 0.6, 3)
    N, T = J[::3], np.delete(J, [0, 3, 6], axis=0)
    found = staggered(
        np.eye(12), v, Places(N, np.zeros(3), T, (2, 2, 2)), lambda at, alpha, beta: mu * alpha, np.zeros(6), "round",
        500, 1e-12,
    )  # fmt: skip
    assert found.is_converged
    problem = ConeProblem.of((J @ J.T).tolist(), (J @ v).tolist(), [Cone(float(m)) for m in mu])
    impulses = np.column_stack([found.alpha, found.beta.reshape(3, 2)]).ravel().tolist()
    assert float(residual(problem, impulses)) < 1e-9
    np.testing.assert_allclose(found.v, v + J.T @ np.array(impulses), atol=1e-12)


def test_loops_stay_closed():
    """A four-bar linkage that falls on a ball at its coupler: the ground carries it, and its loop stays closed."""
    model = kn.robots.load("four_bar")
    knob = Geometry(Sphere(0.02), Transform.translation((0.16, 0, 0.12)))
    bodies = [replace(body, collisions=(knob,) if body.name == "coupler" else ()) for body in model.bodies]
    ground = Geometry(Plane((0.0, 0.0)), Transform.translation((0, 0, 0.22)))
    model = model.replace(bodies=tuple(bodies), base=replace(model.base, collisions=(ground,)))
    model = model.replace(contact=ContactRules((Surface(friction=0.05),)))
    q = kn.loops.close(model, kn.neutral(model)).q
    assert abs(kn.contact.gaps(model, q)[0]) < 1e-9
    falling = kn.forward_dynamics(model, q, np.zeros(3), np.zeros(3))
    v = falling * np.sign(kn.contact.gaps(model, kn.integrate(model, q, 1e-6 * falling))[0]) * -0.1
    found = staggered_projections(model, q, v, dt=DT)
    assert found.is_converged
    assert found.impulses[0, 2] > 0
    then = kn.contact.gaps(model, kn.integrate(model, q, 1e-6 * found.v))[0]
    assert abs(then) < 1e-9
    free = v + DT * kn.forward_dynamics(model, q, v, np.zeros(3))
    K = np.asarray(kn.loops.jacobian(model, q))
    np.testing.assert_allclose(K @ found.v, K @ free, atol=1e-10)
    assert np.abs(found.v - free).max() > 1e-3


def test_the_single_program_is_right_without_friction():
    model = on_plane(box(), friction=0.4, slope=0.3)
    q, v = placed(model, (0, 0, 0.1)), np.array([0.1, 0.3, 0, 0.5, 0.2, -1.0])
    found = single_contact_program(model, q, v, dt=DT, friction=None)
    smooth = on_plane(box(), friction=0.0, slope=0.3)
    np.testing.assert_allclose(found.v, staggered_projections(smooth, q, v, dt=DT).v, atol=1e-12)
    assert (found.impulses[:, 2] >= 0).all()


def test_with_friction_the_single_program_lifts_what_slides():
    """Notes 1.88: sliding with v_t across a pyramid's face, it leaves the ground with μ v_t. Coulomb's law does not."""
    mu, speed = 0.3, 2.0
    model = on_plane(ball(), friction=mu).with_gravity((0, 0, 0))
    q, v = placed(model, (0, 0, RADIUS)), np.array([0, 0, 0, speed, 0, -1e-9])
    lifted = single_contact_program(model, q, v, dt=DT).v
    at_the_ground = kn.velocity(model, q, lifted, "body0", "aligned")
    slip = at_the_ground[3] - RADIUS * at_the_ground[1]
    assert lifted[5] == pytest.approx(mu * slip, rel=1e-6)
    assert lifted[5] > 0.3
    assert abs(staggered_projections(model, q, v, dt=DT).v[5]) < 1e-12


def test_pyramids_and_boxes_favour_directions():
    """Along a diagonal friction is μ/√2 by the pyramid of notes 1.85, √2 μ by the box of 2.110, and μ by a disc."""
    mu = 0.3
    model = on_plane(box((0.4, 0.4, 1e-3)), friction=mu)
    q, v = placed(model, (0, 0, 5e-4)), np.array([0, 0, 0, 1.0, 1.0, 0])

    def ratio(found: kn.contact.ContactStep) -> float:
        x, y, z = found.impulses.sum(axis=0)
        return math.hypot(x, y) / z

    assert ratio(staggered_projections(model, q, v, dt=DT)) == pytest.approx(mu, rel=1e-9)
    assert ratio(staggered_projections(model, q, v, dt=DT, cone="box")) == pytest.approx(math.sqrt(2) * mu, rel=1e-9)
    assert ratio(single_contact_program(model, q, v, dt=DT)) == pytest.approx(mu / math.sqrt(2), rel=1e-6)


def test_friction_of_a_step_before_is_forgotten_in_flight():
    """Algorithm 7 as printed: nothing pushes, 0 = 0 ends the loop, and the old friction goes on pulling."""
    model = on_plane(ball(), friction=0.5)
    q, v = placed(model, (0, 0, RADIUS)), np.array([0, 0, 0, 1.0, 0, 0])
    before = staggered_projections(model, q, v, dt=DT)
    assert abs(before.impulses[0, 0]) > 1e-3
    high = placed(model, (0, 0, 1.0))
    after = staggered_projections(model, high, v, dt=DT, start=before)
    np.testing.assert_allclose(after.v, v - [0, 0, 0, 0, 0, G * DT], atol=1e-15)
    assert np.abs(after.impulses).max() == 0


def test_a_guess_changes_nothing_but_the_rounds():
    model = on_plane(box(), friction=0.3, slope=0.5)
    q, v = placed(model, (0, 0, 0.1)), np.array([0, 0, 0, 1.0, 0.5, 0])
    cold = staggered_projections(model, q, v, dt=DT)
    warm = staggered_projections(model, q, v, dt=DT, start=cold)
    assert warm.rounds < cold.rounds
    np.testing.assert_allclose(warm.v, cold.v, atol=1e-10)


# friction in joints


def pendulum(mass: float = 2.0, arm: float = 0.5) -> Model:
    b = kn.Builder("pendulum", gravity=(0, 0, -G))
    b.body("bob", joint=Revolute("y"), inertia=solid_box(mass, (0.1, 0.1, 0.1), at=(0, 0, -arm)))
    return b.build()


def chain(seed: int) -> Model:
    tree = kn.testing.random_tree(seed, nb=4, types=["revolute", "prismatic", "spherical"], resistance=False)
    return tree.replace(joints=tuple(replace(joint, rotor_inertia=()) for joint in tree.joints))


@pytest.mark.parametrize("seed", seeds(12, quick=3))
def test_without_friction_bearings_change_nothing(seed: int):
    """Notes 2.113 and line 26 of algorithm 8 leave M J̇q̇ out, and get the acceleration wrong: here it counts."""
    model = chain(seed)
    state = kn.testing.random_state(model, seed)
    bearings = [JointBearing(joint.name, 0.0, 0.02) for joint in model.joints]
    a = kn.forward_dynamics(model, state.q, state.v, np.zeros(model.nv))
    found = bilateral_staggered_projections(model, bearings, state.q, state.v, dt=DT)
    np.testing.assert_allclose(found.v, state.v + DT * a, rtol=1e-10)
    J = np.concatenate([kn.jacobian(model, state.q, body.name, "body") for body in model.bodies])
    drift = np.concatenate(
        [kn.acceleration(model, state.q, state.v, 0 * state.v, body.name, "body") for body in model.bodies]
    )
    M = np.zeros((6 * model.nb, 6 * model.nb))
    for i, body in enumerate(model.bodies):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = [[float(x) for x in row] for row in body.inertia.matrix.rows]
    H = np.asarray(kn.mass_matrix(model, state.q))
    np.testing.assert_allclose(J.T @ M @ J, H, atol=1e-9 * np.abs(H).max())
    as_printed = a - np.linalg.solve(H, J.T @ M @ drift)
    assert np.abs(as_printed - a).max() > 1e-2 * np.abs(a).max()


def test_a_pendulum_on_a_pin():
    """At the bottom the pin carries m (g + l ω²) along the rod, and m l ω̇ across it; both rub with μ r."""
    mass, arm, mu, r, omega = 2.0, 0.5, 0.3, 0.02, 3.0
    model = pendulum(mass, arm)
    found = bilateral_staggered_projections(model, [JointBearing("bob_joint", mu, r)], [0.0], [omega], dt=DT)
    inertia = float(kn.mass_matrix(model, [0.0])[0, 0])
    slowing = mu * r * mass * (G + arm * omega**2) / (inertia - mu * r * mass * arm)
    assert found.is_converged
    assert (omega - found.v[0]) / DT == pytest.approx(slowing, rel=1e-9)
    assert found.joint_friction[0] == pytest.approx(-inertia * slowing * DT, rel=1e-9)


@pytest.mark.parametrize("sticks", [True, False])
def test_a_pin_holds_a_pendulum_that_is_not_far_out(sticks: bool):
    """It sticks while m g l sin θ < μ r m g (|cos θ| + |sin θ|): in the axes of its four places."""
    arm, mu, r = 0.5, 0.5, 0.05
    edge = math.atan(mu * r / (arm - mu * r))
    theta = edge * (0.98 if sticks else 1.02)
    found = bilateral_staggered_projections(pendulum(), [JointBearing("bob_joint", mu, r)], [theta], [0.0], dt=DT)
    assert (abs(found.v[0]) < 1e-12) == sticks


def test_a_motor_does_not_load_its_bearing():
    """A torque about the axis is no force of the pin's."""
    model = pendulum().with_gravity((0, 0, 0))
    bearing = JointBearing("bob_joint", 0.5, 0.05)
    slow, fast = (
        bilateral_staggered_projections(model, [bearing], [0.0], [0.0], [torque], dt=DT).joint_friction[0]
        for torque in (1.0, 2.0)
    )
    inertia = float(kn.mass_matrix(model, [0.0])[0, 0])
    share = 0.5 * 0.05 * 2.0 * 0.5 / inertia  # μ r m l/I of what turns it is lost in the pin, which drives the bob
    assert slow == pytest.approx(-DT * share / (1 + share), rel=1e-8)
    assert fast == pytest.approx(2 * slow, rel=1e-8)


def test_a_slider_under_a_load_across():
    """m g across the sleeve rubs with μ m g, whatever its size, where the load is in its middle."""
    b = kn.Builder("slider", gravity=(0, 0, -G))
    b.body("block", joint=Prismatic("x"), inertia=solid_box(2.0, (0.1, 0.1, 0.1)))
    model = b.build()
    found = bilateral_staggered_projections(model, [JointBearing("block_joint", 0.3, 0.02)], [0.0], [1.0], dt=DT)
    assert found.v[0] == pytest.approx(1 - 0.3 * G * DT, rel=1e-9)
    overhung = kn.Builder("slider", gravity=(0, 0, -G))
    overhung.body("block", joint=Prismatic("x"), inertia=solid_box(2.0, (0.1, 0.1, 0.1), at=(0.5, 0, 0)))
    jams = bilateral_staggered_projections(
        overhung.build(), [JointBearing("block_joint", 0.3, 0.02)], [0.0], [1.0], dt=DT
    )
    assert jams.v[0] < 1 - 5 * 0.3 * G * DT


def test_a_ball_joint_slows_every_turn():
    b = kn.Builder("top", gravity=(0, 0, -G))
    b.body("top", joint=Spherical(), inertia=solid_box(2.0, (0.2, 0.2, 0.2)))
    model = b.build()
    spin = np.array([0.3, -0.4, 2.0])
    found = bilateral_staggered_projections(model, [JointBearing("top_joint", 0.3, 0.02)], None, spin, dt=DT)
    assert found.is_converged
    assert np.linalg.norm(found.v) < np.linalg.norm(spin) - 1e-4
    # the weight is carried at the two poles, which slip with r ω across z only
    lost = found.v - spin
    assert abs(lost[2]) < 1e-12
    np.testing.assert_allclose(lost[:2] / np.linalg.norm(lost[:2]), -spin[:2] / 0.5, rtol=1e-6)
    assert np.linalg.norm(lost[:2]) == pytest.approx(0.3 * 2.0 * G * 0.02 * DT / (2.0 * 0.2**2 / 6), rel=1e-6)


def test_contacts_outside_load_the_bearings():
    """An arm whose hand rests on the ground, with friction in its pin: both are found together."""
    b = kn.Builder("arm", gravity=(0, 0, -G))
    b.surface("s", friction=0.5)
    b.ground(surface="s")
    b.body("arm", joint=Revolute("y"), at=(0, 0, 0.3), inertia=solid_box(2.0, (0.4, 0.05, 0.05), at=(0.2, 0, 0)),
           collisions=[Geometry(Sphere(0.05), Transform.translation((0.4, 0, 0)))], surface="s")  # fmt: skip
    model = b.build()
    down = math.asin(0.25 / 0.4)
    assert abs(kn.contact.gaps(model, [down])[0]) < 1e-12
    still = bilateral_staggered_projections(model, [JointBearing("arm_joint", 0.3, 0.03)], [down], [0.0], dt=DT)
    assert still.is_converged
    assert abs(still.v[0]) < 1e-12
    assert still.impulses[0, 2] > 0
    assert still.joint_friction[0] != 0
    # moments about the pin, of weight, ground and friction, balance
    lever = 0.4 * math.cos(down)
    moment = 2.0 * G * DT * 0.2 * math.cos(down) - still.impulses[0, 2] * lever
    moment += still.impulses[0, 0] * (-0.3) + still.joint_friction[0]
    assert abs(moment) < 1e-9


def linkage() -> tuple[Model, np.ndarray, np.ndarray]:
    """A four-bar linkage that moves, and nothing touches."""
    model = kn.robots.load("four_bar")
    model = model.replace(bodies=tuple(replace(body, collisions=()) for body in model.bodies))
    q = kn.loops.close(model, kn.neutral(model)).q
    v = kn.loops.project(model, q, np.array([2.0, 0.3, -0.5]))[1]
    return model, q, v


def test_what_joints_of_a_loop_pass_on_is_their_own_force_along_their_freedom():
    model, q, v = linkage()
    tau, f_ext = np.array([0.7, -0.2, 0.4]), np.random.default_rng(2).normal(size=(3, 6))
    a = kn.forward_dynamics(model, q, v, tau, f_ext)
    loads = joint_loads(model, q, v, a, tau, f_ext)
    resisting = np.asarray(kn.joint_passive_force(model, q, v))
    along = [load @ bearing_of(model, q, JointBearing(name, 0.0, 0.1)).S[:, 0]
             for load, name in zip(loads, model.joint_names, strict=True)]  # fmt: skip
    np.testing.assert_allclose(along, tau - resisting, atol=1e-10)


def test_bearings_of_a_closed_loop():
    """Friction takes energy from a linkage, and its loop stays closed."""
    model, q, v = linkage()
    free = v + DT * kn.forward_dynamics(model, q, v, np.zeros(3))
    still, rubs = (
        bilateral_staggered_projections(model, [JointBearing(x, mu, 0.01) for x in model.joint_names], q, v, dt=DT)
        for mu in (0.0, 0.3)
    )
    np.testing.assert_allclose(still.v, free, atol=1e-12)
    assert rubs.is_converged
    K = np.asarray(kn.loops.jacobian(model, q))
    np.testing.assert_allclose(K @ rubs.v, K @ free, atol=1e-10)
    assert kn.kinetic_energy(model, q, rubs.v) < kn.kinetic_energy(model, q, free) * (1 - 1e-4)
    assert (rubs.joint_friction * rubs.v < 0).all()


def test_what_does_not_fit_is_named():
    model = on_plane(box())
    with pytest.raises(ValueError, match="cone is 'round' or 'box', not 'pyramid'"):
        staggered_projections(model, cone="pyramid")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"v has shape \(3,\), and must have shape \(6,\)"):
        staggered_projections(model, v=np.zeros(3))
    with pytest.raises(kn.ModelError, match="joint 'body0_joint' is no hinge, slider or ball joint"):
        bilateral_staggered_projections(model, [JointBearing("body0_joint", 0.3, 0.1)])
    with pytest.raises(ValueError, match="bearing of 'a': radius is a number from"):
        JointBearing("a", 0.3, 0.0)


def test_implicit_steps_without_friction_are_those_of_implicit_euler() -> None:
    """Springs of joints and elements in the equations, closed loops kept; with friction stiff ones need no short steps.

    A pendulum on a stiff spring, steps ten times as long as explicit ones may be: explicit steps burst, implicit ones
    come to rest, with and without what the bearing rubs.
    """
    b = kn.Builder("stiff")
    bar = kn.model.solid_box(1.0, (0.05, 0.05, 0.5), at=(0, 0, -0.25))
    b.body("upper", joint=kn.joints.Revolute("y"), inertia=bar)
    b.body("lower", "upper", kn.joints.Revolute("y"), (0, 0, -0.5), inertia=bar, stiffness=3e5, damping=20.0)
    b.spring("stay", ("base", (1, 0, 0)), ("upper", (0, 0, -0.5)), stiffness=2e6, damping=50.0)
    model = b.build()
    q, v, dt = np.array([0.02, -0.01]), np.array([0.3, 0.1]), 0.01
    euler = kn.simulate(model, q, v, dt, dt=dt, integrator=kn.integrators.ImplicitEuler("dense"))
    step = kn.contact.bilateral_staggered_projections(model, (), q, v, dt=dt, implicit=True)
    np.testing.assert_allclose(step.v, euler.v[-1], atol=1e-5 * np.abs(v).max())  # K is made symmetric
    bearing = kn.contact.JointBearing("upper_joint", 0.5, 0.05, 0.1)
    for implicit in (True, False):
        place, speed, start = q, v, None
        for _ in range(30):
            start = kn.contact.bilateral_staggered_projections(
                model, [bearing], place, speed, dt=dt, start=start, implicit=implicit
            )
            place, speed = kn.integrate(model, place, dt * start.v), start.v
            if np.abs(speed).max() > 1e6:
                break
        assert np.abs(speed).max() < 1e-3 if implicit else np.abs(speed).max() > 10
