"""Deformable bodies as data of a model: meshes of nodes and cells, what they are made of, where they are attached."""

from .deformable import Attachment, Deformable
from .elastic_materials import ElasticMaterial, Hookean, NeoHookean, StVenantKirchhoff
from .mesh_shapes import box_mesh, chain_mesh, grid_mesh
from .node_mesh import NodeMesh

__all__ = [
    "Attachment",
    "Deformable",
    "ElasticMaterial",
    "Hookean",
    "NeoHookean",
    "NodeMesh",
    "StVenantKirchhoff",
    "box_mesh",
    "chain_mesh",
    "grid_mesh",
]
