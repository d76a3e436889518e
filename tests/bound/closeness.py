"""Equality up to rounding."""

from typing import Any

import numpy as np


def close(found: Any, wanted: Any, eps: float = 2.3e-16) -> bool:
    """Equal to the rounding of some thousand operations on numbers of the largest entry's size."""
    size = max(float(np.max(np.abs(wanted), initial=0.0)), 1.0)
    return np.shape(found) == np.shape(wanted) and bool(np.all(np.abs(np.asarray(found) - wanted) <= 1e4 * eps * size))
