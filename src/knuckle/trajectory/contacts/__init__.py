"""The contacts of a motion: what a run notes of them, and what people read."""
