"""Which products are fused with sums: a b + c, rounded once.

Compilers choose by what surrounds an operation, and so code of the same program may differ in its last digits. Here the
program decides.
"""

from __future__ import annotations

from knuckle.engine.trace import Program


def fused_products(program: Program) -> dict[int, int]:
    """The product that each sum is fused with: one that nothing else takes, the first of two such.

    Sums that are angles are not: their sines ask for both parts.
    """
    nodes, uses, angles = program.nodes, [0] * len(program.nodes), set[int]()
    for i in program.outputs:
        uses[i] += 1
    for node in nodes:
        if node.op in ("sin", "cos"):
            angles.add(node.a)
        for k in node.operands:
            uses[k] += 1
    found: dict[int, int] = {}
    for i, (op, a, b, _) in enumerate(nodes):
        if op in ("add", "sub") and i not in angles:
            product = next((k for k in (a, b) if nodes[k].op == "mul" and uses[k] == 1), None)
            if product is not None:
                found[i] = product
    return found
