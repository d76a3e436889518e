"""Scenes of contact_cases.py by knuckle: by steps of the first and of the second order, and from event to event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from contact_cases import Case, Motion
from contact_residuals import Push, Pushes

import knuckle as kn
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.contact import CompliantContacts, RigidContacts
from knuckle.integrators.methods.contact_impulses import impulses_of_places
from knuckle.joints import Free
from knuckle.model.surfaces import ContactRules, Surface

Array = np.ndarray[Any, Any]


def model_of(case: Case) -> kn.Model:
    """The scene, with the restitution or the springs that MJCF does not state in SI units."""
    model = kn.formats.loads(case.mjcf).with_gravity(case.gravity)
    stiffness, damping = (None, None) if case.law is None else (2 * case.law[0], 2 * case.law[1])  # two in series
    surface = Surface(friction=case.friction, restitution=case.restitution, stiffness=stiffness, damping=damping)
    bodies = tuple(
        replace(body, collisions=tuple(replace(x, surface=None) for x in body.collisions)) for body in model.bodies
    )
    base = replace(model.base, collisions=tuple(replace(x, surface=None) for x in model.base.collisions))
    return model.replace(bodies=bodies, base=base, contact=ContactRules((surface,)))


def start(model: kn.Model, case: Case) -> tuple[Array, Array]:
    q, v = np.array(kn.neutral(model), float), np.zeros(model.nv)
    velocities, rates = iter(case.velocities), iter(case.rates)
    poses = kn.body_poses(model, q)
    for i, joint in enumerate(model.joints):
        if isinstance(joint.type, Free):
            given = np.array(next(velocities, (0.0,) * 6), float).reshape(2, 3)
            v[model.v_slices[i]] = (given @ poses[i, :3, :3]).ravel()
        else:
            v[model.v_slices[i]] = next(rates, 0.0)
    return q, v


def forces(model: kn.Model, case: Case) -> Any:
    """A push on the first body, through its middle, in the world's axes: as a controller of its free joint."""
    if not any(case.push):
        return None
    n, f = np.array(case.push[:3]), np.array(case.push[3:])

    def push(model: kn.Model, q: Array) -> Array:
        E = kn.body_poses(model, q)[0, :3, :3]
        return np.concatenate([E.T @ n, E.T @ f, np.zeros(model.nv - 6)])

    return push


def motion_of(model: kn.Model, times: Array, q: Array, v: Array, **more: Any) -> Motion:
    poses = np.asarray(kn.body_poses(model, q))
    twists = np.stack([kn.velocity(model, q, v, body.name, "aligned") for body in model.bodies], 1)
    return Motion(times, poses[..., :3, 3], poses[..., :3, :3], twists[..., 3:], twists[..., :3], **more)


def by_steps(case: Case) -> Motion:
    """`kn.simulate` with what it chooses; soft surfaces by the law of RBDA 11.74."""
    model = model_of(case)
    q, v = start(model, case)
    how: dict[str, Any] = {"contacts": True}
    if case.law is not None:
        exact = kn.integrators.DormandPrince(rtol=1e-11, atol_q=1e-13, atol_v=1e-12)
        how = {"contacts": CompliantContacts("linear", friction=None), "integrator": exact}
    motion = kn.simulate(model, q, v, case.duration, dt=case.dt, controller=forces(model, case), **how)
    return motion_of(
        model, motion.times, motion.q, motion.v, carried=_carried(model, case, kn.integrators.ContactSteps())
    )


def by_second_order(case: Case) -> Motion:
    """By a whole step and two halves, and the second order from them."""
    model = model_of(case)
    how = kn.integrators.ContactSteps(extrapolated=True)
    motion = kn.simulate(
        model, *start(model, case), case.duration, dt=case.dt, controller=forces(model, case), integrator=how
    )
    return motion_of(model, motion.times, motion.q, motion.v, carried=_carried(model, case, how))


def _carried(model: kn.Model, case: Case, how: kn.integrators.ContactSteps) -> float | None:
    """The sum of the normal forces of the first step, of free bodies on the ground."""
    if case.law is not None or any(case.push) or len(case.masses) > 1 or case.velocities:
        return None
    q, v = start(model, case)
    stepper = kn.simulation.stepper(model, how)
    state = stepper.step(0.0, stepper.start(0.0, q, v, case.dt), case.dt)
    rows = 3 if case.friction else 1
    return float(np.asarray(state.memory[0])[::rows].sum() / case.dt)


def by_events(case: Case) -> Motion:
    """From event to event, by Dormand and Prince's method to rounding between them."""
    model = model_of(case)
    q, v = start(model, case)
    contacts = RigidContacts(order="sequential" if case.is_sequential else "simultaneous")
    exact = kn.integrators.DormandPrince(rtol=1e-13, atol_q=1e-15, atol_v=1e-14)
    motion = kn.simulate(
        model, q, v, case.duration, dt=case.dt, controller=forces(model, case), contacts=contacts, integrator=exact
    )
    begins = [event.time for event in motion.events if event.kind == "contact"]
    carried = None
    if not case.velocities and len(case.masses) == 1:
        found = kn.contact.contact_dynamics(model, motion.q[-1], motion.v[-1], np.zeros(model.nv))
        carried = float(np.asarray(found.forces)[:, 2].sum())
    return motion_of(model, motion.times, motion.q, motion.v, carried=carried, rest=begins[-1] if begins else None)


def pushes(case: Case) -> Iterator[Pushes]:
    """The contacts of each step."""
    model = model_of(case)
    stepper, dt = kn.simulation.stepper(model, kn.integrators.ContactSteps()), case.dt
    places, pairs = impulses_of_places(model), kn.contact.contact_pairs(model)
    state = stepper.start(0.0, *start(model, case), dt)
    for k in range(round(case.duration / dt)):
        q = np.asarray(state.q)
        gaps, points, normals = (
            np.asarray(f(model, q)) for f in (kn.contact.gaps, kn.contact.points, kn.contact.normals)
        )
        state = stepper.step(k * dt, state, dt)
        found: list[Push] = []
        for at, gap, point, normal in zip(places, gaps, points, normals, strict=True):
            axes = np.array([[float(x) for x in axis] for axis in axes_at(tuple(normal.tolist()))])
            impulse = np.asarray(state.memory[0])[at.impulses] @ axes
            found.append(Push(pairs[at.pair].first, pairs[at.pair].second, point, normal, impulse, float(gap)))
        after = motion_of(model, np.zeros(1), np.asarray(state.q)[None], np.asarray(state.v)[None])
        yield Pushes(found, np.asarray(kn.body_poses(model, q))[:, :3, 3], after.v[0], after.w[0])
