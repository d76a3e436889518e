"""Other ways to the same numbers: textbook methods and other libraries."""
