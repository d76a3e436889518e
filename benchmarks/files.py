"""Robots of other people, as their files state them: the defaults of `kn.simulate` beside a converged reference.

    python benchmarks/files.py [--only PATTERN] [--jobs 2] [--seconds 120] [--out benchmarks/results] [--check]

Every URDF of example-robot-data and every MJCF of dm_control that loads and moves starts at rest from a random posture
(seeded; within the limits of its joints; loops closed). One second of `kn.simulate(model, q0, contacts=False)` is
timed, and its last position compared with a reference: Dormand and Prince's method with tolerances of 1e-8 and 1e-10
where no joint has dry friction; else, or where that takes too long, Runge-Kutta's with steps halved again and again. A
reference is converged where two in a row agree to 1e-5. If none do within `--seconds` (chaotic motion; very stiff
joints), the table says how far the last two were apart.

The difference is the largest over the velocity variables of |difference| / max(1, way travelled), in rad and m.
`--check` ends with an error if a simulation diverged, or is off by more than 1e-3 from a converged reference without a
warning. Each file has a process of its own with one thread. dm_control is optional.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import machine
import numpy as np
from table import grid

import knuckle as kn
from knuckle.integrators import DormandPrince

DURATION = 1.0
SEED = 0
AGREED = 1e-5
"""References are converged that agree to this."""
RIGHT = 1e-3
"""A simulation that is off by more has to warn."""
HALVINGS = 10
TOLERANCES = (1e-8, 1e-10)
ROWS = 500
GRACE = 60.0
"""Seconds beyond its time after which a process is ended: a step, or a compilation, is not interrupted."""
FIRST = 300.0
"""Seconds that the simulation itself may take."""


# files


def files() -> tuple[list[tuple[str, Path]], list[str]]:
    """(short name, path) of every model file there is; and what is not installed."""
    found: list[tuple[str, Path]] = []
    missing: list[str] = []
    robots = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    found += [(f"{path.relative_to(robots)}", path) for path in sorted(robots.rglob("*.urdf"))]
    if not found:
        missing.append("example-robot-data")
    spec = importlib.util.find_spec("dm_control")
    if spec is None or not spec.submodule_search_locations:
        missing.append("dm_control")
    else:
        folder = Path(next(iter(spec.submodule_search_locations)))
        found += [(f"dm_control/{path.relative_to(folder)}", path) for path in sorted(folder.rglob("*.xml"))]
    return found, missing


# one file, in a process of its own


def measure(path: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """What is known of a file, more each time."""
    try:
        model = kn.load(path)
    except kn.ModelError as error:
        yield {"skipped": f"does not load: {re.sub(r'(/[^/]+)+/', '', error.message)}"}
        return
    known: dict[str, Any] = {
        "bodies": model.nb, "nv": model.nv, "loops": len(model.loops), "friction": has_friction(model),
        "notes": sorted({note.text for note in model.provenance.notes if note.level == "warning"}),
    }  # fmt: skip
    if model.nv == 0:
        yield known | {"skipped": "nothing moves"}
        return
    q0 = posture(model)
    if q0 is None:
        yield known | {"skipped": "its loops cannot be closed"}
        return
    yield known
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        began = time.perf_counter()
        try:
            motion = kn.simulate(model, q0, duration=DURATION, progress=False, contacts=False)
        except Exception as error:  # whatever it is, the table shows it
            yield known | {"reason": type(error).__name__, "message": str(error)}
            return
        known["seconds"] = time.perf_counter() - began
    known |= {
        "integrator": motion.integrator, "dt": motion.dt, "steps": len(motion.times) - 1, "reason": motion.reason,
        "message": motion.message, "warnings": sorted({str(warning.message) for warning in raised}),
    }  # fmt: skip
    yield known
    if motion.reason != "diverged":
        began = time.perf_counter()
        kn.simulate(model, q0, duration=DURATION, progress=False, contacts=False)
        known["again"] = time.perf_counter() - began
        yield known
    for way, reference, agreement in references(model, q0, seconds):
        known |= {"reference": way, "agreement": agreement}
        if motion.reason != "diverged":
            known["difference"] = distance(model, motion, reference)
        yield known


def has_friction(model: kn.Model) -> bool:
    """Whether a joint has dry friction."""
    return any(any(joint.friction) for joint in model.joints)


def posture(model: kn.Model) -> Any:
    """A random position within the limits that closes the loops; None if none was found."""
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        q = kn.random_configuration(model, rng)
        if not model.loops:
            return q
        found = kn.loops.close(model, q, attempts=1)
        if found.closed:
            return found.q
    found = kn.loops.close(model)
    return found.q if found.closed else None


def references(model: kn.Model, q0: Any, seconds: float) -> Iterator[tuple[str, kn.Trajectory, float | None]]:
    """References, finer each time, with how far each is from the one before; up to two that agree, or to the time."""
    until = time.monotonic() + seconds
    tried: list[Iterator[tuple[str, dict[str, Any]]]] = [_halved()]
    if not has_friction(model):
        tried.insert(0, _tight())
    for k, settings in enumerate(tried):
        last: kn.Trajectory | None = None
        # what is left for the ways that come after
        end = until if k == len(tried) - 1 else min(until, time.monotonic() + seconds / 2)
        for way, options in settings:
            motion = simulated(model, q0, end, options)
            if motion is None:
                break
            if motion.reason != "finished":
                last = None
                continue
            agreement = None if last is None else distance(model, last, motion)
            yield way, motion, agreement
            if agreement is not None and agreement <= AGREED:
                return
            last = motion


def _tight() -> Iterator[tuple[str, dict[str, Any]]]:
    for tolerance in TOLERANCES:
        integrator = DormandPrince(rtol=tolerance, atol_q=tolerance, atol_v=tolerance)
        yield f"adaptive, {tolerance:g}", {"integrator": integrator, "dt": DURATION / ROWS}


def _halved() -> Iterator[tuple[str, dict[str, Any]]]:
    for k in range(1, HALVINGS + 1):
        dt = 1e-3 / 2**k
        yield (
            f"rk4, {1e6 * dt:.3g} µs",
            {"integrator": "rk4", "dt": dt, "save_every": max(1, round(DURATION / ROWS / dt))},
        )


def simulated(model: kn.Model, q0: Any, until: float, options: dict[str, Any]) -> kn.Trajectory | None:
    """A simulation; None if it was not over in time."""
    left = until - time.monotonic()
    if left <= 0:
        return None
    with warnings.catch_warnings(), interrupted_after(left):
        warnings.simplefilter("ignore")
        try:
            motion = kn.simulate(model, q0, duration=DURATION, progress=False, contacts=False, **options)
        except (KeyboardInterrupt, ArithmeticError):
            return None
    return None if motion.reason == "interrupted" else motion


@contextlib.contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Presses Ctrl-C after some seconds: a simulation ends after the step it is in."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def distance(model: kn.Model, motion: kn.Trajectory, reference: kn.Trajectory) -> float:
    """How far the ends of two motions are apart: the largest over the variables, each over its way if above 1."""
    q = np.asarray(reference.q)
    travelled = np.abs(kn.difference(model, q[:-1], q[1:])).sum(axis=0)
    apart = np.abs(kn.difference(model, q[-1], np.asarray(motion.q)[-1]))
    return float((apart / np.maximum(1.0, travelled)).max())


# all files


def ask(path: Path, seconds: float) -> dict[str, Any]:
    """What a process finds out about a file, as far as it comes, with no kernel compiled before."""
    command = [sys.executable, __file__, "--one", str(path), "--seconds", str(seconds)]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "KNUCKLE_CACHE_DIR": cache}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=FIRST + seconds + GRACE)
            ended = "" if process.returncode == 0 else f"exit code {process.returncode}: {err.strip()[-300:]}"
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            ended = f"ended after {time.monotonic() - began:.0f} s"
    lines = [line for line in out.splitlines() if line.startswith("{")]
    known: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if ended and "reason" not in known:
        known |= {"reason": "no result", "message": ended}
    elif ended:
        known["failed"] = ended
    return known


def verdict(row: dict[str, Any]) -> str:
    """What is wrong with a simulation: nothing, if it ended and is right, or has warned."""
    if row["reason"] not in ("finished", "diverged"):
        return row["reason"]
    if row["reason"] == "diverged":
        return "diverged"
    if "exit code" in row.get("failed", ""):
        return f"its reference failed, {row['failed']}"
    if is_converged(row) and row["difference"] > RIGHT and not row["warnings"]:
        return "wrong, without a warning"
    return ""


def is_converged(row: dict[str, Any]) -> bool:
    """Whether a row has a reference that two runs agree on."""
    return row.get("agreement") is not None and row["agreement"] <= AGREED


def cells(row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    step = "own steps" if row.get("dt") is None else f"{1e3 * row['dt']:g} ms"
    if is_converged(row):
        reference = row["reference"]
    elif row.get("agreement") is not None:
        reference = f"not converged ({row['agreement']:.0e}; {row['reference']})"
    else:
        reference = "none in time" if "reference" not in row else f"only one ({row['reference']})"
    return [
        row["file"],
        str(row.get("bodies", "")),
        str(row.get("nv", "")),
        f"{row['integrator']}, {step}" if "integrator" in row else "",
        row["reason"],
        f"{row['difference']:.1e}" if "difference" in row else "",
        reference,
        f"{row['seconds']:.2f}" if "seconds" in row else "",
        f"{row['again']:.2f}" if "again" in row else "",
        "; ".join(row.get("warnings", [])) or row.get("message", ""),
    ]


HEADINGS = ["file", "bodies", "nv", "method", "ended", "difference", "reference", "s", "s again", "warnings"]


def page(results: dict[str, Any]) -> str:
    """The table, and what it comes to."""
    rows = [row for row in results["rows"] if "reason" in row]
    skipped = [row for row in results["rows"] if "skipped" in row]
    converged = [row for row in rows if is_converged(row) and "difference" in row]
    wrong = [f"- {row['file']}: {found}" for row in rows if (found := verdict(row))]
    ended = sum(row["reason"] == "finished" for row in rows)
    right = sum(row["difference"] <= RIGHT for row in converged)
    about = results["machine"]
    lines = [
        f"{len(rows)} files simulated for {DURATION:g} s, {ended} to the end. {len(converged)} have a converged "
        f"reference; {right} of them are within {RIGHT:g} of it. {len(skipped)} files hold no model that moves."
        + (f" Not installed: {', '.join(results['missing'])}." if results["missing"] else ""),
        f"{about['date']}. {about['processor']}, {about['cores']} cores. knuckle {about['versions']['knuckle']}, one "
        "thread for each file; s: with compilation, s again: without.",
        grid(HEADINGS, map(cells, rows)),
        "\n".join(["Wrong:", "", *wrong]) if wrong else "Nothing diverged, and nothing is wrong without a warning.",
    ]
    return "\n\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PATTERN", help="files whose name has this in it, or matches it (*, ?)")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="files at a time")
    parser.add_argument("--seconds", type=float, default=120.0, help="for the reference of each file")
    parser.add_argument("--out", type=Path, default=None, help="where the results go")
    parser.add_argument("--check", action="store_true", help="end with an error if a simulation is wrong")
    parser.add_argument("--one", type=Path, default=None, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one is not None:
        kn.compilation.set_threads(1)
        for known in measure(chosen.one, chosen.seconds):
            print(json.dumps(known), flush=True)
        return 0
    found, missing = files()
    if chosen.only is not None:
        found = [x for x in found if chosen.only in x[0] or fnmatch.fnmatch(x[0], chosen.only)]
    for package in missing:
        print(f"{package} is not installed: its files are left out", file=sys.stderr)
    results: dict[str, Any] = {"machine": machine.description(), "missing": missing, "rows": []}
    began = time.monotonic()
    with ThreadPoolExecutor(chosen.jobs) as pool:
        asked = [pool.submit(ask, path, chosen.seconds) for _, path in found]
        for k, ((name, _), answer) in enumerate(zip(found, asked, strict=True)):
            row = {"file": name, **answer.result()}
            results["rows"].append(row)
            said = row.get("skipped") or " | ".join(cells(row)[4:9])
            now = time.monotonic() - began
            print(f"[{k + 1}/{len(found)}, {now:.0f} s] {name}: {said}", file=sys.stderr, flush=True)
    results["machine"]["load at end"] = machine.load()
    text = page(results)
    print(text)
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "files.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (chosen.out / "files.md").write_text(text + "\n", "utf-8")
    return int(chosen.check and any("reason" in row and verdict(row) for row in results["rows"]))


if __name__ == "__main__":
    sys.exit(main())
