"""Kinds of array: how arguments come apart into scalars, and how results go together."""
