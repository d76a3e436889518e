"""The equations of motion of a double pendulum, derived with SymPy, and checked against numbers.

Run it with `python examples/double_pendulum.py` (needs sympy).
"""

import numpy as np
import sympy as sp

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.model import point_mass


def double_pendulum(m1, m2, l1, l2, g) -> kn.Model:
    """Two point masses on massless rods; angles from hanging straight down, the second from the first rod."""
    b = kn.Builder("double pendulum", gravity=(0, 0, -g))
    b.body("first", joint=Revolute("y"), inertia=point_mass(m1, at=(0, 0, -l1)))
    b.body("second", on="first", at=(0, 0, -l1), joint=Revolute("y"), inertia=point_mass(m2, at=(0, 0, -l2)))
    return b.build()


parameters = sp.symbols("m1 m2 l1 l2 g", positive=True)
q, v, a = (sp.Matrix(sp.symbols(f"{x}1 {x}2")) for x in "qva")
model = double_pendulum(*parameters)

H = sp.simplify(kn.mass_matrix(model, q))
C = sp.simplify(kn.coriolis_matrix(model, q, v) * v)
G = sp.simplify(kn.gravity_force(model, q))
for name, value in {"H": H, "C v": C, "G": G}.items():
    print(name)
    sp.pprint(value)
    print()

# the same from recursive Newton-Euler
tau = kn.inverse_dynamics(model, q, v, a)
assert sp.simplify(tau - (H * a + C + G)).is_zero_matrix

# and in numbers
numbers = (1.0, 0.5, 0.8, 0.6, 9.81)
state = [0.3, -0.7], [1.1, 0.4], [-0.2, 2.0]
formula = sp.lambdify([*parameters, *q, *v, *a], tau)(*numbers, *state[0], *state[1], *state[2])
torques = kn.inverse_dynamics(double_pendulum(*numbers), *state)
assert np.allclose(np.ravel(formula), torques)
print("torques at a random state:", torques, "N m, by the formula and by the algorithm")
