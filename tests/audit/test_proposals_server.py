"""Phrases proposed by a chat model, over a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.audit.scripted import write_pictures
from tests.conftest import Ran
from tests.llm.chat_server import ChatServer, Request, Response, completion

from groundfault.io.phrases import read_phrases

pytest.importorskip("aiohttp")

GOOD = """Here it is:
{"phrases": ["worker"], "exclusive": [["person with helmet", "person without helmet"]],
 "absent": ["crane"], "same": [["helmet", "hard hat"]], "part_of": [], "kind_of": [],
 "remarks": "looks like a building site"}"""
CONTRADICTING = GOOD.replace(
    '[["helmet", "hard hat"]]', '[["person with helmet", "person without helmet"]]'
)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def propose(
    run: Callable[..., Ran], tmp_path: Path, replies: list[str]
) -> tuple[Ran, list[Request]]:
    """Ask a server that gives these replies in turn, the last again and again."""
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        return Response(content=completion(replies[min(len(seen), len(replies)) - 1]))

    images = write_pictures(tmp_path / "photographs", range(6))
    with ChatServer(answer) as server:
        ended = run(
            "audit", "--propose", tmp_path / "p.toml", "--images", images, "--by", "openai:tiny",
            "--base-url", server.url, "--thing", "helmet",
        )  # fmt: skip
    return ended, seen


def test_a_chat_model_proposes(run: Callable[..., Ran], tmp_path: Path) -> None:
    ended, seen = propose(run, tmp_path, [GOOD])
    assert ended.code == 0, ended.err
    found = read_phrases(tmp_path / "p.toml")
    assert found.exclusive == (("person with helmet", "person without helmet"),)
    assert found.absent == ("crane",)
    assert "by openai:tiny" in (tmp_path / "p.toml").read_text()
    [request] = seen
    assert "helmet" in request.words and len(request.pictures) == 3


def test_it_is_told_what_is_wrong(run: Callable[..., Ran], tmp_path: Path) -> None:
    ended, seen = propose(run, tmp_path, [CONTRADICTING, GOOD])
    assert ended.code == 0, ended.err
    assert len(seen) == 2 and "exclusive and the same" in seen[1].last[0]


def test_what_cannot_be_used_is_not_written(run: Callable[..., Ran], tmp_path: Path) -> None:
    ended, _ = propose(run, tmp_path, ["I would rather not."])
    assert ended.code == 2 and "no JSON object" in ended.err
    assert not (tmp_path / "p.toml").exists()
