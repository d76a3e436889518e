"""Motions in a plane: planar joints, and joints for models of the plane."""
