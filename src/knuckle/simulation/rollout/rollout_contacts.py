"""The contacts of rollouts: what is kept of the steps that saved states end, and what is read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.native import result_memory as memory
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.integrators.methods.soft_contact_steps import AroundSteps
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.simulation.friction.dry_friction import has_modes
from knuckle.simulation.steps.step_text import StepText
from knuckle.trajectory.contacts.contact_log import NotedRows
from knuckle.trajectory.contacts.contact_record import ContactRecord

from .noting_step import BEFORE_Q, BEFORE_V, NotingStep
from .rollout_forces import part_of

Array: TypeAlias = NDArray[Any]


def noting(step: StepText, model: Model, state: Mapping[str, Array], muscles: tuple[str, ...]) -> NotingStep:
    """A step that tells what is needed of its muscles and of its contacts; an error where it has no contacts."""
    integrator = step.integrator
    if isinstance(integrator, ContactSteps):
        has = "memory0" in state and state["memory0"].shape[-1] > 0
        return NotingStep(step, (*muscles, *(("memory0",) if has else ())), True)
    if isinstance(integrator, AroundSteps):
        name = f"memory{int(has_modes(integrator, model))}"
        springs = (name,) if integrator.has_springs(model) and name in state else ()
        return NotingStep(step, (*muscles, *springs), False)
    raise ValueError(f"save_contacts=True needs contacts that are solved, and {type(integrator).__name__} knows none")


@dataclass(frozen=True, eq=False)
class RolloutContacts:
    """What was kept of contacts with K states of each trajectory."""

    method: ContactSteps | CompliantContacts
    values: Array
    """(..., K, n): impulses of the steps that ended there, or springs of friction"""
    q: Array | None = None
    """(..., K, nq): where these steps began; None for forces that are functions of the state"""
    v: Array | None = None

    @classmethod
    def room(
        cls, step: NotingStep, state: Mapping[str, Array], batch: tuple[int, ...], rows: int, muscles: tuple[str, ...]
    ) -> RolloutContacts:
        """Where it is kept."""

        def kept(name: str | None) -> Array:
            dtype = state["q"].dtype
            return memory.empty((*batch, rows, state[name].shape[-1] if name else 0), dtype)

        method = step.integrator.contacts if isinstance(step.integrator, AroundSteps) else ContactSteps()
        before = (kept(BEFORE_Q), kept(BEFORE_V)) if step.keeps_before else (None, None)
        first = [name for name in step.first if name not in muscles]
        return cls(method, kept(first[0] if first else None), *before)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Those that are written, in the order of the state."""
        before = [x for x in (self.q, self.v) if x is not None]
        return (*([self.values] if self.values.shape[-1] else []), *before)

    def part(self, index: tuple[Any, ...]) -> RolloutContacts:
        """That of some trajectories."""
        before = (None if x is None else part_of(x, index, 2) for x in (self.q, self.v))
        return RolloutContacts(self.method, part_of(self.values, index, 2), *before)

    def record(self, model: Model, times: Array, dt: float, q: Array, v: Array) -> ContactRecord:
        """As notes of motions one after the other; rows that are not finite are left out."""
        count = int(np.prod(q.shape[:-2], dtype=int))
        t = np.tile(times, count)

        def flat(x: Array) -> Array:
            return np.asarray(x, float).reshape(len(t), x.shape[-1])

        is_step = self.q is not None and self.v is not None
        before = (flat(self.q), flat(self.v)) if self.q is not None and self.v is not None else (flat(q), flat(v))
        values, after = flat(self.values), flat(v)
        lengths = np.full(len(t), dt if is_step else 0.0)
        ends = np.tile(np.arange(len(times)) > 0, count) if is_step else np.ones(len(t), bool)
        sound = np.isfinite(values).all(1) & np.isfinite(before[0]).all(1) & np.isfinite(after).all(1)
        notes = NotedRows(None, np.arange(len(t)), t - lengths, lengths, *before, after, values)
        return ContactRecord(model, self.method, (notes.chosen(np.flatnonzero(sound & ends)),))

    # files

    def facts(self) -> dict[str, Any]:
        """What JSON can say of it."""
        soft = isinstance(self.method, CompliantContacts)
        return {"kind": "soft", **asdict(self.method)} if soft else {"kind": "steps"}

    def named_arrays(self) -> dict[str, Array]:
        """Its arrays by what they are."""
        found = {"values": self.values, "q": self.q, "v": self.v}
        return {name: x for name, x in found.items() if x is not None}

    @classmethod
    def from_file(cls, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> RolloutContacts:
        """What a file holds."""
        options = {name: x for name, x in facts.items() if name != "kind"}
        method = CompliantContacts(**options) if facts["kind"] == "soft" else ContactSteps()
        return cls(method, arrays["values"], arrays.get("q"), arrays.get("v"))
