"""Sizes in bytes as people write them, and when to look whether a limit is kept."""

from __future__ import annotations

import re
from pathlib import Path

UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*")
SHARE = 16
"""A process looks when it has written one part in so many of the limit."""


def parsed_size(text: str) -> int:
    """The bytes of "500MB", "2 GB", "1.5GiB" or "1000000"."""
    found = _SIZE.fullmatch(text.lower())
    if not found or (found[2] not in UNITS and found[2] != "b"):
        raise ValueError(f"a size is a number of bytes or such as 500MB or 2GB, not {text!r}")
    return round(float(found[1]) * UNITS.get(found[2], 1))


class Budget:
    """How much this process has written into a folder since it last looked at all of it."""

    def __init__(self) -> None:
        self._written: dict[Path, int] = {}

    def is_spent(self, folder: Path, size: int, limit: int) -> bool:
        """Counts `size` more bytes; whether it is time to look: at the first, and after each part of the limit."""
        written = self._written.get(folder)
        if written is None or written + size > limit // SHARE:
            self._written[folder] = 0
            return True
        self._written[folder] = written + size
        return False
