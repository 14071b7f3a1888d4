"""The rules of an episode, enforced."""

from __future__ import annotations

import msgspec
import pytest
from tests.agent.parts import (
    EXAMINE,
    REPORT,
    SEGMENT,
    SELECT,
    found,
    hold,
    picture,
    reply,
    told,
)

from groundfault.models.agent import Episode, Scene, Settings, replay
from groundfault.models.agent.prompt import prompt_hash, system_prompt
from groundfault.models.agent.scripted import call
from groundfault.records import Outcome, Prediction, Reply


def other(phrase: str) -> str:
    return call("segment_phrase", text_prompt=phrase)


def test_select() -> None:
    episode = hold(SEGMENT, EXAMINE, SELECT, n_masks=2)
    answer = episode.prediction()
    assert (episode.ending, answer.outcome) == ("select", Outcome.OK)
    assert answer.masks == found(2).masks[:1] and answer.scores == found(2).scores[:1]
    assert len(episode.turns) == 3 and episode.reason == ""


def test_boxes_of_the_segmenters_own_stay_with_their_masks() -> None:
    boxes = ((1.0, 2.0, 3.0, 4.0), None)
    episode = Episode(Scene(picture()), "tiger", Settings())
    lines = (SEGMENT, call("examine_masks", mask_indices=[2]))
    for line in (*lines, call("select_masks_and_return", final_answer_masks=[1, 2])):
        if episode.add_reply(reply(line)) is not None:
            two = msgspec.structs.replace(found(2), boxes_xywh=boxes)
            low = Prediction(
                item_id="", outcome=Outcome.OK, masks=(*two.masks[1:], *two.masks[:1]),
                scores=(two.scores[1], two.scores[0]), boxes_xywh=(None, boxes[0]),
            )  # fmt: skip
            episode.add_segmentation(low)
    assert episode.prediction().boxes_xywh == boxes
    assert replay(episode.trace(), picture()).prediction() == episode.prediction()


def test_report_is_an_abstention() -> None:
    episode = hold(SEGMENT, REPORT)
    assert (episode.ending, episode.outcome) == ("report", Outcome.ABSTAINED)
    assert episode.prediction().masks == ()


@pytest.mark.parametrize(
    ("lines", "n_masks", "correction"),
    [
        ((REPORT,), 1, "segment_phrase has to be called before"),
        ((SELECT,), 1, "segment_phrase has to be called before"),
        ((EXAMINE,), 1, "segment_phrase has to be called before"),
        ((SEGMENT, SELECT), 1, "None of these masks was examined"),
        (
            (SEGMENT, EXAMINE, call("select_masks_and_return", final_answer_masks=[2])),
            2,
            "examined",
        ),
        ((SEGMENT, EXAMINE, other("cat"), SELECT), 1, "None of these masks was examined"),
        ((SEGMENT, other(" TIGER ")), 1, "no phrase may be used twice"),
        ((SEGMENT, EXAMINE), 0, "nothing to examine"),
        ((SEGMENT, SELECT), 0, "nothing to examine or to select"),
        ((SEGMENT, call("examine_masks", mask_indices=[0, 4])), 3, "has masks 1 to 3"),
        (
            (SEGMENT, EXAMINE, call("select_masks_and_return", final_answer_masks=[1, 4])),
            3,
            "mask 4 cannot be selected",
        ),
        (
            (SEGMENT, EXAMINE, call("select_masks_and_return", final_answer_masks=[1, 1])),
            3,
            "more than once",
        ),
        (("I give up.",), 1, "There is no tool call in it"),
        ((REPORT + REPORT,), 1, "2 tool calls"),
    ],
)
def test_what_is_against_the_rules_costs_a_turn(
    lines: tuple[str, ...], n_masks: int, correction: str
) -> None:
    episode = hold(*lines, n_masks=n_masks)
    assert not episode.over
    assert correction in told(episode)
    assert correction in episode.turns[-1].problem
    used = len(lines)
    assert told(episode).endswith(f"[turn {used} of 10; {10 - used} left]")


def test_numbers_are_those_of_the_newest_result() -> None:
    episode = hold(SEGMENT, EXAMINE, other("cat"), EXAMINE, SELECT, n_masks=(3, 1))
    assert episode.prediction().masks == found(1).masks


def test_numbers_that_do_not_exist_are_not_examined() -> None:
    episode = hold(SEGMENT, call("examine_masks", mask_indices=[9, 2, 2]), n_masks=2)
    assert "close-ups of mask 2, in this order. Not there: mask 9." in told(episode)
    assert len(episode.messages[-1].parts) == 2


def test_close_ups_at_a_time_are_bounded() -> None:
    episode = hold(SEGMENT, call("examine_masks", mask_indices=list(range(1, 31))), n_masks=30)
    assert len(episode.messages[-1].parts) == 13 and "At most 12" in told(episode)


def test_everything_stays_in_the_conversation() -> None:
    episode = hold(SEGMENT, "broken", EXAMINE)
    roles = [message.role for message in episode.messages]
    assert roles == ["system", *["user", "assistant"] * 3, "user"]
    assert [m.text for m in episode.messages if m.role == "assistant"] == [
        SEGMENT,
        "broken",
        EXAMINE,
    ]
    shown = [m for m in episode.messages if m.role == "user" and m.pictures]
    assert len(shown) == 3


def test_when_turns_run_out_the_newest_segmentation_is_the_answer() -> None:
    episode = hold(SEGMENT, other("cat"), EXAMINE, n_masks=(1, 2), turns=3)
    assert (episode.ending, episode.outcome, episode.chosen) == ("turns", Outcome.OK, (1, 2))
    assert episode.prediction().masks == found(2).masks
    last = hold("?", "?", SEGMENT, n_masks=2, turns=3)
    assert last.prediction().masks == found(2).masks
    empty = hold(SEGMENT, other("cat"), n_masks=(1, 0), turns=2)
    assert (empty.ending, empty.outcome) == ("turns", Outcome.ABSTAINED)


def test_without_any_segmentation_there_is_no_answer_to_read() -> None:
    episode = hold(*["?"] * 10)
    assert (episode.ending, episode.outcome) == ("unread", Outcome.UNPARSED)
    assert "nothing was segmented" in episode.reason


def test_an_error_of_the_model_is_a_failure_never_an_abstention() -> None:
    episode = hold(SEGMENT)
    episode.add_reply(Reply(outcome=Outcome.FAILED, reason="HTTP 500, 6 times"))
    assert (episode.ending, episode.outcome) == ("failed", Outcome.FAILED)
    assert episode.prediction().reason == "HTTP 500, 6 times"
    assert episode.prediction().masks == ()


def test_an_error_of_the_segmenter_is_a_failure() -> None:
    episode = Episode(Scene(picture()), "tiger", Settings())
    assert episode.add_reply(reply(SEGMENT)) == "tiger"
    episode.add_segmentation(Prediction(item_id="", outcome=Outcome.FAILED, reason="out of memory"))
    assert episode.outcome is Outcome.FAILED
    assert episode.reason == "the segmenter failed on 'tiger': out of memory"
    assert len(episode.trace().turns) == 1


def test_a_segmenter_that_could_not_be_read_is_not_an_abstention() -> None:
    episode = Episode(Scene(picture()), "tiger", Settings(turns=1))
    episode.add_reply(reply(SEGMENT))
    episode.add_segmentation(Prediction(item_id="", outcome=Outcome.UNPARSED))
    assert episode.outcome is Outcome.UNPARSED


def test_a_truncated_reply_is_corrected_with_its_reason() -> None:
    episode = Episode(Scene(picture()), "tiger", Settings())
    cut = Reply(
        outcome=Outcome.UNPARSED,
        text="<think>Well",
        reason="truncated after 2048 tokens",
    )
    episode.add_reply(cut)
    assert "(truncated after 2048 tokens)" in told(episode)


def test_low_scores_are_not_shown() -> None:
    assert hold(SEGMENT, n_masks=3, t=0.985).newest.masks == found(3).masks[:2]  # type: ignore[union-attr]


# Ablations.


def test_without_examine() -> None:
    assert hold(SEGMENT, SELECT, examine=False).outcome is Outcome.OK
    refused = hold(SEGMENT, EXAMINE, examine=False)
    assert "There is no tool 'examine_masks'" in told(refused)
    assert "examine" not in system_prompt(Settings(examine=False))


def test_without_rules() -> None:
    assert hold(REPORT, rules=False).outcome is Outcome.ABSTAINED
    assert hold(SEGMENT, SELECT, rules=False).outcome is Outcome.OK
    assert not hold(SEGMENT, SEGMENT, rules=False).turns[-1].problem
    nothing = hold(SELECT, rules=False)
    assert "segment_phrase has to be called" in told(nothing)  # there is nothing to select


def test_the_prompt_names_every_rule_and_its_hash_follows_the_words() -> None:
    prompt = system_prompt(Settings(turns=7))
    for word in (
        "7 at most", "exactly one tool", "segment_phrase", "examine_masks", "report_no_mask",
        "select_masks_and_return", "no phrase twice", "newest result", "<think>", "<tool>",
        "the newest result of segment_phrase is taken as the answer",
    ):  # fmt: skip
        assert word in prompt, word
    kinds = [Settings(), Settings(turns=7), Settings(examine=False), Settings(rules=False)]
    assert len({prompt_hash(kind) for kind in kinds}) == 4


def test_a_query_cannot_grow_the_conversation() -> None:
    episode = Episode(Scene(picture()), "x\n" * 5000, Settings())
    assert len(episode.messages[1].text) < 600
