"""Derivatives of functions by equations of their own, and by dual numbers."""
