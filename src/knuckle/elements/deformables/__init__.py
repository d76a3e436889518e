"""Deformable bodies on numbers: cells, the matrix that they add up to, and the nodes that bodies carry."""
