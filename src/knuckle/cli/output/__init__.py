"""What the commands print: tables, reports, pictures."""
