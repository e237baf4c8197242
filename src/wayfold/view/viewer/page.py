"""The viewer in the browser: the panel and the scene of one session, served by viser."""

from __future__ import annotations

import io
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import CHARACTER_NOTES, CHARACTERS, Agent, Motion
from wayfold.core.arrays import distinct
from wayfold.errors import MissingDependencyError, ParameterError, WayfoldError
from wayfold.view.viewer.drawing import (
    BLOCK,
    EXPANDED_COLOUR,
    GOAL,
    ROUTE,
    START,
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
from wayfold.view.viewer.gate import Control, all_within, one_of, within, yes_or_no
from wayfold.view.viewer.session import AUTO, CUSTOM, MODES, SEARCHES, Crowd, End, Session
from wayfold.world import World

_WHO = " ".join(f"{name.capitalize()}: {note}" for name, note in CHARACTER_NOTES.items())


@dataclass
class Job:
    """Something to do; `what` is told to the user, and a later job of the same `what` takes its place."""

    what: str
    work: Callable[[], None]


class Worker:
    """Does jobs in order in a thread of its own.

    Parameters
    ----------
    begun : callable
        Called with the job's name in the worker's thread before each job, and with "" when nothing is left to do.
    failed : callable
        Called with the sentence of a `WayfoldError` that a job raised.
    """

    def __init__(self, begun: Callable[[str], None], failed: Callable[[str], None]) -> None:
        self._begun, self._failed = begun, failed
        self._jobs: list[Job] = []
        self._change = threading.Condition()
        self._busy = ""
        self._stopped = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="wayfold-viewer")
        self._thread.start()

    @property
    def busy(self) -> str:
        """What is being done, empty for nothing."""
        return self._busy

    def submit(self, what: str, work: Callable[[], None]) -> None:
        """Do something when all before it is done; a waiting job of the same name is not done any more."""
        with self._change:
            self._jobs = [job for job in self._jobs if job.what != what]
            self._jobs.append(Job(what, work))
            self._change.notify_all()

    def offer(self, what: str, work: Callable[[], None]) -> bool:
        """Do something if there is nothing else to do, and say whether."""
        with self._change:
            free = not self._jobs and not self._busy
            if free:
                self._jobs.append(Job(what, work))
                self._change.notify_all()
        return free

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until there is nothing to do; False when it took longer."""
        with self._change:
            return self._change.wait_for(lambda: not self._jobs and not self._busy, seconds)

    def stop(self, seconds: float = 2.0) -> None:
        """Take no other job, and wait so long for the present one; a long build ends with the program."""
        with self._change:
            self._stopped = True
            self._jobs.clear()
            self._change.notify_all()
        self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._jobs or self._stopped)
                if self._stopped:
                    return
                job = self._jobs.pop(0)
                self._busy = job.what
            try:
                self._begun(job.what)
                job.work()
            except WayfoldError as error:
                self._failed(str(error))
            except Exception as error:
                # The viewer goes on; whoever runs it should hear of a mistake in the package.
                traceback.print_exc()
                self._failed(f"{type(error).__name__}: {error}")
            with self._change:
                left = bool(self._jobs)
            if not left:
                self._begun("")
            with self._change:
                self._busy = ""
                self._change.notify_all()


LEVEL, MAP, PATH, TOUCHED = "level", "map", "path", "touched"
_LARGEST_SIZE = 1000.0  # metres
_MOST_WALKERS = 20_000


class Panel:
    """The controls of the viewer, made in a viser server's GUI; `Page` wires them.

    Parameters
    ----------
    server : viser.ViserServer
    title : str
        What is being looked at.
    maps : tuple of str
        Maps to choose from.
    box : (x, y, z), metres
        Size of the boxes that block, at first.
    top : (low, high), metres
        Heights between which the level can be cut off.
    """

    def __init__(
        self,
        server: Any,
        title: str,
        maps: tuple[str, ...],
        box: tuple[float, float, float],
        top: tuple[float, float],
    ) -> None:
        gui = server.gui
        gui.configure_theme(
            control_width="medium", show_logo=False, show_share_button=False, brand_color=(43, 110, 180)
        )
        gui.set_panel_label("Wayfold")
        self.title = gui.add_markdown(f"**{title}**")
        self.status = gui.add_markdown("starting")
        self.progress = gui.add_progress_bar(0.0, visible=False, animated=True)
        self.report = gui.add_markdown("")
        with gui.add_folder("Who and how"):
            self.agent = gui.add_dropdown("agent", (*CHARACTERS, CUSTOM), hint=_WHO)
            self._add_custom(gui)
            self.map = gui.add_dropdown("map", maps, hint="auto chooses by what the agent can do.")
            self.accelerator = gui.add_dropdown("accelerator", (AUTO,))
            self.search = gui.add_dropdown("search", SEARCHES)
        with gui.add_folder("Click"):
            self.mode = gui.add_dropdown(
                "puts", MODES, hint="Start and goal in turns; boxes that block; ctrl-click blocks at any time."
            )
            self.box = gui.add_vector3("box (m)", box, min=(0.1, 0.1, 0.1), step=0.5, hint="Size of a blocking box.")
            self.lift = gui.add_number("fly at (m)", 3.0, min=0.0, step=0.5, hint="A flyer's height over the click.")
            self.unblock_all = gui.add_button("Unblock all", color="gray")
            self.clear = gui.add_button("Clear start and goal", color="gray")
        with gui.add_folder("Crowd"):
            self.crowd_size = gui.add_number("agents", 500, min=1, max=_MOST_WALKERS, step=1)
            self.send = gui.add_button("Send the crowd to the goal")
            self.crowd = gui.add_markdown("")
        with gui.add_folder("Show"):
            self.shown = {
                LEVEL: gui.add_checkbox("the level", True),
                MAP: gui.add_checkbox("the map", True),
                PATH: gui.add_checkbox("the path", True),
                TOUCHED: gui.add_checkbox("touched nodes", True, hint="Nodes that the search settled."),
            }
            self.colouring = gui.add_dropdown("colours", ("plain",), hint="What the map's parts are coloured by.")
            low, high = top
            self.below = gui.add_slider("cut above (m)", low, high, max((high - low) / 100, 0.01), high)
            self.notes = gui.add_markdown("")
        with gui.add_folder("Why", expand_by_default=False):
            self.explanation = gui.add_markdown("")

    def controls(self) -> dict[str, Control]:
        """What a client may set each control to, by the control's id."""
        low, high = self.below.min, self.below.max
        buttons = (self.unblock_all, self.clear, self.send, self.apply)
        boxes = (*self.shown.values(), *self.motions.values())
        menus = (self.agent, self.map, self.accelerator, self.search, self.mode, self.colouring)
        limits: list[tuple[Any, Control]] = [
            (self.box, all_within(0.1, _LARGEST_SIZE, 3)),
            (self.lift, within(0.0, _LARGEST_SIZE)),
            (self.crowd_size, within(1, _MOST_WALKERS, whole=True)),
            (self.below, within(low, high)),
            (self.radius, within(0.0, _LARGEST_SIZE)),
            (self.height, within(0.05, _LARGEST_SIZE)),
            (self.climb, within(0.0, _LARGEST_SIZE)),
            (self.slope, within(0.0, 90.0)),
            *((button, yes_or_no) for button in buttons),
            *((box, yes_or_no) for box in boxes),
            *((menu, one_of(lambda menu=menu: menu.options)) for menu in menus),  # type: ignore[misc]
        ]
        return {handle._impl.uuid: control for handle, control in limits}

    def _add_custom(self, gui: Any) -> None:
        usual = Agent()
        self.custom = gui.add_folder("sizes", visible=False)
        with self.custom:
            self.radius = gui.add_number("radius (m)", usual.radius, min=0.0, step=0.05)
            self.height = gui.add_number("height (m)", usual.height, min=0.05, step=0.05)
            self.climb = gui.add_number("climb (m)", usual.climb, min=0.0, step=0.05)
            self.slope = gui.add_number("slope (°)", usual.slope, min=0.0, max=90.0, step=1.0)
            self.motions = {motion: gui.add_checkbox(_named(motion), motion in usual.motions) for motion in Motion}
            self.apply = gui.add_button("Use these sizes")

    def custom_agent(self) -> Agent:
        """The agent whose sizes are set; raises a `ParameterError` where they are impossible."""
        motions = sum(int(motion) for motion, box in self.motions.items() if box.value)
        sizes = (self.radius.value, self.height.value, self.climb.value, self.slope.value)
        return Agent(*sizes, motions=motions)  # type: ignore[arg-type]

    def busy(self, what: str) -> None:
        """Say what is being done, or that nothing is."""
        self.status.content = f"{what} …" if what else "ready"
        self.progress.visible = bool(what)
        self.progress.animated = True
        self.progress.value = 100.0 if what else 0.0

    def step(self, what: str, done: int, total: int) -> None:
        """Say how far a build is."""
        share = 100.0 * done / max(1, total)
        # Tiles come by the thousand: the browser is told of whole percents only.
        if int(share) != int(self.progress.value) or not self.status.content.startswith(what):
            self.progress.animated = False
            self.progress.value = share
            self.status.content = f"{what} … {int(share)} %"

    def say_notes(self, notes: tuple[str, ...], legend: tuple[tuple[str, Colour], ...]) -> None:
        """Say what is left out and what colours mean."""
        key = "  ".join(f'<span style="color: rgb{colour}">●</span> {name}' for name, colour in legend)
        self.notes.content = "\n\n".join([*([key] if key else []), *(f"*{note}*" for note in notes)])


def _named(motion: Motion) -> str:
    return str(motion.name).lower()


_MOST_TOUCHED = 40_000


class ViewerScene:
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
            touched = self._draw(
                "/touched", Dots("nodes", some, one_colour(EXPANDED_COLOUR, len(some)), 0.8 * self.dot), None
            )
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


_FRAME = 1 / 15  # seconds between two pictures of a crowd
_PUT, _BLOCK, _UNBLOCK = MODES


class Page:
    """A session in a browser. Ready at once; the first map is built while the page can be looked at.

    Everything that plans or builds is done by one `Worker`, in order, so viser's threads never wait. Clicks that come
    while a map is being built are not taken, and the page says so.

    Parameters
    ----------
    session : Session
    host : str
        Address to listen on; only this machine can look by default.
    port : int, 0 to 65535
        The first free port from here; 0 for any free one.

    Attributes
    ----------
    session : Session
    server : viser.ViserServer
    gate : Gate
        Who may talk to it: only those who know the token of its `url`, from pages of its own.
    clicks : int
        Clicks on the scene that have come so far, taken or not.
    crowd : Crowd or None
        The last one sent.

    Raises
    ------
    MissingDependencyError
        Without viser.
    ParameterError
        When the address is not one of this machine.
    """

    def __init__(self, session: Session, *, host: str = "127.0.0.1", port: int = 8080) -> None:
        try:
            import viser
        except ImportError:
            raise MissingDependencyError("the viewer needs viser: pip install '.[view]'") from None
        _check_host(host)
        from wayfold.view.viewer.gate import Gate

        self.session = session
        self.gate = Gate(host)
        with _silence(), self.gate.guarding():
            self.server = viser.ViserServer(host=host, port=port, label="Wayfold", verbose=False)
        self.gate.at(self.server.get_port())
        bounds = np.asarray(session.world.bounds, np.float64)
        self.panel = Panel(self.server, _title(session.world), session.maps(), _usual_box(bounds), _heights(bounds))
        self.gate.controls = self.panel.controls()
        self.scene = ViewerScene(self.server, bounds)
        self.crowd: Crowd | None = None
        self.clicks = 0
        self._marching = threading.Event()
        self._march: threading.Thread | None = None
        self._level_shown = False
        self._level_notes: tuple[str, ...] = ()
        self.worker = Worker(self.panel.busy, self._fail)
        self._wire()
        self._prepare()

    @property
    def url(self) -> str:
        """Where a browser on this machine finds it; whoever knows this address may look and click."""
        host = self.server.get_host()
        name = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.server.get_port()}/?token={self.gate.token}"

    def stop(self) -> None:
        """Close the server; what is being built is given up."""
        self._halt()
        self.worker.stop()
        with _silence():
            self.server.stop()

    # --- wiring ------------------------------------------------------------------------------------------------------

    def _wire(self) -> None:
        panel, scene = self.panel, self.server.scene
        panel.agent.on_update(lambda _: self._choose_agent())
        panel.apply.on_click(lambda _: self._choose_agent())
        for method in (panel.map, panel.accelerator):
            method.on_update(lambda _: self._prepare())
        panel.search.on_update(lambda _: self._do("planning", self._choose_search))
        panel.lift.on_update(lambda _: self._do("planning", self._choose_lift))
        panel.unblock_all.on_click(lambda _: self._do("unblocking", self._unblock_all))
        panel.clear.on_click(lambda _: self._do("clearing", self._clear))
        panel.send.on_click(lambda _: self._do("sending a crowd", self._send_crowd))
        panel.colouring.on_update(lambda _: self._do("colouring", self._colour))
        panel.below.on_update(lambda _: self._do("cutting", self._cut))
        for name, box in panel.shown.items():
            box.on_update(lambda event, name=name: self.scene.visible(name, event.target.value))
        scene.on_click()(lambda event: self._click(event, panel.mode.value))
        scene.on_click(modifier="cmd/ctrl")(lambda event: self._click(event, _BLOCK))

    def _do(self, what: str, work: Callable[[], None]) -> None:
        self.worker.submit(what, work)

    def _fail(self, sentence: str) -> None:
        """Tell everyone who looks that something could not be done."""
        self.panel.report.content = f"**{sentence}**"
        for client in self.server.get_clients().values():
            client.add_notification("Not done", sentence, auto_close_seconds=8.0, color="red")

    # --- who and how -------------------------------------------------------------------------------------------------

    def _choose_agent(self) -> None:
        panel = self.panel
        panel.custom.visible = panel.agent.value == CUSTOM
        # What was chosen for one agent need not be possible for another.
        panel.map.value = panel.accelerator.value = AUTO
        self._prepare()

    def _prepare(self) -> None:
        """Build the map for what the panel says, once it is the last to say so."""
        self._do("building the map", self._build)

    def _build(self) -> None:
        session, panel = self.session, self.panel
        name = panel.agent.value
        session.choose_agent(name, panel.custom_agent() if name == CUSTOM else None)
        session.choose_method(panel.map.value, panel.accelerator.value)
        self._halt()
        self.scene.remove("crowd")
        if not self._level_shown:
            self._show_level()
        planner = session.prepare(panel.step)
        _offer(panel.accelerator, session.accelerators(), session.accelerator_name)
        _offer(panel.colouring, tuple(session.colourings()), session.colouring)
        panel.explanation.content = f"```text\n{planner.explain()}\n```"
        if not self._level_shown:
            self._show_level()
        self._show_map()
        self._show_answer()

    def _choose_search(self) -> None:
        self.session.choose_search(self.panel.search.value)
        self._show_answer()

    def _choose_lift(self) -> None:
        self.session.fly_at(self.panel.lift.value)
        self._show_answer()

    # --- clicking ----------------------------------------------------------------------------------------------------

    def _click(self, event: Any, mode: str) -> None:
        """What a click on the scene does, if the worker has nothing else to do."""
        origin = np.array(event.ray_origin) + self.scene.origin
        direction = np.array(event.ray_direction)
        if not self.worker.offer("planning", lambda: self._clicked(origin, direction, mode)):
            event.client.add_notification(
                "Not yet", f"{self.worker.busy}: click again when it is done.", auto_close_seconds=4.0
            )
        self.clicks += 1

    def _clicked(self, origin: Any, direction: Any, mode: str) -> None:
        session = self.session
        if mode == _UNBLOCK:
            shape = session.block_on(origin, direction)
            if shape is not None:
                self._tell_edit("unblocked", session.unblock(shape))
            return
        hit = session.pick(origin, direction)
        if hit is None:
            return
        if mode == _BLOCK:
            self._tell_edit("blocked", session.block(session.box_at(hit.point, self.panel.box.value)))
        else:
            session.put(hit)
            self._show_answer()

    def _unblock_all(self) -> None:
        self._tell_edit("unblocked", self.session.unblock_all())

    def _tell_edit(self, what: str, milliseconds: float) -> None:
        self.scene.show_blocks(self.session)
        self._show_answer()
        self._show_map()
        self.panel.report.content += f"\n\n{what} in {milliseconds:,.1f} ms"
        if self.session.put_off():
            self._do("bringing the accelerator up to date", self._refresh)

    def _refresh(self) -> None:
        self.session.refresh()
        self._show_answer()
        self._show_map()

    def _clear(self) -> None:
        self.session.clear()
        self._halt()
        self.scene.remove("crowd")
        self.panel.crowd.content = ""
        self._show_answer()

    # --- showing -----------------------------------------------------------------------------------------------------

    def _show_level(self) -> None:
        layer = self.session.level()
        self.scene.show("level", layer)
        self.scene.visible("level", self.panel.shown[LEVEL].value)
        self._level_notes = layer.notes
        self._level_shown = bool(layer.things)

    def _cut(self) -> None:
        panel = self.panel
        self.session.below = panel.below.value if panel.below.value < panel.below.max else None
        self._show_level()
        self._show_map()

    def _colour(self) -> None:
        session, colouring = self.session, self.panel.colouring.value
        if colouring != session.colouring and colouring in session.colourings():
            session.colouring = colouring
            self._show_map()

    def _show_map(self) -> None:
        session, panel = self.session, self.panel
        layer = session.map()
        self.scene.show("map", layer)
        self.scene.visible("map", panel.shown[MAP].value)
        panel.say_notes((*self._level_notes, *layer.notes), layer.legend)

    def _show_answer(self) -> None:
        self.scene.show_answer(self.session)
        self.scene.visible("path", self.panel.shown[PATH].value)
        self.scene.visible("touched", self.panel.shown[TOUCHED].value)
        self.panel.report.content = self.session.report()

    # --- the crowd ---------------------------------------------------------------------------------------------------

    def _send_crowd(self) -> None:
        self._halt()
        count = int(self.panel.crowd_size.value)
        crowd, took = self.session.send_crowd(count)
        self.crowd = crowd
        self._crowd_line = f"{crowd.size:,} paths by one search in {took:,.1f} ms"
        handle = self.scene.add_crowd(crowd.at(0.0), self.session.agent)
        self._marching = threading.Event()
        self._march = threading.Thread(target=self._walk, args=(crowd, handle, self._marching), daemon=True)
        self._march.start()

    def _walk(self, crowd: Crowd, handle: Any, stopped: threading.Event) -> None:
        """Move the crowd on, about fifteen times a second, until everyone has arrived."""
        begin = time.monotonic()
        seconds = 0.0
        while seconds <= crowd.seconds and not stopped.wait(_FRAME):
            seconds = time.monotonic() - begin
            self.scene.move_crowd(handle, crowd.at(seconds))
            self.panel.crowd.content = f"{self._crowd_line}; {crowd.arrived(seconds):,} have arrived"

    def _halt(self) -> None:
        """End the march."""
        self._marching.set()
        if self._march is not None:
            self._march.join()


def _silence() -> AbstractContextManager[Any]:
    """Without viser's own words on the terminal: the command says where to look."""
    return redirect_stdout(io.StringIO())


def _check_host(host: str) -> None:
    """Refuse an address that cannot be listened on, which viser would try for ever."""
    try:
        kind, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as trial:
            trial.bind(address)
    except OSError as error:
        raise ParameterError(f"cannot listen on {host}: {error.strerror or error}") from None


def _offer(dropdown: Any, options: tuple[str, ...], value: str) -> None:
    """Give a dropdown other options, if they are others."""
    if tuple(dropdown.options) != options:
        dropdown.options = options
    if dropdown.value != value:
        dropdown.value = value


def _title(world: World) -> str:
    mesh = world.mesh
    size = np.asarray(world.bounds)[1] - np.asarray(world.bounds)[0]
    sides = f"{size[0]:,.0f} × {size[1]:,.0f} × {size[2]:,.0f} m"
    return f"{world.name}: {sides}" + ("" if mesh is None else f", {len(mesh):,} triangles")


def _usual_box(bounds: Any) -> tuple[float, float, float]:
    side = round(float(np.clip(0.05 * np.linalg.norm(bounds[1] - bounds[0]), 1.0, 14.0)), 1)
    return side, side, round(float(np.clip(side / 2, 1.0, 6.0)), 1)


def _heights(bounds: Any) -> tuple[float, float]:
    low, high = float(bounds[0, 2]), float(bounds[1, 2])
    return low, max(high, low + 1.0)
