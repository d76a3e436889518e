"""Trajectories: states over time, their files, plots and interpolation."""

from .occurrence import Occurrence
from .trajectory import Instant, Trajectory

__all__ = ["Instant", "Occurrence", "Trajectory"]
