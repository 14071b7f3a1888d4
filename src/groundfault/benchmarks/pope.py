"""POPE: is there such a thing in the image? Yes/no, with things that are not there drawn at random,
from the most frequent ones, or from those that go with what is there.

    coco_pope_random.json  coco_pope_popular.json  coco_pope_adversarial.json
    a line per question: {"question_id": 1, "image": "….jpg", "text": "Is there …?", "label": "yes"}

(Li et al., "Evaluating Object Hallucination in Large Vision-Language Models".) With yes as the
positive answer: accuracy, precision, recall, F1, and yes_ratio, the share of "yes" among the
answers (not among the truths). An answer that cannot be read is wrong and neither yes nor no: it
lowers accuracy and, where yes is the truth, recall. Failed ones count nowhere. The case is the
image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import sha256
from groundfault.metrics import columns_of
from groundfault.metrics import yes_no as metric
from groundfault.parsing.answers import CUT_OFF, Answered, Mode, passage, read_yes_no
from groundfault.protocols.scored import Scored
from groundfault.records import Card, Outcome

if TYPE_CHECKING:
    from groundfault.protocols.scored import Floats

__all__ = ["CARD", "SETTINGS", "Pope", "PopeQuestion", "judge_answers", "read", "score"]

SETTINGS = ("random", "popular", "adversarial")

CARD = Card(
    name="pope",
    protocol="yes-no",
    title="POPE: does a model say that absent objects are there?",
    source="https://github.com/AoiDragon/POPE",
    licence="MIT",
    citation=(
        "Li et al., Evaluating Object Hallucination in Large Vision-Language Models, EMNLP 2023"
    ),
    main_metric="F1",
)


class PopeQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a file, and which file."""

    question_id: int
    image: str
    text: str
    label: Literal["yes", "no"]
    setting: str = ""

    @property
    def id(self) -> str:
        """What answers call it."""
        return f"{self.setting}:{self.question_id}"


class Pope(msgspec.Struct, frozen=True):
    """Questions of one setting or several."""

    card: Card
    questions: tuple[PopeQuestion, ...]


def read(*files: str | PathLike[str]) -> Pope:
    """Read POPE files; the setting is the last word of a file's name."""
    questions: dict[str, PopeQuestion] = {}
    for path in map(Path, files):
        setting = path.stem.rpartition("_")[2]
        if setting not in SETTINGS:
            raise UsageError(f"{path}: its name does not end in one of {', '.join(SETTINGS)}")
        for number, line in enumerate(_lines(path), start=1):
            record = f"line {number}"
            try:
                question = msgspec.json.decode(line, type=PopeQuestion)
            except msgspec.DecodeError as problem:
                remedy = "give a file as POPE publishes it, one question per line"
                raise DataError(path, str(problem), record=record, remedy=remedy) from None
            question = msgspec.structs.replace(question, setting=setting)
            if question.id in questions:
                twice = f"question {question.question_id} occurs twice"
                raise DataError(path, twice, record=record, remedy="keep one of them")
            questions[question.id] = question
    if not questions:
        raise UsageError("no POPE question was given; name at least one file with questions")
    hashes = ",".join(sha256(Path(path)) for path in files)
    card = msgspec.structs.replace(CARD, content_hash=hashes)
    return Pope(card, tuple(questions.values()))


def _lines(path: Path) -> list[bytes]:
    try:
        return [line for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read ({problem.strerror})") from None


def judge_answers(pope: Pope, rows: Iterable[Answered]) -> list[Answered]:
    """The rows with what they say and whether it is so."""
    truth = {question.id: question.label for question in pope.questions}
    judged = []
    for row in rows:
        if row.item_id not in truth:
            remedy = "give the files that the run was made with"
            raise DataError(
                "answers", "there is no such question", record=f"item {row.item_id}", remedy=remedy
            )
        if row.outcome is Outcome.FAILED:
            judged.append(row)
            continue
        said = None if row.finish in CUT_OFF else read_yes_no(passage(row.text, row.mode))
        verdict: Literal["right", "wrong"] = "right" if said == truth[row.item_id] else "wrong"
        outcome = Outcome.UNPARSED if said is None else Outcome.OK
        judged.append(
            msgspec.structs.replace(
                row,
                outcome=outcome,
                reason="" if said else row.reason or "says neither yes nor no",
                parsed=said,
                verdict=said and verdict,
                judge="rule",
            )
        )
    return judged


def score(pope: Pope, rows: Iterable[Answered], *, mode: Mode = "std") -> Scored:
    """Score judged answers of one mode; an entry per image and setting, clustered by image."""
    answers = {row.item_id: row for row in rows if row.mode == mode}
    keys = sorted({(question.image, question.setting) for question in pope.questions})
    place = {key: k for k, key in enumerate(keys)}
    images = {image: k for k, image in enumerate(dict.fromkeys(image for image, _ in keys))}
    ends = [(place[q.image, q.setting], q.label, answers.get(q.id)) for q in pope.questions]
    outcomes = {outcome.value: 0 for outcome in Outcome}
    for *_, row in ends:
        outcomes[row.outcome if row else Outcome.FAILED] += 1

    def contributions(failed_as: Callable[[str], str | None] | None) -> Floats:
        sums = np.zeros((len(keys), len(metric.COLUMNS)))
        for entry, label, row in ends:
            if row is not None and row.outcome is not Outcome.FAILED:
                sums[entry, metric.column(label, row.parsed)] += 1
            elif failed_as is not None:
                sums[entry, metric.column(label, failed_as(label))] += 1
        return sums

    ways: Sequence[Callable[[str], str | None]] = (
        lambda label: label,
        lambda label: "no" if label == "yes" else "yes",
        lambda label: "yes",
        lambda label: "no",
        lambda label: None,
    )
    failed = outcomes[Outcome.FAILED]
    setting = np.array([setting for _, setting in keys], dtype=str)
    return Scored(
        benchmark=CARD.name,
        protocol=CARD.protocol,
        settings={"mode": mode},
        columns=lambda: {
            "case_id": [f"{image} {setting}" for image, setting in keys],
            "image": [image for image, _ in keys],
            "setting": setting.tolist(),
        },
        contributions=contributions(None),
        contribution_names=columns_of(metric.FAMILY),
        case=np.array([images[image] for image, _ in keys], np.int64),
        rows={
            "Overall": np.ones(len(keys), bool),
            **{name: setting == name for name in SETTINGS if (setting == name).any()},
        },
        outcomes=outcomes,
        imputed=tuple(map(contributions, ways)) if failed else (),
        notes=(f"{failed} of {len(ends)} questions have no answer.",) if failed else (),
    )
