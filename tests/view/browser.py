"""A headless Chromium for the viewer's tests and screenshots."""

from __future__ import annotations

import io
import os
import shutil
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

HOW = (
    "needs a Chromium: install one (apt install chromium, or playwright install chromium), "
    "or name its file by WAYFOLD_CHROMIUM"
)
# Software rendering, so that WebGL works on machines without a graphics card.
_OPTIONS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars"]
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium(playwright) -> str | None:
    """The file of a Chromium: WAYFOLD_CHROMIUM, one on the PATH, or Playwright's own; None where there is none."""
    named = os.environ.get("WAYFOLD_CHROMIUM")
    if named:
        return named
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).is_file() else None)


@contextmanager
def launched(playwright, file):
    """The browser, while it is needed. Its sandbox does not work for root, as whom containers often run."""
    options = [*_OPTIONS, "--no-sandbox"] if os.geteuid() == 0 else _OPTIONS
    browser = playwright.chromium.launch(executable_path=file, args=options)
    try:
        yield browser
    finally:
        browser.close()


class Looking:
    """A browser's tab with a viewer `Page` in it."""

    def __init__(self, browser, viewer, *, width=1280, height=800):
        self.viewer = viewer
        self._moved = threading.Condition()
        viewer.server.on_client_connect(self._follow)
        self.tab = browser.new_page(viewport={"width": width, "height": height})
        self.tab.set_default_timeout(60_000)
        self.errors = []
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.goto(viewer.url)
        self.tab.get_by_text("Who and how").wait_for()
        self._wait_for_camera()

    def _follow(self, client):
        client.camera.on_update(self._note)

    def _note(self, camera):
        with self._moved:
            self._moved.notify_all()

    def _wait_for_camera(self):
        """Until the browser looks from where it was told to."""
        wanted = self.viewer.server.initial_camera.position

        def there():
            clients = list(self.viewer.server.get_clients().values())
            return bool(clients) and np.allclose(clients[-1].camera.position, wanted, atol=1e-2, rtol=1e-3)

        # Playwright's own events come only while it is asked something.
        end = time.monotonic() + 60
        while not there():
            assert time.monotonic() < end, "the camera did not arrive"
            self.tab.evaluate("new Promise(requestAnimationFrame)")

    def ready(self):
        """Wait until the panel says that everything is done."""
        self.tab.get_by_text("ready", exact=True).wait_for()

    def pixel(self, point):
        """Where a point of the world is on the tab, in pixels from the upper left."""
        camera = next(reversed(self.viewer.server.get_clients().values())).camera
        at = np.asarray(point, float) - self.viewer.scene.origin - camera.position
        ahead = camera.look_at - camera.position
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right = right / np.linalg.norm(right)
        size = self.tab.viewport_size
        focal = size["height"] / 2 / np.tan(camera.fov / 2)
        x, y = right @ at / (ahead @ at), np.cross(right, ahead) @ at / (ahead @ at)
        return size["width"] / 2 + focal * x, size["height"] / 2 - focal * y

    def click(self, point, **options):
        """Click on a point of the world, and wait until what it asks for is done."""
        before = self.viewer.clicks
        self.tab.mouse.move(*self.pixel(point))
        if "modifier" in options:
            self.tab.keyboard.down(options["modifier"])
        self.tab.mouse.click(*self.pixel(point))
        if "modifier" in options:
            self.tab.keyboard.up(options["modifier"])
        self.until(lambda: self.viewer.clicks > before)
        assert self.viewer.worker.wait(120)

    def until(self, condition, seconds=60):
        """Let the browser draw until a condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            self.tab.evaluate("new Promise(requestAnimationFrame)")

    def choose(self, label, option):
        """Choose from a dropdown of the panel, and wait until it is done."""
        self.tab.get_by_label(label, exact=True).click()
        self.tab.get_by_role("option", name=option, exact=True).click()
        handle = {"agent": self.viewer.panel.agent, "search": self.viewer.panel.search, "puts": self.viewer.panel.mode}
        handle |= {"colours": self.viewer.panel.colouring, "map": self.viewer.panel.map}
        self.until(lambda: handle[label].value == option)
        assert self.viewer.worker.wait(300)

    def told(self, name):
        """The figure that the panel's table has in the row of this name."""
        cell = self.tab.locator("tr", has_text=name).first.locator("td").nth(1)
        return float(cell.inner_text().split()[0].replace(",", ""))

    def picture(self):
        """What the tab shows, (height, width, 3) uint8."""
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.tab.screenshot())).convert("RGB"))

    def shows(self, colour, near, *, reach=12, slack=60):
        """Whether a colour is seen near a point of the world."""
        x, y = (round(value) for value in self.pixel(near))
        part = self.picture()[max(0, y - reach) : y + reach + 1, max(0, x - reach) : x + reach + 1].astype(int)
        return bool((np.abs(part - np.array(colour)).max(axis=2) < slack).any())
