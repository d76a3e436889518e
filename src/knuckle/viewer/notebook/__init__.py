"""What objects show of themselves in a notebook."""
