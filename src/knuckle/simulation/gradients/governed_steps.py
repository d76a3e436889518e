"""Steps of mechanisms that forces alone do not move: joints with a given motion, and constraints from outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions.hybrid import chosen_joints, hybrid_motion
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.steps.step_text import StepText

if TYPE_CHECKING:
    from knuckle.constraints import Constraint

Array = NDArray[Any]


@dataclass(frozen=True)
class PrescribedLaw:
    """Hybrid dynamics (RBDA 9.1): what is applied is a force at most joints, and an acceleration at some of them."""

    joints: tuple[int, ...]

    def __call__(self, model: Model, q: Any, v: Any, u: Any, f_ext: Any, decay_time: float | None) -> Any:
        both = hybrid_motion.reference(
            model, q, v, u, u, f_ext, prescribed=self.joints, method="aba", stabilization=decay_time
        )
        return both[: model.nv]


@dataclass(frozen=True)
class ConstrainedLaw:
    """The acceleration that keeps constraints (notes 2.101), all of them equalities."""

    constraints: tuple[Constraint, ...]
    decay_time: float | None

    def __call__(self, model: Model, q: Any, v: Any, tau: Any, f_ext: Any, decay_time: float | None) -> Any:
        from knuckle.constraints import acceleration

        own = self.decay_time if decay_time is None else decay_time
        return acceleration.reference(model, q, v, tau, f_ext, constraints=self.constraints, stabilization=own)


@dataclass(frozen=True)
class GovernedStep(StepText):
    """A step in which a law gives the acceleration."""

    law: PrescribedLaw | ConstrainedLaw | None = None

    def system(self, model: Model, values: Mapping[str, Any], held: Any = None) -> System:
        return dataclasses.replace(super().system(model, values, held), law=self.law)


def prescribed_law(model: Model, names: Iterable[str]) -> PrescribedLaw:
    """The law of joints whose accelerations are given."""
    return PrescribedLaw(chosen_joints(model, None, names))


def constrained_laws(
    model: Model, constraints: Iterable[Constraint], arrays: Mapping[str, Array], decay_time: float | None
) -> Iterator[tuple[NDArray[np.bool_], ConstrainedLaw]]:
    """The laws of some states, and which of the states each is for: those in which the same inequalities are active."""
    from knuckle.constraints import dynamics
    from knuckle.constraints.base import ConstraintState

    listed = tuple(constraints)
    found = dynamics(
        model, arrays["q"], arrays["v"], arrays["tau"], listed, arrays.get("f_ext"), stabilization=decay_time
    )
    if not found.solved:
        raise ValueError(f"the constraints are {', '.join(sorted(set(found.status.ravel()) - {'solved'}))}")
    loops = found.active.shape[-1]
    some = ConstraintState.of(model, *(x.reshape(-1, x.shape[-1])[0].tolist() for x in (arrays["q"], arrays["v"])))
    sizes = [len(constraint.terms(some).error) for constraint in listed]
    start = loops - sum(sizes)
    acts = np.empty((*found.active.shape[:-1], len(listed)), bool)
    for k, (constraint, size) in enumerate(zip(listed, sizes, strict=True)):
        rows = found.active[..., start : start + size]
        acts[..., k], start = rows.any(-1), start + size
        if (rows.any(-1) != rows.all(-1)).any():
            raise ValueError(f"some rows of {constraint} are active and some are not: state each as a constraint")
    for pattern in np.unique(acts.reshape(-1, len(listed)), axis=0):
        equalities = tuple(
            dataclasses.replace(constraint, bound="=")
            for constraint, is_active in zip(listed, pattern, strict=True)
            if is_active
        )
        yield (acts == pattern).all(-1), ConstrainedLaw(equalities, decay_time)
