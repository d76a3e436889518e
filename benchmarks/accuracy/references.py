"""The states of a robot, the exact results of its file, and what the other libraries give.

A reference is the text in numbers of two doubles, which have thirty digits; in a few states, those with the largest
cond(H), the same is computed in fifty, and the largest difference is kept.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from others import AXES, LeftOutError, MuJoCo, Pinocchio
from same_mechanism import plain_text, read_as_usual, read_exactly
from world_variables import BaseAxes, rotation

import knuckle as kn
from knuckle.accuracy.exact_model import in_two_doubles
from knuckle.accuracy.reference_run import run, run_in_two_doubles
from knuckle.accuracy.two_doubles import TwoDoubles, two_doubles_of
from knuckle.scalar.structural import StructuralDivisionError

Array = np.ndarray[Any, Any]
Inputs = dict[str, Any]
"""By name an array with a row for each state, or a list of columns."""
NAMES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "kinetic_energy", "potential_energy",
)  # fmt: skip
IN_FIFTY = 5
"""States that are computed in fifty digits too."""


def single(x: Array) -> Array:
    """Doubles that single precision has too."""
    return x.astype(np.float32).astype(float)


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


def arguments(name: str, s: Inputs) -> list[Any]:
    names = {
        "inverse_dynamics": "q v a", "forward_dynamics": "q v tau", "kinetic_energy": "q v",
    }.get(name, "q")  # fmt: skip
    return [s[n] for n in names.split()]


def options(name: str, frame: str) -> dict[str, Any]:
    return {"frame": frame, "expressed_in": "aligned"} if name == "jacobian" else {}


def exact_results(model: kn.Model, s: Inputs, frame: str) -> dict[str, Array]:
    """Every function that the mechanism has, in two doubles on the first axis.

    Where a joint moves no inertia the mass matrix has no inverse, and forward dynamics no answer.
    """
    found: dict[str, Array] = {}
    for name in NAMES:
        try:
            found[name] = run_in_two_doubles(getattr(kn, name), model, arguments(name, s), **options(name, frame))
        except StructuralDivisionError:
            if name != "forward_dynamics":
                raise
    return found


def difference_from_fifty(exact: kn.Model, results: dict[str, Array], s: Inputs, frame: str, chosen: Array) -> float:
    """The largest difference of some states from fifty digits, in parts of the largest entry."""
    few = {name: x[chosen] for name, x in s.items()}
    worst = 0.0
    for name, found in results.items():
        right = run(getattr(kn, name), exact, arguments(name, few), **options(name, frame))
        high, low = found[:, chosen]
        size = np.abs(high).reshape(len(chosen), -1).max(axis=1)
        apart = np.abs(((right - high) - low).astype(float)).reshape(len(chosen), -1).max(axis=1)
        worst = max(worst, float((apart / np.where(size > 0, size, 1.0)).max()))
    return worst


def reference(path: Path, base: Any, count: int, drake: str | None) -> dict[str, Array]:
    """States, exact results and what others give, to be called in a precision of fifty digits."""
    exact = read_exactly(path, base)
    two = in_two_doubles(exact)
    joints, frame = [joint.name for joint in exact.joints], exact.body_names[-1]
    s = random_states(exact, count)
    s["tau"] = single(run_in_two_doubles(kn.inverse_dynamics, two, arguments("inverse_dynamics", s))[0])
    results = exact_results(two, s, frame)
    conditions = np.array([np.linalg.cond(H) for H in results["mass_matrix"][0]])
    kept: dict[str, Array] = dict(s)
    kept |= {f"exact/{name}": x for name, x in results.items()}
    kept["scale/potential_energy"] = weights(read_as_usual(path, base), s)
    kept["condition"] = conditions
    worst_states = np.argsort(-np.nan_to_num(conditions))[:IN_FIFTY]
    kept["from fifty digits"] = np.array(difference_from_fifty(exact, results, s, frame, worst_states))
    for library, make in (("Pinocchio", Pinocchio), ("MuJoCo", MuJoCo), ("Drake", drake_with(drake))):
        if make is None:
            continue
        try:
            own = make(path, base, joints, frame)
            if base == "fixed" or library == "Pinocchio":
                kept |= {f"{library}/{name}": x for name, x in own.compute(s).items()}
            else:
                theirs, exactly = in_their_variables(two, s, frame, AXES[library])
                kept |= {f"{library}/{name}": x for name, x in own.compute(theirs).items()}
                kept |= {f"exact {library}/{name}": x for name, x in exactly.items()}
        except LeftOutError as reason:
            kept[f"left/{library}"] = np.array(str(reason))
    return kept


def columns(x: Array) -> list[Any]:
    return list(x.T.copy())


def in_their_variables(
    two: kn.Model, s: dict[str, Array], frame: str, axes: BaseAxes
) -> tuple[dict[str, Array], dict[str, Array]]:
    """States of doubles in a library's variables, and the exact results for these very numbers, in its variables."""
    mine = {name: columns(x) for name, x in s.items()}
    near = rotation(mine["q"])
    theirs = {
        "q": mine["q"],
        "v": axes.outside(near, mine["v"]),
        "a": axes.acceleration_outside(near, mine["v"], mine["a"]),
        "tau": axes.outside(near, mine["tau"]),
    }
    many = {name: [two_doubles_of(x) for x in vector] for name, vector in theirs.items()}
    R = rotation(many["q"])
    v = axes.inside(R, many["v"])
    ours = {
        "q": many["q"], "v": v, "a": axes.acceleration_inside(R, v, many["a"]), "tau": axes.inside(R, many["tau"]),
    }  # fmt: skip
    results = exact_results(two, ours, frame)
    return {name: np.array(x).T for name, x in theirs.items()}, outside(results, ours, R, axes)


def outside(results: dict[str, Array], s: Inputs, R: list[list[Any]], axes: BaseAxes) -> dict[str, Array]:
    """Results in a library's variables of the base."""
    found = dict(results)
    found["inverse_dynamics"] = _joined(axes.outside(R, _apart(results["inverse_dynamics"])))
    if "forward_dynamics" in results:
        rates = axes.acceleration_outside(R, s["v"], _apart(results["forward_dynamics"]))
        found["forward_dynamics"] = _joined(rates)
    rows = [_apart(results["mass_matrix"][:, :, k]) for k in range(results["mass_matrix"].shape[2])]
    found["mass_matrix"] = np.stack([_joined(row) for row in axes.matrix_outside(R, rows)], axis=2)
    rows = [axes.outside(R, _apart(results["jacobian"][:, :, k])) for k in range(6)]
    found["jacobian"] = np.stack([_joined(row) for row in rows], axis=2)
    return found


def _apart(x: Array) -> list[TwoDoubles]:
    """Columns of two doubles."""
    return [TwoDoubles(x[0, :, k].copy(), x[1, :, k].copy()) for k in range(x.shape[2])]


def _joined(numbers: list[TwoDoubles]) -> Array:
    return np.stack([np.stack([x.high for x in numbers], axis=1), np.stack([x.low for x in numbers], axis=1)])


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
