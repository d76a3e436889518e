"""Numbers in, numbers out: conjugate gradients, quadratic programs, complementarity, rank."""
