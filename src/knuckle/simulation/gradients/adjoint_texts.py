"""A rollout backward in time, as texts: the derivatives of its loss by the state, from those one step later.

With x' = f(x, u) and the loss Σ ℓ(x, u) + ℓ_N(x_N), the adjoints λ = ∂loss/∂x go back in time by

    λ_N = ∂ℓ_N/∂x,        λ = (∂f/∂x)ᵀ λ' + ∂ℓ/∂x,        ∂loss/∂u = (∂f/∂u)ᵀ λ' + ∂ℓ/∂u.

Those by q are by its entries, nq of them; the last one, at the beginning, is along the velocity variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from knuckle.engine.differentiate.derivative_texts import Call, OfUser
from knuckle.engine.differentiate.influence import influential
from knuckle.engine.differentiate.tangent_space import along_velocities, position_rates
from knuckle.integrators.base import Integrator
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO, absolute
from knuckle.simulation.steps.step_text import StepText
from knuckle.spatial import Matrix, Vector

from .loss_texts import FORCE, NOTED, Forced, Loss, force_at

ADJOINT, ROW, SUM = "λ ", "∂ ", "Σ∂ "
"""What the parts of the state are called that are derivatives by a part of the state, by what has a value of its own at
every step, and by what stays."""
GIVEN = "Σ|∂loss|"
"""The last part: what losses have added to the adjoints, all together."""

Slopes = Mapping[str, Sequence[Any]]
"""Derivatives by arguments, as scalars in a row."""


@dataclass(frozen=True)
class BackwardStep:
    """A function of the derivatives after a step and of what it began with → the derivatives before it.

    Its state is those by `moving` inputs in that step, the adjoints of the `parts` of the state, the sums of those by
    `held` inputs, and what losses have added so far.
    """

    step: StepText
    loss: Loss | None
    parts: tuple[str, ...]
    moving: tuple[str, ...]
    held: tuple[str, ...]
    noted: int = 0
    """How many numbers were noted on the way there"""

    @property
    def __name__(self) -> str:
        return f"{type(self).__name__} of {self.step.name}"

    @property
    def integrator(self) -> Integrator:
        return self.step.integrator

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        for name in self.moving:
            values.pop(ROW + name)
        weights = [x for name in self.parts for x in flat(values.pop(ADJOINT + name))]
        sums = {name: flat(values.pop(SUM + name)) for name in self.held}
        given, known = values.pop(GIVEN), flat(values.pop(NOTED)) if self.noted else None
        losses: Slopes = {}
        if self.loss is not None:
            losses, by_force = self._of_loss(model, values)
            weights += by_force
        text = Forced(self.step, self.loss is not None and self.loss.takes_force)
        steps = pulled(text, model, values, weights, parts=self.parts, known=known)
        total = {name: added(steps[name], losses.get(name)) for name in steps}
        for x in (x for name in ("q", "v") for x in losses.get(name, ())):
            given = given + absolute(x)
        return (
            *(Vector(total[name]) for name in self.moving),
            *(Vector(total[name]) for name in self.parts),
            *(Vector(added(sums[name], total[name])) for name in self.held),
            Vector([given]),
        )

    def _of_loss(self, model: Model, values: Mapping[str, Any]) -> tuple[Slopes, list[Any]]:
        """The derivatives of the loss by what it is given, and by the joint forces."""
        assert self.loss is not None
        force = {FORCE: force_at(self.step, model, values)} if self.loss.takes_force else {}
        slopes = dict(pulled(self.loss, model, {**values, **force}, [ONE], self.loss.control.names))
        return slopes, list(slopes.pop(FORCE)) if force else []


@dataclass(frozen=True)
class AtEnd:
    """A function (model, t, q, v, memory0, …, parameters …) → ℓ and its derivatives by some of them."""

    loss: Loss
    wrt: tuple[str, ...]

    @property
    def __name__(self) -> str:
        return f"AtEnd of {self.loss.__name__}"

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        slopes = pulled(self.loss, model, values, [ONE], self.loss.control.names)
        own = {name: flat(values[name]) for name in self.wrt}
        loss = self.loss(model, **values)
        return loss, *(Vector(slopes.get(name) or [ZERO] * len(x)) for name, x in own.items())


@dataclass(frozen=True)
class AtStart:
    """A function (model, q, v, parameters …, λ …) → the derivatives by q, along the velocity variables, v and others.

    What an integrator remembers begins with what it makes of the first state.
    """

    start: StepText
    parts: tuple[str, ...]
    wrt: tuple[str, ...]

    @property
    def __name__(self) -> str:
        return f"{type(self).__name__} of {self.start.name}"

    @property
    def integrator(self) -> Integrator:
        return self.start.integrator

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        weights = [x for name in self.parts for x in flat(values.pop(ADJOINT + name))]
        slopes = pulled(self.start, model, values, weights)
        by_entries = dict(enumerate(slopes["q"]))
        along = along_velocities(position_rates(model, values["q"]), by_entries, model.nv)
        return Vector(along), *(Vector(slopes[name]) for name in self.wrt)


def pulled(
    text: Callable[..., Any],
    model: Model,
    values: Mapping[str, Any],
    weights: Sequence[Any],
    names: Sequence[str] | None = None,
    parts: Sequence[str] = (),
    known: Sequence[Any] | None = None,
) -> dict[str, list[Any]]:
    """The derivatives of the results of a text, each times its weight, by its arguments, as scalars in a row.

    The first results may be later values of arguments that are `parts` of a state, q and v before others. What an
    integrator only notes, and nothing else changes with, has no weight. What the text solves for may be `known`.
    """
    own = {name: values[name] for name in (values if names is None else names)}
    call = Call.of(OfUser(tuple(own), (), text), model, own)
    sweep, _ = call.sweep(known)
    starts, sizes = call.starts, {name: len(x) for name, x in call.scalars.items()}
    later = [starts[name] + k for name in parts for k in range(sizes[name])]
    state = sum(sizes[name] for name in parts[:2])
    lasting = [*range(state), *range(len(later), len(weights))]
    live = influential(sweep.program, lasting, dict(enumerate(later)))
    slopes = sweep.pulled([x if k in live else ZERO for k, x in enumerate(weights)])
    return {name: [slopes.get(starts[name] + k, ZERO) for k in range(sizes[name])] for name in own}


def added(a: Sequence[Any], b: Sequence[Any] | None) -> list[Any]:
    """The sums of scalars in a row."""
    return list(a) if b is None else [x + y for x, y in zip(a, b, strict=True)]


def flat(x: Any) -> list[Any]:
    """The scalars of a number, a vector or a matrix in a row."""
    if isinstance(x, Matrix):
        return [entry for row in x.rows for entry in row]
    return list(cast("Vector", x)) if isinstance(x, Vector) else [x]
