"""Pictures and videos without a browser or a display: a small renderer of our own."""
