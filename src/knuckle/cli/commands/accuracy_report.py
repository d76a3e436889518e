"""`knuckle accuracy`: the study as JSON, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from knuckle.accuracy import AccuracyReport
from knuckle.cli.output.demo_plot import can_plot
from knuckle.extras import install


def as_json(report: AccuracyReport) -> dict[str, Any]:
    """The study as dicts and lists."""
    return {
        "name": report.model.name,
        "states": len(report.state["q"]),
        "digits": report.digits,
        "errors": [
            {
                "function": e.function,
                "precision": e.precision,
                "median": e.median,
                "worst": e.worst,
                "condition": float(np.median(e.condition)),
            }
            for e in report.errors
        ],
        "mass_matrix_condition": float(np.median(report.mass_matrix_condition)),
        "sensitivities": [vars(row) for row in report.sensitivities],
        "remedies": [vars(remedy) for remedy in report.remedies],
    }


def picture(report: AccuracyReport, path: Path | None, file: str) -> str:
    """Writes the picture, and says where; or how to get what it needs."""
    if not can_plot():
        return f"No picture: matplotlib is not installed: {install('plot')}"
    out = path or Path(f"{Path(file).stem}_accuracy.png")
    report.plot(out)
    return f"Picture: {out}"
