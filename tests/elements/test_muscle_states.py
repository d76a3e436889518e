"""Activations and lengths of fibers as states of motions: laws of the differential equations, and of their numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import CubicMuscle, HillMuscle
from knuckle.integrators import DormandPrince, Variational
from knuckle.simulation import CompliantStops, RigidStops

from .muscle_arm import CUBIC, ELASTIC, MIXED, forearm

U = np.array([0.6, 0.1])


def states(motion: kn.Trajectory) -> np.ndarray[Any, Any]:
    return np.concatenate([motion.q, motion.v, motion.activations, motion.fiber_lengths], axis=1)


def test_power_balance():
    """Energy of motion, height, tendons and passive fibers changes by the work of active fibers and of damping."""
    model = forearm(ELASTIC)
    options = {"excitations": U, "activations0": [0.3, 0.2]}
    motion = kn.simulate(model, [-0.4], [0.0], 0.2, dt=2.5e-5, integrator="rk4", **options)
    a, fibers = motion.activations, motion.fiber_lengths
    rates = elements.fiber_rates(model, motion.q, a, fibers)
    power = np.zeros(len(motion))
    for k, law in enumerate(ELASTIC):
        u, x = rates[:, k] / (law.fiber * law.speed), fibers[:, k] / law.fiber
        own = a[:, k] * law._active(x) * law._by_velocity(u) + law.damping * u
        power -= law.force * own * rates[:, k]
    h = motion.times[1]
    done = h / 3 * (power[0] + power[-1] + 4 * power[1:-1:2].sum() + 2 * power[2:-2:2].sum())
    assert abs(done) > 1
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(done, abs=1e-8)
    added = elements.powers(model, motion.q, motion.v, a, fibers).sum(1)
    gravity = kn.gravity_force(model.without_elements(), motion.q)
    assert added - (gravity * motion.v)[:, 0] == pytest.approx(np.gradient(motion.kinetic_energy, h), abs=1e-2)


def test_activation_solves_its_equation():
    """(½ + 3/2 u) ln((u − a₀) / (u − a)) − 3/2 (a − a₀) = t / rise on the way up; the fall has a formula as well."""
    law = CubicMuscle(1.0, 0.14, 0.18, rise=0.02, fall=0.05)
    motion = kn.simulate(forearm((law, law)), None, None, 0.1, excitations=[0.8, 0.1], activations0=[0.2, 0.9])
    t, (up, down) = motion.times, motion.activations.T
    left = (0.5 + 1.5 * 0.8) * np.log((0.8 - 0.2) / (0.8 - up)) - 1.5 * (up - 0.2)
    assert left == pytest.approx(t / 0.02, abs=1e-6)
    # (u − a)(½ + 3/2 a) / fall, in parts
    w = 0.5 + 1.5 * 0.1
    right = np.log((down - 0.1) / 0.8 * (0.5 + 1.5 * 0.9) / (0.5 + 1.5 * down)) / w
    assert -right == pytest.approx(t / 0.05, abs=1e-6)
    assert motion.excitations[3] == pytest.approx([0.8, 0.1])


def test_what_is_held_stays():
    """Fibers begin in equilibrium with their tendons; told their activations, held muscles stay as they are."""
    model = forearm(ELASTIC)
    a = np.array([0.4, 0.2])
    fibers = elements.fiber_equilibrium(model, [-0.7], a)
    assert elements.fiber_rates(model, [-0.7], a, fibers) == pytest.approx(0, abs=1e-10)
    tension = elements.tensions(model, [-0.7], [0.0], a)
    assert tension == pytest.approx(elements.tensions(model, [-0.7], [0.0], a, fibers), rel=1e-12)
    assert tension == pytest.approx(elements.tensions(elements.with_activations(model, a), [-0.7], [0.0]), rel=1e-12)
    held = kn.inverse_dynamics(elements.with_activations(model, a), [-0.7], [0.0], [0.0])
    motion = kn.simulate(model, [-0.7], None, 0.05, excitations=a, activations0=a, controller=held)
    assert np.abs(states(motion) - states(motion)[0]).max() < 1e-8


@pytest.mark.parametrize("method", ["rk4", "implicit"])
def test_rollouts_are_simulations(method: str):
    """But for rounding where fibers begin; and Python functions say the same as kernels."""
    model, dt = forearm(), 1e-3

    @kn.kernel
    def reflex(model: Any, t: Any, q: Any, activations: Any, fiber_lengths: Any, gain: Any) -> Any:
        return [gain * (0.5 - q[0]) - fiber_lengths[0], 0.5 * activations[0]]

    def same(model: Any, t: Any, q: Any, activations: Any, fiber_lengths: Any, gain: Any) -> Any:
        return np.stack([gain * (0.5 - q[..., 0]) - fiber_lengths[..., 0], 0.5 * activations[..., 0]], axis=-1)

    options: Any = {"parameters": {"gain": 0.6}, "integrator": method, "activations0": [0.1, 0.2]}
    one = kn.simulate(model, [0.1], None, 0.02, excitations=reflex, dt=dt, **options)
    many = kn.rollout(model, [[0.0], [0.1]], None, None, dt, steps=20, excitations=reflex, **options)
    for name in ("q", "v", "activations", "fiber_lengths"):
        assert getattr(many, name)[1] == pytest.approx(getattr(one, name), rel=1e-12, abs=1e-13), name
    assert many.excitations[1, :-1] == pytest.approx(one.excitations[:-1], rel=1e-14)
    assert one.excitations[0] == pytest.approx([0.6 * 0.4 - one.fiber_lengths[0, 0], 0.05])
    if method == "rk4":
        by_python = kn.simulate(model, [0.1], None, 0.02, excitations=same, dt=dt, **options)
        assert states(by_python) == pytest.approx(states(one), rel=1e-12)
    asked = kn.rollout(model, [[0.0], [0.1]], None, None, dt, steps=20, excitations=same, **options)
    assert asked.q == pytest.approx(many.q, abs=1e-3)
    assert asked.excitations[:, 0] == pytest.approx(many.excitations[:, 0])


def test_excitations_of_every_step_and_trajectory():
    model, rng = forearm(CUBIC), np.random.default_rng(1)
    U, a0 = rng.uniform(0, 1, (3, 10, 2)), rng.uniform(0, 1, (3, 2))
    many = kn.rollout(model, None, None, None, 1e-3, steps=10, excitations=U, activations0=a0, save_every=5)
    assert many.activations.shape == (3, 3, 2)
    assert many.activations[:, 0] == pytest.approx(a0)
    assert many.excitations == pytest.approx(U[:, [0, 5, 9]])
    q, v, a = np.zeros(1), np.zeros(1), a0[1]
    for u in U[1]:
        last = kn.rollout(model, q, v, None, 1e-3, steps=1, excitations=u, activations0=a)
        q, v, a = *last.final, last.activations[-1]
    assert np.array_equal(many.q[1, -1], q)
    assert np.array_equal(many.activations[1, -1], a)
    some = many[:2]
    assert np.array_equal(some.activations, many.activations[:2])
    one = many[1]
    assert np.array_equal(one.activations, many.activations[1])
    assert one.potential_energy == pytest.approx(many.potential_energy[1], rel=1e-14)
    assert one.tensions.shape == (3, 2)


def test_files_keep_them(tmp_path: Path):
    model = forearm()
    motion = kn.simulate(model, None, None, 0.02, excitations=U)
    motion.save(tmp_path / "motion.npz")
    again = kn.Trajectory.load(tmp_path / "motion.npz")
    many = kn.rollout(model, None, None, None, 1e-3, steps=20, excitations=U)
    many.save(tmp_path / "rollout.npz")
    loaded = kn.simulation.Rollout.load(tmp_path / "rollout.npz")
    for name in ("activations", "excitations", "fiber_lengths", "energy"):
        assert np.array_equal(getattr(again, name), getattr(motion, name)), name
        assert np.array_equal(getattr(loaded, name), getattr(many, name)), name
    assert motion[0.005:0.01].activations.shape == (6, 2)
    assert motion.resample(dt=0.004).fiber_lengths.shape == (6, 1)


def test_events_and_checkpoints_go_on_with_them(tmp_path: Path):
    """A step that an event cuts short, and a run that goes on from a file, leave the states where they are."""
    model = forearm()
    plain = kn.simulate(model, None, None, 0.03, excitations=U)
    event = kn.simulation.Event(
        lambda t, q, v: float(q[0] - plain.q[15, 0] * 0.98), name="passes", action=lambda t, q, v: (q, v)
    )
    cut = kn.simulate(model, None, None, 0.03, excitations=U, events=[event])
    assert len(cut.occurrences("passes")) == 1
    assert states(cut)[-1] == pytest.approx(states(plain)[-1], abs=1e-7)
    folder = tmp_path / "run"
    kept = kn.simulate(model, None, None, 0.03, excitations=U, checkpoint=folder)
    assert np.array_equal(states(kept), states(plain))
    last = sorted(folder.glob("0*.npz"))[-1]
    last.unlink()
    again = kn.simulation.resume(folder)
    assert np.array_equal(states(again), states(plain))
    assert np.array_equal(again.excitations, plain.excitations)


def test_what_is_refused():
    model = forearm()
    bare, events = model.without_elements(), kn.contact.RigidContacts()
    b = kn.Builder("sledge")
    b.body(
        "sledge",
        joint=kn.joints.Planar(),
        inertia=kn.model.solid_box(1.0, (0.1, 0.1, 0.1)),
        limits=((-1,) * 3, (1,) * 3),
    )
    b.line("muscle", [("base", (0.3, 0, 0.3)), ("sledge", (0, 0, 0.1))], ELASTIC[0])
    sledge = b.build()
    for error, text, call in (
        (ValueError, "excitations.*no muscles", lambda: kn.simulate(bare, excitations=[0.5])),
        (ValueError, "excitations.*shape", lambda: kn.simulate(model, excitations=[0.5])),
        (TypeError, "excitations", lambda: kn.simulate(model, excitations="much")),
        (TypeError, "activations0", lambda: kn.simulate(model, activations0=[0.5, 0.5])),
        (ValueError, "activations0.*0 to 1", lambda: kn.simulate(model, excitations=U, activations0=[0.5, 1.5])),
        (ValueError, "fiber_lengths0", lambda: kn.simulate(model, excitations=U, fiber_lengths0=[0.1, 0.1])),
        (ValueError, "contacts=RigidContacts", lambda: kn.simulate(model, excitations=U, contacts=events)),
        (ValueError, "joint_limits=RigidStops", lambda: kn.simulate(sledge, excitations=[0.1], joint_limits="rigid")),
        (ValueError, "excitations", lambda: kn.rollout(model, steps=5, excitations=np.zeros((4, 2)))),
        (ValueError, "order 2", lambda: kn.simulate(model, excitations=U, integrator=Variational(order=4))),
        (ValueError, "activations", lambda: elements.with_activations(model, [0.5])),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            call()


def stopped(friction: float = 0.0) -> kn.Model:
    """A forearm with stops."""
    model = forearm(ELASTIC, friction=friction)
    return model.replace(joints=(replace(model.joints[0], limits=kn.model.Limits((-0.6,), (0.1,))),))


@kn.kernel
def there_and_back(model: Any, t: Any) -> Any:
    return [0.3 + 0.28 * kn.scalar.sin(12 * t), 0.3 - 0.28 * kn.scalar.sin(12 * t)]


def load(model: kn.Model, q: Any, v: Any, a: Any, fibers: Any) -> Any:
    """The moment that turns the arm: of muscles and of its weight."""
    return elements.joint_forces(model, q, v, a, fibers) - kn.gravity_force(model.without_elements(), q)


def by_hand(model: Any, t: Any) -> Any:
    return np.array([0.3 + 0.28 * np.sin(12 * t), 0.3 - 0.28 * np.sin(12 * t)])


@pytest.mark.parametrize(("method", "told"), [("rk4", there_and_back), ("bdf2", there_and_back), ("heun", by_hand)])
def test_an_arm_rests_on_its_stop_and_leaves_it(method: str, told: Any):
    """The biceps pulls it against a rigid stop, where it stands until the muscles together pull the other way."""
    model = elements.with_activations(stopped(), [1.0, 0.0])  # what the laws have does not matter
    options: Any = {"excitations": told, "activations0": [0.3, 0.3], "joint_limits": "rigid"}
    motion = kn.simulate(model, [0.0], None, 0.4, dt=1e-3, integrator=method, **options)
    impact, rest, release = motion.events
    assert (impact.kind, rest.kind, release.kind) == ("impact", "rest", "release")
    assert impact.v_before[0] < -1
    assert impact.v[0] == pytest.approx(0.0, abs=1e-12)
    assert motion.q.min() == -0.6
    assert motion.q[-1, 0] > -0.55
    pulls = load(model, motion.q, motion.v, motion.activations, motion.fiber_lengths)[:, 0]
    resting = (motion.times > rest.time) & (motion.times < release.time)
    assert resting.sum() > 100
    assert (motion.q[resting] == -0.6).all()
    assert (motion.v[resting] == 0).all()
    assert (pulls[resting] < 0).all()
    assert pulls[np.argmax(motion.times > release.time)] > 0
    last, after = np.flatnonzero(resting)[-1], np.argmax(motion.times > release.time)
    t0, t1 = motion.times[[last, after]]
    crosses = t0 + (t1 - t0) * pulls[last] / (pulls[last] - pulls[after])
    assert release.time == pytest.approx(crosses, abs=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_a_rigid_stop_is_the_limit_of_stiff_ones(friction: float):
    """The motion differs by what is proportional to 1/k, with states of muscles that end alike."""
    model, ends = stopped(friction), list[Any]()
    stops = [CompliantStops(k, damping=2 * np.sqrt(0.045 * k)) for k in (1e4, 1e5)]
    for limits in (RigidStops(), *stops):
        method = DormandPrince(1e-9, 1e-11, 1e-11)
        options: Any = {"integrator": method, "excitations": there_and_back, "joint_limits": limits}
        ends.append(states(kn.simulate(model, [0.0], None, 0.5, **options))[-1])
    soft, hard = (np.abs(end - ends[0]) for end in ends[1:])
    assert hard[0] < 5e-4
    assert hard[1] < 5e-3
    assert soft[:2] / hard[:2] == pytest.approx(10.0, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "order"),
    [("euler", 1), ("heun", 2), ("rk4", 4), ("implicit", 1), ("bdf1", 1), ("bdf2", 2), ("variational", 2)],
)
def test_orders(method: str, order: int):
    """Every integrator keeps its order, with excitations that change and fibers that move."""
    model = forearm(MIXED)

    @kn.kernel
    def waves(model: Any, t: Any) -> Any:
        return [0.5 + 0.3 * kn.scalar.sin(9 * t), 0.3 - 0.2 * kn.scalar.sin(9 * t)]

    options: Any = {"excitations": waves, "activations0": [0.4, 0.4]}
    exact = states(kn.simulate(model, None, None, 0.032, integrator=DormandPrince(1e-12, 1e-14, 1e-14), **options))[-1]
    steps = [1e-3, 5e-4] if order > 2 else [5e-4, 2.5e-4]
    errors = [
        np.abs(states(kn.simulate(model, None, None, 0.032, integrator=method, dt=dt, **options))[-1] - exact).max()
        for dt in steps
    ]
    assert np.log2(errors[0] / errors[1]) > order - 0.3


def test_adaptive_steps_are_as_short_as_states_need():
    """An arm that hangs still has no errors of motion; activations rise within hundredths of a second all the same."""
    law = CubicMuscle(1e-9, 0.14, 0.18, rise=0.02, fall=0.05)
    motion = kn.simulate(
        forearm((law, law)), None, None, 0.1, excitations=[0.8, 0.1], activations0=[0.2, 0.9], integrator="adaptive"
    )
    up = motion.activations[:, 0]
    left = (0.5 + 1.5 * 0.8) * np.log((0.8 - 0.2) / (0.8 - up)) - 1.5 * (up - 0.2)
    assert left == pytest.approx(motion.times / 0.02, abs=1e-4)
    assert len(motion) > 10


@pytest.mark.slow
def test_with_contacts_friction_and_adaptive_steps():
    """Contact steps, soft contacts and dry friction have the states of muscles as other steps do."""
    b = kn.Builder("forearm on a table", base="upper arm")
    inertia = kn.model.solid_cylinder(1.5, 0.04, 0.3, at=(0, 0, -0.15))
    hand = kn.model.Geometry(kn.model.Sphere(0.04), kn.spatial.Transform.translation((0, 0, -0.3)))
    b.body("forearm", joint=kn.joints.Revolute("y"), inertia=inertia, collisions=hand, damping=0.3)
    b.line("biceps", [("upper arm", (0.03, 0, 0.28)), ("forearm", (0.02, 0, -0.04))], ELASTIC[0])
    b.surface("rubber", friction=0.5, stiffness=2e4, damping=0.5)
    b.ground(height=-0.33, surface="rubber")
    touching = b.build()
    exact = kn.simulate(touching, [-1.2], None, 0.05, excitations=[0.5], integrator="adaptive", contacts=False)
    for options in ({}, {"contacts": kn.contact.CompliantContacts()}):
        free = kn.simulate(touching, [-1.2], None, 0.05, excitations=[0.5], **options)
        assert free.activations[-1] == pytest.approx(exact.activations[-1], abs=1e-4)
        assert free.fiber_lengths[-1] == pytest.approx(exact.fiber_lengths[-1], abs=2e-3)
        down = kn.simulate(touching, [-0.6], None, 0.5, excitations=[0.02], **options)
        assert down.contact_force("forearm")[-1, 2] > 0.1
        assert down.activations[-1] == pytest.approx([0.02], abs=1e-3)
        many = kn.rollout(touching, [-0.6], None, None, 1e-3, steps=30, excitations=[0.02], **options)
        assert many.activations[-1] == pytest.approx(down.activations[30], abs=1e-3)
    rubbing = forearm(MIXED, friction=2.0)
    one = kn.simulate(rubbing, [0.3], [0.5], 0.1, excitations=[0.05, 0.02])
    many = kn.rollout(rubbing, [0.3], [0.5], None, 1e-3, steps=100, excitations=[0.05, 0.02])
    assert (one.v == 0).any()
    assert (many.v == 0).any()
    assert many.activations[-1] == pytest.approx(one.activations[-1], abs=1e-6)
    assert many.fiber_lengths[-1] == pytest.approx(one.fiber_lengths[-1], abs=1e-4)


def test_stiff_tendons_take_short_steps():
    short = replace(ELASTIC[0], tendon=0.02, fiber=0.3)
    assert kn.integrators.default_steps(forearm((short, ELASTIC[1]))).parts > 1
    assert kn.integrators.default_steps(forearm(CUBIC)).parts == 1


def test_a_rigid_tendon_is_the_limit_of_elastic_ones():
    stiff = HillMuscle(600.0, 0.14, 0.18, pennation=0.2, tendon_strain=1e-6, activation=0.7)
    rigid = HillMuscle(600.0, 0.14, 0.18, pennation=0.2, rigid_tendon=True, activation=0.7)
    for length in np.linspace(0.27, 0.42, 7):
        assert stiff.tension(length, 0.0) == pytest.approx(rigid.tension(length, 0.0), rel=1e-4)
