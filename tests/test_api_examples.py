"""The reference has an example of every function, and they run."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Ran

import groundfault

pytest.importorskip("skia", reason="the examples draw scenes")

FILE = Path(__file__).parent.parent / "examples" / "api.py"
TEXT = FILE.read_text()
SECTIONS = re.findall(r"^# %% (\w+)(?: needs (\w+))?\n(.*?)(?=^# %%|\Z)", TEXT, re.S | re.M)
NOT_RUN = {"train", "to_fiftyone", "log_run"}
"""Trained in tests/segvlm with tiny networks; a database, an open tracker."""


def test_every_function_has_an_example() -> None:
    functions = {name for name in groundfault._WHERE if name[0].islower()}
    assert {name for name, _, _ in SECTIONS} == functions


def test_examples_run(tmp_path: Path, run: Callable[..., Ran], monkeypatch: Any) -> None:
    pytest.importorskip("starlette")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDFAULT_CACHE", str(tmp_path / "cache"))
    made = re.findall(r"^    groundfault (.*)$", TEXT, re.M)
    assert len(made) == 5
    for command in made:
        ended = run(*command.split(), *(["--workers", 1] if "world build" in command else []))
        assert ended.code == 0, (command, ended.err)
    names: dict[str, Any] = {"gf": groundfault}
    ran = set()
    for name, library, text in SECTIONS:
        code = compile(text, f"{FILE.name}, {name}", "exec")
        if name not in NOT_RUN and (not library or find_spec(library)):
            exec(code, names)
            ran.add(name)
    assert len(ran) >= 20
    assert names["phrases"].exclusive == (("person with helmet", "person without helmet"),)
    assert names["page"].is_file() and names["built"].funnel.stages[0].name == "mine"
