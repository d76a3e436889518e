"""Lines that pull as much as they are activated: laws, curves, and what of them changes by itself in time."""
