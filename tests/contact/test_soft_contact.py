"""Soft contact against closed forms: bounces, rest, friction that holds and slides, and what the laws lose."""

import math
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.seeds import quick

import knuckle as kn
from knuckle.contact import CompliantContacts
from knuckle.functions.derivatives.dual_jacobians import slopes_of
from knuckle.integrators import DormandPrince, default_steps, integrator_of, with_soft_contact
from knuckle.integrators.contact_stiffness import contact_stiffness
from knuckle.joints import Prismatic
from knuckle.model import Geometry, Model, Plane, Sphere, solid_sphere
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.spatial import Inertia, Transform, Vector

from .scenes import RADIUS, G, ball, box, on_plane, placed

LAWS = ("linear", "featherstone", "hunt-crossley")
K, D = 1e4, 40.0


def soft(model: Model, stiffness: float = K, damping: float = D, friction: float = 0.5) -> Model:
    """The model with one soft surface, against itself just as stiff."""
    surface = Surface(friction=friction, stiffness=2 * stiffness, damping=2 * damping)
    return model.replace(contact=ContactRules((surface,)))


def bead(mass: float = 2.0, gravity: tuple[float, float, float] = (0.0, 0.0, -G), **options: float) -> Model:
    """A ball that does not turn, over a plane: q is where it touches, the gap is z."""
    b = kn.Builder("bead", gravity=gravity)
    b.ground()
    x = b.body("x", joint=Prismatic("x"), inertia=Inertia.zero())
    y = b.body("y", joint=Prismatic("y"), inertia=Inertia.zero(), on=x)
    b.body("ball", joint=Prismatic("z"), inertia=solid_sphere(mass, RADIUS), on=y, at=(0, 0, RADIUS),
           collisions=Sphere(RADIUS))  # fmt: skip
    return soft(b.build(), **options)


def run(model: Model, q, v, duration: float, contacts: CompliantContacts, dt: float = 1e-3, integrator="rk4", **more):
    method = with_soft_contact(integrator_of(integrator), contacts)
    return kn.rollout(model, q, v, None, dt, duration=duration, integrator=method, **more)


@pytest.mark.parametrize("zeta", [0.05, 0.3, 0.9])
def test_a_linear_contact_bounces_by_its_damping(zeta: float):
    """e = exp(−ζ/s (π − atan2(2ζs, 1 − 2ζ²))), s = √(1 − ζ²): contact ends where it would have to pull."""
    mass, s = 2.0, math.sqrt(1 - zeta**2)
    model = bead(mass, gravity=(0, 0, 0), damping=2 * zeta * math.sqrt(K * mass), friction=0.0)
    damping = 2 * zeta * math.sqrt(K * mass)
    lost = kn.simulation.Event(lambda t, q, v: K * q[2] + damping * v[2], direction=1, stop=True)
    steps = with_soft_contact(DormandPrince(rtol=1e-11, atol_q=1e-13, atol_v=1e-12), CompliantContacts("linear"))
    motion = kn.simulate(model, [0, 0, -1e-14], [0, 0, -1.0], 1.0, integrator=steps, events={"lost": lost})
    e = math.exp(-zeta / s * (math.pi - math.atan2(2 * zeta * s, 1 - 2 * zeta**2)))
    assert motion.events[-1].name == "lost"
    assert motion.v[-1, 2] == pytest.approx(e, abs=1e-8)
    assert motion.q[-1, 2] < 0
    after = run(model, motion.q[-1], motion.v[-1], 0.1, CompliantContacts("linear"))
    np.testing.assert_allclose(after.v[:, 2], motion.v[-1, 2], rtol=1e-9)  # nothing pulls it back


@pytest.mark.parametrize("law", LAWS)
def test_at_rest_it_carries_the_weight(law: Any):
    """δ = m g/K, and with a root δ = (m g √d/K)^⅔."""
    contacts, model, mass = CompliantContacts(law, depth=2e-3), bead(), 2.0
    depth = mass * G / K if law == "linear" else (mass * G * math.sqrt(2e-3) / K) ** (2 / 3)
    forces = kn.contact.contact_forces(model, [0, 0, -depth], np.zeros(3), contacts)
    np.testing.assert_allclose(forces, [[0, 0, mass * G]], rtol=1e-12)
    motion = run(model, [0, 0, 0.001], np.zeros(3), 4.0, contacts)
    assert motion.q[-1, 2] == pytest.approx(-depth, rel=1e-9)


def test_all_laws_have_the_stiffness_and_damping_of_the_surface_at_their_depth():
    for law in LAWS:
        contacts = CompliantContacts(law, depth=5e-3)
        still, moving = (
            kn.contact.contact_forces(bead(), [0, 0, -5e-3], [0, 0, -v], contacts)[0, 2] for v in (0.0, 0.1)
        )
        assert still == pytest.approx(K * 5e-3, rel=1e-12)
        assert moving - still == pytest.approx(D * 0.1, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_no_law_pulls(law: Any):
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=(200, 3)) * 0.01, rng.normal(size=(200, 3)) * 3
    force = kn.contact.contact_forces(bead(), q, v, CompliantContacts(law, None))[:, 0, 2]
    assert force.min() == 0
    assert (force[q[:, 2] > 0] == 0).all()
    assert (force[(q[:, 2] < 0) & (v[:, 2] < 0)] > 0).all()


@pytest.mark.parametrize("law", quick(LAWS, ["featherstone"]))
def test_what_is_lost_is_the_work_of_the_damper(law: Any):
    """Energy lost while it is squeezed, against ∫ f·v dt along the motion: both of the fourth order."""
    contacts, errors = CompliantContacts(law, None, depth=0.05), []
    model = bead(gravity=(0, 0, 0))
    for dt in (5e-4, 2.5e-4):
        motion = run(model, [0, 0, -0.01], [0, 0, -1.0], 0.016, contacts, dt)
        power = np.einsum("kij,ki->k", kn.contact.contact_forces(model, motion.q, motion.v, contacts)[:, 0, 2:, None],
                          motion.v[:, 2:])  # fmt: skip
        work = dt / 3 * (power[0] + 4 * power[1::2].sum() + 2 * power[2:-1:2].sum() + power[-1])
        energy = kn.kinetic_energy(model, motion.q, motion.v)
        errors.append(abs(energy[-1] - energy[0] - work))
    assert errors[1] < errors[0] / 11
    assert errors[1] < 1e-6 * abs(work)


@pytest.mark.parametrize("integrator", quick(["euler", "heun", "rk4", "implicit", "bdf2"], []))
def test_springs_that_stick_keep_the_order_of_the_integrator(integrator: str):
    """A ball that rolls to and fro on its spring: slipping is no function of the position there."""
    contacts = CompliantContacts("linear", across=0.02)
    model = soft(on_plane(ball()), friction=50.0)
    v = np.array([3.0, -6.0, 1.0, 0.1, 0.2, 0])
    ends = []
    for dt in (2e-3, 1e-3, 5e-4):
        method = with_soft_contact(integrator_of(integrator), contacts)
        steps = kn.simulation.stepper(model, method)
        state, n = steps.start(0.0, placed(model, (0, 0, RADIUS - G / K)), v, dt), round(0.08 / dt)
        for k in range(n):
            state = steps.step(k * dt, state, dt)
        ends.append(np.concatenate([state.q, state.v, state.memory[0]]))
    coarse, fine = (np.abs(b - a).max() for a, b in pairwise(ends))
    assert np.abs(ends[-1][-3:]).max() > 1e-3
    assert coarse / fine > {"euler": 1.9, "heun": 3.7, "rk4": 14.0, "implicit": 1.8, "bdf2": 3.4}[integrator]


@pytest.mark.slow
def test_springs_of_friction_store_energy_and_dampers_take_it():
    """Kinetic, potential and spring energy lose ∫ D δ̇² + D s² while a ball rolls on its spring: to the fourth order."""
    contacts, part = CompliantContacts("linear", across=0.02), 0.02
    model, errors = soft(on_plane(ball()), friction=50.0), []
    for dt in (1e-3, 5e-4):
        motion = run(model, placed(model, (0, 0, RADIUS - 1.5e-3)), [3.0, -6.0, 1.0, 0.1, 0.2, 0], 0.04, contacts, dt)
        springs = kn.contact.friction_springs(model, motion.times, motion.q, motion.v, contacts)
        depth, (p,) = -kn.contact.gaps(model, motion.q)[:, 0], np.moveaxis(kn.contact.points(model, motion.q), 1, 0)
        turn, along = np.split(kn.velocity(model, motion.q, motion.v, "body0", "aligned"), 2, axis=1)
        slip = along + np.cross(turn, p - motion.q[:, 4:])
        assert (depth > 0).all()
        energy = kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)
        energy = energy + K / 2 * depth**2 + part * K / 2 * (springs**2).sum(axis=1)
        power = D * slip[:, 2] ** 2 + part * D * (slip[:, :2] ** 2).sum(axis=1)
        work = dt / 3 * (power[0] + 4 * power[1::2].sum() + 2 * power[2:-1:2].sum() + power[-1])
        errors.append(abs(energy[0] - energy[-1] - work) / work)
    assert errors[1] < errors[0] / 11
    assert errors[1] < 1e-6


@pytest.mark.parametrize("law", ["featherstone", "hunt-crossley"])
def test_springs_that_grow_stiffer_give_no_energy(law: str):
    """A ball is thrown along and onto a floor to which it sticks: with all that is stored, energy falls and falls."""
    contacts = CompliantContacts(law)
    model = bead(1.3, damping=0.0, friction=20.0)
    motion = run(model, [0, 0, 1e-3], [0.5, 0.2, -2.0], 0.15, contacts, 1e-4)
    springs = kn.contact.friction_springs(model, motion.times, motion.q, motion.v, contacts)
    depth = np.maximum(0.0, -kn.contact.gaps(model, motion.q)[:, 0])
    assert depth.max() > 5 * contacts.depth
    energy = kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)
    energy = energy + K * depth**2.5 / contacts.depth**0.5 / 2.5
    energy = energy + K * np.sqrt(depth / contacts.depth) * (springs**2).sum(axis=1) / 2
    assert np.diff(energy).max() < 1e-5 * energy[0]


@pytest.mark.slow
def test_a_closed_loop_lands_softly():
    """A four-bar linkage falls on a knob: every integrator finds the same end, and the loop stays closed."""
    model = kn.robots.load("four_bar")
    knob = Geometry(Sphere(0.02), Transform.translation((0.16, 0, 0.12)))
    bodies = [replace(body, collisions=(knob,) if body.name == "coupler" else ()) for body in model.bodies]
    ground = Geometry(Plane((0.0, 0.0)), Transform.translation((0, 0, 0.2)))
    model = soft(model.replace(bodies=tuple(bodies), base=replace(model.base, collisions=(ground,))), 1e4, 50.0, 0.3)
    q = kn.loops.close(model, kn.neutral(model)).q
    v = kn.loops.project(model, q, np.array([1.0, 0, 0]))[1]
    ends = []
    for name in ("rk4", "adaptive", "bdf2"):
        steps = with_soft_contact(integrator_of(name), CompliantContacts("linear"))
        motion = kn.simulate(model, q, v, 1.0, dt=5e-4, integrator=steps)
        assert np.abs(motion.v[-1]).max() < 1e-4
        assert np.abs(kn.loops.gap(model, motion.q[-1])).max() < 1e-9
        ends.append(motion.q[-1])
    assert kn.contact.gaps(model, ends[0])[0] < -1e-4
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-4)


@pytest.mark.slow
def test_a_spring_holds_a_block_on_a_slope_and_regularized_friction_lets_it_creep():
    slope = 0.3
    model = soft(on_plane(box(), slope=slope), 1e5, 300.0)
    start = placed(model, (0, 0, 0.1))
    held = run(model, start, np.zeros(6), 1.5, CompliantContacts("linear"), 5e-4)
    assert np.abs(held.v[-500:]).max() < 1e-12
    assert np.ptp(held.q[-500:, 4:], axis=0).max() < 1e-13
    creeps = run(model, start, np.zeros(6), 1.5, CompliantContacts("linear", "regularized"), 5e-5)
    r = math.tan(slope) / 0.5
    assert creeps.v[-1, 3] == pytest.approx(1e-3 * r / math.sqrt(1 - r * r), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("friction", quick(["spring", "regularized"], ["spring"]))
def test_beyond_the_angle_of_friction_it_slides(friction: Any):
    """a = g (sin θ − μ cos θ)."""
    slope, mu = 0.6, 0.5
    model = soft(on_plane(box(), slope=slope), 1e5, 300.0, friction=mu)
    contacts = CompliantContacts("featherstone", friction, slip_speed=1e-7)
    dt = 5e-4
    motion = run(model, placed(model, (0, 0, 0.1)), np.array([0, 0, 0, 1.0, 0, 0]), 1.5, contacts, dt)
    speeds = [kn.velocity(model, motion.q[k], motion.v[k], "body0", "aligned")[3] for k in (-1001, -1)]
    gained = (speeds[1] - speeds[0]) / (1000 * dt)
    assert gained == pytest.approx(G * (math.sin(slope) - mu * math.cos(slope)), rel=1e-10)


@pytest.mark.parametrize("law", quick(LAWS, ["featherstone"]))
def test_friction_is_the_same_in_every_direction(law: Any):
    mu, ways = 0.3, np.linspace(0, 2 * np.pi, 8, endpoint=False) + 0.1
    model, contacts = bead(friction=mu), CompliantContacts(law)
    depth = -float(run(model, [0, 0, 0.0], np.zeros(3), 3.0, contacts).q[-1, 2])
    q = np.tile([0, 0, -depth], (8, 1))
    v = np.stack([np.cos(ways), np.sin(ways), 0 * ways], axis=1)
    motion = run(model, q, v, 2.5, contacts)
    moved, length = motion.q[:, -1, :2], np.linalg.norm(motion.q[:, -1, :2], axis=1)
    np.testing.assert_allclose(moved / length[:, None], v[:, :2], atol=1e-12)
    assert np.ptp(length) < 1e-12
    assert length[0] == pytest.approx(1 / (2 * mu * G), abs=2 * mu * 2 * G / K)
    assert np.abs(motion.v[:, -1]).max() < 1e-6


@pytest.mark.parametrize("law", LAWS)
def test_friction_is_that_of_the_spring_within_a_disc(law: Any):
    """f_t = −K x − D s where that is at most μ f_n, and else μ f_n that way (RBDA 11.77-11.78)."""
    rng, mu = np.random.default_rng(5), 0.4
    model, contacts = bead(friction=mu), CompliantContacts(law, across=0.7)
    q = np.column_stack([rng.normal(size=(500, 2)), -rng.uniform(1e-4, 2e-3, 500)])
    v, springs = rng.normal(size=(500, 3)) * 0.05, np.column_stack([rng.normal(size=(500, 2)) * 1e-3, np.zeros(500)])
    force = kn.contact.contact_forces(model, q, v, contacts, springs)[:, 0]
    share = np.ones(500) if law == "linear" else np.sqrt(-q[:, 2] / contacts.depth)
    stick = -0.7 * share[:, None] * (K * springs[:, :2] + D * v[:, :2])
    most, size = mu * force[:, 2], np.linalg.norm(stick, axis=1)
    assert 50 < (size > most).sum() < 450
    np.testing.assert_allclose(force[:, :2], stick * np.minimum(1, most / size)[:, None], atol=1e-12)


def test_a_spring_that_slides_goes_to_where_friction_holds_it():
    """D ẋ = −(K x + f_t) (RBDA 11.79) with f_t = −μ m g: x = μ m g/K (1 − exp(−K t/D)), whatever the step."""
    mu, contacts = 0.3, CompliantContacts("linear")
    model = bead(friction=mu)
    start, v = np.array([0, 0, -2.0 * G / K]), np.array([3.0, 4.0, 0.0])
    for dt in (1e-3, 2e-2):
        motion = run(model, start, v, 0.1, contacts, dt)
        springs = kn.contact.friction_springs(model, motion.times, motion.q, motion.v, contacts)
        length = mu * 2.0 * G / K * (1 - np.exp(-K / D * motion.times))
        np.testing.assert_allclose(springs[:, :2], length[:, None] * [0.6, 0.8], atol=1e-13)
    flying = np.array([0, 0, 1.0])
    after = kn.contact.friction_springs(model, [0.0, 0.1, 0.11], [start, start, flying], [v, v, v], contacts)
    np.testing.assert_allclose(after[2], after[1] * math.exp(-K / D * 0.01), atol=1e-13)


@pytest.mark.slow
def test_springs_survive_events_and_shorter_steps():
    """A step that an event cuts, and a last one that is shorter, leave friction wound up."""
    model = soft(on_plane(box(), slope=0.3), 1e5, 300.0)
    steps = with_soft_contact(integrator_of("rk4"), CompliantContacts("linear"))
    watched = kn.simulation.Event(lambda t, q, v: t - 0.80013, action=lambda t, q, v: (q, v))
    plain, cut = (
        kn.simulate(model, placed(model, (0, 0, 0.1)), None, 1.00033, dt=5e-4, integrator=steps, events=events)
        for events in (None, watched)
    )
    assert len(cut.events) == 1
    assert np.abs(cut.v[-300:]).max() < 1e-9
    np.testing.assert_allclose(cut.q[-1], plain.q[-1], atol=1e-12)


@pytest.mark.slow
def test_forces_along_a_motion():
    """Springs from row to row are those of the steps, and what contacts push with is what accelerates."""
    model = soft(on_plane(box(), slope=0.6), 1e5, 300.0)
    contacts, dt = CompliantContacts("linear"), 5e-4
    steps = kn.simulation.stepper(model, with_soft_contact(integrator_of("rk4"), contacts))
    state, rows = steps.start(0.0, placed(model, (0, 0, 0.1)), np.array([0, 0, 0, 0.3, -0.2, 0]), dt), []
    for k in range(101):
        rows.append(state)
        state = steps.step(k * dt, state, dt)
    q, v, memory = (np.array([row[k] for row in rows]) for k in range(3))
    springs = kn.contact.friction_springs(model, dt * np.arange(101), q, v, contacts)
    np.testing.assert_allclose(springs, memory[:, 0], atol=1e-15)
    forces = kn.contact.contact_forces(model, q, v, contacts, springs)
    assert np.linalg.norm(forces[..., :2], axis=-1).max() > 1.0
    assert (np.linalg.norm(forces[..., :2], axis=-1) <= 0.5 * forces[..., 2] * (1 + 1e-12)).all()
    a = kn.contact.compliant_dynamics(model, q[-1], v[-1], np.zeros(6), contacts, springs[-1])
    pushed = kn.acceleration(model, q[-1], v[-1], a, "body0", "aligned", classical=True)[3:]
    total = forces[-1].sum(axis=0) / 2.0 + np.array(model.gravity)
    np.testing.assert_allclose(pushed, total, atol=1e-9)


def test_dry_friction_and_stops_of_joints_know_the_force_of_contact():
    """A slider whose friction could not carry its weight stays where the ground carries the rest."""
    model = bead()
    joints = kn.model.edit.with_joint(model, "ball_joint", friction=5.0).joints
    steps = with_soft_contact(integrator_of("rk4"), CompliantContacts("linear"))
    depth = (2.0 * G - 4.0) / K
    still = kn.simulate(model.replace(joints=joints), [0, 0, -depth], None, 0.1, integrator=steps)
    assert np.abs(still.v).max() == 0
    slides = kn.simulate(model.replace(joints=joints), [0, 0, -depth / 2], None, 0.1, integrator=steps)
    assert slides.q[-1, 2] < -depth / 2 - 1e-5


@pytest.mark.sampled
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("friction", ["spring", "regularized", None])
def test_slopes_by_dual_numbers_are_those_of_the_force(law: Any, friction: Any):
    """∂τ/∂v and ∂τ/∂q of a tilted, spinning box, against central differences."""
    model, contacts = soft(on_plane(box())), CompliantContacts(law, friction)
    q = kn.integrate(model, kn.neutral(model), np.array([0.3, 0.2, 0.1, 0, 0, 0.11]))
    v = np.array([0.5, -1.0, 0.3, 0.2, 0.1, -0.5])

    def force(q, v):
        return kn.contact.contact_joint_forces(model, q, v, contacts)

    assert np.abs(force(q, v)).max() > 1.0
    by_v, by_q = slopes_of(force, model, Vector(q.tolist()), Vector(v.tolist()))
    for e, dv, dq in zip(np.eye(6), by_v, by_q, strict=True):
        h = 1e-6
        np.testing.assert_allclose(
            list(map(float, dv)), (force(q, v + h * e) - force(q, v - h * e)) / (2 * h), atol=2e-5
        )
        ahead, back = (force(kn.integrate(model, q, s * h * e), v) for s in (1, -1))
        np.testing.assert_allclose(list(map(float, dq)), (ahead - back) / (2 * h), rtol=1e-6, atol=2e-3)


def test_slopes_of_a_linear_contact_are_its_stiffness_and_damping():
    model, contacts = bead(), CompliantContacts("linear", "spring", across=0.5)
    by_v, by_q = slopes_of(
        lambda q, v: kn.contact.contact_joint_forces(model, q, v, contacts), model, Vector([0.1, 0.2, -0.001]),
        Vector([1e-6, 0.0, -0.1]),
    )  # fmt: skip
    np.testing.assert_allclose([list(map(float, x)) for x in by_v], -np.diag([D / 2, D / 2, D]), rtol=1e-14)
    np.testing.assert_allclose([list(map(float, x)) for x in by_q], -np.diag([0, 0, K]), rtol=1e-14)


@pytest.mark.slow
def test_two_bodies_push_each_other_alike():
    model = soft(on_plane(ball(1.0), ball(3.0), friction=0.7)).with_gravity((0, 0, 0))
    q = placed(model, (0, 0, 5), (0.3, 0.05, 5.02))
    v = np.array([1, -2, 0.5, 1.0, 0.2, 0.1, 0, 3, 1, -2.0, 0, 0.3])
    motion = run(model, q, v, 0.1, CompliantContacts(), 1e-4)
    h0, h1 = (kn.momentum(model, motion.q[k], motion.v[k]) for k in (0, -1))
    assert np.abs(motion.v[-1] - v).max() > 0.5
    np.testing.assert_allclose(h1, h0, atol=1e-8)


def test_accelerations_and_kernels_of_users_have_the_same_forces():
    model, contacts = soft(on_plane(box())), CompliantContacts("hunt-crossley", "regularized")
    q = kn.integrate(model, kn.neutral(model), np.array([0.3, 0.2, 0.1, 0, 0, 0.11]))
    v = np.array([0.5, -1.0, 0.3, 0.2, 0.1, -0.5])
    tau = kn.contact.contact_joint_forces(model, q, v, contacts)
    np.testing.assert_allclose(
        kn.contact.compliant_dynamics(model, q, v, np.zeros(6), contacts), kn.forward_dynamics(model, q, v, tau),
        rtol=1e-10,
    )  # fmt: skip

    @kn.kernel
    def pushed(model, q, v):
        return kn.contact.contact_joint_forces(model, q, v, contacts)

    one = kn.rollout(model, q, v, None, 1e-4, steps=50, controller=pushed, integrator="rk4", contacts=False)
    other = run(model, q, v, 50e-4, contacts, 1e-4)
    np.testing.assert_allclose(one.q, other.q, atol=1e-13)


@pytest.mark.slow
def test_simulations_of_every_integrator_agree():
    model = soft(on_plane(box(), slope=0.3), 1e5, 300.0)
    start, contacts = placed(model, (0, 0, 0.1)), CompliantContacts("linear")
    # what is wound up differs by how it got there, and what holds does not
    for name in ("heun", "rk4", "adaptive", "implicit", "bdf1", "bdf2"):
        motion = kn.simulate(
            model, start, None, 0.6, dt=5e-4, integrator=with_soft_contact(integrator_of(name), contacts)
        )
        assert motion.q[-1, 6] == pytest.approx(0.1 - 2 * G * math.cos(0.3) / (4 * 1e5), abs=1e-8)
        assert np.abs(motion.v[-1]).max() < 1e-6


def test_simulations_and_rollouts_take_soft_contacts():
    model = soft(on_plane(box(), slope=0.3), 1e5, 300.0)
    start, contacts = placed(model, (0, 0, 0.1)), CompliantContacts("linear")
    motion = kn.simulate(model, start, None, 0.5, contacts=contacts)
    assert motion.dt is not None
    assert motion.dt < 1e-3  # they are stiff
    assert np.abs(motion.v[-1]).max() < 1e-6
    other = kn.rollout(model, start, None, None, 5e-4, duration=0.5, integrator="rk4", contacts=contacts)
    np.testing.assert_array_equal(other.q, run(model, start, np.zeros(6), 0.5, contacts, 5e-4).q)
    with pytest.warns(RuntimeWarning, match="too stiff for euler"):
        kn.rollout(model, start, None, None, 5e-3, steps=2, integrator="euler", contacts=contacts)
    with pytest.raises(TypeError, match="contacts is True, False, None, a kn"):
        kn.simulate(model, start, contacts="soft")  # type: ignore[arg-type]


def test_contacts_too_stiff_for_a_step_are_noticed():
    model, contacts = bead(friction=0.0), CompliantContacts("linear", None)
    rate = contact_stiffness(model, contacts, np.zeros(3))
    assert rate.frequency == pytest.approx(math.sqrt(K / 2), rel=1e-6)
    assert rate.damping == pytest.approx(D / 2, rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert default_steps(model, contacts=contacts).parts == 1
        default_steps(model, 1e-2, integrator="implicit", contacts=contacts)
        default_steps(model, 1e-2, integrator="adaptive", contacts=contacts)
    for law in LAWS:  # also where nothing damps
        assert contact_stiffness(bead(friction=0.0, damping=0.0), CompliantContacts(law), np.zeros(3)).damping == 0
    stiff = bead(friction=0.0, stiffness=1e8, damping=2e4)
    assert default_steps(stiff, contacts=contacts).parts > 16
    assert "soft contacts of bead are stiff" in default_steps(stiff, contacts=contacts).why
    assert default_steps(stiff, 1e-3, contacts=contacts).name == "implicit"
    with pytest.warns(RuntimeWarning, match="soft contacts of bead are too stiff for rk4 in steps of 0.001 s"):
        default_steps(stiff, 1e-3, integrator="rk4", contacts=contacts)


def test_what_is_missing_is_named():
    model = on_plane(box())
    with pytest.raises(kn.ModelError, match="soft contact of 'body0' and 'ground' needs the stiffness of their surf"):
        kn.contact.contact_forces(model, kn.neutral(model), np.zeros(6), CompliantContacts())
    half = model.replace(contact=ContactRules((Surface(stiffness=1e4),)))
    with pytest.raises(kn.ModelError, match="needs the damping"):
        kn.contact.contact_forces(half, kn.neutral(model), np.zeros(6), CompliantContacts())
    with pytest.raises(ValueError, match="law is 'featherstone', 'linear', 'hunt-crossley', not 'hertz'"):
        CompliantContacts("hertz")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="depth is a number above zero"):
        CompliantContacts(depth=0.0)
    with pytest.raises(ValueError, match=r"springs has shape \(3,\), and must have shape \(..., 12\)"):
        kn.contact.contact_forces(soft(model), kn.neutral(model), np.zeros(6), CompliantContacts(), np.zeros(3))
    with pytest.raises(ValueError, match="ContactSteps has contacts of its own"):
        with_soft_contact(kn.integrators.ContactSteps(), CompliantContacts())
    with pytest.raises(ValueError, match="steps back and forth"):
        with_soft_contact(kn.integrators.Variational(order=4), CompliantContacts())
