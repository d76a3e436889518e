"""What is computed of each sample: a rollout and what is measured of it, or any kernel."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.function import Function
from knuckle.errors import near
from knuckle.model import Model
from knuckle.simulation.rollout.rollout import rollout
from knuckle.simulation.rollout.rollout_result import Rollout
from knuckle.warning import warn

from .function_identity import identity

Array: TypeAlias = NDArray[Any]
Results: TypeAlias = dict[str, Array]
"""By name, an array with one entry for each sample."""

OF_ROLLOUT: dict[str, Callable[[Rollout], Array]] = {
    "q": lambda x: x.q,
    "v": lambda x: x.v,
    "tau": lambda x: x.tau,
    "final_q": lambda x: x.final[0],
    "final_v": lambda x: x.final[1],
    "energy": lambda x: x.energy,
    "kinetic_energy": lambda x: x.kinetic_energy,
    "potential_energy": lambda x: x.potential_energy,
}
"""What can be kept of a rollout."""
OVER_TIME = ("q", "v", "tau", "energy", "kinetic_energy", "potential_energy")
"""Those that have an axis for time."""
DIVERGED = "diverged_at"
_ARRAYS = ("q0", "v0", "tau", "controls", "excitations", "activations0", "fiber_lengths0")
_SHARED = ("model", "parameters", "out", "steps", "duration", "save_every")
_ACCEPTED = tuple(inspect.signature(rollout).parameters)


class SweepTask(Protocol):
    """A text over the samples of a chunk."""

    @property
    def over_time(self) -> tuple[str, ...]:
        """The results whose second axis is time."""
        ...

    def compute(self, model: Model, columns: Mapping[str, Any]) -> Results:
        """The results for samples that have the same things and columns of numbers (n, …)."""
        ...

    def facts(self) -> dict[str, Any]:
        """What it is, for a manifest."""
        ...

    def pinned(self, model: Model, columns: Mapping[str, Any]) -> tuple[SweepTask, Array | None]:
        """The task with all choices made that a part of the samples could lead to otherwise, and the times of rows."""
        ...


@dataclass(frozen=True)
class RolloutTask:
    """Rollouts (`kn.rollout`) with some options, what is kept of them, and what is measured."""

    settings: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    measure: Callable[..., Any] | None = None
    keep: tuple[str, ...] = ("q", "v")

    def __post_init__(self) -> None:
        for name in self.settings:
            if name not in _ACCEPTED or name in ("model", "parameters", "out"):
                raise TypeError(
                    f"sweep has no argument {name!r}{near(name, (*_ACCEPTED, 'kernel', 'measure', 'keep'))}"
                )
        for name in self.keep:
            if name not in OF_ROLLOUT:
                raise ValueError(f"keep names {name!r}, which rollouts do not have{near(name, OF_ROLLOUT)}")

    @property
    def over_time(self) -> tuple[str, ...]:
        return tuple(name for name in self.keep if name in OVER_TIME)

    def rollout(self, model: Model, columns: Mapping[str, Any]) -> Rollout:
        """The trajectories of some samples."""
        own = {name: _shaped(name, x) for name, x in columns.items() if name in _ACCEPTED}
        if clash := [name for name in own if name in _SHARED and name != "model"]:
            raise ValueError(f"{clash[0]} is the same for all samples of a sweep: it is no parameter of a design")
        if twice := [name for name in own if name in self.settings]:
            raise TypeError(f"{twice[0]} is both an argument of sweep and a parameter of its design")
        model = own.pop("model", model)
        others = {name: _as_vectors(x) for name, x in columns.items() if name not in _ACCEPTED}
        settings: dict[str, Any] = {**self.settings, **own}
        if self.parameters or others:
            settings["parameters"] = {**self.parameters, **others}
        return rollout(model, **settings)

    def compute(self, model: Model, columns: Mapping[str, Any]) -> Results:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # what diverges is counted, and warned of at the end
            done = self.rollout(model, columns)
        found = {name: np.asarray(OF_ROLLOUT[name](done)) for name in self.keep}
        if self.measure is not None:
            given = asked_for(self.measure, {**self.parameters, **columns}, 1)
            measured = named_results(self.measure, self.measure(done, **given))
            if twice := [name for name in measured if name in found or name == DIVERGED]:
                raise ValueError(
                    f"measure gives {twice[0]!r}, which is kept of rollouts already: it needs another name"
                )
            found |= measured
        return {**found, DIVERGED: np.asarray(done.diverged_at)}

    def facts(self) -> dict[str, Any]:
        settings = {name: identity(x) for name, x in sorted(self.settings.items()) if x is not None}
        parameters = {name: identity(np.asarray(x)) for name, x in sorted(self.parameters.items())}
        measured = None if self.measure is None else identity(self.measure)
        return {
            "task": "rollout", "settings": settings, "parameters": parameters, "measure": measured,
            "keep": list(self.keep),
        }  # fmt: skip

    def pinned(self, model: Model, columns: Mapping[str, Any]) -> tuple[SweepTask, Array | None]:
        """Which integrator is taken where none is said follows from the states of a batch: the first ones decide."""
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            done = self.rollout(model, columns)
        for one in raised:
            if "diverged" not in str(one.message):
                warn(str(one.message))
        is_said = self.settings.get("integrator") is not None or "integrator" in columns
        if is_said or done.integrator not in ("rk4", "implicit"):
            return self, done.times
        chosen = {"integrator": done.integrator} | ({} if "dt" in columns else {"dt": done.dt})
        return replace(self, settings={**self.settings, **chosen}), done.times


@dataclass(frozen=True)
class KernelTask:
    """A kernel, or another function, of the model and of arrays with one row for each sample."""

    kernel: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    over_time: tuple[str, ...] = ()

    def compute(self, model: Model, columns: Mapping[str, Any]) -> Results:
        is_text = isinstance(self.kernel, Function)
        given = {**self.parameters, **{name: _as_vectors(x) if is_text else x for name, x in columns.items()}}
        model = given.pop("model", model)
        return named_results(self.kernel, self.kernel(model, **asked_for(self.kernel, given, 1, all_needed=True)))

    def facts(self) -> dict[str, Any]:
        parameters = {name: identity(np.asarray(x)) for name, x in sorted(self.parameters.items())}
        return {"task": "kernel", "kernel": identity(self.kernel), "parameters": parameters}

    def pinned(self, model: Model, columns: Mapping[str, Any]) -> tuple[SweepTask, Array | None]:
        return self, None


def _shaped(name: str, x: Any) -> Any:
    """A column as `kn.rollout` wants it: forces have an axis for time."""
    in_time = name in ("tau", "controls", "excitations") and isinstance(x, np.ndarray) and x.ndim == 2
    return x[:, None, :] if in_time else x


def _as_vectors(x: Any) -> Any:
    """A column as arguments of texts are: the last axis holds the variables, if there is only one."""
    return x[:, None] if isinstance(x, np.ndarray) and x.ndim == 1 else x


def asked_for(
    f: Callable[..., Any], columns: Mapping[str, Any], skip: int, *, all_needed: bool = False
) -> dict[str, Any]:
    """The columns that a function has arguments for, after the first `skip`."""
    arguments = list(inspect.signature(f).parameters.values())[skip:]
    if any(a.kind is a.VAR_KEYWORD for a in arguments):
        return dict(columns)
    names = [a.name for a in arguments]
    title = getattr(f, "__name__", "the function")
    if missing := [
        a.name for a in arguments if a.default is a.empty and a.name not in columns and a.kind is not a.VAR_POSITIONAL
    ]:
        raise TypeError(
            f"{title} asks for {missing[0]!r}, which is no parameter of the sweep{near(missing[0], columns)}"
        )
    if all_needed and (unused := [name for name in columns if name not in names]):
        raise TypeError(f"{title} has no argument {unused[0]!r}, a parameter of the design{near(unused[0], names)}")
    return {name: columns[name] for name in names if name in columns}


def named_results(f: Callable[..., Any], value: Any) -> Results:
    """What a function gave, by name: a mapping, a named tuple, or one array, which goes by the function's name."""
    if isinstance(value, Mapping):
        return {str(name): np.asarray(x) for name, x in value.items()}
    if hasattr(value, "_asdict"):
        return {name: np.asarray(x) for name, x in value._asdict().items()}
    if isinstance(value, tuple):
        return {f"result{k}": np.asarray(x) for k, x in enumerate(value)}
    name = getattr(f, "__name__", "result")
    return {name if name.isidentifier() else "result": np.asarray(value)}
