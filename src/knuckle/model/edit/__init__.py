"""Models made from models: each function takes a `Model` and returns another; none changes its argument."""

from .edits import (
    add_frame,
    couple,
    keep_collisions,
    permute,
    with_ground,
    with_inertia,
    with_joint,
    with_rotor_inertia,
    with_self_contact,
    with_surface,
)
from .graft import attach, merge, submodel
from .renaming import rename
from .weld import lock, merge_fixed

__all__ = [
    "add_frame",
    "attach",
    "couple",
    "keep_collisions",
    "lock",
    "merge",
    "merge_fixed",
    "permute",
    "rename",
    "submodel",
    "with_ground",
    "with_inertia",
    "with_joint",
    "with_rotor_inertia",
    "with_self_contact",
    "with_surface",
]
