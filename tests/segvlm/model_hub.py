"""A hub on the loopback that takes models: what `upload_folder` asks for, no more."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "1" * 40


class ModelHub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.created: list[tuple[str, str, bool]] = []
        self.files: dict[str, bytes] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: ModelHub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        path = self.path.partition("?")[0]
        if path == "/api/repos/create":
            asked = json.loads(body)
            hidden = asked.get("private") or asked.get("visibility") == "private"
            self.server.created.append((asked["organization"], asked["name"], bool(hidden)))
            self._say({"url": f"{self.server.url}/me/it", "id": "me/it"})
        elif path.endswith("/preupload/main"):
            files = json.loads(body)["files"]
            self._say({"files": [{"path": file["path"], "uploadMode": "regular",
                                  "shouldIgnore": False} for file in files]})  # fmt: skip
        elif path.endswith("/commit/main"):
            for line in body.splitlines():
                value = json.loads(line)["value"]
                if "content" in value:
                    self.server.files[value["path"]] = base64.b64decode(value["content"])
            address = f"{self.server.url}/me/it/commit/{COMMIT}"
            self._say({"success": True, "commitOid": COMMIT, "commitUrl": address})
        else:
            self._say({})

    def do_GET(self) -> None:
        self._say({"id": "me/it", "sha": COMMIT, "siblings": []})

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def _say(self, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def running_model_hub() -> Iterator[ModelHub]:
    """A hub in a thread, until the block ends."""
    hub = ModelHub()
    thread = threading.Thread(target=hub.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
