"""Force elements on a mechanism: forces on its bodies, lengths, energies (notes 1.9)."""
