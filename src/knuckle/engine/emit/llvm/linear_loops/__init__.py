"""Linear algebra in code: loops over dense matrices, tiles of sparse ones."""
