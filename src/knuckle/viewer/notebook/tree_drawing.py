"""A drawing of a model's tree: a row for each body, under what carries it, and loops as dashed lines."""

from __future__ import annotations

from collections.abc import Iterator

from knuckle.model import ROOT, Model
from knuckle.model.audit.audit_report import describe

from .html_pieces import escaped

_ROW, _STEP, _DOT = 20, 18, 5
_LETTER = 6.4
"""Width of a letter, about, in pixels."""
_COLORS = {"rad": "#d9661f", "m": "#2b7fb8"}
_SEVERAL, _BASE = "#2f9e6e", "#808891"
MOST_ROWS = 60


def tree_svg(model: Model) -> str:
    """The tree as SVG, of its first `MOST_ROWS` bodies in the order of the tree."""
    shown = list(_rows(model))[:MOST_ROWS]
    place: dict[int, tuple[float, float]] = {
        body: (12 + _STEP * depth, _ROW * (k + 0.5) + 4) for k, (body, depth) in enumerate(shown)
    }
    labels = {body: _label(model, body) for body, _ in shown}
    edge = max(x + 12 + _LETTER * (sum(map(len, labels[body])) + 2) for body, (x, _) in place.items())
    parts = [_link(place[model.parents[body]], place[body]) for body, _ in shown if body != ROOT]
    lines = [
        _loop(place, loop.predecessor, loop.successor, loop.name, edge + 14 * k) for k, loop in enumerate(model.loops)
    ]
    parts += [line for line in lines if line]
    for body, (x, y) in place.items():
        name, about = labels[body]
        parts.append(f'<circle cx="{x}" cy="{y}" r="{_DOT}" fill="{_color(model, body)}"/>')
        parts.append(
            f'<text x="{x + 11}" y="{y + 4}" fill="currentColor">{escaped(name)}'
            f'<tspan dx="8" fill="#808891">{escaped(about)}</tspan></text>'
        )
    width, height = edge + 14 * len(model.loops) + 30, _ROW * len(shown) + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-size="12" '
        f'font-family="sans-serif" style="max-width:100%">{"".join(parts)}</svg>'
    )


def _rows(model: Model) -> Iterator[tuple[int, int]]:
    """(body, depth), each body before those that it carries."""
    waiting = [(ROOT, 0)]
    while waiting:
        body, depth = waiting.pop()
        yield body, depth
        waiting += [(child, depth + 1) for child in reversed(model.children(body))]


def _label(model: Model, body: int) -> tuple[str, str]:
    if body == ROOT:
        return model.base.name, ""
    kind, axis = describe(model.joints[body].type)
    follows = ", follows" if body in model.coupled else ""
    return model.bodies[body].name, f"{model.joints[body].name}: {kind}{' ' + axis if axis else ''}{follows}"


def _color(model: Model, body: int) -> str:
    if body == ROOT:
        return _BASE
    units = model.joints[body].type.v_units
    return _COLORS.get(units[0], _SEVERAL) if len(units) == 1 else _SEVERAL


def _link(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (u, v) = start, end
    return f'<path d="M{x} {y}V{v}H{u}" fill="none" stroke="#808891" stroke-opacity="0.6"/>'


def _loop(place: dict[int, tuple[float, float]], first: int, second: int, name: str, x: float) -> str:
    """A dashed line beside the rows, from one body to the other."""
    if first not in place or second not in place:
        return ""
    y, z = place[first][1], place[second][1]
    return (
        f'<path d="M{x:.0f} {y}h10V{z}h-10" fill="none" stroke="#c2455c" stroke-dasharray="4 3">'
        f"<title>{escaped(name)}</title></path>"
    )
