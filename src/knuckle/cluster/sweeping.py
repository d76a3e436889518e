"""Sweeps: rollouts or kernels over the samples of a design, here, over processes or over a cluster."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.model import Model
from knuckle.simulation.long_runs.progress import Progress, Reporter
from knuckle.warning import warn

from .commits import COMMITS, commit, committed, damage, record_path, remove_parts, remove_record
from .designs import Design
from .sweep_job import OnError, SweepJob, compiled
from .sweep_manifest import Manifest
from .sweep_reader import SweepResult
from .sweep_tasks import KernelTask, RolloutTask, SweepTask
from .workers.base import Crew, InProcess, Lost
from .workers.work_order import WorkOrder
from .zarr_store import DATA, create_arrays, specs_of

CHUNK = 4096
"""Samples in a chunk, where nothing is said."""
ATTEMPTS = 10
"""Workers that a chunk may lose before it is taken to be the reason."""
PATIENCE = 0.5
"""Seconds between two reports."""


def sweep(
    model: Model,
    design: Design,
    into: str | os.PathLike[str],
    *,
    kernel: Callable[..., Any] | None = None,
    measure: Callable[..., Any] | None = None,
    keep: Sequence[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    chunk: int | None = None,
    dtype: str = "float64",
    workers: int | None = None,
    address: str | None = None,
    worker_options: Mapping[str, Any] | None = None,
    on_error: OnError = "stop",
    check: bool = True,
    progress: Progress = None,
    **rollout: Any,
) -> SweepResult:
    """Rollouts, or a kernel, for every sample of a design; results go to a folder, chunk by chunk.

    The same call goes on with what is in the folder already: after Ctrl-C, a full disk, a crash. Results are the same
    to the last bit in this process, over processes and over a cluster, however many workers there are and in whatever
    order they work, as long as their processors have the same instructions; a warning says if not.

    Args:
        model: the mechanism.
        design: the samples: `kn.cluster.grid`, `sobol`, `latin_hypercube`, `random` or `samples`, and products of them.
            Its parameters are arguments of `kn.rollout`, such as q0, v0, tau or controller, and all others go to the
            controller, external forces and `model_fn` that ask for them. `model` may be one of them.
        into: the folder. It must be new, empty, or hold this sweep.
        kernel: kernel(model, …) instead of rollouts: its arguments receive the columns of their names, (n, …). It gives
            an array (n, …), or a mapping from names to such.
        measure: measure(rollout, …) → by name, (n, …): what is to be known of trajectories. Its further arguments
            receive the parameters of their names.
        keep: what is kept of rollouts besides: "q", "v", "tau", "final_q", "final_v", "energy", "kinetic_energy",
            "potential_energy". States, if nothing is measured, else nothing.
        parameters: those that are the same for all samples.
        chunk: how many samples are computed and committed together; 4096, or as in the folder. It changes no result.
        dtype: "float64" or "float32", of parameters and so of rollouts.
        workers: how many local processes, with one thread each. Without, and without an address, this process computes
            with all threads of `kn.compilation.set_threads`.
        address: of a Ray cluster: "auto", "host:port", "ray://host:port", or "local" for one of this machine. Where Ray
            is connected already that connection is used. `workers` is how many actors at most; all cores, if not given.
        worker_options: what an actor takes of a node, as Ray's `num_cpus`, `num_gpus`, `resources`.
        on_error: "stop" raises what a kernel or measure raises; "note" counts that sample as failed, and goes on.
        check: whether the checksums of chunks that are there are compared before going on; else only their sizes.
        progress: as for `simulate`: a bar with rate and time left in a terminal; False for none; or a function that is
            called with the part done.
        **rollout: all other arguments of `kn.rollout`, which are the same for all samples.

    Example:
        design = kn.cluster.sobol({"q0": kn.cluster.uniform(-1, 1, arm.nq)}, 2**14)
        found = kn.sweep(arm, design, "swings.sweep", steps=200, keep=["final_q"])
        found["final_q"].shape  # (16384, 7)
    """
    job = _job(model, design, kernel, measure, keep, parameters, chunk, dtype, on_error, rollout, into)
    order = _prepared(job, Path(into))
    found = SweepResult(Path(order.folder), _manifest(order), order.job)
    done = _sound(order, check)
    crew = _crew(order, workers, address, worker_options) if len(done) < job.chunks else None
    if crew is not None:
        _carried_out(order, crew, (k for k in range(job.chunks) if k not in done), len(done), progress)
    _warn_of_instructions(found)
    return found


def _job(
    model: Model,
    design: Design,
    kernel: Callable[..., Any] | None,
    measure: Callable[..., Any] | None,
    keep: Sequence[str] | None,
    parameters: Mapping[str, Any] | None,
    chunk: int | None,
    dtype: str,
    on_error: OnError,
    rollout: Mapping[str, Any],
    into: str | os.PathLike[str],
) -> SweepJob:
    if not isinstance(model, Model):
        raise TypeError(f"sweep needs a knuckle.Model first, not {type(model).__name__}")
    if not isinstance(design, Design):
        raise TypeError(f"design must be one of kn.cluster, such as kn.cluster.grid(…), not {type(design).__name__}")
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', and is {dtype!r}")
    if on_error not in ("stop", "note"):
        raise ValueError(f"on_error must be 'stop' or 'note', and is {on_error!r}")
    if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1):
        raise ValueError(f"chunk must be a whole number from 1, and is {chunk!r}")
    fixed = {name: np.asarray(x, dtype) for name, x in (parameters or {}).items()}
    if shared := [name for name in fixed if name in design.names]:
        raise TypeError(f"{shared[0]} is in parameters and in the design: it is the same for all samples, or it is not")
    task: SweepTask
    if kernel is not None:
        if wrong := [*rollout, *(["measure"] if measure else []), *(["keep"] if keep else [])]:
            raise TypeError(f"{wrong[0]} goes with rollouts, and kernel= computes none")
        task = KernelTask(kernel, fixed)
    else:
        kept = ("q", "v") if keep is None and measure is None else tuple(keep or ())
        task = RolloutTask(dict(rollout), fixed, measure, kept)
    there = Manifest.read(Path(into))
    size = chunk or (int(there.facts["chunk"]) if there else CHUNK)
    return SweepJob(model, design, task, size, dtype, on_error, "never" if kernels.policy == "never" else "always")


def _prepared(job: SweepJob, folder: Path) -> WorkOrder:
    """The order for workers, and the folder as they need it: new, or as it was left."""
    first = job.first()
    rows = next(job.groups(first))
    rows = rows if len(rows) > 1 else np.repeat(rows, 2)
    with compiled(job.compilation):
        task, times = job.task.pinned(job.model, job.with_things(first, rows))
    job = replace(job, task=task)
    specs = specs_of(first, job.probe(), task.over_time)
    new, there = Manifest.of(job, specs, times), Manifest.read(folder)
    if there is None:
        if folder.exists() and any(folder.iterdir()) and not _is_unfinished(folder):
            raise ValueError(f"into={str(folder)!r} is a folder with other things in it, and holds no sweep")
        (folder / COMMITS).mkdir(parents=True, exist_ok=True)
        create_arrays(folder, specs, job.design.count, job.chunk)
        new.write(folder)
        there = new
    elif different := new.differences(there):
        raise ValueError(
            f"into={str(folder)!r} holds another sweep: not the same are {', '.join(different)}. "
            "Another folder, or the same call as before, is needed"
        )
    if there.facts["versions"] != new.facts["versions"]:
        warn(f"{folder} was begun with other versions: {there.facts['versions']}, and now {new.facts['versions']}")
    if there.facts["instructions"] != new.facts["instructions"]:
        warn(
            f"{folder} was begun on a processor with other instructions, {there.facts['instructions']}, and this has "
            f"{new.facts['instructions']}: last digits may differ between chunks"
        )
    return WorkOrder(job, str(folder.resolve()), there.facts["token"], specs)


def _manifest(order: WorkOrder) -> Manifest:
    """The manifest that is in the folder of an order."""
    found = Manifest.read(Path(order.folder))
    if found is None:
        raise FileNotFoundError(f"the manifest of the sweep is gone from {order.folder}")
    return found


def _is_unfinished(folder: Path) -> bool:
    """Whether a folder is that of a sweep that was stopped before it had a manifest."""
    return {path.name for path in folder.iterdir() if not path.name.endswith(".part")} <= {COMMITS, DATA}


def _sound(order: WorkOrder, check: bool) -> set[int]:
    """The chunks that are there and sound; the records of others are removed, so that they are computed again."""
    folder, done = Path(order.folder), set[int]()
    remove_parts(folder)
    for chunk in list(committed(folder)):
        why = damage(folder, chunk, whole=check)
        if why is None and chunk < order.job.chunks:
            done.add(chunk)
        else:
            warn(f"chunk {chunk} in {folder} is computed again: {why or 'there is no such chunk'}")
            remove_record(folder, chunk)
    return done


def _crew(order: WorkOrder, workers: int | None, address: str | None, options: Mapping[str, Any] | None) -> Crew:
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ValueError(f"workers must be a whole number from 1, and is {workers!r}")
    if address is not None:
        from .workers.ray_actors import RayActors

        return RayActors(order, address, workers, options)
    if options:
        raise TypeError("worker_options are those of Ray's actors: they need address=")
    if workers is None:
        return InProcess(order)
    from .workers.processes import LocalProcesses

    return LocalProcesses(order, min(workers, order.job.chunks))


def _carried_out(order: WorkOrder, crew: Crew, chunks: Iterable[int], done: int, progress: Progress) -> None:
    """All chunks, with no more of them under way than the crew has room for."""
    waiting, again, lost = iter(chunks), deque[int](), Counter[int]()
    job, folder, began, new, failed, under_way = order.job, Path(order.folder), time.monotonic(), 0, 0, 0
    reporter = Reporter(progress, f"sweep of {job.model.name}")
    try:
        while True:
            while crew.room > 0 and (chunk := again.popleft() if again else next(waiting, None)) is not None:
                crew.submit(chunk)
                under_way += 1
            if not under_way and not again:
                rest = next(waiting, None)
                if rest is None:
                    break
                again.append(rest)
            for outcome in crew.wait(PATIENCE):
                under_way -= 1
                if isinstance(outcome, Lost):
                    _take_back(order, outcome, lost)
                    if not record_path(folder, outcome.chunk).exists():
                        again.append(outcome.chunk)
                        continue
                elif outcome.parcel is not None:
                    commit(folder, outcome.parcel)
                new += 1
                failed += 0 if isinstance(outcome, Lost) else outcome.failed
            rate = new * job.chunk / (time.monotonic() - began)
            note = f": {rate:,.0f} samples/s, {crew.workers} workers" + (f", {failed} failed" if failed else "")
            reporter.report((done + new) / job.chunks, note)
    except KeyboardInterrupt:
        text = f"stopped: {done + new} of {job.chunks} chunks are in {folder}; the same call goes on with the rest"
        raise KeyboardInterrupt(text) from None
    except OSError as error:
        if error.errno is not None:
            error.add_note(f"{done + new} of {job.chunks} chunks are in {folder}; the same call goes on with the rest")
        raise
    finally:
        reporter.close()
        crew.close()
        if lost:
            remove_parts(folder)


def _take_back(order: WorkOrder, lost: Lost, counts: Counter[int]) -> None:
    """Counts a chunk that lost its worker; what loses all of them is the reason itself."""
    counts[lost.chunk] += 1
    if counts[lost.chunk] >= ATTEMPTS:
        start, stop = order.job.span(lost.chunk)
        raise RuntimeError(
            f"chunk {lost.chunk}, samples {start} to {stop - 1}, lost {ATTEMPTS} workers one after the other, the last "
            f"because {lost.why}: it may need more memory than there is; a smaller chunk= does not"
        )


def _warn_of_instructions(found: SweepResult) -> None:
    kinds = found.instructions
    if len(kinds) > 1:
        warn(f"chunks were computed on processors with different instructions, whose last digits may differ: {kinds}")
