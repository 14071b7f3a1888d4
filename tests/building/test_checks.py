"""Checks of edits: each finds its defect and leaves good edits alone; cards count their errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.building.spoiled import MASK, edit
from tests.llm.chat_server import ChatServer, Request, Response, completion, error

from groundfault.building.checking import VerifySettings, VerifyStage
from groundfault.building.checks.card import auc, check_cards, read_labels
from groundfault.building.checks.catalogue import CHECKS, heard, measure, objection, told
from groundfault.building.checks.questions import asked_about, question_ids
from groundfault.building.checks.summary import summary
from groundfault.building.checks.views import show
from groundfault.building.records import Candidate, Dropped
from groundfault.building.stages import FAILED, run_stage
from groundfault.cli import run
from groundfault.errors import DataError, UnknownName, UsageError
from groundfault.io.masks import encode
from groundfault.io.photographs import Thing
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import Budget, CostTracker, Price
from groundfault.llm.openai_chat import openai
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions
from groundfault.records import Outcome, Prediction

STRICT = VerifySettings(min_edge=0.5, max_halo=0.5, max_artefacts=1.5)


def reason(folder: Path, candidate: Candidate, settings: VerifySettings) -> str:
    assert candidate.proposal is not None
    return objection(measure(candidate, folder), settings, candidate.proposal.kind)


def test_every_check_says_what_it_is_and_its_threshold_exists() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    for check in CHECKS:
        assert check.says.endswith(".") and check.measures
        assert bool(check.setting) == bool(check.reason)
        if check.setting:
            getattr(VerifySettings(), check.setting)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("good", ""),
        ("no-op", "no visible change"),
        ("partial", "partly changed"),
        ("leak", "changed outside"),
        ("shifted", "edge not reached"),
        ("halo", "halo"),
        ("blurred", "artefacts"),
    ],
)
def test_defects_of_a_surface_are_told_apart(how: str, says: str, tmp_path: Path) -> None:
    assert reason(tmp_path, edit(tmp_path, how), STRICT) == says


def test_what_is_left_of_an_erased_thing_is_seen_through_paint(tmp_path: Path) -> None:
    settings = VerifySettings()
    assert reason(tmp_path, edit(tmp_path, "ghost", "erase"), settings) == "old thing left"
    assert reason(tmp_path, edit(tmp_path, "good", "erase"), settings) == ""


def test_a_new_thing_is_there_or_it_is_not(tmp_path: Path) -> None:
    def says(new: np.ndarray, how: str = "good") -> str:
        candidate = edit(tmp_path, how, "replace", negative="tree", mask=encode(new))
        return reason(tmp_path, candidate, VerifySettings())

    small = np.zeros_like(MASK)
    small[55:65, 70:85] = True
    assert says(MASK) == ""
    assert says(np.roll(MASK, 40, axis=1)) == "another place"
    assert says(small) == "another place"
    loose = VerifySettings(min_overlap=None)
    candidate = edit(tmp_path, "good", "replace", mask=encode(small))
    assert reason(tmp_path, candidate, loose) == "another size"
    candidate = edit(tmp_path, "good", "replace", mask=encode(np.roll(MASK, 20, axis=0)))
    assert reason(tmp_path, candidate, loose) == "mask elsewhere"


def test_registration_and_kin_of_the_negative_drop_an_edit(tmp_path: Path) -> None:
    told_px = edit(tmp_path, "good", details={"residual_px": "4.20"})
    assert reason(tmp_path, told_px, VerifySettings()) == "not registered"
    unknown = edit(tmp_path, "good", details={"residual_px": "much"})
    assert reason(tmp_path, unknown, VerifySettings()) == ""
    duck = edit(tmp_path, "good", negative="bird", things=(Thing(id="2", category="duck"),))
    assert reason(tmp_path, duck, VerifySettings()) == "competing instance"


class _Finds:
    """A segmenter that finds a cat where it is, and a tree elsewhere."""

    def segment(self, image: Any, phrases: list[str]) -> list[Prediction]:
        masks = {"cat": MASK, "tree": np.roll(MASK, 60, axis=1)}
        return [
            Prediction(item_id="1", outcome=Outcome.OK, masks=(encode(masks[p]),), scores=(0.9,))
            for p in phrases
        ]


def test_segmenting_again_is_a_hint_unless_a_recipe_says_otherwise(tmp_path: Path) -> None:
    found = measure(edit(tmp_path, "good"), tmp_path, _Finds())
    assert found["resegmented"] == 1.0 and found["competing_found"] == 1.0
    assert objection(found, VerifySettings(), "surface") == ""
    strict = VerifySettings(max_competing_found=0)
    assert objection(found, strict, "surface") == "competing instance found"


# ── models that see ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def client(server: ChatServer, name: str, **more: Any) -> ChatClient:
    quick = RetryPolicy(attempts=2, first_wait_s=0.01, longest_wait_s=0.02)
    return ChatClient(openai(name, ChatOptions(base_url=server.url)), retry=quick, **more)


def wishes(request: Request, *, wrong: str = "") -> str:
    """Answers that speak for the edit, but for the question with some words in it."""
    words, _ = request.last
    lines = re.findall(r"^(Q-\d+) (.+)$", words, re.MULTILINE)
    no = ("Is any part", "occur anywhere", "smear", "Is a real one")
    said = []
    for key, text in lines:
        yes = not any(part in text for part in no)
        said.append(f"{key}: {'yes' if yes != (bool(wrong) and wrong in text) else 'no'}")
    return "\n".join(said)


def verified(folder: Path, stage: VerifyStage, *candidates: Candidate) -> tuple[Any, str]:
    found: dict[str, Candidate | Dropped] = {}
    stopped = stage.run(candidates, lambda c, result: found.__setitem__(c.id, result))
    return found, stopped


@pytest.mark.usefixtures("own_store")
def test_two_models_answer_in_an_order_of_their_own_and_are_compared(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Response:
        asked.append(request.last[0])
        second = request.body["model"] == "second"
        return Response(content=completion(wishes(request, wrong="smear" if second else "")))

    candidates = [
        msgspec.structs.replace(edit(tmp_path, "good"), id=f"c{seed}", seed=seed)
        for seed in range(3)
    ]
    settings = VerifySettings(vlm="openai:first", second_vlm="openai:second", side_px=160)
    with ChatServer(answer) as server:
        models = {"vlm": client(server, "first"), "second_vlm": client(server, "second")}
        stage = VerifyStage(tmp_path, settings, **models)
        count, stopped = run_stage(stage, tmp_path, lambda: iter(candidates))
        assert (count.kept, stopped) == (3, "")
        times = len(asked)
        drops = msgspec.structs.replace(settings, vlm_drops=("looks-real",))
        assert run_stage(VerifyStage(tmp_path, drops, **models), tmp_path, lambda: iter(candidates))
        assert len(asked) == times  # from the response store
    cafe = {tuple(re.findall(r"^Q-\d (.{20})", w, re.M)) for w in asked if "Somebody" in w}
    assert len(cafe) > 1  # orders
    assert not any("Paint it" in words for words in asked if "Is any part" in words)
    found = summary(tmp_path, settings)
    kappas = {each.question: each for each in found.questions}
    assert kappas["looks-real"].first == 1.0 and kappas["looks-real"].second == 0.0
    assert kappas["looks-real"].kappa == 0.0 and kappas["looks-real"].n == 3


@pytest.mark.usefixtures("own_store")
def test_what_all_models_object_to_is_dropped_if_the_recipe_says_so(tmp_path: Path) -> None:
    def answer(request: Request) -> Response:
        return Response(content=completion(wishes(request, wrong="smear")))

    settings = VerifySettings(vlm="openai:one", vlm_drops=("looks-real",), side_px=160)
    with ChatServer(answer) as server:
        stage = VerifyStage(tmp_path, settings, vlm=client(server, "one"))
        found, _ = verified(tmp_path, stage, edit(tmp_path, "good"), edit(tmp_path, "no-op"))
        assert found["good-surface"].reason == "vlm: looks-real"
        assert heard(found["good-surface"].details)["vlm:looks-real"] is False
        assert found["no-op-surface"].reason == "no visible change"
        assert len(server.requests) == len(asked_about(edit(tmp_path, "good")))
    with pytest.raises(UnknownName):
        VerifyStage(tmp_path, VerifySettings(vlm_drops=("looks",)))
    with pytest.raises(UsageError, match="no chat model"):
        VerifyStage(tmp_path, settings)


@pytest.mark.usefixtures("own_store")
def test_replies_out_of_form_are_recorded_and_failures_can_be_asked_again(tmp_path: Path) -> None:
    def answer(request: Request) -> Response:
        if "smear" in request.last[0]:
            return error(500)
        return Response(content=completion("It is lovely."))

    settings = VerifySettings(vlm="openai:one", side_px=160)
    context = edit(tmp_path, "good")
    with ChatServer(answer) as server:
        found, _ = verified(
            tmp_path, VerifyStage(tmp_path, settings, vlm=client(server, "one")), context
        )
    assert found["good-surface"].reason == FAILED

    def lovely(request: Request) -> Response:
        return Response(content=completion("It is lovely."))

    with ChatServer(lovely) as server:
        stage = VerifyStage(tmp_path, settings, vlm=client(server, "two"))
        found, _ = verified(tmp_path, stage, context)
    assert found["good-surface"].checks["vlm:looks-real"] == "unparsed"


@pytest.mark.usefixtures("own_store")
def test_a_budget_that_ends_leaves_candidates_waiting(tmp_path: Path) -> None:
    def answer(request: Request) -> Response:
        return Response(content=completion(wishes(request)))

    said: list[str] = []
    with ChatServer(answer) as server:
        cost = CostTracker(Budget(money=0.000001), Price(1.0, 1.0))
        model = client(server, "one", cost=cost, concurrency=1)
        stage = VerifyStage(
            tmp_path,
            VerifySettings(vlm="openai:one", side_px=160),
            vlm=model,
            agree=lambda about, guess: said.append(f"{about} {guess.requests}"),
        )
        found, stopped = verified(tmp_path, stage, edit(tmp_path, "good"))
    assert not found and "budget" in stopped
    assert said == ["openai:one is to check edits 4"]


def test_views_are_the_same_bytes_again(tmp_path: Path) -> None:
    candidate = edit(tmp_path, "good")
    for view in ("after", "plain", "before", "pair", "overlay"):
        once, again = (show(candidate, tmp_path, view, 120) for _ in range(2))  # type: ignore[arg-type]
        assert once == again and len(once) == (1 if view == "before" else 2)


# ── cards ───────────────────────────────────────────────────────────────────────────────────────


def checked_build(folder: Path) -> None:
    """A build's folder after its stage `verify`."""
    candidates = [edit(folder, how) for how in ("good", "no-op", "partial", "halo", "shifted")]
    (folder / "stages").mkdir()
    lines = [msgspec.json.encode({"id": c.id, "candidate": c}) + b"\n" for c in candidates]
    (folder / "stages/edit.jsonl").write_bytes(b"".join(lines))
    run_stage(VerifyStage(folder, VerifySettings()), folder, lambda: iter(candidates))


def test_a_card_counts_the_errors_of_every_check(tmp_path: Path) -> None:
    checked_build(tmp_path)
    labels = {"good-surface": True, "no-op-surface": False, "halo-surface": False}
    found = {card.check: card for card in check_cards(tmp_path, labels)}
    strength = found["strength"]
    assert (strength.good, strength.bad) == (1, 2)
    assert (strength.false_accepts, strength.false_rejects) == (1, 0)
    assert found["halo"].threshold is None and found["halo"].auc.value == 1.0
    strict = {card.check: card for card in check_cards(tmp_path, labels, STRICT)}
    assert strict["halo"].false_accepts == 0 and strict["halo"].false_rejects == 0


def test_labels_are_lines_or_decisions_of_the_desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checked_build(tmp_path)
    lines = [
        {"id": "good-surface", "verdict": "accept"},
        {"id": "halo-surface", "verdict": "reject"},
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    votes = [("a", "accept"), ("b", "reject"), ("c", "accept")]
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_text(
        "".join(
            json.dumps({"item_id": "x", "stage": "edit", "reviewer": r, "verdict": v}) + "\n"
            for r, v in votes
        )
    )
    assert read_labels(labels) == {"good-surface": True, "halo-surface": False}
    assert read_labels(decisions) == {"x": True}
    assert run(["build", "check-card", str(tmp_path), "--labels", str(labels)]) == 0
    assert "halo" in capsys.readouterr().out
    labels.write_text('{"id": "x", "verdict": "maybe"}\n')
    with pytest.raises(DataError, match="line 1"):
        read_labels(labels)
    with pytest.raises(UsageError, match="none of its"):
        check_cards(tmp_path, {"y": True})


def test_auc_is_that_of_every_pair() -> None:
    rng = np.random.default_rng(0)
    good, bad = rng.integers(0, 9, 40).astype(float), rng.integers(0, 7, 30).astype(float)
    pairs = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    found = auc(good.tolist(), bad.tolist())
    assert found.value == pytest.approx(pairs)
    assert found.low is not None and found.high is not None and found.low < pairs < found.high
    assert auc([1.0], []).value is None
    assert auc([2.0, 3.0], [1.0, 0.0]).low is None


def test_what_was_told_is_heard() -> None:
    checks = {"strength": 3.25, "vlm:old-gone": False, "vlm:looks-real": "unparsed"}
    assert heard(told(checks)) == checks  # type: ignore[arg-type]
    assert len(question_ids()) == 10
