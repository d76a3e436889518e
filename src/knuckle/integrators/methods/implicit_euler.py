"""Linearly implicit Euler: stiff springs, dampers and gains without small steps (notes 1.9, 2.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from knuckle.algorithms.elements.element_forces import local_slopes as slopes_of_elements
from knuckle.elements.element_terms import joint_forces
from knuckle.functions import bias_force, forward_dynamics, joint_passive_force, mass_matrix
from knuckle.functions.derivatives.dual_jacobians import slopes_of
from knuckle.functions.loops.loop_terms import stabilized_bias
from knuckle.integrators.base import DenseOutput, Integrator, State
from knuckle.integrators.dense_output import linear
from knuckle.integrators.force_slopes import PerJoint, local_slopes
from knuckle.integrators.loop_stabilization import solve_with
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.spatial import Matrix
from knuckle.spatial.linear.elimination import solve

Solver = Literal["auto", "dense", "woodbury", "pcg", "kkt"]


@dataclass(frozen=True)
class ImplicitEuler(Integrator):
    """(H + dt D + dt² K) (v' − v) = dt (τ − C − dt K v), q' = q ⊕ dt v' (notes 2.73).

    D = −∂τ/∂v and K = −∂τ/∂q are exact, for the dampers, friction and springs of the joints, for force elements and for
    a controller that is a kernel. A controller that is a Python function has no derivatives: its force is held for the
    step. Closed loops add Kᵀλ on the right, with K (v' − v) = dt k (RBDA 8.36).

    Where every slope is one of a velocity variable on its own force, as those of springs and dampers at hinges and of
    PD controllers are, D and K are diagonal and add to H what rotors do: a step is one forward dynamics, in O(n).

    Solvers other than "dense" are loops over bodies, for `kn.simulate` and mechanisms of any size. They take K and D of
    force elements as springs and dampers along directions, JᵀKJ (notes 2.75), and slopes of a controller that is a
    kernel where each is one of a velocity variable on its own force; else they hold its force for the step. "woodbury"
    and "pcg" take joints that follow others, of trees. All of them solve the same equations:

    - "dense" is one piece of code with all of A = H + dt D + dt² K;
    - "woodbury" takes what elements do from the inverse of what is a tree (notes, algorithm 10), exactly, with as many
      solutions as elements have directions: for few elements;
    - "pcg" are conjugate gradients with products by algorithms 5 and 6 and algorithm 10 as preconditioner;
    - "kkt" are sparse equations of all bodies and joints, solved by SciPy and, where it is installed, qdldl;
    - "auto" is "dense" up to 60 variables, or 24 with elements or loops, and up to 150 for controllers that are kernels
      with slopes of one variable on another's force; else what the mechanism suits. `motion.message` says which, how
      many iterations there were and what was left.

    Args:
        solver: "auto", "dense", "woodbury", "pcg" or "kkt".
        turning: whether K has what the turning of bodies does to the forces of elements, (∂Jᵀ/∂q) f. Without it A is
            positive definite. Where it is not given, the dense solver has it, and the others do not: they find it in
            rounds of their equations, in each of which forces are computed twice.
        tolerance: what "pcg" may leave of the right-hand side b: rᵀP⁻¹r ≤ tolerance² bᵀP⁻¹b.
        iterations: how many it may take.
    """

    solver: Solver = "auto"
    turning: bool | None = None
    tolerance: float = 1e-6
    iterations: int = 500

    evaluates_forces_once = True
    is_implicit = True

    def __post_init__(self) -> None:
        if self.solver not in get_args(Solver):
            names = ", ".join(f'"{name}"' for name in get_args(Solver))
            raise ValueError(f"solver is one of {names}, not {self.solver!r}")
        if self.turning not in (None, True, False):
            raise TypeError(f"turning is True, False or None, not {self.turning!r}")
        if not self.tolerance > 0:
            raise ValueError(f"tolerance is above zero, not {self.tolerance!r}")
        if not (isinstance(self.iterations, int) and self.iterations > 0):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"iterations is a whole number above zero, not {self.iterations!r}")

    @property
    def order(self) -> int:
        return 1

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        if self.solver not in ("auto", "dense"):
            raise ValueError(
                f'solver="{self.solver}" takes one state at a time, in kn.simulate: rollouts and soft contacts take '
                'solver="dense"'
            )
        q, v, model = state.q, state.v, system.at_time(t)
        slopes = local_slopes(system, t, q, v)
        if slopes is not None:
            v = v + dt * _softened(system, t, q, v, *slopes, dt)
            return State(system.moved(q, dt * v), v)
        turns = self.turning is not False

        def resisting(q: Any, v: Any) -> Any:
            passive = joint_passive_force(model, q, v)
            own = passive - joint_forces(model, q, v) if model.elements and turns else passive
            return own - system.force(model, t, q, v)

        D, K = (Matrix.columns([*columns], model.nv) for columns in slopes_of(resisting, model, q, v))
        if model.elements and not turns:
            D, K = (a + b for a, b in zip((D, K), _of_elements(model, q, v), strict=True))
        tau, *f_ext = system.forces(t, q, v)
        rest = dt * (tau - bias_force.reference(model, q, v, *f_ext) - dt * (K @ v))
        A = mass_matrix.reference(model, q) + dt * D + dt * dt * K
        if model.loops:
            k = stabilized_bias(model, q, v, system.decay_time)
            v = v + solve_with(model, q, A, rest, dt * k)
        else:
            v = v + solve(A, rest)
        return State(system.moved(q, dt * v), v)

    def account(self, state: State) -> str:
        return 'implicit steps by solver="dense"'

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return linear(system, old, new)


def _of_elements(model: Model, q: Any, v: Any) -> tuple[Matrix, Matrix]:
    """D and K of force elements without the turning of forces: Jᵀ D J and Jᵀ K J (notes 2.75)."""
    D = K = Matrix([[0.0] * model.nv] * model.nv, model.nv)
    for rows, slopes in slopes_of_elements(model, model.positions(q), model.velocities(q, v)):
        G = Matrix([model.forces(q, tau) for tau in rows], model.nv)
        D, K = D + G.T @ slopes.damping @ G, K + G.T @ slopes.stiffness @ G
    return D, K


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
