"""`knuckle check`: the audit, in colours or as JSON."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from knuckle.model import Audit, Note

_LEVELS = ("error", "warning", "info")
_STYLES = {"Errors:": "red", "Warnings:": "yellow"}


def as_json(audit: Audit) -> dict[str, Any]:
    """The audit as dicts and lists; `from` says whether the model or its reading shows it."""
    notes = [("model", note) for note in audit.findings] + [("reading", note) for note in audit.reading]
    return {
        "name": audit.model.name,
        "file": audit.model.provenance.file,
        "ok": audit.ok,
        **{f"{level}s": [_note(where, note) for where, note in notes if note.level == level] for level in _LEVELS},
    }


def _note(where: str, note: Note) -> dict[str, Any]:
    return {"subject": note.subject, "line": note.line, "text": note.text, "from": where}


def as_text(audit: Audit) -> Text:
    """The report, its errors in red and its warnings in yellow."""
    text, style = Text(), ""
    lines = str(audit).splitlines()
    for k, line in enumerate(lines):
        if not line.startswith(" "):
            style = _STYLES.get(line, "")
        heading = k == 0 or (line.endswith(":") and not line.startswith(" "))
        own = _level_style(line) or style
        verdict = ("bold green" if audit.ok else "bold red") if k == len(lines) - 1 else ""
        text.append(f"{line}\n", style=verdict or (f"bold {style}".strip() if heading else own))
    return text


def _level_style(line: str) -> str:
    """The style of a note that names its own level."""
    return "red" if line.startswith("  - error: ") else "yellow" if line.startswith("  - warning: ") else ""
