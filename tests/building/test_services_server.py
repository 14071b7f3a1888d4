"""The whole funnel over real servers on loopback: a chat model that proposes, a service that edits,
shifts, recolours, refuses and fails."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.building.photographs import write_set
from tests.building.test_pipeline import contents
from tests.conftest import ALL
from tests.editors.edit_service import KEY, Behaviour, EditService
from tests.llm.chat_server import ChatServer, Request, Response, completion

import groundfault as gf
from groundfault.api.building import build
from groundfault.building.recipe import EditSettings, ProposeSettings, Recipe, SourceSettings
from groundfault.building.stages import kept_candidates
from groundfault.errors import UsageError
from groundfault.io.masks import decode
from groundfault.io.pictures import read_image

pytest.importorskip("aiohttp")

FORM = """<type>{type}</type>
<edit_instruction>{instruction}</edit_instruction>
<rationales>It looks like something else.</rationales>
<positive_prompt>{positive}</positive_prompt>
<negative_prompt>{negative}</negative_prompt>"""


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def proposed(request: Request) -> Response:
    """What a fair model says: a proposal, None now and then, and once in a while no form at all
    until it is told."""
    kind = re.search(r"of the type (SM|CC|OC)", request.words)
    target = re.search(r"is the target: (\w+)", request.words)
    assert kind is not None and target is not None
    name, first = target[1], len(request.body["messages"]) == 1
    if kind[1] == "OC" and name == "chair":
        return Response(content=completion("None"))
    if kind[1] == "SM" and name == "bus" and first:
        return Response(content=completion("I would paint the bus."))
    stays = "keep its shape unchanged"
    told = {
        "SM": (f"Cover the whole {name} with ladybug spots; {stays}.", name, "ladybug"),
        "CC": (f"Put a reef behind the {name}; keep the {name} unchanged.", name, "coral"),
        "OC": (f"Turn all of the {name} into bronze; {stays}.", "bronze sculpture", f"real {name}"),
    }[kind[1]]
    text = FORM.format(type=kind[1], instruction=told[0], positive=told[1], negative=told[2])
    return Response(content=completion(text))


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Any]:
    annotations, images = write_set(tmp_path / "set", 8)
    recipe = Recipe(
        benchmark="cafe",
        source=SourceSettings(annotations=str(annotations), images=str(images)),
        propose=ProposeSettings(by="openai:tiny"),
        edit=EditSettings(by="openai:gpt-image-2"),
    )

    def made(chat: ChatServer, service: EditService, out: str, **options: Any) -> Any:
        return build(
            recipe,
            tmp_path / out,
            base_url=chat.url,
            editor_base_url=service.url,
            patience_s=5.0,
            **options,
        )

    return made


BAD = Behaviour(shift_px=3, gain=1.08, refuse=0.1, fail=0.1, fail_times=1)


def test_a_bad_service_still_gives_a_whole_release(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    with ChatServer(proposed) as chat, EditService(BAD) as service:
        built = make(chat, service, "out")
        asked, edited = len(chat.requests), len(service.got)
        assert built.funnel.problem == "" and not built.stopped
        by_name = {count.name: count for count in built.funnel.stages}
        assert by_name["propose"].dropped["None"] > 0
        assert any(reason.startswith("refused") for reason in by_name["edit"].dropped)
        released = gf.load(tmp_path / "out" / "release")
        assert len(released.cases) == by_name["release"].kept > 10
        before = contents(tmp_path / "out")
        again = make(chat, service, "out")
        assert again.funnel == built.funnel and contents(tmp_path / "out") == before
        assert (len(chat.requests), len(service.got)) == (asked, edited)
        refused = sum(n for why, n in by_name["edit"].dropped.items() if why.startswith("refused"))
        make(chat, service, "elsewhere")  # another folder, the same store: nothing is paid for
        assert len(chat.requests) == asked
        assert len(service.got) == edited + refused  # which nobody was paid for
    for candidate in kept_candidates(tmp_path / "out", "verify"):
        assert candidate.edited is not None and candidate.edited.touched is not None
        original = read_image(tmp_path / "out" / candidate.edited.before)
        after = read_image(tmp_path / "out" / candidate.edited.after)
        may = decode(candidate.edited.touched)
        assert not np.any(original != after, axis=2)[~may].any()
        shift = 3 / candidate.edited.matrix[0][0]  # on the canvas it is 3
        assert abs(float(candidate.edited.details["shift_px"].split()[0]) - shift) < 0.5


def test_a_budget_that_ends_in_the_middle_is_taken_up(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    with ChatServer(proposed) as chat, EditService() as service:
        poor = make(chat, service, "out", budget="0.5", edit_price=0.1, price="0/0")
        assert "budget" in poor.stopped
        assert poor.funnel.problem == "" and poor.funnel.stages[-1].waiting > 0
        assert 0 < len(service.got) <= 6
        first = len(service.got)
        rich = make(chat, service, "out", budget="50", edit_price=0.1, price="0/0")
        assert not rich.stopped and len(service.got) > first
        whole = make(chat, service, "whole", price="0/0", edit_price=0.1)
        assert rich.funnel == whole.funnel
        assert len(service.got) == sum(
            count.entered for count in whole.funnel.stages if count.name == "edit"
        )


def test_whoever_pays_is_asked_first(make: Callable[..., Any], tmp_path: Path) -> None:
    seen: list[str] = []

    def no(question: str, free: bool) -> None:
        seen.append(question)
        if "edit" in question:
            raise UsageError("called off")

    with ChatServer(proposed) as chat, EditService() as service:
        with pytest.raises(UsageError, match="called off"):
            make(chat, service, "out", agree=no, edit_price=0.1)
        assert len(chat.requests) > 0 and not service.got
    assert len(seen) == 2 and "24 questions" in seen[0]


PROGRAM = """
import sys
from groundfault.api.building import build
from groundfault.building.recipe import EditSettings, ProposeSettings, Recipe, SourceSettings
annotations, images, out, chat, service = sys.argv[1:]
recipe = Recipe(
    benchmark="cafe",
    source=SourceSettings(annotations=annotations, images=images),
    propose=ProposeSettings(by="openai:tiny"),
    edit=EditSettings(by="openai:gpt-image-2"),
)
print("begin", flush=True)
build(recipe, out, base_url=chat, editor_base_url=service, patience_s=5.0)
print("end", flush=True)
"""
RARELY_BAD = Behaviour(shift_px=3, gain=1.08, refuse=0.05, fail=0.05, fail_times=1)


@pytest.mark.skipif(not ALL, reason="thirty kills take minutes: make test-all")
def test_a_build_by_services_that_is_killed_ends_as_if_it_never_was(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    annotations, images = tmp_path / "set" / "instances.json", tmp_path / "set" / "images"
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}/src:{root}"}
    rng, kills, ended = random.Random(11), 0, False
    with ChatServer(proposed) as chat, EditService(RARELY_BAD) as service:
        line = [sys.executable, "-c", PROGRAM, str(annotations), str(images)]
        line += [str(tmp_path / "killed"), chat.url, service.url]
        while not ended:
            with subprocess.Popen(
                line, stdout=subprocess.PIPE, text=True, env=environment, cwd=root
            ) as process:
                assert process.stdout is not None and process.stdout.readline() == "begin\n"
                if kills < 30:
                    time.sleep(rng.uniform(0, 1.0))
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                ended = process.stdout.read() == "end\n"
        built = make(chat, service, "whole")
        assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
        asked, edited = len(chat.requests), len(service.got)
        again = make(chat, service, "killed")
        assert again.funnel == built.funnel and again.funnel.problem == ""
        assert (len(chat.requests), len(service.got)) == (asked, edited)
