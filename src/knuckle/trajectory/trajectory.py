"""What a simulation gives: states over time, and what belongs to them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.functions import kinetic_energy, pose, potential_energy
from knuckle.model import Model
from knuckle.trajectory.node_rows import NodeRows, WithNodes

from .contacts.contact_changes import KINDS, contact_changes
from .contacts.contact_sums import Axes, contact_force
from .contacts.known_contacts import KnownContacts, NotedContacts, known_rows, read_contacts
from .contacts.motion_contacts import MotionContacts
from .event_record import EventRecord
from .interpolation import interpolated
from .motion_views import MotionViews
from .muscle_rows import MuscleRows, WithMuscles, potential_energy_with

Array = NDArray[Any]
Reason = Literal["finished", "event", "interrupted", "diverged", "stalled"]


class Instant(NamedTuple):
    """A state of a trajectory: time, positions and velocity variables."""

    t: float
    q: Array
    v: Array


@dataclass(frozen=True, repr=False, eq=False)
class Trajectory(WithMuscles, WithNodes, MotionViews):
    """A motion of a mechanism: n rows of time, position and velocity, and how it came to its end.

    Times never decrease. Where the state jumps (an impact, an event that changes it) there are two rows of one time:
    before and after. `trajectory[1.0:2.0]` is the part between two times, `trajectory[::0.01]` the whole at even times.
    """

    model: Model
    times: Array
    """(n,) in seconds"""
    q: Array
    """(n, nq)"""
    v: Array
    """(n, nv)"""
    tau: Array
    """(n, nv): the joint forces of the controller; not those of damping, springs and stops"""
    events: tuple[EventRecord, ...] = ()
    """What occurred, in order: events, and impacts at the stops"""
    reason: Reason = "finished"
    """What ended it: "finished", "event", "interrupted", "diverged" or "stalled" """
    message: str = ""
    """The same in words: which event, or when and at which joint it diverged, or why time stands still"""
    integrator: str = ""
    """What it was computed with"""
    dt: float | None = None
    """The step, if there was a fixed one"""
    frames: Mapping[str, Array] = field(default_factory=dict)
    """(n, 4, 4) poses of the frames that were asked for"""
    contact_record: KnownContacts | None = field(default=None, repr=False)
    """What the run noted of its contacts; `contacts` reads it"""
    node_rows: NodeRows | None = field(default=None, repr=False)
    """Where the nodes of deformable bodies are; `nodes` reads it"""
    muscle_rows: MuscleRows | None = field(default=None, repr=False)
    """States of muscles, where they have some; `activations` and `fiber_lengths` are read from it"""

    def __post_init__(self) -> None:
        n, model = len(self.times), self.model
        for name, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv)):
            shape = np.shape(getattr(self, name))
            if shape != (n, size):
                raise ValueError(f"{name} has shape {shape}; with {n} times it must have shape {(n, size)}")
        if n == 0:
            raise ValueError("times is empty: a trajectory has at least one state")

    # quantities along it

    @cached_property
    def kinetic_energy(self) -> Array:
        """(n,) in joules, that of nodes of deformable bodies included."""
        bodies = over_time(kinetic_energy, self.model, self.times, self.q, self.v)
        return bodies if self._node_energies is None else bodies + self._node_energies[2]

    @cached_property
    def potential_energy(self) -> Array:
        """(n,) in joules: height, joint springs, elements, deformables; active fibers of excited muscles store none."""
        rows = self.muscle_rows
        stored = potential_energy if rows is None else lambda model, q: potential_energy_with(model, q, rows)
        bodies = over_time(stored, self.model, self.times, self.q)
        return bodies if self._node_energies is None else bodies + self._node_energies[0] + self._node_energies[1]

    @property
    def energy(self) -> Array:
        """(n,) in joules: kinetic and potential together."""
        return self.kinetic_energy + self.potential_energy

    # deformable bodies

    @property
    def elastic_energy(self) -> Array:
        """(n,) in joules: what deformable bodies store by their deformation."""
        return np.zeros(len(self)) if self._node_energies is None else self._node_energies[0]

    @cached_property
    def _node_energies(self) -> tuple[Array, Array, Array] | None:
        return None if self.node_rows is None else self.node_rows.energies(self.model)

    def frame(self, name: str) -> Array:
        """(n, 4, 4): where a frame is along the motion, in base coordinates."""
        if name in self.frames:
            return self.frames[name]
        self.model.frame(name)  # says which there are
        return over_time(lambda model, q: pose(model, q, name), self.model, self.times, self.q)

    def drive_forces(self, f_ext: ArrayLike | None = None) -> dict[str, Array]:
        """The forces (n, …) of the drives of joints that move by a law of time, by the joints' names.

        They are those under the joint forces `tau`, and under the wrenches `f_ext` (n, nb, 6), if some acted.
        """
        from knuckle.functions.drives import drive_forces

        return drive_forces(self.model, self.times, self.q, self.v, self.tau, f_ext)

    def occurrences(self, name: str) -> tuple[EventRecord, ...]:
        """What occurred under a name: an event's, a joint's for its stops, or that of two bodies for their contacts."""
        known = tuple(o for o in self.events if o.name == name)
        if known or self.contact_record is None:
            return known
        return tuple(o for o in self.contact_events if o.name == name)

    # contacts

    @cached_property
    def contacts(self) -> MotionContacts:
        """The contacts that pushed at every row: which bodies, where, with what force, sticking or sliding."""
        if self.contact_record is None:
            raise ValueError(
                f"this motion of {self.model.name} has no record of contacts: it was computed without, as by "
                f"{self.integrator or 'hand'}. kn.simulate keeps them where contacts are solved, kn.rollout with "
                "save_contacts=True"
            )
        return read_contacts(self.contact_record, self.times)

    def contact_force(
        self, name: str, against: str | None = None, *, wrench: bool = False, axes: Axes = "base"
    ) -> Array:
        """(n, 3) in newtons: the force that a body receives from all that it touches, in base axes.

        What stands on the ground receives its weight, upwards. With steps that solve contacts, a row has the mean force
        of the step that ended there, and the first row none; see `MotionContacts`. Impacts from event to event have
        impulses and no forces: `contacts.impulse` has them.

        Args:
            name: the body, by its own name or that of a frame on it; or one of its shapes, by the shape's name.
            against: another body, frame or shape, from which alone the force is; from all, if not given.
            wrench: (n, 6) instead, with the moment in N m about the origin of the body or frame first.
            axes: "base", or "frame" for the axes of the body or frame.
        """
        return contact_force(self.model, self.contacts, self.q, name, against, wrench, axes)

    @cached_property
    def contact_events(self) -> tuple[EventRecord, ...]:
        """What happened at contacts, in order: "impact", "contact", "release", "slip" and "stick" of two bodies.

        From event to event they are those of `events`, at their instants. Else they are the changes between rows, at
        the time of the later row; a touch is an impact if it is faster than twice what gravity gives in a step.
        """
        if isinstance(self.contact_record, NotedContacts) and self.contact_record.has_events:
            return tuple(o for o in self.events if o.kind in KINDS and " on " in o.name)
        gravity = float(np.linalg.norm([float(x) for x in self.model.gravity]))
        return contact_changes(self.contacts, self.q, self.v, self.dt, gravity)

    # time

    @property
    def duration(self) -> float:
        """From the first row to the last, in seconds."""
        return float(self.times[-1] - self.times[0])

    def state(self, t: float) -> Instant:
        """The state at a time between the first and the last, interpolated on the manifold of positions."""
        at = self._within([t], "t")
        q, v = interpolated(self.model, self.times, self.q, self.v, at)
        return Instant(float(t), q[0], v[0])

    def resample(self, times: ArrayLike | None = None, *, dt: float | None = None) -> Trajectory:
        """The same motion at other times: those given, or every `dt` seconds from the first row to the last.

        Positions and velocities follow a cubic on the manifold of positions between rows: errors of O(h⁴) and O(h³) for
        rows h apart. τ and the states of muscles are taken linearly between rows, contacts are those of the next row.
        """
        if (times is None) == (dt is None):
            raise TypeError("resample takes either times or dt")
        if dt is not None:
            if not dt > 0:
                raise ValueError(f"dt={dt!r} must be positive")
            first, last = float(self.times[0]), float(self.times[-1])
            steps = int((last - first) / dt * (1 + 4e-16) + 1e-9)
            at = np.minimum(first + dt * np.arange(steps + 1), last)
        else:
            at = self._within(times, "times")
        if len(at) == 0:
            raise ValueError("times is empty: a trajectory has at least one state")
        if np.any(np.diff(at) < 0):
            raise ValueError("times must not decrease")
        q, v = interpolated(self.model, self.times, self.q, self.v, at)
        tau = np.array([np.interp(at, self.times, column) for column in self.tau.T]).reshape(self.model.nv, len(at)).T
        contacts = known_rows(self.contact_record, np.searchsorted(self.times, at, side="left"), len(self))

        def between(x: Array) -> Array:
            return np.array([np.interp(at, self.times, column) for column in x.T]).reshape(x.shape[-1], len(at)).T

        muscles = self.muscle_rows and self.muscle_rows.each(between)
        nodes = None if self.node_rows is None else self.node_rows.at(self.times, at)
        part = self._changed(at, q, v, tau)
        return dataclasses.replace(part, contact_record=contacts, muscle_rows=muscles, node_rows=nodes)

    def _within(self, times: Any, name: str) -> Array:
        at = np.asarray(times, float)
        if at.ndim != 1:
            raise ValueError(f"{name} has shape {at.shape}, and must be a number of times in a row")
        first, last = self.times[0], self.times[-1]
        outside = at[~((at >= first) & (at <= last))]
        if len(outside):
            raise ValueError(
                f"{name}: {outside[0]:g} s is outside of the trajectory, which has {first:g} to {last:g} s"
            )
        return at

    def __getitem__(self, key: slice) -> Trajectory:
        """`[a:b]`: the rows with a ≤ t ≤ b. `[a:b:dt]`: the motion from a to b at even times."""
        if not isinstance(key, slice):
            raise TypeError(
                "a trajectory is sliced by time, as trajectory[1.0:2.0]; trajectory.state(t) is the state at a time, "
                "and trajectory.q[k] that of a row"
            )
        first = float(self.times[0]) if key.start is None else float(key.start)
        last = float(self.times[-1]) if key.stop is None else float(key.stop)
        if key.step is not None:
            inside = self._within([first, last], "slice")
            steps = int((inside[1] - inside[0]) / float(key.step) * (1 + 4e-16) + 1e-9)
            return self.resample(np.minimum(first + float(key.step) * np.arange(steps + 1), last))
        rows = np.flatnonzero((self.times >= first) & (self.times <= last))
        if not len(rows):
            raise ValueError(
                f"no row between {first:g} and {last:g} s; the trajectory has {len(self)} from {self.times[0]:g} "
                f"to {self.times[-1]:g} s. A step, as in [{first:g}:{last:g}:0.01], takes states between rows"
            )
        return self.rows(rows)

    def rows(self, which: slice | Sequence[int] | Array) -> Trajectory:
        """Some of the rows, by number: `rows(slice(None, None, 10))` is every tenth."""
        part = self._changed(self.times[which], self.q[which], self.v[which], self.tau[which], which)
        contacts = known_rows(self.contact_record, which, len(self))
        muscles = self.muscle_rows and self.muscle_rows.each(lambda x: x[which])
        nodes = None if self.node_rows is None else self.node_rows.rows(which)
        return dataclasses.replace(part, contact_record=contacts, muscle_rows=muscles, node_rows=nodes)

    def _changed(self, times: Array, q: Array, v: Array, tau: Array, rows: Any = None) -> Trajectory:
        frames: dict[str, Array] = (
            {name: poses[rows] for name, poses in self.frames.items()} if rows is not None else {}
        )
        new = dataclasses.replace(
            self,
            times=times,
            q=q,
            v=v,
            tau=tau,
            frames=frames,
            events=tuple(o for o in self.events if times[0] <= o.time <= times[-1]),
        )
        return new if rows is not None else new.with_frames(self.frames)

    def with_frames(self, names: Iterable[str]) -> Trajectory:
        """The same with the poses of these frames computed, so that they are saved with it."""
        return dataclasses.replace(self, frames={name: self.frame(name) for name in names})

    # files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file: .npz, or .nc for NetCDF through xarray, with the model; .csv is a table of numbers."""
        from .trajectory_files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, model: Model | None = None) -> Trajectory:
        """Reads what `save` wrote. `model` is needed only if the file could not hold it (joints of your own)."""
        from .trajectory_files import load

        return load(path, model)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each state and a column for each variable and unit; needs pandas."""
        from .trajectory_files import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> Any:
        """An `xarray.Dataset` with named variables and units; needs xarray."""
        from .trajectory_files import to_xarray

        return to_xarray(self)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        step = f"dt={self.dt:g} s" if self.dt else "its own steps"
        lines = [
            f"<knuckle.Trajectory of {self.model.name}: {len(self)} rows, {self.times[0]:g} to {self.times[-1]:g} s, "
            f"{self.integrator or 'no integrator'}, {step}",
            f"  {self.reason}{': ' + self.message if self.message else ''}",
        ]
        if self.events:
            names = dict.fromkeys((o.name, o.kind) for o in self.events)
            counts = [(name, kind, sum((o.name, o.kind) == (name, kind) for o in self.events)) for name, kind in names]
            lines.append("  events: " + ", ".join(f"{kind} {name!r} × {n}" for name, kind, n in counts[:8]))
        return "\n".join(lines) + ">"


def over_time(function: Callable[..., Array], model: Model, times: Array, *rows: Array) -> Array:
    """A function of the model and rows of states (..., n, :): at once, or row by row where time changes the model."""
    if not model.depends_on_time:
        return function(model, *rows)
    values = [function(model.at_time(float(t)), *(x[..., k, :] for x in rows)) for k, t in enumerate(times)]
    return np.stack(values, axis=rows[0].ndim - 2)
