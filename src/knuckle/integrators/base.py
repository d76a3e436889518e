"""What an integrator is: a state, and a step from one instant to the next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.spatial import called

from .system import System

DenseOutput = Callable[[Any], "tuple[Any, Any]"]

IntegratorName: TypeAlias = Literal[
    "euler", "heun", "rk4", "adaptive", "implicit", "bdf1", "bdf2", "contact", "variational", "variational4"
]
"""The names of `INTEGRATORS`, for those who write them."""


class State(NamedTuple):
    """Position and velocity variables at an instant, and what an integrator remembers of the steps before.

    What it remembers is numbers and vectors. Where a state is changed from outside, the memory no longer holds: `begin`
    again.
    """

    q: Any
    v: Any
    memory: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Integrator(ABC):
    """A way to step through time, written over scalars of any kind: the same text runs on arrays and on symbols."""

    evaluates_forces_once: ClassVar[bool] = False
    """Whether a step evaluates the forces only once, at its beginning."""

    solves_friction: ClassVar[bool] = False
    """Whether dry friction at joints is part of its equations: otherwise modes of sticking and sliding are kept."""

    solves_contacts: ClassVar[bool] = False
    """Whether contacts are part of its equations: otherwise bodies pass through each other."""

    solves_deformables: ClassVar[bool] = False
    """Whether nodes of deformable bodies are part of its equations: otherwise it takes no mechanism that has some."""

    begins_blank: ClassVar[bool] = False
    """Whether its memory is zeros where a motion begins, whatever the state"""
    takes_numbers: ClassVar[bool] = False
    """Whether its step is for numbers only, so that it cannot be part of compiled code."""

    is_explicit: ClassVar[bool] = False
    """Whether it needs nothing of a system but its rates, so that these may have more entries than the velocity."""

    acts_at_the_end: ClassVar[bool] = False
    """Whether the forces in a step are those at its end."""

    is_implicit: ClassVar[bool] = False
    """Whether forces are known at the end of a step, or nearly, so that stiff ones need no short steps."""

    @property
    @abstractmethod
    def order(self) -> int:
        """p, with a global error of O(dtᵖ)."""

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        """The state to begin with; an integrator that looks back fills its memory here."""
        return State(q, v)

    @abstractmethod
    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        """The state at t + dt."""

    def closed(self, system: System, t: Any, state: State, dt: Any) -> State:
        """The state at t + dt with its loops closed, if projection is to do that, and far from where charts end."""
        closed = called(system.closed, is_single=True) if system.is_closed else system.closed
        return State(*system.in_charts(*closed(t + dt, state.q, state.v)), state.memory)

    def acting(self, system: System, state: State) -> System:
        """The system with the forces that the integrator itself adds, in a state and near it."""
        return system

    def in_step(self, system: System, t: Any, state: State, dt: Any) -> System:
        """The system with the states of muscles and actuators that act in a step; as it is where there are none."""
        return system

    def carried(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        """A state at t that begins anew, with what still holds of the memory of another one at t₀: nothing."""
        return new

    def renewed(self, system: System, t: Any, state: State, dt: Any) -> State:
        """A state that begins anew where the forces have changed, with what still holds of its memory: nothing."""
        return self.begin(system, t, state.q, state.v, dt)

    @property
    def soft_contacts(self) -> CompliantContacts | None:
        """The soft contacts that are part of its steps, if there are some."""
        return None

    @property
    def runs_alone(self) -> bool:
        """Whether it has native code of its own that takes many steps in one call."""
        return False

    @property
    def evaluations(self) -> int | None:
        """How often a step evaluates the acceleration; None for a step with equations of its own."""
        return None

    def check(self, t: float, state: State, dt: float) -> None:  # noqa: B027
        """An error if some step up to t + dt, of length dt, was not what it should be: its memory may tell."""

    def formed(self, forms: StepForms) -> Integrator:
        """What it becomes with something more in its steps."""
        return forms.steps(self)

    def states_place(self, model: Model, memory: int) -> int | None:
        """Which entry of a memory of so many, without modes of friction, the states of muscles are; None if none."""
        return None

    def account(self, state: State) -> str:
        """What a run of steps that ended in a state has to say of itself; nothing, unless it says otherwise."""
        return ""

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        """(q, v) at t + θ dt, for θ from 0 to 1."""
        from .dense_output import hermite

        return hermite(system, t, old, new, dt)


@dataclass(frozen=True)
class Adaptive(Integrator):
    """An integrator that knows its error and chooses its steps (`simulation.steps.step_size`).

    Tolerated are atol + rtol |x| of every variable, a position being measured from the neutral one. Each tolerance is a
    number, or a tuple with one for every velocity variable.
    """

    rtol: float | tuple[float, ...] = 1e-6
    atol_q: float | tuple[float, ...] = 1e-8
    atol_v: float | tuple[float, ...] = 1e-8

    def __post_init__(self) -> None:
        for name in ("rtol", "atol_q", "atol_v"):
            value = getattr(self, name)
            numbers = value if isinstance(value, tuple) else (value,)
            if not all(isinstance(x, (int, float)) and x > 0 for x in numbers):
                raise ValueError(f"{name} is a number above zero or a tuple of them, not {value!r}")

    def formed(self, forms: StepForms) -> Integrator:
        return forms.adaptive(self)

    @abstractmethod
    def attempt(self, system: System, t: Any, state: State, dt: Any) -> tuple[State, Any, Any]:
        """The state at t + dt, and the estimated errors of its q (as a displacement, nv) and v.

        Errors of states of muscles follow those of v, where there are some.
        """


class StepForms(ABC):
    """Something more in the steps of integrators, such as soft contact or states of muscles: an integrator with it for
    each kind of integrator (`Integrator.formed`)."""

    @abstractmethod
    def steps(self, integrator: Integrator) -> Integrator:
        """Of steps of one length."""

    @abstractmethod
    def adaptive(self, integrator: Adaptive) -> Integrator:
        """One that chooses its steps."""

    @abstractmethod
    def iterative(self, integrator: Any) -> Integrator:
        """One that solves an equation in every step."""

    @abstractmethod
    def newton(self, integrator: Any) -> Integrator:
        """One that does so by Newton's method."""

    def contact_steps(self, integrator: Any) -> Integrator:
        """One that solves contacts, in compiled code."""
        return self.steps(integrator)

    def collider_steps(self, integrator: Any) -> Integrator:
        """One that solves contacts, on numbers."""
        return self.steps(integrator)

    def soft_contact(self, integrator: Any) -> Integrator:
        """One with soft contact."""
        return self.steps(integrator)


def must_know_deformables(model: Model, integrator: Integrator) -> None:
    """An error where a mechanism has deformable bodies and an integrator does not know them."""
    if model.deformables and not integrator.solves_deformables:
        names = ", ".join(repr(soft.name) for soft in model.deformables[:3])
        raise ModelError(
            f"{type(integrator).__name__} knows no deformable bodies, and {model.name} has {names}: kn.simulate "
            "without integrator= takes steps that do; model.without_deformables() has none"
        )
