"""What is drawn: surfaces, figures, poses."""
