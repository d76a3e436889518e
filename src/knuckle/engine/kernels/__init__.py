"""Kernels: which function is compiled for which model, when, and how long it is kept."""
