"""What is refused before any handler sees it, and what every response says.

Plain ASGI, because a middleware that wraps responses in tasks costs a third of the requests per
second. The list, in the order in which requests meet it:

- the Host must be ours, so that no foreign name can be pointed at this address;
- a request that changes something comes from our own pages: JSON, our header, our Origin. Forms of
  other sites can set none of these, and the session's cookie is SameSite=Strict besides;
- no body is larger than `MAX_BODY_BYTES`;
- every response forbids inline scripts, frames, sniffing, referrers, and caches unless told.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADER", "MAX_BODY_BYTES", "POLICY", "Guard", "RateLimit", "Site", "hosts_of"]

HEADER = "x-groundfault"
"""Our scripts set it to 1 with each request that changes something."""
MAX_BODY_BYTES = 8 << 20
"""A mask of 2048 × 2048 noisy pixels has 3 MB of run lengths; nothing else comes near."""
SAFE_METHODS = ("GET", "HEAD")
POLICY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Site(msgspec.Struct, frozen=True):
    """Where the desk is reached."""

    url: str
    """As people open it, without a slash at its end: http://127.0.0.1:8765, or the address of a
    tunnel."""
    hosts: frozenset[str] | None = None
    """The values of Host that are answered; None answers any, where the names of a shared machine
    are not known."""

    @property
    def is_tls(self) -> bool:
        """Whether browsers reach it over TLS, so that cookies may insist on it."""
        return self.url.startswith("https:")

    @property
    def cookie(self) -> str:
        """The name of the session's cookie. Cookies do not tell ports apart: without this, two
        desks on one machine would sign each other's people out."""
        return f"groundfault-{urlsplit(self.url).port or 'desk'}"

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Whether a request with this Origin and this Host comes from our own pages."""
        return origin == self.url or origin in (f"http://{host}", f"https://{host}")


class RateLimit:
    """At most `most` events per `seconds` and key, counted when they happen."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._seen: dict[str, deque[float]] = {}

    def is_exhausted(self, key: str) -> bool:
        """Whether this key has to wait."""
        return len(self._recent(key)) >= self.most

    def count(self, key: str) -> None:
        """Note an event now."""
        self._recent(key).append(time.monotonic())
        if len(self._seen) > 10_000:  # an attacker with many addresses does not fill the memory
            self._seen = {k: times for k, times in self._seen.items() if self._recent(k)}

    def _recent(self, key: str) -> deque[float]:
        times = self._seen.setdefault(key, deque(maxlen=self.most))
        while times and time.monotonic() - times[0] > self.seconds:
            times.popleft()
        return times


class Guard:
    """The middleware that holds the list above."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app, self.site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem = self._problem(scope["method"], headers)
        if problem is not None:
            status, words = problem
            await JSONResponse({"error": words}, status)(scope, receive, _with_policy(send))
            return
        await self.app(scope, _bounded(receive), _with_policy(send))

    def _problem(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self.site.hosts is not None and host not in self.site.hosts:
            return 421, "this address is not served here"
        if method in SAFE_METHODS:
            return None
        if method != "POST":
            return 405, "only GET and POST are answered"
        if headers.get(HEADER) != "1":
            return 403, "requests that change something come from the desk's own pages"
        if not self.site.is_own_origin(headers.get("origin", ""), host):
            return 403, "requests that change something come from the desk's own pages"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "requests are JSON"
        length = headers.get("content-length", "")
        if not length.isdecimal() or len(length) > 12:
            return 411, "requests say how long they are"
        if int(length) > MAX_BODY_BYTES:
            return 413, f"requests have {MAX_BODY_BYTES >> 20} MB at most"
        return None


def _bounded(receive: Receive) -> Receive:
    """Bodies end at the limit whatever their header promised; servers hold clients to it, but not
    every one does."""
    read_bytes = 0

    async def bounded() -> Message:
        nonlocal read_bytes
        message = await receive()
        read_bytes += len(message.get("body", b""))
        if read_bytes > MAX_BODY_BYTES:
            return {"type": "http.disconnect"}
        return message

    return bounded


def _with_policy(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in POLICY.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending


def hosts_of(urls: Iterable[str]) -> frozenset[str]:
    """The values of Host that belong to these addresses.

    >>> sorted(hosts_of(["http://127.0.0.1:80", "https://desk.example"]))
    ['127.0.0.1', '127.0.0.1:80', 'desk.example']
    """
    found = set()
    for url in urls:
        parts = urlsplit(url)
        found.add(parts.netloc)
        if parts.port == {"http": 80, "https": 443}.get(parts.scheme):
            found.add(parts.netloc.rpartition(":")[0])
    return frozenset(found)
