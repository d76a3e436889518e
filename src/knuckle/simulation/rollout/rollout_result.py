"""What a rollout gives: the states of many trajectories over time, and what belongs to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.simulation.divergence import finite
from knuckle.trajectory.contacts.contact_sums import Axes, contact_force
from knuckle.trajectory.contacts.known_contacts import NotedContacts
from knuckle.trajectory.motion_views import MotionViews
from knuckle.trajectory.muscle_rows import MuscleRows, WithMuscles, potential_energy_with
from knuckle.trajectory.node_rows import NodeRows, WithNodes
from knuckle.trajectory.trajectory import Trajectory, over_time

from .rollout_forces import Acting, part_of

if TYPE_CHECKING:
    from .rollout_contacts import RolloutContacts

Array = NDArray[Any]


@dataclass(frozen=True, repr=False, eq=False)
class Rollout(WithMuscles, WithNodes, MotionViews):
    """Motions of a mechanism: K states of each, at the same times. The dots are the batch axes.

    `rollout[3]` is one of them, a `Trajectory` with its energies, plots and files; `rollout[3, 7]` where there are two
    batch axes. Any other index of NumPy's over the batch axes gives the rollout of some: `rollout[:10]`,
    `rollout[rollout.finite]`.
    """

    model: Model
    """What moves; with a `model_fn`, what that was made of"""
    times: Array
    """(K,) in seconds"""
    q: Array
    """(..., K, nq)"""
    v: Array
    """(..., K, nv)"""
    diverged_at: Array
    """(...): the time of the first state that is not finite, in seconds; NaN for a trajectory that has none"""
    integrator: str = ""
    """What it was computed with"""
    dt: float | None = None
    """The step in seconds"""
    acting: Acting | None = None
    """What acted, and what moved"""
    contact_rows: RolloutContacts | None = None
    """What was kept of contacts, with `save_contacts=True`"""
    muscle_rows: MuscleRows | None = None
    """States of muscles, where they have some; `activations` and `fiber_lengths` are read from it"""
    node_rows: NodeRows | None = None
    """Where the nodes of deformable bodies are, (..., K, nodes, 3); `nodes` reads it"""

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch axes; () for a single trajectory."""
        return self.q.shape[:-2]

    @property
    def final(self) -> tuple[Array, Array]:
        """The last states: q (..., nq) and v (..., nv)."""
        return self.q[..., -1, :], self.v[..., -1, :]

    @property
    def finite(self) -> Array:
        """(...): whether a trajectory stayed finite to the end."""
        return np.isnan(self.diverged_at)

    # one of them, or some

    def __len__(self) -> int:
        if not self.batch:
            raise TypeError("a rollout of a single trajectory has no length: rollout[()] is the trajectory")
        return self.batch[0]

    def __iter__(self) -> Iterator[Trajectory | Rollout]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """A `Trajectory` for an index of all batch axes, a `Rollout` for any other."""
        index = key if isinstance(key, tuple) else (key,)
        if any(k is None for k in index):
            raise IndexError("an index of a rollout chooses trajectories; it adds no axes")
        batch = np.broadcast_to(np.empty(()), self.batch)[index].shape
        new = Rollout(
            self.model,
            self.times,
            part_of(self.q, index, 2),
            part_of(self.v, index, 2),
            np.asarray(self.diverged_at[index]),
            self.integrator,
            self.dt,
            None if self.acting is None else self.acting.part(index, batch),
            None if self.contact_rows is None else self.contact_rows.part(index),
            self.muscle_rows and self.muscle_rows.each(lambda x: part_of(x, index, 2)),
            self.node_rows and NodeRows(part_of(self.node_rows.x, index, 3), part_of(self.node_rows.u, index, 3)),
        )
        return new if batch else new._trajectory()

    def trajectories(self) -> list[Trajectory]:
        """All of them in order, whatever the batch axes are."""
        return [self[index] for index in np.ndindex(self.batch)]

    def _trajectory(self) -> Trajectory:
        """The only one there is: its states up to the last finite one."""
        rows, reason, message = len(self.times), "finished", ""
        if not self.finite:
            rows = int(np.argmin(np.append(finite(self.q, self.v), False)))
            reason, message = "diverged", f"at t = {float(self.diverged_at):.9g} s: the state was no longer finite"
            if not rows:
                raise ValueError("this trajectory began with a state that is not finite: there is nothing of it")
        model = self.model if self.acting is None else self.acting.moving()
        q, v, tau = (np.array(x[:rows], float) for x in (self.q, self.v, self.tau))
        record = self._contact_record(model)
        return Trajectory(
            model, self.times[:rows].copy(), q, v, tau, (), reason, message, self.integrator, self.dt,  # pyright: ignore[reportArgumentType]
            contact_record=None if record is None else record.rows(slice(rows), len(self.times)),
            muscle_rows=self._all_muscle_rows(rows),
            node_rows=self.node_rows and self.node_rows.rows(slice(rows)),
        )  # fmt: skip

    def _contact_record(self, model: Model) -> NotedContacts | None:
        if self.contact_rows is None or self.dt is None:
            return None
        return self.contact_rows.record(model, self.times, self.dt, self.q, self.v)

    def _all_muscle_rows(self, rows: int) -> MuscleRows | None:
        """The first rows of muscles, excitations among them."""
        if self.muscle_rows is None:
            return None
        known = self.muscle_rows
        excited = None if known.activations is None else self.excitations
        return replace(known, excitations=excited).each(lambda x: np.array(x[:rows], float))

    # quantities along them

    @property
    def excitations(self) -> Array:
        """(..., K, m): what muscles were told, from 0 to 1; their activations, where they were told nothing.

        With the last state go the excitations of the last step.
        """
        rows = self.muscle_rows
        if rows is None or rows.excitations is not None or self.acting is None:
            return super().excitations
        told = self.acting.excited(self.times, self.q, self.v, rows)
        return super().excitations if told is None else told

    @cached_property
    def tau(self) -> Array:
        """(..., K, nv): the joint forces that were given, and the controller's; not those of damping and springs.

        With the last state go the forces of the last step. Those of a kernel are computed again, those of a
        Python function were saved.
        """
        if self.acting is None:
            return np.zeros(self.v.shape, self.v.dtype)
        return self.acting.forces(self.times, self.q, self.v)

    def _of_each(self, what: str) -> Array:
        """(..., K): a quantity of trajectories one by one; NaN where they are no longer finite."""
        values = np.full((*self.batch, len(self.times)), np.nan)
        for index in np.ndindex(self.batch):
            if self.times.size and finite(self.q[index][:1], self.v[index][:1])[0]:
                motion: Trajectory = self[index]
                values[(*index, slice(len(motion)))] = getattr(motion, what)
        return values

    @cached_property
    def kinetic_energy(self) -> Array:
        """(..., K) in joules, that of nodes of deformable bodies included."""
        if self.node_rows is not None:
            return self._of_each("kinetic_energy")
        return self._acting().energy("kinetic", self.times, self.q, self.v)

    @cached_property
    def potential_energy(self) -> Array:
        """(..., K) in joules: height, joint springs, elements, deformables; excited fibers store none."""
        if self.node_rows is not None:
            return self._of_each("potential_energy")
        if self.muscle_rows is not None:
            if self.acting is None or self.acting.model_fn is None:
                rows = self.muscle_rows
                return over_time(lambda model, q: potential_energy_with(model, q, rows), self.model, self.times, self.q)
            return self._of_each("potential_energy")
        return self._acting().energy("potential", self.times, self.q, self.v)

    @property
    def energy(self) -> Array:
        """(..., K) in joules: kinetic and potential together."""
        return self.kinetic_energy + self.potential_energy

    def contact_force(
        self, name: str, against: str | None = None, *, wrench: bool = False, axes: Axes = "base"
    ) -> Array:
        """(..., K, 3) in newtons: the force that a body receives from all that it touches, in base axes.

        See `Trajectory.contact_force`. The rollout must have been made with `save_contacts=True`. Where a trajectory
        is not finite, neither is the force.
        """
        if self.contact_rows is None:
            raise ValueError("this rollout kept no contacts: kn.rollout(…, save_contacts=True) does")
        width = 6 if wrench else 3
        if self.acting is not None and self.acting.model_fn is not None:
            total = np.full((*self.batch, len(self.times), width), np.nan)
            for index in np.ndindex(self.batch):
                motion: Trajectory = self[index]
                total[(*index, slice(len(motion)))] = motion.contact_force(name, against, wrench=wrench, axes=axes)
            return total
        record = self._contact_record(self.model)
        assert record is not None
        times = np.tile(self.times, int(np.prod(self.batch, dtype=int)))
        q = self.q.reshape(len(times), -1).astype(float)
        total = contact_force(self.model, record.read(times), q, name, against, wrench, axes)
        total[~finite(self.q, self.v).ravel()] = np.nan
        return total.reshape(*self.batch, len(self.times), width)

    def _acting(self) -> Acting:
        return self.acting or Acting(self.model, self.batch, np.zeros(len(self.times), int))

    # files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all of them to a file: .npz, or .nc for NetCDF through xarray. The model goes with them."""
        from .rollout_files import save

        save(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        model: Model | None = None,
        model_fn: Callable[..., Model] | None = None,
    ) -> Rollout:
        """Reads what `save` wrote.

        Args:
            path: the file.
            model: needed only if the file could not hold it (joints of your own).
            model_fn: needed if there was one: files hold its parameters, and no functions.
        """
        from .rollout_files import load

        return load(path, model, model_fn)

    def to_xarray(self) -> Any:
        """An `xarray.Dataset` with named variables and units; needs xarray."""
        from .rollout_files import to_xarray

        return to_xarray(self)

    def __repr__(self) -> str:
        count, step = int(np.prod(self.batch)), f"dt={self.dt:g} s" if self.dt else "no dt"
        span = f"{self.times[0]:g} to {self.times[-1]:g} s"
        lines = [
            f"<knuckle.simulation.Rollout of {self.model.name}: {count} trajectories {self.batch}, "
            f"{len(self.times)} states each, {span}, {self.integrator or 'no integrator'}, {step}"
        ]
        if not self.finite.all():
            first = np.nanmin(np.where(self.finite, np.nan, self.diverged_at))
            lines.append(f"  diverged: {int(np.sum(~self.finite))}, the first at t = {first:.9g} s")
        return "\n".join(lines) + ">"
