"""What code can be made for."""
