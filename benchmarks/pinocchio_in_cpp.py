"""Pinocchio without Python: `pinocchio_loop.cpp`, compiled from the headers of its wheel where that can be done.

It takes g++ and Eigen (`pip install cmeel-eigen`), and a minute or two; what was compiled is kept among the system's
temporary files.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SOURCE = Path(__file__).with_name("pinocchio_loop.cpp")
BUILDS = {"C++": (), "C++, native": ("-march=native",)}
"""Ways to compile: for processors of any age, as the wheel is, and for this one."""
OPTIONS = (
    "-std=c++17", "-O3", "-DNDEBUG", "-w",
    "-fPIC", "-shared", "-fvisibility=hidden", "-fno-gnu-unique", "-Wl,-Bsymbolic",
    # as Pinocchio's own build has them: there are many kinds of joints
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)  # fmt: skip
KINDS = {"JointModelRX": 1, "JointModelRY": 2, "JointModelRZ": 3, "JointModelFreeFlyer": 4}


class NotThereError(Exception):
    """What is missing to compile it."""


def build() -> None:
    """Compiles all that is not there yet, side by side. Raises `NotThereError`."""
    compiler, folders = shutil.which("g++"), _headers()
    if compiler is None:
        raise NotThereError("no g++")
    running = list[tuple[Path, subprocess.Popen[str]]]()
    for name in BUILDS:
        if (path := _library(name)).exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        own = path.with_suffix(f".{os.getpid()}")
        command = [compiler, *OPTIONS, *BUILDS[name], *(f"-I{x}" for x in folders), str(SOURCE), "-o", str(own)]
        print(f"compiling Pinocchio's loop ({name}): a minute or two", file=sys.stderr, flush=True)
        running.append((path, subprocess.Popen(command, stderr=subprocess.PIPE, text=True)))
    for path, process in running:
        said = process.communicate()[1]
        if process.returncode:
            raise NotThereError("it does not compile: " + next((x for x in said.splitlines() if "error" in x), said))
        path.with_suffix(f".{os.getpid()}").rename(path)


def built() -> tuple[str, ...]:
    """Those that are there."""
    return tuple(name for name in BUILDS if _library(name).exists())


@dataclass(frozen=True)
class Loop:
    """The derivatives of a model's dynamics for all states of some arrays, by v for the last of them."""

    library: ctypes.CDLL
    robot: int
    nv: int

    def __call__(self, is_inverse: bool, q: Array, v: Array, x: Array) -> Array:
        by_v, count = np.empty((self.nv, self.nv)), len(q)
        pointers = (y.ctypes.data for y in (q, v, x, by_v))
        self.library.derivatives(self.robot, int(is_inverse), count, *map(ctypes.c_void_p, pointers))
        return by_v.T


def loop(name: str, model: Any) -> Callable[[bool, Array, Array, Array], Array]:
    """The loop of a build for a model as Pinocchio has it."""
    library = ctypes.CDLL(str(_library(name)))
    word, pointer = ctypes.c_long, ctypes.c_void_p
    library.robot_of.argtypes, library.robot_of.restype = [word, word, pointer, pointer], pointer
    library.derivatives.argtypes, library.derivatives.restype = [pointer, ctypes.c_int, word, *[pointer] * 4], None
    rows, gravity = _rows(model), np.ascontiguousarray(model.gravity.linear, dtype=float)
    robot = library.robot_of(*rows.shape, rows.ctypes.data, gravity.ctypes.data)
    return Loop(library, robot, model.nv)


def _rows(model: Any) -> Array:
    """What the loop is told of each joint."""
    rows: list[Array] = []
    for i in range(1, model.njoints):
        joint, place, inertia = model.joints[i], model.jointPlacements[i], model.inertias[i]
        kind = joint.shortname()
        if kind not in KINDS and kind != "JointModelRevoluteUnaligned":
            raise ValueError(f"pinocchio_loop.cpp knows no {kind}, of which {model.names[i]!r} is one")
        axis = np.zeros(3) if kind in KINDS else joint.extract().axis
        parts = [model.parents[i], KINDS.get(kind, 0)], axis, place.rotation.ravel(), place.translation
        rows.append(np.concatenate([*parts, [inertia.mass], inertia.lever, inertia.inertia.ravel()]))
    return np.ascontiguousarray(rows, dtype=float)


def _headers() -> list[Path]:
    """Where the headers of Pinocchio and Eigen are."""
    pinocchio = find_spec("pinocchio")
    if pinocchio is None or pinocchio.origin is None:
        raise NotThereError("no Pinocchio")
    prefix = next((p for p in Path(pinocchio.origin).parents if (p / "include" / "pinocchio").is_dir()), None)
    if prefix is None:
        raise NotThereError("no headers of Pinocchio in its wheel")
    places = [prefix / "include", Path("/usr/include"), Path("/usr/local/include")]
    eigen = next((p / "eigen3" for p in places if (p / "eigen3" / "Eigen").is_dir()), None)
    if eigen is None:
        raise NotThereError("no Eigen: pip install cmeel-eigen")
    return [prefix / "include", eigen]


def _library(name: str) -> Path:
    """Where a build is kept: for this text, these options and this Pinocchio."""
    said = [SOURCE.read_text("utf-8"), *OPTIONS, *BUILDS[name], metadata.version("pin")]
    key = hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / "knuckle-benchmarks" / f"pinocchio_{key}.so"
