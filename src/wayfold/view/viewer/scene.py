"""The scene in the browser: things become viser's meshes, clouds and lines, moved so that the middle is the origin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core.arrays import distinct
from wayfold.view.viewer.session import End, Session
from wayfold.view.viewer.things import (
    BLOCK,
    GOAL,
    ROUTE,
    START,
    TOUCHED,
    Colour,
    Dots,
    Layer,
    Lines,
    Surface,
    Thing,
    evenly,
    one_colour,
    up,
)

_MOST_TOUCHED = 40_000


class Scene:
    """Draws a session into a viser server's scene.

    Parameters
    ----------
    server : viser.ViserServer
    bounds : (2, 3) float64, metres
        Of the world.

    Attributes
    ----------
    origin : (3,) float64, metres
        The point of the world at the scene's origin: browsers count in float32, worlds may lie far out.
    """

    def __init__(self, server: Any, bounds: NDArray[np.float64]) -> None:
        self._server = server
        low, high = bounds
        self.origin = np.array([*((low + high) / 2)[:2], low[2]])
        self.size = float(np.linalg.norm(high - low))
        self._look(low, high)
        self._layers: dict[str, list[Any]] = {}

    def _look(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """From the south and above, over everything."""
        scene, camera = self._server.scene, self._server.initial_camera
        scene.set_up_direction("+z")
        wide, deep, tall = (high - low).tolist()
        away = 0.8 * max(wide, deep, tall)
        # A little to the right of the middle, since the panel covers the right.
        aside = 0.17 * max(wide, 0.6 * deep)
        camera.look_at = (aside, -0.1 * deep, 0.25 * tall)
        camera.position = (aside, -away - 0.2 * deep, 0.25 * tall + away)
        camera.up = (0.0, 0.0, 1.0)
        camera.fov = float(np.radians(50.0))
        camera.near = max(0.05, self.size / 5000)
        camera.far = 20 * self.size
        scene.configure_environment_map(None)
        scene.configure_default_lights(False)
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(150, 140, 130), intensity=2.0)
        # The sun stands in the south-west; it shines from its place to the origin.
        place = (-0.5 * self.size, -0.8 * self.size, 1.2 * self.size)
        scene.add_light_directional("/light/sun", color=(255, 244, 224), intensity=2.2, position=place)

    def show(self, name: str, layer: Layer) -> None:
        """Draw a layer in place of what was there under its name."""
        under, opacity = f"/{name}", layer.opacity
        self._replace(name, [handle for thing in layer.things for handle in self._draw(under, thing, opacity)])

    def visible(self, name: str, shown: bool) -> None:
        """Show or hide a layer."""
        for handle in self._layers.get(name, []):
            handle.visible = shown

    def show_answer(self, session: Session) -> None:
        """Draw start, goal, path and the nodes that the search touched."""
        answer = session.answer
        self.show_ends(session)
        path: list[Any] = []
        if answer is not None and len(answer.path.points) > 1:
            points = self._local(answer.path.points + up(0.25))
            pieces = np.stack([points[:-1], points[1:]], axis=1)
            path.append(
                self._server.scene.add_line_segments(
                    "/path/line", pieces, colors=ROUTE, thickness=6.0, thickness_units="screen"
                )
            )
        self._replace("path", path)
        touched: list[Any] = []
        if answer is not None and len(answer.touched):
            some = answer.touched[evenly(len(answer.touched), _MOST_TOUCHED)] + up(0.2)
            touched = self._draw("/touched", Dots("nodes", some, one_colour(TOUCHED, len(some)), 0.8 * self.dot), None)
        self._replace("touched", touched)

    def show_ends(self, session: Session) -> None:
        """Draw start and goal."""
        handles: list[Any] = []
        with self._server.atomic():  # else a ball is seen at the origin before it is told its place
            for name, end, colour in (("start", session.start, START), ("goal", session.goal, GOAL)):
                if end is not None:
                    handles += self._end(name, end, colour, session.agent)
        self._replace("ends", handles)

    def show_blocks(self, session: Session) -> None:
        """Draw what is blocked."""
        things = []
        for number, shape in enumerate(session.world.blocks):
            mesh = shape.mesh()
            things.append(Surface(f"block {number}", mesh.vertices, mesh.triangles, BLOCK))
        self.show("blocks", Layer(tuple(things), opacity=0.75))

    def add_crowd(self, positions: NDArray[np.float64], agent: Agent) -> Any:
        """Draw a crowd; `move_crowd` moves it."""
        import trimesh

        radius = max(agent.radius, 0.0034 * self.size)
        height = max(agent.height, 4 * radius)
        body = trimesh.creation.capsule(height=max(height - 2 * radius, 0.01), radius=radius, count=(6, 8))
        body.apply_translation((0, 0, radius))
        turns = (0.62 * np.arange(len(positions))) % 1.0
        shades = np.array([(30, 100, 220), (240, 150, 30), (40, 160, 100), (150, 70, 190)], np.uint8)
        handle = self._server.scene.add_batched_meshes_simple(
            "/crowd",
            np.asarray(body.vertices, np.float32),
            np.asarray(body.faces, np.uint32),
            batched_wxyzs=np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(positions), 1)),
            batched_positions=self._local(positions),
            batched_colors=shades[(4 * turns).astype(np.int64)],
            lod="off",
        )
        self._replace("crowd", [handle])
        return handle

    def move_crowd(self, handle: Any, positions: NDArray[np.float64]) -> None:
        """Everyone to where they are now."""
        handle.batched_positions = self._local(positions)

    def remove(self, name: str) -> None:
        """Take a layer away."""
        self._replace(name, [])

    @property
    def dot(self) -> float:
        """Metres across of a dot that is seen from where everything is seen."""
        return max(0.2, 0.0022 * self.size)

    def _replace(self, name: str, handles: list[Any]) -> None:
        fresh = {handle.name for handle in handles}
        for handle in self._layers.get(name, []):
            if handle.name not in fresh:
                handle.remove()
        self._layers[name] = handles

    def _end(self, name: str, end: End, colour: Colour, agent: Agent) -> Iterable[Any]:
        radius = max(1.5 * agent.radius, 0.006 * self.size)
        place = self._local(end.place[None])[0] + up(radius)
        yield self._server.scene.add_icosphere(f"/ends/{name}", radius=radius, color=colour, position=place)
        yield self._server.scene.add_label(
            f"/ends/{name} label", name, position=place + up(1.6 * radius), anchor="bottom-center"
        )

    def _draw(self, under: str, thing: Thing, opacity: float | None) -> list[Any]:
        scene = self._server.scene
        if isinstance(thing, Dots):
            return [
                scene.add_point_cloud(
                    f"{under}/{thing.name}",
                    self._local(thing.points),
                    thing.colours,
                    point_size=max(thing.size, 0.6 * self.dot),
                    point_shape="circle",
                    precision="float32",
                )
            ]
        if isinstance(thing, Lines):
            colours = np.repeat(thing.colours[:, None], 2, axis=1)
            name = f"{under}/{thing.name}"
            return [scene.add_line_segments(name, self._local(thing.pieces), colors=colours, thickness=thing.width)]
        vertices = self._local(thing.vertices)
        return [
            scene.add_mesh_simple(
                f"{under}/{thing.name}{'' if number is None else f' {number}'}",
                *_used(vertices, triangles),
                color=colour,
                opacity=opacity,
                flat_shading=True,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )
            for number, colour, triangles in _by_colour(thing)
        ]

    def _local(self, points: NDArray[np.float64]) -> NDArray[np.float32]:
        return np.ascontiguousarray(points - self.origin, np.float32)


def _by_colour(surface: Surface) -> Iterable[tuple[int | None, Colour, NDArray[np.int32]]]:
    """The triangles of each colour: viser's meshes have one colour each."""
    if isinstance(surface.colours, tuple):
        yield None, surface.colours, surface.triangles
        return
    found, _, which, _ = distinct(surface.colours)
    for number, (red, green, blue) in enumerate(found.tolist()):
        yield number, (red, green, blue), surface.triangles[which == number]


def _used(
    vertices: NDArray[np.float32], triangles: NDArray[np.int32]
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Only the vertices that triangles use, and the triangles by their numbers."""
    used, corners = np.unique(triangles, return_inverse=True)
    return vertices[used], corners.reshape(-1, 3).astype(np.uint32)
