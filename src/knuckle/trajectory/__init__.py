"""Trajectories: states over time, their files, plots and interpolation."""
