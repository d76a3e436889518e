"""Implicit steps of mechanisms of many bodies: loops over arrays, for one state at a time."""
