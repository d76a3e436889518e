"""The joints of RBDA table 4.1 with plain displacements and turns, and none or all freedoms."""
