"""Dynamics of mechanisms with many bodies and joints that close loops, by sparse equations of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.loops.loop_constraints import corrected
from knuckle.elements.element_terms import wrenches as element_wrenches
from knuckle.engine.calls.numpy_arrays import numbers
from knuckle.functions.dynamics import joint_passive_force
from knuckle.model import ROOT, Model
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.solvers.quasi_definite import is_installed
from knuckle.spatial import SPATIAL

from .body_equations import BodyEquations, MovingBodies

Array: TypeAlias = NDArray[Any]
MOST_ROWS = 24
"""Constraints that close at one body, beyond which code with all of them is long, and sparse equations are better."""
STEPS = 2
"""Newton steps of a projection, of positions and of velocities, each with the matrix of the first."""


def goes_sparse(model: Model) -> bool:
    """Whether a mechanism through time is better off with sparse equations, and can have them."""
    if not model.loops or model.couplings or model.algebra is not SPATIAL or model.depends_on_time:
        return False
    rows: dict[int, int] = {}
    for loop in model.loops:
        theirs = set(model.ancestors(loop.predecessor))
        meet = next((j for j in model.ancestors(loop.successor) if j in theirs), ROOT)
        rows[meet] = rows.get(meet, 0) + SPATIAL.dimension - loop.type.nv
    return max(rows.values()) > MOST_ROWS and is_installed()


class SparseDynamics:
    """The functions of dynamics that a mechanism through time needs, by sparse equations: for one state of numbers.

    Where it `holds`, the model is without dry friction, and functions take 1 for each velocity variable that is held.
    It gets what it is held against for its acceleration, or change of velocity, in parts of an inertia `hold`.
    """

    def __init__(self, model: Model, solver: str | None = None, *, hold: float = 0.0) -> None:
        if hold:
            model = model.replace(joints=tuple(replace(joint, friction=()) for joint in model.joints))
        self.model, self._hold = model, hold
        self.equations = BodyEquations(model, solver, holds=hold > 0)
        self._resists = any(
            constant(x) is not ZERO
            for joint in model.joints
            for x in (*joint.damping, *joint.stiffness, *joint.friction)
        )

    def forward_dynamics(
        self, q: Array, v: Array, tau: Array, f_ext: Array | None = None, stabilization: float | None = None,
        held: Array | None = None,
    ) -> Array:  # fmt: skip
        """The acceleration (nv), with loops kept closed."""
        if not self.model.nb:
            return np.zeros(0)
        of, at = self.equations, self.equations.states(q, v)
        loops = of.loop_states(at)
        rows, rates = of.armature.at(q, v)
        of.factor(at, loops, rows, held)
        joint_force = tau - joint_passive_force(self.model, q, v) if self._resists else tau
        f = of.weights(at) + of.body_forces(at, joint_force)
        if rows:
            f = f + of.armature_forces(at, rows, rates)
        if f_ext is not None:
            f = f + f_ext
        if self.model.elements:
            f = f + element_wrenches(self.model, q, v)
        pulled = [corrected(l.terms.k, l.terms.rate, l.terms.delta, stabilization) for l in loops]
        a, forces = of.solve(f, of.constraint_rates(at, at.c), pulled)
        return self._with_held(of.variables(at, a, at.c), forces, held)

    def _with_held(self, a: Array, forces: Array, held: Array | None) -> Array:
        if held is None:
            return a
        return np.where(held > 0, self.equations.held_loads(forces) / self._hold, a)

    def response(self, q: Array, push: Array, held: Array) -> Array:
        """The change of velocity (nv) by an impulse at the joints, with loops closed and some variables held.

        What is pushed itself and held moves with the push over its inertia.
        """
        of, still = self.equations, np.zeros(self.model.nv)
        at = of.states(q, still)
        loops = of.loop_states(at)
        of.factor(at, loops, of.armature.at(q, still)[0], held)
        none = [np.zeros((len(l.terms.k), l.terms.k.shape[1])) for l in loops]
        own = held * push / self._hold
        v, forces = of.solve(of.body_forces(at, (1 - held) * push), of.asked_rates(own), none)
        return own + self._with_held(of.variables(at, v), forces, held)

    def project(self, q: Array, v: Array, held: Array | None = None) -> tuple[Array, Array]:
        """The nearest state, in the sense of the kinetic energy, with loops closed: post-stabilisation."""
        of, at = self.equations, self.equations.states(q, v)
        loops = of.loop_states(at)
        of.factor(at, loops, of.armature.at(q, v)[0], held)
        for _ in range(STEPS):
            q = of.moved(q, self._response(at, [-l.terms.delta for l in loops]))
            loops = of.loop_states(of.states(q, v))
        v = v + self._response(at, [-l.terms.rate for l in loops])
        loops = of.loop_states(of.states(q, v))
        return q, v + self._response(at, [-l.terms.rate for l in loops])

    def _response(self, at: MovingBodies, asked: list[Array]) -> Array:
        """The motion (nv) of least kinetic energy that moves the loop joints as asked."""
        none = self.equations.asked_rates(np.zeros(self.model.nv))
        a, _ = self.equations.solve(np.zeros((self.model.nb, 6)), none, asked, rounds=1)
        return self.equations.variables(at, a)

    def openness(self, q: Array, v: Array) -> tuple[Array, float]:
        """How far each loop joint is open (loops,), in radians and metres, and the largest rate at which one opens."""
        at = self.equations.states(q, v)
        rates = (float(np.abs(l.terms.rate).max(initial=0.0)) for l in self.equations.loop_states(at))
        return np.abs(self.equations.gaps(at)).max(axis=1, initial=0.0), max(rates, default=0.0)

    # positions on their manifold

    def integrate(self, q: Array, u: Array) -> Array:
        """q ⊕ u."""
        return self.equations.moved(q, u)

    def difference(self, q0: Array, q1: Array) -> Array:
        """q1 ⊖ q0."""
        of = self.equations
        return of.joined([g.differences(of.q_of(g, q0), of.q_of(g, q1)) for g in of.tree], "nv")

    def difference_rate(self, u: Array, v: Array) -> Array:
        """u̇ of the displacement u while the mechanism moves with v."""
        of = self.equations
        return of.joined([g.difference_rates(of.v_of(g, u), of.v_of(g, v)) for g in of.tree], "nv")


@public_in("loops")
def sparse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    stabilization: float | None = None,
    solver: Literal["qdldl", "scipy"] | None = None,
) -> Array:
    """The acceleration (..., nv) by one sparse equation of all bodies and joints (notes 1.69-1.74; RBDA 8.64).

    It is what `kn.forward_dynamics` gives, for hundreds of bodies that joints of loops hold together, such
    as those of `kn.maximal`: the work grows with the number of bodies and not with its cube. Joints of the tree are
    constraints as well here. It takes numbers, one state after the other, and needs the extra `sparse`.

    Args:
        model: the mechanism, in space, without couplings and laws of time.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        stabilization: the time in seconds in which loop errors decay; None leaves them.
        solver: "qdldl" or "scipy"; the first of them that is installed, if not given.
    """
    dynamics = SparseDynamics(model, solver)
    shapes = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "f_ext": (model.nb, 6)}
    values = {"q": q, "v": v, "tau": tau} | ({} if f_ext is None else {"f_ext": f_ext})
    arrays = {name: numbers(name, value, shapes[name]).astype(float) for name, value in values.items()}
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(shapes[name])] for name, x in arrays.items()))
    count = int(np.prod(batch))
    flat = [np.broadcast_to(x, (*batch, *shapes[name])).reshape(count, *shapes[name]) for name, x in arrays.items()]
    rows = [dynamics.forward_dynamics(*state, stabilization=stabilization) for state in zip(*flat, strict=True)]
    return np.array(rows).reshape(*batch, model.nv)
