"""Inertia parameters and their identification, as `kn.identification`."""

from .functions.inertia_identification import BaseParameters, base_parameters, inertial_parameters, regressor

__all__ = [
    "BaseParameters",
    "base_parameters",
    "inertial_parameters",
    "regressor",
]
