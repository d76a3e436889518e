"""Calls: arrays in, kernels or the text itself, arrays out; public functions and the user's own."""
