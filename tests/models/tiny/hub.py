"""A hub on the loopback: folders served as checkpoints, with the faults of the real one."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Serves `checkpoints`: name → folder, or the fault that it has."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.checkpoints: dict[str, Path | str] = {}
        self.broken_files: set[str] = set()
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A hub in a thread, until the block ends."""
    hub = Hub()
    thread = threading.Thread(target=hub.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._reply()

    def do_GET(self) -> None:
        self._reply()

    def log_message(self, format: str, *args: Any) -> None:
        self.server.asked.append(f"{self.command} {self.path}")

    def _reply(self) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            name, action, revision = "/".join(parts[2:4]), parts[4], parts[5]
        else:
            name, action, revision = "/".join(parts[:2]), parts[2], parts[3]
        held = self.server.checkpoints.get(name, "RepoNotFound")
        if isinstance(held, str):
            return self._fault(403 if held == "GatedRepo" else 401, held)
        if revision not in (COMMIT, "main", "v1"):
            return self._fault(404, "RevisionNotFound")
        if action == "revision":
            files = [{"rfilename": file.name} for file in sorted(held.iterdir())]
            return self._json({"id": name, "sha": COMMIT, "siblings": files})
        if action == "tree":
            return self._json([_entry(file) for file in sorted(held.iterdir())])
        return self._file(held / parts[-1])

    def _file(self, file: Path) -> None:
        if file.name in self.server.broken_files:
            return self._fault(400, "Broken")
        if not file.is_file():
            return self._fault(404, "EntryNotFound")
        content = file.read_bytes()
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
        self._send(200, content, headers)

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _fault(self, status: int, code: str) -> None:
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": f"{code} (loopback)"})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


def _entry(file: Path) -> dict[str, Any]:
    """A file of a listing."""
    content = file.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return {"type": "file", "path": file.name, "size": len(content), "oid": blob}
