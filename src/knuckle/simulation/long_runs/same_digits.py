"""The same digits in every run."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator

from knuckle.engine.kernels.kernel_registry import Policy, kernels

_lock = threading.Lock()
_inside: list[Policy] = []
"""What was said before, once for every simulation that runs."""


@contextlib.contextmanager
def steady_digits() -> Generator[None]:
    """Native code from the first call on: otherwise the last digits would depend on how often a function was called.

    Several simulations may run side by side; what was said before holds again when the last is over.
    """
    with _lock:
        _inside.append(_inside[0] if _inside else kernels.policy)
        if kernels.policy == "auto":
            kernels.policy = "always"
    try:
        yield
    finally:
        with _lock:
            before = _inside.pop()
            if not _inside and before == "auto":
                kernels.policy = before
