"""A model in plain words and numbers: what `knuckle info` shows and writes as JSON."""

from __future__ import annotations

import math
from typing import Any

import knuckle as kn
from knuckle.functions.loops.freedoms_at_start import freedoms_at_start
from knuckle.joints import Joint, Reversed
from knuckle.model import ROOT, Mesh, Model


def type_name(joint: Joint) -> str:
    """What a joint is called in tables."""
    if isinstance(joint, Reversed):
        return f"reversed {type_name(joint.joint)}"
    return type(joint).__name__.lower()


def axis_of(joint: Joint) -> tuple[float, ...] | None:
    """The axis of a joint that has one."""
    inner = joint.joint if isinstance(joint, Reversed) else joint
    axis = getattr(inner, "axis", None)
    return None if axis is None else tuple(float(x) for x in axis)


def describe(model: Model) -> dict[str, Any]:
    """Everything `info` says, made of dicts, lists, strings and finite numbers; null where there is no limit."""
    shapes = [geometry.shape for body in (model.base, *model.bodies) for geometry in (*body.visuals, *body.collisions)]
    meshes = {shape.uri: shape.path for shape in shapes if isinstance(shape, Mesh)}
    found = freedoms_at_start(model)
    return {
        "name": model.name,
        "file": model.provenance.file,
        "format": model.provenance.format,
        "base": model.base.name,
        "bodies": model.nb,
        "nq": model.nq,
        "nv": model.nv,
        "mass": kn.total_mass(model),
        "gravity": list(model.gravity),
        "joints": [_joint(model, i) for i in range(model.nb)],
        "actuators": [_actuator(x) for x in model.actuators],
        "loops": [_loop(model, loop) for loop in model.loops],
        "freedoms": model.nv if found is None else found.freedoms,
        "mobility": None if found is None else str(found),
        "elements": [{"name": x.name, "type": type(x).__name__, "frames": list(x.frames)} for x in model.elements],
        "deformables": [
            {"name": x.name, "nodes": len(x.mesh.nodes), "cells": len(x.mesh.cells), "frames": list(x.frames)}
            for x in model.deformables
        ],
        "frames": [{"name": frame.name, "body": _body(model, frame.body)} for frame in model.frames],
        "shapes": {
            "visual": sum(len(body.visuals) for body in (model.base, *model.bodies)),
            "collision": sum(len(body.collisions) for body in (model.base, *model.bodies)),
            "meshes": len(meshes),
            "meshes_found": sum(path is not None for path in meshes.values()),
        },
    }


def _joint(model: Model, i: int) -> dict[str, Any]:
    joint, coupling, qs, vs = model.joints[i], model.coupled.get(i), model.q_slices[i], model.v_slices[i]
    axis = axis_of(joint.type)
    return {
        "name": joint.name,
        "type": type_name(joint.type),
        "axis": None if axis is None else list(axis),
        "parent": _body(model, joint.parent),
        "body": model.body_names[i],
        "mass": float(model.I[i].mass),
        "q": [qs.start, qs.stop],
        "v": [vs.start, vs.stop],
        "q_units": list(joint.type.q_units),
        "v_units": list(joint.type.v_units),
        "lower": _bounds(joint.limits.lower),
        "upper": _bounds(joint.limits.upper),
        "velocity": _bounds(joint.limits.velocity),
        "effort": _bounds(joint.limits.effort),
        "damping": list(joint.damping),
        "friction": list(joint.friction),
        "rotor_inertia": list(joint.rotor_inertia),
        "stiffness": list(joint.stiffness),
        "follows": coupling and {
            "sources": [model.joint_names[s] for s in coupling.sources],
            "law": coupling.law.said([model.joint_names[s] for s in coupling.sources]),
        },
    }  # fmt: skip


def _actuator(x: kn.actuators.Actuator) -> dict[str, Any]:
    ranges = {"control": x.control_range, "force": x.force_range}
    ranges |= {} if x.dynamics is None else {"state": x.dynamics.range}
    return {
        "name": x.name,
        "type": x.kind,
        "at": x.transmission.said,
        "gain": list(x.gain),
        "bias": list(x.bias),
        "state": None if x.dynamics is None else x.dynamics.kind,
        "ranges": {what: list(ends) for what, ends in ranges.items() if ends is not None},
    }


def _loop(model: Model, loop: kn.model.LoopJoint) -> dict[str, Any]:
    return {
        "name": loop.name,
        "type": type_name(loop.type),
        "predecessor": _body(model, loop.predecessor),
        "successor": _body(model, loop.successor),
    }


def _body(model: Model, i: int) -> str:
    return model.base.name if i == ROOT else model.body_names[i]


def _bounds(values: tuple[float, ...]) -> list[float | None]:
    return [float(x) if math.isfinite(x) else None for x in values]
