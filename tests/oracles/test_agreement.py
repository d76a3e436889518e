"""Real robots against Pinocchio and MuJoCo; benchmarks/agreement.py prints the whole table."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from knuckle.testing.oracles.other_libraries import (
    Errors,
    against_mujoco,
    against_pinocchio,
    derivatives_against_pinocchio,
    outcome,
    robot_files,
)

from ..seeds import quick

LIMIT = 1e-9
FILES = robot_files()
QUICK_DERIVATIVES = ("xarm7.urdf", "anymal.urdf")
ALLOWED = (
    "Pinocchio does not load it",
    "MuJoCo does not load it",
    "no moving joint",
    "MuJoCo drops the rotational inertia",
    "knuckle refuses it: ur3.urdf",  # a file without links, which MuJoCo takes for an empty world
)


def small(result: Errors | str) -> bool:
    if isinstance(result, str):
        return result.startswith(ALLOWED)
    return all(math.isnan(x) or x < LIMIT for x in result.values())


def name(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.name}"


def test_there_are_robots() -> None:
    assert len(FILES) > 60


@pytest.mark.sampled
@pytest.mark.parametrize("path", quick(FILES, FILES[::3]), ids=name)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_agrees_with_pinocchio(path: Path, base: str) -> None:
    result = outcome(lambda: against_pinocchio(path, base, states=1))  # type: ignore[arg-type]
    assert small(result), result


@pytest.mark.parametrize("path", quick(FILES, [f for f in FILES if f.name in QUICK_DERIVATIVES]), ids=name)
@pytest.mark.parametrize("base", quick(["fixed", "floating"], ["floating"]))
def test_derivatives_agree_with_pinocchio(path: Path, base: str) -> None:
    result = outcome(lambda: derivatives_against_pinocchio(path, base))  # type: ignore[arg-type]
    assert small(result), result


@pytest.mark.parametrize("path", quick(FILES, FILES[1::3]), ids=name)
def test_agrees_with_mujoco(path: Path) -> None:
    result = outcome(lambda: against_mujoco(path, states=1))
    assert small(result), result


@pytest.mark.parametrize("every", quick([6, 1], []))
def test_most_files_are_compared(every: int) -> None:
    """Leaving files out is the exception: nearly all for Pinocchio, half for MuJoCo, which refuses odd inertias."""
    files = FILES[::every]
    pinocchio = [outcome(lambda f=f: against_pinocchio(f, "floating", states=1)) for f in files]
    mujoco = [outcome(lambda f=f: against_mujoco(f, states=1)) for f in files]
    assert sum(not isinstance(r, str) for r in pinocchio) >= len(files) - 3
    assert sum(not isinstance(r, str) for r in mujoco) >= len(files) // 2
