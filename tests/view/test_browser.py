"""The viewer in a headless Chromium: what a person sees and clicks."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from tests.view.browser import HOW, Looking, chromium, launched
from tests.view.worlds import NORTH, SOUTH, WIDE, gates
from wayfold.errors import ParameterError
from wayfold.view.viewer.drawing import BLOCK, ROUTE
from wayfold.view.viewer.session import Session
from wayfold.world import World

viser = pytest.importorskip("viser", reason="needs viser: pip install '.[view]'")
sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install '.[dev]'")

from wayfold.view.viewer.page import Page  # noqa: E402


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        file = chromium(playwright)
        if file is None:
            pytest.skip(HOW)
        with launched(playwright, file) as browser:
            yield browser


@pytest.fixture(scope="module")
def viewer(browser):
    viewer = Page(Session(World.from_mesh(gates(), name="gates", cache=False)), port=0)
    yield viewer
    viewer.stop()


@pytest.fixture(scope="module")
def tab(browser, viewer):
    looking = Looking(browser, viewer)
    yield looking
    assert not looking.errors


@pytest.fixture
def looking(tab):
    """A viewer that is ready, with nothing chosen, clicked or blocked."""
    assert tab.viewer.worker.wait(900)
    yield tab
    tab.tab.get_by_role("button", name="Unblock all").click()
    tab.tab.get_by_role("button", name="Clear start and goal").click()
    tab.until(lambda: not tab.viewer.session.world.blocks and tab.viewer.session.start is None)
    assert tab.viewer.worker.wait(120)


def two_clicks(looking):
    looking.click(SOUTH)
    looking.click(NORTH)
    looking.tab.get_by_text("settled nodes").wait_for()


def test_the_page_loads_and_says_what_to_do(looking):
    looking.ready()
    assert looking.tab.get_by_text("gates: 40 × 40").is_visible()
    assert looking.tab.get_by_text("Click on the level to put the start").is_visible()


def test_two_clicks_make_a_path_that_is_seen_and_measured(looking):
    two_clicks(looking)
    looking.until(lambda: looking.shows(ROUTE, (-9.0, -6.0, 0.25)))
    assert looking.told("length") == pytest.approx(24.0, abs=1.0)
    assert looking.told("time") > 0
    assert looking.told("plain A*") > 0
    np.testing.assert_allclose(looking.viewer.session.start.hit.point, SOUTH, atol=0.3)
    np.testing.assert_allclose(looking.viewer.session.goal.hit.point, NORTH, atol=0.3)


def test_another_agent_goes_another_way(looking):
    two_clicks(looking)
    person = looking.told("length")
    looking.choose("agent", "cart")
    looking.until(lambda: looking.told("length") > person + 10)
    looking.until(lambda: looking.shows(ROUTE, (WIDE[0] + 1.0, 0.0, 0.25), reach=40))
    looking.choose("agent", "person")
    looking.until(lambda: looking.told("length") == pytest.approx(person, abs=0.1))


def test_a_blocked_street_moves_the_path_and_opening_it_moves_it_back(looking):
    two_clicks(looking)
    person = looking.told("length")
    looking.click((-9.0, -1.5, 0.0), modifier="Control")
    assert len(looking.viewer.session.world.blocks) == 1
    looking.until(lambda: looking.told("length") > person + 10)
    looking.until(lambda: looking.shows(BLOCK, (-9.0, -1.5, 0.8), slack=110))
    looking.choose("puts", "unblock")
    looking.click((-9.0, -1.5, 0.0))
    looking.choose("puts", "start & goal")
    assert not looking.viewer.session.world.blocks
    looking.until(lambda: looking.told("length") == pytest.approx(person, abs=0.1))


def test_a_crowd_of_five_hundred_sets_out(looking):
    two_clicks(looking)
    looking.tab.get_by_role("button", name="Send the crowd to the goal").click()
    looking.tab.get_by_text("500 paths by one search").wait_for()
    crowd = looking.viewer.crowd
    assert crowd.size == 500
    looking.tab.get_by_text("have arrived").wait_for()


def test_every_colouring_can_be_chosen_and_the_page_says_why(looking):
    for colouring in looking.viewer.session.colourings():
        looking.choose("colours", colouring)
    looking.tab.get_by_text("Why", exact=True).click()
    looking.tab.get_by_text("accelerator  hierarchy").wait_for()


def test_while_a_map_is_built_the_page_can_be_used_and_clicks_are_not_taken(looking):
    gate = threading.Event()
    looking.viewer.worker.submit("building the map", gate.wait)
    try:
        looking.tab.get_by_text("building the map …").wait_for()
        before = looking.viewer.clicks
        looking.tab.mouse.click(*looking.pixel(SOUTH))
        looking.tab.get_by_text("click again when it is done").wait_for()
        looking.until(lambda: looking.viewer.clicks > before)
        box = looking.viewer.panel.shown["map"]
        for shown in (False, True):
            looking.tab.get_by_label("the map").click()
            looking.until(lambda shown=shown: box.value == shown)
    finally:
        gate.set()
    looking.ready()
    assert looking.viewer.session.start is None


def test_only_this_machine_can_look_unless_told_otherwise(looking):
    assert looking.viewer.server.get_host() == "127.0.0.1"
    addresses = {item[4][0] for item in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses:
        if not address.startswith("127."):
            with socket.socket() as knock:
                knock.settimeout(2)
                assert knock.connect_ex((address, looking.viewer.server.get_port()))


def test_an_address_that_is_not_of_this_machine_is_refused_in_a_sentence():
    with pytest.raises(ParameterError, match=r"cannot listen on 192\.0\.2\.1"):
        Page(Session(World.from_mesh(gates(), cache=False)), host="192.0.2.1", port=0)


def test_another_site_s_page_is_not_let_in(browser, viewer, looking):
    """A page of another port of this machine, which a browser takes for another origin of the same site."""
    page = b"<html><body>another site</body></html>"

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    other = HTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        context = browser.new_context()
        context.add_cookies(looking.tab.context.cookies())  # of whoever looks
        tab = context.new_page()
        tab.goto(f"http://127.0.0.1:{other.server_port}/")
        address = f"ws://127.0.0.1:{viewer.server.get_port()}/?token={viewer.gate.token}"
        ended = tab.evaluate(
            """([address, protocol]) => new Promise(done => {
                const socket = new WebSocket(address, protocol);
                socket.onopen = () => done("open");
                socket.onerror = () => done("refused");
            })""",
            [address, f"viser-v{viser.__version__}"],
        )
        assert ended == "refused"
        context.close()
    finally:
        other.shutdown()
