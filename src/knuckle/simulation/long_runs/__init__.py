"""Long runs: checkpoints, going on from them, progress, and the same digits in every run."""
