"""An audit in a notebook: the verdict, and a table of what is to be known."""

from __future__ import annotations

from knuckle.model.audit.audit_report import LEVELS, Audit
from knuckle.model.parts import Note

from .html_pieces import FAINT, escaped, heading

_COLORS = {"error": "#c2455c", "warning": "#c77d1c", "info": "#808891"}


def audit_html(audit: Audit) -> str:
    """The findings and the notes of the reading, the worst first."""
    verdict = "fit for use" if audit.ok else "not fit for use as it is"
    about = f"{verdict}: {len(audit.errors)} errors, {len(audit.warnings)} warnings"
    notes = sorted((*audit.findings, *audit.reading), key=lambda note: LEVELS.index(note.level))
    rows = "".join(map(_row, dict.fromkeys(notes)))
    none = f'<div style="{FAINT}">Nothing to report.</div>'
    return heading(f"Audit of {audit.model.name}", about) + (
        f'<table style="font-size:90%">{rows}</table>' if rows else none
    )


def _row(note: Note) -> str:
    where = note.subject if note.line is None else f"{note.subject} (line {note.line})"
    cells = (
        f'<span style="color:{_COLORS[note.level]}">{note.level}</span>',
        f"<b>{escaped(where)}</b>",
        escaped(note.text),
    )
    return "<tr>" + "".join(f'<td style="text-align:left;vertical-align:top">{cell}</td>' for cell in cells) + "</tr>"
