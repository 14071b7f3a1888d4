"""A server that speaks OpenAI's chat protocol, on loopback, with every fault that we know of.

It runs in a thread with its own event loop and notes what it was sent. What it answers follows
from the question, so a mixed-up answer is seen.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HOUR_S = 3600.0
LONGEST_S = 120.0


@dataclass
class Request:
    """What came in."""

    number: int
    key: str
    """Hash of the body."""
    body: dict[str, Any]
    authorization: str
    path: str = ""
    """With its query."""
    at: float = field(default_factory=time.monotonic)

    @property
    def words(self) -> str:
        content = self.body["messages"][0]["content"]
        return content if isinstance(content, str) else content[-1]["text"]

    @property
    def pictures(self) -> list[str]:
        content = self.body["messages"][0]["content"]
        return [] if isinstance(content, str) else [p["image_url"]["url"] for p in content[:-1]]

    @property
    def last(self) -> tuple[str, list[str]]:
        """Words and pictures of the last message, whatever was said before it."""
        content = self.body["messages"][-1]["content"]
        if isinstance(content, str):
            return content, []
        return content[-1]["text"], [part["image_url"]["url"] for part in content[:-1]]

    @property
    def n_pictures(self) -> int:
        """Of the whole conversation."""
        contents = [message["content"] for message in self.body["messages"]]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        return sum(part["type"] == "image_url" for part in parts)


@dataclass
class Response:
    """What goes out."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    drop: bool = False
    """Close the connection instead."""
    cut_after: int | None = None
    """Close it after so many bytes."""
    drip_s: float = 0.0
    """Between pieces of the content."""


def completion(text: str | None, finish: str = "stop", **message: Any) -> bytes:
    """A whole answer."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": finish,
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage}).encode()


def answer_to(words: str) -> str:
    """What the server answers to a prompt."""
    return f"Yes. [{hashlib.sha256(words.encode()).hexdigest()[:12]}]"


def sound(request: Request) -> Response:
    """The answer of a server in good health."""
    return Response(content=completion(answer_to(request.words)))


def error(status: int, message: str = "no", headers: dict[str, str] | None = None) -> Response:
    """An error as OpenAI words it."""
    content = json.dumps({"error": {"message": message, "type": "x", "code": None}}).encode()
    return Response(status, content, headers or {})


@functools.cache
def _large() -> bytes:
    return completion("x" * (20 << 20))


FAULTS: dict[str, Callable[[Request], Response]] = {
    "429 with Retry-After": lambda r: error(429, "slow down", {"Retry-After": "0.05"}),
    "429 without": lambda r: error(429, "slow down"),
    "500": lambda r: error(500, "oops"),
    "dropped": lambda r: Response(drop=True),
    "cut": lambda r: Response(content=sound(r).content, cut_after=40),
    "hang": lambda r: Response(content=sound(r).content, wait_s=HOUR_S),
    "drip": lambda r: Response(content=sound(r).content, drip_s=0.2),
    "invalid JSON": lambda r: Response(content=b'{"choices": [{"mess'),
    "HTML": lambda r: Response(content=b"<html>Bad gateway</html>"),
    "wrong schema": lambda r: Response(content=b'{"result": "yes"}'),
    "wrong types": lambda r: Response(content=b'{"choices": [{"message": {"content": 7}}]}'),
    "error in a 200": lambda r: Response(content=error(500, "upstream is down").content),
    "no choices": lambda r: Response(content=b'{"choices": []}'),
    "20 MB": lambda r: Response(content=_large()),
}


def some_faults(shares: dict[str, float], seed: int = 0) -> Callable[[Request], Response]:
    """A server with each fault at a given share of requests."""
    rng = random.Random(seed)

    def behave(request: Request) -> Response:
        draw = rng.random()
        for fault, share in shares.items():
            draw -= share
            if draw < 0:
                return FAULTS[fault](request)
        return sound(request)

    return behave


class ChatServer:
    """The server; `with` starts and ends it."""

    def __init__(
        self, behave: Callable[[Request], Response] = sound, *, delay_s: float = 0.0
    ) -> None:
        self.behave, self.delay_s = behave, delay_s
        self.ready: Callable[[Request], bool] = lambda request: True
        """No request is answered before this is true of it."""
        self.requests: list[Request] = []
        self.most_at_once = self.at_once = 0
        self.port = 0
        self._place = socket.socket()
        """Bound but deaf: while the server is down nobody else gets its port."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def __enter__(self) -> ChatServer:
        if sys.platform == "linux":  # elsewhere two cannot be bound to one port
            self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._place.bind(("127.0.0.1", 0))
            self.port = self._place.getsockname()[1]
        self._thread.start()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.die()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LONGEST_S)
        self._loop.close()
        self._place.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def times_asked(self) -> Counter[str]:
        """How often each body came."""
        return Counter(request.key for request in self.requests)

    def start(self) -> None:
        """Listen, always on the same port."""
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(LONGEST_S)

    def die(self) -> None:
        """Stop listening and close every connection."""
        asyncio.run_coroutine_threadsafe(self._die(), self._loop).result(LONGEST_S)

    def wait_for(self, n: int) -> None:
        """Answer nobody before n ask at once, or a minute has passed."""
        end = time.monotonic() + 60
        self.ready = lambda request: self.most_at_once >= n or time.monotonic() > end

    def wait_until_left(self) -> None:
        """Until every client is gone, and all that it sent has been read."""
        end = time.monotonic() + LONGEST_S
        while self._connections:
            assert time.monotonic() < end, "some client is still there"
            time.sleep(0.005)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, limit=1 << 26
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _die(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its response; False ends the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:])
        }
        if head[0].startswith("GET"):
            await _send(writer, Response(content=b'{"data": [{"id": "tiny-vlm"}]}'))
            return True
        content = await reader.readexactly(int(headers["content-length"]))
        request = Request(
            number=len(self.requests),
            key=hashlib.sha256(content).hexdigest(),
            body=json.loads(content),
            authorization=headers.get("authorization", ""),
            path=head[0].split(" ")[1],
        )
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            while not self.ready(request):
                if reader.at_eof() or reader.exception():
                    return False
                await asyncio.sleep(0.002)
            response = self.behave(request)
            await asyncio.sleep(self.delay_s + response.wait_s)
        finally:
            self.at_once -= 1
        if response.drop:
            return False
        return await _send(writer, response)


async def _send(writer: asyncio.StreamWriter, response: Response) -> bool:
    lines = [
        f"HTTP/1.1 {response.status} Whatever",
        "Content-Type: application/json",
        f"Content-Length: {len(response.content)}",
        *(f"{name}: {value}" for name, value in response.headers.items()),
    ]
    writer.write("\r\n".join((*lines, "", "")).encode())
    if response.cut_after is not None:
        writer.write(response.content[: response.cut_after])
        await writer.drain()
        return False
    if not response.drip_s:
        writer.write(response.content)
        await writer.drain()
        return True
    for start in range(0, len(response.content), 8):
        writer.write(response.content[start : start + 8])
        await writer.drain()
        await asyncio.sleep(response.drip_s)
    return True
