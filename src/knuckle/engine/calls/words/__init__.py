"""Words about functions, for those who ask what they do."""
