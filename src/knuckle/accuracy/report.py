"""What a study of accuracy found, in words, as a table and as a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model

from .function_errors import PRECISIONS, FunctionError
from .remedies import Remedy
from .sensitivity import Sensitivity

Array = NDArray[Any]
ROWS = 12
"""Joints that the words name."""


@dataclass(frozen=True, repr=False)
class AccuracyReport:
    """How many digits of a model's functions are right, what they depend on, and what would help.

    Attributes:
        model: the mechanism.
        digits: the digits of the reference.
        state: the states, by "q", "v", "a" and "tau": doubles that single precision has too.
        errors: an entry for every function and precision.
        mass_matrix_condition: cond(H) of every state.
        scaled_condition: the same with each variable in units that make the diagonal of H one.
        loop_condition: that of the loops' Jacobian; empty without loops.
        sensitivities: per cent of acceleration for one per cent of torques, lengths and inertias, joint by joint, in
            the state with the largest cond(H).
        remedies: the remedies of RBDA 10.1 and 10.2, with their gain.
        undefined: functions that this mechanism does not have, as a joint of it moves no inertia: `kn.audit` names it.
    """

    model: Model
    digits: int
    state: Mapping[str, Array] = field(compare=False)
    errors: tuple[FunctionError, ...]
    mass_matrix_condition: Array = field(compare=False)
    scaled_condition: Array = field(compare=False)
    loop_condition: Array = field(compare=False)
    sensitivities: tuple[Sensitivity, ...]
    remedies: tuple[Remedy, ...]
    undefined: tuple[str, ...] = ()

    def error(self, function: str, precision: str = "float64") -> FunctionError:
        """The entry of a function in a precision."""
        for entry in self.errors:
            if (entry.function, entry.precision) == (function, precision):
                return entry
        known = ", ".join(dict.fromkeys(entry.function for entry in self.errors))
        raise KeyError(f"no {function!r} in {precision!r}: there are {known} in {' and '.join(PRECISIONS)}")

    @property
    def table(self) -> str:
        """Errors by function and precision: median, worst, right digits, condition, and what inputs do not explain."""
        head = f"{'function':<18}{'numbers':<9}{'median':>9}{'worst':>9}{'digits':>8}{'condition':>11}{'beyond':>8}"
        rows = [
            f"{e.function:<18}{e.precision:<9}{e.median:>9.1e}{e.worst:>9.1e}{e.digits:>8.1f}"
            f"{np.median(e.condition):>11.1e}{e.beyond_inputs:>8.1f}"
            for e in self.errors
        ]
        return "\n".join([head, *rows])

    def __repr__(self) -> str:
        states = len(self.state["q"])
        lines = [
            f"{self.model.name}: {states} states against {self.digits} digits of the same text",
            "",
            self.table,
            "",
            "Errors are those of the largest entry, relative. `condition` is how wrong rounded inputs make it,",
            "in roundings, and `beyond` how many times more than that is lost.",
            "",
            f"The mass matrix: cond(H) {np.median(self.mass_matrix_condition):.1e}, up to "
            f"{self.mass_matrix_condition.max():.1e}; with equal diagonals {np.median(self.scaled_condition):.1e}.",
        ]
        if self.loop_condition.size:
            lines.append(f"The loops: {np.median(self.loop_condition):.1e}, up to {self.loop_condition.max():.1e}.")
        if self.undefined:
            names = ", ".join(self.undefined)
            lines += [
                "",
                f"Not defined for this mechanism: {names}. A joint moves no inertia; `knuckle check` names it.",
            ]
        if self.sensitivities:
            lines += ["", "One per cent of a joint's … changes the accelerations by … per cent:"]
            lines.append(f"  {'joint':<28}{'torque':>10}{'length':>10}{'inertia':>10}")
        largest = sorted(self.sensitivities, key=lambda row: -max(row.torque, row.length, row.inertia))
        lines += [f"  {r.joint[:27]:<28}{r.torque:>10.3g}{r.length:>10.3g}{r.inertia:>10.3g}" for r in largest[:ROWS]]
        if len(largest) > ROWS:
            lines.append(f"  … and {len(largest) - ROWS} joints with less")
        lines += ["", "What would help:"]
        helping = [r for r in self.remedies if r.helps]
        lines += [f"  {r.name}: {r.finding}; {r.gain:.3g} times better: {r.advice}" for r in helping]
        lines += [f"  {r.name}: no ({r.finding})" for r in self.remedies if not r.helps]
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """A matplotlib figure: errors of all states by function and precision, and the sensitivities of the joints.

        Args:
            path: the file that it goes to (.png, .pdf, .svg).
        """
        from .report_plot import plot

        return plot(self, path)
