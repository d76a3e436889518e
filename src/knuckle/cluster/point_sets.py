"""Points in the unit cube by number: any of them can be had without those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.extras import need

Array: TypeAlias = NDArray[Any]
BITS = 30
"""Of the coordinates of Sobol's points, and of their numbers."""
WORDS = 4
"""Numbers that Philox makes for each count."""
MOST = 2**28
"""Numbers that a design may hold as a whole: 2 GB."""


class PointSet(Protocol):
    """Points in a cube of `size` dimensions, inside of its faces."""

    @property
    def count(self) -> int:
        """How many."""
        ...

    def at(self, index: Array) -> Array:
        """Those with these numbers, which follow each other: (n, size)."""
        ...

    def facts(self) -> dict[str, Any]:
        """What they are, for a manifest."""
        ...


@dataclass(frozen=True)
class CounterPoints:
    """Independent random points: those of sample k are what Philox makes of its counts from k·m to (k + 1)·m."""

    size: int
    count: int
    seed: int

    def at(self, index: Array) -> Array:
        """Points by number."""
        counts = -(-self.size // WORDS)
        if not len(index):
            return np.empty((0, self.size))
        generator = np.random.Philox(key=self.seed, counter=int(index[0]) * counts)
        words = generator.random_raw(len(index) * counts * WORDS).reshape(len(index), -1)[:, : self.size]
        return ((words >> np.uint64(11)) + 0.5) * 2.0**-53

    def facts(self) -> dict[str, Any]:
        """What they are, for a manifest."""
        return {"design": "random", "count": self.count, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class SobolPoints:
    """Scrambled points of Sobol's sequence, in the middle of their cells of 2⁻³⁰.

    The point with number k is x_k = x_0 ⊕ v_i ⊕ v_j ⊕ …, by the bits i, j, … of the Gray code k ⊕ ⌊k/2⌋ (Antonov and
    Saleev 1979). The directions v follow from the points of SciPy's sequence whose numbers are powers of two.
    """

    size: int
    count: int
    seed: int
    origin: Array
    directions: Array

    @classmethod
    def of(cls, size: int, count: int, seed: int) -> SobolPoints:
        """So many points in so many dimensions."""
        if count > 2**BITS:
            raise ValueError(
                f"count={count} is more than the 2³⁰ points of a Sobol sequence: kn.cluster.random has more"
            )
        qmc = need("scipy.stats.qmc", "Sobol designs need", "cluster")
        sequence = qmc.Sobol(size, scramble=True, bits=BITS, rng=np.random.default_rng(seed))

        def next_point() -> Array:
            return (sequence.random(1)[0] * 2**BITS).astype(np.uint64)

        origin, directions = next_point(), list[Array]()
        for b in range((count - 1).bit_length()):
            sequence.fast_forward(2**b - sequence.num_generated)
            before = directions[-1] if directions else np.uint64(0)
            directions.append(next_point() ^ origin ^ before)
        return cls(size, count, seed, origin, np.array(directions, np.uint64).reshape(-1, size))

    def at(self, index: Array) -> Array:
        """Points by number."""
        k = np.asarray(index, np.uint64)
        gray = k ^ (k >> np.uint64(1))
        x = np.tile(self.origin, (len(k), 1))
        for b, direction in enumerate(self.directions):
            x[(gray >> np.uint64(b)) & np.uint64(1) == 1] ^= direction
        return (x + 0.5) * 2.0**-BITS

    def facts(self) -> dict[str, Any]:
        """What they are, for a manifest."""
        return {"design": "sobol", "count": self.count, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class LatinPoints:
    """A Latin hypercube, drawn as a whole."""

    points: Array
    seed: int

    @classmethod
    def of(cls, size: int, count: int, seed: int) -> LatinPoints:
        """So many points in so many dimensions."""
        if size * count > MOST:
            raise ValueError(
                f"a Latin hypercube of {count} samples of {size} numbers is drawn as a whole, and would take "
                f"{8e-9 * size * count:.1f} GB of at most 2: kn.cluster.sobol is computed part by part"
            )
        qmc = need("scipy.stats.qmc", "Latin hypercubes need", "cluster")
        points = qmc.LatinHypercube(size, rng=np.random.default_rng(seed)).random(count)
        return cls(np.clip(points, 2.0**-54, 1 - 2.0**-53), seed)

    @property
    def count(self) -> int:
        """How many."""
        return len(self.points)

    def at(self, index: Array) -> Array:
        """Points by number."""
        return self.points[index]

    def facts(self) -> dict[str, Any]:
        """What they are, for a manifest."""
        return {"design": "latin hypercube", "count": self.count, "seed": self.seed}
