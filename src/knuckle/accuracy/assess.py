"""The study of one model."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle import functions
from knuckle.functions.loops import assembly
from knuckle.model import Model
from knuckle.scalar.structural import StructuralDivisionError

from .function_errors import PRECISIONS, error_of, exact_result, names_for, single
from .remedies import remedies
from .report import AccuracyReport
from .sensitivity import loop_conditions, mass_matrix_conditions, sensitivities

Array = NDArray[Any]


def assess(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    *,
    states: int = 20,
    digits: int = 50,
    seed: int = 0,
) -> AccuracyReport:
    """How exact the functions of a model are, against the same text in many digits (RBDA 10.1, 10.2).

    Each function is called in double and in single precision on states whose numbers both have, and run once more on
    the same numbers in many digits. The differences are the algorithm's rounding, and that of the model's constants.

    Args:
        model: the mechanism.
        q: positions (n, nq); drawn at random, with loops closed, if not given.
        v: velocity variables (n, nv); drawn at random, of size one, if not given.
        a: their rates (n, nv), likewise; the joint forces are those of inverse dynamics.
        states: how many states are drawn.
        digits: of the reference. It needs mpmath; with gmpy2 installed it takes a tenth of the time.
        seed: of what is drawn.

    Example:
        report = kn.accuracy.assess(model)
        print(report)
        report.plot("accuracy.png")
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"assess needs a knuckle.Model first, not {type(model).__name__}")
    if states < 1:
        raise ValueError(f"states={states}; at least one is needed")
    if digits < 20:
        raise ValueError(f"digits={digits}; at least 20 are needed, more than a double has")
    state = _states(model, q, v, a, states, seed)
    exact, undefined = _exact_results(model, state, digits)
    errors = tuple(error_of(model, name, state, exact[name], kind) for name in exact for kind in PRECISIONS)
    condition, scaled = mass_matrix_conditions(model, state["q"])
    worst = int(np.argmax(np.where(np.isfinite(condition), condition, 0.0)))
    singles = {entry.function: entry for entry in errors if entry.precision == "float32"}
    return AccuracyReport(
        model=model,
        digits=digits,
        state=state,
        errors=errors,
        mass_matrix_condition=condition,
        scaled_condition=scaled,
        loop_condition=loop_conditions(model, state["q"]) if model.loops else np.zeros(0),
        sensitivities=()
        if "forward_dynamics" in undefined
        else sensitivities(model, state["q"][worst], state["v"][worst], state["tau"][worst]),
        remedies=remedies(model, state, singles, digits),
        undefined=undefined,
    )


def _exact_results(model: Model, state: Mapping[str, Array], digits: int) -> tuple[dict[str, Array], tuple[str, ...]]:
    """The functions in many digits, and those that divide by what is zero in every state: joints move no inertia."""
    exact: dict[str, Array] = {}
    for name in names_for(model):
        with contextlib.suppress(StructuralDivisionError):
            exact[name] = exact_result(model, name, state, digits)
    return exact, tuple(name for name in names_for(model) if name not in exact)


def _states(
    model: Model, q: ArrayLike | None, v: ArrayLike | None, a: ArrayLike | None, count: int, seed: int
) -> Mapping[str, Array]:
    """States as rows, of numbers that single precision has too."""
    rng = np.random.default_rng(seed)
    if q is None:
        drawn = [functions.random_configuration(model, seed + k) for k in range(count)]
        positions = np.array([assembly.close(model, x).q if model.loops else x for x in drawn])
    else:
        positions = np.atleast_2d(np.asarray(q, float))
    n = len(positions)
    state = {"q": _rows("q", positions, n, model.nq)}
    for name, values in (("v", v), ("a", a)):
        state[name] = rng.standard_normal((n, model.nv)) if values is None else _rows(name, values, n, model.nv)
    state = {name: single(x) for name, x in state.items()}
    tree = model.without_loops()
    force = np.asarray(functions.inverse_dynamics(tree, state["q"], state["v"], state["a"]))
    return {**state, "tau": single(force)}


def _rows(name: str, values: ArrayLike, n: int, size: int) -> Array:
    rows = np.atleast_2d(np.asarray(values, float))
    if rows.shape[1:] != (size,) or not n or len(rows) not in (1, n):
        raise ValueError(f"{name} has shape {np.shape(values)}, and must have shape ({n or 'n'}, {size})")
    if not np.isfinite(rows).all():
        raise ValueError(
            f"{name} has numbers that are not finite, the first in state {np.argwhere(~np.isfinite(rows))[0, 0]}"
        )
    return np.broadcast_to(rows, (n, size)).copy()
