"""How many digits are right: every robot of example-robot-data, against the file in thirty digits.

    python benchmarks/accuracy/robots.py references [--states 1000] [--only talos] [--drake PYTHON]
    python benchmarks/accuracy/robots.py texts [--only talos]          # knuckle's texts, and the table as JSON
    python benchmarks/accuracy/robots.py errors [--only talos]         # the same of its kernels, which takes longer

The first command computes the references (`references.py`) and what the other libraries give, robot by robot, and keeps
both in `build/accuracy`: it goes on where it was stopped, and need not be repeated when knuckle changes. The others run
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
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from references import NAMES, arguments, options, reference
from same_mechanism import read_as_usual

import knuckle as kn
from knuckle.accuracy.many_digits import precision
from knuckle.engine.native import machine_code
from knuckle.testing.oracles.other_libraries import robot_files

Array = np.ndarray[Any, Any]
CACHE = Path("build/accuracy/robots")
RESULTS = Path(__file__).resolve().parent.parent / "results" / "accuracy_robots.json"


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
        except kn.ModelError as error:
            print(f"{target.stem}: left out, {str(error)[:100]}", flush=True)
            continue
        part = target.with_suffix(".part.npz")
        np.savez(part, **kept)
        part.replace(target)
        lost = [f"{name[5:]} ({kept[name]})" for name in kept if name.startswith("left/")]
        print(
            f"{target.stem}: {time.process_time() - begin:.0f} s, {float(kept['from fifty digits']):.0e} from fifty "
            f"digits{', without ' if lost else ''}{', '.join(lost)}",
            flush=True,
        )


def error(x: Array, exact: Array, scale: Array | None = None) -> Array:
    """The largest difference of each state, in parts of the largest entry."""
    high, low = (part.reshape(len(part), -1) for part in exact[:, : len(x)])
    difference = np.abs((x.reshape(len(x), -1).astype(float) - high) - low).max(axis=1)
    return difference / (np.abs(high).max(axis=1) if scale is None else scale[: len(x)])


def write(rows: list[dict[str, Any]]) -> None:
    """One line for each robot and base."""
    RESULTS.write_text("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")


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
        same = before.get("states") == len(kept["q"])
        if not only and same and ("knuckle" if compiled else "knuckle text") in known:
            continue
        begin = time.process_time()
        kept |= ours(model, kept, model.body_names[-1], compiled)
        row: dict[str, Any] = {"robot": path.stem, "folder": path.parent.parent.name, "base": base, "nv": model.nv}
        row |= {"states": len(kept["q"]), "condition": _short(np.median(kept["condition"]))}
        row |= {"from fifty digits": _short(kept["from fifty digits"]), "errors": before["errors"] if same else {}}
        row["left"] = {name[5:]: str(kept[name]) for name in kept if name.startswith("left/")}
        for key in kept:
            library, _, name = key.partition("/")
            if f"exact/{name}" in kept and not library.startswith(("exact", "scale", "left")):
                exact = kept.get(f"exact {library}/{name}", kept[f"exact/{name}"])
                found = error(kept[key], exact, kept["scale/potential_energy"] if name == "potential_energy" else None)
                row["errors"].setdefault(name, {})[library] = [_short(np.median(found)), _short(np.max(found))]
        done[source.stem] = row
        shown = {k: f"{v[1]:.1e}" for k, v in row["errors"]["inverse_dynamics"].items()}
        print(row["robot"], base, f"{time.process_time() - begin:.0f} s", shown, flush=True)
        write(list(done.values()))


def _short(x: Any) -> float | None:
    """Three digits; nothing for what is no number."""
    return float(f"{float(x):.3g}") if np.isfinite(x) else None


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
        if f"exact/{name}" not in s:
            continue
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
