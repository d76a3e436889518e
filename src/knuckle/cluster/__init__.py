"""Beyond one machine, as `kn.cluster`: designs of studies, sweeps over them, and what they give."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chunk_summary import Distribution
    from .designs import Design, grid, latin_hypercube, random, samples, sobol
    from .ranges import normal, options, uniform
    from .study_file import Study, read_study
    from .sweep_reader import Failure, SweepResult, read_sweep
    from .sweeping import sweep

__all__ = [
    "Design",
    "Distribution",
    "Failure",
    "Study",
    "SweepResult",
    "grid",
    "latin_hypercube",
    "normal",
    "options",
    "random",
    "read_study",
    "read_sweep",
    "samples",
    "sobol",
    "sweep",
    "uniform",
]

_WHERE = {
    "Design": "designs",
    "Distribution": "chunk_summary",
    "Failure": "sweep_reader",
    "Study": "study_file",
    "SweepResult": "sweep_reader",
    "grid": "designs",
    "latin_hypercube": "designs",
    "normal": "ranges",
    "options": "ranges",
    "random": "designs",
    "read_study": "study_file",
    "read_sweep": "sweep_reader",
    "samples": "designs",
    "sobol": "designs",
    "sweep": "sweeping",
    "uniform": "ranges",
}
"""The module of each name, loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = globals()[name] = getattr(import_module(f".{_WHERE[name]}", __name__), name)
        return value
    from knuckle.errors import near

    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near(name, __all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
