"""Rigid stops at work: impacts, and joints that rest against their limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knuckle.bound import bind
from knuckle.functions import mass_matrix, mass_matrix_inverse
from knuckle.functions.loops.dense_constraints import Dense, spanning_tree
from knuckle.functions.loops.loop_terms import judged_constraints
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.controls import Control
from knuckle.simulation.friction.dry_friction import held, responses
from knuckle.simulation.steps.stepper import Stepper

from .joint_ranges import Bounds, bounds_of
from .stop_spec import RigidStops, complementary, impact, restitutions

if TYPE_CHECKING:
    from knuckle.simulation.friction.stick_slip import Sticking

Array = NDArray[Any]

SILENT = 1e-6
"""Arrivals slower than this part of `rest_speed` are rounding and go unrecorded."""


@dataclass(frozen=True)
class Settled:
    """A state with its stops seen to: what it hit, with which velocity before, and what it rests on."""

    q: Array
    v: Array
    hit: tuple[int, ...] = ()
    resting: tuple[int, ...] = ()
    is_changed: bool = False


class Rigid:
    """The rigid stops of a mechanism that a stepper moves."""

    def __init__(
        self, stops: RigidStops, stepper: Stepper, external: Control, sticking: Sticking | None = None
    ) -> None:
        self.stops, self.free, self._external, self._sticking = stops, stepper, external, sticking
        self.modes: Array | None = None
        self.model = stepper.model
        self.bounds = Bounds(self.model, bounds_of(self.model, stops.joints))
        self._e = restitutions(stops, self.bounds)
        self._steppers: dict[tuple[int, ...], Stepper] = {}
        self._functions = bind(self.model)

    def name(self, k: int) -> str:
        """The joint of a stop."""
        return self.bounds.bounds[k].joint

    def is_touched(self, q: Array) -> bool:
        """Whether some gap is closed."""
        return bool(np.any(self.bounds.gaps(q) <= self.bounds.slack))

    def settled(
        self, t: float, q: Array, v: Array, released: Iterable[int] = (), held: Iterable[int] = (), bounce: bool = True
    ) -> Settled:
        """Impacts of all stops that are touched, then which of them push: those that the joints rest on.

        Args:
            t: the time.
            q: the position.
            v: the velocity before.
            released: stops that have just been left, and do not hold at this instant.
            held: stops that hold in any case.
            bounce: whether impacts bounce; if not, e = 0.
        """
        gaps = self.bounds.gaps(q)
        touched: list[int] = np.flatnonzero(gaps <= self.bounds.slack).tolist()
        if not touched:
            return Settled(q, v)
        at = self.bounds.snapped(q, touched)
        S, N = self._mobile(t, at, touched)
        e = self._e[touched] if bounce else np.zeros(len(touched))
        new, impulses = impact(N, S, v, e, self.stops.rest_speed)
        loud = impulses * np.diag(S @ N) > SILENT * self.stops.rest_speed
        hit = tuple(k for k, is_loud in zip(touched, loud, strict=True) if is_loud)
        slow = [k for k, r in zip(touched, S @ new, strict=True) if r <= SILENT * self.stops.rest_speed]
        if self._sticking is not None:
            self.modes = self._sticking.modes(t, at, new, {})
        resting = tuple(sorted({*self._pushing(t, at, new, [k for k in slow if k not in {*released}]), *held}))
        q_new = self.bounds.snapped(q, [k for k in touched if k in hit or k in resting or gaps[k] < 0])
        changed = bool(hit) or not np.array_equal(q_new, q) or not np.array_equal(new, v)
        return Settled(q_new, new, hit, resting, changed)

    def _pushing(self, t: float, q: Array, v: Array, which: list[int]) -> list[int]:
        """Of the stops that are touched without speed, those that keep the acceleration from going beyond them."""
        if not which:
            return []
        S, N = self._mobile(t, q, which, self._held)
        a = self._held.acceleration(t, q, v)
        push = complementary(S @ N, S @ a + self.bounds.bias(q, v, which))
        return [k for k, x in zip(which, push, strict=True) if x > 0]

    def pushes(self, t: float, q: Array, v: Array, which: Sequence[int]) -> Array:
        """The forces with which stops hold: λ with S v̇ + Ṡ v = 0."""
        S, N = self._mobile(t, q, which, self._held)
        a = self._held.acceleration(t, q, v)
        return _solved(S @ N, -(S @ a + self.bounds.bias(q, v, which)))

    def held(self, q: Array, v: Array, t: float, which: Sequence[int]) -> tuple[Array, Array]:
        """The nearest state in which these gaps are closed and stay so (nearest by kinetic energy)."""
        at = self.bounds.snapped(q, which)
        S, N = self._mobile(t, at, which, self._held)
        return at, v - N @ _solved(S @ N, S @ v)

    def stepper(self, resting: tuple[int, ...]) -> Stepper:
        """What moves the mechanism while it rests on these stops: their forces are part of τ."""
        if not resting:
            return self.free
        if resting not in self._steppers:
            free = self.free

            def force(model: Model, t: float, q: Array, v: Array) -> Array:
                S = self.bounds.rows(q, resting)
                return free.force(t, q, v) + S.T @ self.pushes(t, q, v, resting)

            control = Control(force, "controller", ("t", "q", "v"))
            asked = {name: free.parameters[name] for name in self._external.parameters}
            self._steppers[resting] = Stepper(
                self.model, free.integrator, control, self._external, asked, free.stabilization
            )
        return self._steppers[resting]

    @property
    def _held(self) -> System:
        """The mechanism in its modes of dry friction."""
        return self.free.system if self.modes is None else held(self.free.system, self.modes)

    def _mobile(self, t: float, q: Array, which: Sequence[int], system: System | None = None) -> tuple[Array, Array]:
        """S and H⁻¹Sᵀ of some stops, with loops and dry friction holding what they hold."""
        S = self.bounds.rows(q, which)
        is_timed = self.free.system.is_timed
        if system is not None and system.sticking is not None:
            return S, responses(self.model, t, q, S, system.sticking).T
        if self.model.loops:
            now = self.model.at(t) if is_timed else self.model
            made = Dense(mass_matrix(spanning_tree(now), q), judged_constraints(now, q))
            return S, made.response(np.zeros(len(made.rows.K)), S).T
        inverse = mass_matrix_inverse(self.model.at(t), q) if is_timed else self._functions.mass_matrix_inverse(q)
        return S, inverse @ S.T


def _solved(A: Array, b: Array) -> Array:
    """x with A x = b, the smallest where stops say the same and A is singular."""
    return b / A[0] if len(b) == 1 else np.linalg.lstsq(A, b)[0]
