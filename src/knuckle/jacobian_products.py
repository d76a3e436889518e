"""Products with Jacobians in O(n), without the Jacobian, and the Jacobian of all bodies, as `kn.jacobian_products`."""

from .functions.frame_jacobian_products import (
    body_jacobian,
    body_jacobian_rate,
    body_product,
    body_rate_product,
    body_transpose_product,
    product,
    rate_product,
    transpose_product,
)

__all__ = [
    "body_jacobian",
    "body_jacobian_rate",
    "body_product",
    "body_rate_product",
    "body_transpose_product",
    "product",
    "rate_product",
    "transpose_product",
]
