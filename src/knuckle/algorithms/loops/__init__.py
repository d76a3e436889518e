"""Closed loops (RBDA chapter 8): constraints, their rank, and the equation of motion with them."""
