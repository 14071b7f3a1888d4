"""Start and stop: one address, one line about it, an end on Ctrl-C.

The desk listens on loopback. Another address has to be asked for (`share`), and its link should go
through TLS: with a certificate of one's own, or with the https address of a tunnel or proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import socket
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from groundfault.errors import MissingExtra, UsageError
from groundfault.web.security import Site, hosts_of

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = [
    "LOOPBACK",
    "Address",
    "Running",
    "bind",
    "serve",
    "serve_in_background",
    "site_of",
    "usual_port",
]

LOOPBACK = "127.0.0.1"
GRACE_S = 3
"""How long requests under way are waited for at the end."""


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where the desk listens, and what its address is from outside."""

    host: str = ""
    """"" for loopback, or for every interface where it is shared."""
    port: int = 0
    """0 for any that is free."""
    usual_port: int = 0
    """Tried first where any port would do: a page that is open finds a desk that was started again,
    and what it has not sent yet."""
    share: bool = False
    public_url: str = ""
    """What people open, where a tunnel or proxy stands before the desk."""
    certificate: Path | None = None
    key: Path | None = None

    def check(self) -> None:
        """Refuse what does not fit together, before anything is opened."""
        if self.host and not _is_loopback(self.host) and not self.share:
            raise UsageError(
                f"--host {self.host} lets other machines in: say --share too, or leave it out"
            )
        if (self.certificate is None) != (self.key is None):
            raise UsageError("--certificate and --key belong together: give both")
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise UsageError(f"{file}: no such file")
        parts = urlsplit(self.public_url)
        if self.public_url and (parts.scheme not in ("http", "https") or not parts.netloc):
            raise UsageError(f"--public-url {self.public_url}: give http(s)://HOST[:PORT]")
        if parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
            raise UsageError(f"--public-url {self.public_url}: without path, query and user")

    @property
    def bound_host(self) -> str:
        """The address to listen on."""
        open_to_all = self.share and not self.public_url
        return self.host or ("0.0.0.0" if open_to_all else LOOPBACK)


def bind(address: Address) -> socket.socket:
    """A socket that listens at this address."""
    address.check()
    if address.usual_port and not address.port:
        with contextlib.suppress(OSError):
            return _listening(address.bound_host, address.usual_port)
    try:
        return _listening(address.bound_host, address.port)
    except OSError as problem:
        where = f"{address.bound_host}:{address.port}"
        raise UsageError(
            f"cannot listen at {where} ({problem.strerror}); give another --port, or none for any"
        ) from None


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    place = socket.socket(family, socket.SOCK_STREAM)
    try:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
        place.listen(1024)
    except OSError:
        place.close()
        raise
    return place


def usual_port(folder: Path) -> int:
    """A port that belongs to a folder, as far as ports can.

    >>> usual_port(Path("/a")) == usual_port(Path("/a")) != usual_port(Path("/b"))
    True
    """
    return 20_000 + zlib.crc32(str(folder.resolve()).encode()) % 12_000


def site_of(address: Address, place: socket.socket) -> Site:
    """How the desk at this socket is reached."""
    port = place.getsockname()[1]
    scheme = "https" if address.certificate else "http"
    bound = address.bound_host
    own = [f"{scheme}://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    if address.public_url:
        public = address.public_url.rstrip("/")
        return Site(public, hosts_of([public, *own]))
    if _is_loopback(bound):
        name = f"[{bound}]" if ":" in bound else bound
        return Site(f"{scheme}://{name}:{port}", hosts_of([f"{scheme}://{name}:{port}", *own]))
    name = _own_address() if bound in ("0.0.0.0", "::") else bound
    return Site(f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}")


def _own_address() -> str:
    """The address by which this machine reaches others, so probably they it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])


def serve(
    make: Callable[[Site], Starlette],
    address: Address,
    *,
    link: Callable[[Site], str],
    more: Callable[[Site], str] = lambda site: "",
    browser: bool = True,
) -> None:
    """Serve until Ctrl-C or SIGTERM. `make` builds the application once the address is known;
    `link` is printed, and opened in a browser, when it answers, `more` goes to stderr."""
    place = bind(address)
    site = site_of(address, place)
    try:
        app = make(site)
        _warn_if_readable(address, site)
        server = _server(app, address)
        gc.enable()  # the command line turns it off, which is for short lives
        asyncio.run(_serve(server, place, lambda: _ready(link(site), more(site), browser)))
    finally:
        place.close()


async def _serve(server: Any, place: socket.socket, ready: Callable[[], None]) -> None:
    """Run the server, and say when it answers."""
    loop = asyncio.get_running_loop()
    with _ended_by_signals(loop, server):
        running = asyncio.create_task(server.serve([place]))
        while not server.started and not running.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready()
        await running


@contextlib.contextmanager
def _ended_by_signals(loop: asyncio.AbstractEventLoop, server: Any) -> Iterator[None]:
    """Let the first signal end the server in good order: for it, that is no error. A second one
    does not wait for requests under way."""
    import signal

    def end() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    numbers = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in numbers:
            loop.add_signal_handler(number, end)
    except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _server(app: Starlette, address: Address) -> Any:
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("uvicorn", "desk") from None

    class Server(uvicorn.Server):
        def capture_signals(self) -> Any:  # its own way is to raise them again at the end
            return contextlib.nullcontext()

    return Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,  # paths and addresses of people are nobody's business
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=64 << 10,
            ssl_certfile=address.certificate,
            ssl_keyfile=address.key,
        )
    )


def _ready(link: str, more: str, browser: bool) -> None:
    print(link, flush=True)
    if more:
        print(more, file=sys.stderr, flush=True)
    if browser:
        import webbrowser

        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _warn_if_readable(address: Address, site: Site) -> None:
    """Say that a shared desk without TLS can be read on its way."""
    if address.share and not site.is_tls:
        print(
            "warning: this link is not encrypted. Give --certificate and --key, or --public-url "
            "with the https address of a tunnel or proxy",
            file=sys.stderr,
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Running:
    """A desk in a thread of this process, as notebooks want it."""

    def __init__(self, url: str, server: Any, thread: threading.Thread) -> None:
        self.url = url
        self._server, self._thread = server, thread

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self._server.should_exit = True
        self._thread.join()

    def __repr__(self) -> str:
        return f"<desk at {self.url}>"


def serve_in_background(
    make: Callable[[Site], Starlette], *, link: Callable[[Site], str], port: int = 0
) -> Running:
    """Serve on loopback from a thread; returns when it answers."""
    address = Address(port=port)
    place = bind(address)
    site = site_of(address, place)
    server = _server(make(site), address)
    started = threading.Event()

    def work() -> None:
        try:
            asyncio.run(_serve(server, place, started.set))
        finally:
            place.close()
            started.set()

    thread = threading.Thread(target=work, daemon=True, name="desk")
    thread.start()
    started.wait()
    return Running(link(site), server, thread)
