"""The viewer in the browser: the panel and the scene of one session, served by viser."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout
from typing import Any

import numpy as np

from wayfold.errors import MissingDependencyError, ParameterError
from wayfold.view.viewer.agents import CUSTOM
from wayfold.view.viewer.crowd import Crowd
from wayfold.view.viewer.panel import LEVEL, MAP, PATH, TOUCHED, Panel
from wayfold.view.viewer.scene import Scene
from wayfold.view.viewer.session import AUTO, MODES, Session
from wayfold.view.viewer.worker import Worker
from wayfold.world import World

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
        self.scene = Scene(self.server, bounds)
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
