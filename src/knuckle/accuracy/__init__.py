"""How many digits are right, as `kn.accuracy`: functions against the same text in fifty digits (RBDA 10.1, 10.2)."""

from .assess import assess
from .function_errors import FunctionError
from .least_depth import least_depth
from .remedies import Remedy
from .report import AccuracyReport
from .sensitivity import Sensitivity, sensitivities

__all__ = ["AccuracyReport", "FunctionError", "Remedy", "Sensitivity", "assess", "least_depth", "sensitivities"]
