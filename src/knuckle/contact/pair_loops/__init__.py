"""Where shapes touch, by loops over pairs in memory: one compiled text for each two kinds of shapes, for all of them."""
