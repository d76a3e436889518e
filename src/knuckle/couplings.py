"""Public functions of gears and other couplings (RBDA 9.6), as `kn.couplings`."""

from .functions.coupling_terms import bias, forces, matrix, tree_positions

__all__ = [
    "bias",
    "forces",
    "matrix",
    "tree_positions",
]
