"""LLVM text: loops over batches and through time, code for one state, rolled code."""
