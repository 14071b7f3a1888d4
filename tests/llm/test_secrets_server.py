"""Keys go to the server that they are for, and nowhere else; foreign text does nothing to a
terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.llm.chat_server import (
    FAULTS,
    ChatServer,
    Request,
    Response,
    answer_to,
    completion,
    error,
)

import groundfault as gf
from groundfault.errors import UsageError
from groundfault.llm.gemini import gemini
from groundfault.llm.openai_chat import openai, vllm
from groundfault.llm.server import ChatOptions
from groundfault.runner.session import folder_name

ESCAPE = "\x1b[2J\x1b]0;owned\x07\u009b31m"
PLAIN = "\\x1b[2J\\x1b]0;owned\\x07\\x9b31m"


@contextmanager
def noting(status: int, location: str = "") -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that notes the headers of every request and answers all of them alike."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(dict(self.headers))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            body = b'{"data": [{"id": "theirs"}]}'
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("which", ["chat", "models", "gemini"])
def test_no_redirect_carries_a_key(
    status: int,
    which: str,
    exam_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Any,
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "vllm-5ecret5ecret")
    monkeypatch.setenv("GEMINI_API_KEY", "g-5ecret5ecret")
    with noting(200) as (elsewhere, theirs), noting(status, f"{elsewhere}/v1/x") as (url, ours):
        model = {"chat": "openai:m", "models": f"vllm:{url}", "gemini": "gemini:m"}[which]
        base = () if which == "models" else ("--base-url", url)
        ran = run(
            "eval", exam_folder, "--model", model, *base, "--out", tmp_path / "runs", "--yes",
            "--limit", 1, "--mode", "std",
        )  # fmt: skip
        assert ran.code == 2 and ours and not theirs
        keys = {"chat": "Authorization", "models": "Authorization", "gemini": "x-goog-api-key"}
        names = {name.lower() for name in ours[0]}
        assert keys[which].lower() in names, "the key went where it belongs"


@pytest.mark.parametrize(
    "address",
    [
        "http://me:pa55word@127.0.0.1:9/v1", "http://pa55word@127.0.0.1:9/v1",
        "http://127.0.0.1:9/v1?api_key=pa55word", "http://127.0.0.1:9/v1?a=1&key=pa55word",
        "http://127.0.0.1:9/v1?access_token=pa55word", "https://127.0.0.1:9/?X-Amz-Signature=pa55word",
        "HTTP://me:pa55word@127.0.0.1:9", "http://127.0.0.1:9/v1#token=pa55word",
        "http://127.0.0.1:9/v1?accessToken=pa55word", "http://127.0.0.1:9/v1;bearer=pa55word",
        "http://127.0.0.1:9/v1?x=1;code=pa55word", "http://127.0.0.1:9/sk-pa55word90abcdef12/v1",
    ],
)  # fmt: skip
def test_credentials_in_addresses_are_refused_before_anything_has_the_name(
    address: str, exam_folder: Path, tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "runs"
    command = ("eval", exam_folder, "--out", out, "--yes", "--limit", 1)
    for more in (
        ("--model", f"vllm:{address}"),
        ("--model", f"agent:nano-base+vllm:{address},turns=4"),
        ("--model", "openai:m", "--base-url", address),
        ("--model", "openai:m", "--base-url", "http://127.0.0.1:9", "--judge", f"vllm:{address}"),
    ):
        ran = run(*command, *more)
        assert ran.code == 2 and "holds" in ran.err, more
        assert "pa55word" not in ran.out + ran.err and not out.exists()
    with pytest.raises(UsageError, match="the address of"):
        gf.evaluate(exam_folder, f"vllm:{address}", out)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(UsageError, match="the address of"):
        openai("m", ChatOptions())
    with pytest.raises(UsageError, match="the address of"):
        gemini("m", ChatOptions(base_url=address))
    assert not out.exists()


def test_azures_version_stays_in_the_address() -> None:
    base = "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21"
    server = openai("m", ChatOptions(base_url=base))
    where, _, query = server.url.partition("?")
    assert where.endswith("/openai/deployments/d/chat/completions")
    assert query == "api-version=2024-10-21"
    assert (
        vllm("http://127.0.0.1:9#m", ChatOptions()).url == "http://127.0.0.1:9/v1/chat/completions"
    )
    assert folder_name(f"vllm:{base}#m")


def test_escape_sequences_of_a_server_are_spelled_out(
    run: Any, exam_folder: Path, tmp_path: Path
) -> None:
    def behave(request: Request) -> Response:
        if request.number % 2:
            return error(400, f"bad {ESCAPE}")
        return Response(content=completion(answer_to(request.words)))

    with ChatServer(behave) as server:
        command = (
            "eval",
            exam_folder,
            "--base-url",
            server.url,
            "--yes",
            "--mode",
            "std",
            "--bootstrap",
            0,
        )
        ran = run(*command, "--model", "openai:m", "--out", tmp_path / "a")
        assert PLAIN in ran.err, "as one of the reasons"
        odd = run(*command, "--model", f"openai:m{ESCAPE}", "--out", tmp_path / "b", "--limit", 1)
        server.behave = lambda request: error(401, ESCAPE)
        stopped = run(*command, "--model", "openai:m", "--out", tmp_path / "c", "--limit", 1)
    for each in (ran, odd, stopped):
        assert "\x1b" not in each.out + each.err and "\u009b" not in each.out + each.err


def test_all_waiting_together_is_bounded(run: Any, exam_folder: Path, tmp_path: Path) -> None:
    with ChatServer(lambda request: error(429, "slow down", {"Retry-After": "0.2"})) as server:
        ran = run(
            "eval", exam_folder, "--model", "openai:m", "--base-url", server.url, "--yes",
            "--out", tmp_path / "a", "--mode", "std", "--max-wait", 0.5,
        )  # fmt: skip
        assert ran.code == 2 and "waited for 0.5 s in all" in ran.err
        with pytest.raises(gf.GroundfaultError, match="s in all"):
            gf.evaluate(
                exam_folder,
                "openai:m",
                tmp_path / "b",
                base_url=server.url,
                mode="std",
                max_wait_s=0.5,
            )


@pytest.mark.parametrize("fault", ["hang", "500", "dropped", "HTML"])
def test_a_server_that_never_answers_is_not_waited_for(
    run: Any, exam_folder: Path, tmp_path: Path, fault: str
) -> None:
    """One question at a time, 24 failures in a row are a long time: waiting counts by itself."""
    with ChatServer(FAULTS[fault]) as server:
        for limit, words in (("--max-wait", "in all"), ("--patience", "answered nothing for")):
            server.requests.clear()
            ran = run(
                "eval", exam_folder, "--model", "openai:m", "--base-url", server.url, "--yes",
                "--out", tmp_path / limit, "--mode", "std", "--concurrency", 1, "--timeout", 0.2,
                limit, 0.3,
            )  # fmt: skip
            assert ran.code == 2 and words in ran.err, ran.err
            assert len(server.requests) < 12
