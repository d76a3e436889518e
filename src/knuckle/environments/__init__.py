"""Environments of reinforcement learning with Gymnasium's interface (the extra `gym`), one or thousands at a time."""

from .task import Task

__all__ = ["Task"]
