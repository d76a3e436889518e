"""Pairs of shapes whose contact takes more than a few lines."""
