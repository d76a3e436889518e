"""Actuators and muscles of MuJoCo."""
