"""Fields of questions that a chat model tells from both pictures, over a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.building.test_exam_questions import kept, made
from tests.llm.chat_server import ChatServer, Request, Response, completion

from groundfault.building.proposals.chat import ChatProposer
from groundfault.building.proposals.plans import CHANGED, ERASED
from groundfault.building.questions.stage import QuestionSettings, QuestionStage
from groundfault.building.records import Candidate, Dropped
from groundfault.building.stages import read_records, run_stage
from groundfault.errors import UsageError
from groundfault.llm.client import ChatClient
from groundfault.llm.openai_chat import openai
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions

pytest.importorskip("aiohttp")

ABOUT_ERASED = dict.fromkeys(ERASED, "some words") | {
    "verification_status": "pass",
    "discard_instance": "no",
    "B_name": "terrier",
    "B_count_descriptor": "a",
    "A_location": "the area left of the bench",
    "common_knowledge": "Dogs often wait beside a bench",
    "attribute_type": "material",
    "attribute_value": "fur",
    "attribute_option_1": "fur",
    "attribute_option_2": "wool",
    "attribute_option_3": "leather",
    "absurd_object_1": "igloo",
    "absurd_object_2": "harp",
    "B_full_desc": "a brown terrier that sits on the ground by itself and looks up",
    "B_variant_1": "a spotted terrier",
    "B_variant_2": "a terrier in a basket",
    "B_variant_3": "a terrier with a hat",
    "B_variant_4": "two terriers",
}
ABOUT_CHANGED = dict.fromkeys(CHANGED, "") | {
    "usable": "yes",
    "unusable_reason": "none",
    "A_object": "dog",
    "A_number": "singular",
    "attribute_type": "texture",
    "B_original_attribute": "shaggy",
    "C_new_attribute": "scaly",
    "D_location": "on the left",
    "D_alt_location": "in the picture",
    "plausible_wrong_attribute_1": "woolly",
    "plausible_wrong_attribute_2": "curly",
    "E_absurd_same_slot": "punctual",
    "absurd_attribute_2": "a Tuesday",
    "wrong_location_1": "in the middle",
    "wrong_location_2": "on the right",
    "wrong_location_3": "at the top",
}


def told(request: Request) -> Response:
    """What a fair model tells; of attributes only once it is told that its reply is no JSON."""
    if "B_count_descriptor" in request.words:
        text = "\n".join(f"{name}: {value}" for name, value in ABOUT_ERASED.items())
        return Response(content=completion(text))
    again = len(request.body["messages"]) > 1
    text = json.dumps(ABOUT_CHANGED) if again else "The dog has scales."
    return Response(content=completion(text))


@pytest.fixture
def teller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[ChatServer], ChatProposer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))

    def make(server: ChatServer) -> ChatProposer:
        retry = RetryPolicy(attempts=2, first_wait_s=0.01, longest_wait_s=0.05)
        client = ChatClient(openai("tiny", ChatOptions(base_url=server.url)), retry=retry)
        return ChatProposer(client, tmp_path, model="openai:tiny", folder=tmp_path)

    return make


def spoken(candidate: Candidate) -> Candidate:
    """A candidate whose edit a model proposed."""
    assert candidate.proposal is not None
    proposal = msgspec.structs.replace(candidate.proposal, by="openai:tiny")
    return msgspec.structs.replace(candidate, proposal=proposal)


def asked(tmp_path: Path, by: ChatProposer, **options: Any) -> dict[str, Candidate | Dropped]:
    candidates = [
        spoken(made(tmp_path, "erasure", "gone")),
        spoken(made(tmp_path, "attribute", "changed")),
    ]
    stage = QuestionStage(tmp_path, QuestionSettings(), teller=by, **options)
    stage.offer(candidates)
    run_stage(stage, tmp_path, lambda: iter(candidates))
    return {
        record.id: record.candidate or Dropped(reason=record.reason, details=record.details)
        for record in read_records(tmp_path, "questions")
    }


def test_questions_are_made_from_what_a_model_saw(
    tmp_path: Path, teller: Callable[[ChatServer], ChatProposer]
) -> None:
    with ChatServer(told) as server:
        found = asked(tmp_path, teller(server))
        assert [request.n_pictures for request in server.requests] == [2, 2, 2]  # and one repair
        asked(tmp_path, teller(server))
        assert len(server.requests) == 3  # what was told is kept
    gone = " ".join(question.query for question in kept(found["gone"]).questions)
    assert "terrier" in gone and "left of the bench" in gone and "material" in gone
    changed = kept(found["changed"]).questions
    answers = {question.reference for question in changed if question.type == "SA"}
    assert {"Scaly.", "Shaggy."} <= answers  # of the edited picture, and of its twin


def test_an_edit_that_failed_by_the_model_is_not_asked_about(
    tmp_path: Path, teller: Callable[[ChatServer], ChatProposer]
) -> None:
    def failed(request: Request) -> Response:
        text = "\n".join(
            f"{k}: {v}" for k, v in {**ABOUT_ERASED, "discard_instance": "yes"}.items()
        )
        changed = json.dumps({**ABOUT_CHANGED, "usable": "no", "unusable_reason": "blurred"})
        return Response(content=completion(text if "B_count" in request.words else changed))

    with ChatServer(failed) as server:
        found = asked(tmp_path, teller(server))
    assert all(isinstance(each, Dropped) for each in found.values())


def test_whoever_pays_for_fields_is_asked_first(
    tmp_path: Path, teller: Callable[[ChatServer], ChatProposer]
) -> None:
    seen: list[int] = []

    def no(about: str, guess: Any) -> None:
        seen.append(guess.requests)
        raise UsageError("called off")

    with ChatServer(told) as server:
        with pytest.raises(UsageError, match="called off"):
            asked(tmp_path, teller(server), agree=no)
        assert seen == [2] and not server.requests
