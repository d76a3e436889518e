"""Who computes chunks: this process, local processes, a Ray cluster."""
