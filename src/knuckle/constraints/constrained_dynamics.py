"""Public functions of dynamics with equality and inequality constraints (notes 2.8, 2.9, 2.12): Gauss's principle.

Of all accelerations that the constraints allow, the one with the least ½ (a − a*)ᵀ H (a − a*) comes about, a* being the
acceleration without constraints. Its multipliers are the forces: H a = τ − C + Jᵀλ, λ ≥ 0 and λ·(J a − k) = 0 for the
inequalities.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.arrays.base import in_one_row
from knuckle.engine.calls.numpy_arrays import numbers
from knuckle.functions.dynamics import forward_dynamics
from knuckle.model import Model
from knuckle.public_names import public_in

from .base import Constraint
from .constraint_rows import Rows, rows_of, tree_of
from .constraint_solve import Solution, SolveOptions, solve

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Constrained:
    """What constraints did. Rows are those of the loop joints, then those of the constraints in order.

    Attributes:
        multipliers: (..., m) the force, or impulse, of each row; not negative for inequalities.
        forces: (..., nv) what all of them are together at the joints: Jᵀλ.
        active: (..., m) whether a row is tight: an equality, or an inequality at its bound.
        status: (...,) "solved"; "infeasible" where constraints contradict each other: they are kept as well as can be,
            equalities first; "inaccurate" where a solver gave up; "undefined" for a state that is not finite.
        violation: (...,) the most that a row misses.
    """

    multipliers: Array
    forces: Array
    active: Array
    status: Array
    violation: Array

    @property
    def solved(self) -> bool:
        """Whether all states are."""
        return bool((self.status == "solved").all())


@public_in("constraints")
@dataclass(frozen=True)
class ConstrainedMotion(Constrained):
    """What constraints did to the acceleration `a` (..., nv)."""

    a: Array


@public_in("constraints")
@dataclass(frozen=True)
class ConstrainedVelocity(Constrained):
    """What constraints did to the velocity `v` (..., nv) at the end of a step; the multipliers are impulses."""

    v: Array


@public_in("constraints")
def dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Iterable[Constraint],
    f_ext: ArrayLike | None = None,
    *,
    method: Literal["dense", "dual", "iterative"] = "dense",
    stabilization: float | None = None,
    tolerance: float = 1e-9,
    solver: str = "daqp",
) -> ConstrainedMotion:
    """The acceleration and the constraint forces of a mechanism with constraints (notes 2.101, 2.123).

    Args:
        model: the mechanism. Its loop joints are kept closed too.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        constraints: those of `kn.constraints`.
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        method: "dense", by the mass matrix; "dual", by J H⁻¹ Jᵀ from one solve in O(n) for each row, for large
            mechanisms with few constraints; "iterative", by conjugate gradients with products in O(n), without any.
        stabilization: T in seconds. Equalities then decay to zero in about that time, and inequalities may not be
            approached faster than that: φ̈ ≥ −(2/T) φ̇ − φ/T². None adds nothing: an inequality acts when φ and φ̇ are
            zero or less.
        tolerance: what counts as zero there.
        solver: of the quadratic program of inequalities, "daqp", "quadprog" or "clarabel".

    Returns:
        A `ConstrainedMotion`. Nothing is raised and nothing is infinite where constraints contradict each other: its
        status says so.
    """
    states = _Given.of(model, q, v, tau, f_ext)
    options = SolveOptions(method, solver)
    rows = rows_of(model, _several(constraints), states.q, states.v, dense=method == "dense")
    free = forward_dynamics(tree_of(model), states.q, states.v, states.tau, states.f_ext)
    targets, acts = rows.accelerations(stabilization, tolerance)
    solution = solve(options, model, states.q, rows, free, targets, acts)
    return ConstrainedMotion(**states.shaped(rows, solution), a=solution.x.reshape(*states.batch, model.nv))


@public_in("constraints")
def step_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Iterable[Constraint],
    f_ext: ArrayLike | None = None,
    *,
    step: float,
    method: Literal["dense", "dual", "iterative"] = "dense",
    stabilization: float | None = None,
    solver: str = "daqp",
) -> ConstrainedVelocity:
    """The velocity after a step that ends with the constraints kept (notes 2.95, 2.97, 2.103).

    Impacts are part of it: a joint that runs into its stop ends the step at rest, or at the speed that takes it to the
    stop by the end of the step. `kn.integrate(model, q, step * v)` is the position then. Arguments are those of
    `dynamics`.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        constraints: those of `kn.constraints`.
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        step: h in seconds.
        method: "dense", "dual" or "iterative".
        stabilization: the time in seconds in which errors decay; None leaves them.
        solver: "daqp", "quadprog" or "clarabel".
    """
    if not step > 0:
        raise ValueError(f"step is {step}, and must be positive")
    states = _Given.of(model, q, v, tau, f_ext)
    options = SolveOptions(method, solver)
    rows = rows_of(model, _several(constraints), states.q, states.v, dense=method == "dense")
    free = states.v + step * forward_dynamics(tree_of(model), states.q, states.v, states.tau, states.f_ext)
    targets = rows.velocities(step, stabilization)
    solution = solve(options, model, states.q, rows, free, targets, np.ones(targets.shape, bool))
    return ConstrainedVelocity(**states.shaped(rows, solution), v=solution.x.reshape(*states.batch, model.nv))


def _several(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    if isinstance(constraints, Constraint):
        raise TypeError(
            f"constraints is one constraint, and must be a list of them: [{type(constraints).__name__}(...)]"
        )
    return tuple(constraints)


@dataclass(frozen=True)
class _Given:
    """The arguments with one batch axis, and the axes that they had together."""

    batch: tuple[int, ...]
    q: Array
    v: Array
    tau: Array
    f_ext: Array | None

    @classmethod
    def of(cls, model: Model, q: Any, v: Any, tau: Any, f_ext: Any) -> _Given:
        if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"constrained dynamics need a knuckle.Model first, not {type(model).__name__}")
        shapes = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "f_ext": (model.nb, model.algebra.dimension)}
        values = {"q": q, "v": v, "tau": tau} | ({} if f_ext is None else {"f_ext": f_ext})
        found = {name: numbers(name, value, shapes[name]) for name, value in values.items()}
        for name, array in found.items():
            if array.dtype.kind == "c":
                raise TypeError(f"{name} holds complex numbers, which have no order; see kn.constraints.acceleration")
        arrays = {name: array.astype(float) for name, array in found.items()}
        axes = {name: array.shape[: array.ndim - len(shapes[name])] for name, array in arrays.items()}
        try:
            batch = np.broadcast_shapes(*axes.values())
        except ValueError:
            listed = ", ".join(f"{name} {batch}" for name, batch in axes.items())
            raise ValueError(f"the batch axes of the arguments do not broadcast: {listed}") from None
        flat = {name: in_one_row(array, batch, shapes[name]) for name, array in arrays.items()}
        return cls(batch, flat["q"], flat["v"], flat["tau"], flat.get("f_ext"))

    def shaped(self, rows: Rows, solution: Solution) -> dict[str, Array]:
        """The parts of a result, with the batch axes of the arguments."""
        m, n = solution.multipliers.shape[1], solution.x.shape[1]
        return {
            "multipliers": solution.multipliers.reshape(*self.batch, m),
            "forces": rows.transposed(solution.multipliers).reshape(*self.batch, n),
            "active": solution.active.reshape(*self.batch, m),
            "status": solution.status.reshape(self.batch),
            "violation": solution.violation.reshape(self.batch),
        }
