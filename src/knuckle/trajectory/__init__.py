"""Trajectories: states over time, their files, plots and interpolation."""

from .event_record import EventRecord
from .trajectory import Instant, Trajectory

__all__ = ["EventRecord", "Instant", "Trajectory"]
