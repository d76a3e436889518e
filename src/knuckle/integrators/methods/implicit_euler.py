"""Linearly implicit Euler: stiff springs, dampers and gains without small steps (notes 1.9, 2.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from knuckle.elements.element_terms import joint_forces
from knuckle.functions import bias_force, forward_dynamics, joint_passive_force, mass_matrix
from knuckle.functions.dual_jacobians import slopes_of
from knuckle.functions.loops.loop_terms import stabilized_bias
from knuckle.integrators.base import DenseOutput, Integrator, State
from knuckle.integrators.dense_output import linear
from knuckle.integrators.force_slopes import PerJoint, local_slopes
from knuckle.integrators.loop_stabilization import solve_with
from knuckle.integrators.system import System
from knuckle.spatial import Matrix
from knuckle.spatial.linear.elimination import solve


@dataclass(frozen=True)
class ImplicitEuler(Integrator):
    """(H + dt D + dt² K) (v' − v) = dt (τ − C − dt K v), q' = q ⊕ dt v' (notes 2.73).

    D = −∂τ/∂v and K = −∂τ/∂q are exact, for the dampers, friction and springs of the joints, for force elements and for
    a controller that is a kernel. A controller that is a Python function has no derivatives: its force is held for the
    step. Closed loops add Kᵀλ on the right, with K (v' − v) = dt k (RBDA 8.36).

    Where every slope is one of a velocity variable on its own force, as those of springs and dampers at hinges and of
    PD controllers are, D and K are diagonal and add to H what rotors do: a step is one forward dynamics, in O(n).
    """

    evaluates_forces_once = True

    @property
    def order(self) -> int:
        return 1

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        q, v, model = state.q, state.v, system.at_time(t)
        slopes = local_slopes(system, t, q, v)
        if slopes is not None:
            v = v + dt * _softened(system, t, q, v, *slopes, dt)
            return State(system.moved(q, dt * v), v)

        def resisting(q: Any, v: Any) -> Any:
            passive = joint_passive_force(model, q, v)
            own = passive - joint_forces(model, q, v) if model.elements else passive
            return own - system.force(model, t, q, v)

        D, K = (Matrix.columns([*columns], model.nv) for columns in slopes_of(resisting, model, q, v))
        tau, *f_ext = system.forces(t, q, v)
        rest = dt * (tau - bias_force.reference(model, q, v, *f_ext) - dt * (K @ v))
        A = mass_matrix.reference(model, q) + dt * D + dt * dt * K
        if model.loops:
            k = stabilized_bias(model, q, v, system.decay_time)
            v = v + solve_with(model, q, A, rest, dt * k)
        else:
            v = v + solve(A, rest)
        return State(system.moved(q, dt * v), v)

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return linear(system, old, new)


def _softened(system: System, t: Any, q: Any, v: Any, D: PerJoint, K: PerJoint, dt: Any) -> Any:
    """a with (H + dt D + dt² K) a = τ − C − dt K v: forward dynamics with dt D + dt² K as further rotor inertia."""
    model = system.at_time(t)
    joints = tuple(
        replace(joint, rotor_inertia=tuple(rotor + dt * D[i] + dt * dt * K[i]))
        for i, (joint, rotor) in enumerate(zip(model.joints, model.rotor, strict=True))
    )
    tau, *f_ext = system.forces(t, q, v)
    ahead = model.forces(q, {i: K[i] * x for i, x in enumerate(model.velocities(q, v))})
    forces = tau - dt * ahead, *f_ext
    return forward_dynamics.reference(
        model.replace(joints=joints), q, v, *forces, stabilization=system.decay_time if model.loops else None
    )
