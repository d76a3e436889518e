"""The planar algebra (RBDA 2.16): vectors of three numbers for mechanisms that move in the xy plane."""
