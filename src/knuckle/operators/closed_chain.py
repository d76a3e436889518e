"""Closed chains as primary and secondary systems with closures between them: forward dynamics by steps A to F."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from knuckle.algorithms.loops.constraint_rank import RANK
from knuckle.algorithms.loops.loop_constraints import corrected
from knuckle.engine.calls.function import kernel
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.solvers.numeric_rank import Factor
from knuckle.spatial import Transform

from .array_operators import Array, on_arrays, real
from .point_closure import CARRIER, Closure, Side, closure_terms, entries, transform
from .symbols import J
from .tree_systems import SystemState, TreeSystem

_closure_terms = kernel(closure_terms)


class ChainMotion(NamedTuple):
    """What a closed chain does: accelerations (or jumps of velocity) of both systems, and the wrenches of its closures.

    A wrench is that on the successor, in the joint's frame there; the opposite acts on the predecessor.
    """

    primary: Array
    secondary: Array
    wrenches: Mapping[str, Array]


@dataclass(frozen=True)
class ClosedChain:
    """Two systems of trees and the closures within and between them (0.19-0.24).

    Chains are frozen: `with_closures` and `with_secondary` give others, which share the primary system and with it
    everything compiled for it.
    """

    primary: TreeSystem
    secondary: TreeSystem | None = None
    closures: tuple[Closure, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "closures", tuple(self.closures))
        names = [closure.name for closure in self._all_closures()]
        if len(set(names)) < len(names):
            raise ValueError(f"two closures have one name, of {', '.join(names)}")
        for closure in self.closures:
            for side, point in (closure.predecessor, closure.successor):
                self._system(side, closure.name).index(point)

    def _all_closures(self) -> list[Closure]:
        """Those within the systems, and those between them."""
        inner = self.secondary.within("secondary") if self.secondary else []
        return [*self.primary.within("primary"), *inner, *self.closures]

    def _system(self, side: Side, name: str) -> TreeSystem:
        system = self.primary if side == "primary" else self.secondary
        if system is None:
            raise ValueError(f"{name} goes to the secondary system, and there is none")
        return system

    def with_closures(self, closures: Iterable[Closure]) -> ClosedChain:
        """The same systems, otherwise tied: only step D is another."""
        return dataclasses.replace(self, closures=tuple(closures))

    def with_closure(self, closure: Closure) -> ClosedChain:
        """One closure more."""
        return self.with_closures((*self.closures, closure))

    def without_closure(self, name: str) -> ClosedChain:
        """One closure less."""
        if name not in [closure.name for closure in self.closures]:
            raise KeyError(f"no closure is called {name!r}; there are {', '.join(c.name for c in self.closures)}")
        return self.with_closures(closure for closure in self.closures if closure.name != name)

    def with_secondary(self, secondary: TreeSystem | None, closures: Iterable[Closure] = ()) -> ClosedChain:
        """The same primary system with another secondary one."""
        return ClosedChain(self.primary, secondary, tuple(closures))

    def accelerations(
        self,
        primary: SystemState,
        secondary: SystemState | None = None,
        *,
        stabilization: float | None = None,
        step_d: Literal["admittance", "secondary"] = "admittance",
    ) -> ChainMotion:
        """The accelerations of both systems by steps A to F.

        Args:
            primary: the state of the primary system.
            secondary: that of the secondary system, if there is one.
            stabilization: T_stab in seconds, the time in which closure errors decay (RBDA 8.21-8.23).
            step_d: "admittance" solves (0.35), by a generalised inverse where constraints depend on each other;
                "secondary" takes the other way of the paper, which inverts A_P Λ_P A_P* and a matrix of the size of the
                secondary system, and needs the former to be regular.
        """
        systems, states = self._all(primary, secondary)
        free = [system.free(state) for system, state in zip(systems, states, strict=True)]
        A, U, closed = self._constraints(systems, free, stabilization)
        alpha = np.concatenate([_flat(x["alpha"]) for x in free], axis=-1)
        if step_d == "secondary":
            f = self._forces_by_secondary(systems, states, free, A, U)
        elif step_d == "admittance":
            f = _solved(*_admittance(A, free), _times(A, alpha) - U)  # step D (0.35)
        else:
            raise ValueError(f'step_d is "admittance" or "secondary", not {step_d!r}')
        return self._together(systems, states, [x["beta"] for x in free], A, f, closed)

    def jumps(self, primary: SystemState, secondary: SystemState | None = None) -> ChainMotion:
        """The jumps of velocity when the closures take hold of systems whose points move apart: an inelastic impact.

        The closures' impulses f̂ satisfy A Λ A* f̂ = Tᵀ(v_J − σ), and 𝓜 Δβ = −J*A*f̂: steps C to E, for velocities.
        """
        systems, states = self._all(primary, secondary)
        free = [system.free(state) for system, state in zip(systems, states, strict=True)]
        A, _, closed = self._constraints(systems, free, None)
        rates = [terms["rate"] for terms in closed.values()]
        rate = np.concatenate([_flat(x) for x in rates], axis=-1) if rates else np.zeros(0)
        f = _solved(*_admittance(A, free), rate)
        return self._together(systems, states, [0.0 * x["beta"] for x in free], A, f, closed)

    def errors(self, primary: SystemState, secondary: SystemState | None = None) -> dict[str, tuple[Array, Array]]:
        """How far and how fast each closure is open: δ and Tᵀ(v_J − σ)."""
        systems, states = self._all(primary, secondary)
        free = [system.free(state) for system, state in zip(systems, states, strict=True)]
        _, _, closed = self._constraints(systems, free, None)
        return {name: (terms["delta"], terms["rate"]) for name, terms in closed.items()}

    def grasp(
        self, name: str, predecessor: tuple[Side, str], successor: tuple[Side, str], primary: SystemState,
        secondary: SystemState | None = None, **kind: Any,
    ) -> Closure:  # fmt: skip
        """A closure that holds the second point where it is now, seen from the first."""
        systems, states = self._all(primary, secondary)
        poses: dict[Side, Array] = {
            side: system.free(state)["pose"]
            for side, system, state in zip(("primary", "secondary"), systems, states, strict=False)
        }
        ends = [self._place(poses, end, name) for end in (predecessor, successor)]
        return Closure(name, predecessor, successor, X_predecessor=ends[1] @ ends[0].inverse(), **kind)

    def _place(self, poses: Mapping[Side, Array], end: tuple[Side, str], name: str) -> Transform:
        k = self._system(end[0], name).index(end[1])
        return transform(np.asarray(poses[end[0]])[12 * k : 12 * k + 12].tolist())

    # the steps

    def _all(self, primary: SystemState, secondary: SystemState | None) -> tuple[list[TreeSystem], list[SystemState]]:
        """Both systems and their states, of one batch."""
        if (self.secondary is None) != (secondary is None):
            raise ValueError(
                "the state of the secondary system is needed"
                if secondary is None
                else "a state of the secondary system is given, and there is none"
            )
        systems = [self.primary, *([self.secondary] if self.secondary else [])]
        states = [SystemState(*state) for state in (primary, secondary) if state is not None]
        parts = [(np.shape(x), axes) for s in states for x, axes in zip(s, (1, 1, 1, 2), strict=True) if x is not None]
        batch = np.broadcast_shapes(*(shape[: len(shape) - axes] for shape, axes in parts))
        return systems, [s._replace(q=np.broadcast_to(s.q, (*batch, *np.shape(s.q)[-1:]))) for s in states]

    def _constraints(
        self, systems: list[TreeSystem], free: list[Mapping[str, Array]], time: float | None
    ) -> tuple[Array, Array, dict[str, Mapping[str, Array]]]:
        """A (..., NE, 6ζ) over the points of all systems, U (..., NE), and the terms of each closure."""
        starts = {"primary": 0, "secondary": len(systems[0].frames)}
        points = sum(len(system.frames) for system in systems)
        rows: list[Array] = []
        U: list[Array] = []
        closed: dict[str, Mapping[str, Array]] = {}
        for closure in self._all_closures():
            ends = closure.predecessor, closure.successor
            at = [self._system(side, closure.name).index(point) for side, point in ends]
            of = [free[0 if side == "primary" else 1] for side, _ in ends]
            pose, velocity, bias = (
                [x[key][..., n * k : n * k + n] for x, k in zip(of, at, strict=True)]
                for key, n in (("pose", 12), ("velocity", 6), ("bias", 6))
            )
            places = [np.array(entries(X)) for X in (closure.X_predecessor, closure.X_successor)]
            terms = _closure_terms(CARRIER, *pose, *velocity, *bias, *places, kind=closure.type)
            shape = terms["successor"].shape
            row = np.zeros((*shape[:-1], points, 6))
            row[..., starts[ends[0][0]] + at[0], :] += terms["predecessor"]
            row[..., starts[ends[1][0]] + at[1], :] += terms["successor"]
            rows.append(row.reshape(*shape[:-1], 6 * points))
            U.append(_flat(corrected(terms["U"], terms["rate"], terms["delta"], time)))
            closed[closure.name] = terms
        if not rows:
            return np.zeros((0, 6 * points)), np.zeros(0), closed
        return np.concatenate(rows, axis=-2), np.concatenate(U, axis=-1), closed

    def _together(
        self, systems: list[TreeSystem], states: list[SystemState], beta: list[Array], A: Array, f: Array,
        closed: Mapping[str, Mapping[str, Array]],
    ) -> ChainMotion:  # fmt: skip
        """Steps E and F, and the closures' wrenches −T f̂."""
        x = _times(np.swapaxes(A, -1, -2), f)
        start = 0
        for k, (system, state) in enumerate(zip(systems, states, strict=True)):
            end = start + 6 * len(system.frames)
            if A.shape[-2] and end > start:
                beta[k] = beta[k] + system.corrected(state.q, x[..., start:end])
            start = end
        wrenches: dict[str, Array] = {}
        row = 0
        for name, terms in closed.items():
            count = terms["T"].shape[-2]
            wrenches[name] = -_times(np.swapaxes(terms["T"], -1, -2), f[..., row : row + count])
            row += count
        return ChainMotion(beta[0], beta[1] if len(beta) > 1 else np.zeros(0), wrenches)

    def _forces_by_secondary(
        self, systems: list[TreeSystem], states: list[SystemState], free: list[Mapping[str, Array]], A: Array, U: Array
    ) -> Array:
        """f̂ by β̇_S, from the inverse of A_P Λ_P A_P* (after 0.35).

        With 𝓜_S⁻¹ J_S*A_S* at hand from step E, β̇_S solves [I + 𝓜_S⁻¹ J_S*A_S* W A_S J_S] β̇_S = β̇_Sᶠ − 𝓜_S⁻¹ J_S*A_S*
        W (A_P α_Pᶠ − U) with W = (A_P Λ_P A_P*)⁻¹: the paper's equation times 𝓜_S⁻¹.
        """
        if len(systems) < 2:
            raise ValueError('step_d="secondary" needs a secondary system')
        cut = 6 * len(systems[0].frames)
        A_P, A_S = A[..., :cut], A[..., cut:]
        open_P = A_P @ free[0]["Lambda"] @ np.swapaxes(A_P, -1, -2)
        wanted = _times(A_P, _flat(free[0]["alpha"])) - U
        values = np.linalg.eigvalsh(open_P)
        if np.any(values[..., 0] <= RANK**2 * values[..., -1]):
            raise ValueError(
                "A_P Λ_P A_P* is singular here: closures without a point of the primary system, or ones that it cannot "
                'follow; step_d="admittance" solves it all the same'
            )
        q = real("q", states[1].q)
        MJ = -np.swapaxes(systems[1].corrected(q[..., None, :], A_S), -1, -2)
        AJ = on_arrays(systems[1].tree, q, systems[1].frames)(J.T, A_S)
        W = np.linalg.inv(open_P)
        whole = np.eye(MJ.shape[-2]) + MJ @ W @ AJ
        beta = np.linalg.solve(whole, (free[1]["beta"] - _times(MJ @ W, wanted))[..., None])[..., 0]
        return _times(W, wanted + _times(AJ, beta))


def closure_kernels() -> int:
    """How many kernels have been compiled for closures so far: one for each kind of joint, whatever it ties."""
    return kernels.made(CARRIER)


def _admittance(A: Array, free: list[Mapping[str, Array]]) -> tuple[Array, Array]:
    """A Λ A* = A_P Λ_P A_P* + A_S Λ_S A_S*, and the sizes of the terms on its diagonal, as roots."""
    start, total, terms = 0, np.zeros((A.shape[-2], A.shape[-2])), np.zeros(A.shape[-2])
    for x in free:
        end = start + x["Lambda"].shape[-1]
        part, Lambda = A[..., start:end], x["Lambda"]
        total = total + part @ Lambda @ np.swapaxes(part, -1, -2)
        terms = terms + ((np.abs(part) @ np.abs(Lambda)) * np.abs(part)).sum(-1)
        start = end
    return total, np.sqrt(terms)


def _solved(S: Array, size: Array, b: Array) -> Array:
    """The least f with S f = b for a symmetric semidefinite S of terms of these sizes, b in its range; refined."""
    if not S.shape[-1]:
        return b
    size = np.where(size > 0, size, 1.0)
    factor = Factor(S / size[..., None, :], size, np.full(S.shape[:-2], RANK**2))
    f = np.zeros_like(b)
    for _ in range(2):
        f = f + factor.multipliers((b - _times(S, f)) / size)
    return f


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]


def _flat(x: Any) -> Array:
    return np.atleast_1d(np.asarray(x))
