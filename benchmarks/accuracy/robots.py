"""How many digits are right: every robot of example-robot-data, against fifty digits of the file.

    python benchmarks/accuracy/robots.py references [--states 200] [--only talos] [--drake PYTHON]
    python benchmarks/accuracy/robots.py texts [--only talos]          # knuckle's texts, and the table as JSON
    python benchmarks/accuracy/robots.py errors [--only talos]         # the same of its kernels, which takes longer

The first command computes the references and what the other libraries give, robot by robot, and keeps both in
`build/accuracy`: it goes on where it was stopped, and need not be repeated when knuckle changes. The others run
knuckle's texts on NumPy's arrays and its kernels on the same states, for robots that are not among the results yet
or that are named.

Inputs are doubles that single precision has too; only a unit quaternion must be rounded again for the rows of float32,
which are held against knuckle's doubles for the rounded one then.

The error of a state is the largest difference of any entry, divided by the largest entry of the exact result. That of
the potential energy is divided by Σ m |g·c|, which it is made of.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from others import AXES, LeftOutError, MuJoCo, Pinocchio
from same_mechanism import plain_text, read_as_usual, read_exactly
from world_variables import rotation

import knuckle as kn
from knuckle.accuracy.many_digits import digits_of, precision
from knuckle.accuracy.reference_run import run
from knuckle.engine.native import machine_code
from knuckle.testing.oracles.other_libraries import robot_files

Array = np.ndarray[Any, Any]
CACHE = Path("build/accuracy/robots")
RESULTS = Path(__file__).resolve().parent.parent / "results" / "accuracy_robots.json"
NAMES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "kinetic_energy", "potential_energy",
)  # fmt: skip
FEW = 100
"""States of libraries whose variables are not ours: they need a reference of their own."""


def subjects(only: str) -> list[tuple[Path, str]]:
    """Files and bases: every file that moves, the first of those that state the same mechanism; small ones first."""
    found: list[tuple[int, Path]] = []
    known: set[str] = set()
    for path in robot_files():
        try:
            model = read_as_usual(path, "fixed")
        except kn.ModelError as error:
            print(f"{path.name}: left out, {str(error)[-100:]}", flush=True)
            continue
        same = repr([(j.type, j.parent, j.X_tree, b.inertia) for j, b in zip(model.joints, model.bodies, strict=True)])
        same += repr(model.base.inertia)
        if model.nv and same not in known and only in str(path):
            found.append((model.nv, path))
        known.add(same)
    return [(path, base) for _, path in sorted(found) for base in ("fixed", "floating")]


def place(path: Path, base: str) -> Path:
    return CACHE / f"{path.parent.parent.name}-{path.stem}-{base}.npz"


def random_states(model: kn.Model, count: int, seed: int = 0) -> dict[str, Array]:
    """Positions anywhere, velocities and accelerations of size one: doubles that single precision has too, but for
    the unit quaternion of a base."""
    rng = np.random.default_rng(seed)
    q = single(rng.uniform(-np.pi, np.pi, (count, model.nq)))
    if model.joints and model.joints[0].name == "floating_base":
        turn = rng.standard_normal((count, 4))
        q[:, :4] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        q[:, 4:7] = single(rng.uniform(-1, 1, (count, 3)))
    v, a = single(rng.standard_normal((2, count, model.nv)))
    return {"q": q, "v": v, "a": a}


def single(x: Array) -> Array:
    """Doubles that single precision has too."""
    return x.astype(np.float32).astype(float)


def arguments(name: str, s: dict[str, Array]) -> list[Array]:
    names = {
        "inverse_dynamics": "q v a", "forward_dynamics": "q v tau", "kinetic_energy": "q v",
    }.get(name, "q")  # fmt: skip
    return [s[n] for n in names.split()]


def options(name: str, frame: str) -> dict[str, Any]:
    return {"frame": frame, "expressed_in": "aligned"} if name == "jacobian" else {}


def exact_results(model: kn.Model, s: dict[str, Array], frame: str) -> dict[str, Array]:
    """Every function in many digits."""
    return {name: run(getattr(kn, name), model, arguments(name, s), **options(name, frame)) for name in NAMES}


def two_doubles(x: Array) -> Array:
    """A number of many digits as the sum of two doubles, on a first axis."""
    high = x.astype(float)
    return np.stack([high, (x - high).astype(float)])


def outside(results: dict[str, Array], s: dict[str, Array], R: Array, axes: Any) -> dict[str, Array]:
    """Results in a library's variables of the base."""
    found = dict(results)
    found["inverse_dynamics"] = axes.outside(R, results["inverse_dynamics"])
    found["forward_dynamics"] = axes.acceleration_outside(R, s["v"], results["forward_dynamics"])
    found["mass_matrix"] = axes.matrix_outside(R, results["mass_matrix"])
    rows = [axes.outside(R, results["jacobian"][:, k, :]) for k in range(6)]
    found["jacobian"] = np.stack(rows, axis=1)
    return found


def reference(path: Path, base: Any, count: int, drake: str | None) -> dict[str, Array]:
    """States, exact results and what others give."""
    exact = read_exactly(path, base)
    joints = [joint.name for joint in exact.joints]
    frame = exact.body_names[-1]
    s = random_states(exact, count)
    s["tau"] = run(kn.inverse_dynamics, exact, arguments("inverse_dynamics", s)).astype(float)
    s["tau"] = single(s["tau"])
    kept: dict[str, Array] = dict(s)
    results = exact_results(exact, s, frame)
    kept |= {f"exact/{name}": two_doubles(x) for name, x in results.items()}
    kept["scale/potential_energy"] = weights(read_as_usual(path, base), s)
    kept["condition"] = np.array([np.linalg.cond(H) for H in results["mass_matrix"].astype(float)])
    for library, make in (("Pinocchio", Pinocchio), ("MuJoCo", MuJoCo), ("Drake", drake_with(drake))):
        if make is None:
            continue
        try:
            own = make(path, base, joints, frame)
            if base == "fixed" or library == "Pinocchio":
                mine, exactly = s, results
            else:
                mine, exactly = in_their_variables(exact, s, frame, AXES[library])
                kept |= {f"exact {library}/{name}": two_doubles(x) for name, x in exactly.items()}
            kept |= {f"{library}/{name}": x for name, x in own.compute(mine).items()}
        except LeftOutError as reason:
            kept[f"left/{library}"] = np.array(str(reason))
    return kept


def in_their_variables(exact: kn.Model, s: dict[str, Array], frame: str, axes: Any) -> tuple[Any, Any]:
    """States of doubles in a library's variables, and the exact results for these very numbers, in its variables."""
    few = {name: x[:FEW] for name, x in s.items()}
    R = rotation(digits_of(few["q"]).lanes)
    near = rotation(few["q"])
    theirs = {
        "q": few["q"],
        "v": axes.outside(near, few["v"]),
        "a": axes.acceleration_outside(near, few["v"], few["a"]),
        "tau": axes.outside(near, few["tau"]),
    }
    many = {name: digits_of(x).lanes for name, x in theirs.items()}
    v = axes.inside(R, many["v"])
    ours = {
        "q": few["q"], "v": v, "a": axes.acceleration_inside(R, v, many["a"]), "tau": axes.inside(R, many["tau"]),
    }  # fmt: skip
    return theirs, outside(exact_results(exact, ours, frame), ours, R, axes)


def weights(model: kn.Model, s: dict[str, Array]) -> Array:
    """Σ m |g·c| of every state: what potential energy is made of."""
    poses = kn.body_poses(model, s["q"])
    total = np.zeros(len(s["q"]))
    for k, body in enumerate(model.bodies):
        m, h = float(body.inertia.mass), np.array([float(x) for x in body.inertia.h])
        total += 9.81 * np.abs(m * poses[:, k, 2, 3] + poses[:, k, 2, :3] @ h)
    return total


def drake_with(interpreter: str | None) -> Callable[..., Any] | None:
    """Drake in an interpreter of its own."""
    if interpreter is None:
        return None

    class Drake:
        def __init__(self, path: Path, base: str, joints: list[str], frame: str) -> None:
            self.task = {"text": plain_text(path), "base": base, "joints": np.array(joints), "frame": frame}
            self.base = base

        def compute(self, states: dict[str, Array]) -> dict[str, Array]:
            with tempfile.TemporaryDirectory() as folder:
                task, result = Path(folder) / "task.npz", Path(folder) / "result.npz"
                np.savez(task, **self.task, **states)
                script = str(Path(__file__).with_name("with_drake.py"))
                done = subprocess.run([interpreter, script, task, result], capture_output=True, text=True, check=False)
                if done.returncode:
                    raise LeftOutError((done.stderr.strip().splitlines() or ["it ended"])[-1][:90])
                with np.load(result) as found:
                    skipped = () if self.base == "floating" else ("potential_energy",)  # Drake counts a fixed base
                    return {name: found[name] for name in found if name not in skipped}

    return Drake


def references(count: int, only: str, drake: str | None) -> None:
    """Computes what is not there yet."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for path, base in subjects(only):
        target = place(path, base)
        if target.exists():
            with np.load(target) as kept:
                if len(kept["q"]) >= count:
                    continue
        begin = time.process_time()
        try:
            with precision(50):
                kept = reference(path, base, count, drake)
        except (kn.ModelError, ZeroDivisionError) as error:
            print(f"{target.stem}: left out, {str(error)[:100]}", flush=True)
            continue
        part = target.with_suffix(".part.npz")
        np.savez(part, **kept)
        part.replace(target)
        lost = [f"{name[5:]} ({kept[name]})" for name in kept if name.startswith("left/")]
        print(
            f"{target.stem}: {time.process_time() - begin:.0f} s{', without ' if lost else ''}{', '.join(lost)}",
            flush=True,
        )


def error(x: Array, exact: Array, scale: Array | None = None) -> Array:
    """The largest difference of each state, in parts of the largest entry."""
    high, low = (part.reshape(len(part), -1) for part in exact[:, : len(x)])
    difference = np.abs((x.reshape(len(x), -1).astype(float) - high) - low).max(axis=1)
    return difference / (np.abs(high).max(axis=1) if scale is None else scale[: len(x)])


def errors(only: str, compiled: bool) -> None:
    """The table of all libraries, into the results: small robots first."""
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {f"{row['folder']}-{row['robot']}-{row['base']}": row for row in rows}
    todo = [(read_as_usual(path, base), path, base) for path, base in subjects(only) if place(path, base).exists()]
    for model, path, base in sorted(todo, key=lambda subject: subject[0].nv):
        source = place(path, base)
        before = done.get(source.stem, {"errors": {}})
        with np.load(source) as loaded:
            kept = dict(loaded)
        known = before["errors"].get("inverse_dynamics", {})
        if not only and before.get("states") == len(kept["q"]) and ("knuckle" in known or not compiled):
            continue
        kept |= ours(model, kept, model.body_names[-1], compiled)
        row: dict[str, Any] = {"robot": path.stem, "folder": path.parent.parent.name, "base": base, "nv": model.nv}
        row |= {"states": len(kept["q"]), "condition": float(np.median(kept["condition"])), "errors": before["errors"]}
        row["left"] = {name[5:]: str(kept[name]) for name in kept if name.startswith("left/")}
        for key in kept:
            library, _, name = key.partition("/")
            if name in NAMES and not library.startswith(("exact", "scale", "left")):
                exact = kept.get(f"exact {library}/{name}", kept[f"exact/{name}"])
                found = error(kept[key], exact, kept["scale/potential_energy"] if name == "potential_energy" else None)
                row["errors"].setdefault(name, {})[library] = [float(np.median(found)), float(np.max(found))]
        done[source.stem] = row
        print(row["robot"], base, {k: f"{v[1]:.1e}" for k, v in row["errors"]["inverse_dynamics"].items()}, flush=True)
        RESULTS.write_text(json.dumps(list(done.values()), indent=1) + "\n")


def ours(model: kn.Model, s: dict[str, Array], frame: str, compiled: bool) -> dict[str, Array]:
    """knuckle in both precisions: its kernels, or the texts on NumPy's arrays.

    LLVM leaves kernels as they are printed, which is done sooner; optimized ones differ by half a rounding at most here
    and there.
    """
    kn.compilation.set_policy("always" if compiled else "never")
    machine_code.LEVEL = 0
    ending = "" if compiled else " text"
    found: dict[str, Array] = {}
    for name in NAMES:
        function, args = getattr(kn, name), arguments(name, s)
        short = [x.astype(np.float32) for x in args]
        found[f"knuckle{ending}/{name}"] = function(model, *args, **options(name, frame))
        found[f"knuckle float32{ending}/{name}"] = function(model, *short, **options(name, frame))
        if any((x != y).any() for x, y in zip(args, short, strict=True)):
            near = function(model, *(x.astype(float) for x in short), **options(name, frame))
            found[f"exact knuckle float32{ending}/{name}"] = np.stack([near, 0 * near])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("references", "texts", "errors"))
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--drake", help="an interpreter that has Drake")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.what == "references":
        references(chosen.states, chosen.only, chosen.drake)
    else:
        errors(chosen.only, chosen.what == "errors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
