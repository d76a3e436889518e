"""All ways to the acceleration of a mechanism with closed loops, beside the null space in extended precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from knuckle import operators
from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.constraints.constrained_dynamics import dynamics as constrained_dynamics
from knuckle.constraints.constraint_terms import acceleration as constrained_acceleration
from knuckle.functions import bias_force, forward_dynamics, hybrid_dynamics, mass_matrix
from knuckle.functions.loops.assembly import project
from knuckle.functions.loops.degrees_of_freedom import degrees_of_freedom
from knuckle.functions.loops.dense_constraints import DenseConstraints, spanning_tree
from knuckle.functions.loops.loop_terms import bias as loop_bias
from knuckle.functions.loops.loop_terms import independent_variables, judged_constraints
from knuckle.functions.loops.projection import onto_constraints
from knuckle.integrators.loop_stabilization import is_long
from knuckle.model import Model
from knuckle.testing.oracles.null_space import NullSpace

from .random_loops import ClosedMechanism

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Compared:
    """What the methods made of a mechanism: errors as parts of what is right, and how many freedoms were counted."""

    freedoms: int
    counted: frozenset[int] | set[int]
    condition: float
    errors: dict[str, float]


@dataclass(frozen=True)
class _Case:
    model: Model
    q: Array
    v: Array
    tau: Array
    choice: Choice

    def matrices(self, choice: Choice | None) -> Array:
        """By matrices of numbers: the way of mechanisms with many constraints."""
        tree = spanning_tree(self.model)
        made = DenseConstraints(mass_matrix(tree, self.q), judged_constraints(self.model, self.q))
        made._choice = choice  # pyright: ignore[reportPrivateUsage]
        force = self.tau - bias_force(tree, self.q, self.v)
        return made.response(np.asarray(loop_bias(self.model, self.q, self.v)), force)

    def hybrid(self, a: Array) -> Array:
        """Independent joints of one freedom with their accelerations given, all others with their forces."""
        free = set(self.choice.independent)
        of = {j: self.model.variables(j) for j in range(self.model.nb)}
        names = [self.model.joint_names[j] for j, k in of.items() if len(k) == 1 and free.issuperset(k)]
        return hybrid_dynamics(self.model, self.q, self.v, self.tau, a, prescribed=names)[0]


ACCELERATIONS: dict[str, Callable[[_Case, Array], Array]] = {
    "default": lambda c, a: forward_dynamics(c.model, c.q, c.v, c.tau),
    "kkt": lambda c, a: forward_dynamics(c.model, c.q, c.v, c.tau, method="kkt"),
    "independent": lambda c, a: forward_dynamics(c.model, c.q, c.v, c.tau, method="independent", choice=c.choice),
    "many, forces": lambda c, a: c.matrices(None),
    "many, variables": lambda c, a: c.matrices(c.choice),
    "hybrid": lambda c, a: c.hybrid(a),
    "operators": lambda c, a: operators.forward_dynamics(c.model, c.q, c.v, c.tau),
    "constrained": lambda c, a: constrained_acceleration(c.model, c.q, c.v, c.tau, constraints=()),
    "dense": lambda c, a: constrained_dynamics(c.model, c.q, c.v, c.tau, []).a,
    "dual": lambda c, a: constrained_dynamics(c.model, c.q, c.v, c.tau, [], method="dual").a,
}
"""By name: the acceleration of a case, of which the right one is given."""
VELOCITIES: dict[str, Callable[[_Case, Array], Array]] = {
    "projection": lambda c, v: onto_constraints(c.model, c.q, v)[1],
    "project": lambda c, v: project(c.model, c.q, v)[1],
}
"""By name: the nearest velocity that keeps the loops closed."""
METHODS = (*ACCELERATIONS, *VELOCITIES)
SLOW = ("kkt", "independent", "constrained")
"""They are put into code, or into Python, in a length that grows with the square of the constraints."""


def compared(made: ClosedMechanism, rng: Generator, methods: Iterable[str] = METHODS) -> Compared:
    """Every method, or some, at a random velocity and with random forces."""
    right = NullSpace(made)
    v, tau = right.state(rng)
    model, q = made.model, made.q
    a, other = right.acceleration(v, tau), rng.normal(size=model.nv)
    free = np.asarray(forward_dynamics(spanning_tree(model), q, v, tau))
    case = _Case(model, q, v, tau, independent_variables(model, q))
    counted = {degrees_of_freedom(model, q).freedoms, len(case.choice.independent)}
    errors: dict[str, float] = {}
    for name in methods:
        if name in VELOCITIES:
            errors[name] = right.error(VELOCITIES[name](case, other), right.velocity(other), other)
        elif name not in SLOW or not is_long(model):
            errors[name] = right.error(ACCELERATIONS[name](case, a.astype(float)), a, free)
    return Compared(made.freedoms, counted, right.condition, errors)
