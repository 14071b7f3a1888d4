"""Names → things, imported only when asked for.

Each kind is a table of "module:attribute" (or a whole module). Other packages add theirs through
entry points in the group `groundfault.KIND`, as in `groundfault.models`; ours win over a foreign
entry of the same name. Every command looks for them, so that is done without importlib.metadata,
whose import alone takes longer than most commands: 2 ms instead of 60.

A model is named `NAME[:argument]`, or `LABEL=NAME[:argument]` where tables and folders are to call
it otherwise. Its entry is a callable (argument, options) -> model.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from groundfault.errors import RAISED, GroundfaultError, UnknownName, UsageError, described

if TYPE_CHECKING:
    from groundfault.interfaces import ModelOptions

__all__ = [
    "BASELINES",
    "KINDS",
    "Entry",
    "is_baseline",
    "load",
    "load_model",
    "model_factory",
    "names",
    "plugins",
    "split_label",
]

Answers = Literal["masks", "words", "both", ""]
BASELINES = ("oracle", "blind", "text-only", "always-yes", "random")
"""Models that nothing was learnt for: they look at no picture."""


class Entry(NamedTuple):
    """Where a thing lives and what it is."""

    target: str
    about: str = ""
    answers: Answers = "masks"
    """What a model gives, or a benchmark asks for; "" where only loading it would tell."""
    package: str = ""
    """The distribution that a plug-in comes with, and its version; "" for ours."""


KINDS: dict[str, dict[str, Entry]] = {
    "benchmarks": {
        "cafe": Entry(
            "groundfault.benchmarks.cafe", "edited surface, context or material; p⁺ and p⁻"
        ),
        "saco": Entry(
            "groundfault.benchmarks.saco", "image–phrase pairs, one to several annotators"
        ),
        "halluseg": Entry(
            "groundfault.benchmarks.halluseg", "replaced objects: (I, c) (I, c') (I', c) (I', c')"
        ),
        "fprefcoco": Entry(
            "groundfault.benchmarks.fprefcoco", "referring expressions, some with a false premise"
        ),
        "coco": Entry(
            "groundfault.benchmarks.coco_instances", "COCO instance annotations as phrases"
        ),
        "lvis": Entry("groundfault.benchmarks.lvis", "LVIS with its verified negatives as phrases"),
        "reactbench": Entry(
            "groundfault.benchmarks.reactbench",
            "exams: four causes, 8 to 12 questions per sample",
            answers="words",
        ),
        "pope": Entry(
            "groundfault.benchmarks.pope", "is there a … in the picture? yes or no", answers="words"
        ),
        "audit": Entry(
            "groundfault.benchmarks.audit", "photographs of one's own, phrases and their relations"
        ),
        "folder": Entry("groundfault.benchmarks.folder", "our own format: Parquet, images, card"),
    },
    "protocols": {
        "concept-pairs": Entry(
            "groundfault.protocols.concepts:CONCEPT_PAIRS", "a true and a misleading phrase"
        ),
        "concepts": Entry(
            "groundfault.protocols.concepts:CONCEPTS", "every instance of a phrase, or nothing"
        ),
        "replacement-quads": Entry(
            "groundfault.protocols.replacement:PROTOCOL", "an object replaced, in picture or words"
        ),
        "referring": Entry(
            "groundfault.protocols.referring:PROTOCOL", "descriptions, some of them false"
        ),
        "phrase-relations": Entry(
            "groundfault.protocols.phrase_relations:PROTOCOL", "answers held against each other"
        ),
        "exam": Entry("groundfault.protocols.exam:PROTOCOL", "questions by cause, React-Score"),
        "yes-no": Entry("groundfault.protocols.yes_no:PROTOCOL", "is such a thing there?"),
    },
    "metrics": {
        "pcs": Entry(
            "groundfault.metrics.pcs:FAMILY", "cgF1, IL_MCC, positive micro F1 and their family"
        ),
        "target": Entry(
            "groundfault.metrics.target_aware:FAMILY",
            "AFPR, UFPR, ACSR, UCSR, SoftSwap and the seven cells",
        ),
        "replacement": Entry("groundfault.metrics.replacement:FAMILY", "ΔIoU, CMS, CCMS"),
        "bounded": Entry("groundfault.metrics.bounded:FAMILY", "CMS with at most 1 per case"),
        "absence": Entry(
            "groundfault.metrics.absence:FAMILY", "absent masks counted or skipped; unparsed_rate"
        ),
        "premise": Entry("groundfault.metrics.false_premise:FAMILY", "See, Say, Segment"),
        "exam": Entry("groundfault.metrics.exam:FAMILY", "accuracy, React-Score, yes-bias"),
        "consistency": Entry(
            "groundfault.metrics.consistency:FAMILY",
            "contradictions, absent things, wordings, containment, stability; no labels",
        ),
        "twins": Entry("groundfault.metrics.twins:FAMILY", "paired accuracy over twins"),
        "pope": Entry(
            "groundfault.metrics.yes_no:FAMILY", "accuracy, precision, recall, F1, yes-ratio"
        ),
    },
    "models": {
        "nano-base": Entry("groundfault.models.nano:base", "ours; learnt in a world of habits"),
        "nano-cft": Entry("groundfault.models.nano:cft", "ours; counterfactually fine-tuned"),
        "nano": Entry("groundfault.models.nano:load", "one that you trained: nano:FOLDER/NAME"),
        "sam3": Entry("groundfault.models.sam3:load", "SAM 3; weights: SAM License, gated"),
        "grounded-sam2": Entry(
            "groundfault.models.grounded_sam2:load", "Grounding DINO + SAM 2; DETECTOR+SEGMENTER"
        ),
        "owlv2-sam": Entry("groundfault.models.owlv2_sam:load", "OWLv2 + SAM"),
        "clipseg": Entry("groundfault.models.clipseg:load", "CLIPSeg: one region per phrase"),
        "omdet-sam": Entry("groundfault.models.omdet_sam:load", "OmDet-Turbo + SAM"),
        "yolo-world": Entry(
            "groundfault.models.ultralytics_open:load_yolo_world",
            "YOLO-World's boxes + SAM, not CAFE's YOLO-World-Seg (a worker); AGPL-3.0",
        ),
        "yoloe": Entry("groundfault.models.ultralytics_open:load_yoloe", "YOLOE-seg; AGPL-3.0"),
        "segvlm": Entry(
            "groundfault.models.segvlm.loading:load", "one that you trained: segvlm:FOLDER"
        ),
        "agent": Entry(
            "groundfault.models.agent.loading:load", "an LLM that verifies a segmenter: agent:A+B"
        ),
        "worker": Entry(
            "groundfault.models.worker:load", "a script of yours: worker:/path/to/mine.py"
        ),
        "openai": Entry(
            "groundfault.llm.openai_chat:openai", "OpenAI's protocol: openai:NAME", "words"
        ),
        "vllm": Entry("groundfault.llm.openai_chat:vllm", "a server: vllm:http://…", "words"),
        "gemini": Entry("groundfault.llm.gemini:gemini", "Gemini: gemini:NAME", "words"),
        "hf": Entry(
            "groundfault.models.transformers_vlm:hf", "here, with transformers: hf:NAME", "words"
        ),
        "oracle": Entry(
            "groundfault.models.baselines:oracle", "answers from the annotations", "both"
        ),
        "blind": Entry(
            "groundfault.models.baselines:blind", "from the words alone; blind:SPEC", "both"
        ),
        "text-only": Entry(
            "groundfault.models.text_only:load", "what an exam's words give away", "words"
        ),
        "always-yes": Entry(
            "groundfault.models.baselines:always_yes", "accepts everything", "both"
        ),
        "random": Entry("groundfault.models.baselines:random", "chance; random:SEED", "both"),
        "replay": Entry(
            "groundfault.models.replay:replay", "earlier answers: replay:FILE, :RUN", "both"
        ),
    },
    "judges": {},
    "editors": {
        "procedural": Entry(
            "groundfault.editors.procedural:load",
            "offline: surfaces, materials, places, colours, erase, replace, add, move",
        ),
        "openai": Entry(
            "groundfault.editors.openai:load", "images/edits of OpenAI and its like: openai:NAME"
        ),
        "gemini": Entry("groundfault.editors.gemini:load", "Gemini's image models: gemini:NAME"),
        "diffusers": Entry(
            "groundfault.editors.diffusers_edit:load",
            "here, with diffusers, inpainting or editing: diffusers:NAME, or a folder",
        ),
        "comfyui": Entry(
            "groundfault.editors.comfyui:load", "a ComfyUI server: comfyui:WORKFLOW.json"
        ),
        "worker": Entry(
            "groundfault.editors.worker:load", "a script of yours: worker:/path/to/mine.py"
        ),
        "world": Entry(
            "groundfault.editors.world:load",
            "rendered scenes, exactly: world:DIR of `world scenes`",
        ),
    },
}


def names(kind: str) -> dict[str, Entry]:
    """All names of a kind."""
    return plugins(kind) | KINDS[kind]


def plugins(kind: str) -> dict[str, Entry]:
    """What other packages add to a kind, under names that are not ours."""
    if kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)
    found = _entry_points(tuple((path, _modified(path)) for path in sys.path))
    return {
        name: Entry(target, "plug-in", "", package)
        for name, (target, package) in found.get(f"{GROUP}{kind}", {}).items()
        if name not in KINDS[kind]
    }


def load(kind: str, name: str) -> Any:
    """Import what a name stands for."""
    entry = KINDS.get(kind, {}).get(name) or names(kind).get(name)
    if entry is None:
        raise UnknownName(kind.removesuffix("s"), name, names(kind))
    module, _, attribute = entry.target.partition(":")
    try:
        found = importlib.import_module(module)
        return attrgetter(attribute)(found) if attribute else found
    except GroundfaultError:
        raise
    except RAISED as problem:  # whatever a module may raise when it is imported
        raise GroundfaultError(
            f"{kind.removesuffix('s')} '{name}' ({entry.target}): {described(problem)}"
        ) from None


def split_label(named: str) -> tuple[str, str]:
    """What a model is to be called, and its spec, of `LABEL=SPEC`; "" where it has no label. A
    label holds no colon and ends at the first `=`.

    >>> split_label("mine=worker:./run.py"), split_label("agent:A+B,style=published")
    (('mine', 'worker:./run.py'), ('', 'agent:A+B,style=published'))
    """
    label, equals, spec = named.partition("=")
    if not equals or ":" in label:
        return "", named
    if not label.strip() or not spec:
        raise UsageError(f"--model '{named}': give LABEL=SPEC, as in mine=sam3:FOLDER, or a SPEC")
    return label.strip(), spec


def model_factory(spec: str) -> tuple[Any, str]:
    """The callable that `NAME[:argument]` stands for, and its argument."""
    name, _, argument = spec.partition(":")
    factory = load("models", name)
    if not callable(factory):
        raise GroundfaultError(f"model '{name}' is a {type(factory).__name__}, not a callable")
    return factory, argument


def is_baseline(spec: str) -> bool:
    """Whether `NAME[:argument]` is a baseline of ours.

    >>> is_baseline("random:3"), is_baseline("sam3")
    (True, False)
    """
    return spec.partition(":")[0] in BASELINES


def answering(answers: Answers) -> list[str]:
    """The names of models that give masks, or words."""
    return sorted(
        name for name, entry in names("models").items() if entry.answers in (answers, "both", "")
    )


def check_model(spec: str, answers: Answers) -> None:
    """Refuse a name that does not give masks, or words, and say what does.

    >>> check_model("sam3", "words")
    Traceback (most recent call last):
    ...
    groundfault.errors.UsageError: sam3 finds things in pictures and answers no questions. What
    does: always-yes, blind, gemini, hf, openai, oracle, random, replay, text-only, vllm; did you
    mean openai:NAME?
    """
    name = spec.partition(":")[0]
    known = names("models")
    if name not in known:
        raise UnknownName("model", name, answering(answers))
    if known[name].answers in (answers, "both", ""):
        return
    fitting = ", ".join(answering(answers))
    if answers == "words":
        raise UsageError(
            f"{spec} finds things in pictures and answers no questions. What does: {fitting}; did "
            "you mean openai:NAME?"
        )
    raise UsageError(
        f"{spec} answers questions in words and finds no masks. What does: {fitting}; did you mean "
        "to ask it an exam?"
    )


def load_model(spec: str, options: ModelOptions) -> Any:
    """Make the model that a spec stands for."""
    factory, argument = model_factory(spec)
    return factory(argument, options)


_Found = Mapping[str, Mapping[str, tuple[str, str]]]
GROUP = "groundfault."
"""What our groups of entry points begin with."""


def _modified(path: str) -> int:
    """When something was last added to a folder or taken away; 0 if it is none."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _entry_points(places: tuple[tuple[str, int], ...]) -> _Found:
    """Group → name → target and package, from the folders that modules are imported from.

    As with modules, the first on the path counts: of the copies of a package, and of equal names.
    """
    found: dict[str, dict[str, tuple[str, str]]] = {}
    packages: set[str] = set()
    try:
        _refuse_other_finders()
        for path, _ in places:
            for package, version, file in _metadata_files(path or "."):
                if package not in packages:
                    packages.add(package)
                    whole = f"{package} {version}".strip()
                    for group, name, target in _parse_entry_points(file):
                        found.setdefault(group, {}).setdefault(name, (target, whole))
    except NotImplementedError:
        return _entry_points_by_the_library()
    return found


def _refuse_other_finders() -> None:
    """Packages may be elsewhere than in folders, if someone has taught Python to find them."""
    from importlib.machinery import PathFinder

    if any(hasattr(f, "find_distributions") for f in sys.meta_path if f is not PathFinder):
        raise NotImplementedError


def _metadata_files(path: str) -> Iterator[tuple[str, str, str]]:
    """The packages of a folder by their normal names, their versions, and where their entry points
    would be."""
    try:
        with os.scandir(path) as folder:
            entries = sorted(e.name for e in folder if e.name.endswith((".dist-info", ".egg-info")))
    except NotADirectoryError:  # a zip file
        raise NotImplementedError from None
    except OSError:
        return
    for entry in entries:
        name, _, version = entry.rpartition(".")[0].partition("-")
        version = version.partition("-py")[0]  # of an egg: -py3.12
        yield name.lower().replace(".", "_"), version, f"{path}/{entry}/entry_points.txt"
    if path.endswith(".egg"):
        yield path, "", f"{path}/EGG-INFO/entry_points.txt"


def _parse_entry_points(file: str) -> Iterator[tuple[str, str, str]]:
    """(group, name, target) of our groups in an entry_points.txt, if there is one."""
    try:
        handle = os.open(file, os.O_RDONLY)
    except OSError:
        return
    try:
        content = b"".join(iter(lambda: os.read(handle, 1 << 14), b""))
    finally:
        os.close(handle)
    if f"[{GROUP}".encode() not in content:
        return
    group = ""
    for line in map(str.strip, content.decode("utf-8", "replace").splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line.strip("[]")
        elif group.startswith(GROUP) and line and not line.startswith("#"):
            name, _, target = line.partition("=")
            yield group, name.strip(), target.partition("[")[0].strip()  # [extras]


def _entry_points_by_the_library() -> _Found:
    from importlib.metadata import entry_points

    found: dict[str, dict[str, tuple[str, str]]] = {}
    for kind in KINDS:
        for point in entry_points(group=f"{GROUP}{kind}"):
            target = point.value.partition("[")[0].strip()
            package = f"{point.dist.name} {point.dist.version}" if point.dist else ""
            found.setdefault(point.group, {}).setdefault(point.name, (target, package))
    return found
