"""A hub of datasets on the loopback, with the faults of real ones."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

FIRST, SECOND = "1" * 40, "2" * 40


@dataclass
class Held:
    """A dataset: commit → path → content."""

    commits: dict[str, dict[str, bytes]]
    main: str = FIRST
    licence: str = "cc-by-4.0"
    fault: str = ""
    """GatedRepo or RepoNotFound."""


@dataclass
class Faults:
    """What goes wrong with a file, by path."""

    cut_after: dict[str, int] = field(default_factory=dict)
    """The connection is dropped after so many bytes; once, unless it is in `always`."""
    always: set[str] = field(default_factory=set)
    other_content: dict[str, bytes] = field(default_factory=dict)
    status: dict[str, list[int]] = field(default_factory=dict)
    """Prediction with these codes, one request after another."""
    listed_names: dict[str, str] = field(default_factory=dict)
    """Listed under another name."""
    stall_after: dict[str, int] = field(default_factory=dict)
    """Nothing more is sent after so many bytes."""
    elsewhere: str = ""
    """Files are sent from this address, as the real hub's are."""


class DatasetHub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.datasets: dict[str, Held] = {}
        self.faults = Faults()
        self.asked: list[str] = []
        self.tokens: set[str] = set()
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def files_asked(self) -> list[str]:
        """Paths of the files that were asked for, with the range if there was one."""
        return [line.partition("/resolve/")[2][41:] for line in self.asked if "/resolve/" in line]


@contextmanager
def running_hub() -> Iterator[DatasetHub]:
    """A hub in a thread, until the block ends."""
    hub = DatasetHub()
    thread = threading.Thread(target=hub.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.stopping.set()
        hub.shutdown()
        hub.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: DatasetHub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path.startswith("/api/agent-harnesses"):  # the library's own curiosity
            return self._send(404, b"", {})
        self.server.asked.append(f"{unquote(self.path)} {self.headers.get('Range', '')}".strip())
        self.server.tokens.add(self.headers.get("Authorization", ""))
        parts = [unquote(part) for part in self.path.partition("?")[0].strip("/").split("/")]
        if parts[:2] == ["api", "datasets"]:
            return self._listing("/".join(parts[2:4]), parts[5])
        assert parts[0] == "datasets" and parts[3] == "resolve"
        return self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))

    def _held(self, name: str, revision: str) -> tuple[Held, str] | None:
        held = self.server.datasets.get(name)
        if held is None or held.fault:
            code = held.fault if held else "RepoNotFound"
            self._fault(403 if code == "GatedRepo" else 401, code)
            return None
        commit = held.main if revision == "main" else revision
        if commit not in held.commits:
            self._fault(404, "RevisionNotFound")
            return None
        return held, commit

    def _listing(self, name: str, revision: str) -> None:
        found = self._held(name, revision)
        if found is None or self._failing("listing"):
            return
        held, commit = found
        names = self.server.faults.listed_names
        files = [
            _sibling(names.get(path, path), content)
            for path, content in held.commits[commit].items()
        ]
        card = {"license": held.licence} if held.licence else {}
        content = {"id": name, "sha": commit, "siblings": files, "cardData": card}
        self._send(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _file(self, name: str, revision: str, path: str) -> None:
        found = self._held(name, revision)
        if found is None or self._failing(path):
            return
        held, commit = found
        if path not in held.commits[commit]:
            return self._fault(404, "EntryNotFound")
        faults = self.server.faults
        if faults.elsewhere:
            return self._send(302, b"", {"Location": faults.elsewhere + self.path})
        content = faults.other_content.get(path, held.commits[commit][path])
        status, headers, start = 200, {}, 0
        if "Range" in self.headers:
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        cut = faults.cut_after.get(path)
        if cut is not None and path not in faults.always:
            del faults.cut_after[path]
        self._send(status, content[start:], headers, cut=cut, stall=faults.stall_after.get(path))

    def _failing(self, what: str) -> bool:
        codes = self.server.faults.status.get(what)
        if not codes:
            return False
        self._fault(codes.pop(0), "Broken")
        return True

    def _fault(self, status: int, code: str) -> None:
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": f"{code} (loopback)"})

    def _send(
        self,
        status: int,
        content: bytes,
        headers: dict[str, str],
        cut: int | None = None,
        stall: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if stall is not None:
            self.wfile.write(content[:stall])
            self.server.stopping.wait()
            return
        self.wfile.write(content if cut is None else content[:cut])
        if cut is not None:
            self.close_connection = True


def _sibling(path: str, content: bytes) -> dict[str, Any]:
    """A file of a listing: large ones as LFS has them."""
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    entry: dict[str, Any] = {"rfilename": path, "size": len(content), "blobId": blob}
    if not path.endswith(".json"):
        digest = hashlib.sha256(content).hexdigest()
        entry["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 130}
    return entry
