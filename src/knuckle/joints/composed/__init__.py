"""Joints made from joints or functions: in a row, reversed, driven, or given by a transform."""
