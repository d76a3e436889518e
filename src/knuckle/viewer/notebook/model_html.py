"""A model in a notebook: what it is, its tree, its joints."""

from __future__ import annotations

import math
from collections.abc import Iterator

from knuckle.functions import total_mass
from knuckle.functions.loops.freedoms_at_start import freedoms_at_start
from knuckle.model import ROOT, Model
from knuckle.model.audit.audit_report import describe

from .html_pieces import FAINT, escaped, folded, heading, number, table
from .tree_drawing import MOST_ROWS, tree_svg

_OPEN = 14
"""Models of so many bodies show their tree and their joints at once; those of others open by a click."""


def model_html(model: Model) -> str:
    """The model, with a drawing of its tree and a table of its joints."""
    about = [f"{model.nb} bodies", f"{number(total_mass(model))} kg", f"nq = {model.nq}, nv = {model.nv}"]
    about += [f"{word}: {len(x)}" for x, word in ((model.loops, "loops"), (model.elements, "force elements")) if x]
    freedoms = freedoms_at_start(model)
    is_open = model.nb <= _OPEN
    tree = "tree" if model.nb < MOST_ROWS else f"tree, the first {MOST_ROWS} of {model.nb + 1}"
    parts = [
        heading(model.name, ", ".join(about)),
        f'<div style="{FAINT}">{escaped(freedoms)}</div>' if freedoms else "",
        folded(tree, tree_svg(model), is_open),
        folded("joints", table(("q", "joint", "type", "range", "body", "on", "mass [kg]"), _rows(model)), is_open),
    ]
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def _rows(model: Model) -> Iterator[tuple[str, ...]]:
    for i, joint in enumerate(model.joints):
        place = model.q_slices[i]
        width = place.stop - place.start
        where = "" if not width else str(place.start) if width == 1 else f"{place.start}–{place.stop - 1}"
        kind, axis = describe(joint.type)
        carrier = model.base.name if joint.parent == ROOT else model.bodies[joint.parent].name
        mass = number(model.bodies[i].inertia.mass)
        yield where, joint.name, f"{kind} {axis}".strip(), _range(model, i), model.bodies[i].name, carrier, mass


def _range(model: Model, i: int) -> str:
    """The limits of a joint of one variable."""
    limits = model.joints[i].limits
    if len(limits.lower) != 1:
        return ""
    low, high, unit = limits.lower[0], limits.upper[0], model.joints[i].type.q_units[0]
    return "" if high - low == math.inf else f"{low:.4g} … {high:.4g} {unit}".removesuffix(" 1")
