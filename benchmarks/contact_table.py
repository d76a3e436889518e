"""Contact beside MuJoCo and Drake: how far each is off where the answer is known.

    python benchmarks/contact_table.py [--drake python] [--only row …] [--out folder]

Scenes are those of contact_cases.py, with steps of a millisecond if nothing else is said: knuckle by steps (what
`kn.simulate` chooses), by steps of the second order (`ContactSteps(extrapolated=True)`) and from event to event; MuJoCo
with its defaults, and tuned (elliptic cones, impratio 100, ten
iterations without slip, contacts five steps stiff); Drake's lagged and SAP approximations. --drake names an interpreter
that has Drake; without one it is left out. Then the residuals of ContactBench, contact_residuals.py. Prints a table;
with --out also writes contact_table.json and contact_table.md, and some rows into docs/contact.md where that is
benchmarks/results. Exits with 1 where knuckle is beyond a tolerance.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import contact_with_knuckle as ours
import contact_with_mujoco as mujoco
import machine
from contact_cases import ROWS, Case, Motion, Row
from contact_residuals import heap, residuals
from report import RESULTS, ROOT, filled
from table import grid
from table import machine as machine_line

HERE = Path(__file__).resolve().parent
OURS = ("knuckle, steps", "knuckle, second order", "knuckle, events")
SHORTER = 8
"""By how much shorter the steps are that tell their order."""
OTHERS = ("MuJoCo", "MuJoCo, tuned", "Drake, lagged", "Drake, SAP")
MEASURES = {
    "primal": "four balls thrown together: impulse out of its cone, mean",
    "dual": "four balls thrown together: into each other, mean, m/s",
    "complementarity": "four balls thrown together: complementarity, mean, m/s",
}
SHOWN = (
    "stick", "slip", "bowled", "bowled, when", "bounces", "e = 1", "rocking", "push", "stops", "soft", "momentum",
    "energy", "stack", "dual", "complementarity",
)  # fmt: skip
"""The rows that docs/contact.md shows."""
ROUNDING = 1e-15
"""What is nearer is no nearer."""
REASONS = {
    "cradle, in turn": 'steps have Moreau\'s law, at once; RigidContacts(order="sequential") has the other one',
    "bowled, when": "steps are of the first order: half a step of what v changes by",
    "bounces": "each bounce is found to a step, and nine of them add up; events find the instants",
    "wall": "steps strike from where the step begins",
    "rocking": "steps are of the first order: an impact is found to a step",
    "stops": "steps are of the first order: half a step of v",
    "energy": "gravity works on the velocity at the end of a step: up to m g dt v at a bounce, and back in flight",
}
"""Why steps are farther off than some other, where they are."""


def by_drake(python: str | None, kind: str, chosen: list[str]) -> dict[str, Any]:
    """Its errors, from an interpreter that has it."""
    if python is None:
        return {}
    command = [python, str(HERE / "contact_with_drake.py"), kind, *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    if done.returncode:
        print(f"Drake is left out: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def measured(row: Row, run: Callable[..., Any]) -> float | str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(row.error(run))
        except Exception as error:  # a scene that it cannot have
            return f"{type(error).__name__}: {error}"[:200]


def remembered(run: Callable[[Case], Motion]) -> Callable[[Case], Motion]:
    """Scenes that several rows look at run once."""
    known: dict[str, Motion] = {}

    def once(case: Case) -> Motion:
        if repr(case) not in known:
            known[repr(case)] = run(case)
        return known[repr(case)]

    return once


def measure(chosen: list[str], python: str | None) -> list[dict[str, Any]]:
    drakes = {f"Drake, {name}": by_drake(python, kind, chosen) for name, kind in (("lagged", "lagged"), ("SAP", "sap"))}
    rows: list[dict[str, Any]] = []
    steps, second, events = map(remembered, (ours.by_steps, ours.by_second_order, ours.by_events))
    shorter = remembered(lambda case: ours.by_steps(replace(case, dt=case.dt / SHORTER)))
    default, tuned = (remembered(partial(mujoco.run, is_tuned=x)) for x in (False, True))
    for name in chosen:
        row = ROWS[name]
        errors: dict[str, Any] = {
            "knuckle, steps": measured(row, steps),
            "knuckle, second order": measured(row, second) if row.is_for_all else None,
            "knuckle, events": measured(row, events) if row.is_for_all else None,
            "MuJoCo": measured(row, default),
            "MuJoCo, tuned": measured(row, tuned),
            **{kind: found.get(name) for kind, found in drakes.items()},
        }
        limits = dict(zip(OURS, (row.steps, None, row.events), strict=True))
        found = {"name": name, "title": row.title, "unit": row.unit, "errors": errors, "tolerances": limits}
        if row.is_first_order:
            found["order"] = math.log(errors["knuckle, steps"] / float(row.error(shorter))) / math.log(SHORTER)
        rows.append(found)
        print(f"{name}: " + ", ".join(f"{who} {_digits(x)}" for who, x in errors.items()), flush=True)
    case = heap()
    found = {
        "knuckle, steps": residuals(case, ours.pushes(case)),
        "MuJoCo": residuals(case, mujoco.pushes(case, is_tuned=False)),
        "MuJoCo, tuned": residuals(case, mujoco.pushes(case, is_tuned=True)),
        **{kind: given["residuals"] for kind, given in drakes.items() if "residuals" in given},
    }
    for name, title in MEASURES.items():
        errors = {who: found.get(who, {}).get(name) for who in (*OURS, *OTHERS)}
        rows.append({"name": name, "title": title, "unit": "", "errors": errors, "tolerances": dict.fromkeys(OURS)})
    return rows


def _digits(x: Any) -> str:
    if x is None or isinstance(x, str) or (isinstance(x, float) and math.isnan(x)):
        return "" if x is None else "no"
    return "0" if x == 0 else f"{x:.0e}".replace("e-0", "e-").replace("e+00", "")


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """Where knuckle is beyond a tolerance."""
    found: list[str] = []
    for row in rows:
        for who in OURS:
            x, limit = row["errors"][who], row["tolerances"][who]
            if limit is not None and (not isinstance(x, float) or not x <= limit):
                found.append(f"{row['name']}, {who}: {x}, and {limit:g} is asked")
    return found


def larger(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Rows in which another is nearer than the best of knuckle, and those in which one is nearer than its steps."""
    found: dict[str, list[str]] = {"both": [], "steps": []}
    for row in rows:
        measured = {who: x for who, x in row["errors"].items() if isinstance(x, float) and not math.isnan(x)}
        numbers = {who: max(x, ROUNDING) for who, x in measured.items()}
        others = min((x for who, x in numbers.items() if who in OTHERS), default=math.inf)
        if min((x for who, x in numbers.items() if who in OURS), default=math.inf) > others:
            found["both"].append(row["name"])
        elif numbers.get("knuckle, steps", 0.0) > others:
            found["steps"].append(row["name"])
    return found


def short_page(rows: list[dict[str, Any]]) -> str:
    """Some rows, without tolerances."""
    named = {row["name"]: row for row in rows}
    lines = [
        [_title(row), *(_digits(row["errors"][who]) for who in (*OURS, *OTHERS))]
        for row in map(named.get, SHOWN)
        if row
    ]
    return grid(["case", *OURS, *OTHERS], lines)


def _title(row: dict[str, Any]) -> str:
    return f"{row['title']}{', ' + row['unit'] if row['unit'] else ''}"


def page(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    rows = results["rows"]
    lines = [
        [_title(row)] + [_with(row, who) for who in OURS] + [_digits(row["errors"][who]) for who in OTHERS]
        for row in rows
    ]
    last = larger(rows)
    notes = [
        "Errors; steps of 1 ms if nothing else is said. In brackets: what is asked of knuckle. Nothing where a way has "
        "no such scene or number. MuJoCo and Drake have no restitution as a number: their springs and dampers are "
        "chosen so that a ball alone would leave with it."
    ]
    if last["steps"]:
        notes.append("knuckle's steps are farther off than another, and another way of knuckle is nearer than all:")
        notes.append("\n".join(f"- {_reason(row)}." for row in rows if row["name"] in last["steps"]))
    if beyond := missed(rows):
        notes.append("Beyond what is asked:")
        notes.append("\n".join(f"- {text}" for text in beyond))
    names = ", ".join(MEASURES.get(name) or ROWS[name].title for name in last["both"])
    notes.append(
        f"Another is nearer than knuckle in: {names}." if names else "Nothing is nearer than the nearer of knuckle's."
    )
    heading = ["case", *OURS, *OTHERS]
    return "\n\n".join([machine_line(results), notes[0], grid(heading, lines), *notes[1:]])


def _reason(row: dict[str, Any]) -> str:
    """Why steps are farther off than another, with their order, where that is why."""
    text = f"{row['title']}: {REASONS.get(row['name'], 'steps are of the first order')}"
    if "order" not in row:
        return text
    second = row["errors"]["knuckle, second order"]
    return (
        f"{text}. With steps {SHORTER} times shorter their order is {row['order']:.2f}; ContactSteps(extrapolated=True)"
        f" leaves {_digits(second)}"
    )


def _with(row: dict[str, Any], who: str) -> str:
    limit = row["tolerances"][who]
    return _digits(row["errors"][who]) + (f" ({limit:.0e})".replace("e-0", "e-") if limit is not None else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drake", default=None, help="an interpreter that has Drake")
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS), help="some rows only")
    parser.add_argument("--out", type=Path, default=None, help="where the results go")
    chosen = parser.parse_args()
    results: dict[str, Any] = {"machine": machine.description(), "rows": measure(chosen.only, chosen.drake)}
    before = chosen.out / "contact_table.json" if chosen.out is not None else None
    if before is not None and before.exists() and len(chosen.only) < len(ROWS):  # the other rows stay
        known = {row["name"]: row for row in json.loads(before.read_text("utf-8"))["rows"]}
        known |= {row["name"]: row for row in results["rows"]}
        results["rows"] = [known[name] for name in (*ROWS, *MEASURES) if name in known]
    results["machine"]["load at end"] = machine.load()
    print("", page(results), sep="\n")
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
        (chosen.out / "contact_table.json").write_text(text, "utf-8")
        (chosen.out / "contact_table.md").write_text(page(results) + "\n", "utf-8")
        if chosen.out.resolve() == RESULTS:
            docs = ROOT / "docs" / "contact.md"
            docs.write_text(filled(docs.read_text("utf-8"), short_page(results["rows"])), "utf-8")
    bad = missed(results["rows"])
    print("\n".join(bad))
    return min(len(bad), 1)


if __name__ == "__main__":
    sys.exit(main())
