"""Rotations about a point: the ball joint in several coordinates, and the universal joint."""
