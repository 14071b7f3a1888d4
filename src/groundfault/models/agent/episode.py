"""One episode: the rules, turn by turn. It asks nobody itself.

    while not episode.over:
        phrase = episode.add_reply(the model's reply to episode.conversation)
        if phrase is not None:
            episode.add_segmentation(the segmenter's prediction for phrase)

So the same code runs an episode with a model, with a script, or with the record of an earlier one.
Given the same replies and predictions, it ends the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from groundfault.models.agent import pictures, published_pictures
from groundfault.models.agent.prompt import opening, prompt_hash, system_prompt
from groundfault.models.agent.settings import Settings, Style
from groundfault.models.agent.tools import Result, worth_showing
from groundfault.models.agent.traces import Ending, Trace, Turn
from groundfault.parsing.tool_calls import (
    LONGEST_REPLY,
    TOOLS,
    Call,
    ExamineMasks,
    InvalidCall,
    ParsedReply,
    ReportNoMask,
    SegmentPhrase,
    SelectMasks,
    normalise_phrase,
    parse_published,
    parse_reply,
    write_calls,
)
from groundfault.records import Conversation, Message, Outcome, Picture, Prediction, Reply

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    BinaryMask = NDArray[np.bool_]

__all__ = ["Episode", "Scene", "allowed_tools"]

MOST_CLOSE_UPS = 12
"""In one turn; further ones have to be asked for again."""
QUALITY = 95
"""Of the image itself as JPEG."""


class Scene:
    """An image that is talked about. Each picture of it is drawn and compressed once for all turns
    of all its conversations: p⁺ and p⁻ often end up looking at the same masks."""

    def __init__(self, image: Pixels, queries: Sequence[str] = (), style: Style = "paper") -> None:
        self.image, self.published = image, style == "published"
        self.queries = tuple(queries)
        """Everything that will be asked about it."""
        self._drawn: dict[tuple[Any, ...], Picture] = {}

    @property
    def size_px(self) -> tuple[int, int]:
        """(height, width)."""
        return self.image.shape[0], self.image.shape[1]

    @cached_property
    def picture(self) -> Picture:
        """As the model is shown it."""
        if self.published:
            return published_pictures.encoded(self.image)
        return pictures.encoded(self.image, quality=QUALITY)

    def overlay(self, result: Result) -> Picture:
        """With all masks of a result, numbered."""
        key = tuple(mask["counts"] for mask in result.masks)
        how = published_pictures if self.published else pictures
        return self._once(key, lambda: how.encoded(how.numbered(self.image, result.pixels)))

    def close_up(self, result: Result, number: int) -> Picture:
        """The region of one of them."""
        key = ("close-up", result.masks[number - 1]["counts"])
        return self._once(key, lambda: self._draw_close_up(result.pixels[number - 1]))

    def _draw_close_up(self, mask: BinaryMask) -> Picture:
        if self.published:
            return published_pictures.encoded(published_pictures.close_up(self.image, mask))
        return pictures.close_up_picture(self.image, mask)

    def _once(self, key: tuple[Any, ...], draw: Callable[[], Picture]) -> Picture:
        found = self._drawn.get(key)
        if found is None:
            found = self._drawn.setdefault(key, draw())
        return found


def allowed_tools(settings: Settings) -> tuple[str, ...]:
    """Names of the tools that there are under these settings."""
    return tuple(name for name in TOOLS if settings.examine or name != "examine_masks")


class Episode:
    """A conversation about one concept in one image."""

    def __init__(self, scene: Scene, query: str, settings: Settings, *, prompt: str = "") -> None:
        self.scene, self.query, self.settings = scene, query, settings
        self.published = settings.style == "published"
        if scene.published != self.published:
            raise ValueError(f"the scene is drawn in another style than '{settings.style}'")
        self.prompt = prompt or system_prompt(settings)
        first: tuple[str | Picture, ...] = (opening(query), scene.picture)
        self.messages: list[Message] = [
            Message("system", (self.prompt,)),
            Message("user", first[::-1] if self.published else first),
        ]
        self.turns: list[Turn] = []
        self.newest: Result | None = None
        self.examined: set[int] = set()
        """Numbers of the newest result that were looked at from close up."""
        self.phrases: set[str] = set()
        self.ending: Ending | None = None
        self.outcome = Outcome.FAILED
        self.reason = ""
        self.chosen: tuple[int, ...] = ()
        self.pictures: dict[str, Picture] = {scene.picture.sha256: scene.picture}
        """All that were shown, by hash."""
        self._now: Turn | None = None

    @property
    def conversation(self) -> Conversation:
        """Everything that was said so far: what the model replies to next."""
        return tuple(self.messages)

    @property
    def over(self) -> bool:
        """Whether there is an answer, or a reason why there will be none."""
        return self.ending is not None

    def add_reply(self, reply: Reply) -> str | None:
        """Take the model's reply. Gives a phrase to segment, for `add_segmentation`; or None: the
        next reply is due, unless the episode is `over`."""
        if reply.outcome is Outcome.FAILED:
            self.fail(reply.reason or "the model gave no reply")
            return None
        text, cut = self._words(reply)
        parsed = self._parsed(text)
        self.messages.append(Message("assistant", (self._remembered(text),)))
        self._now = Turn(
            said=text,
            cut=cut,
            thought=parsed.thought,
            tool=parsed.tool,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=reply.cost,
            latency_s=reply.seconds,
        )
        call = parsed.call
        if self.published and not text.strip():
            self._note(problem="The reply is empty.")
            self._end("unread", Outcome.UNPARSED, cut or "empty answer")
            return None
        if isinstance(call, InvalidCall):
            self._refuse(f"{call.problem} ({cut})" if cut else call.problem)
            return None
        self._note(parameters=msgspec.to_builtins(call))
        problem = self._objection(call)
        if problem:
            self._refuse(problem)
        elif isinstance(call, SegmentPhrase):
            return call.text_prompt
        elif isinstance(call, ExamineMasks):
            self._examine(call.mask_indices)
        elif isinstance(call, SelectMasks):
            self._select(call.final_answer_masks)
        else:
            self._end("report", Outcome.ABSTAINED)
        return None

    def _parsed(self, text: str) -> ParsedReply:
        if self.published:
            return parse_published(text, allowed_tools(self.settings))
        native = self.settings.calls == "native"
        return parse_reply(text, allowed_tools(self.settings), native=native)

    def _remembered(self, text: str) -> str:
        """A reply as it stands in the conversation; the published loop forgets what follows the
        first call."""
        if self.published and "</tool>" in text:
            return text.partition("</tool>")[0] + "</tool>"
        return text or "(nothing)"

    def _words(self, reply: Reply) -> tuple[str, str]:
        """A reply in the text form, and why it is not whole."""
        text, cut = reply.text, reply.reason
        if reply.tool_calls and self.settings.calls == "native":
            text = write_calls(text, reply.tool_calls)
            cut = cut if reply.finish == "length" else ""  # no words are no fault of a call
        return text[: LONGEST_REPLY + 1].encode("utf-8", "replace").decode(), cut

    def add_segmentation(self, found: Prediction, seconds: float = 0.0) -> None:
        """Take what the segmenter gave for the phrase that `add_reply` returned."""
        assert self._now is not None
        phrase = str(self._now.parameters["text_prompt"])
        if found.outcome is Outcome.FAILED:
            self.fail(f"the segmenter failed on '{phrase}': {found.reason or 'no reason given'}")
            return
        result = worth_showing(
            phrase,
            found,
            t=self.settings.t,
            size_px=self.scene.size_px,
            style=self.settings.style,
        )
        self.newest, self.examined = result, set()
        self.phrases.add(self._phrase(phrase))
        self._note(
            found=result.outcome,
            n_masks=len(result.masks),
            masks=result.masks,
            scores=result.scores,
            boxes_xywh=result.boxes_xywh,
            left_out=result.left_out,
            segmenting_s=round(seconds, 6),
        )
        n = len(result.masks)
        if not n:
            self._answer(
                f"segment_phrase found nothing for '{phrase}' (0 masks). The tool may not know the "
                "word: another or a more general noun phrase may find it."
            )
            return
        picture = self.scene.overlay(result)
        masks = "1 mask" if n == 1 else f"{n} masks, numbered 1 to {n},"
        self._answer(f"segment_phrase found {masks} for '{phrase}'; see the picture.", (picture,))

    def fail(self, reason: str) -> None:
        """There will be no answer: the model or the segmenter did not do its part."""
        self._end("failed", Outcome.FAILED, reason)

    def prediction(self) -> Prediction:
        """The answer of an episode that is over, with its trace."""
        result = self.newest or Result("", self.outcome)
        kept = [number - 1 for number in self.chosen] if self.outcome is Outcome.OK else []
        return Prediction(
            item_id="",
            outcome=self.outcome,
            masks=tuple(result.masks[k] for k in kept),
            scores=tuple(result.scores[k] for k in kept),
            boxes_xywh=tuple(result.boxes_xywh[k] for k in kept) if result.boxes_xywh else (),
            text=msgspec.json.encode(self.trace()).decode(),
            reason=self.reason,
            finish=self.ending or "",
        )

    def trace(self) -> Trace:
        """The record of an episode that is over."""
        assert self.ending is not None
        return Trace(
            query=self.query,
            size_px=self.scene.size_px,
            picture=self.scene.picture.sha256,
            prompt=prompt_hash(self.prompt),
            settings=self.settings,
            turns=tuple(self.turns),
            ending=self.ending,
            outcome=self.outcome,
            reason=self.reason,
            chosen=self.chosen,
        )

    # The rules.

    def _objection(self, call: Call) -> str:
        """Why a call is against the rules; "" if it is not."""
        rules = self.settings.rules and not self.published
        n = len(self.newest.masks) if self.newest else 0
        if isinstance(call, SegmentPhrase):
            if (rules or self.published) and self._phrase(call.text_prompt) in self.phrases:
                used = f"'{call.text_prompt}' was tried before"
                return f"{used}; no phrase may be used twice. Try another one."
            return ""
        if self.newest is None and (rules or not isinstance(call, ReportNoMask)):
            return "segment_phrase has to be called before anything is decided or examined."
        if isinstance(call, ReportNoMask) or (self.published and isinstance(call, SelectMasks)):
            return ""
        if not n:
            return "The newest result has no masks: there is nothing to examine or to select."
        if isinstance(call, ExamineMasks):
            if not any(1 <= index <= n for index in call.mask_indices):
                return f"None of these numbers exists; the newest result has masks 1 to {n}."
            return ""
        return self._objection_to_selection(call.final_answer_masks, n)

    def _phrase(self, phrase: str) -> str:
        """Two that give the same are one phrase; the published loop compares letter by letter."""
        return phrase if self.published else normalise_phrase(phrase)

    def _objection_to_selection(self, indices: Sequence[int], n: int) -> str:
        strange = [index for index in indices if not 1 <= index <= n]
        if strange:
            return (
                f"{_listed(strange[:10])} cannot be selected: the newest result has masks 1 to {n}."
            )
        if len(set(indices)) < len(indices):
            return "A number is there more than once; name each mask once."
        if self.settings.rules and self.settings.examine and not self.examined & set(indices):
            return (
                "None of these masks was examined in the newest result. Call examine_masks on what "
                "you are about to accept first."
            )
        return ""

    # What calls do.

    def _examine(self, indices: Sequence[int]) -> None:
        assert self.newest is not None
        n = len(self.newest.masks)
        valid = [index for index in indices if 1 <= index <= n]
        if not self.published:
            valid = list(dict.fromkeys(valid))
        most = len(valid) if self.published else MOST_CLOSE_UPS
        now, later = valid[:most], valid[most:]
        strange = list(dict.fromkeys(index for index in indices if not 1 <= index <= n))
        self.examined.update(now)
        words = f"examine_masks: close-ups of {_listed(now)}, in this order."
        if strange:
            words += f" Not there: {_listed(strange[:10])}."
        if later:
            words += f" At most {MOST_CLOSE_UPS} are shown at a time: without {_listed(later)}."
        self._answer(words, [self.scene.close_up(self.newest, index) for index in now])

    def _select(self, indices: Sequence[int]) -> None:
        assert self.newest is not None
        self.chosen = tuple(sorted({k for k in indices if 1 <= k <= len(self.newest.masks)}))
        if self.chosen:
            self._end("select", Outcome.OK)
        else:  # in the published style only
            self._end("select", Outcome.ABSTAINED, "none of the masks that it selected exists")

    # How a turn ends.

    def _refuse(self, problem: str) -> None:
        self._note(problem=problem)
        self._answer(f"Your last message could not be carried out. {problem}")

    def _answer(self, words: str, pictures: Sequence[Picture] = ()) -> None:
        self._note(result=words, pictures=tuple(picture.sha256 for picture in pictures))
        self._close_turn()
        used, most = len(self.turns), self.settings.turns
        self.pictures.update((picture.sha256, picture) for picture in pictures)
        if used >= most:
            self._run_out()
            return
        counted = f"{words} [turn {used} of {most}; {most - used} left]"
        self.messages.append(Message("user", (counted, *pictures)))

    def _run_out(self) -> None:
        """No turns are left: the newest segmentation is the answer."""
        reason = f"no decision in {self.settings.turns} turns"
        if self.newest is None:
            self._end("unread", Outcome.UNPARSED, f"{reason}, and nothing was segmented")
            return
        self.chosen = tuple(range(1, len(self.newest.masks) + 1))
        self._end("turns", self.newest.outcome, f"{reason}: the newest segmentation counts")

    def _end(self, ending: Ending, outcome: Outcome, reason: str = "") -> None:
        if self._now is not None:
            self._close_turn()
        self.ending, self.outcome, self.reason = ending, outcome, reason

    def _note(self, **fields: Any) -> None:
        assert self._now is not None
        self._now = msgspec.structs.replace(self._now, **fields)

    def _close_turn(self) -> None:
        assert self._now is not None
        self.turns.append(self._now)
        self._now = None


def _listed(numbers: Sequence[int]) -> str:
    """
    >>> _listed([3]), _listed([1, 2])
    ('mask 3', 'masks 1, 2')
    """
    return f"mask{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
