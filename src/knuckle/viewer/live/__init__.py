"""A mechanism that moves in the viewer while somebody pulls at it."""
