"""Vectors, matrices and arrays of scalars of any kind, and NumPy's functions of them."""
