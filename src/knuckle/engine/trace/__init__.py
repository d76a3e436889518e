"""Symbolic execution (RBDA 10.4): an algorithm run on symbols leaves the scalar operations that it needs."""

from knuckle.scalar.operations import OPERATIONS, Operation

from .blocks import Block, Called, Repeated
from .count import Count
from .dense_blocks import Eliminate, EliminateResponse, Laid, Multiply, Substitute, SubstituteResponse
from .execute import record, trace
from .expression import Expression
from .expression_graph import Graph, Node
from .lookup_block import Lookup
from .product_block import MatrixProduct, SparseProduct
from .program import Program
from .regions import Rolled
from .rolled_blocks import RolledBlock
from .simplify import simplify

__all__ = [
    "OPERATIONS",
    "Block",
    "Called",
    "Count",
    "Eliminate",
    "EliminateResponse",
    "Expression",
    "Graph",
    "Laid",
    "Lookup",
    "MatrixProduct",
    "Multiply",
    "Node",
    "Operation",
    "Program",
    "Repeated",
    "Rolled",
    "RolledBlock",
    "SparseProduct",
    "Substitute",
    "SubstituteResponse",
    "record",
    "simplify",
    "trace",
]
