"""Who may talk to the viewer, and what they may say.

A server on this machine can be reached by every web page that a browser here has open, and by every program. viser lets
them all in and does what they send. The gate stands between: a connection needs the secret of the address that the
viewer prints, must come from a page of the viewer itself, and may send only what the viewer's own page sends, within
the limits of its controls.
"""

from __future__ import annotations

import hmac
import http
import ipaddress
import secrets
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import websockets
import websockets.asyncio.server
from viser.infra import Message
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from wayfold.errors import MissingDependencyError

MOST_CLIENTS = 16
MOST_MESSAGES = 300  # a second from one client; a browser sends a camera for each of its 60 frames
LARGEST_MESSAGE = 1 << 16  # bytes
_LARGEST_NUMBER = 1e9
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_BUILDING = threading.Lock()

Control = Callable[[Any], Any]
"""Makes what a client sent as a control's value one that it can have, or raises a `ValueError`."""


class Gate:
    """Checks of one viewer.

    Parameters
    ----------
    host : str
        The address that the viewer listens on.

    Attributes
    ----------
    token : str
        The secret; ``?token=`` of the address that is printed.
    controls : dict of str to callable
        By the id of a control: what its value may be. Values of other controls are not taken.
    refused : int
        Connections and messages that were not taken so far.
    """

    def __init__(self, host: str) -> None:
        self.token = secrets.token_urlsafe(24)
        self.controls: dict[str, Control] = {}
        self.refused = 0
        self._host = host
        self._port = 0
        self._clients = 0

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """While a viser server is made inside, its connections are led through this gate.

        Raises
        ------
        MissingDependencyError
            When the installed viser makes its connections in another way: then nothing is served.
        """
        from viser.infra import _infra

        real = getattr(_infra, "websockets", None)
        if real is not websockets:
            raise MissingDependencyError(_UNKNOWN_VISER)
        used: list[bool] = []

        def serve(handler: Any, host: str, port: int, **options: Any) -> Any:
            used.append(True)
            self._port = port
            options["process_request"] = self._checked(options.get("process_request"))
            options["max_size"] = LARGEST_MESSAGE
            return websockets.asyncio.server.serve(self._handled(handler), host, port, **options)

        with _BUILDING:
            _infra.websockets = SimpleNamespace(
                asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
                datastructures=websockets.datastructures,
                exceptions=websockets.exceptions,
            )
            try:
                yield
            finally:
                _infra.websockets = websockets
        if not used:
            raise MissingDependencyError(_UNKNOWN_VISER)

    def at(self, port: int) -> None:
        """Say which port is served."""
        self._port = port

    # --- who ---------------------------------------------------------------------------------------------------------

    def _checked(self, serve_file: Callable[..., Any] | None) -> Callable[..., Any]:
        """Answer requests of strangers; pass those of the viewer's own page on."""

        def process(connection: Any, request: Request) -> Response | None:
            problem = self._problem(request)
            if problem is not None:
                self.refused += 1
                return _answer(*problem)
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return None
            if serve_file is None:
                return _answer(http.HTTPStatus.NOT_FOUND, "there is nothing here")
            response: Response = serve_file(connection, request)
            response.headers["Set-Cookie"] = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            response.headers["X-Frame-Options"] = "DENY"
            response.headers["Referrer-Policy"] = "no-referrer"
            return response

        return process

    @property
    def _cookie(self) -> str:
        return f"wayfold_{self._port}"  # cookies of a host are shared by its ports

    def _problem(self, request: Request) -> tuple[http.HTTPStatus, str] | None:
        """Why a request is refused; None where it is not."""
        forbidden = http.HTTPStatus.FORBIDDEN
        hosts = request.headers.get_all("Host")
        if len(hosts) != 1 or not self._is_here(hosts[0]):
            return forbidden, "this viewer is not served under that name"
        socket_wanted = request.headers.get("Upgrade", "").lower() == "websocket"
        origins = request.headers.get_all("Origin")
        if len(origins) > 1 or (origins and origins[0] != f"http://{hosts[0]}"):
            return forbidden, "this viewer talks only to pages of its own"
        if not self._knows_token(request):
            return forbidden, "open the whole address that the viewer printed, with its token"
        if socket_wanted and self._clients >= MOST_CLIENTS:
            return http.HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_CLIENTS} people are looking already"
        return None

    def _is_here(self, host: str) -> bool:
        """Whether a Host header names the address that is served.

        Where every address of the machine is served it must be a number or the machine's name: a page of a stranger's
        domain that was made to point here keeps its own name in the header.
        """
        name, _, port = host.rpartition(":")
        if port != str(self._port):
            return False
        allowed = {self._host, *(_LOOPBACK if _is_loopback(self._host) else ())}
        if name in allowed:
            return True
        if self._host not in ("0.0.0.0", "::", ""):
            return False
        return name in ("localhost", socket.gethostname()) or _is_address(name)

    def _knows_token(self, request: Request) -> bool:
        try:
            given = parse_qs(urlsplit(request.path).query).get("token", [])
        except ValueError:  # no address at all
            return False
        for cookie in request.headers.get("Cookie", "").split(";"):
            name, _, value = cookie.strip().partition("=")
            if name == self._cookie:
                given.append(value)
        return any(hmac.compare_digest(value.encode(errors="surrogatepass"), self.token.encode()) for value in given)

    # --- what --------------------------------------------------------------------------------------------------------

    def _handled(self, handler: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        async def handle(connection: Any) -> None:
            self._clients += 1
            try:
                await handler(_Checked(connection, self))
            finally:
                self._clients -= 1

        return handle

    def admitted(self, raw: Any) -> bytes | None:
        """A client's message with its values within limits; None where it is not one that the page sends."""
        try:
            message = msgspec.msgpack.decode(raw)
            kind = message["type"]
            if kind == "GuiUpdateMessage":
                if set(message["updates"]) != {"value"}:
                    raise ValueError("only values are set")
                message["updates"] = {"value": self.controls[message["uuid"]](message["updates"]["value"])}
            elif kind == "ScenePointerMessage":
                if message["event_type"] != "click":
                    raise ValueError("only clicks are taken")
                _check_numbers(message["ray_origin"], 3)
                if not any(_check_numbers(message["ray_direction"], 3)):
                    raise ValueError("a ray needs a direction")
            elif kind == "ViewerCameraMessage":
                for name, count in (("wxyz", 4), ("position", 3), ("look_at", 3), ("up_direction", 3)):
                    _check_numbers(message[name], count)
                _check_numbers([message[name] for name in ("fov", "near", "far", "image_height", "image_width")], 5)
            else:
                raise ValueError(f"{kind} is not for clients")
            checked = msgspec.msgpack.encode(message)
            Message.deserialize(checked)  # fields that are missing or too many would end the connection later
            return checked
        except Exception:  # whatever is wrong with a message: it is not taken
            self.refused += 1
            return None


class _Checked:
    """A connection whose messages go through a gate."""

    def __init__(self, connection: Any, gate: Gate) -> None:
        self._connection = connection
        self._gate = gate
        self._second = 0.0
        self._count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes:
        """The next message that may be taken; who sends too many is sent away."""
        while True:
            raw = await self._connection.recv()
            now = time.monotonic()
            if now - self._second > 1.0:
                self._second, self._count = now, 0
            self._count += 1
            if self._count > MOST_MESSAGES:
                self._gate.refused += 1
                await self._connection.close(1008, "too many messages")
                continue  # the next recv ends the connection
            message = self._gate.admitted(raw)
            if message is not None:
                return message


_UNKNOWN_VISER = "the viewer cannot guard the connections of this version of viser: pip install 'viser>=1.1,<2'"


def within(low: float, high: float, whole: bool = False) -> Control:
    """A number from `low` to `high`: what lies outside is set to the nearer limit."""

    def control(value: Any) -> float | int:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise ValueError("not a number")
        clamped = min(max(value, low), high)
        return round(clamped) if whole else float(clamped)

    return control


def all_within(low: float, high: float, count: int) -> Control:
    """So many numbers, each `within` limits."""
    one = within(low, high)

    def control(value: Any) -> list[float]:
        if not isinstance(value, (list, tuple)) or len(value) != count:
            raise ValueError(f"not {count} numbers")
        return [float(one(part)) for part in value]

    return control


def one_of(options: Callable[[], Any]) -> Control:
    """One of what a list offers at the moment."""

    def control(value: Any) -> Any:
        if not isinstance(value, str) or value not in options():
            raise ValueError("not offered")
        return value

    return control


def yes_or_no(value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def _check_numbers(values: Any, count: int) -> list[float]:
    if not isinstance(values, (list, tuple)) or len(values) != count:
        raise ValueError("not the right number of numbers")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _LARGEST_NUMBER:
            raise ValueError("not a number")
    return list(values)


def _answer(status: http.HTTPStatus, sentence: str) -> Response:
    body = f"{sentence}\n".encode()
    headers = Headers()
    headers["Content-Type"] = "text/plain; charset=utf-8"
    headers["Content-Length"] = str(len(body))
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
