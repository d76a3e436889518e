"""Pieces of HTML for notebooks, light and dark: headings, tables, pages in a frame."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

FAINT = "color:#808891"
_CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top;border:none"


def escaped(text: object) -> str:
    """Text as HTML."""
    return html.escape(str(text))


def number(x: object) -> str:
    """A number in a few digits; a symbol as it is."""
    try:
        return f"{float(x):.4g}"  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return str(x)


def heading(title: str, about: str) -> str:
    """What an object is, and a line about it."""
    return f'<div><b>{escaped(title)}</b> <span style="{FAINT}">{escaped(about)}</span></div>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are plain text."""
    head = "".join(f'<th style="{_CELL};{FAINT};font-weight:normal">{escaped(name)}</th>' for name in columns)
    lines = ("".join(f'<td style="{_CELL}">{escaped(cell)}</td>' for cell in row) for row in rows)
    body = "".join(f'<tr style="background:none">{line}</tr>' for line in lines)
    return (
        f'<table style="border-collapse:collapse;font-size:90%;margin:4px 0"><tr style="background:none">{head}</tr>'
        f"{body}</table>"
    )


def folded(title: str, inside: str, is_open: bool) -> str:
    """A part that opens by a click."""
    return f"<details{' open' if is_open else ''}><summary>{escaped(title)}</summary>{inside}</details>"


def framed(page: str, height: int) -> str:
    """A whole page within the notebook, which cannot reach out of its frame."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:1px solid rgba(128,136,145,0.35);border-radius:6px"></iframe>'
    )


def linked(url: str, height: int) -> str:
    """A page that is served, within the notebook, and a link to it."""
    place = html.escape(url)
    return (
        f'<div><a href="{place}" target="_blank">{place}</a></div><iframe src="{place}" '
        f'style="width:100%;height:{height}px;border:1px solid rgba(128,136,145,0.35);border-radius:6px"></iframe>'
    )
