"""What the tests of chat models share."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.llm.exams import counting_exam
from tests.llm.runs import run_exam

from groundfault.llm.openai_chat import openai
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions
from groundfault.runs.run import Run

QUICK = RetryPolicy(attempts=8, first_wait_s=0.01, longest_wait_s=0.1)
"""The usual one, but for short waits between tries."""
KEY = "sk-test-5ecret5ecret5ecret"


@pytest.fixture(autouse=True)
def _only_with_aiohttp(request: pytest.FixtureRequest) -> None:
    if "server" in request.module.__name__ and importlib.util.find_spec("aiohttp") is None:
        pytest.skip("aiohttp is not installed: the extra 'asking' brings it")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def exam_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exam of 240 questions."""
    folder = tmp_path_factory.mktemp("exams") / "counting"
    counting_exam(folder, 30)
    return folder


@pytest.fixture
def ask(exam_folder: Path, tmp_path: Path) -> Callable[..., Run]:
    """Ask the exam of a server: ask(server, out="run", modes=…, …)."""

    def ask(server: Any, out: str = "run", **settings: Any) -> Run:
        options = ChatOptions(base_url=server.url, **settings.pop("options", {}))
        settings = {"patience": QUICK, "concurrency": 32, **settings}
        return run_exam(
            settings.pop("exam", exam_folder),
            lambda: openai("tiny", options),
            tmp_path / out,
            name="openai:tiny",
            options=options,
            **settings,
        )

    return ask
