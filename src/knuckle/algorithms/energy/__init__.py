"""Energy, momentum and the Lagrangian."""
