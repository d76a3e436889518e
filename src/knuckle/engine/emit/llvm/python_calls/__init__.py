"""LLVM text of what Python calls: which form a call has, the one of the last call first, and the way to the code."""
