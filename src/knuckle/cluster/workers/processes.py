"""Local processes, one thread each. One that is killed is replaced, and its chunks are computed by others."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from knuckle.cluster.pickling import pickled
from knuckle.warning import warn

from .base import Crew, Lost, Outcome
from .process_worker import receive, send
from .work_order import WorkOrder

AHEAD = 2
"""Chunks that a worker has: the one it computes, and the next."""
TOO_SOON = 3
"""Workers that end before they can begin, one after the other, until it is given up."""


@dataclass(eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    chunks: list[int] = field(default_factory=list[int])
    can_begin: bool = False


class LocalProcesses(Crew):
    """So many processes on this machine. A thread for each reads what they say."""

    def __init__(self, order: WorkOrder, count: int) -> None:
        self._order, self._count = pickled(order), count
        self._said: queue.SimpleQueue[tuple[_Worker, Any]] = queue.SimpleQueue()
        self._ended_at_once = 0
        self._crew = [self._start() for _ in range(count)]

    @property
    def workers(self) -> int:
        return len(self._crew)

    def _start(self) -> _Worker:
        command = [sys.executable, "-m", "knuckle.cluster.workers.process_worker"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
        )
        worker = _Worker(process)
        _tell(worker, pickle.dumps((sys.path, self._order)))
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        return worker

    def _listen(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while (message := receive(worker.process.stdout)) is not None:  # pyright: ignore[reportArgumentType]
                self._said.put((worker, pickle.loads(message)))
        self._said.put((worker, None))

    @property
    def room(self) -> int:
        return sum(AHEAD - len(worker.chunks) for worker in self._crew)

    def submit(self, chunk: int) -> None:
        worker = min(self._crew, key=lambda one: len(one.chunks))
        worker.chunks.append(chunk)
        _tell(worker, pickle.dumps(chunk))

    def wait(self, seconds: float) -> list[Outcome]:
        found, until = list[Outcome](), time.monotonic() + seconds
        while not found and (left := until - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                found += self._heard(*self._said.get(timeout=left))
        return found

    def _heard(self, worker: _Worker, said: Any) -> list[Outcome]:
        if said is not None:
            chunk, receipt, error = said
            if error is not None:
                raise error
            worker.can_begin, self._ended_at_once = True, 0
            if chunk is None:
                return []
            worker.chunks.remove(chunk)
            return [receipt]
        if worker not in self._crew:
            return []
        code = worker.process.wait()
        self._ended_at_once += not worker.can_begin
        if self._ended_at_once >= TOO_SOON * self._count:
            raise RuntimeError(f"workers end before they can begin: the last one with exit status {code}")
        warn(f"a worker ended with exit status {code}; another takes its place, and its {len(worker.chunks)} chunks")
        self._crew[self._crew.index(worker)] = self._start()
        return [Lost(chunk, f"its process ended with exit status {code}") for chunk in worker.chunks]

    def close(self) -> None:
        crew, self._crew = self._crew, []
        for worker in crew:
            worker.process.kill()
        for worker in crew:
            worker.process.wait()
            for stream in (worker.process.stdin, worker.process.stdout):
                with contextlib.suppress(OSError, ValueError):
                    if stream is not None:
                        stream.close()


def _tell(worker: _Worker, content: bytes) -> None:
    """A message; that a worker is gone is noticed by who listens to it."""
    assert worker.process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        send(worker.process.stdin, content)  # pyright: ignore[reportArgumentType]
