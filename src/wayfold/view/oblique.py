"""Meshes and paths seen obliquely from above, for levels where a plan hides what matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core.checks import number
from wayfold.geometry import Mesh
from wayfold.path import Path
from wayfold.view.pictures import material_colours, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_TRIANGLES = 200_000
_LIGHT = np.array([0.35, -0.55, 0.76])
_PLAIN = np.array([0.93, 0.92, 0.88])


class Camera:
    """A parallel view from far away.

    Parameters
    ----------
    turn : float, degrees
        Where the eye is, counter-clockwise around the world from its south (negative y).
    tilt : float, degrees, 0 to 90
        How high the eye is above the horizon.
    """

    def __init__(self, turn: float = 30.0, tilt: float = 35.0) -> None:
        a = np.radians(number(turn, "turn"))
        b = np.radians(number(tilt, "tilt", low=0.0, high=90.0))
        self.right = np.array([np.cos(a), np.sin(a), 0.0])
        self.away = np.array([-np.sin(a) * np.cos(b), np.cos(a) * np.cos(b), -np.sin(b)])
        self.up = np.cross(self.right, self.away)

    def project(self, points: ArrayLike) -> NDArray[np.float64]:
        """(n, 2) places on the picture of (n, 3) points, metres."""
        flat: NDArray[np.float64] = np.asarray(points, np.float64) @ np.column_stack([self.right, self.up])
        return flat


def draw_solid(axes: Axes, mesh: Mesh, camera: Camera) -> None:
    """Draw the triangles of a mesh that face the eye, the furthest first, in the colours of their materials.

    Of more than 200,000 triangles only the largest are drawn.
    """
    from matplotlib.collections import PolyCollection

    facing = np.flatnonzero(mesh.normals @ camera.away < -1e-9)
    if len(facing) > _MOST_TRIANGLES:
        facing = facing[np.argsort(-mesh.areas[facing], kind="stable")[:_MOST_TRIANGLES]]
    corners, owner = _small(mesh.vertices[mesh.triangles[facing]], float(np.ptp(mesh.vertices, axis=0).max()) / 60.0)
    order = np.argsort(-(corners @ camera.away).max(axis=1), kind="stable")
    corners = corners[order]
    shade = 0.45 + 0.5 * np.clip(mesh.normals[facing[owner[order]]] @ _LIGHT, 0.0, 1.0)
    paint = material_colours(mesh)[mesh.materials[facing[owner[order]]]] if mesh.materials is not None else _PLAIN
    colours = np.clip(1.05 * shade[:, None] * paint, 0.0, 1.0)
    flat = camera.project(corners.reshape(-1, 3)).reshape(-1, 3, 2)
    axes.add_collection(PolyCollection(list(flat), facecolors=colours, edgecolors=colours, linewidths=0.3))
    axes.autoscale()


def _small(corners: NDArray[np.float64], most: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Triangles (m, 3, 3) halved until no side is longer than `most`, so that their distances tell what hides what.

    The second array says which of the given triangles each is part of.
    """
    owner = np.arange(len(corners))
    done, owners = [], []
    while len(corners):
        sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
        longest = np.argmax(sides, axis=1)
        small = sides[np.arange(len(sides)), longest] <= most
        done.append(corners[small])
        owners.append(owner[small])
        corners, longest, owner = corners[~small], longest[~small], owner[~small]
        at = np.arange(len(corners))
        a, b, c = (corners[at, (longest + k) % 3] for k in range(3))
        middle = (a + b) / 2
        corners = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
        owner = np.concatenate([owner, owner])
    return np.concatenate(done), np.concatenate(owners)


def draw_characters(
    mesh: Mesh,
    paths: dict[str, Path],
    camera: Camera | None = None,
    *,
    solids: Sequence[Mesh] = (),
    ghosts: dict[str, Path] | None = None,
    title: str = "",
) -> Figure:
    """Paths of several characters through one world, seen obliquely; nothing hides a path.

    Parameters
    ----------
    mesh : Mesh
        The world.
    paths : mapping of name to Path
        Each gets a colour and a line in the legend.
    camera : Camera, optional
    solids : sequence of Mesh
        What is drawn in red on top, such as blocks.
    ghosts : mapping of name to Path, optional
        Earlier paths, drawn faintly in the same colours.
    title : str
    """
    from matplotlib.collections import PolyCollection

    camera = Camera() if camera is None else camera
    spread = np.ptp(camera.project(mesh.vertices), axis=0)
    figure, axes = new_figure(float(spread[0]), float(spread[1]))
    draw_solid(axes, mesh, camera)
    for solid in solids:
        faces = camera.project(solid.corners.reshape(-1, 3)).reshape(-1, 3, 2)
        axes.add_collection(PolyCollection(list(faces), facecolors="#d1495b", edgecolors="none", alpha=0.35, zorder=2))
    for at, (name, path) in enumerate(paths.items()):
        if ghosts is not None and name in ghosts:
            faint = camera.project(ghosts[name].points)
            axes.plot(faint[:, 0], faint[:, 1], color=f"C{at}", linewidth=1.8, alpha=0.9, linestyle="--", zorder=3)
        flat = camera.project(path.points)
        label = f"{name}: {path.length:.1f} m" if path else f"{name}: no path"
        # Wider below narrower, so that ways which run together all show.
        width = 1.8 + 1.4 * (len(paths) - 1 - at)
        axes.plot(flat[:, 0], flat[:, 1], color=f"C{at}", linewidth=width, label=label, zorder=3)
    if title:
        axes.set_title(title)
    ends = [camera.project(path.points[[0, -1]]) for path in paths.values() if len(path.points)]
    if ends:
        axes.plot(*ends[0][0], "o", color="white", markeredgecolor="black", zorder=4)
        axes.plot(*ends[0][1], "*", color="white", markeredgecolor="black", markersize=14, zorder=4)
    axes.legend(loc="lower right")
    return figure
