"""`groundfault eval` of an exam against a real server, in good health and in every kind of trouble:
every question ends answered or failed, none twice, and the scores are right."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Ran
from tests.llm.chat_server import (
    ChatServer,
    Request,
    Response,
    completion,
    error,
    some_faults,
)
from tests.llm.exams import whole_exam

from groundfault.analysis.summary import read_results
from groundfault.benchmarks.reactbench import read
from groundfault.io.store import read_json
from groundfault.judges.card import JudgeCard
from groundfault.records import Benchmark, Outcome, Prediction, Summary
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

Command = Callable[..., Ran]
MODEL = ("--model", "openai:tiny")
NAMED = re.compile(r"\((\w+:Q\d+)\)")


@pytest.fixture(scope="module")
def exam_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "exam"
    whole_exam(folder, per_task=4)
    return folder


@pytest.fixture(scope="module")
def exam(exam_dir: Path) -> Benchmark:
    return read(exam_dir)


class Pupil:
    """A server that knows which question it is asked, and gets some of them wrong."""

    def __init__(self, exam: Benchmark, is_right: Callable[[str, str], bool]) -> None:
        self.expected = {item.id: item.answer for item in exam.items}
        self.is_right = is_right

    def __call__(self, request: Request) -> Response:
        words, _ = request.last
        item = self.item(words)
        mode = "cot" if "step by step" in words else "std"
        return Response(content=completion(self.says(item, mode)))

    def item(self, words: str) -> str:
        found = NAMED.search(words)
        assert found, words
        return found[1]

    def says(self, item: str, mode: str) -> str:
        answer = self.expected[item]
        assert answer is not None
        if self.is_right(item, mode):
            said = answer.reference
        elif answer.type == "YN":
            said = {"yes": "no", "no": "yes"}[answer.reference]
        elif answer.type == "MC":
            said = "ABCD"["ABCD".index(answer.reference) - 1]
        else:
            said = "A lamp, all red, and nothing changed" if "counting" not in item else "99"
        return f"I look at it.\nFinal answer: {said}." if mode == "cot" else f"{said}."


def odd(item: str, mode: str) -> bool:
    """Which questions are answered rightly: those with odd numbers, and one more with reasoning."""
    return int(item.rpartition("Q")[2]) % 2 == 1 or (mode == "cot" and item.endswith("Q2"))


def judging(request: Request) -> Response:
    """A judge that finds wrong what names the thing that is not there."""
    words = request.last[0]
    said = words.split("-----")[1]
    wrong = ("all red", "green", "Yellow", "In the middle", "Nothing changed", "nothing changed")
    return Response(content=completion("wrong" if any(w in said for w in wrong) else "right."))


def answers(folder: Path) -> dict[tuple[str, str], Prediction]:
    """What a run kept; every question once."""
    found = list(read_predictions(folder))
    by_key = {(answer.item_id, answer.mode): answer for answer in found}
    assert len(by_key) == len(found), "some answer is stored twice"
    return by_key


def evaluate(run: Command, exam_dir: Path, out: Path, url: str, *more: object) -> Ran:
    options = ("--base-url", url, "--out", out, "--bootstrap", 0, "--concurrency", 16)
    return run("eval", exam_dir, *MODEL, *options, *more)


def share(exam: Benchmark, right: Callable[[str], bool], wanted: Callable[[str], bool]) -> float:
    asked = [item.id for item in exam.items if wanted(item.id)]
    return sum(map(right, asked)) / len(asked)


def test_a_faulty_server_costs_no_answer_and_no_score(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    """10 % 429, 5 % 500, dropped connections, invalid JSON; two questions are refused for good."""
    pupil = Pupil(exam, odd)
    refused = {"erasure0:Q1", "counting1:Q8"}
    faulty = some_faults(
        {
            "429 with Retry-After": 0.05,
            "429 without": 0.05,
            "500": 0.05,
            "dropped": 0.03,
            "invalid JSON": 0.03,
        },
        seed=3,
    )
    seen: Counter[str] = Counter()

    def behave(request: Request) -> Response:
        item = pupil.item(request.last[0])
        if item in refused:
            return error(400, "this picture is not for me")
        response = faulty(request)
        sick = response.drop or response.status != 200 or response.content.endswith(b'"mess')
        seen["faults" if sick else "answers"] += 1
        return response if sick else pupil(request)

    with ChatServer(behave) as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url, "--mode", "both")
    assert ran.code == 0, ran.err
    assert seen["faults"] > 30, "the server was not faulty"
    folder = tmp_path / "openai-tiny"
    kept = answers(folder)
    assert kept.keys() == {(q.id, mode) for q in exam.items for mode in ("std", "cot")}
    failed = {key[0] for key, answer in kept.items() if answer.outcome is Outcome.FAILED}
    assert failed == refused
    for (item, mode), answer in kept.items():
        if item in refused:
            assert "not for me" in answer.reason and answer.verdict is None
        else:
            assert answer.text == pupil.says(item, mode)
            assert answer.verdict == ("right" if odd(item, mode) else "wrong"), answer
    assert seen["answers"] == 2 * (len(exam.items) - len(refused)), "some were asked twice"
    summary, _ = read_results(folder)
    assert summary.outcomes == {"ok": 2 * 174, "abstained": 0, "unparsed": 0, "failed": 4}
    rows = summary.rows
    for task in ("erasure", "attribute", "tracing", "counting"):
        for mode in ("std", "cot"):
            expected = share(
                exam,
                lambda item, mode=mode: odd(item, mode),
                lambda item, task=task: item.startswith(task) and item not in refused,
            )
            assert rows[task].metrics[f"accuracy_{mode}"].value == pytest.approx(expected)
    low, high = summary.bounds["Overall"]["accuracy_std"]
    value = rows["Overall"].metrics["accuracy_std"].value
    assert low is not None and high is not None and value is not None and low < value < high
    assert {"react_score", "react_score_plain", "unparsed_rate", "yes_rate", "YN", "SA", "MC"} <= (
        rows["Overall"].metrics.keys()
    )
    assert "4 failed" in ran.err and "not for me" in ran.err


def test_a_key_that_expires_half_way_stops_the_run_and_the_next_one_goes_on(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    pupil, state = Pupil(exam, odd), {"valid": True, "left": 60}

    def behave(request: Request) -> Response:
        state["left"] -= 1
        if state["valid"] and state["left"] >= 0:
            return pupil(request)
        return error(401, f"Incorrect API key provided: {request.authorization}")

    with ChatServer(behave, delay_s=0.005) as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std")
        folder = tmp_path / "openai-tiny"
        assert ran.code == 2
        assert "refused the key" in ran.err and "OPENAI_API_KEY" in ran.err
        assert "the same command goes on" in ran.err
        assert "sk-test" not in ran.err + ran.out
        first = answers(folder)
        answered = {k for k, a in first.items() if a.outcome is Outcome.OK}
        assert len(first) == 176 and len(answered) == 60
        stopped = read_run(folder)
        assert stopped.state == "stopped" and stopped.outcomes["failed"] == 116
        assert read_results(folder)[0].bounds, "n of N, with bounds"
        state.update(left=10_000)
        n_before = len(server.requests)
        ran = evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std")
        assert ran.code == 0, ran.err
        assert len(server.requests) - n_before == 116
    kept = answers(folder)
    assert len(kept) == 176 and {a.outcome for a in kept.values()} == {Outcome.OK}
    assert {k: kept[k].text for k in answered} == {k: first[k].text for k in answered}
    summary, _ = read_results(folder)
    expected = share(exam, lambda item: odd(item, "std"), lambda item: True)
    assert summary.rows["Overall"].metrics["accuracy_std"].value == pytest.approx(expected)
    assert not summary.bounds
    for path in folder.rglob("*"):
        assert b"sk-test" not in path.read_bytes()


def test_a_judge_that_is_down_stops_the_run_and_costs_no_answer(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(judging) as judge:
        judge.die()
        more = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--patience", 0.5)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        folder = tmp_path / "openai-tiny"
        assert ran.code == 2
        assert "the judge openai:judge does not answer" in ran.err and "resume" in ran.err
        assert len(answers(folder)) == 2 * 176
        assert not (folder / "summary.json").exists(), "nothing is scored without its judge"
        judge.start()
        asked = len(server.requests)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        assert ran.code == 0, ran.err
        assert len(server.requests) == asked, "the same command asks no question again"
        noted = read_run(folder).judged
        assert noted is not None and noted.name == "openai:judge" and len(noted.prompt_hash) == 64
        assert (noted.canaries, noted.canaries_missed, noted.warnings) == (10, 0, ())
        for (item, mode), answer in answers(folder).items():
            assert answer.verdict == ("right" if odd(item, mode) else "wrong")
            in_words = answer.judge == "openai:judge"
            assert in_words == (":Q" in item and _is_short(exam, item))
        judged = len(judge.requests)
        assert evaluate(run, exam_dir, tmp_path, server.url, *more).code == 0
        assert len(judge.requests) == judged, "a run that was judged is not judged again"


def _is_short(exam: Benchmark, item: str) -> bool:
    answer = next(each.answer for each in exam.items if each.id == item)
    return answer is not None and answer.type == "SA" and not item.startswith("counting")


def test_an_answer_that_the_judge_refuses_is_bounded_not_scored(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    """By its status, by its content filter, or only when it is asked again."""
    refused = {"erasure0:Q5", "attribute1:Q7", "tracing2:Q8"}
    unclear = Response(content=completion("Well."))

    def behave(request: Request) -> Response:
        words = json.dumps(request.body)
        if "erasure0:Q5" in words:
            return error(400, "content management policy")
        if "attribute1:Q7" in words:
            return Response(content=completion("", "content_filter"))
        if "tracing2:Q8" in words:
            return unclear if len(request.body["messages"]) == 2 else error(400, "policy")
        return judging(request)

    with ChatServer(Pupil(exam, odd)) as server, ChatServer(behave) as judge:
        more = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--mode", "std")
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        assert ran.code == 0 and "openai:judge left 3 answers unjudged" in ran.err, ran.err
        told = [line for line in ran.out.splitlines() if "react_score lies between" in line]
        assert {line.split()[0] for line in told} == {"Overall", "erasure", "attribute", "tracing"}
        assert all("however the failed or unjudged answers would have" in line for line in told)
        folder, asked = tmp_path / "openai-tiny", len(judge.requests)
        assert evaluate(run, exam_dir, tmp_path, server.url, *more).code == 0
        assert len(judge.requests) == asked, "refused for good: not asked again"
    kept = {item: answer for (item, _), answer in answers(folder).items()}
    assert {item for item, answer in kept.items() if answer.verdict == "unjudged"} == refused
    assert {kept[item].outcome for item in refused} == {Outcome.OK}
    assert "content management policy" in kept["erasure0:Q5"].judge_text
    noted = read_run(folder).judged
    assert noted is not None and noted.unjudged == 3
    summary, _ = read_results(folder)
    assert any("3 were left unjudged by the judge" in note for note in summary.notes)
    short = {q.id for q in exam.items if q.answer is not None and q.answer.type == "SA"}
    right = sum(odd(item, "std") for item in short - refused)
    overall = summary.rows["Overall"].metrics["SA"]
    assert (overall.n, overall.value) == (len(short) - 3, pytest.approx(right / (len(short) - 3)))
    low, high = summary.bounds["Overall"]["SA"]
    assert (low, high) == pytest.approx((right / len(short), (right + 3) / len(short)))


@pytest.mark.parametrize("response", [error(400, "no such parameter"), error(401), error(500)])
def test_a_judge_that_refuses_everything_is_down(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path, response: Response
) -> None:
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(lambda request: response) as judge:
        more = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--patience", 0.5)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more, "--limit", 4)
    assert ran.code == 2 and "the judge openai:judge does not answer" in ran.err
    assert not (tmp_path / "openai-tiny" / "summary.json").exists()


def test_a_judge_that_drifts_is_warned_about_though_its_replies_are_stored(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    state = {"sound": True}

    def behave(request: Request) -> Response:
        return judging(request) if state["sound"] else Response(content=completion("right"))

    with ChatServer(Pupil(exam, odd)) as server, ChatServer(behave) as judge:
        more = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--mode", "std")
        ran = evaluate(run, exam_dir, tmp_path / "a", server.url, *more)
        assert ran.code == 0 and "canaries" not in ran.err
        state["sound"] = False
        ran = evaluate(run, exam_dir, tmp_path / "b", server.url, *more)
    assert ran.code == 0
    assert "warning: The judge openai:judge is wrong about 5 of 10 canaries" in ran.err
    noted = read_run(tmp_path / "b" / "openai-tiny").judged
    assert noted is not None and noted.canaries_missed == 5
    summary, _ = read_results(tmp_path / "b" / "openai-tiny")
    assert any("canaries" in note for note in summary.notes)


def test_a_judge_wrong_about_most_canaries_ends_the_run_unscored(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    def contrary(request: Request) -> Response:
        sound = b"wrong" in judging(request).content
        return Response(content=completion("right" if sound else "wrong"))

    with ChatServer(Pupil(exam, odd)) as server, ChatServer(contrary) as judge:
        more = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--mode", "std")
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        asked = len(judge.requests)
    assert ran.code == 2 and "wrong about 10 of 10 canaries" in ran.err, ran.err
    assert asked == 10, "no answer was paid for"
    folder = tmp_path / "openai-tiny"
    assert len(answers(folder)) == 176 and not (folder / "summary.json").exists()
    assert {answer.judge for answer in answers(folder).values()} == {""}


def test_judging_again_asks_only_the_judge(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    always = Response(content=completion("wrong"))
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(lambda request: always) as judge:
        ran = evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std")
        assert ran.code == 0, ran.err
        folder, asked = tmp_path / "openai-tiny", len(server.requests)
        by_rule = read_results(folder)[0].rows["erasure"].metrics
        ran = run("judge", folder, "--judge", "openai:judge", "--base-url", judge.url)
        assert ran.code == 0, ran.err
        assert len(server.requests) == asked and judge.requests
    by_judge = read_results(folder)[0].rows["erasure"].metrics
    assert by_rule["SA"].value == 0.5 and by_judge["SA"].value == 0.0
    assert by_rule["MC"].value == by_judge["MC"].value == 0.5
    assert "canaries" in ran.err
    assert run("judge", folder).code == 0
    assert read_results(folder)[0].rows["erasure"].metrics["SA"].value == 0.5


def attributing(request: Request) -> Response:
    """Names the second cause, at first in too many words."""
    reminded = len(request.body["messages"]) > 2
    return Response(content=completion("SC2" if reminded else "It is SC2, I think."))


@pytest.mark.parametrize("blind", [False, True])
def test_wrong_chains_of_thought_get_a_cause_from_a_model_that_sees_the_pictures(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path, blind: bool
) -> None:
    spec = "blind:openai:why" if blind else "openai:why"
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(attributing) as why:
        more = ("--attribute", spec, "--judge-base-url", why.url)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        assert ran.code == 0, ran.err
        shown = {request.n_pictures for request in why.requests}
        assert shown == ({0} if blind else {1, 2})
    kept = answers(tmp_path / "openai-tiny")
    for (item, mode), answer in kept.items():
        attributed = mode == "cot" and not odd(item, mode)
        assert answer.cause == ("SC2" if attributed else None)
        assert answer.cause_by == (spec if attributed else "")
    noted = read_run(tmp_path / "openai-tiny").attributed
    assert noted is not None and noted.name == spec and len(noted.prompt_hash) == 64
    assert "SC2 Activity-Entity Completion" in ran.out
    drawn = tmp_path / "openai-tiny" / "sub-causes.svg"
    figure = drawn.read_text()
    assert "Regular Shortcut Error" in figure and "100 %" in figure
    drawn.unlink()
    with ChatServer(attributing) as why:
        more = ("--attribute", spec, "--base-url", why.url, "--bootstrap", 0)
        assert run("judge", tmp_path / "openai-tiny", *more).code == 0
    assert drawn.read_text() == figure
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("responses")] == [
        "openai-tiny"
    ], "no loose files among runs"


def test_a_down_attributing_model_says_so_and_how_to_go_without_pictures(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    def refuse(request: Request) -> Response:
        return error(400, "no pictures here")

    with ChatServer(Pupil(exam, odd)) as server, ChatServer(refuse) as why:
        more = ("--attribute", "openai:why", "--judge-base-url", why.url)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
    assert ran.code == 2 and "blind:openai:why" in ran.err
    assert run("eval", exam_dir, *MODEL, "--attribute", "oracle", "--out", tmp_path).code == 2


def test_causes_that_a_model_refuses_to_name_are_left_open(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    def behave(request: Request) -> Response:
        refuses = "erasure0:Q4" in request.last[0]
        return error(400, "policy") if refuses else Response(content=completion("SC1"))

    with ChatServer(Pupil(exam, odd)) as server, ChatServer(behave) as why:
        more = ("--attribute", "openai:why", "--judge-base-url", why.url, "--mode", "cot")
        assert evaluate(run, exam_dir, tmp_path, server.url, *more).code == 0
    wrong = [a for a in answers(tmp_path / "openai-tiny").values() if a.verdict == "wrong"]
    assert all(a.cause_by == "openai:why" for a in wrong)
    assert {a.item_id for a in wrong if a.cause is None} == {"erasure0:Q4"}


def test_a_run_without_one_answer_says_so_and_asks_again(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    state = {"sick": True}
    pupil = Pupil(exam, odd)

    def behave(request: Request) -> Response:
        return error(400, "not today") if state["sick"] else pupil(request)

    with ChatServer(behave) as server:
        more = ("--mode", "std", "--limit", 1)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        assert ran.code == 2 and "answered not one item" in ran.err, ran.err
        folder = tmp_path / "openai-tiny"
        assert {a.outcome for a in answers(folder).values()} == {Outcome.FAILED}
        assert not (folder / "summary.json").exists()
        assert run("judge", folder).code == 2
        state["sick"] = False
        assert evaluate(run, exam_dir, tmp_path, server.url, *more).code == 0
    assert {a.outcome for a in answers(folder).values()} == {Outcome.OK}


def test_whoever_pays_is_asked_first(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(Pupil(exam, odd)) as server:
        more = ("--price", "1/2", "--mode", "std")
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        assert ran.code == 2 and not server.requests
        assert "176 questions to ask" in ran.err and "of money" in ran.err
        assert "nobody is there to agree" in ran.err and "--yes" in ran.err
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more, "--yes")
        assert ran.code == 0 and len(server.requests) == 176
    noted = read_run(tmp_path / "openai-tiny")
    assert noted.cost == pytest.approx(176 * (100 * 1 + 10 * 2) / 1e6)


@pytest.mark.parametrize("anew", ["--fresh", "--no-resume"])
def test_a_run_is_not_given_up_before_whoever_pays_has_agreed(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path, anew: str
) -> None:
    folder = tmp_path / "openai-tiny"
    with ChatServer(Pupil(exam, odd)) as server:
        assert evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std").code == 0
        there = {path.name: path.read_bytes() for path in folder.iterdir()}
        n = len(server.requests)
        store = tmp_path / "responses.sqlite"
        for path in tmp_path.glob("responses.sqlite*"):
            path.unlink()  # so that --no-resume, too, has something to pay for
        more = ("--mode", "std", "--price", "1/2", anew)
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        assert ran.code == 2 and "nobody is there to agree" in ran.err
        assert len(server.requests) == n and store.exists()
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == there
        assert evaluate(run, exam_dir, tmp_path, server.url, *more, "--yes").code == 0
        assert len(server.requests) == 2 * n
    assert len(answers(folder)) == 176


def test_a_budget_stops_the_run_as_it_was_told_to(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(Pupil(exam, odd), delay_s=0.005) as server:
        more = ("--mode", "std", "--budget", "5500 tokens")
        ran = evaluate(run, exam_dir, tmp_path, server.url, *more)
        assert ran.code == 0, ran.err
        assert "stopped: the budget of 5500 tokens is used up" in ran.err
        assert len(server.requests) == 50
        run_ = read_run(tmp_path / "openai-tiny")
        assert run_.outcomes["failed"] == 126 and run_.within_budget
        gate = evaluate(run, exam_dir, tmp_path, server.url, *more, "--fail-if", "failed>0")
        assert gate.code == 1 and len(server.requests) == 100


def _spent(folder: Path) -> tuple[int, int]:
    """Tokens of answers and of judgements, as run.json has them."""
    noted = read_run(folder)
    assert noted.judged is not None
    return noted.tokens_in + noted.tokens_out, noted.judged.tokens


def test_a_budget_is_for_the_judge_too_and_leaves_enough_to_judge_what_was_answered(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(judging) as judge:
        by = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--mode", "std")
        ran = evaluate(run, exam_dir, tmp_path, server.url, *by, "--budget", "12000 tokens")
        assert ran.code == 0, ran.err
        folder = tmp_path / "openai-tiny"
        answering, judged = _spent(folder)
        assert judged == 110 * len(judge.requests) > 0
        assert 6_000 < answering + judged <= 12_000
        kept = answers(folder).values()
        assert 0 < sum(answer.outcome is Outcome.FAILED for answer in kept) < 176
        assert read_results(folder)[0].bounds, "n of N, with bounds"
        assert evaluate(run, exam_dir, tmp_path, server.url, *by).code == 0
    asked = [request.key for request in server.requests]
    assert len(asked) == len(set(asked)) == 176
    assert read_results(folder)[0].outcomes["failed"] == 0


@pytest.mark.parametrize(
    "budget",
    [
        ("--budget", "2400 tokens"),
        ("--budget", "0.028", "--price", "10/10", "--judge-price", "10/10", "--yes"),
    ],
)
def test_a_budget_keeps_aside_what_canaries_cost(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path, budget: tuple[str, ...]
) -> None:
    """However few questions were asked: ten canaries take 1,100 tokens here."""
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(judging) as judge:
        by = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--mode", "std")
        ran = evaluate(run, exam_dir, tmp_path, server.url, *by, *budget)
    assert ran.code == 0, ran.err
    assert " is used up, with what judging takes kept aside" in ran.err
    assert 110 * (len(server.requests) + len(judge.requests)) <= 2400
    assert read_run(tmp_path / "openai-tiny").within_budget


def test_a_judge_that_cannot_be_paid_scores_nothing_and_is_paid_once(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(judging) as judge:
        assert evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std").code == 0
        folder = tmp_path / "openai-tiny"
        by_rule = (folder / "summary.json").read_bytes()
        again = ("judge", folder, "--judge", "openai:judge", "--base-url", judge.url)
        ran = run(*again, "--budget", "0.0003", "--yes")
        assert ran.code == 2 and "--judge-price" in ran.err and not judge.requests
        ran = run(*again, "--budget", "0.0003", "--price", "10/10")  # of a request: 0.0011
        assert ran.code == 2 and "nobody is there to agree" in ran.err and not judge.requests
        ran = run(*again, "--budget", "0.022", "--price", "10/10", "--yes")
        assert ran.code == 2 and "the budget of 0.022 of money is used up" in ran.err
        assert "10 of " in ran.err and "pays only for the rest" in ran.err
        assert len(judge.requests) == 20, "ten canaries and ten answers"
        assert (folder / "summary.json").read_bytes() == by_rule
        assert run(*again).code == 0
    n_answers = sum(_is_short(exam, item.id) for item in exam.items)
    times = Counter(judge.times_asked.values())
    assert times == {2: 10, 1: len({r.key for r in judge.requests}) - 10}, "canaries twice"
    assert len(judge.requests) <= n_answers + 20


def test_the_cost_of_judging_is_noted_run_by_run_within_one_budget(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(Pupil(exam, odd)) as server, ChatServer(judging) as judge:
        by = ("--judge", "openai:judge", "--judge-base-url", judge.url, "--judge-price", "1/1")
        two = ("--model", "openai:second", "--mode", "std", "--limit", 4, "--yes")
        ran = evaluate(run, exam_dir, tmp_path, server.url, *by, *two)
        assert ran.code == 0, ran.err
        tokens = [_spent(tmp_path / f"openai-{name}")[1] for name in ("tiny", "second")]
        assert sum(tokens) == 110 * len(judge.requests)
        assert tokens[1] == 1100, "the second answers alike: canaries only"
        noted = read_run(tmp_path / "openai-second").judged
        assert noted is not None and noted.cost == pytest.approx(1100e-6)
        more = ("--budget", "5500 tokens", "--fresh")
        assert evaluate(run, exam_dir, tmp_path / "b", server.url, *two, *more).code == 0
    for name, failed in (("tiny", 0), ("second", 46)):
        there = read_run(tmp_path / "b" / f"openai-{name}")
        assert there.outcomes["failed"] == failed and there.within_budget == bool(failed)


def test_events_tell_what_happened(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    with ChatServer(Pupil(exam, odd)) as server:
        ran = evaluate(run, exam_dir, tmp_path, server.url, "--json")
    assert ran.code == 0, ran.err
    events: list[dict[str, Any]] = [json.loads(line) for line in ran.out.splitlines()]
    assert [e["event"] for e in events if e["event"] != "progress"] == [
        "started",
        "estimate",
        "judged",
        "finished",
    ]
    assert {e["model"] for e in events} == {"openai:tiny"}
    last = events[-1]
    assert last["answered"] == last["n_items"] == 352 and last["judge"]["name"] == "rule"
    assert last["summary"]["rows"]["counting"]["metrics"]["accuracy_cot"]["n"] == 32
    assert last["cot_effects"]["Overall"]["only_cot_right"] == 16
    assert set(last["position_bias"]["std"]["letters"]) == set("ABCD")


def test_a_short_key_is_not_cut_out_of_answers(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "no")
    with ChatServer(Pupil(exam, odd)) as server:
        assert evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std").code == 0
    texts = {answer.text for answer in answers(tmp_path / "openai-tiny").values()}
    assert "no." in texts and not any("[key]" in text for text in texts)


def test_scores_are_corrected_by_the_judges_card(
    run: Command, exam: Benchmark, exam_dir: Path, tmp_path: Path
) -> None:
    """A judge that lets every fourth wrong answer pass, labelled as such: the correction undoes
    it."""
    texts = [("right", "fine")] * 4 + [("wrong", "all red")] * 3 + [("wrong", "fine")]
    items = [q.id for q in exam.items if _is_short(exam, q.id)]
    lines = [
        json.dumps({"item_id": item, "text": f"{text} {k}", "verdict": verdict})
        for item in items
        for k, (verdict, text) in enumerate(texts)
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(lines))
    lenient: Counter[str] = Counter()

    def behave(request: Request) -> Response:
        said = request.last[0].split("-----")[1]
        right = "all red" not in said
        if "nothing changed" in said:  # a wrong answer of the run: every fourth passes
            lenient["wrong"] += 1
            right = lenient["wrong"] % 4 == 0
        return Response(content=completion("right" if right else "wrong"))

    pupil, cut_off = Pupil(exam, odd), items[0]  # never judged, so not to be corrected

    def answer(request: Request) -> Response:
        if pupil.item(request.last[0]) == cut_off:
            return Response(content=completion("There is", "length"))
        return pupil(request)

    with ChatServer(answer) as server, ChatServer(behave) as judge:
        at = ("--judge", "openai:judge", "--base-url", judge.url)
        card_file = tmp_path / "card.json"
        ran = run("judge-card", labels, "--exam", exam_dir, *at, "--out", card_file)
        assert ran.code == 0, ran.err
        card = read_json(card_file, JudgeCard)
        assert card.tasks["Overall"].specificity == 0.75
        assert card.tasks["Overall"].sensitivity == 1.0 and "κ" in ran.out
        assert evaluate(run, exam_dir, tmp_path, server.url, "--mode", "std").code == 0
        folder = tmp_path / "openai-tiny"
        ran = run("judge", folder, *at, "--card", card_file, "--bootstrap", 200)
        assert ran.code == 0, ran.err
    assert "corrected" in ran.out
    wrong = [i for i in items if not odd(i, "std")]
    passed = len(wrong) // 4
    judged = read_results(folder)[0].rows["Overall"].metrics["SA"]
    n = judged.n
    right = n - (n - len(items)) // 2 - len(wrong) - 1
    assert odd(cut_off, "std") and judged.value == pytest.approx((right + passed) / n)
    found = json.loads((folder / "corrected.json").read_text())["rows"]["Overall"]["SA"]
    truth = share(
        exam,
        lambda i: odd(i, "std") and i != cut_off,
        lambda i: i in items or (i.startswith("counting") and _sa(i)),
    )
    assert found["value"] == pytest.approx(truth) and found["low"] < truth < found["high"]
    ran = run("judge", folder, "--card", card_file)
    assert ran.code == 2 and "judge-card" in ran.err


def _sa(item: str) -> bool:
    return item.endswith(("Q5", "Q6"))


def test_a_summary_can_be_read(run: Command, exam_dir: Path, tmp_path: Path) -> None:
    assert run("eval", exam_dir, "--model", "oracle", "--out", tmp_path).code == 0
    summary = read_json(tmp_path / "oracle" / "summary.json", Summary)
    assert list(summary.rows) == ["Overall", "erasure", "attribute", "tracing", "counting"]
