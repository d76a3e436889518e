"""Contact between bodies (RBDA chapter 11)."""
