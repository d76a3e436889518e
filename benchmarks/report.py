"""Puts the tables of a results file into README.md and docs/speed.md, between their markers.

    python benchmarks/report.py

`benchmarks/run.py` does so by itself when it writes to `benchmarks/results`.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def pages(results: dict[str, Any]) -> dict[Path, str]:
    """What each page shows of the results."""
    short = "\n\n".join([table.summary(results), f"{table.machine(results)} {table.noise(results)}"])
    return {ROOT / "README.md": short, ROOT / "docs" / "speed.md": table.everything(results).strip()}


def filled(page: str, text: str, name: str = "results") -> str:
    """A page with the text between the markers of this name."""
    begin, end = (f"<!-- {name}: {where} -->" for where in ("begin", "end"))
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", page, count=1, flags=re.DOTALL)


def main() -> None:
    results = json.loads((RESULTS / "speed.json").read_text("utf-8"))
    for path, text in pages(results).items():
        path.write_text(filled(path.read_text("utf-8"), text), "utf-8")
    shutil.copyfile(RESULTS / "speed.png", ROOT / "docs" / "speed.png")


if __name__ == "__main__":
    main()
