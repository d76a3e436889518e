"""Derivatives of the dynamics by their own equations, and for other people's packages, as `kn.derivatives`."""

from knuckle.functions.derivatives.dynamics_derivatives import forward_dynamics, inverse_dynamics

from .casadi_callback import casadi_callback

__all__ = [
    "casadi_callback",
    "forward_dynamics",
    "inverse_dynamics",
]
