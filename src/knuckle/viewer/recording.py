"""Motions to be shown: what a trajectory, or plain arrays, say about a model over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.functions import difference, integrate, kinetic_energy, potential_energy
from knuckle.model import Model
from knuckle.model.labels import position_labels, position_units
from knuckle.simulation.rollout.rollout_result import Rollout
from knuckle.trajectory.contacts.known_contacts import KnownContacts, known_rows, read_contacts
from knuckle.trajectory.muscle_rows import MuscleRows, potential_energy_with
from knuckle.trajectory.node_rows import NodeRows
from knuckle.trajectory.trajectory import over_time

from .scene.element_lines import ElementLines, element_lines
from .scene.force_arrows import ForceArrows, force_arrows
from .scene.poses import poses
from .scene.soft_skin import node_places
from .scene.triangles import Array

MOST = 32
"""Trajectories of a rollout in one scene: more would take a browser too long."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Positions `q` (n, nq) of a model at `times` (n,); where they are known, velocities `v` (n, nv), contacts, and
    states of muscles."""

    model: Model
    times: Array
    q: Array
    v: Array | None = None
    contacts: KnownContacts | None = None
    muscles: MuscleRows | None = None
    nodes: NodeRows | None = None
    """Where the nodes of deformable bodies are"""
    tau: Array | None = None
    """(n, nv): joint forces"""

    def __post_init__(self) -> None:
        times, q = np.asarray(self.times, float), np.asarray(self.q, float)
        v = None if self.v is None else np.asarray(self.v, float)
        if times.ndim != 1 or not len(times):
            raise ValueError(f"times has shape {times.shape}; it needs one axis with at least one moment")
        if not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0):
            raise ValueError("times are finite and never decrease; these do not keep to it")
        tau = None if self.tau is None else np.asarray(self.tau, float)
        for name, x, size in (("q", q, self.model.nq), ("v", v, self.model.nv), ("tau", tau, self.model.nv)):
            if x is not None and x.shape != (len(times), size):
                raise ValueError(
                    f"{name} has shape {x.shape}; {self.model.name} over these times needs {(len(times), size)}"
                )
            if x is not None and not np.all(np.isfinite(x)):
                first = times[int(np.argmin(np.all(np.isfinite(x), axis=-1)))]
                raise ValueError(f"{name} is not finite at t = {first:g} s: show the part before that")
        for name, value in (("times", times), ("q", q), ("v", v), ("tau", tau)):
            object.__setattr__(self, name, value)

    @property
    def duration(self) -> float:
        """From the first moment to the last, in seconds."""
        return float(self.times[-1] - self.times[0])

    def at(self, times: ArrayLike) -> Recording:
        """The motion at other times: between two moments each joint moves evenly, as `integrate` goes."""
        when = np.clip(np.asarray(times, float), self.times[0], self.times[-1])
        if len(self.times) == 1:
            return replace(self, times=when[:1])
        i = np.clip(np.searchsorted(self.times, when, side="right") - 1, 0, len(self.times) - 2)
        h = self.times[i + 1] - self.times[i]
        s = np.where(h > 0, (when - self.times[i]) / np.where(h > 0, h, 1.0), 1.0)[:, None]
        q = np.asarray(integrate(self.model, self.q[i], s * difference(self.model, self.q[i], self.q[i + 1])))
        v = None if self.v is None else (1 - s) * self.v[i] + s * self.v[i + 1]
        next_rows = np.searchsorted(self.times, when - 1e-9 * self.duration, side="left")
        muscles = self.muscles and self.muscles.each(lambda x: (1 - s) * x[i] + s * x[i + 1])
        nodes = None if self.nodes is None else self.nodes.at(self.times, when)
        contacts = known_rows(self.contacts, next_rows, len(self.times))
        tau = None if self.tau is None else (1 - s) * self.tau[i] + s * self.tau[i + 1]
        return Recording(self.model, when, q, v, contacts, muscles, nodes, tau)

    def thinned(self, rate: float) -> Recording:
        """At most `rate` moments per second: the motion as it is, or at evenly spread times."""
        most = int(np.ceil(self.duration * rate)) + 1
        if len(self.times) <= max(most, 2):
            return self
        return self.at(np.linspace(self.times[0], self.times[-1], most))

    def _along(self, function: Callable[..., Any], *rows: Array) -> Array:
        return np.asarray(over_time(function, self.model, self.times, *rows), float)

    def poses(self) -> Array:
        """(n, 1 + nb, 4, 4): where the base and the bodies are."""
        return self._along(poses, self.q)

    def node_places(self) -> Array | None:
        """(n, nodes, 3): where the nodes of deformable bodies are; None where there are none."""
        return node_places(self.model, self.q, self.nodes)

    def arrows(self, size: float) -> ForceArrows | None:
        """The forces of its contacts, drawn by the size of what moves; None where contacts are not known."""
        if self.contacts is None:
            return None
        return force_arrows(self.model, read_contacts(self.contacts, self.times), size)

    def lines(self, size: float) -> ElementLines | None:
        """Its springs, cables and muscles, drawn by the size of what moves; None where it has none."""
        return element_lines(self.model, self.q, self.v, self.poses(), size, self.muscles)

    def energies(self) -> dict[str, Array]:
        """Potential energy over time and, where velocities are known, kinetic energy and the sum, in joules."""
        rows = self.muscles
        stored = potential_energy if rows is None else lambda model, q: potential_energy_with(model, q, rows)
        potential = self._along(stored, self.q)
        elastic, height, moving = (0.0, 0.0, 0.0) if self.nodes is None else self.nodes.energies(self.model)
        potential = potential + elastic + height
        if self.v is None:
            return {"potential": potential}
        kinetic = self._along(kinetic_energy, self.q, self.v) + moving
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}

    def joint_values(self) -> list[tuple[str, str, Array]]:
        """(name, unit, values over time) of every position variable; one of several of a joint has its number added."""
        return [(name, unit, self.q[:, k]) for k, (name, unit) in enumerate(variable_names(self.model))]


def variable_names(model: Model) -> list[tuple[str, str]]:
    """(name, unit) of every position variable, as plots and files name them."""
    return list(zip(position_labels(model), position_units(model), strict=True))


def recording(source: Any) -> Recording:
    """A recording of a trajectory (whatever has `model`, `times`, `q` and perhaps `v`) or of (model, times, q[, v])."""
    if isinstance(source, Recording):
        return source
    if isinstance(source, tuple) and len(source) in (3, 4) and isinstance(source[0], Model):
        return Recording(*source)
    if not isinstance(source, tuple) and all(hasattr(source, name) for name in ("model", "times", "q")):
        contacts = getattr(source, "contact_record", None)
        muscles, nodes = getattr(source, "muscle_rows", None), getattr(source, "node_rows", None)
        v, tau = getattr(source, "v", None), getattr(source, "tau", None)
        return Recording(source.model, source.times, source.q, v, contacts, muscles, nodes, tau)
    raise TypeError(f"a trajectory or a tuple (model, times, q) is needed, not {type(source).__name__}")


def recordings(source: Any) -> list[Recording]:
    """One or several: a list of trajectories, or of tuples, or a small rollout, is a scene of several robots."""
    if isinstance(source, Rollout):
        count = math.prod(source.batch)
        if count > MOST:
            raise ValueError(
                f"this rollout has {count} trajectories, and a scene at most {MOST} robots: show some of them, as "
                "rollout[:4], or one, as rollout[0]"
            )
        source = source.trajectories()
    many = isinstance(source, Iterable) and not isinstance(source, (str, tuple)) and not hasattr(source, "model")
    found = [recording(one) for one in source] if many else [recording(source)]
    if not found:
        raise ValueError("there is nothing to show: the list of trajectories is empty")
    return found
