"""`knuckle convert`: a model in another format, and what was lost on the way."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from knuckle.cli.failures import UnusableError
from knuckle.cli.output.tables import console
from knuckle.errors import ModelError, printable
from knuckle.formats import save
from knuckle.formats.mjcf.mjcf_losses import unsayable as lost_in_mjcf
from knuckle.formats.urdf.urdf_losses import unsayable as lost_in_urdf
from knuckle.model import Model

Lost = list[tuple[str, str]]


def converted(model: Model, out: Path, *, lossy: bool) -> Lost:
    """Writes the model by the suffix of `out`; returns (where, what) of everything that it could not say there."""
    losses = {".urdf": lost_in_urdf, ".xml": lost_in_mjcf, ".json": lambda model: ()}
    if out.suffix.lower() not in losses:
        raise UnusableError(f"{out}: models are written as {', '.join(losses)}, by the suffix of the file")
    if not out.absolute().parent.is_dir():
        raise UnusableError(f"{out}: there is no folder {out.parent}")
    lost = list(losses[out.suffix.lower()](model))
    if lost and not lossy:
        (where, what), more = lost[0], f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        text = f"it cannot say: {what}{more}; without --strict that is left out, and .json holds everything"
        raise ModelError(text, file=str(out), element=where)
    try:
        save(model, out, lossy=lossy)
    except ModelError as error:
        text, _, _ = error.message.partition(";")
        raise ModelError(f"{text}; .json holds everything", file=str(out), element=error.element) from None
    return lost


def report(out: Path, lost: Lost) -> None:
    """One line for the file, and one for each thing lost, the same things together."""
    screen = console()
    screen.print(f"[bold]{escape(printable(str(out)))}[/] written, {_count(lost)}", highlight=False, soft_wrap=True)
    subjects: dict[str, list[str]] = {}
    for where, what in lost:
        subjects.setdefault(what, []).append(where)
    for what, where in subjects.items():
        names = ", ".join(where[:6]) + (f" and {len(where) - 6} more" if len(where) > 6 else "")
        screen.print(f"  [yellow]lost[/] {escape(what)} ({escape(names)})", highlight=False, soft_wrap=True)


def _count(lost: Lost) -> str:
    return "nothing lost" if not lost else f"{len(lost)} thing{'' if len(lost) == 1 else 's'} it cannot say:"
