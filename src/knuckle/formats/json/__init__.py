"""Models as JSON, both ways, without loss.

    {"format": "knuckle", "version": 1, "name": "arm", "algebra": "spatial", "gravity": [0, 0, -9.81],
     "base":   {"name": "base", "inertia": {...}},
     "bodies": [{"name": "upper", "inertia": {"mass": 2.0, "h": [0, 0, 0.4], "I": [xx, xy, yy, xz, yz, zz]}, ...}],
     "joints": [{"name": "shoulder", "type": {"type": "Revolute", "axis": [0.0, 0.0, 1.0]}, "parent": "base",
                 "X_tree": {"E": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "r": [0, 0, 0.3]}, ...}],
     "frames": [...], "loops": [...],
     "couplings": [{"joint": "finger", "sources": ["thumb"], "law": {"type": "Linear", "ratios": [0.5]}}],
     "provenance": {...}}

Keys are the fields of `Model` and its parts; a field that has its default value is left out. Bodies and joints are
referred to by name (a number is read as well, −1 for the base); joint i moves body i. Floats keep every bit. An integer
0 or 1 in an inertia or a transform is a structural one: known to be that, whatever else is computed. Limits may be
"inf" and "-inf". The type of a joint or law is the name of its class in `knuckle.joints` or of its kind of coupling
(`Linear`, `Powers`, `Held`), or "module:Class" for a class of your own, which is never imported for you: hand it over
as `joint_types=[Class]` when you read.
"""

from .json_reader import read_json
from .json_writer import to_json, write_json

__all__ = ["read_json", "to_json", "write_json"]
