"""Joints along smooth curves and surfaces: cubic B-splines of frames."""
