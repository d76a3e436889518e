"""When and how functions are compiled, as `kn.compilation`: policy, threads, kept kernels, counts of operations."""

from .engine.calls.source_code import operation_count
from .engine.kernels.kernel_registry import set_policy
from .engine.kernels.per_model import set_kernel_limit
from .engine.native.threads import get_threads, set_threads

__all__ = [
    "get_threads",
    "operation_count",
    "set_kernel_limit",
    "set_policy",
    "set_threads",
]
