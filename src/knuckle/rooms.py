"""The rooms of the house in their order: what `src/knuckle` is divided into, and which part may import which.

A module imports from its own room and from those named before it, never from those after it. The rooms within a room
have an order of their own. The check of the architecture and the names of kernels on disk are made from these lists.
"""

_GROUPS = (
    "actuators", "compilation", "couplings", "derivatives", "identification", "jacobian_products", "lie_groups",
    "loops",
)  # fmt: skip

ROOMS = (
    # mechanisms and files
    "rooms",
    "errors",
    "extras",
    "public_names",
    "warning",
    "scalar",
    "spatial",
    "joints",
    "model",
    "formats",
    "robots",
    # the book, one algorithm per file
    "algorithms",
    # from the text of an algorithm to machine code that is called with arrays
    "engine",
    # numbers in, numbers out
    "solvers",
    # the public functions
    "functions",
    # what can be put on a mechanism, and other formulations
    "constraints",
    "elements",
    "contact",
    "maximal_coordinates",
    "bound",
    "operators",
    # groups of public functions: `kn.loops` …
    *_GROUPS,
    "accuracy",
    # through time
    "integrators",
    "trajectory",
    "simulation",
    # what people look at and type, and test with
    "viewer",
    "environments",
    "cluster",
    "cli",
    "testing",
)

ROOMS_WITHIN = {
    "algorithms": ("types", "kinematics", "elements", "dynamics", "derivatives", "energy", "loops", "contact"),
    "engine": ("trace", "emit", "arrays", "native", "targets", "kernels", "differentiate", "calls", "routines"),
}

DECIDE_KERNELS = tuple(
    room
    for room in ROOMS[ROOMS.index("scalar") : ROOMS.index("viewer")]
    if room
    not in (
        "formats",
        "robots",
        "accuracy",
        "actuators",
        "bound",
        "compilation",
        "couplings",
        "derivatives",
        "identification",
        "jacobian_products",
        "lie_groups",
        "loops",
        "trajectory",
    )
)
"""The rooms whose texts decide what a kernel computes."""
