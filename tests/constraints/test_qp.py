"""The least distance that constraints allow, against every choice of tight rows; and what happens without a solver."""

import importlib.util
import itertools
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import knuckle as kn
from knuckle.solvers import qp_packages
from knuckle.solvers.conjugate_gradients import bounded_gradients
from knuckle.solvers.qp_packages import SOLVERS, solver_named
from knuckle.solvers.quadratic_program import least_distance

NAMES = sorted(SOLVERS)
ROOT = Path(__file__).resolve().parents[2]


def by_trying(B: np.ndarray, c: np.ndarray, equalities: int) -> np.ndarray | None:
    """The least y by trying every set of tight rows: slow, and beyond doubt."""
    others, best = range(equalities, len(c)), None
    for count in range(len(c) - equalities + 1):
        for tight in itertools.combinations(others, count):
            rows = [*range(equalities), *tight]
            y = np.linalg.pinv(B[rows], rcond=1e-9) @ c[rows]
            off = B @ y - c
            fits = np.abs(off[rows]).max(initial=0.0) < 1e-8 and off[equalities:].min(initial=0.0) > -1e-8
            if fits and (best is None or y @ y < best @ best):
                best = y
    return best


def problem(rng: np.random.Generator, degenerate: bool) -> tuple[np.ndarray, np.ndarray, int]:
    n, equalities, others = int(rng.integers(2, 6)), int(rng.integers(0, 3)), int(rng.integers(1, 6))
    B = rng.standard_normal((equalities + others, n))
    if degenerate:
        B = np.vstack([B[:equalities], B[:equalities] @ np.eye(n), B[equalities:], 2 * B[equalities:][:2]])
        equalities *= 2
    inside = 2 * rng.standard_normal(n)
    c = B @ inside
    c[equalities:] -= rng.choice([0.0, 0.5], len(c) - equalities)
    return B, c, equalities


@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_least(name: str, degenerate: bool):
    pytest.importorskip(name)
    rng = np.random.default_rng(7)
    for _ in range(12):
        B, c, equalities = problem(rng, degenerate)
        found, wanted = least_distance(B, c, equalities, solver_named(name)), by_trying(B, c, equalities)
        assert wanted is not None
        assert found.status == "solved"
        size = 1 + np.abs(wanted).max()
        assert np.abs(found.y - wanted).max() < 1e-7 * size
        assert np.abs(B.T @ found.multipliers - found.y).max() < 1e-7 * size
        assert found.multipliers[equalities:].min(initial=0.0) >= 0


@pytest.mark.parametrize("name", NAMES)
def test_what_has_no_solution_is_told(name: str):
    """Rows that some weights add up to 0 ≥ 1 (Farkas)."""
    pytest.importorskip(name)
    rng = np.random.default_rng(3)
    for _ in range(10):
        B, c, equalities = problem(rng, False)
        weights = rng.random(len(c)) + 0.1
        B, c = np.vstack([B, -(weights @ B)]), np.append(c, 0.5 - weights @ c)
        found = least_distance(B, c, equalities, solver_named(name))
        assert found.status == "infeasible"
        assert np.isfinite(found.y).all()
        assert np.isfinite(found.multipliers).all()


def test_gradients_find_the_same():
    rng = np.random.default_rng(5)
    for degenerate in (False, True):
        for _ in range(15):
            B, c, equalities = problem(rng, degenerate)
            bounded = np.arange(len(c)) >= equalities
            found = bounded_gradients(lambda lam, B=B: B @ (B.T @ lam), c, bounded)
            wanted = by_trying(B, c, equalities)
            assert wanted is not None
            assert found.converged
            assert np.abs(B.T @ found.multipliers - wanted).max() < 1e-6 * (1 + np.abs(wanted).max())
            assert found.multipliers[bounded].min(initial=0.0) >= 0


def test_gradients_see_no_bottom():
    B, c = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0, 1.0])
    found = bounded_gradients(lambda lam: B @ (B.T @ lam), c, np.ones(3, bool))
    assert found.bottomless
    assert not found.converged
    assert np.isfinite(found.multipliers).all()


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch):
    """The error says what to install, and which way needs nothing. Equalities alone need no solver."""

    def missing(name: str) -> None:
        raise ImportError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(qp_packages, "importlib", SimpleNamespace(import_module=missing))
    arm, C = kn.robots.load("arm"), kn.constraints
    q, v, tau = kn.neutral(arm), np.zeros(arm.nv), np.zeros(arm.nv)
    wall = C.PlaneDistance("tool0", offset=float(kn.pose(arm, q, "tool0")[2, 3]) + 1.0, bound=">=")
    with pytest.raises(ImportError, match=r"daqp is not installed: .*install daqp.*method='iterative'"):
        kn.constraints.dynamics(arm, q, v, tau, [wall], stabilization=1.0)
    assert kn.constraints.dynamics(arm, q, v, tau, [wall], stabilization=1.0, method="iterative").solved
    assert kn.constraints.dynamics(arm, q, v, tau, [C.JointPosition(arm.joint_names[0])]).solved


def test_the_benchmark_tells_right_from_wrong():
    """It runs, and its measure of being right is one: a solution that is off by a millionth is wrong."""
    spec = importlib.util.spec_from_file_location("benchmark_of_solvers", ROOT / "benchmarks" / "qp.py")
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bench  # where its dataclasses look
    spec.loader.exec_module(bench)
    for problem in bench.problems(2, np.random.default_rng(0)):
        answer = bench.reduced("quadprog")(problem)
        assert (answer is not None) == problem.feasible
        assert bench.error(problem, answer) <= bench.RIGHT
        if answer is not None:
            assert bench.error(problem, (answer[0] * (1 + 1e-6), *answer[1:])) > bench.RIGHT
            assert bench.error(problem, None) == np.inf
