"""ReactBench: four tasks that each provoke one cause of hallucination, asked as an exam.

    DIR/exam.json          what it is: format version, counts, content hash, notes
    DIR/samples.parquet    id, task, images, height_px, width_px, facts
    DIR/questions.parquet  one row per question
    DIR/images/            the pictures

The paper's own files are not released, so this form is the reference. It keeps the paper's
layout: each sample of a task is asked the same numbers of yes/no (YN), short-answer (SA) and
multiple-choice (MC) questions, along the same dimensions (`LAYOUT`). A folder that lacks a
question is refused, because accuracies per question number would not be comparable.

For other programs there is the same as plain JSON (`write_native`), one file per task with one row
per question that repeats what is known about its sample; pictures are named, not copied:

    DIR/erasure.json  DIR/attribute.json  DIR/tracing.json  DIR/counting.json

Such a folder is read too: pictures are in its `images`, or where they are said to be.

Erasure's Q1 has two wordings in the paper, a and b, that count as one question. A sample may be
asked one of them or both: then it has two questions of number 1, Q1a first, and each counts half.

Samples with the same fact `photograph` are of one photograph: they are resampled together.

A sample may have a twin, asked in the same words with the same options about a picture with other
answers: its fact `twin_of` is the id of the sample that it goes with.

Attributes are of any type; the fact `attribute` names it (colour, shape …), and `direction`, if
given, is one of the six in which the paper's edits go (`DIRECTIONS`).

The content hash is the SHA-256 of the rows in a canonical form (JSON, keys sorted) and of the
pictures' own hashes; what the rows contribute does not depend on Parquet's encoding.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import msgspec

from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.io.foreign import read_json_object, sha256, stream_json_list, within
from groundfault.io.inputs import Input, Outline
from groundfault.io.restoring import way_to_restore
from groundfault.io.store import is_there, new_folder, read_table, write_json
from groundfault.records import Answer, Benchmark, Card, Case, Item, Role

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "CARD",
    "CONTROL",
    "DIRECTIONS",
    "FORMAT_VERSION",
    "LAYOUT",
    "LETTERS",
    "MOST_IN_RANGE",
    "TWIN",
    "Question",
    "Sample",
    "benchmark_of",
    "check_rows",
    "is_twin",
    "question_labels",
    "read",
    "read_native",
    "rows_of",
    "span",
    "twin_of",
    "write",
    "write_exam",
    "write_native",
]

AnyPath = str | PathLike[str]
Task = Literal["erasure", "attribute", "tracing", "counting"]
QuestionType = Literal["YN", "SA", "MC"]
Dimension = Literal[
    "direct",
    "commonsense-guided",
    "premise-based",
    "absurd-contrast",
    "none-hint",
    "location-hint",
    "operation-hint",
    "exact",
    "interval",
]
Polarity = Literal["", "affirmed", "negated"]
T = TypeVar("T")

FORMAT = "groundfault exam"
FORMAT_VERSION = 1
HEADER, SAMPLES, QUESTIONS, IMAGES = "exam.json", "samples.parquet", "questions.parquet", "images"
_EXPECTED = "the exam.json of a groundfault exam folder"
_AGAIN = "get or write the folder again; to change an exam, read it and write a new one"

LETTERS = "ABCDEFGH"
MOST_IN_RANGE = 6
"""How many whole numbers an estimated range may hold; those of options are of any width."""
DIRECTIONS = ("material", "colour", "texture", "state", "finish", "shape")
"""What of a thing is changed to look unusual."""

_INDUCEMENTS: tuple[Dimension, ...] = (
    "direct",
    "commonsense-guided",
    "premise-based",
    "absurd-contrast",
)
_HINTS: tuple[Dimension, ...] = ("none-hint", "location-hint", "operation-hint")
_TYPES: tuple[QuestionType, ...] = ("YN", "SA", "MC")
_INDUCED = tuple((type_, dimension) for type_ in _TYPES for dimension in _INDUCEMENTS)

LAYOUT: dict[str, tuple[tuple[QuestionType, Dimension], ...]] = {
    "erasure": _INDUCED,
    "attribute": _INDUCED,
    "tracing": (
        *(("YN", hint) for hint in _HINTS for _ in range(2)),
        *(("SA", hint) for hint in _HINTS),
        *(("MC", hint) for hint in _HINTS),
    ),
    "counting": (
        ("YN", "exact"),
        ("YN", "exact"),
        ("YN", "exact"),
        ("YN", "interval"),
        ("SA", "exact"),
        ("SA", "interval"),
        ("MC", "exact"),
        ("MC", "interval"),
    ),
}
"""Type and dimension of each task's questions, from Q1 on."""

FACTS: dict[str, tuple[str, ...]] = {
    "erasure": ("erased", "relation", "kept"),
    "attribute": ("object", "usual", "shown"),
    "tracing": ("operation", "object", "location"),
    "counting": ("object", "count"),
}
"""What is known about a sample of each task, at least."""


class Sample(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of samples.parquet: what a model is shown, and what is known about it. It is read as a
    case."""

    id: str
    """Unique in the exam."""
    task: Task
    """erasure, attribute, tracing or counting: the cause that it provokes."""
    images: tuple[str, ...]
    """File names in the image folder: two for tracing (before, after), one otherwise."""
    height_px: int
    """Of its pictures."""
    width_px: int
    """Of its pictures."""
    facts: dict[str, str]
    """What is known about the change: {"erased": "lamp"}; `twin_of` names the sample that it is
    the twin of."""


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of questions.parquet: one question about a sample, with its answer. It is read as an
    item."""

    id: str
    """Unique in the exam."""
    sample_id: str
    """The sample that it is about."""
    number: int
    """1 is Q1."""
    type: QuestionType
    """YN (yes/no), SA (short answer) or MC (multiple choice)."""
    dimension: Dimension
    """How it leads astray, as in "premise-based"."""
    text: str
    """The question, as it is asked."""
    options: tuple[str, ...] = ()
    """Of a multiple-choice question, without their letters: A is the first."""
    answer: str
    """YN: "yes" or "no"; MC: a letter; counts: "20" or "18-22"; else the reference answer."""
    rubric: str = ""
    """SA: what a right answer says and what makes it wrong, for the judge."""
    polarity: Polarity = ""
    """YN: "negated" where the question states that something is not so."""


class NativeRow(Question, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question with what is known about its sample."""

    task: Task
    images: tuple[str, ...]
    height_px: int
    width_px: int
    facts: dict[str, str | int]
    """In words or whole numbers."""

    @property
    def sample(self) -> Sample:
        """The sample that it is about, all its facts in words."""
        given = {name: getattr(self, name) for name in _OF_SAMPLE}
        facts = {name: str(fact) for name, fact in self.facts.items()}
        return Sample(id=self.sample_id, **{**given, "facts": facts})

    @property
    def question(self) -> Question:
        """The question alone."""
        return Question(**{name: getattr(self, name) for name in Question.__struct_fields__})


_OF_SAMPLE = ("task", "images", "height_px", "width_px", "facts")

CARD = Card(
    name="reactbench",
    protocol="exam",
    title="ReactBench",
    source="the paper's questions are not released; this is our own schema",
    licence="of each exam its own",
    citation=(
        "Zhou et al., ReactBench: A Cause-Driven Benchmark for Multimodal Hallucination via "
        "Systematic Evaluation"
    ),
    main_metric="react_score",
)


ABOUT = "an exam folder: samples, questions, pictures"
INPUTS = (
    Input("data", "The exam folder, or one of native JSON files.", kind="folder"),
    Input("images", "Of native files: the pictures.", "folder", required=False, pictures=True),
)
RUN_BY_US = (
    "Rendered exams and exams built from photographs, with the baselines, text-only solvers and "
    "scripted chat servers. The paper's own questions are not released, and no paid service was "
    "asked."
)
WITHOUT_FILES = (
    "The paper's questions are not released, so there is nothing to fetch. Build the embedded exam "
    "with `groundfault world build --preset reactbench --out exam`, then `groundfault eval exam`; "
    "or give another exam folder"
)


def recognise(outline: Outline) -> bool:
    """Whether it is a folder with an exam's header, or with native files, or one of those."""
    if outline.kind == "list":
        return {"sample_id", "task", "rubric"} <= outline.fields
    known = {HEADER, *(f"{task}.json" for task in LAYOUT)}
    return outline.kind == "folder" and not known.isdisjoint(outline.fields)


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The content of exam.json."""

    format: str = FORMAT
    """Always this; another is refused."""
    version: int = FORMAT_VERSION
    """Of the format."""
    name: str = "reactbench"
    """What files and runs call it."""
    counts: dict[str, int]
    """Samples, questions and images, and the samples of each task."""
    content_hash: str
    """SHA-256 of rows and pictures; a folder changed by hand is noticed."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    title: str = ""
    """What reports call it; "" is the paper's name."""
    about: str = ""
    """What a reader of the numbers must know about the data."""


class _Version(msgspec.Struct):
    format: str = ""
    version: int = 0
    name: str = ""


def write_exam(
    folder: AnyPath,
    samples: Sequence[Sample],
    questions: Sequence[Question],
    pictures: Mapping[str, bytes | Path],
    *,
    notes: Sequence[str] = (),
    title: str = "",
    about: str = "",
    copy: Callable[[Path, Path], object] = shutil.copyfile,
) -> Benchmark:
    """Write a folder that must not exist yet; it appears whole or not at all.

    `pictures` gives each image's bytes, or the file that holds them, which `copy` copies. Returns
    what `read` gives.
    """
    _check(samples, questions, Path(SAMPLES), Path(QUESTIONS))
    names = [name for sample in samples for name in sample.images]
    missing = sorted(set(names) - set(pictures))
    if missing:
        raise UsageError(f"no picture was given for {missing[0]}; samples need all of theirs")
    with new_folder(folder) as temporary:
        (temporary / IMAGES).mkdir()
        for name in names:
            _put_picture(temporary / IMAGES / name, pictures[name], copy)
        _write_rows(temporary / SAMPLES, _sample_schema(), samples)
        _write_rows(temporary / QUESTIONS, _question_schema(), questions)
        header = Header(
            counts=_counts(samples, questions),
            content_hash=_content_hash(samples, questions, temporary / IMAGES),
            notes=tuple(notes),
            title=title,
            about=about,
        )
        write_json(temporary / HEADER, header)
    return _of_folder(Path(folder), header, samples, questions)


def read(data: AnyPath, images: AnyPath | None = None) -> Benchmark:
    """Read a folder that `write_exam` made, and check that it is whole and nobody changed it; or
    one of native files, or one such file, whose pictures are in `images`."""
    folder = Path(data)
    if not is_there(folder / HEADER) and _native_files(folder):
        return _of_native(folder, images)
    if images is not None:
        raise UsageError(f"{folder}: an exam folder has its own pictures; leave --images out")
    header = _read_header(folder)
    samples = _read_rows(folder / SAMPLES, _sample_schema(), Sample)
    questions = _read_rows(folder / QUESTIONS, _question_schema(), Question)
    _check(samples, questions, folder / SAMPLES, folder / QUESTIONS)
    for sample in samples:
        for name in sample.images:
            record = f"sample {sample.id}"
            path = within(folder / IMAGES, name, file=folder / SAMPLES, record=record)
            if not path.is_file():
                raise DataError(
                    folder / SAMPLES,
                    f"its picture {IMAGES}/{name} is missing",
                    record=record,
                    remedy=way_to_restore(folder) or _AGAIN,
                )
    found = _content_hash(samples, questions, folder / IMAGES)
    if found != header.content_hash or header.counts != _counts(samples, questions):
        raise DataError(
            folder / HEADER,
            f"it is about other content: hash {header.content_hash[:12]}…, found {found[:12]}…",
            remedy=_AGAIN,
        )
    return _of_folder(folder, header, samples, questions)


def _of_native(folder: Path, images: AnyPath | None) -> Benchmark:
    """An exam of native files; the same pictures make it the exam of a folder."""
    samples, questions = read_native(folder)
    beside = folder if folder.is_dir() else folder.parent
    place = Path(images) if images is not None else beside / IMAGES
    names = [name for sample in samples for name in sample.images]
    missing = [name for name in names if not (place / name).is_file()]
    if images is not None and missing:
        raise UsageError(
            f"{place}: has {len(names) - len(missing)} of {len(names)} pictures; missing is "
            f"{missing[0]}. Remedy: give the folder of all of them with --images"
        )
    found = benchmark_of(samples, questions)
    if missing:
        note = f"{len(missing)} of {len(names)} pictures are not in {IMAGES}/: give --images DIR"
        return msgspec.structs.replace(found, notes=(note,))
    digest = _content_hash(samples, questions, place)
    return msgspec.structs.replace(
        found,
        card=msgspec.structs.replace(found.card, content_hash=digest),
        images=str(place),
        hashes={"benchmark": digest},
    )


def obstacle(benchmark: Benchmark) -> str | None:
    """Why a benchmark is no exam."""
    try:
        samples, questions = rows_of(benchmark)
        _check(samples, questions, Path(SAMPLES), Path(QUESTIONS))
    except GroundfaultError as problem:
        return str(problem)
    return None


def write(
    benchmark: Benchmark, out: AnyPath, *, images_from: AnyPath | None = None
) -> tuple[Path, ...]:
    """Write an exam folder, with the pictures in `images_from` or where the benchmark has them."""
    place = images_from or benchmark.images
    if not place:
        raise UsageError("an exam folder holds its pictures: say with --images where they are")
    names = {name for item in benchmark.items for name in item.images}
    card = benchmark.card
    write_exam(
        out,
        *rows_of(benchmark),
        {name: Path(place, name) for name in names},
        title="" if card.title == CARD.title else card.title,
        about=card.about,
    )
    return (Path(out),)


def _of_folder(
    folder: Path, header: Header, samples: Sequence[Sample], questions: Sequence[Question]
) -> Benchmark:
    found = benchmark_of(
        samples,
        questions,
        folder=folder,
        content_hash=header.content_hash,
        notes=header.notes,
    )
    card = msgspec.structs.replace(found.card, title=header.title or CARD.title, about=header.about)
    return msgspec.structs.replace(found, card=card)


def benchmark_of(
    samples: Sequence[Sample],
    questions: Sequence[Question],
    *,
    folder: Path | None = None,
    content_hash: str = "",
    notes: tuple[str, ...] = (),
) -> Benchmark:
    """What rows mean: a case per sample, an item per question."""
    known = {sample.id: sample for sample in samples}
    return Benchmark(
        card=msgspec.structs.replace(CARD, content_hash=content_hash),
        cases=tuple(_case(sample, known) for sample in samples),
        items=tuple(_item(question, known[question.sample_id]) for question in questions),
        notes=notes,
        images="" if folder is None else str(folder / IMAGES),
        folder="" if folder is None else str(folder.resolve()),
        hashes={"benchmark": content_hash},
    )


def _case(sample: Sample, known: Mapping[str, Sample]) -> Case:
    """A twin is of its sample's cluster: of counting, it shows another photograph, and linking
    both would link sample after sample until all are one."""
    photograph = known.get(sample.facts.get("twin_of", ""), sample).facts.get("photograph")
    return Case(
        id=sample.id,
        intervention=sample.task,
        tags={} if photograph is None else {"cluster": photograph},
        facts=sample.facts,
    )


def _item(question: Question, sample: Sample) -> Item:
    return Item(
        id=question.id,
        case_id=sample.id,
        role=Role.QUESTION,
        images=sample.images,
        height_px=sample.height_px,
        width_px=sample.width_px,
        query=question.text,
        answer=Answer(
            type=question.type,
            reference=question.answer,
            options=question.options,
            rubric=question.rubric,
            dimension=question.dimension,
            number=question.number,
            polarity=question.polarity,
        ),
    )


def rows_of(benchmark: Benchmark) -> tuple[list[Sample], list[Question]]:
    """The rows that a benchmark was read from."""
    cases = {case.id: case for case in benchmark.cases}
    samples: dict[str, Sample] = {}
    questions = []
    for item in benchmark.items:
        if item.answer is None:
            raise UsageError(f"item '{item.id}' asks for masks; an exam asks in words")
        case, answer = cases[item.case_id], item.answer
        sample = {
            "id": case.id,
            "task": case.intervention,
            "images": item.images,
            "height_px": item.height_px,
            "width_px": item.width_px,
            "facts": case.facts,
        }
        question = {
            "id": item.id,
            "sample_id": case.id,
            "text": item.query,
            "answer": answer.reference,
            **{
                name: getattr(answer, name)
                for name in ("number", "type", "dimension", "options", "rubric", "polarity")
            },
        }
        try:
            samples.setdefault(case.id, msgspec.convert(sample, Sample))
            questions.append(msgspec.convert(question, Question))
        except msgspec.ValidationError as problem:
            raise UsageError(f"item '{item.id}' does not fit into an exam: {problem}") from None
    return list(samples.values()), questions


def question_labels(items: Iterable[Item]) -> dict[str, str]:
    """Item id → "Q1", "Q2" …; "Q1a" and "Q1b" where a case is asked its Q1 in both wordings."""
    asked: dict[tuple[str, int], list[str]] = {}
    for item in items:
        if item.answer is not None:
            asked.setdefault((item.case_id, item.answer.number), []).append(item.id)
    return {
        name: f"Q{number}{chr(97 + k) if len(names) > 1 else ''}"
        for (_, number), names in asked.items()
        for k, name in enumerate(names)
    }


TWIN, CONTROL = "-twin", "-control"
"""How the ids of twins end, behind that of their sample; of exams of 0.1 those of controls."""


def is_twin(case: Case) -> bool:
    """Whether a case is asked the same as another one about a picture with other answers: the
    unedited one, the same picture twice, another count."""
    return "twin_of" in case.facts or "control" in case.facts


def twin_of(case: Case) -> str:
    """The id of the case that a twin goes with; "" of a case that is none."""
    if "control" in case.facts:
        return case.id.removesuffix(CONTROL)
    return case.facts.get("twin_of", "")


def write_native(benchmark: Benchmark, folder: AnyPath) -> None:
    """Write an exam as one JSON file per task into a folder that must not exist yet."""
    listed, questions = rows_of(benchmark)
    samples = {sample.id: sample for sample in listed}
    rows: dict[str, list[NativeRow]] = {}
    for question in questions:
        sample = samples[question.sample_id]
        known = {name: getattr(sample, name) for name in _OF_SAMPLE}
        row = NativeRow(**msgspec.structs.asdict(question), **known)
        rows.setdefault(sample.task, []).append(row)
    with new_folder(folder) as temporary:
        for task, of_task in rows.items():
            write_json(temporary / f"{task}.json", of_task)


def read_native(folder: AnyPath) -> tuple[tuple[Sample, ...], tuple[Question, ...]]:
    """Read what `write_native` wrote, or one file of it: samples and questions, task by task."""
    folder = Path(folder)
    samples: list[Sample] = []
    questions: list[Question] = []
    for path in _native_files(folder):
        found, asked = _read_task(path)
        samples += found
        questions += asked
    if not samples:
        expected = ", ".join(f"{task}.json" for task in LAYOUT)
        raise UsageError(f"{folder}: holds no exam; give a folder with some of {expected}")
    _check_unique(folder, "sample", (sample.id for sample in samples))
    return tuple(samples), tuple(questions)


def _native_files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return [path for task in LAYOUT if is_there(path := place / f"{task}.json")]


def _read_task(path: Path) -> tuple[list[Sample], list[Question]]:
    samples: dict[str, Sample] = {}
    questions: list[Question] = []
    for _, rows in stream_json_list(path, NativeRow, expected="one row per question"):
        for row in rows:
            sample = samples.setdefault(row.sample_id, row.sample)
            if path.stem in LAYOUT and row.task != path.stem:
                _refuse(path, row, f"it is of {row.task}, in the file of {path.stem}")
            if row.sample != sample:
                _refuse(path, row, "other rows say other things about its sample")
            questions.append(row.question)
    _check(list(samples.values()), questions, path, path)
    return list(samples.values()), questions


def span(text: str) -> tuple[int, int] | None:
    """A number or a range as (lowest, highest); None if it is neither.

    >>> span("20"), span("18-22"), span("22-18"), span("many")
    ((20, 20), (18, 22), None, None)
    """
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text, re.ASCII)
    if match is None:
        return None
    low, high = int(match[1]), int(match[2] or match[1])
    return (low, high) if low <= high else None


def _counts(samples: Sequence[Sample], questions: Sequence[Question]) -> dict[str, int]:
    tasks: Counter[str] = Counter(sample.task for sample in samples)
    return {
        "samples": len(samples),
        "questions": len(questions),
        "images": sum(len(sample.images) for sample in samples),
        **{task: tasks[task] for task in LAYOUT},
    }


def _content_hash(samples: Sequence[Sample], questions: Sequence[Question], images: Path) -> str:
    encode = msgspec.json.Encoder(order="deterministic").encode
    digest = hashlib.sha256(encode([FORMAT, FORMAT_VERSION]))
    for row in (*samples, *questions):
        digest.update(b"\n" + encode(row))
    for sample in samples:
        for name in sample.images:
            digest.update(b"\n" + encode([name, sha256(images / name)]))
    return digest.hexdigest()


def _put_picture(path: Path, content: bytes | Path, copy: Callable[[Path, Path], object]) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content.is_file():
        copy(content, path)
    else:
        raise UsageError(f"{content}: no such picture")


# What must hold of the rows, whoever wrote them.


def check_rows(samples: Sequence[Sample], questions: Sequence[Question]) -> None:
    """Refuse rows that make no exam, before they are written."""
    _check(samples, questions, Path("samples"), Path("questions"))


def _check(
    samples: Sequence[Sample], questions: Sequence[Question], s_file: Path, q_file: Path
) -> None:
    _check_unique(s_file, "sample", (sample.id for sample in samples))
    _check_unique(q_file, "question", (question.id for question in questions))
    _check_unique(s_file, "image", (name for sample in samples for name in sample.images))
    asked: dict[str, list[Question]] = {sample.id: [] for sample in samples}
    for question in questions:
        if question.sample_id not in asked:
            _refuse(q_file, question, f"there is no sample '{question.sample_id}'")
        asked[question.sample_id].append(question)
    for sample in samples:
        _check_sample(sample, s_file)
        _check_layout(sample, asked[sample.id], q_file)
        for question in asked[sample.id]:
            _check_question(question, sample, q_file)
    _check_twins(samples, asked, s_file, q_file)
    in_order = [question for sample in samples for question in asked[sample.id]]
    for found, expected in zip(questions, in_order, strict=True):
        if found is not expected:
            _refuse(q_file, found, "it does not stand in the order of the samples")


def _check_twins(
    samples: Sequence[Sample],
    asked: Mapping[str, Sequence[Question]],
    s_file: Path,
    q_file: Path,
) -> None:
    """A twin is asked what its sample is asked, and has another answer to everything."""
    known = {sample.id: sample for sample in samples}
    for twin in samples:
        name = twin.facts.get("twin_of")
        if name is None:
            continue
        sample = known.get(name)
        if sample is None or sample.task != twin.task or "twin_of" in sample.facts:
            _refuse(s_file, twin, f"it is the twin of '{name}', which is no {twin.task} sample")
        for one, other in zip(asked[name], asked[twin.id], strict=True):
            if (one.text, one.options, one.polarity) != (other.text, other.options, other.polarity):
                _refuse(q_file, other, f"question {one.id} of its twin has other words or options")
            if one.answer == other.answer and one.type != "SA":
                _refuse(q_file, other, f"question {one.id} of its twin has the same answer")


def _check_unique(file: Path, kind: str, names: Iterable[str]) -> None:
    known: set[str] = set()
    for name in names:
        if name in known:
            problem = f"it occurs twice; every {kind} needs its own"
            raise DataError(file, problem, record=f"{kind} {name}", remedy=_AGAIN)
        known.add(name)


def _check_sample(sample: Sample, file: Path) -> None:
    wanted = 2 if sample.task == "tracing" else 1
    if len(sample.images) != wanted:
        _refuse(file, sample, f"{sample.task} has {wanted} pictures, this has {len(sample.images)}")
    for name in sample.images:
        if not _is_file_name(name):
            _refuse(
                file,
                sample,
                f"the image name {name!r} is not a plain file name",
                remedy="name a file directly in the image folder",
            )
    if sample.height_px < 1 or sample.width_px < 1:
        _refuse(file, sample, f"its pictures are {sample.width_px} × {sample.height_px} pixels")
    for name in FACTS[sample.task]:
        if not sample.facts.get(name):
            _refuse(file, sample, f"its facts do not give '{name}'")
    direction = sample.facts.get("direction", "") if sample.task == "attribute" else ""
    if direction and direction not in DIRECTIONS:
        known = ", ".join(DIRECTIONS)
        _refuse(file, sample, f"its direction is '{direction}'; there are {known}")
    if sample.task == "counting" and not _is_count(sample.facts["count"]):
        _refuse(file, sample, f"its count is '{sample.facts['count']}', which is no whole number")


def _is_file_name(name: str) -> bool:
    """Whether a name is one of a file directly in a folder, on any system."""
    plain = name == PureWindowsPath(name).name == PurePosixPath(name).name
    return plain and name not in ("", ".", "..") and "\0" not in name


def _is_count(text: str) -> bool:
    found = span(text)
    return found is not None and found[0] == found[1]


def _check_layout(sample: Sample, asked: Sequence[Question], file: Path) -> None:
    layout = LAYOUT[sample.task]
    if sample.task == "erasure" and len(asked) > len(layout) and asked[1].number == 1:
        first, *asked = asked  # Q1a; Q1b is in the place of Q1
        _check_layout(sample, [first, *asked[1:]], file)
    for number, (question, slot) in enumerate(zip(asked, layout, strict=False), start=1):
        if (question.number, question.type, question.dimension) != (number, *slot):
            _refuse(
                file,
                question,
                f"it is Q{question.number}, {question.type}, {question.dimension}, where "
                f"{sample.task} has Q{number}, {', '.join(slot)}",
            )
    if len(asked) != len(layout):
        raise DataError(
            file,
            f"it has {len(asked)} questions; {sample.task} has {len(layout)}",
            record=f"sample {sample.id}",
            remedy=_AGAIN,
        )


def _check_question(question: Question, sample: Sample, file: Path) -> None:
    if not question.text.strip():
        _refuse(file, question, "it asks nothing")
    if (question.type == "MC") != bool(question.options):
        _refuse(file, question, "multiple-choice questions have options, the others none")
    if (question.type == "YN") != bool(question.polarity):
        _refuse(file, question, "yes/no questions have a polarity, the others none")
    if (question.type == "SA") != bool(question.rubric.strip()):
        _refuse(file, question, "short-answer questions have a rubric, the others none")
    if question.type == "YN" and question.answer not in ("yes", "no"):
        _refuse(file, question, f"its answer is '{question.answer}', neither yes nor no")
    if question.type == "MC":
        _check_options(question, file)
    if not question.answer.strip():
        _refuse(file, question, "it has no answer")
    if sample.task == "tracing" and question.type == "YN":
        expected = "affirmed" if question.number % 2 else "negated"
        if question.polarity != expected:
            _refuse(file, question, f"Q{question.number} of tracing is {expected}")
    if sample.task == "counting" and question.type != "YN":
        _check_numbers(question, int(sample.facts["count"]), file)


def _check_options(question: Question, file: Path) -> None:
    options = question.options
    if not 2 <= len(options) <= len(LETTERS):
        _refuse(file, question, f"it has {len(options)} options; 2 to {len(LETTERS)} are possible")
    if len({option.strip().casefold() for option in options}) < len(options):
        _refuse(file, question, "two of its options are the same")
    if not all(option.strip() for option in options):
        _refuse(file, question, "one of its options is empty")
    if len(question.answer) != 1 or question.answer not in LETTERS[: len(options)]:
        _refuse(file, question, f"its answer '{question.answer}' is the letter of no option")


def _check_numbers(question: Question, count: int, file: Path) -> None:
    """Numbers and ranges are scored by rule, so the right one must hold the count, alone."""
    numbers = question.options or (question.answer,)
    right = question.options[LETTERS.index(question.answer)] if question.options else numbers[0]
    for text in numbers:
        found = span(text)
        if found is None or (question.dimension == "exact" and found[0] != found[1]):
            kind = "number" if question.dimension == "exact" else "range"
            _refuse(file, question, f"'{text}' is no {kind}")
        low, high = found
        if question.type == "SA" and high - low >= MOST_IN_RANGE:
            _refuse(file, question, f"the range {text} holds more than {MOST_IN_RANGE} numbers")
        if (low <= count <= high) != (text == right):
            verb = "misses" if text == right else "also holds"
            _refuse(file, question, f"{text} {verb} the count, {count}")


def _refuse(file: Path, row: Sample | Question, problem: str, *, remedy: str = "") -> NoReturn:
    by_hand = file.suffix == ".json"  # a folder is only ever written by us
    remedy = remedy or ("correct the record" if by_hand else _AGAIN)
    record = f"{'sample' if isinstance(row, Sample) else 'question'} {row.id}"
    raise DataError(file, problem, record=record, remedy=remedy)


# Files.


def _read_header(folder: Path) -> Header:
    path = folder / HEADER
    if not path.is_file():
        raise UsageError(f"{folder}: is not a groundfault exam folder: it has no {HEADER}")
    version = read_json_object(path, _Version, expected=_EXPECTED)
    if (version.format, version.name) != (FORMAT, "reactbench"):
        raise DataError(
            path, f"it is '{version.name}' of format '{version.format}'", remedy=f"give {_EXPECTED}"
        )
    if version.version != FORMAT_VERSION:
        raise DataError(
            path,
            f"it has format version {version.version}; this groundfault reads {FORMAT_VERSION}",
            remedy="use the version of groundfault that wrote it, or a newer one",
        )
    return read_json_object(path, Header, expected=_EXPECTED)


def _sample_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("task", pa.string()),
            ("images", pa.list_(pa.string())),
            ("height_px", pa.int64()),
            ("width_px", pa.int64()),
            ("facts", pa.map_(pa.string(), pa.string())),
        ]
    )


def _question_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("sample_id", pa.string()),
            ("number", pa.int64()),
            ("type", pa.string()),
            ("dimension", pa.string()),
            ("text", pa.string()),
            ("options", pa.list_(pa.string())),
            ("answer", pa.string()),
            ("rubric", pa.string()),
            ("polarity", pa.string()),
        ]
    )


def _write_rows(path: Path, schema: pa.Schema, rows: Sequence[msgspec.Struct]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [
        pa.array([_plain(getattr(row, field.name)) for row in rows], field.type) for field in schema
    ]
    pq.write_table(pa.table(columns, schema=schema), path, compression="zstd")


def _plain(value: Any) -> Any:
    return list(value.items()) if isinstance(value, dict) else value


def _read_rows(path: Path, schema: pa.Schema, type_: type[T]) -> tuple[T, ...]:
    """The records of a table, whose columns must be those that `write_exam` gives it."""
    table = read_table(path)
    if not table.schema.equals(schema):
        raise DataError(path, "its columns are not those of the format", remedy=_AGAIN)
    try:
        rows = table.to_pylist()
    except (ValueError, KeyError) as problem:  # strings that are not Unicode
        raise DataError(path, f"not a readable table ({problem})", remedy=_AGAIN) from None
    records = []
    for number, row in enumerate(rows):
        if row.get("facts"):
            row["facts"] = dict(row["facts"])  # Arrow gives maps as lists of pairs
        try:
            records.append(msgspec.convert(row, type_))
        except msgspec.ValidationError as problem:
            raise DataError(path, str(problem), record=f"row {number}", remedy=_AGAIN) from None
    return tuple(records)
