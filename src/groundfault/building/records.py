"""What is known about a candidate on its way from a photograph to a release.

A candidate is one photograph with one target that may become a case. Each stage reads candidates
and gives them back with one more part filled in, or drops them with a reason.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from groundfault.io.photographs import Photograph, Thing
from groundfault.records import Rle

__all__ = ["Candidate", "Dropped", "EditedPicture", "Proposal", "Question", "Task"]

Task = Literal["SM", "CC", "OC", "replacement", "erasure", "attribute", "tracing", "counting"]
"""What a candidate is to become: CAFE's three edits, HalluSegBench's replacement (referring or
reasoning), ReactBench's four tasks."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be changed, and what will be asked about it."""

    kind: str
    """The kind of edit, as in `interfaces.EditRequest`."""
    value: str
    """The new surface, material, place, thing or colour, in one or two words; "" if it is only
    said in the instruction."""
    instruction: str
    """One imperative sentence: what changes, and what must stay."""
    positive: str = ""
    """CAFE's p⁺; of a replacement, what describes the original thing, c."""
    negative: str = ""
    """CAFE's p⁻; of a replacement, what describes the new thing, c'."""
    rationale: str = ""
    """Why the misleading phrase misleads, in a sentence."""
    fields: dict[str, str] = {}
    """What questions are made from: B_name, A_location, C_new_attribute …; of reasoning
    replacements `question` and `counterfactual_question`."""
    by: str = ""
    """Who proposed it: "rules", or the model's name."""
    alternatives: tuple[Proposal, ...] = ()
    """What else might be done, in order, where the editor has nothing to do this with."""


class EditedPicture(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an edit; pictures are files below the build's folder."""

    before: str
    """The picture as it was."""
    after: str
    """The picture as it is now."""
    raw: str = ""
    """What the editor gave, before anything was pasted back; "" where nothing was."""
    mask: Rle | None = None
    """Where the new or moved thing is; None where the target's own mask holds."""
    touched: Rle | None = None
    """Every pixel that may differ from the original."""
    editor: str = ""
    """Who edited, with its version."""
    details: dict[str, str] = {}
    """What the editor says about its work."""
    matrix: tuple[tuple[float, float, float], ...] = ()
    """The affine map to the editor's canvas, 2x3; empty where the editor took it as it is."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question of an exam, about the edited picture or its unedited twin."""

    number: int
    """Place among the questions of its sample: 1 is Q1."""
    type: Literal["YN", "SA", "MC"]
    """Yes/no, short answer, multiple choice."""
    dimension: str
    """How it leads astray."""
    query: str
    """The question, as it is asked."""
    reference: str
    """The right answer."""
    options: tuple[str, ...] = ()
    """Of a multiple-choice question, without their letters."""
    rubric: str = ""
    """What a right answer says and what makes it wrong, for the judge."""
    polarity: Literal["", "affirmed", "negated"] = ""
    """"negated" where the question states that something is not so."""
    variant: str = ""
    """"a" or "b" of erasure's Q1."""
    twin: bool = False
    """It is asked of the unedited picture."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One photograph, one target, and what has become of them so far."""

    id: str
    """Unique in the build."""
    task: Task
    """What is built of it: SM, CC, OC, a replacement, a cause of an exam."""
    photograph: Photograph
    """Where it is from, with size and licence."""
    target: Thing
    """The thing that is edited."""
    seed: int = 0
    """What every draw about this candidate depends on."""
    facts: dict[str, str] = {}
    """What mining found: the relation, the usual attribute, assigned and fallback operations."""
    proposal: Proposal | None = None
    """What is to be changed; None before anybody proposed it."""
    violations: tuple[str, ...] = ()
    """Rules that the proposal breaks without being dropped for it (warnings), by id."""
    edited: EditedPicture | None = None
    """The result; None before it was edited."""
    checks: dict[str, float | bool | str] = {}
    """What automatic checks measured."""
    questions: tuple[Question, ...] = ()
    """Of an exam."""
    votes: dict[str, int] = {}
    """Of people: verdict → how many."""


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """Why a candidate went no further."""

    reason: str
    """A short stable id, counted in the funnel: "too small", "None", "refused", "SM-12"."""
    details: str = ""
    """The same in more words."""
