"""`wayfold view`."""

from __future__ import annotations

import importlib.util
import signal
import threading
import webbrowser
from pathlib import Path
from typing import Any

from wayfold.errors import MissingDependencyError, ParameterError


def run(
    file: Path | None, sample: str | None, options: dict[str, Any], host: str, port: int, open_: bool, triangles: int
) -> None:
    """Open a world, serve it to a browser and stay until interrupted."""
    if (file is None) == (sample is None):
        raise ParameterError("wayfold view needs a file, or --sample NAME, not both")
    if importlib.util.find_spec("viser") is None:
        raise MissingDependencyError("the viewer needs viser: pip install '.[view]'")
    from wayfold.view.viewer.page import Page
    from wayfold.view.viewer.session import Session
    from wayfold.world import World

    if sample is not None:
        world = World.sample(sample, **_sample_options(sample, options))
    else:
        wrong = [f"--{name}" for name in ("seed", "size") if options[name] is not None]
        if wrong:
            raise ParameterError(f"{', '.join(wrong)} is for a sample, not for a file")
        assert file is not None
        world = World.open(file, up=options["up"])
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


def _sample_options(sample: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a sample that were given; a city's size is that of both sides."""
    if options["up"] is not None:
        raise ParameterError("--up is for a file, not for a sample")
    given = {name: options[name] for name in ("seed", "size") if options[name] is not None}
    if sample == "city" and "size" in given:
        given["size"] = (given["size"], given["size"])
    return given
