"""Pictures of the viewer for the documentation: ``python -m tests.view.screenshots FOLDER [NAME ...]``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from tests.view.browser import HOW, Looking, chromium, launched
from wayfold.view.viewer.page import Page
from wayfold.view.viewer.session import Session
from wayfold.world import World

SIZE = (200.0, 200.0)
SEED = 1
WEST, EAST = (52.0, 62.0, 0.0), (160.0, 158.0, 0.0)
BRIDGE = (87.0, 195.0, 200.0)


def main(folder: str, *names: str) -> None:
    """Make the pictures, or only those named."""
    viewer = Page(Session(World.sample("city", seed=SEED, size=SIZE)), port=0)
    try:
        with sync_playwright() as playwright:
            file = chromium(playwright)
            if file is None:
                sys.exit(f"the pictures {HOW.removeprefix('needs').strip()}")
            with launched(playwright, file) as browser:
                looking = Looking(browser, viewer, width=1400, height=880)
                assert viewer.worker.wait(900)
                for name in names or PICTURES:
                    PICTURES[name](looking)
                    save(looking, Path(folder) / f"viewer_{name}.png")
    finally:
        viewer.stop()


def save(looking: Looking, file: Path) -> None:
    """A picture once the browser has drawn twice the same."""
    for button in looking.tab.locator(".mantine-Notification-closeButton").all():
        button.click()
    looking.tab.mouse.move(300, 20)
    looking.tab.evaluate("document.querySelectorAll('*').forEach(part => { part.scrollTop = 0 })")
    before, now = None, looking.picture()
    while before is None or (before != now).any():
        before, now = now, looking.picture()
        if looking.viewer.crowd is not None and before is not None:
            break
    looking.tab.screenshot(path=file)
    print(file)


def look(looking: Looking, position: tuple[float, float, float], at: tuple[float, float, float]) -> None:
    """Move the camera, in the world's coordinates."""
    client = next(reversed(looking.viewer.server.get_clients().values()))
    origin = looking.viewer.scene.origin
    with client.atomic():
        client.camera.position = np.array(position) - origin
        client.camera.look_at = np.array(at) - origin


def show(looking: Looking, **shown: bool) -> None:
    """Tick the boxes of what is shown."""
    for name, value in shown.items():
        looking.viewer.panel.shown[name].value = value


def put(looking: Looking) -> None:
    """Start and goal on both sides of the river, straight from above."""
    session = looking.viewer.session

    def work() -> None:
        session.clear()
        for x, y, _ in (WEST, EAST):
            hit = session.pick((x, y, 200.0), (0.0, 0.0, -1.0))
            assert hit is not None
            session.put(hit)
        looking.viewer._show_answer()

    looking.viewer.worker.submit("planning", work)
    assert looking.viewer.worker.wait(300)


def path(looking: Looking) -> None:
    """A person's way over a bridge."""
    put(looking)


def levels(looking: Looking) -> None:
    """The parts of a level of the hierarchy."""
    looking.choose("colours", "level 2")


def spider(looking: Looking) -> None:
    """A climber's waypoints by motion type."""
    looking.choose("agent", "spider")


def bird(looking: Looking) -> None:
    """A flyer's subregions."""
    looking.choose("agent", "bird")
    looking.choose("colours", "subregions")


def block(looking: Looking) -> None:
    """The person again, with the bridge closed."""
    looking.choose("agent", "person")
    session = looking.viewer.session

    def work() -> None:
        hit = session.pick(BRIDGE, (0.0, 0.0, -1.0))
        assert hit is not None
        box = session.box_at(hit.point, (12.0, 30.0, 6.0))
        session.block(box)  # the first edit compiles what it needs
        session.unblock(box)
        looking.viewer._tell_edit("blocked", session.block(box))

    looking.viewer.worker.submit("blocking", work)
    assert looking.viewer.worker.wait(300)


def crowd(looking: Looking) -> None:
    """Five hundred on their way to the goal."""
    show(looking, map=False, touched=False)
    looking.tab.get_by_role("button", name="Unblock all").click()
    looking.until(lambda: not looking.viewer.session.world.blocks)
    looking.tab.get_by_role("button", name="Send the crowd to the goal").click()
    looking.until(lambda: looking.viewer.crowd is not None and " 1" in looking.viewer.panel.crowd.content[-18:])


PICTURES = {"path": path, "levels": levels, "spider": spider, "bird": bird, "block": block, "crowd": crowd}


if __name__ == "__main__":
    main(*sys.argv[1:])
