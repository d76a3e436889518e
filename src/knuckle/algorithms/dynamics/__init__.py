"""The equation of motion of trees (RBDA chapters 5, 6, 7 and 9)."""
