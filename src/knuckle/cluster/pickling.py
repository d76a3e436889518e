"""Functions and models on their way to workers: kernels, and functions of scripts and notebooks, go by value."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable
from typing import Any

from knuckle.engine.calls.function import Function, kernel
from knuckle.extras import need

NEEDS = "sweeps over several processes need"


def pickled(thing: Any) -> bytes:
    """Bytes that `pickle.loads` understands in another process."""
    cloudpickle = need("cloudpickle", NEEDS, "cluster")

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, Function) and obj._traits.is_users:  # pyright: ignore
                text = inspect.unwrap(obj)
                known = inspect.signature(text).parameters
                matrices = tuple(name for name in getattr(obj._arguments, "matrices", ()) if name in known)
                return _kernel, (text, matrices)
            return super().reducer_override(obj)

    memory = io.BytesIO()
    try:
        Pickler(memory).dump(thing)
    except (TypeError, AttributeError) as error:
        raise TypeError(f"what the sweep is made of cannot be sent to workers: {error}") from error
    return memory.getvalue()


def _kernel(text: Callable[..., Any], matrices: tuple[str, ...]) -> Any:
    return kernel(matrices=matrices)(text)


def by_value(module: str) -> None:
    """Functions of a module that workers cannot import go by value."""
    need("cloudpickle", NEEDS, "cluster").register_pickle_by_value(sys.modules[module])
