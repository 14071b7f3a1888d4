"""The questions that models are asked about an edit, as data."""

from __future__ import annotations

import hashlib
import random
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from groundfault.building.proposals.prompts import safe
from groundfault.building.records import Candidate
from groundfault.errors import UnknownName

__all__ = ["Asked", "View", "asked_about", "check_names", "question_ids", "questions_identity"]

View = Literal["after", "plain", "before", "pair", "overlay"]
FORM = """Reply with one line per question, in this order, and nothing else:
Q-1: yes or no"""


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    kinds: tuple[str, ...]
    """Of edits that it is about; empty for all."""
    group: str
    view: View
    text: str
    want: Literal["yes", "no"]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: str
    views: dict[View, str]
    questions: tuple[_Question, ...]


class Asked(msgspec.Struct, frozen=True):
    """One request about a candidate."""

    view: View
    words: str
    wanted: dict[str, tuple[str, bool]]
    """Q-1 → the question's id, and whether yes speaks for the edit."""


@cache
def _content() -> bytes:
    return resources.files(__package__).joinpath("questions.toml").read_bytes()


@cache
def _file() -> _File:
    return msgspec.toml.decode(_content(), type=_File)


def questions_identity() -> str:
    """The hash of all questions."""
    return hashlib.sha256(_content() + FORM.encode()).hexdigest()


def question_ids() -> tuple[str, ...]:
    """The ids of all questions."""
    return tuple(question.id for question in _file().questions)


def check_names(names: tuple[str, ...]) -> None:
    """Refuse ids of questions that there are not."""
    for name in names:
        if name not in (*question_ids(), "all"):
            raise UnknownName("question", name, (*question_ids(), "all"))


def asked_about(candidate: Candidate) -> tuple[Asked, ...]:
    """The requests about a candidate: groups and their questions in an order of its own."""
    assert candidate.proposal is not None
    groups: dict[str, list[_Question]] = {}
    for question in _file().questions:
        if not question.kinds or candidate.proposal.kind in question.kinds:
            groups.setdefault(question.group, []).append(question)
    rng = random.Random(f"questions {candidate.seed} {candidate.id}")
    drawn = list(groups.values())
    rng.shuffle(drawn)
    return tuple(_asked(rng.sample(group, len(group)), candidate) for group in drawn)


def _asked(questions: list[_Question], candidate: Candidate) -> Asked:
    proposal = candidate.proposal
    assert proposal is not None
    values = {
        "category": candidate.target.category or proposal.positive,
        "positive": proposal.positive,
        "negative": proposal.negative,
        "instruction": proposal.instruction,
    }
    known = {name: safe(value) for name, value in values.items()}
    lines = [f"Q-{k} {q.text.format_map(known)}" for k, q in enumerate(questions, start=1)]
    words = "\n\n".join((_file().views[questions[0].view], "\n".join(lines), FORM))
    wanted = {f"Q-{k}": (q.id, q.want == "yes") for k, q in enumerate(questions, start=1)}
    return Asked(questions[0].view, words, wanted)
