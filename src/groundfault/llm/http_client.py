"""The HTTP client: sends a request until a sensible response comes back, or its retries end.

The client is aiohttp: of those measured (bench/asking.py) it is the one that is fast and also does
TLS, proxies and limits. Bodies under way are bounded in bytes together, responses one by one.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from groundfault.errors import GroundfaultError, MissingExtra
from groundfault.llm.circuit import Circuit, ServerDown
from groundfault.llm.event_loop import run_coroutine
from groundfault.llm.retry import RetryPolicy, retry_after_s
from groundfault.llm.server import LargeResponses, Refused, Server, Unsound, read_reply
from groundfault.records import Reply

__all__ = ["GaveUp", "HttpClient", "Response", "Stopping", "get", "send"]

LARGEST_RESPONSE = 8 << 20
"""An answer of 1,024 tokens is 4 kB; what is larger than this is not one."""
UNDER_WAY_BYTES = 256 << 20
LARGE_BODY = 1 << 20
"""From here on a body is handed over as a file, which aiohttp sends in pieces."""
SHORTEST_SECRET = 8
"""Bytes. A shorter one ("x", as local servers take it) is none, and would be found in answers."""
OK, BUSY = 200, 429
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class GaveUp(GroundfaultError):
    """One request got no sensible response."""


class Stopping(GroundfaultError):
    """The run stops; this request was not sent, or not again."""


class Response(NamedTuple):
    """A response, and the reply that it holds."""

    body: bytes
    reply: Reply
    seconds: float


class _Setback(NamedTuple):
    """An attempt without a sensible response."""

    reason: str
    counts: bool
    """Whether the request may be to blame."""
    wait_s: float | None = None
    """As the server asked; None is our own growing wait."""


class HttpClient:
    """A client of one server. Used as `async with`, in one event loop."""

    def __init__(self, server: Server, retry: RetryPolicy, *, concurrency: int) -> None:
        self.server, self.retry = server, retry
        self.stopping = asyncio.Event()
        self.circuit = Circuit(retry)
        self.retries = 0
        self._concurrency = concurrency
        self._largest = LARGEST_RESPONSE
        if isinstance(server, LargeResponses):
            self._largest = server.largest_response
        known = (secret.encode() for secret in server.secrets())
        self._secrets = tuple(secret for secret in known if len(secret) >= SHORTEST_SECRET)
        self._under_way = 0
        self._left = asyncio.Event()

    async def __aenter__(self) -> HttpClient:
        aiohttp = _aiohttp()
        self._unreachable = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        self._broken = (aiohttp.ClientError, OSError)  # TimeoutError is an OSError
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._concurrency),
            headers=self.server.headers(),
            timeout=aiohttp.ClientTimeout(
                total=self.retry.timeout_s, sock_connect=self.retry.connect_s
            ),
            proxy=_proxy(self.server.url),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    def abandon(self) -> None:
        """Wait no longer for responses that are under way."""
        self._abandoned = asyncio.ensure_future(self._session.close())

    async def post(self, body: bytes) -> Response:
        """Send a request until there is a reply; raises Refused, GaveUp, ServerDown or Stopping."""
        while self._under_way and self._under_way + len(body) > UNDER_WAY_BYTES:
            self._left.clear()
            await self._left.wait()
        self._under_way += len(body)
        try:
            return await self._post_with_retries(body)
        finally:
            self._under_way -= len(body)
            self._left.set()

    async def _post_with_retries(self, body: bytes) -> Response:
        counted, began = 0, time.monotonic()
        for setbacks in range(1_000_000):
            found = await self._attempt(body)
            if isinstance(found, Response):
                return found
            self.retries += 1
            counted += found.counts
            seconds = time.monotonic() - began
            if counted >= self.retry.attempts:
                raise GaveUp(f"{found.reason}, {counted} times")
            if not setbacks:
                self.circuit.waited_in_vain(found.reason)
            wait_s = self.retry.wait_s(setbacks) if found.wait_s is None else found.wait_s
            if found.wait_s is not None and wait_s > self.retry.outage_s:
                raise ServerDown(
                    f"the server asks to wait for {wait_s:.3g} s ({found.reason}). Remedy: run the "
                    f"same command again then, or with a --patience of more than "
                    f"{self.retry.outage_s:g}"
                )
            left = self.retry.outage_s - seconds
            if left < 0 or (found.wait_s is not None and wait_s > left):
                raise GaveUp(f"{found.reason}, for {seconds:.0f} s")
            if found.wait_s is not None:
                wait_s = self.retry.granted_s(wait_s)
            await self._sleep(min(wait_s, left, max(0.0, self.circuit.stall_left_s())))
        raise GaveUp("asked a million times")

    async def _attempt(self, body: bytes) -> Response | _Setback:
        tries = await self.circuit.passage(self.stopping)
        try:
            if self.stopping.is_set():
                raise Stopping("the run was stopped before it was answered")
            return await self._post_once(body, tries)
        finally:
            if tries:
                self.circuit.tried()

    async def _post_once(self, body: bytes, tries: bool) -> Response | _Setback:
        started = time.perf_counter()
        try:
            status, wait_s, content = await self._send(body)
        except self._broken as problem:
            unreachable = isinstance(problem, self._unreachable)
            reason = self._reason(problem)
            self.circuit.failed(reason, unreachable=unreachable, tried=tries)
            return _Setback(reason, not unreachable, 0.0 if unreachable else None)
        if 200 <= status < 300:
            try:
                if content is None:
                    raise Unsound(f"the response is larger than {self._largest >> 20} MB")
                reply = read_reply(self.server, content)
            except Unsound as problem:
                self.circuit.unreadable(str(problem))
                return _Setback(str(problem), True)
            self.circuit.served()
            return Response(content, reply, time.perf_counter() - started)
        meant = self.server.problem(status, content or b"")
        if status == BUSY:
            self.circuit.busy(str(meant))
        elif status < 500:
            self.circuit.alive()
        else:
            self.circuit.failed(str(meant), unreachable=False, tried=tries)
        if isinstance(meant, Refused):
            raise meant
        return _Setback(str(meant), status != BUSY, meant.wait_s if wait_s is None else wait_s)

    async def _send(self, body: bytes) -> tuple[int, float | None, bytes | None]:
        """Status, seconds that Retry-After asks for, and content; None if it is too large."""
        data = body if len(body) < LARGE_BODY else io.BytesIO(body)
        async with self._session.post(
            self.server.url, data=data, allow_redirects=False
        ) as response:
            wait_s = retry_after_s(response.headers.get("Retry-After"))
            content = bytearray()
            async for piece in response.content.iter_any():
                content += piece
                if len(content) > self._largest:
                    response.close()
                    return response.status, wait_s, None
            return response.status, wait_s, self._without_secrets(bytes(content))

    async def _sleep(self, seconds: float) -> None:
        """Wait, but not longer than the run lasts."""
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.stopping.wait()

    def _without_secrets(self, content: bytes) -> bytes:
        """Some servers repeat the key in an error, and echo servers repeat everything."""
        for secret in self._secrets:
            content = content.replace(secret, b"[key]")
        return content

    def _reason(self, problem: Exception) -> str:
        if isinstance(problem, self._unreachable) and isinstance(problem, TimeoutError):
            return f"no connection within {self.retry.connect_s:g} s"
        if isinstance(problem, TimeoutError):
            return f"no whole response within {self.retry.timeout_s:g} s"
        words = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        return self._without_secrets(words.encode()).decode()


def get(
    url: str, headers: Mapping[str, str], *, timeout_s: float, largest: int = LARGEST_RESPONSE
) -> bytes:
    """What an address holds, asked for once. It is not looked for elsewhere: a redirect might carry
    the key to another host. Raises OSError."""
    return run_coroutine(_request("GET", url, headers, None, timeout_s, largest))


def send(url: str, headers: Mapping[str, str], body: bytes, *, timeout_s: float) -> bytes:
    """What a server answers to a body that is posted once; as `get`."""
    return run_coroutine(_request("POST", url, headers, body, timeout_s, LARGEST_RESPONSE))


async def _request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    timeout_s: float,
    largest: int,
) -> bytes:
    aiohttp = _aiohttp()
    limits = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=limits, headers=headers, proxy=_proxy(url)) as session,
            session.request(method, url, data=body, allow_redirects=False) as response,
        ):
            content = bytearray()
            async for piece in response.content.iter_any():
                content += piece
                if len(content) > largest:
                    raise OSError(f"more than {largest >> 20} MB came back")
            if response.status != OK:
                words = " ".join(content[:300].decode("utf-8", "replace").split())
                raise OSError(f"HTTP {response.status}: {words}")
            return bytes(content)
    except aiohttp.ClientError as problem:
        raise OSError(str(problem) or type(problem).__name__) from None


def _aiohttp() -> Any:
    try:
        return import_module("aiohttp")
    except ModuleNotFoundError:
        raise MissingExtra("aiohttp", "asking") from None


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for an address; this machine needs none. aiohttp's own
    `trust_env` looks it up for every request, in a thread, which takes longer than the request."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    address = urlsplit(url)
    if address.hostname in (None, *LOOPBACK) or proxy_bypass(str(address.hostname)):
        return None
    return getproxies().get(address.scheme)
