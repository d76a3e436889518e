"""Every public function on a mechanism with couplings or loops, beside what the explicit constrained tree says."""

from .rows import (
    closed_loops,
    contacts,
    dynamics,
    edits,
    elements,
    files,
    kinematics,
    motion,
    other_constraints,
    positions,
)  # fmt: skip
from .rows.base import Rows

SUBJECTS = (
    positions, contacts, elements, dynamics, closed_loops, other_constraints, kinematics, motion, edits, files,
)  # fmt: skip
ROWS = Rows({name: row for subject in SUBJECTS for name, row in subject.ROWS.items()})
