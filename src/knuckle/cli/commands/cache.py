"""`knuckle cache`: the compiled kernels on disk, as a table or as JSON."""

from __future__ import annotations

import time
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from knuckle.engine.native import disk_cache

_DTYPES = {"f64": "float64", "f32": "float32"}
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def kept() -> dict[str, Any]:
    """Where kernels are kept and which, made of dicts, lists, strings and numbers."""
    now = time.time()
    found = [
        {
            "model": str(entry.description.get("model", "")),
            "function": str(entry.description.get("function", "")),
            "dtype": _DTYPES.get(entry.description.get("dtype", ""), ""),
            "bytes": entry.size,
            "age_s": max(0.0, now - entry.made),
            "unused_s": max(0.0, now - entry.used),
        }
        for entry in disk_cache.entries()
    ]
    order = sorted(found, key=lambda kernel: (kernel["model"], kernel["function"], kernel["dtype"]))
    total = sum(kernel["bytes"] for kernel in found)
    return {"folder": str(disk_cache.folder()), "bytes": total, "limit_bytes": disk_cache.limit(), "kernels": order}


def kernel_table(about: dict[str, Any]) -> Table:
    """The kernels by model and function."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1))
    for heading in ("model", "function", "dtype"):
        table.add_column(heading, overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    for kernel in about["kernels"]:
        names = [escape(kernel[word]) for word in ("model", "function", "dtype")]
        table.add_row(*names, size(kernel["bytes"]), age(kernel["age_s"]))
    return table


def size(number: int) -> str:
    """A number of bytes in words."""
    unit, length = next((pair for pair in (("GB", 1e9), ("MB", 1e6)) if number >= pair[1]), ("kB", 1e3))
    return f"{number / length:.1f} {unit}"


def age(seconds: float) -> str:
    """A time in its largest unit."""
    unit, length = next((pair for pair in _UNITS if seconds >= pair[1]), _UNITS[-1])
    count = int(seconds // length)
    return f"{count} {unit}{'' if count == 1 else 's'}"
