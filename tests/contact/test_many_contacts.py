"""Scenes of many bodies in `simulate`: loops over what touches, and the motion is that of compiled steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ColliderSteps, ContactSteps, default_steps
from knuckle.joints import Free
from knuckle.model import Box, Sphere, solid_box

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
