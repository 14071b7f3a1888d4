"""Traces: kept with the answer, replayed without a model, imported from the published format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from tests.agent.parts import EXAMINE, REPORT, SEGMENT, SELECT, agent, hold, picture

from groundfault.errors import DataError
from groundfault.models.agent import (
    Settings,
    Trace,
    differences,
    read_published,
    read_traces,
    replay,
    trace_of,
    write_trace,
)
from groundfault.models.agent.scripted import accept
from groundfault.models.agent.traces import picture_file
from groundfault.records import Outcome, Prediction, Reply
from groundfault.reports.agent_traces import Shown, from_folder, from_run, page

DEMO = Path(__file__).parent / "published" / "demo_data.json"
PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "cafe_agent_demo"


@pytest.mark.parametrize(
    ("lines", "settings"),
    [
        ((SEGMENT, EXAMINE, SELECT), {}),
        ((SEGMENT, "what?", REPORT), {}),
        ((SEGMENT, EXAMINE), {"turns": 2}),
        (("?", "?"), {"turns": 2}),
        ((SEGMENT, SELECT), {"examine": False}),
        ((REPORT,), {"rules": False}),
    ],
)
def test_a_replay_is_the_same_episode(lines: tuple[str, ...], settings: dict[str, Any]) -> None:
    episode = hold(*lines, n_masks=2, **settings)
    trace = trace_of(episode.prediction())
    assert trace is not None and trace == episode.trace()
    again = replay(trace, picture())
    assert again.prediction() == episode.prediction()
    assert again.messages == episode.messages
    assert differences(trace, again.trace()) == []


def test_a_replay_without_the_image_differs_in_pictures_only() -> None:
    trace = hold(SEGMENT, EXAMINE, SELECT).trace()
    again = replay(trace).trace()
    assert differences(trace, again, pictures=False) == []
    assert any("pictures" in line for line in differences(trace, again))


def test_a_failed_episode_is_replayed_as_one() -> None:
    episode = hold(SEGMENT)
    episode.add_reply(Reply(outcome=Outcome.FAILED, reason="HTTP 500"))
    again = replay(episode.trace(), picture())
    assert again.outcome is Outcome.FAILED and again.reason == "HTTP 500"


def test_a_changed_trace_is_noticed() -> None:
    trace = hold(SEGMENT, EXAMINE, SELECT, n_masks=2).trace()
    turns = (
        trace.turns[0],
        msgspec.structs.replace(trace.turns[1], said="nothing"),
        *trace.turns[2:],
    )
    again = replay(msgspec.structs.replace(trace, turns=turns), picture()).trace()
    assert differences(trace, again)


def test_what_an_episode_took() -> None:
    def counted(tokens_in: int | None) -> Trace:
        episode = hold()
        for line in (SEGMENT, REPORT):
            reply = Reply(
                outcome=Outcome.OK, text=line, tokens_in=tokens_in, tokens_out=10,
                cost=0.25, seconds=1.5,
            )  # fmt: skip
            if episode.add_reply(reply) is not None:
                episode.add_segmentation(Prediction(item_id="", outcome=Outcome.ABSTAINED), 0.5)
        return episode.trace()

    trace = counted(100)
    assert (trace.tokens, trace.cost, trace.latency_s) == (220, 0.5, 3.5)
    assert trace.phrases == ("tiger",)
    assert counted(None).tokens is None


def test_a_folder_of_traces(tmp_path: Path) -> None:
    episode = hold(SEGMENT, EXAMINE, SELECT)
    pictures = {name: shown.content for name, shown in episode.pictures.items()}
    write_trace(tmp_path, "tiger-1", episode.trace(), pictures)
    assert dict(read_traces(tmp_path)) == {"tiger-1": episode.trace()}
    for turn in episode.turns:
        for sha256 in turn.pictures:
            assert picture_file(tmp_path, sha256).read_bytes() == pictures[sha256]
    for name in ("../x", "a/b", ".hidden", ""):
        with pytest.raises(ValueError, match="is no name"):
            write_trace(tmp_path, name, episode.trace(), {})
    with pytest.raises(DataError, match="is no SHA-256"):
        picture_file(tmp_path, "../../etc/passwd")


def test_answers_of_other_models_carry_no_trace() -> None:
    for text in ("", "a cat", "{}", '{"query": 3}'):
        assert trace_of(Prediction(item_id="", outcome=Outcome.OK, text=text)) is None


# The published format.


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The synthetic demo with pictures."""
    shutil.copy(DEMO, tmp_path / "demo_data.json")
    pictures = ["7.png", "7_positive/seg_couch.png", "7_positive/zoom_3.png"]
    pictures += ["7_positive/zoom_2.png", "7_negative/seg_zebra.png"]
    for number, name in enumerate(pictures):
        path = tmp_path / "assets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((48, 64, 3), 40 * number, np.uint8)).save(path)
    return tmp_path


def check(imported: list[Any]) -> None:
    """A published episode goes through our rules and through theirs, and ends as published."""
    for name, trace, pictures in imported:
        for style in (Settings(), Settings(style="published")):
            again = replay(msgspec.structs.replace(trace, settings=style)).trace()
            assert differences(trace, again, pictures=False) == [], name
            assert not any(turn.problem for turn in again.turns), name
        mentioned = {trace.picture, *(sha for turn in trace.turns for sha in turn.pictures)}
        assert mentioned == set(pictures)


def test_synthetic_demo(demo: Path, tmp_path: Path) -> None:
    imported = list(read_published(demo))
    assert [one.name for one in imported] == ["7-positive", "7-negative"]
    check(imported)
    positive, negative = imported[0].trace, imported[1].trace
    assert positive.phrases == ("sofa", "couch") and positive.chosen == (2, 3)
    assert [turn.n_masks for turn in positive.turns] == [0, 3, 0, 0]
    assert (negative.ending, negative.outcome) == ("report", Outcome.ABSTAINED)
    assert negative.size_px == (48, 64)
    folder = tmp_path / "traces"
    for name, trace, pictures in imported:
        write_trace(folder, name, trace, pictures)
    html = page("Demo", from_folder(folder))
    assert html.count("data:image/png;base64,") == 6 and "&lt;closer&gt;" in html


def test_the_demo_on_the_command_line(demo: Path, run: Any, tmp_path: Path) -> None:
    ran = run("agent", "import", demo, "--out", tmp_path / "traces")
    assert ran.code == 0, ran.err
    assert ran.out.count("the same") == 2 and "zebra" in ran.out
    shown = run("agent", "steps", tmp_path / "traces", "--out", tmp_path / "steps.html")
    assert shown.code == 0 and (tmp_path / "steps.html").read_text().count("<article") == 2


def test_some_episodes_on_the_command_line(demo: Path, run: Any, tmp_path: Path) -> None:
    traces, html = tmp_path / "traces", tmp_path / "steps.html"
    run("agent", "import", demo, "--out", traces)
    first = run("agent", "steps", traces, "--out", html, "--most", 1)
    assert first.code == 0 and "the first 1" in first.err
    assert html.read_text().count("<article") == 1
    name = next(trace for trace, _ in read_traces(traces) if trace.endswith("positive"))
    assert run("agent", "steps", traces, "--out", html, "--item", name).code == 0
    assert html.read_text().count("<article") == 1 and name in html.read_text()
    for arguments in ([traces, "--item", "none"], [tmp_path / "nowhere"]):
        refused = run("agent", "steps", *arguments, "--out", tmp_path / "no.html")
        assert refused.code == 2 and "holds no trace" in refused.err
    assert not (tmp_path / "no.html").exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda case: case.update(image="../../../etc/hostname"), "leads outside"),
        (lambda case: case.update(image="assets/none.png"), "cannot be read"),
        (lambda case: case.update(pos_outcome="report"), "its last step is not the decision"),
        (lambda case: case["pos_steps"].pop(0), "does not begin with a query"),
        (lambda case: case["pos_steps"][1].update(tool_name="rm"), "there is no tool 'rm'"),
        (lambda case: case["pos_steps"][1].update(type="boss"), "boss"),
        (lambda case: case.pop("tid"), "tid"),
    ],
)
def test_an_unsound_demo_is_refused(demo: Path, change: Any, problem: str) -> None:
    content = json.loads((demo / "demo_data.json").read_text())
    change(content["cases"][0])
    (demo / "demo_data.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=problem):
        list(read_published(demo))


def test_the_three_published_cases(tmp_path: Path) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the published traces are not beside the repository (shared/data)")
    imported = list(read_published(PUBLISHED))
    assert len(imported) == 6
    check(imported)
    endings = {one.name: one.trace.ending for one in imported}
    assert all(
        ending == ("select" if name.endswith("positive") else "report")
        for name, ending in endings.items()
    )
    assert [len(one.trace.turns) for one in imported] == [8, 3, 3, 3, 6, 6]
    assert imported[0].trace.phrases[-1] == "post" and imported[0].trace.chosen == (3,)
    for name, trace, pictures in imported:
        write_trace(tmp_path, name, trace, pictures)
    assert dict(read_traces(tmp_path)) == {one.name: one.trace for one in imported}
    html = page("Published", from_folder(tmp_path))
    assert html.count("<article") == 6


# The step-through.


def test_nothing_in_a_trace_becomes_markup() -> None:
    evil = "<script>alert(1)</script>"
    trace = hold(SEGMENT, f"{evil}<tool>{evil}</tool>", REPORT).trace()
    html = page(evil, [Shown(evil, msgspec.structs.replace(trace, query=evil), {})])
    assert evil not in html and "&lt;script&gt;" in html


def test_the_step_through_of_a_run(tmp_path: Path) -> None:
    from tests.runner.conftest import painted_set
    from tests.runner.runs import run_masks

    from groundfault.runner.work import Plan

    benchmark = painted_set(tmp_path / "images", 2)
    sizes = agent(accept, turns=4)
    run_masks(benchmark, lambda: sizes, tmp_path / "run", plan=Plan(probe=False))
    shown = list(from_run(tmp_path / "run", tmp_path / "images", benchmark))
    assert [one.name for one in shown] == [item.id for item in benchmark.items]
    assert all(
        one.pictures.keys() >= {s for t in one.trace.turns for s in t.pictures} for one in shown
    )
