"""Symbolic execution (RBDA 10.4): an algorithm run on symbols leaves the scalar operations that it needs."""

from .execute import record, trace
from .expression import Expression
from .expression_graph import Graph, Node
from .operations import OPERATIONS, Operation
from .program import Count, Program
from .simplify import simplify

__all__ = ["OPERATIONS", "Count", "Expression", "Graph", "Node", "Operation", "Program", "record", "simplify", "trace"]
