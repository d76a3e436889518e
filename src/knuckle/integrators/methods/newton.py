"""Integrators that solve an equation in every step."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import nan
from typing import Any

from knuckle.errors import ConvergenceError
from knuckle.functions.derivatives.dual_jacobians import along, derivative_of, jacobian
from knuckle.integrators.base import Integrator, State, StepForms
from knuckle.integrators.system import System
from knuckle.scalar import constant, less, maximum, select, sqrt
from knuckle.spatial import Vector, called, repeated
from knuckle.spatial.linear.elimination import eliminated

MOST_ITERATIONS, LEAST_PART = 50, 1 / 64
"""Improvements of a guess, and the least part of a step by which a root is followed from shorter ones."""
ROUNDING = 1e-15
FAR = 1e30
"""The size of the change before the first."""
PARTS, PARTS_IN_CODE = (1.0, 1 / 4, 1 / 16, 1 / 64), 2
"""Of a change by Newton's method so much may be taken; and where a step is one piece of code, the first so many."""
SHORT = 12
"""Up to so many freedoms, over all parts of a step, it compiles within seconds."""


@dataclass(frozen=True)
class Iterative(Integrator):
    """A step is found by improving a guess x of a velocity.

    Where the whole step is one piece of code, as in a rollout, there are always `iterations` improvements. `simulate`
    does so for small mechanisms; for others, where that code would be long, it improves the guess as long as that
    helps. Either way the largest last change of all steps so far, relative to 1 + |x|, is the last entry of the memory,
    and `check` compares it with `tolerance`. In a rollout what did not converge is NaN.
    """

    iterations: int = 6
    tolerance: float = 1e-11

    def __post_init__(self) -> None:
        if not (isinstance(self.iterations, int) and self.iterations > 0):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"iterations is a whole number above zero, not {self.iterations!r}")
        if not self.tolerance > 0:
            raise ValueError(f"tolerance is above zero, not {self.tolerance!r}")

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        return State(q, v, (0.0,))

    @property
    def parts(self) -> tuple[float, ...]:
        """The steps that a step is composed of, as parts of it."""
        return (1.0,)

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        for part in self.parts:
            state = self._part(system, t, state, part * dt)
            t = t + part * dt
        return state

    def _part(self, system: System, t: Any, state: State, dt: Any) -> State:
        if self.stage is not None:
            part, method = self.stage
            go = self.is_first(state)
            x, size = method.root(system, t, State(state.q, state.v, (0.0,)), part * dt, go)
            after = self.after_stage(system, state, x, size, dt)
            chosen = (_either(less(0, go), *pair) for pair in zip(after, state.memory, strict=True))
            state = State(state.q, state.v, tuple(chosen))
        x, size = self.root(system, t, state, dt)
        return self.finished(system, t, state, x, size, dt)

    def root(self, system: System, t: Any, state: State, dt: Any, go: Any = 1) -> tuple[Any, Any]:
        """x of a step and its last change, NaN if that is not within the tolerance; the guess, where `go` is zero."""

        def better(_: Any, x: Any, last: Any) -> Any:
            x, size = self.improved(system, t, state, x, dt)
            return self.goes_on(size, last), x, size

        _, x, size = repeated(better, (go, self.guess(system, t, state, dt), FAR), self.iterations, settles=True)
        solved = less(size, self.tolerance)
        return Vector(select(solved, a, nan) for a in x), size

    @property
    def stage(self) -> tuple[float, Iterative] | None:
        """What is solved before the very first step: a step of another method, as a part of this one."""
        return None

    def is_first(self, state: State) -> Any:
        """Whether a step from a state is the first, where there is a stage before it: 1 or 0."""
        return 0

    def after_stage(self, system: System, state: State, x: Any, size: Any, dt: Any) -> tuple[Any, ...]:
        """The memory after a stage that ended with x, and with a last change of some size."""
        return state.memory

    @abstractmethod
    def guess(self, system: System, t: Any, state: State, dt: Any) -> Any:
        """The velocity to begin with."""

    @abstractmethod
    def force_arguments(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any, Any]:
        """Where the forces are evaluated: (t, q, v)."""

    @abstractmethod
    def improved(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any]:
        """A better x, and the size of the change."""

    @abstractmethod
    def finished(self, system: System, t: Any, state: State, x: Any, size: Any, dt: Any) -> State:
        """The state at t + dt for the right x, and in its memory the largest last change so far."""

    def formed(self, forms: StepForms) -> Integrator:
        return forms.iterative(self)

    def is_short(self, nv: int) -> bool:
        """Whether a step with all its improvements is a short piece of code for so many freedoms."""
        return nv * len(self.parts) <= SHORT

    def goes_on(self, size: Any, last: Any) -> Any:
        """0 if a change was so small that no other need follow, as only rounding is left, or nearly; else 1."""
        near = select(less(last / 4, size), 0, 1)
        return select(less(ROUNDING, size), select(less(self.tolerance, size), 1, near), 0)

    def is_enough(self, size: float, last: float) -> bool:
        """Whether no other change need follow one of this size."""
        return not self.goes_on(size, last)

    def check(self, t: float, state: State, dt: float) -> None:
        """An error if some step up to t + dt did not find its solution."""
        size = float(state.memory[-1])
        if not size <= self.tolerance:
            raise ConvergenceError(
                f"{type(self).__name__} did not converge: in a step of {dt:.6g} s up to t = {t + dt:.9g} s the last "
                f"change of the velocity is {size:.3g} of itself, and {self.tolerance:.3g} is asked for; take shorter "
                "steps or more iterations"
            )


@dataclass(frozen=True)
class Newton(Iterative):
    """An equation residual(x) = 0, solved by Newton's method with exact derivatives.

    A change d = J⁻¹r(x) is taken as a whole where the next one, d' = J⁻¹r(x − d) with the same J, is at most half as
    long. Elsewhere that part of it is taken after which the next is shortest: a measure that does not depend on units
    (Deuflhard, Newton Methods for Nonlinear Problems, 2004, 3.3).

    A step as one piece of code holds the equations of all its iterations. For mechanisms of many freedoms that is long:
    `simulate` has one piece of code for a direction, and takes all directions as a batch.
    """

    iterations: int = 20
    tolerance: float = 1e-10

    @abstractmethod
    def residual(self, system: System, t: Any, state: State, x: Any, dt: Any) -> Any:
        """What must vanish."""

    def improved(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any]:
        residual = called(lambda y: self.residual(system, t, state, y, dt))
        J = eliminated(jacobian(residual, x))
        change = J.solve(residual(x))

        def left(part: float) -> Any:
            """The square of the change that follows after a part of this one."""
            following = J.solve(residual(x - part * change))
            return following @ following

        whole, *others = PARTS[:PARTS_IN_CODE]
        best, shortest = constant(whole), left(whole)
        is_fine = less(shortest, change @ change / 4)
        for part in others:
            size = left(part)
            is_better = less(select(is_fine, shortest, size), shortest)
            best, shortest = select(is_better, part, best), select(is_better, size, shortest)
        return x - best * change, relative(change, x)

    def formed(self, forms: StepForms) -> Integrator:
        return forms.newton(self)

    def is_short(self, nv: int) -> bool:
        return nv <= SHORT / 4

    def goes_on(self, size: Any, last: Any) -> Any:
        """What is left is about the square of the last change."""
        return select(less(self.tolerance, size), 1, 0)

    def slope(self, system: System, t: Any, state: State, x: Any, direction: Any, dt: Any) -> Any:
        """The derivative of the residual in one direction."""
        return derivative_of(self.residual(system, t, state, along(x, direction), dt))


def _either(condition: Any, a: Any, b: Any) -> Any:
    """a if a condition holds, else b: numbers or vectors."""
    if isinstance(b, Vector):
        return Vector(select(condition, x, y) for x, y in zip(a, b, strict=True))
    return select(condition, a, b)


def relative(change: Vector, x: Vector) -> Any:
    """|change| / (1 + |x|)."""
    return sqrt(change @ change) / (1 + sqrt(x @ x))


def largest(state: State, size: Any) -> Any:
    """The largest last change so far."""
    return maximum(state.memory[-1], size)
