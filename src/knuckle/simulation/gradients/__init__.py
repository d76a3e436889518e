"""Derivatives through time: gradients of losses over rollouts, and linearised steps."""
