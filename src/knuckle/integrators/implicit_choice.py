"""Which solver takes implicit steps of a mechanism, one state at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.spatial import SPATIAL

from .base import Integrator
from .loop_stabilization import Stabilization

if TYPE_CHECKING:
    from .methods.implicit_euler import ImplicitEuler

FEW_VARIABLES, FEW_WITH_ELEMENTS = 60, 24
"""Velocity variables up to which all of the equations are one piece of code: more of them would take minutes to compile
where elements or loops make them full."""
MOST_VARIABLES = 150
"""Velocity variables beyond which they never are: forces of controllers that act across joints are held instead."""
FEW_DIRECTIONS = 18
"""Directions of elements up to which as many solutions with the tree are cheaper than iterations."""
DIRECTIONS = 3
"""Directions of a line between two points: along and across it."""


def implicit_steps_for(
    model: Model,
    integrator: Integrator,
    stabilization: Stabilization,
    has_gains: Callable[[], bool],
    has_stops: bool = False,
) -> Integrator:
    """What takes the steps of `ImplicitEuler` in `simulate`: loops over bodies where its solver says so.

    Args:
        model: the mechanism.
        integrator: any; others stay what they are.
        stabilization: what keeps loops closed.
        has_gains: whether a controller is a kernel with slopes of one variable on another's force, which loops over
            bodies do not have: they would hold its force for the step. Asked for large mechanisms only.
        has_stops: whether joint limits, contacts or muscles with states push: these need their slopes.
    """
    if not integrator.is_implicit:
        return integrator
    from .methods.implicit_euler import ImplicitEuler

    if not isinstance(integrator, ImplicitEuler) or integrator.solver == "dense":
        return integrator
    obstacle = (
        "the forces of stops, contacts and muscles with states are not held"
        if has_stops
        else _obstacle(model, stabilization, integrator.solver)
    )
    if integrator.solver == "auto":
        if obstacle or not is_large(model):
            return integrator
        if model.nv <= MOST_VARIABLES and has_gains():
            return integrator
        return _steps(model, integrator, _suited(model))
    if obstacle:
        raise ModelError(f'ImplicitEuler(solver="{integrator.solver}"): {obstacle}; solver="dense" can')
    return _steps(model, integrator, integrator.solver)


def is_large(model: Model) -> bool:
    """Whether a mechanism is better taken by loops over bodies, and can be."""
    few = FEW_WITH_ELEMENTS if model.elements or model.loops else FEW_VARIABLES
    return model.nv > few and not _obstacle(model, None, "auto")


def _steps(model: Model, integrator: ImplicitEuler, solver: str) -> Integrator:
    from .methods.tree_steps import TreeSteps

    how = integrator.tolerance, integrator.iterations, bool(integrator.turning)
    return TreeSteps(model, solver, *how)  # pyright: ignore[reportArgumentType]


def _suited(model: Model) -> str:
    """The solver that a mechanism suits: without iterations where few elements act, or none."""
    return "woodbury" if DIRECTIONS * len(model.elements) <= FEW_DIRECTIONS else "pcg"


def _obstacle(model: Model, stabilization: Stabilization, solver: str) -> str:
    """What loops over bodies cannot have, in words; nothing, if there is nothing of the kind."""
    if model.couplings and (solver == "kkt" or model.loops):
        return f'joints of {model.name} follow others, which needs a tree and solver="pcg" or "woodbury"'
    if any(element.armature for element in model.elements):
        return f"lines of {model.name} have armature, which loops over bodies do not know"
    if any(element.wound_on for element in model.elements):
        return f"lines of {model.name} are wound on joints, which loops over bodies do not know"
    if model.algebra is not SPATIAL:
        return f"{model.name} is a planar model, and loops over bodies are spatial"
    if model.loops and isinstance(stabilization, Choice):
        return "independent variables are chosen, and loops over bodies close loops by projection"
    return ""
