"""An aiohttp server on loopback, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import Any, Self


class LoopbackService:
    """A server with the routes of a subclass; `with` starts and ends it."""

    port: int = 0

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def routes(self) -> Iterable[tuple[str, str, Any]]:
        """Method, path and handler."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(60)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    async def _start(self) -> None:
        from aiohttp import web

        app = web.Application(client_max_size=128 << 20)
        for method, path, handler in self.routes():
            app.router.add_route(method, path, handler)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
