"""The contacts of a live simulation: those of its last step, as a motion would have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.model import Model
from knuckle.trajectory.contacts.contact_log import NotedRows
from knuckle.trajectory.contacts.contact_record import ContactRecord
from knuckle.trajectory.contacts.motion_contacts import MotionContacts
from knuckle.viewer.scene.triangles import Array


class LastStep(NamedTuple):
    """The state that a step began with, the velocity at its end, its length, and the impulses of its contacts."""

    q: Array
    v: Array
    after: Array
    dt: float
    impulses: Array


def contacts_of_step(model: Model, solver: ContactSteps | ColliderSteps, step: LastStep) -> MotionContacts:
    """What pushed in a step: forces are impulses over its length."""
    states = (np.asarray(x, float)[None] for x in (step.q, step.v, step.after, step.impulses))
    pairs = solver.pairs if isinstance(solver, ContactSteps) else None
    pushed = np.zeros(int(np.any(step.impulses)), int)
    rows = NotedRows(pairs, np.zeros(1, int), np.zeros(1), np.full(1, step.dt), *states).chosen(pushed)
    return ContactRecord(model, solver, (rows,)).read(np.zeros(1))
