"""Navigation meshes: from any geometry by the voxel pipeline of Fuentes 2015 (section III.A), with shortest paths."""

from wayfold.links import Link
from wayfold.navmesh.navmesh import NavMesh, RayHit
from wayfold.navmesh.pipeline import Settings

__all__ = ["Link", "NavMesh", "RayHit", "Settings"]
