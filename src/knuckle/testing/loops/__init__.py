"""Mechanisms with closed loops, and all ways to their acceleration."""
