"""Events: what to watch for, and where within a step it happens."""
