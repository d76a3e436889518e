"""Dry friction at joints: sticking and sliding."""
