"""Positions, velocities, accelerations and Jacobians (RBDA chapters 2 and 4)."""
