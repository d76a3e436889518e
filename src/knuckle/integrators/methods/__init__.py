"""The integrators, one family per file."""
