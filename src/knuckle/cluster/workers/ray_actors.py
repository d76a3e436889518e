"""A Ray cluster: an actor for each core, wherever Ray finds one. Actors and nodes may come and go.

Code is compiled once for each kind of machine: the first actor of a kind compiles, or gets what this process compiled,
and the others get the compiled kernels through Ray's object store before their first chunk.
"""

from __future__ import annotations

import contextlib
import pickle
import re
import socket
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from knuckle.cluster.pickling import pickled
from knuckle.engine.native import disk_cache
from knuckle.extras import need
from knuckle.warning import warn

from .base import Crew, Lost, Outcome
from .work_errors import sendable
from .work_order import WorkOrder, kind_of_machine

AHEAD = 2
"""Chunks that an actor has: the one it computes, and the next."""
LOOK = 2.0
"""Seconds between two looks at how large the cluster is."""
TOO_SOON = 20
"""Workers that end, one after the other, with nothing done between, until it is given up."""
CONNECT = 5.0
"""Seconds for a cluster to answer."""
Stage: TypeAlias = Literal["starts", "waits", "compiles", "receives", "works"]


class SweepWorker:
    """What runs as an actor: the order, and compiled code. Errors come back as values, so that Ray's are Ray's."""

    def __init__(self, folders: list[str], order: bytes) -> None:
        from knuckle.engine.native.threads import set_threads

        set_threads(1)
        sys.path[:] = [*sys.path, *(one for one in folders if one not in sys.path)]
        self._order: WorkOrder = pickle.loads(order)

    def kind(self) -> str:
        """What kind of machine it is on."""
        return kind_of_machine()

    def compile(self) -> dict[str, Any] | BaseException:
        """Compiles what the first samples need, and gives it for others of its kind."""
        try:
            self._order.job.probe()
        except Exception as error:
            return sendable(error)
        return disk_cache.met()

    def receive(self, kernels: Mapping[str, Any]) -> None:
        """Kernels that were compiled elsewhere."""
        for name, (description, code) in kernels.items():
            if disk_cache.read(name) is None:
                disk_cache.write(name, description, code)

    def carry_out(self, chunk: int) -> Any:
        """What became of a chunk: a receipt, or an error."""
        try:
            return self._order.carry_out(chunk)
        except Exception as error:
            return sendable(error)


@dataclass(eq=False)
class _Actor:
    handle: Any
    stage: Stage = "starts"
    kind: str = ""
    chunks: list[int] = field(default_factory=list[int])


class RayActors(Crew):
    """Actors on a Ray cluster."""

    def __init__(self, order: WorkOrder, address: str, count: int | None, resources: Mapping[str, Any] | None) -> None:
        self._ray = ray = need("ray", "sweeps over a Ray cluster need", "cluster")
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
            _must_answer(address)
            with _clear_errors(address):
                ray.init(address=address, **quiet)
        self._title = order.job.model.name
        self._most, self._resources = count, {"num_cpus": 1, **(resources or {})}
        self._order = ray.put(pickled(order))
        own = {name: (about, code) for name, (about, code) in disk_cache.met().items()}
        self._kernels: dict[str, Any] = {kind_of_machine(): ray.put(own)}
        self._compiling: set[str] = set()
        self._class = ray.remote(SweepWorker)
        self._crew: list[_Actor] = []
        self._calls: dict[Any, tuple[_Actor, int | None]] = {}
        self._looked = -LOOK
        self._ended_at_once = 0
        self._look()

    @property
    def workers(self) -> int:
        return sum(actor.stage == "works" for actor in self._crew)

    def _look(self) -> None:
        """As many actors as the cluster has cores for, now."""
        if time.monotonic() - self._looked < LOOK:
            return
        self._looked = time.monotonic()
        places = int(self._ray.cluster_resources().get("CPU", 0) // max(self._resources["num_cpus"], 1e-9))
        for _ in range(min(places, self._most or places) - len(self._crew)):
            options = {**self._resources, "max_restarts": 0, "max_task_retries": 0}
            actor = _Actor(self._class.options(**options).remote(sys.path, self._order))
            self._crew.append(actor)
            self._call(actor, "kind", f"{self._title}: kind of machine")

    def _call(self, actor: _Actor, method: str, title: str, *args: Any, chunk: int | None = None) -> None:
        call = getattr(actor.handle, method).options(name=title).remote(*args)
        self._calls[call] = actor, chunk

    @property
    def room(self) -> int:
        return sum(AHEAD - len(actor.chunks) for actor in self._crew if actor.stage == "works")

    def submit(self, chunk: int) -> None:
        actor = min((one for one in self._crew if one.stage == "works"), key=lambda one: len(one.chunks))
        actor.chunks.append(chunk)
        self._call(actor, "carry_out", f"{self._title}: chunk {chunk}", chunk, chunk=chunk)

    def wait(self, seconds: float) -> list[Outcome]:
        self._look()
        if not self._calls:
            time.sleep(min(seconds, LOOK))
            return []
        ready, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=seconds)
        return [outcome for call in ready for outcome in self._heard(call)]

    def _heard(self, call: Any) -> list[Outcome]:
        if call not in self._calls:
            return []
        actor, chunk = self._calls.pop(call)
        try:
            value = self._ray.get(call)
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            return self._gone(actor, chunk, error)
        if isinstance(value, BaseException):
            raise value
        self._ended_at_once = 0
        if chunk is not None:
            actor.chunks.remove(chunk)
            return [value]
        self._goes_on(actor, value)
        return []

    def _goes_on(self, actor: _Actor, value: Any) -> None:
        """The next thing that an actor does before it works."""
        if actor.stage == "starts":
            actor.kind, actor.stage = value, "waits"
        elif actor.stage == "compiles":
            self._compiling.discard(actor.kind)
            self._kernels[actor.kind], actor.stage = self._ray.put(value), "works"
        elif actor.stage == "receives":
            actor.stage = "works"
        for one in self._crew:
            if one.stage != "waits":
                continue
            if one.kind in self._kernels:
                one.stage = "receives"
                self._call(one, "receive", f"{self._title}: compiled code", self._kernels[one.kind])
            elif one.kind not in self._compiling:
                self._compiling.add(one.kind)
                one.stage = "compiles"
                self._call(one, "compile", f"{self._title}: compiles")

    def _gone(self, actor: _Actor, chunk: int | None, error: Exception) -> list[Outcome]:
        """An actor that is no more: all of its chunks are lost, and another takes its place at the next look."""
        if actor not in self._crew:
            return []
        self._crew.remove(actor)
        if actor.stage == "compiles":
            self._compiling.discard(actor.kind)
        with contextlib.suppress(Exception):
            self._ray.kill(actor.handle)
        self._calls = {call: x for call, x in self._calls.items() if x[0] is not actor}
        if isinstance(error, self._ray.exceptions.RayTaskError):
            raise error
        why = str(error).partition("\n")[0]
        if "creation task" in str(error):
            raise RuntimeError(f"a worker of the cluster cannot begin: {str(error).rstrip().rpartition(chr(10))[2]}")
        self._ended_at_once += 1
        if self._ended_at_once >= TOO_SOON:
            raise RuntimeError(f"{TOO_SOON} workers of the cluster ended before any of them had done anything: {error}")
        warn(f"a worker of the cluster is gone ({why}); its {len(actor.chunks)} chunks are computed by others")
        return [Lost(one, why) for one in actor.chunks]

    def close(self) -> None:
        for actor in self._crew:
            with contextlib.suppress(Exception):
                self._ray.kill(actor.handle)
        self._crew, self._calls = [], {}
        if self._is_ours:
            self._ray.shutdown()


def _must_answer(address: str) -> None:
    """Whether anything listens at an address: Ray itself would try for minutes."""
    place = re.fullmatch(r"(?:ray://)?(?P<host>[^:/]+):(?P<port>\d+)", address)
    if place is not None:
        with _clear_errors(address):
            socket.create_connection((place["host"], int(place["port"])), timeout=CONNECT).close()


@contextlib.contextmanager
def _clear_errors(address: str) -> Generator[None]:
    try:
        yield
    except (OSError, OverflowError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise ConnectionError(
            f"address={address!r}: there is no Ray cluster ({reason}). `ray start --head` starts one; address='local' "
            "starts one of this machine for this sweep"
        ) from None
