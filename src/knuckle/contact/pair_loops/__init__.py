"""Where shapes touch, by loops over pairs in memory: one compiled text for each two kinds of shapes serves all."""
