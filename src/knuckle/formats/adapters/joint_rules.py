"""How one joint's variables translate: which order, which frame. All arrays have the variables on the last axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _same(x: Array) -> Array:
    return x


@dataclass(frozen=True)
class Rule:
    """The translation of one joint, from knuckle's variables to another library's.

    `q_to` and `q_from` translate positions. `v_order` lists, for each of their velocity variables, ours. `turned` lists
    the triples of ours that the other side has in the axes of the predecessor, `carried` those of them that are the
    velocity of a moving origin; `turn` gives the rotation from successor to predecessor axes.
    """

    nq: int
    nv: int
    q_to: Callable[[Array], Array] = _same
    q_from: Callable[[Array], Array] = _same
    v_order: tuple[int, ...] = (0,)
    turned: tuple[slice, ...] = ()
    carried: slice | None = None
    turn: Callable[[Array], Array] | None = None

    def v_to(self, q: Array, v: Array) -> Array:
        """Velocities, or forces: their map is orthogonal, so both translate alike. `q` is ours."""
        return self._turned(q, v, inverse=False)[..., self.v_order]

    def v_from(self, q: Array, v: Array) -> Array:
        """The way back; `q` is ours."""
        return self._turned(q, v[..., np.argsort(self.v_order)], inverse=True)

    def a_to(self, q: Array, v: Array, a: Array) -> Array:
        """Accelerations: the rate of R v is R (a + ω × v). `q`, `v` are ours."""
        return self.v_to(q, a + self._transport(v))

    def a_from(self, q: Array, v: Array, a: Array) -> Array:
        """The way back; `q`, `v` are ours."""
        return self.v_from(q, a) - self._transport(v)

    def _turned(self, q: Array, v: Array, inverse: bool) -> Array:
        if self.turn is None or not self.turned:
            return v
        R = self.turn(q)
        R = np.swapaxes(R, -1, -2) if inverse else R
        shape = (*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), v.shape[-1])
        result = np.array(np.broadcast_to(v, shape), dtype=float)
        for part in self.turned:
            result[..., part] = (R @ result[..., part, None])[..., 0]
        return result

    def _transport(self, v: Array) -> Array:
        """ω × v in the place of the linear velocity, zero elsewhere."""
        result = np.zeros_like(np.asarray(v, float))
        if self.carried is None:
            return result
        linear = v[..., self.carried]
        if linear.shape[-1] == 3:
            result[..., self.carried] = np.cross(v[..., :3], linear)
        else:
            result[..., self.carried] = v[..., :1] * np.stack([-linear[..., 1], linear[..., 0]], axis=-1)
        return result


def rotation_of(q: Array) -> Array:
    """R, from successor to predecessor axes, of a quaternion (w, x, y, z) in the first four places."""
    p = q[..., :4] / np.linalg.norm(q[..., :4], axis=-1, keepdims=True)
    w, x, y, z = np.moveaxis(p, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _plane_rotation(q: Array) -> Array:
    c, s = np.cos(q[..., 0]), np.sin(q[..., 0])
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


def _ordered(*order: int) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Positions in another order: for each of theirs, the place of ours."""
    back = np.argsort(order)
    return lambda q: q[..., order], lambda q: q[..., back]


def _circle_to(q: Array) -> Array:
    return np.concatenate([np.cos(q), np.sin(q)], axis=-1)


def _circle_from(q: Array) -> Array:
    return np.arctan2(q[..., 1:], q[..., :1])


def _plane_to(q: Array) -> Array:
    return np.concatenate([q[..., 1:], _circle_to(q[..., :1])], axis=-1)


def _plane_from(q: Array) -> Array:
    return np.concatenate([_circle_from(q[..., 2:]), q[..., :2]], axis=-1)


ANGULAR, LINEAR = slice(0, 3), slice(3, 6)
PLAIN = Rule(1, 1)
CIRCLE = Rule(2, 1, _circle_to, _circle_from)
THREE = Rule(3, 3, v_order=(0, 1, 2))
BALL_WXYZ = Rule(4, 3, v_order=(0, 1, 2))
BALL_XYZW = Rule(4, 3, *_ordered(1, 2, 3, 0), v_order=(0, 1, 2))
FREE_PINOCCHIO = Rule(7, 6, *_ordered(4, 5, 6, 1, 2, 3, 0), v_order=(3, 4, 5, 0, 1, 2))
FREE_MUJOCO = Rule(
    7, 6, *_ordered(4, 5, 6, 0, 1, 2, 3), v_order=(3, 4, 5, 0, 1, 2),
    turned=(LINEAR,), carried=LINEAR, turn=rotation_of,
)  # fmt: skip
FREE_DRAKE = Rule(7, 6, v_order=(0, 1, 2, 3, 4, 5), turned=(ANGULAR, LINEAR), carried=LINEAR, turn=rotation_of)
PLANE_PINOCCHIO = Rule(4, 3, _plane_to, _plane_from, v_order=(1, 2, 0))
PLANE_DRAKE = Rule(
    3, 3, *_ordered(1, 2, 0), v_order=(1, 2, 0), turned=(slice(1, 3),), carried=slice(1, 3), turn=_plane_rotation
)
