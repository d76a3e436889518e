"""Errors on their way from a worker: the same kind, with the same words, where that can be pickled."""

from __future__ import annotations

import pickle
import traceback


class WorkerError(RuntimeError):
    """A chunk that could not be computed, for a reason whose own type cannot be sent."""


def sendable(error: BaseException) -> BaseException:
    """The error, with where it arose as a note, in a form that another process can read."""
    note = "".join(traceback.format_exception(error)).rstrip()
    try:
        copy = pickle.loads(pickle.dumps(error))
        if type(copy) is not type(error) or str(copy) != str(error):
            raise TypeError
    except Exception:
        copy = WorkerError(f"{type(error).__name__}: {error}")
    copy.add_note(f"In a worker:\n{note}")
    return copy
