"""`wayfold view`."""

from __future__ import annotations

import importlib.util
import signal
import threading
import webbrowser
from pathlib import Path
from typing import Any

from wayfold.cli.output import sample_options
from wayfold.errors import MissingDependencyError, ParameterError


def run(
    file: Path | None, sample: str | None, options: dict[str, Any], host: str, port: int, open_: bool, triangles: int
) -> None:
    """Open a world, serve it to a browser and stay until interrupted."""
    if (file is None) == (sample is None):
        raise ParameterError("wayfold view needs either a file or --sample NAME")
    if importlib.util.find_spec("viser") is None:
        raise MissingDependencyError("the viewer needs viser: pip install '.[view]'")
    from wayfold.view.viewer.page import Page
    from wayfold.view.viewer.session import Session
    from wayfold.world import World

    source = str(file) if sample is None else f"sample:{sample}"
    if options["up"] is not None and source.startswith("sample:"):
        raise ParameterError("--up is for a file, not for a sample")
    given = sample_options(source, options["seed"], options["size"])
    world = World.open(source, up=options["up"], **given) if sample is None else World.sample(sample, **given)
    page = Page(Session(world, most=triangles), host=host, port=port)
    ended = threading.Event()
    # Before the address is printed: whoever reads it may end the viewer at once.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    print(f"{world.name}: {page.url} (Ctrl-C ends it)", flush=True)
    if open_:
        webbrowser.open(page.url)
    ended.wait()
    page.stop()
