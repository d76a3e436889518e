"""Flexes of MuJoCo."""
