"""Sweeps under attack: workers killed by signal, nodes removed, drivers killed, at random times; and what was lost.

    python tests/cluster/fault_runs.py [workers|processes|nodes|drivers|local-drivers|disk …] [--rounds 10]

A round is a sweep of its own. In the end its chunks are compared with those of a sweep that nothing happened to.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from studies import patient_sum, same, sums  # noqa: E402

import knuckle as kn  # noqa: E402
from knuckle.cluster import commits  # noqa: E402

CHUNKS, CHUNK, SECONDS = 30, 10, 0.1


def computed(into: Path, seconds: float = SECONDS, **options: Any) -> Any:
    """The sweep of all rounds."""
    design = sums(CHUNKS * CHUNK)
    given = {"seconds": seconds}
    return kn.sweep(
        kn.robots.load("pendulum"), design, into, kernel=patient_sum, chunk=CHUNK, parameters=given, **options
    )


@dataclass
class Count:
    """What happened in some rounds."""

    rounds: int = 0
    attacks: int = 0
    chunks: int = 0
    lost: int = 0
    twice: int = 0
    wrong: int = 0
    files_left: int = 0

    def add(self, into: Path, expected: Any, attacks: int) -> None:
        """Looks at the folder of a round."""
        found = kn.cluster.read_sweep(into)
        chunks = list(commits.committed(into))
        self.rounds, self.attacks, self.chunks = self.rounds + 1, self.attacks + attacks, self.chunks + len(chunks)
        self.lost += len(found.missing)
        records = [commits.read_record(into, chunk) for chunk in chunks]
        samples = sum(record["stop"] - record["start"] for record in records if record is not None)
        self.twice += max(0, samples - found.count)
        self.wrong += len(found.damaged()) + (0 if same(found, expected) else 1)
        self.files_left += len(list(into.rglob("*.part")))

    @property
    def is_clean(self) -> bool:
        """Whether nothing is lost, there twice, wrong or left over."""
        return not (self.lost or self.twice or self.wrong or self.files_left)


Attack = Callable[[], bool]
"""Harms something; False if there was nothing to harm."""


class Attacker(threading.Thread):
    """Attacks at random times until it is told to stop, so many times at most."""

    def __init__(self, attack: Attack, rng: random.Random, most: int, pause: tuple[float, float]) -> None:
        super().__init__(daemon=True)
        self.attack, self.rng, self.most, self.pause = attack, rng, most, pause
        self.done, self.ended = 0, threading.Event()

    def run(self) -> None:
        while self.done < self.most and not self.ended.wait(self.rng.uniform(*self.pause)):
            self.done += self.attack()

    def stop(self) -> int:
        """Ends it; how many attacks there were."""
        self.ended.set()
        self.join()
        return self.done


def our_processes(word: str) -> list[Any]:
    """Processes that came from this one, and that have a word in their command line."""
    import psutil

    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any(word in part for part in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_one(word: str, rng: random.Random) -> bool:
    """Kills one of our processes."""
    chosen = our_processes(word)
    if not chosen:
        return False
    try:
        os.kill(rng.choice(chosen).pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def quietly(work: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return work()


def processes_killed(folder: Path, expected: Any, rounds: int, rng: random.Random) -> Count:
    """Local workers are killed by signal."""
    count = Count()
    for k in range(rounds):
        attacker = Attacker(lambda: kill_one("process_worker", rng), rng, 3, (0.3, 1.5))
        attacker.start()
        quietly(lambda k=k: computed(folder / f"processes{k}", workers=3))
        count.add(folder / f"processes{k}", expected, attacker.stop())
    return count


def small_cluster(nodes: int) -> Any:
    """A Ray cluster of nodes with one core each, and a head without any."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(nodes):
        add_node(cluster)
    return cluster


def add_node(cluster: Any) -> None:
    """Another node; Ray gives one up that takes more than 30 seconds to start, as on a machine with much else to do."""
    for attempt in range(5):
        try:
            cluster.add_node(num_cpus=1)
            return
        except Exception as error:
            if attempt == 4 or "timed out during startup" not in str(error):
                raise


def workers_killed(folder: Path, expected: Any, rounds: int, rng: random.Random) -> Count:
    """Actors of a Ray cluster are killed by signal."""
    import ray

    cluster, count = small_cluster(2), Count()
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        for k in range(rounds):
            attacker = Attacker(lambda: kill_one("ray::SweepWorker", rng), rng, 3, (0.1, 0.8))
            attacker.start()
            quietly(lambda k=k: computed(folder / f"actors{k}", address=cluster.address))
            count.add(folder / f"actors{k}", expected, attacker.stop())
    finally:
        ray.shutdown()
        cluster.shutdown()
    return count


def nodes_removed(folder: Path, expected: Any, rounds: int, rng: random.Random) -> Count:
    """A node of a Ray cluster goes without a word; another comes before the next round."""
    import ray

    cluster, count = small_cluster(2), Count()
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        for k in range(rounds):
            while len(cluster.worker_nodes) < 2:  # by the main thread, as Ray wants it
                add_node(cluster)

            def remove_node() -> bool:
                cluster.remove_node(rng.choice(list(cluster.worker_nodes)), allow_graceful=False)
                return True

            attacker = Attacker(remove_node, rng, 1, (0.5, 4.0))
            attacker.start()
            quietly(lambda k=k: computed(folder / f"nodes{k}", seconds=0.3, address=cluster.address))
            attacks = attacker.stop()
            count.add(folder / f"nodes{k}", expected, attacks)
    finally:
        ray.shutdown()
        cluster.shutdown()
    return count


def drivers_killed(folder: Path, expected: Any, rounds: int, rng: random.Random, address: str | None) -> Count:
    """The process that called `kn.sweep` is killed, or interrupted, and called again."""
    count = Count()
    for k in range(rounds):
        into, attacks = folder / f"drivers{k}{'ray' if address else ''}", 0
        for attempt in range(20):
            driver = subprocess.Popen([sys.executable, __file__, "--drive", str(into), *([address] if address else [])])
            if attempt < 2:
                until = time.monotonic() + 120
                while not any(commits.committed(into)) and time.monotonic() < until and driver.poll() is None:
                    time.sleep(0.05)
                time.sleep(rng.uniform(0.0, 0.8))
                if driver.poll() is None:
                    attacks += 1
                    driver.send_signal(signal.SIGKILL if k % 2 == 0 else signal.SIGINT)
                driver.wait()
            elif driver.wait() == 0:
                break
        count.add(into, expected, attacks)
    return count


def ray_drivers_killed(folder: Path, expected: Any, rounds: int, rng: random.Random) -> Count:
    """The same, with a Ray cluster."""
    cluster = small_cluster(2)
    try:
        return drivers_killed(folder, expected, rounds, rng, cluster.address)
    finally:
        cluster.shutdown()


def disk_full(folder: Path, expected: Any, rounds: int, rng: random.Random) -> Count:
    """A disk of its own is too small, until something else on it is removed."""
    place, count = folder / "small", Count()
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=True)
    try:
        for k in range(rounds):
            ballast = place / "ballast"
            used = sum(path.stat().st_blocks * 512 for path in place.rglob("*") if path.is_file())
            ballast.write_bytes(b"\0" * max(0, 1_000_000 - used - rng.randrange(150_000, 600_000)))
            attacks = 0
            try:
                quietly(lambda k=k: computed(place / f"disk{k}", seconds=0.0, **({"workers": 2} if k % 2 else {})))
            except OSError as error:
                attacks = int(error.errno == errno.ENOSPC)
            ballast.unlink()
            quietly(lambda k=k: computed(place / f"disk{k}", seconds=0.0))
            count.add(place / f"disk{k}", expected, attacks)
            shutil.rmtree(place / f"disk{k}")
    finally:
        subprocess.run(["umount", str(place)], check=True)
    return count


RUNS: dict[str, Any] = {
    "processes": processes_killed,
    "workers": workers_killed,
    "nodes": nodes_removed,
    "drivers": ray_drivers_killed,
    "local-drivers": lambda *a: drivers_killed(*a, None),
    "disk": disk_full,
}


def main() -> None:
    if sys.argv[1:2] == ["--drive"]:
        _, _, into, *address = sys.argv
        quietly(lambda: computed(Path(into), **({"address": address[0]} if address else {"workers": 2})))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", choices=[*RUNS, []])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sweep-faults-"))
    try:
        expected = computed(folder / "calm", seconds=0.0)
        for name in arguments.runs or RUNS:
            began = time.monotonic()
            count = RUNS[name](folder, expected, arguments.rounds, random.Random(arguments.seed))
            print(f"{name}: {count} clean={count.is_clean} ({time.monotonic() - began:.0f} s)", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
