"""What a careful engineer would want to know about a model before using it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.errors import printable
from knuckle.joints import Joint, Reversed
from knuckle.model.model import Model
from knuckle.model.parts import Note

from .body_checks import check_bodies
from .joint_checks import check_joints
from .survey import bulk, check_spatial, extent, neutral, positions, shapes_of
from .unit_checks import check_units

LEVELS = ("error", "warning", "info")


@dataclass(frozen=True, repr=False)
class Audit:
    """What is to be known about a model. `str(audit)` is a report; `findings` are what it is made of.

    `findings` come from looking at the model as it is; `reading` are the notes that were taken while it was read,
    merged and edited, such as tags that were ignored. `ok` says that neither has an error.
    """

    model: Model
    findings: tuple[Note, ...]

    @property
    def reading(self) -> tuple[Note, ...]:
        """The notes of the model's provenance."""
        return self.model.provenance.notes

    @property
    def errors(self) -> tuple[Note, ...]:
        """What keeps the model from working: physics that cannot be, dynamics that fail."""
        return self._of_level("error")

    @property
    def warnings(self) -> tuple[Note, ...]:
        """What is probably a mistake."""
        return self._of_level("warning")

    @property
    def infos(self) -> tuple[Note, ...]:
        """What is good to know."""
        return self._of_level("info")

    @property
    def ok(self) -> bool:
        """No errors."""
        return not self.errors

    def __repr__(self) -> str:
        counts = f"errors: {len(self.errors)}, warnings: {len(self.warnings)}, to know: {len(self.infos)}"
        return f"<knuckle audit of {self.model.name}: {counts}; print it for the report>"

    def _repr_html_(self) -> str:
        """In a notebook: the verdict, and a table of what is to be known."""
        from knuckle.viewer.notebook.audit_html import audit_html

        return audit_html(self)

    def _of_level(self, level: str) -> tuple[Note, ...]:
        """Findings, and notes of the reading on parts that no finding of this level is about."""
        found = [note for note in self.findings if note.level == level]
        about = {note.subject for note in found}
        return (*found, *(note for note in self.reading if note.level == level and note.subject not in about))

    def __str__(self) -> str:
        return report(self)


def audit(model: Model) -> Audit:
    """Examines a model: inertia, joints, limits, loops, units, geometry, and what happened to it on the way.

    `print(audit(model))` shows it; the errors, warnings and infos are there one by one, too.
    """
    check_spatial(model)
    now = model.at_time(0.0)
    findings = (*check_bodies(now), *check_joints(now), *check_units(now))
    return Audit(model, tuple(sorted(findings, key=lambda note: LEVELS.index(note.level))))


def report(audit: Audit) -> str:
    """The audit as text: what the model is, its joints, the findings by gravity, the notes of its reading."""
    lines = [*summary(audit.model), "", *joint_table(audit.model), ""]
    if not audit.findings:
        lines.append("Nothing to report.")
    for level, title in zip(LEVELS, ("Errors", "Warnings", "To know"), strict=True):
        lines += _section(title, [note for note in audit.findings if note.level == level])
    read = audit.reading
    lines += _section("Notes of its reading", sorted(read, key=lambda note: LEVELS.index(note.level)), levels=True)
    verdict = "fit for use" if audit.ok else "not fit for use as it is"
    lines.append(f"Errors: {len(audit.errors)}, warnings: {len(audit.warnings)}; {verdict}.")
    return "\n".join(map(printable, lines))


def summary(model: Model) -> list[str]:
    """What the model is, in a few lines."""
    bulks = [b for body in model.bodies if (b := bulk(body.inertia)) is not None]
    low, high = _heights(model)
    source = model.provenance.file
    lines = [
        f"{model.name}" + (f"  ({source})" if source else ""),
        f"  moving bodies: {model.nb}, nq: {model.nq}, nv: {model.nv}, frames: {len(model.frames)},"
        f" loops: {len(model.loops)}, coupled joints: {len(model.couplings)}"
        + (f", force elements: {len(model.elements)}" if model.elements else "")
        + (f", deformables: {len(model.deformables)}" if model.deformables else ""),
        f"  mass {sum(b.mass for b in bulks):.6g} kg; from {low:.3g} m to {high:.3g} m high at the neutral position",
    ]
    if model.keyframes:
        lines.append(f"  keyframes: {', '.join(key.name for key in model.keyframes)}")
    if b := bulk(model.base.inertia):
        lines.append(f"  base {model.base.name!r}" + (f", {b.mass:.6g} kg, does not move" if b.mass else ""))
    return lines


def _heights(model: Model) -> tuple[float, float]:
    """The lowest and highest z of body origins, frames and shapes of known size at the neutral position."""
    model = model.at_time(0.0)
    X = positions(model, neutral(model))
    heights = [0.0, *(float(x.r[2]) for x in X.values())]
    heights += [float((frame.X @ X[frame.body]).r[2]) for frame in model.frames]
    for i, body in enumerate(model.bodies):
        if box := extent(shapes_of(body)):
            corners = ((x, y, z) for x in (box.low[0], box.high[0]) for y in (box.low[1], box.high[1])
                       for z in (box.low[2], box.high[2]))  # fmt: skip
            heights += [float(X[i].inv.point(corner)[2]) for corner in corners]
    return min(heights), max(heights)


def joint_table(model: Model) -> list[str]:
    """One line per joint: number, name, type, axis, limits, what carries it."""
    rows = [("", "joint", "type", "axis", "limits", "moves", "on")]
    for i, joint in enumerate(model.joints):
        parent = model.base.name if joint.parent < 0 else model.body_names[joint.parent]
        kind, axis = describe(joint.type)
        rows.append((str(i), joint.name, kind, axis, _limits(joint.limits), model.body_names[i], parent))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  " + "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def describe(kind: Joint) -> tuple[str, str]:
    """A joint's type and its axis in words."""
    if isinstance(kind, Reversed):
        name, axis = describe(kind.joint)
        return f"{name}, reversed", axis
    axis: Any = getattr(kind, "axis", None) or getattr(kind, "normal", None)
    return type(kind).__name__.lower(), "" if axis is None else _axis(axis)


def _axis(axis: Sequence[float]) -> str:
    for k, name in enumerate("xyz"):
        if abs(axis[k]) == 1:
            return name if axis[k] > 0 else f"−{name}"
    return " ".join(f"{x:.3g}" for x in axis)


def _limits(limits: Any) -> str:
    pairs = [f"{low:.4g} … {high:.4g}" for low, high in zip(limits.lower, limits.upper, strict=True)]
    return "; ".join("none" if pair == "-inf … inf" else pair for pair in pairs) if len(pairs) < 3 else ""


def _section(title: str, notes: Sequence[Note], *, levels: bool = False, most: int = 40) -> list[str]:
    """Notes under a title; those that say the same of several parts as one."""
    if not notes:
        return []
    grouped: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        where = note.subject if note.line is None else f"{note.subject} (line {note.line})"
        grouped.setdefault((note.level, note.text), []).append(where)
    lines = [f"{title}:"]
    for (level, text), subjects in list(grouped.items())[:most]:
        names = ", ".join(subjects[:6]) + (f" and {len(subjects) - 6} more" if len(subjects) > 6 else "")
        mark = f"{level}: " if levels and level != "info" else ""
        lines.append(f"  - {mark}{names}: {text}")
    if len(grouped) > most:
        lines.append(f"  - and {len(grouped) - most} more")
    return [*lines, ""]
