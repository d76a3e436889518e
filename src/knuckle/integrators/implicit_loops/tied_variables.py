"""Joints that follow others, in steps by loops over bodies: rows that keep them together, as closed loops have (2.78).

The tree has all of its variables; those of joints that follow are where laws put them, v_f = γ' v_s, and the equations
of a step have rows v̇_f − γ' v̇_s = γ̇' v_s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.spatial import Vector

Array = NDArray[Any]


class TiedVariables:
    """The variables of a mechanism among those of its tree, and the rows of its couplings."""

    def __init__(self, model: Model) -> None:
        self.tree, self._couplings = model.without_couplings() if model.couplings else model, model.couplings
        free = [i for i in range(model.nb) if i not in model.coupled]
        self._q = np.concatenate([np.arange(self.tree.nq)[self.tree.q_slices[i]] for i in free]).astype(int)
        self._v = np.concatenate([np.arange(self.tree.nv)[self.tree.v_slices[i]] for i in free]).astype(int)
        self.count, self.size = len(model.couplings), self.tree.nv
        self.rows, self.bias = np.zeros((self.count, self.size)), np.zeros(self.count)

    def spread(self, x: Any) -> Array:
        """Numbers of velocity variables, on the tree's: none for joints that follow."""
        whole = np.zeros(self.size)
        whole[self._v] = x
        return whole

    def state(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state of the tree; rows and biases are then those of this state."""
        places, speeds = np.zeros(self.tree.nq), self.spread(v)
        places[self._q] = q
        for k, coupling in enumerate(self._couplings):
            f, sources = self._at(coupling.joint), [self._at(s) for s in coupling.sources]
            y = Vector(float(places[i]) for i, _ in sources)
            dy = Vector(float(speeds[i]) for _, i in sources)
            slopes = coupling.law.slopes(y)
            places[f[0]], speeds[f[1]] = float(coupling.law.value(y)), float(slopes @ dy)
            self.rows[k] = 0.0
            self.rows[k, f[1]] = 1.0
            self.rows[k, [i for _, i in sources]] = [-float(x) for x in slopes]
            self.bias[k] = float(coupling.law.slope_rates(y, dy) @ dy)
        return places, speeds

    def gathered(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The variables of a mechanism, of those of its tree."""
        return q[self._q], v[self._v]

    def _at(self, joint: int) -> tuple[int, int]:
        return self.tree.q_slices[joint].start, self.tree.v_slices[joint].start
