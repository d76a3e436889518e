"""Public functions of closed loops (RBDA chapter 8)."""
