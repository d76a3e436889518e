"""A controller for the arm as C, compiled by the C compiler of this computer and called from here.

Run it with `python examples/c_code.py` (needs cc on the path).
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

import knuckle as kn

arm = kn.robots.load("arm")


@kn.kernel
def computed_torque(model, q, v, q_ref, kp, kd):
    return kn.inverse_dynamics(model, q, v, kp * (q_ref - q) - kd * v)


code = computed_torque.source(arm, kp=(), kd=(), language="c")
Path("computed_torque.c").write_text(code)
print(*code.splitlines()[:16], "…", sep="\n")

cc = shutil.which("cc")
if cc is None:
    print("There is no C compiler here: computed_torque.c is what one would take.")
else:
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run([cc, *strict, "-O2", "-shared", "-fPIC", "-o", "law.so", "computed_torque.c", "-lm"], check=True)
    function = ctypes.CDLL("./law.so").computed_torque
    array = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    function.argtypes, function.restype = [array] * 6, None

    rng = np.random.default_rng(0)
    q, v, q_ref = rng.standard_normal((3, arm.nv))
    tau = np.empty(arm.nv)
    function(q, v, q_ref, np.array([60.0]), np.array([12.0]), tau)

    expected = computed_torque(arm, q, v, q_ref, 60.0, 12.0)
    print("from C:      ", np.round(tau, 3))
    print("from knuckle:", np.round(expected, 3))
    assert np.allclose(tau, expected, rtol=1e-12, atol=1e-12)
