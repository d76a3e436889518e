"""Code for batches: the loop over the states, with one or more vectors of them at a time."""
