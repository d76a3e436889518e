"""Rigid contact in numbers: accelerations, impacts, forces (RBDA chapter 11)."""
