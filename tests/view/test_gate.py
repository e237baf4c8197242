"""Strangers at the viewer: other pages, other names, wrong tokens, values beyond limits, too many and too much."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from contextlib import asynccontextmanager

import pytest

from tests.view.worlds import gates
from wayfold.view.viewer.session import Session
from wayfold.world import World

viser = pytest.importorskip("viser", reason="needs viser: pip install '.[view]'")
msgspec = pytest.importorskip("msgspec")
websockets = pytest.importorskip("websockets")

from wayfold.view.viewer import gate as gates_module  # noqa: E402
from wayfold.view.viewer.page import Page  # noqa: E402

EVIL = "http://evil.example"
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [0.0, 0.0, 9.0],
    "fov": 1.0,
    "near": 0.1,
    "far": 100.0,
    "image_height": 600,
    "image_width": 800,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
}


@pytest.fixture(scope="module")
def page():
    page = Page(Session(World.from_mesh(gates(), name="gates", cache=False)), port=0)
    yield page
    page.stop()


@pytest.fixture
def port(page):
    return page.server.get_port()


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.body = answer.read()
    connection.close()
    return answer


@asynccontextmanager
async def talking(page, origin="own", host=None, token="right"):
    port = page.server.get_port()
    headers = {"Host": host} if host else {}
    query = {"right": f"?token={page.gate.token}", "wrong": "?token=guessed", "none": ""}[token]
    socket = await websockets.connect(
        f"ws://127.0.0.1:{port}/{query}",
        origin=f"http://127.0.0.1:{port}" if origin == "own" else origin,
        subprotocols=[f"viser-v{viser.__version__}"],
        additional_headers=headers,
        max_size=None,
    )
    try:
        await socket.send(msgspec.msgpack.encode(CAMERA))  # a page says so first where it looks from
        yield socket
    finally:
        await socket.close()


async def joins(page, **who):
    """Whether somebody is let in and told something, and not refused."""
    try:
        async with talking(page, **who) as socket:
            await asyncio.wait_for(socket.recv(), 30)
            return True
    except websockets.exceptions.InvalidStatus as refusal:
        return refusal.response.status_code != 403


def test_the_viewer_s_own_page_is_let_in(page):
    assert asyncio.run(joins(page))
    assert asyncio.run(joins(page, origin=None))  # a program of the user, with the token


@pytest.mark.parametrize(
    "who",
    [
        {"origin": EVIL},
        {"origin": "null"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:1"},
        {"token": "none"},
        {"token": "wrong"},
        {"token": "none", "origin": None},
        {"origin": EVIL, "token": "none"},
    ],
)
def test_strangers_are_not_let_in(page, who):
    assert not asyncio.run(joins(page, **who))


def test_names_that_were_made_to_point_here_are_refused(page, port):
    path = f"/?token={page.gate.token}"
    assert get(port, path, Host=f"evil.example:{port}").status == 403
    assert get(port, path, Host="127.0.0.1").status == 403
    assert get(port, path, Host=f"127.0.0.1:{port + 1}").status == 403
    assert get(port, path, Host=f"localhost:{port}").status == 200
    assert get(port, path).status == 200


def test_the_page_needs_the_token_and_then_keeps_it_in_a_cookie_that_other_sites_cannot_use(page, port):
    refused = get(port, "/")
    assert refused.status == 403
    assert b"address that the viewer printed" in refused.body
    assert get(port, "/?token=").status == 403
    first = get(port, f"/?token={page.gate.token}")
    cookie = first.headers["Set-Cookie"]
    assert "SameSite=Strict" in cookie
    assert "HttpOnly" in cookie
    assert get(port, "/", Cookie=cookie.split(";")[0]).status == 200
    assert get(port, "/", Cookie=f"wayfold_{port}=guessed").status == 403
    assert page.url.endswith(f"?token={page.gate.token}")


def update(handle, **updates):
    return msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": updates})


async def arrives(page, socket, value):
    """Set a control to another value and wait until the viewer has it."""
    there = threading.Event()
    page.panel.lift.on_update(lambda event: event.target.value == value and there.set())
    await socket.send(update(page.panel.lift, value=value))
    assert await asyncio.to_thread(there.wait, 30)
    assert page.panel.lift.value == value


def settle(page, *messages):
    """Send messages, then one that is taken, and wait until that one has arrived."""

    async def send():
        async with talking(page) as socket:
            for message in messages:
                await socket.send(message)
            await arrives(page, socket, page.panel.lift.value + 0.25)

    asyncio.run(send())


def test_controls_stay_within_their_limits_whatever_a_client_sends(page):
    panel = page.panel
    title = panel.title.content
    settle(
        page,
        update(panel.crowd_size, value=10**9),
        update(panel.slope, value=-7),
        update(panel.box, value=[1e300, -5.0, 2.0]),
    )
    assert panel.crowd_size.value == 20_000
    assert panel.slope.value == 0.0
    assert panel.box.value == (1000.0, 0.1, 2.0)
    refused = page.gate.refused
    wrong = [
        update(panel.crowd_size, value="many"),
        update(panel.crowd_size, value=float("nan")),
        update(panel.crowd_size, value=True),
        update(panel.crowd_size, max=10**12),
        update(panel.agent, value="whale"),
        update(panel.agent, options=["whale"]),
        update(panel.title, _markdown="<b>hello</b>"),
        update(panel.box, value=[1.0, 2.0]),
        msgspec.msgpack.encode({"type": "ShareUrlRequest"}),
        msgspec.msgpack.encode({"type": "FileTransferStartUpload", "size_bytes": 1}),
        msgspec.msgpack.encode({"type": "ScenePointerMessage", "event_type": "click", "ray_origin": [1e308] * 3}),
        msgspec.msgpack.encode({"type": "NoSuchMessage"}),
        msgspec.msgpack.encode([1, 2]),
        b"\xff\xff",
        b"",
    ]
    settle(page, *wrong)
    assert page.gate.refused == refused + len(wrong)
    assert panel.crowd_size.value == 20_000
    assert panel.agent.value == "person"
    assert panel.title.content == title


async def crowd_of_clients(page):
    sockets = []
    try:
        while True:
            joined = talking(page)
            sockets.append((joined, await joined.__aenter__()))
    except websockets.exceptions.InvalidStatus as refusal:
        return len(sockets), refusal.response.status_code
    finally:
        for joined, _ in sockets:
            await joined.__aexit__(None, None, None)


def test_there_is_room_for_some_clients_and_no_more(page):
    for _ in range(2):  # who leaves makes room
        count, status = asyncio.run(crowd_of_clients(page))
        assert 1 <= count <= gates_module.MOST_CLIENTS
        assert status == 503
    assert asyncio.run(joins(page))


def test_who_floods_or_sends_too_much_is_sent_away_and_others_go_on(page):
    async def flood(socket, message, count):
        try:
            for _ in range(count):
                await socket.send(message)
            while True:
                await asyncio.wait_for(socket.recv(), 30)
        except websockets.exceptions.ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None

    async def scene():
        async with talking(page) as calm:
            async with talking(page) as loud:
                assert await flood(loud, update(page.panel.lift, value=5.0), 2000) == 1008
            async with talking(page) as large:
                assert await flood(large, bytes(gates_module.LARGEST_MESSAGE + 1), 1) == 1009
            await arrives(page, calm, 44.0)

    asyncio.run(scene())


def test_a_viewer_on_every_address_answers_to_numbers_and_to_the_machine_s_own_name():
    gate = gates_module.Gate("0.0.0.0")
    gate.at(8080)
    assert gate._is_here("192.168.1.7:8080")
    assert gate._is_here("localhost:8080")
    assert not gate._is_here("evil.example:8080")
    assert not gate._is_here("192.168.1.7:80")
    other = gates_module.Gate("192.168.1.7")
    other.at(8080)
    assert other._is_here("192.168.1.7:8080")
    assert not other._is_here("127.0.0.1:8080")


def test_requests_that_are_no_addresses_or_no_text_are_refused(page, port):
    text = "Accept: */*"
    for path, headers in (("http://[::1/?token=x", text), ("/", "Cookie: caf\u00e9=\u00fc"), ("/?token=\u00e9", text)):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n\r\n".encode("latin-1"))
            assert connection.recv(64).split()[1] in (b"400", b"403")


def test_messages_with_fields_that_are_missing_or_too_many_are_refused(page):
    click = {
        "type": "ScenePointerMessage",
        "event_type": "click",
        "ray_origin": [0.0, 0.0, 1.0],
        "ray_direction": [0.0, 0.0, -1.0],
        "screen_pos": [[0.5, 0.5]],
        "modifier": None,
    }
    camera = {
        "type": "ViewerCameraMessage",
        "wxyz": [1.0, 0.0, 0.0, 0.0],
        "position": [0.0] * 3,
        "look_at": [1.0] * 3,
        "up_direction": [0.0, 0.0, 1.0],
        "fov": 1.0,
        "near": 0.1,
        "far": 100.0,
        "image_height": 100,
        "image_width": 100,
    }
    admitted = page.gate.admitted
    for message in (click, camera):
        assert admitted(msgspec.msgpack.encode(message)) is not None
        assert admitted(msgspec.msgpack.encode({**message, "more": 1})) is None
    del click["screen_pos"]
    assert admitted(msgspec.msgpack.encode(click)) is None
    assert admitted(msgspec.msgpack.encode({**camera, "far": "x"})) is None
