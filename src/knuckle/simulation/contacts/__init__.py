"""Rigid contacts between bodies, from event to event."""
