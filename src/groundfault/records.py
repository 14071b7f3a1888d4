"""The vocabulary: what a benchmark, a prediction, a conversation and a number are.

A *case* is one counterfactual intervention; an *item* is one question about it, with what is
expected: regions, nothing, or an answer in words; a *prediction* is a model's response to an item,
masks or text, with a typed outcome; an *estimate* is a number with its interval and the count
behind it. Records are frozen msgspec structs: declared like dataclasses, created several times
faster, which matters at a million masks.
"""

from __future__ import annotations

from binascii import a2b_base64
from enum import StrEnum
from typing import Any, Literal, TypedDict

import msgspec

__all__ = [
    "MODES",
    "MOST",
    "Answer",
    "Benchmark",
    "Card",
    "Case",
    "Conversation",
    "Estimate",
    "Item",
    "Message",
    "Mode",
    "Outcome",
    "Picture",
    "Prediction",
    "Region",
    "Reply",
    "Rle",
    "Role",
    "Row",
    "Summary",
    "ToolCall",
    "Verdict",
]

Mode = Literal["", "std", "cot"]
"""How a question is asked: as it stands, or with the request to reason first. "" for masks."""
MODES: tuple[Mode, ...] = ("std", "cot")
Verdict = Literal["right", "wrong", "unjudged"]
"""Of an answer in words; "unjudged" where the judge cannot decide or will not judge it: not scored,
bounded like a failed one."""

MOST = 2**53
"""No count of tokens and no cost is larger. A server that says more has not said it, and sums end
here: every reader of JSON knows such numbers exactly."""


class Outcome(StrEnum):
    """How a prediction ended. Stated by the model's side, never guessed from an empty mask."""

    OK = "ok"
    ABSTAINED = "abstained"
    """The model said that there is nothing: a valid answer."""
    UNPARSED = "unparsed"
    """An answer that could not be read: scored as wrong, never as a rejection."""
    FAILED = "failed"
    """Error, time-out, out of memory: not scored; reports give bounds."""


class Role(StrEnum):
    """Which corner of a counterfactual case an item asks about."""

    POSITIVE = "positive"
    """CAFE p⁺, and any plain query: the concept is meant to be there."""
    NEGATIVE = "negative"
    """CAFE p⁻ or a false premise: the concept is not there."""
    FACTUAL = "factual"
    """HalluSegBench (I, c)."""
    TEXTUAL = "textual"
    """HalluSegBench (I, c'): the words changed."""
    VISUAL = "visual"
    """HalluSegBench (I', c): the picture changed."""
    COUNTERFACTUAL = "counterfactual"
    """HalluSegBench (I', c')."""
    QUESTION = "question"
    """Asked and answered in words."""


class Rle(TypedDict):
    """A binary mask in COCO's compressed run-length code (column-major)."""

    size: tuple[int, int]
    """(height, width) in pixels."""
    counts: str


class Region(msgspec.Struct, frozen=True, gc=False):
    """One annotated object."""

    mask: Rle | None
    """Where it is; None where only a box is known."""
    box_xywh: tuple[float, float, float, float] | None = None
    """Pixels; None means: take the mask's own box."""
    crowd: bool = False
    """It stands for several things that nobody told apart (COCO's iscrowd)."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is expected where an item is answered in words."""

    type: Literal["YN", "SA", "MC"]
    """Yes/no, short answer, multiple choice."""
    reference: str
    """YN: "yes" or "no"; MC: a letter; counts: "20" or "18-22"; else the words of an answer."""
    options: tuple[str, ...] = ()
    """Of a multiple-choice question, without their letters: A is the first."""
    rubric: str = ""
    """SA: what a right answer says and what makes it wrong, for the judge."""
    dimension: str = ""
    """How the question leads astray, as in "premise-based"; see the exam's layout."""
    number: int = 0
    """Place among the questions of its case: 1 is Q1."""
    polarity: Literal["", "affirmed", "negated"] = ""
    """YN: "negated" where the question states that something is not so."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model: images, a query, and what the answer is measured against."""

    id: str
    """Unique in the benchmark; predictions name it."""
    case_id: str
    """The case that it is about."""
    role: Role
    """Which corner of the case it asks about."""
    images: tuple[str, ...]
    """File names relative to the benchmark's image folder; most items have one."""
    height_px: int
    """Of the picture, as masks mean it."""
    width_px: int
    """Of the picture, as masks mean it."""
    query: str
    """A phrase, a referring expression, or a question."""
    regions: tuple[Region, ...] = ()
    """What a perfect answer contains; empty where the concept is absent."""
    target: Region | None = None
    """The edited region, M* (or M_c, M'_c'): where a wrong answer is expected to land."""
    alternatives: tuple[tuple[Region, ...] | None, ...] = ()
    """The same from further annotators, in order; None where one did not see the item."""
    exhaustive: bool = True
    """False: not every instance is annotated, so instance metrics leave the item out."""
    answer: Answer | None = None
    """What is expected in words: the answer to a question; of a false description, what is there
    instead. None where only masks are asked for."""

    @property
    def image(self) -> str:
        """The only image, or the first."""
        return self.images[0]

    def annotated_by(self, annotator: int) -> tuple[Region, ...] | None:
        """The regions by annotator, 0 being the first; None where one did not see the item."""
        if annotator == 0:
            return self.regions
        return self.alternatives[annotator - 1] if annotator <= len(self.alternatives) else None

    @property
    def present(self) -> bool:
        """Whether what the query names is in the image."""
        return bool(self.regions)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One counterfactual intervention: the unit of resampling, with those of the same cluster."""

    id: str
    """Unique in the benchmark."""
    intervention: str = ""
    """"SM", "CC", "OC", "replacement", …; empty for plain queries."""
    tags: dict[str, str] = msgspec.field(default_factory=dict)
    """Ways to slice, e.g. {"task": "referring"}. Those with the same `cluster`, such as all of one
    photograph, are resampled together."""
    facts: dict[str, str] = msgspec.field(default_factory=dict)
    """What is known about the change, for judges: {"erased": "lamp", …}."""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """Where a benchmark comes from, how it is scored, and how to cite it."""

    name: str
    """What commands and files call it."""
    protocol: str = ""
    """How it is scored: a name of the registry's `protocols`."""
    title: str
    """What reports call it."""
    source: str
    """Where its files come from."""
    licence: str
    """Of annotations and pictures, as far as it is known."""
    citation: str
    """The paper, or whom to name."""
    main_metric: str
    """The one number to quote, if it must be one."""
    content_hash: str = ""
    """SHA-256 of the content; "" where it is not a folder of ours."""
    about: str = ""
    """What a reader of the numbers must know about the data, e.g. that its pictures are rendered;
    reports say it."""


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """Cases with their items; the items of one case stand next to each other."""

    card: Card
    cases: tuple[Case, ...]
    items: tuple[Item, ...]
    categories: tuple[int, ...] = ()
    """Ids of the categories that the source declares, where it does."""
    notes: tuple[str, ...] = ()
    """What the reader noticed and a user should know."""
    images: str = ""
    """The folder of the pictures; "" where it is not known."""
    folder: str = ""
    """Our own folder that it was read from, if it was."""
    origin: str = ""
    """repo@commit, if it was fetched by its name."""
    hashes: dict[str, str] = msgspec.field(default_factory=dict)
    """SHA-256 of what it was read from, so that only runs on the same data are compared."""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    """How it is scored unless told, where that is not its protocol's default."""
    source: dict[str, object] = msgspec.field(default_factory=dict)
    """The name of its format and the paths that it was read from, so that it can be read again."""
    extras: dict[str, Any] = msgspec.field(default_factory=dict)
    """What else its source says (licences, supercategories, ids of annotations), so that it can be
    written again; kept only where it is converted."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A model's response to one item: masks with scores, or text with its reading and verdict."""

    item_id: str
    """The item that it answers."""
    outcome: Outcome
    """How it ended."""
    mode: Mode = ""
    """How the question was asked; "" for masks."""
    masks: tuple[Rle, ...] = ()
    """What was marked, at the size of the picture."""
    scores: tuple[float, ...] = ()
    """One per mask; it is accepted where score ≥ t."""
    boxes_xywh: tuple[tuple[float, float, float, float] | None, ...] = ()
    """One per mask, or none: x, y, width, height in pixels. None: the mask's own."""
    category_ids: tuple[int | None, ...] = ()
    """Of each mask, where it comes from a results file that says so."""
    presence: float | None = None
    """How surely the phrase is in the picture at all, of models that say so; their scores contain
    it as a factor. No metric reads it."""
    qualities: tuple[float, ...] = ()
    """How good each mask is by the model's own estimate, where that says nothing about whether the
    phrase is in the picture. No metric reads it."""
    text: str = ""
    """What the model said, word for word."""
    reasoning: str = ""
    """What a model that thinks aloud said beside its words; no part of its answer."""
    reason: str = ""
    """Why it failed or could not be read."""
    finish: str = ""
    """How a text ended: "stop", "length" (cut off), "content_filter", or as the server says; how
    an agent's episode did: "select", "report", "turns" (they ran out), "unread"."""
    parsed: str | None = None
    """What the text says: "yes", "B", "20", "18-22"; of a short answer, the words to be judged."""
    verdict: Verdict | None = None
    """None where it could not be read, failed, or was not judged yet."""
    judge: str = ""
    """Who gave the verdict: "rule", or the model that judged."""
    judge_text: str = ""
    """The judge's own words."""
    cause: str | None = None
    """Of a wrong chain of thought, once it was attributed: "SC1" … or "Other"."""
    cause_by: str = ""
    """The model that attributed it; it may have named no cause."""
    cause_text: str = ""
    """The words of the model that attributed it."""
    seconds: float = 0.0
    """What it took; an image's time is shared by its phrases."""
    tokens_in: int = 0
    """What a server counted."""
    tokens_out: int = 0
    """What a server counted."""
    cost: float | None = None
    """Money; None where the price is not known, or nobody pays."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all other predictions of a run."""
        return self.item_id, self.mode


class Picture(msgspec.Struct, frozen=True):
    """A picture as requests carry it."""

    mime: str
    base64: bytes
    sha256: str = ""
    """Of the picture's own bytes."""

    @property
    def content(self) -> bytes:
        """The picture's own bytes."""
        return a2b_base64(self.base64)


class ToolCall(msgspec.Struct, frozen=True):
    """A tool that a model wants to have called."""

    name: str
    arguments: str
    """JSON."""


class Message(msgspec.Struct, frozen=True):
    """One turn of a conversation: words and pictures in the order in which they are shown."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Picture, ...]

    @property
    def text(self) -> str:
        """All words, without the pictures."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All pictures, without the words."""
        return tuple(part for part in self.parts if isinstance(part, Picture))


Conversation = tuple[Message, ...]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a chat model said to a conversation.

    A truncated, refused or empty reply is `unparsed`, with its reason: the model has spoken, and
    it is no answer. `failed` is left to what kept it from speaking.
    """

    outcome: Outcome
    text: str = ""
    reasoning: str = ""
    """What the server sends beside the words, of models that think aloud."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The server's own, that are not in the words."""
    reason: str = ""
    finish: str = ""
    """The server's word for why the reply ended: stop, length, content_filter …"""
    tokens_in: int | None = None
    """None where nobody says."""
    tokens_out: int | None = None
    reasoning_tokens: int | None = None
    """Of tokens_out, where the server says so: some that think do not show their thoughts."""
    cost: float | None = None
    """Money, where it is known."""
    seconds: float = 0.0


class Estimate(msgspec.Struct, frozen=True, gc=False):
    """A number, its 95 % interval, and how many things it is about. Undefined is None."""

    value: float | None
    """None where it is undefined."""
    low: float | None = None
    """Lower end of the 95 % interval; None where resampling says nothing."""
    high: float | None = None
    """Upper end."""
    n: int = 0
    """How many things it is about: cases, questions, masks."""
    undefined: bool | msgspec.UnsetType = msgspec.UNSET
    """True of a value that its definition does not have, dividing by nothing: it is what the
    published evaluator makes of it by its ε."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a result table."""

    n_cases: int
    """How many cases count in it."""
    metrics: dict[str, Estimate]
    """Name → estimate."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `score` reports; the content of summary.json."""

    benchmark: str
    """The name on its card."""
    protocol: str = ""
    """How it was scored; "" in files of version 0.1.0, whose benchmark's name says it."""
    title: str = ""
    """What reports call the data."""
    about: str = ""
    """What a reader of the numbers must know about the data."""
    origin: str = ""
    """repo@commit, if the data was fetched by its name."""
    source: dict[str, object] = msgspec.field(default_factory=dict)
    """What the data was read from, and the dump that was scored, so that reports find them again;
    they may be gone."""
    settings: dict[str, object]
    """Thresholds, variant, resamples and seed."""
    rows: dict[str, Row]
    """What the table prints: "Overall", kinds of edits, splits."""
    outcomes: dict[str, int] = msgspec.field(default_factory=dict)
    """How many items ended how; COCO dumps cannot tell an abstention from a missing answer."""
    bounds: dict[str, dict[str, tuple[float | None, float | None]]] = msgspec.field(
        default_factory=dict
    )
    """Row → metric → (lowest, highest) value over all ways the failed items could have ended, and
    unreadable ones where a metric leaves them out."""
    normal_halfwidths: dict[str, dict[str, float | None]] = msgspec.field(default_factory=dict)
    """Row → metric → 1.96·s/√n over cases, where the benchmark's paper reports that."""
    notes: tuple[str, ...] = ()
    """What a reader should know, as the tables print it."""
    data: dict[str, str] = msgspec.field(default_factory=dict)
    """SHA-256 of the inputs, so that only comparable runs are compared."""
    stamp: str = ""
    """The same in cases.parquet: they were written together; "" in files of version 0.1.0."""
    version: str = ""
    """Of groundfault, that wrote it."""
