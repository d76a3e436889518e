"""When and how functions are compiled, as `kn.compilation`: policy, threads, kept kernels, counts of operations."""

from knuckle.engine.calls.source_code import operation_count
from knuckle.engine.kernels.kernel_registry import set_policy
from knuckle.engine.kernels.per_model import set_kernel_limit
from knuckle.engine.native.threads import get_threads, set_threads

__all__ = [
    "get_threads",
    "operation_count",
    "set_kernel_limit",
    "set_policy",
    "set_threads",
]
