"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("knuckle", "numpy", "llvmlite", "pin", "mujoco", "casadi", "example-robot-data")


def description() -> dict[str, Any]:
    """Processor, system, versions, the date, and how busy the machine is."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "vector bits": _vector_bits(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": _compiler(),
        "versions": {name: _version(name) for name in PACKAGES},
        "load at start": load(),
    }


def load() -> float | None:
    """How many processes wanted a core in the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    """The name and the family: virtual machines shorten the name."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor() or platform.machine()
    said: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        name, _, value = line.partition(":")
        said.setdefault(name.strip(), value.strip())
    name = said.get("model name", platform.machine())
    return f"{name} (family {said['cpu family']}, model {said['model']})" if "cpu family" in said else name


def _vector_bits() -> int:
    from knuckle.engine.native import machine_code

    return machine_code.host().vector_bits


def _compiler() -> str | None:
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    asked = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return asked.stdout.splitlines()[0] if asked.stdout else compiler


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
