"""The agent over HTTP and on the command line: both styles, the address of a server, retries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.agent.parts import REPORT, SEGMENT, SELECT
from tests.llm.chat_server import ChatServer, Request, Response, completion
from tests.runner.conftest import painted_set

import groundfault as gf
from groundfault import registry
from groundfault.benchmarks import folder
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import encode
from groundfault.models.agent import trace_of
from groundfault.models.agent.loading import load
from groundfault.models.agent.scripted import call
from groundfault.records import Outcome, Prediction
from groundfault.runs.recorder import read_predictions

pytest.importorskip("aiohttp", reason="the extra 'asking' brings it")

STYLES = Path(__file__).parents[2] / "recipes" / "agent" / "styles.toml"


class Blue:
    """Finds blue pixels, whatever it is asked for."""

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        mask = encode(image[..., 2] > 128)
        return [
            Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(0.9,))
            for _ in phrases
        ]


def _blue(argument: str, options: ModelOptions) -> Blue:
    return Blue()


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("sam3", "blue"):
        monkeypatch.setitem(registry.KINDS["models"], name, registry.Entry(f"{__name__}:_blue"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six cases: blue squares, asked for as "blue" and as "green"."""
    images = tmp_path / "images"
    folder.write(painted_set(images, 6), tmp_path / "data", images_from=images)
    return tmp_path / "data"


@pytest.fixture
def command(data: Path, tmp_path: Path) -> tuple[Any, ...]:
    return ("eval", data, "--bootstrap", 0, "--no-probe", "--out", tmp_path / "runs", "--model")


def concept(request: Request) -> str:
    content = request.body["messages"][1]["content"]
    return str(next(part["text"] for part in content if part["type"] == "text").split("'")[1])


def turn(request: Request) -> int:
    return sum(message["role"] == "assistant" for message in request.body["messages"])


def hasty(request: Request) -> Response:
    """Says more than one thing at a time: the published loop takes the first of them, ours none."""
    text = f"{SEGMENT} {SELECT}"
    if concept(request) == "green":
        text = "<tool>{'name': 'report_no_mask', 'parameters': {}}</tool>"
    elif turn(request):
        text = SELECT
    return Response(content=completion(text))


def sound(request: Request) -> Response:
    lines = [SEGMENT, call("examine_masks", mask_indices=[1]), SELECT]
    return Response(content=completion(lines[turn(request)]))


def test_requests_of_both_styles_carry_no_sampling_parameters() -> None:
    for style, mime in (("paper", "jpeg"), ("published", "png")):
        with ChatServer(sound) as server:
            spec = f"blue+openai:stub,base_url={server.url},style={style}"
            with load(spec, ModelOptions()) as agent:
                image = np.zeros((64, 64, 3), np.uint8)
                image[20:40, 20:40] = 0, 0, 255
                assert agent.segment(image, ["blue"])[0].outcome is Outcome.OK
        assert [set(request.body) for request in server.requests] == [{"model", "messages"}] * 3
        last = json.dumps(server.requests[-1].body["messages"])
        assert last.count(f"data:image/{mime};base64,") == 3 == last.count("data:image/")
        kinds = [part["type"] for part in server.requests[0].body["messages"][1]["content"]]
        assert kinds == (["text", "image_url"] if style == "paper" else ["image_url", "text"])


def test_parameters_that_are_set_are_sent() -> None:
    with ChatServer(lambda request: Response(content=completion(REPORT))) as server:
        spec = f"blue+openai:stub,base_url={server.url},style=published"
        with load(f"{spec},temperature=0.7,max_tokens=300", ModelOptions()) as agent:
            agent.segment(np.zeros((64, 64, 3), np.uint8), ["blue"])
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.7, 300)


def test_replies_that_the_published_loop_executes_cost_no_turn(
    run: Any, command: tuple[Any, ...], tmp_path: Path
) -> None:
    with ChatServer(hasty) as server:
        spec = "agent:blue+openai:stub,style=published"
        ran = run(*command, spec, "--base-url", server.url)
    assert ran.code == 0, ran.err
    (kept,) = (tmp_path / "runs").iterdir()
    traces = [trace_of(prediction) for prediction in read_predictions(kept)]
    turns = {(trace.query, trace.ending, len(trace.turns)) for trace in traces if trace}
    assert turns == {("blue", "select", 2), ("green", "report", 1)}


def test_the_recipe_compares_both_styles_with_a_paired_test(
    run: Any, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(STYLES.parents[2])
    spec = "agent:recipes/agent/styles.toml"
    with ChatServer(hasty) as server:
        ran = run(*command, spec, "--model", f"{spec},style=published", "--base-url", server.url)
        assert ran.code == 0, ran.err
    told = [line for line in STYLES.read_text().splitlines() if "groundfault compare" in line]
    names = [word.removeprefix("OUT/") for word in told[0].split() if word.startswith("OUT/")]
    assert sorted(names) == sorted(path.name for path in (tmp_path / "runs").iterdir())
    compared = run(
        "compare", *(tmp_path / "runs" / name for name in names), "--bootstrap", 200, "--json",
        "--metric", "cgF1",
    )  # fmt: skip
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    (tested,) = (test for test in found["tests"] if test["row"] == "Overall")
    assert {tested["a"], tested["b"]} == set(names) and tested["n"] == 6
    values = {name: found["rows"]["Overall"]["cgF1"][name]["value"] for name in names}
    assert values[names[0]] < values[names[1]] and tested["p"] < 0.05


# The address of a server.


def test_the_address_of_an_agents_server(
    run: Any, command: tuple[Any, ...], tmp_path: Path
) -> None:
    with ChatServer(sound) as server, ChatServer(sound) as other:
        ran = run(*command, "agent:blue+openai:stub", "--base-url", server.url)
        assert ran.code == 0 and len(server.requests) == 36
        again = run(*command, f"agent:blue+openai:stub,base_url={other.url}", "--base-url", "x")
        assert again.code == 0 and len(other.requests) == 36  # a setting wins over the option
        moved = run(*command, "agent:blue+openai:stub", "--base-url", other.url)
        assert moved.code == 2 and "another agent base_url" in moved.err


def test_the_address_is_for_models_that_do_not_name_theirs() -> None:
    plain, given = ModelOptions(), ModelOptions(base_url="http://127.0.0.1:9/v1")
    for spec in ("blue+scripted:accept", "blue+vllm:http://127.0.0.1:8/v1#a", "blue+hf:no/name"):
        assert load.identity(spec, given) == load.identity(spec, plain)
    served = load.identity("blue+openai:stub", given)
    assert served["agent base_url"] == "http://127.0.0.1:9/v1"


def test_a_segmenter_asks_no_server(run: Any, command: tuple[Any, ...], tmp_path: Path) -> None:
    ran = run(*command, "blue", "--base-url", "http://127.0.0.1:9/v1")
    assert ran.code == 2 and "--base-url does not go with blue" in ran.err
    assert not (tmp_path / "runs").exists()


def test_the_address_in_python(data: Path, tmp_path: Path) -> None:
    with ChatServer(sound) as server:
        result = gf.evaluate(
            data, "agent:blue+openai:stub", tmp_path / "run", probe=False, bootstrap=0,
            base_url=server.url,
        )  # fmt: skip
    assert result.run is not None and result.run.outcomes["ok"] == 12


# Asking again.


def test_episodes_without_a_decision_are_asked_again(
    run: Any, command: tuple[Any, ...], tmp_path: Path
) -> None:
    """Only those, and past the store: it would give the same replies."""
    lost = {"blue": [SEGMENT, "Hm."], "green": [SEGMENT, REPORT]}
    with ChatServer(lambda r: Response(content=completion(lost[concept(r)][turn(r)]))) as server:
        args = (*command, "agent:blue+openai:stub,turns=2,rules=no", "--base-url", server.url)
        assert run(*args).code == 0
        assert len(server.requests) == 24
        assert run(*args).code == 0 and len(server.requests) == 24
        (kept,) = (tmp_path / "runs").iterdir()
        assert [p.finish for p in read_predictions(kept)].count("turns") == 6
        server.behave = lambda r: Response(content=completion([SEGMENT, SELECT][turn(r)]))
        ran = run(*args, "--retry", "timeout")
        assert ran.code == 0, ran.err
        assert len(server.requests) == 36 and {concept(r) for r in server.requests[24:]} == {"blue"}
        found = {p.item_id: p.finish for p in read_predictions(kept)}
        assert len(found) == 12 and set(found.values()) == {"select", "report"}
        assert run(*args, "--retry", "timeout").code == 0 and len(server.requests) == 36


def test_episodes_that_were_never_read_are_asked_again(data: Path, tmp_path: Path) -> None:
    with ChatServer(lambda r: Response(content=completion("Hm."))) as server:
        options: dict[str, Any] = {"probe": False, "bootstrap": 0, "base_url": server.url}
        spec = "agent:blue+openai:stub,turns=2"
        first = gf.evaluate(data, spec, tmp_path / "run", **options)
        assert first.run is not None and first.run.outcomes["unparsed"] == 12
        server.behave = lambda r: Response(content=completion([SEGMENT, REPORT][turn(r)]))
        again = gf.evaluate(data, spec, tmp_path / "run", retry="timeout", **options)
    assert again.run is not None and again.run.outcomes["abstained"] == 12
    assert again.run.outcomes["unparsed"] == 0


def test_answers_stay_where_nobody_can_be_asked(
    run: Any, command: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer(lambda r: Response(content=completion([SEGMENT, "Hm."][turn(r)]))) as server:
        args = (*command, "agent:blue+openai:stub,turns=2", "--base-url", server.url)
        assert run(*args).code == 0
        (kept,) = (tmp_path / "runs").iterdir()
        before = list(read_predictions(kept))
        assert [one.finish for one in before] == ["turns"] * 12
        monkeypatch.setenv("OPENAI_API_KEY", "kéy")  # which no server has
        assert run(*args, "--retry", "timeout").code == 2
    assert list(read_predictions(kept)) == before and (kept / "summary.json").is_file()


@pytest.mark.parametrize(
    ("more", "problem"),
    [(["--retry", "always"], "always"), (["--retry", "timeout", "--no-resume"], "starts it anew")],
)
def test_what_cannot_be_asked_again(
    run: Any, command: tuple[Any, ...], more: list[str], problem: str
) -> None:
    ran = run(*command, "agent:blue+scripted:accept", *more)
    assert ran.code == 2 and problem in ran.err


# A server that does not take what was set.


def test_an_agent_learns_what_its_server_does_not_take() -> None:
    def behave(request: Request) -> Response:
        if "temperature" in request.body:
            words = {"message": "Unsupported value: 'temperature'", "param": "temperature"}
            return Response(400, json.dumps({"error": words}).encode())
        return sound(request)

    image = np.zeros((64, 64, 3), np.uint8)
    image[20:40, 20:40] = 0, 0, 255
    with ChatServer(behave) as server:
        spec = f"blue+openai:stub,base_url={server.url},temperature=0.2,budget=1M tokens"
        with load(spec, ModelOptions()) as agent:
            found = agent.segment(image, ["blue"]) + agent.segment(image, ["navy"])
    assert [one.outcome for one in found] == [Outcome.OK] * 2
    with_it = ["temperature" in request.body for request in server.requests]
    assert with_it == [True, *[False] * 6]
