"""Derivatives of the dynamics by their own equations, as `kn.derivatives`."""

from knuckle.functions.dynamics_derivatives import forward_dynamics, inverse_dynamics

__all__ = [
    "forward_dynamics",
    "inverse_dynamics",
]
