"""Numbers as single precision has them."""

from __future__ import annotations

import math
import struct


def single(x: float) -> float:
    """The float32 nearest to x, as a float: infinite beyond the largest."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
