"""Machine code in this process and on disk, and the memory and threads that it runs with."""
