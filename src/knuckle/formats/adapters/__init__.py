"""q, v, accelerations and forces in the order and frames of other libraries, and back.

    there = kn.formats.adapters.pinocchio(model, pin_model)
    pin.rnea(pin_model, data, there.q_to(q), there.v_to(q, v), there.a_to(q, v, a))
    tau = there.tau_from(there.q_to(q), data.tau)

`…_to` functions take everything as knuckle has it, `…_from` functions everything as the other library has it. Joints
are matched by name; a free joint that finds no namesake is matched with the other side's only free joint without one.

| | knuckle | Pinocchio | MuJoCo | Drake |
|---|---|---|---|---|
| order of joints | the file's | depth first, by name | depth first | depth first |
| quaternion | w x y z | x y z w | w x y z | w x y z |
| free joint: q | quaternion, place | place, quaternion | place, quaternion | quaternion, place |
| free joint: v | ω, v | v, ω | v, ω | ω, v |
| … in the axes of | the body | the body | the world (v), the body (ω) | the world |
| continuous joint: q | angle | cosine, sine | angle | angle |
| wrench | moment, force | force, moment | force, moment | moment, force |
"""

from .adapter import Adapter
from .libraries import drake, mujoco, pinocchio

__all__ = ["Adapter", "drake", "mujoco", "pinocchio"]
