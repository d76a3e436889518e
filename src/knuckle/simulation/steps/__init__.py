"""One step, or many steps in native code, and how long a step is."""
