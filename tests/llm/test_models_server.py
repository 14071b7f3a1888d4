"""Which model a server has: asked once, through the HTTP client, and never at another address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from groundfault.errors import GroundfaultError, UsageError
from groundfault.llm.openai_chat import vllm
from groundfault.llm.server import ChatOptions

KEY = "vllm-5ecret5ecret"


@contextmanager
def serving(status: int, body: bytes = b"", location: str = "") -> Iterator[tuple[str, list[str]]]:
    """A server that answers every request alike; its address, and the keys that it was sent."""
    keys: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.append(self.headers.get("Authorization", ""))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", keys
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)


def test_the_only_model_is_taken() -> None:
    with serving(200, b'{"data": [{"id": "mine"}]}') as (url, keys):
        assert vllm(url, ChatOptions()).model == "mine"
    assert keys == [f"Bearer {KEY}"]


def test_no_redirect_carries_the_key() -> None:
    with (
        serving(200, b'{"data": [{"id": "theirs"}]}') as (elsewhere, theirs),
        serving(302, location=f"{elsewhere}/v1/models") as (url, ours),
    ):
        with pytest.raises(GroundfaultError, match="does not say which models it has"):
            vllm(url, ChatOptions())
        assert ours and not theirs


@pytest.mark.parametrize("body", [b"", b"{", b'{"data": 3}', b"<html>", b'{"data": [{"id": 1}]}'])
def test_what_is_no_list_is_one_message(body: bytes) -> None:
    with serving(200, body) as (url, _), pytest.raises(GroundfaultError, match="#NAME"):
        vllm(url, ChatOptions())


def test_several_models_have_to_be_told_apart() -> None:
    two = b'{"data": [{"id": "a"}, {"id": "b"}]}'
    with serving(200, two) as (url, _), pytest.raises(UsageError, match="has a, b; name one"):
        vllm(url, ChatOptions())


def test_nobody_there() -> None:
    with serving(200) as (url, _):
        pass
    with pytest.raises(GroundfaultError, match="start the server"):
        vllm(url, ChatOptions(timeout_s=5.0))
