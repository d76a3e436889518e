"""Trajectories: states over time, their files, plots and interpolation."""

from .contacts.motion_contacts import MotionContacts
from .event_record import EventRecord
from .trajectory import Instant, Trajectory

__all__ = ["EventRecord", "Instant", "MotionContacts", "Trajectory"]
