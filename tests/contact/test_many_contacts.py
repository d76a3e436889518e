"""Scenes of many bodies in `simulate`: loops over what touches, and the motion is that of compiled steps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ColliderSteps, ContactSteps, default_steps
from knuckle.joints import Free
from knuckle.model import Box, Capsule, Sphere, solid_box
from knuckle.model.surfaces import ContactRules, Surface

from ..seeds import quick
from .scenes import RADIUS, ball, box, on_plane, placed

STEPS = ContactSteps()


@pytest.mark.slow
def test_balls_that_meet_are_found():
    """Balls roll into each other, with restitution: the motion is that of steps that look at all pairs."""
    model = on_plane(ball(), ball(2.0), ball(), friction=0.3, restitution=0.5)
    q = placed(model, (0, 0, RADIUS), (0.5, 0.0, RADIUS), (1.0, 0.0, RADIUS))
    v = np.zeros(18)
    v[3] = 3.0
    every = kn.simulate(model, q, v, 0.6, dt=2e-3, integrator=STEPS)
    loops = kn.simulate(model, q, v, 0.6, dt=2e-3, integrator=ColliderSteps(kn.contact.ShapeCollider.of(model)))
    assert np.abs(every.v[-1, 15]) > 0.1  # the third one was hit
    np.testing.assert_allclose(loops.q[-1], every.q[-1], atol=1e-8)
    np.testing.assert_allclose(loops.v[-1], every.v[-1], atol=1e-7)


def test_many_balls_roll_each_by_itself():
    """Sixteen balls, 136 pairs: v = 5/7 v₀ in the end for each of them, to rounding (SimBenchmark's rolling)."""
    n = 16
    model = on_plane(*[ball()] * n, friction=0.4)
    at = [(0.5 * (k % 4), 0.5 * (k // 4), RADIUS) for k in range(n)]
    motion = kn.simulate(model, placed(model, *at), np.tile([0, 0, 0, 1.0, 1.0, 0], n), 0.2, dt=1e-3, integrator=STEPS)
    for k in range(n):
        velocity = kn.velocity(model, motion.q[-1], motion.v[-1], f"body{k}", "aligned")
        np.testing.assert_allclose(velocity[3:], [5 / 7, 5 / 7, 0], atol=1e-11)


def test_a_pile_at_rest_does_not_drift():
    """Ten boxes on each other: what steps leave of their velocities does not add up from step to step."""
    model = on_plane(*[box(mass=1.0)] * 10)
    start = placed(model, *((0, 0, 0.1 + 0.2 * k) for k in range(10)))
    motion = kn.simulate(model, start, None, 0.5, dt=5e-3, integrator=STEPS)
    assert np.abs(kn.difference(model, motion.q[0], motion.q[-1])).max() < 1e-14
    assert np.abs(motion.v).max() < 2e-13


@pytest.mark.parametrize("steps", [STEPS, None], ids=["compiled", "loops"])
def test_what_strikes_within_a_step_leaves_with_e(steps: ContactSteps | None):
    """From a gap that closes in the step, whatever is left of it: v' = −e v."""
    model = on_plane(ball(), friction=0.0, restitution=0.6)
    how = steps or ColliderSteps(kn.contact.ShapeCollider.of(model))
    stepper = kn.simulation.stepper(model, how)
    start = stepper.start(0.0, placed(model, (0, 0, RADIUS + 1e-3)), np.array([0, 0, 0, 0.3, 0, -2.0]), 1e-3)
    assert stepper.step(0.0, start, 1e-3).v[5] == pytest.approx(1.2, rel=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_a_step_by_loops_is_the_step_of_compiled_code(seed: int):
    """Two balls that turn strike each other, in any direction, and rub, turn and roll against each other."""
    rng = np.random.default_rng(seed)
    surface = Surface(friction=0.5, torsional=0.01, rolling=0.02, restitution=[0.0, 0.5][seed])
    model = on_plane(ball(), ball(3.0)).replace(contact=ContactRules((surface,)))
    way = rng.normal(size=3)
    way *= (2 * RADIUS + 1e-4) / np.linalg.norm(way)
    q, v = placed(model, (0, 0, 1), (way[0], way[1], 1 + way[2])), 2 * rng.normal(size=12)
    v[3:6] += 40 * way
    q1, v1, impulses = after_a_step(model, STEPS, q, v)
    q2, v2, _ = after_a_step(model, ColliderSteps(kn.contact.ShapeCollider.of(model)), q, v)
    assert np.abs(impulses).max() > 0.1
    np.testing.assert_allclose([*q2, *v2], [*q1, *v1], rtol=0, atol=1e-9)


def after_a_step(
    model: kn.Model, how: ContactSteps | ColliderSteps, q: Any, v: Any, dt: float = 1e-3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The state after a step, and its impulses."""
    stepper = kn.simulation.stepper(model, how)
    state = stepper.step(0.0, stepper.start(0.0, np.array(q, float), np.array(v, float), dt), dt)
    return np.asarray(state.q), np.asarray(state.v), np.asarray(state.memory[0])


def test_rebound_with_friction_in_a_step_by_loops():
    """A rod that would gain energy by Newton's law strikes under gravity: as compiled steps."""
    model = on_plane((solid_box(1.0, (0.1, 0.1, 1.0)), Capsule(0.05, 0.9)), friction=1.0, restitution=1.0)
    height = 0.45 * math.sqrt(0.5) + 0.05 + 1e-4
    q = [math.cos(math.pi / 8), 0, math.sin(math.pi / 8), 0, 0, 0, height]
    v = np.zeros(6)
    v[3:] = np.array(kn.body_poses(model, np.array(q))[0, :3, :3]).T @ [0.6, 0, -1.0]
    one = after_a_step(model, STEPS, q, v, 1e-2)
    other = after_a_step(model, ColliderSteps(kn.contact.ShapeCollider.of(model)), q, v, 1e-2)
    assert np.abs(one[2]).max() > 0.1
    np.testing.assert_allclose(np.concatenate(other[:2]), np.concatenate(one[:2]), rtol=0, atol=1e-9)


def test_what_is_struck_strikes_the_next_in_the_same_step():
    """The third ball is not near to anything that moves before the second is struck: as compiled steps."""
    model = on_plane(ball(), ball(), ball(), friction=0.0, restitution=1.0)
    q = placed(model, (0, 0, 1), (2 * RADIUS, 0, 1), (4 * RADIUS + 1e-3, 0, 1))
    v = np.zeros(18)
    v[3] = 10.0
    one = after_a_step(model, STEPS, q, v)
    other = after_a_step(model, ColliderSteps(kn.contact.ShapeCollider.of(model)), q, v)
    assert one[1][15] > 1.0
    np.testing.assert_allclose(np.concatenate(other[:2]), np.concatenate(one[:2]), rtol=0, atol=1e-9)


def test_springs_dampers_and_friction_of_joints_in_a_step_by_loops():
    """Feet on sliders with springs, dampers and friction, stiff for the step, one on the ground: as compiled steps."""
    b = kn.Builder("stand", gravity=(0, 0, -9.81))
    b.ground()
    inertia, slider = solid_box(1.0, (0.1, 0.1, 0.1)), kn.joints.Prismatic("z")
    b.body("table", joint=Free(), at=(0, 0, 0.5), inertia=solid_box(5.0, (0.4, 0.4, 0.1)))
    for k, x in enumerate((-0.2, 0.2)):
        b.body(
            f"foot{k}", on="table", at=(x, 0, -0.4 + 0.1 * k), joint=slider, inertia=inertia, collisions=Sphere(RADIUS),
            stiffness=4e4 * (1 + k), damping=90.0 + k, friction=3.0 + k,
        )  # fmt: skip
    model = b.build()
    q, v = np.array(kn.neutral(model)), np.array([0.1, -0.2, 0.3, 0.1, 0.2, -1.0, 0.4, -0.7])
    q[7:] = 0.0, 0.02
    one = after_a_step(model, STEPS, q, v)
    other = after_a_step(model, ColliderSteps(kn.contact.ShapeCollider.of(model)), q, v)
    assert np.abs(one[2]).max() > 0.1
    np.testing.assert_allclose(np.concatenate(other[:2]), np.concatenate(one[:2]), rtol=0, atol=1e-9)


def wall(columns: int, rows: int) -> tuple[kn.Model, np.ndarray]:
    """Bricks in a bond, each on two others."""
    b = kn.Builder("wall")
    b.surface("clay", friction=0.6)
    b.ground(surface="clay")
    for row in range(rows):
        for column in range(columns):
            at = (0.4 * (column + 0.5 * (row % 2)), 0, 0.1 + 0.2 * row)
            brick: dict[str, Any] = {
                "inertia": solid_box(1.0, (0.4, 0.2, 0.2)),
                "collisions": Box((0.4, 0.2, 0.2)),
                "surface": "clay",
            }
            b.body(f"brick{row}{column}", joint=Free(), at=at, **brick)
    model = b.build()
    return model, kn.neutral(model)


@pytest.mark.slow
def test_a_wall_that_is_hit_obeys_the_laws():
    """Bricks in many contacts at once: momentum goes to the ground only, energy falls, and nothing sinks in."""
    model, q = wall(3, 4)
    assert type(default_steps(model).integrator) is ColliderSteps
    v = np.zeros(model.nv)
    v[6 * 10 + 3] = 2.0  # a brick of the top row is struck along the wall
    motion = kn.simulate(model, q, v, 0.1, dt=2e-3)
    energy = kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)
    assert np.diff(energy).max() < 1e-9 * energy[0]
    gaps = kn.contact.ShapeCollider.of(model).places(motion.q[-1])[:, 0]
    assert gaps.min() > -1e-5
    slowed = kn.kinetic_energy(model, motion.q[-1], motion.v[-1])
    assert slowed < 0.7 * kn.kinetic_energy(model, q, v)


@pytest.mark.slow
def test_steps_by_loops_run_as_plain_python_too():
    """The routines are Python: what is compiled does the same as the text."""
    model, q = wall(1, 2)
    v = np.zeros(model.nv)
    v[6 + 3] = 1.0
    steps: dict[str, Any] = {
        "dt": 5e-3,
        "contacts": None,
        "integrator": ColliderSteps(kn.contact.ShapeCollider.of(model)),
    }
    compiled = kn.simulate(model, q, v, 0.01, **steps)
    kn.compilation.set_policy("never")
    try:
        steps["integrator"] = ColliderSteps(kn.contact.ShapeCollider.of(model))
        plain = kn.simulate(model, q, v, 0.01, **steps)
    finally:
        kn.compilation.set_policy("auto")
    np.testing.assert_allclose(plain.q, compiled.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(plain.v, compiled.v, rtol=0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("is_explicit", quick([True, False], [False]))
def test_a_run_goes_on_from_a_checkpoint_to_the_last_bit(tmp_path: Path, is_explicit: bool):
    model, q = wall(2, 3)
    v = np.zeros(model.nv)
    v[6 * 4 + 3] = 1.0
    own: dict[str, Any] = {"integrator": ColliderSteps(kn.contact.ShapeCollider.of(model))} if is_explicit else {}
    whole = kn.simulate(model, q, v, 0.1, dt=2e-3, **own)

    seen: list[float] = []

    def interrupt(part: float) -> None:
        seen.append(part)
        if part > 0.3 and len(seen) < 1000:
            seen.extend([0.0] * 1000)
            raise KeyboardInterrupt

    options: dict[str, Any] = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0, "dt": 2e-3, **own}
    kn.simulate(model, q, v, 0.1, progress=interrupt, **options)
    resumed = kn.simulate(model, q, v, 0.1, resume=True, **options)
    np.testing.assert_array_equal(resumed.q, whole.q)
    np.testing.assert_array_equal(resumed.v, whole.v)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"collider": "coal"}, TypeError, "collider is a kn.contact.ShapeCollider, not 'coal'"),
        ({"rounds": 0}, ValueError, "rounds is a whole number from 1 on, not 0"),
        ({"rounds": 1.5}, TypeError, "rounds is a whole number, not 1.5"),
        ({"tolerance": -1e-3}, ValueError, "tolerance is a finite number from 0 on, not -0.001"),
        ({"tolerance": "small"}, TypeError, "tolerance is a number, not 'small'"),
    ],
)
def test_arguments_are_checked(options: dict[str, Any], error: type[Exception], match: str):
    model = on_plane(ball())
    with pytest.raises(error, match=match):
        ColliderSteps(**{"collider": kn.contact.ShapeCollider.of(model), **options})


def test_a_collider_of_another_mechanism_is_refused():
    one, other = on_plane(ball()), on_plane(ball(2.0))
    steps = ColliderSteps(kn.contact.ShapeCollider.of(other))
    with pytest.raises(kn.ModelError, match=r"the collider of ColliderSteps is of .* moves otherwise"):
        kn.simulate(one, None, None, 0.01, integrator=steps)


def test_surfaces_of_several_stiffnesses():
    """A soft and a stiff ball on a rigid floor sink in by m g / k each."""
    b = kn.Builder("scene")
    b.surface("floor")
    b.surface("soft", stiffness=1e3, damping=200.0)
    b.surface("stiff", stiffness=1e5, damping=2e3)
    b.ground(surface="floor")
    for k, surface in enumerate(("soft", "stiff")):
        inertia = solid_box(1.0, (0.1,) * 3)
        b.body(surface, joint=Free(), at=(k, 0, 0.1), inertia=inertia, collisions=Sphere(0.1), surface=surface)
    model = b.build()
    steps = ColliderSteps(kn.contact.ShapeCollider.of(model))
    motion = kn.simulate(model, None, None, 4.0, dt=5e-3, integrator=steps, save_every=100)
    sunk = -motion.q[-1][[6, 13]]
    np.testing.assert_allclose(sunk, [9.81 / 1e3, 9.81 / 1e5], rtol=1e-6)
