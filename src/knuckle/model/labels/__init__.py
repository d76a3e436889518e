"""Names and units of the variables of a model, the same in plots, tables, files, the viewer and exported code."""

from .variable_labels import (
    force_units,
    position_labels,
    position_units,
    velocity_labels,
    velocity_units,
)

__all__ = ["force_units", "position_labels", "position_units", "velocity_labels", "velocity_units"]
