"""One mechanism: every way checked against knuckle's plain text, then timed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ours
import with_casadi
from subjects import States, Subject, states
from timing import Case, time_of
from with_mujoco import MuJoCo
from with_pinocchio import Pinocchio

from knuckle.engine.kernels.kernel_registry import set_policy as set_compilation
from knuckle.testing.laws import relative

FEW = 16
"""States for which results are compared."""
LIMIT, LIMIT_32 = 1e-9, 1e-3
"""Largest relative difference that counts as the same result, in double and in single precision."""


class DisagreementError(Exception):
    """Two ways give different results: their times cannot be compared."""


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int
    seconds: float
    casadi: bool


def measure(subject: Subject, effort: Effort, folder: Path) -> dict[str, Any]:
    """The record of a mechanism: its size, all times, and what was left out."""
    batch = states(subject.model, subject.batch)
    few = min(FEW, len(batch.q))
    peers: dict[str, Any] = {"Pinocchio": Pinocchio(subject, batch, few), "MuJoCo": MuJoCo(subject, batch, few)}
    rows: list[dict[str, Any]] = []
    left_out: list[dict[str, str]] = []
    for function in ours.FUNCTIONS:
        cases = list(ours.cases(subject, function, batch, few))
        for peer in peers.values():
            cases += peer.cases(function)
        if effort.casadi:
            try:
                cases += with_casadi.cases(subject, function, batch, few, folder)
            except with_casadi.LeftOutError as reason:
                left_out.append({"library": "CasADi's C", "function": function, "reason": str(reason)})
        errors = list(_errors(subject, function, cases, batch.first(few)))
        for case, error, time in zip(cases, errors, time_of(cases, effort.rounds, effort.seconds), strict=True):
            said = {name: getattr(case, name) for name in ("function", "library", "setting", "way")}
            rows.append({**said, **asdict(time), "error": error})
    model = subject.model
    sizes = {"bodies": model.nb, "nq": model.nq, "nv": model.nv, "batch": subject.batch, "frame": subject.frame}
    return {"name": subject.name, "title": subject.title, **sizes, "rows": rows, "left out": left_out}


def _errors(subject: Subject, function: str, cases: list[Case], few: States) -> Iterator[float]:
    """How far each result is from that of the plain text."""
    set_compilation("never")
    reference = ours.evaluator(subject, function)(*ours.arguments(function, few))
    set_compilation("always")
    for case in cases:
        error = relative(np.asarray(case.result(), dtype=float) - reference, reference)
        limit = LIMIT_32 if "float32" in case.library else LIMIT
        if not error < limit:
            where = f"{function} of {subject.name}"
            raise DisagreementError(f"{where}: {case.library} ({case.way}) is {error:.1e} from the plain text")
        yield float(error)
