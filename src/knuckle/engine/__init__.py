"""From the text of an algorithm to machine code that is called with arrays."""
