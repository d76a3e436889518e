"""For people who extend the library: mechanisms to test with, and the laws that mechanics obeys."""

from .laws import LAWS, derivatives, momentum_rate
from .mechanisms import (
    JOINTS,
    FullState,
    auto_tree,
    general_chain,
    random_inertia,
    random_state,
    random_transform,
    random_tree,
)

__all__ = [
    "JOINTS",
    "LAWS",
    "FullState",
    "auto_tree",
    "derivatives",
    "general_chain",
    "momentum_rate",
    "random_inertia",
    "random_state",
    "random_transform",
    "random_tree",
]
