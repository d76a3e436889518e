"""The canonical form of a model (RBDA 9.7, 10.3) that kernels are compiled from, and dynamic equivalence."""
