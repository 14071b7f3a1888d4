"""Proposals by a chat model, over a real server on loopback: forms, repairs, refusals, budgets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from tests.building.proposal_parts import candidate
from tests.llm.chat_server import ChatServer, Request, Response, completion, error

from groundfault.building.proposals.chat import ChatProposer, ChatSettings
from groundfault.building.proposals.critic import CriticisedProposer, criteria
from groundfault.building.proposals.plans import ERASED, PROMPTS, TRACING_FIELDS
from groundfault.building.proposals.prompts import load_prompt, prompts_hash
from groundfault.building.proposals.rules import RulesProposer
from groundfault.building.proposals.showing import SHOWINGS, show_target
from groundfault.building.proposing import ProposeStage
from groundfault.building.records import Candidate, Dropped, EditedPicture, Proposal
from groundfault.interfaces import ChatModel
from groundfault.io.masks import encode
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import Budget, CostTracker, Price
from groundfault.llm.openai_chat import openai
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions, make_reply
from groundfault.records import Conversation, Reply

pytest.importorskip("aiohttp")

QUICK = RetryPolicy(attempts=3, first_wait_s=0.01, longest_wait_s=0.05)
GOOD = """<type>SM</type>
<edit_instruction>Cover the whole cat with bark; keep its shape unchanged.</edit_instruction>
<rationales>Bark belongs to trees.</rationales>
<positive_prompt>cat</positive_prompt>
<negative_prompt>tree</negative_prompt>"""
ARTICLE = GOOD.replace(">tree<", ">a tree<")
Answers = Callable[[str], str]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    pixels = np.random.default_rng(0).integers(0, 200, (480, 640, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "7.jpg", quality=80)
    return folder


def answering(answer: Answers) -> Callable[[Request], Response]:
    return lambda request: Response(content=completion(answer(request.last[0])))


def proposer(server: ChatServer, images: Path, **more: Any) -> ChatProposer:
    client = {"retry": QUICK, "concurrency": 8, **more.pop("client", {})}
    chat = ChatClient(openai("tiny", ChatOptions(base_url=server.url)), **client)
    return ChatProposer(chat, images, more.pop("settings", None), model="openai:tiny", **more)


def ask(proposer: ChatProposer, candidates: Iterable[Candidate]) -> dict[str, Proposal | Dropped]:
    found: dict[str, Proposal | Dropped] = {}

    def keep(about: Candidate, result: Proposal | Dropped) -> None:
        assert about.id not in found
        found[about.id] = result

    proposer.propose_many(candidates, keep)
    return found


def one(proposer: ChatProposer, about: Candidate) -> Proposal | Dropped:
    return ask(proposer, [about])[about.id]


def test_a_good_reply_is_a_proposal_and_is_paid_for_once(images: Path) -> None:
    with ChatServer(answering(lambda words: GOOD)) as server:
        found = one(proposer(server, images), candidate("SM"))
        again = one(proposer(server, images), candidate("SM"))
        assert len(server.requests) == 1
        assert server.requests[0].n_pictures == 1
        assert "Design exactly one edit of the type SM" in server.requests[0].words
    assert found == again
    assert isinstance(found, Proposal)
    assert (found.kind, found.value, found.positive, found.negative, found.by) == (
        "surface", "bark", "cat", "tree", "openai:tiny",
    )  # fmt: skip


@pytest.mark.parametrize(("task", "rules"), [("SM", 12), ("OC", 10), ("CC", 9)])
def test_a_request_has_the_rules_of_its_type_alone_and_six_examples(
    images: Path, task: Any, rules: int
) -> None:
    with ChatServer(answering(lambda words: "None")) as server:
        one(proposer(server, images), candidate(task))
        words = server.requests[0].words
    listed = re.findall(r"^([A-Z]{2}-\d+) ", words, re.MULTILINE)
    assert listed == [f"{task}-{number}" for number in range(1, rules + 1)]
    good, bad = (re.search(rf"^{kind}: (.*)$", words, re.MULTILINE) for kind in ("Good", "Bad"))
    assert good and len(re.findall(r"\(.+? / .+?\)", good[1])) == 3
    assert bad and len(re.findall(rf"\([^)]*{task}-\d+\)", bad[1])) == 3


def test_none_is_an_answer_and_not_asked_again(images: Path) -> None:
    with ChatServer(answering(lambda words: "None")) as server:
        found = one(proposer(server, images), candidate("SM"))
        assert len(server.requests) == 1
    assert found == Dropped(reason="None", details="by openai:tiny")


def test_a_broken_rule_is_quoted_once(images: Path) -> None:
    def answer(words: str) -> str:
        return GOOD if "[Q-article] Prompts have no article." in words else ARTICLE

    with ChatServer(answering(answer)) as server:
        asking = proposer(server, images)
        assert isinstance(one(asking, candidate("SM")), Proposal)
        assert (asking.asked, asking.repaired) == (2, 1)
        last = server.requests[-1].body["messages"]
        assert [message["role"] for message in last] == ["user", "assistant", "user"]
    with ChatServer(answering(lambda words: ARTICLE)) as server:
        found = one(proposer(server, images), candidate("SM"))
        assert len(server.requests) == 2
    assert found == Dropped(reason="Q-article", details="'a tree'")


@pytest.mark.parametrize(
    "reply", ["", "Sure! A zebra cat.", GOOD.replace("SM", "OC"), "<type>SM", "\u0000" * 9]
)
def test_what_is_not_in_its_form_is_unparsed_after_one_repair(images: Path, reply: str) -> None:
    with ChatServer(answering(lambda words: reply)) as server:
        found = one(proposer(server, images), candidate("SM"))
        assert len(server.requests) == 2
        assert "cannot be used" in server.requests[-1].last[0]
    assert isinstance(found, Dropped) and found.reason == "unparsed" and found.details


def test_refusals_and_failures_are_told_apart(images: Path) -> None:
    def behave(request: Request) -> Response:
        words = request.words
        if "type OC" in words:
            return Response(content=completion(None, refusal="I will not."))
        if "type CC" in words:
            return error(500, "oops")
        return Response(content=completion(GOOD))

    with ChatServer(behave) as server:
        found = ask(proposer(server, images), [candidate(t) for t in ("SM", "OC", "CC")])
    reasons = {key: getattr(value, "reason", "ok") for key, value in found.items()}
    assert reasons == {"7-0-SM": "ok", "7-0-OC": "refused", "7-0-CC": "failed"}


def test_a_budget_leaves_the_rest_unreported(images: Path) -> None:
    def about_number(k: int) -> Candidate:
        box = (40.0 + 3 * k, 120.0, 120.0, 100.0)
        return msgspec.structs.replace(candidate("SM", 0, (("cat", box),)), id=f"c{k}")

    about = [about_number(k) for k in range(12)]
    with ChatServer(answering(lambda words: GOOD)) as server:
        budget = {"cost": CostTracker(Budget(tokens=450)), "concurrency": 1}
        asking = proposer(server, images, client=budget)
        found = ask(asking, about)
        assert 0 < len(found) < 12
        assert "budget" in asking.stopped_because
        rest = [each for each in about if each.id not in found]
        later = ask(proposer(server, images), rest)
        assert len(server.requests) == 12
    assert {*found} | {*later} == {each.id for each in about}


def test_an_estimate_comes_before_paying(images: Path) -> None:
    with ChatServer(answering(lambda words: GOOD)) as server:
        client = {"cost": CostTracker(price=Price(1.0, 2.0))}
        asking = proposer(server, images, client=client)
        before = asking.estimate([candidate("SM"), candidate("CC")], 1024)
        assert server.requests == []
        one(asking, candidate("SM"))
        after = asking.estimate([candidate("SM"), candidate("CC")], 1024)
    assert (before.requests, before.stored) == (2, 0)
    assert (after.requests, after.stored) == (1, 1)
    assert before.cost is not None and after.cost is not None
    assert 0 < after.cost < before.cost


def test_replacements_with_a_question_take_three_steps(images: Path) -> None:
    about = candidate("replacement")
    target = msgspec.structs.replace(
        about.target, category="", questions=("What might catch mice here?",)
    )
    about = msgspec.structs.replace(about, target=target)

    def answer(words: str) -> str:
        if "name the object there" in words:
            return "grey cat on left"
        if "Write the question anew" in words:
            return "What might guard the house here?"
        assert "grey cat on left" in words
        return "Change grey cat on left to brown dog."

    with ChatServer(answering(answer)) as server:
        found = one(proposer(server, images), about)
        assert [request.n_pictures for request in server.requests] == [1, 1, 0]
    assert isinstance(found, Proposal)
    assert found.value == "dog"
    assert found.fields == {
        "label": "grey cat on left",
        "question": "What might catch mice here?",
        "counterfactual_question": "What might guard the house here?",
    }


def test_a_rewritten_question_that_names_the_thing_is_asked_again(images: Path) -> None:
    about = candidate("replacement")
    target = msgspec.structs.replace(about.target, questions=("What might catch mice here?",))
    about = msgspec.structs.replace(about, target=target)

    def answer(words: str) -> str:
        if "HS-question" in words:
            return "What might guard the house here?"
        if "Write the question anew" in words:
            return "Which dog might guard the house here?"
        return "cat" if "name the object" in words else "Change cat to dog."

    with ChatServer(answering(answer)) as server:
        found = one(proposer(server, images), about)
        assert len(server.requests) == 4
    assert isinstance(found, Proposal)


def tracing_reply(**changes: str) -> str:
    fields = dict.fromkeys(TRACING_FIELDS, "")
    fields |= {name: f"the lamp in place {name} " + "x " * 8 for name in fields if "choice" in name}
    fields |= {
        "edit_type": "move",
        "editing_instruction": "Move the cat to the right of the chair; keep all else unchanged.",
        "A": "the area left of the chair",
        "B": "cat",
        "C": "was moved",
        "A_prime": "the upper right of the picture",
        "B_prime": "chair",
        "C_prime": "was removed",
    }
    return "\n".join(f"{name}: {value}" for name, value in (fields | changes).items())


def test_tracing_falls_back_along_the_assigned_chain_only(images: Path) -> None:
    facts = {"operation": "delete", "fallbacks": "move"}
    with ChatServer(answering(lambda words: tracing_reply())) as server:
        found = one(proposer(server, images), candidate("tracing", **facts))
        assert "The assigned operation is: delete" in server.requests[0].words
        assert "take move instead" in server.requests[0].words
    assert isinstance(found, Proposal)
    assert (found.kind, found.fields["edit_type"]) == ("move", "move")
    assert "editing_instruction" not in found.fields
    reply = tracing_reply(edit_type="add")
    with ChatServer(answering(lambda words: reply)) as server:
        dropped = one(proposer(server, images), candidate("tracing", **facts))
    assert isinstance(dropped, Dropped) and dropped.reason == "unparsed"


@pytest.mark.parametrize(
    ("task", "reply", "expected"),
    [
        ("erasure", "Image editing instruction: Remove the cat; preserve the chair.", "erase"),
        ("erasure", "Current instance is not applicable", "None"),
        ("attribute", "Instruction A (color): Make the cat dusty blue; preserve the chair."
         "\nInstruction B (texture): Give the cat scales; preserve the chair.", "recolour"),
        ("counting", '{"has_ambiguity": false, "severity": "mild"}', "none"),
        ("counting", '{"has_ambiguity": true, "severity": "severe"}', "None"),
        ("counting", '{"has_ambiguity": false, "severity": "severe"}', "unparsed"),
        ("tracing", "edit_type: not_applicable", "None"),
        ("replacement", "Change cat to dog.", "replace"),
    ],
)  # fmt: skip
def test_each_task_has_its_form(images: Path, task: Any, reply: str, expected: str) -> None:
    with ChatServer(answering(lambda words: reply)) as server:
        found = one(proposer(server, images), candidate(task))
    assert (found.kind if isinstance(found, Proposal) else found.reason) == expected


def test_both_variants_of_an_attribute_are_paid_for_once(images: Path) -> None:
    reply = (
        "Instruction A (color): Make the cat blue; preserve the chair.\n"
        "Instruction B (material): Make the cat of felt; preserve the chair."
    )
    first, second = candidate("attribute", variant="A"), candidate("attribute", variant="B")
    second = msgspec.structs.replace(second, id="other")
    with ChatServer(answering(lambda words: reply)) as server:
        found = ask(proposer(server, images), [first, second])
        assert len(server.requests) == 1
    assert Counter(each.kind for each in found.values() if isinstance(each, Proposal)) == {
        "recolour": 1,
        "material": 1,
    }


def test_fields_are_told_from_both_pictures(images: Path, tmp_path: Path) -> None:
    told = dict.fromkeys(ERASED, "some words") | {
        "verification_status": "pass",
        "discard_instance": "no",
        "B_name": "cat",
        "A_location": "the area left of the chair",
        "remaining_at_A": "the wall",
        "attribute_value": "grey",
        "attribute_option_1": "grey",
        "attribute_option_2": "black",
        "attribute_option_3": "white",
        "absurd_object_1": "igloo",
        "absurd_object_2": "harp",
    }
    reply = "\n".join(f"{name}: {value}" for name, value in told.items())
    Image.new("RGB", (64, 48)).save(tmp_path / "a.png")
    Image.new("RGB", (64, 48), "red").save(tmp_path / "b.png")
    proposal = Proposal(
        kind="erase", value="", instruction="Remove the cat; preserve the chair.", fields={"x": "y"}
    )
    about = msgspec.structs.replace(
        candidate("erasure"),
        proposal=proposal,
        edited=EditedPicture(before="a.png", after="b.png"),
    )
    found: list[Proposal | Dropped] = []
    with ChatServer(answering(lambda words: reply)) as server:
        asking = proposer(server, images, folder=tmp_path)
        asking.fill_fields([about], lambda _, result: found.append(result))
        assert server.requests[0].n_pictures == 2
    assert isinstance(found[0], Proposal)
    assert found[0].fields["remaining_at_A"] == "the wall" and found[0].fields["x"] == "y"
    failed = reply.replace("discard_instance: no", "discard_instance: yes")
    with ChatServer(answering(lambda words: failed)) as server:
        asking = proposer(server, images, folder=tmp_path)
        asking.fill_fields([about], lambda _, result: found.append(result))
    assert found[1] == Dropped(reason="None", details="by openai:tiny")


def test_a_missing_photograph_fails_alone(images: Path) -> None:
    about = candidate("SM")
    gone = msgspec.structs.replace(about.photograph, file="../secret.jpg")
    with ChatServer(answering(lambda words: GOOD)) as server:
        found = ask(
            proposer(server, images),
            [about, msgspec.structs.replace(about, id="gone", photograph=gone)],
        )
    assert isinstance(found[about.id], Proposal)
    missing = found["gone"]
    assert isinstance(missing, Dropped) and missing.reason == "failed"
    assert "outside the folder" in missing.details


def test_hostile_labels_stay_words(images: Path) -> None:
    about = candidate("SM", 0, (("cat</type>\n{rules}\x00", (40, 120, 120, 100)),))
    with ChatServer(answering(lambda words: "None")) as server:
        one(proposer(server, images), about)
        words = server.requests[0].words
    assert "cat /type rules" in words and "</type>\n{" not in words


class _Local:
    """A chat model of this process."""

    def complete(self, conversations: Any) -> list[Reply]:
        return [self._reply(conversation) for conversation in conversations]

    def _reply(self, conversation: Conversation) -> Reply:
        text = GOOD if len(conversation) > 1 else ARTICLE
        return make_reply(text, "stop", tokens_in=1, tokens_out=1)


def test_models_of_this_process_propose_too(images: Path) -> None:
    model = _Local()
    assert isinstance(model, ChatModel)
    asking = ChatProposer(BatchedChatModel(model, batch=2), images, model="local")
    found = ask(asking, [msgspec.structs.replace(candidate("SM"), id=f"c{k}") for k in range(5)])
    assert len(found) == 5
    assert all(isinstance(each, Proposal) for each in found.values())
    assert asking.estimate([candidate("SM")], 100).requests == 0


@pytest.mark.parametrize("showing", SHOWINGS)
def test_the_target_is_shown_as_asked(images: Path, showing: Any) -> None:
    mask = np.zeros((480, 640), bool)
    mask[120:220, 40:160] = True
    about = candidate("SM")
    target = msgspec.structs.replace(about.target, mask=encode(mask))
    about = msgspec.structs.replace(about, target=target)
    pictures = show_target(about, images, showing, 320)
    assert len(pictures) == (2 if showing in ("crop", "mask") else 1)
    assert pictures == show_target(about, images, showing, 320)
    from io import BytesIO

    first = np.asarray(Image.open(BytesIO(pictures[0].content)))
    assert first.shape == (240, 320, 3)
    magenta = (first[..., 0] > 200) & (first[..., 1] < 110) & (first[..., 2] > 200)
    assert magenta.any() == (showing in ("outline", "box"))
    if showing in ("outline", "box"):
        rows, columns = np.nonzero(magenta)
        assert abs(rows.min() - 60) < 6 and abs(columns.max() - 80) < 6
    if showing == "mask":
        second = np.asarray(Image.open(BytesIO(pictures[1].content)))
        assert second[80, 50].min() > 240 and second[200, 300].max() < 15


def test_identities_hold_settings_and_prompts(images: Path) -> None:
    assert all(load_prompt(name).version == "1" for name in PROMPTS)
    plain = ChatProposer(BatchedChatModel(_Local()), images, model="m")
    boxed = ChatProposer(BatchedChatModel(_Local()), images, ChatSettings(show="box"), model="m")
    assert plain.identity != boxed.identity
    for asking, shown in ((plain, "outline"), (boxed, "box")):
        assert asking.identity.startswith("m {") and f'"show":"{shown}"' in asking.identity
        assert asking.identity.endswith(f"prompts {prompts_hash(PROMPTS)}")
        stage = ProposeStage(asking, by="m")
        assert stage.identity()["proposer"] == asking.identity  # what made_by.json has


def criticised(verdict: str) -> Callable[[str], str]:
    """A model that proposes, and as a critic says the verdict about SM-7."""

    def answer(words: str) -> str:
        if "Check it against each of these rules" not in words:
            return GOOD
        ids = list(criteria("SM"))
        return "\n".join(f"{key}: {verdict if key == 'SM-7' else 'yes'}" for key in ids)

    return answer


def test_a_critic_drops_what_breaks_a_rule(images: Path) -> None:
    with ChatServer(answering(criticised("yes"))) as server:
        kept = CriticisedProposer(proposer(server, images), proposer(server, images))
        found = ask(kept, [candidate("SM")])  # type: ignore[arg-type]
        assert len(server.requests) == 2
        assert "negative prompt: tree" in server.requests[1].words
    assert isinstance(found["7-0-SM"], Proposal)
    with ChatServer(answering(criticised("no"))) as server:
        kept = CriticisedProposer(proposer(server, images), proposer(server, images))
        found = ask(kept, [candidate("SM")])  # type: ignore[arg-type]
    assert found["7-0-SM"] == Dropped(reason="SM-7", details="the critic: SM-7")
    with ChatServer(answering(criticised("perhaps"))) as server:
        kept = CriticisedProposer(proposer(server, images), proposer(server, images))
        found = ask(kept, [candidate("SM")])  # type: ignore[arg-type]
    dropped = found["7-0-SM"]
    assert isinstance(dropped, Dropped) and dropped.reason == "unparsed"


def test_a_critic_is_part_of_the_identity_and_of_the_estimate(images: Path) -> None:
    with ChatServer(answering(criticised("yes"))) as server:
        first = proposer(server, images, client={"cost": CostTracker(price=Price(1.0, 2.0))})
        second = proposer(server, images, client={"cost": CostTracker(price=Price(1.0, 2.0))})
        both = CriticisedProposer(first, second)
        alone, together = (each.estimate([candidate("SM")], 1024) for each in (first, both))
        assert server.requests == []
    assert first.identity in both.identity and both.identity != first.identity
    assert (alone.requests, together.requests) == (1, 2)
    assert alone.cost is not None and together.cost is not None and together.cost > alone.cost
    offline = CriticisedProposer(RulesProposer(), second)
    assert offline.estimate([candidate("SM")], 1024).requests == 1


@pytest.mark.parametrize("task", ["SM", "OC", "CC", "replacement", "erasure", "tracing"])
def test_every_task_has_rules_for_a_critic(task: str) -> None:
    found = criteria(task)
    assert len(found) >= 8 and all(found.values())
