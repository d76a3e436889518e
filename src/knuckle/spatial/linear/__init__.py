"""Vectors, matrices and linear equations, over scalars of any kind."""
