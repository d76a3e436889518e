"""Measurements that need a process of their own: a script here runs, and prints its answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def ask(script: Path, arguments: Iterable[object], cache: Path, seconds: float) -> dict[str, Any] | None:
    """What a fresh process prints as its last line, with kernels kept in `cache`; None if it takes too long."""
    environment = {**os.environ, "KNUCKLE_CACHE_DIR": str(cache), "KNUCKLE_COMPILATION": "always"}
    command = [sys.executable, str(script), *map(str, arguments)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
