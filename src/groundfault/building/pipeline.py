"""A build from its recipe to its release, stage by stage.

    mine → propose → edit → verify → (questions) → review → release

One process at a time works on a build. Whatever ends it, the same command goes on where it ended:
each stage has kept its results (`stages`), and asks nobody twice.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from groundfault import registry
from groundfault.building.cautions import cautions
from groundfault.building.checking import VerifyStage
from groundfault.building.checks.summary import SUMMARY, summary
from groundfault.building.donors import write_donors
from groundfault.building.editing import EditStage
from groundfault.building.exams import twin_candidates
from groundfault.building.funnel import Funnel, FunnelWriter
from groundfault.building.mined import mined_into
from groundfault.building.mining.spread import Spread
from groundfault.building.proposals.chat import ChatProposer, ChatSettings
from groundfault.building.proposals.critic import CriticisedProposer
from groundfault.building.proposals.linter import check_ids
from groundfault.building.proposals.proposer import Proposer
from groundfault.building.proposals.rules import (
    Repertoire,
    RulesProposer,
    procedural_repertoire,
    world_repertoire,
)
from groundfault.building.proposals.scripted import ScriptedProposer
from groundfault.building.proposing import ProposeStage
from groundfault.building.provenance import without_folders
from groundfault.building.questions.stage import QuestionStage
from groundfault.building.recipe import Recipe, SourceSettings, open_tables
from groundfault.building.records import Candidate, Dropped
from groundfault.building.releasing import release
from groundfault.building.reviewing import ReviewStage
from groundfault.building.sheet import MOSAIC, SHEET, write_mosaic, write_sheet
from groundfault.building.sources import SourceOptions, photographs
from groundfault.building.stages import (
    Agree,
    Count,
    Stage,
    encoded,
    kept_candidates,
    run_stage,
    stage_file,
    unasked,
)
from groundfault.config import convert_settings
from groundfault.editors.loading import EditorOptions
from groundfault.errors import UnknownName, UsageError
from groundfault.io.hashes import KnownHashes, folder_hash
from groundfault.io.photographs import Photograph
from groundfault.io.picture_folder import ENDINGS, names_below
from groundfault.io.store import locked, read_json, write_json
from groundfault.llm.batching import BatchedChatModel
from groundfault.llm.client import ChatClient
from groundfault.records import Benchmark
from groundfault.runner.work import Plan

__all__ = ["Built", "Services", "Watcher", "build", "stage_names"]

MADE = "build.json"
NO_PICTURE = "no usable picture"
OnMissing = Callable[[Photograph, str], None]
"""Told of a photograph that cannot be used, and why."""


def stage_names(benchmark: str) -> tuple[str, ...]:
    """The stages of a build, in order."""
    asks = ("questions",) if benchmark == "reactbench" else ()
    return ("mine", "propose", "edit", "verify", *asks, "review", "release")


class Built(NamedTuple):
    """What a build has come to."""

    folder: Path
    funnel: Funnel
    stopped: str = ""
    """Why it ended before its release; "" if it did not."""
    released: int = 0
    """Cases of the release: edits, of which a photograph may have several."""
    benchmark: Benchmark | None = None
    """The release as it was written; None where there is none."""
    photographs: int = 0
    """Photographs of the release; results count these, as cases that are resampled together."""
    cautions: tuple[str, ...] = ()
    """What to be careful about, of what the recipe asks for."""


class Services(NamedTuple):
    """What stages need that ask somebody else."""

    editor: EditorOptions = EditorOptions()
    chat: ChatClient | BatchedChatModel | None = None
    """The model that proposes."""
    critic: ChatClient | BatchedChatModel | None = None
    """The model that criticises proposals."""
    vlm: ChatClient | BatchedChatModel | None = None
    second_vlm: ChatClient | BatchedChatModel | None = None
    """Models that check edits."""
    agree: Agree = unasked


class Watcher(Protocol):
    """Hears how far a build is."""

    def progress(self, name: str, count: Count) -> None:
        """A stage has come so far."""
        ...


class _Nobody:
    def progress(self, name: str, count: Count) -> None:
        pass


def build(
    recipe: Recipe,
    folder: str | PathLike[str],
    *,
    until: str = "release",
    plan: Plan | None = None,
    retry: bool = False,
    watcher: Watcher | None = None,
    services: Services | None = None,
) -> Built:
    """Do what is left of a build. `until` is the last stage; `retry` asks again for what failed;
    `services` are what stages that ask others need (a chat model, options of the editor)."""
    names = stage_names(recipe.benchmark)
    if until not in names:
        raise UnknownName("stage", until, names)
    _check_makers(recipe, names[: names.index(until) + 1])
    place = Path(folder)
    with locked(place):
        _check_folder(place, recipe)
        pipeline = _Pipeline(recipe, place, plan or Plan(), retry, watcher or _Nobody(), services)
        try:
            return pipeline.run(names[: names.index(until) + 1])
        except OSError as problem:
            if _is_full(problem):
                raise UsageError(f"{place}: {FULL}") from None
            raise


def _check_makers(recipe: Recipe, stages: Collection[str]) -> None:
    """Refuse what the last stages would stumble over before the first ones have asked and paid."""
    _source_options(recipe.source)
    proposer, _, file = recipe.propose.by.partition(":")
    if proposer == "scripted" and not file:
        raise UsageError("scripted: name the file of proposals, as scripted:proposals.jsonl")
    editor, editors = recipe.edit.by.partition(":")[0], registry.names("editors")
    if "edit" in stages and editor not in editors:
        raise UnknownName("editor", editor, editors)
    decisions = recipe.review.decisions
    if "review" in stages and decisions != "none" and not Path(decisions).is_file():
        raise UsageError(f"{decisions}: no such file; give what the desk exported, or none")


def _source_options(source: SourceSettings) -> dict[str, Any]:
    """What a recipe says of its source besides, checked."""
    found = convert_settings(
        source.options, SourceOptions, table="source.options", elsewhere=open_tables
    )
    return {name: getattr(found, name) for name in source.options}


FULL = "the disk is full; make room, and the same command goes on"


def _is_full(problem: OSError) -> bool:
    """Whether there is no room left; a folder's copy tells that of each of its files."""
    if isinstance(problem, shutil.Error):
        return any(os.strerror(errno.ENOSPC) in str(each) for each in problem.args)
    return problem.errno in (errno.ENOSPC, errno.EDQUOT)


def _check_folder(place: Path, recipe: Recipe) -> None:
    """A folder holds one build: of one benchmark, from one source."""
    made = {"benchmark": recipe.benchmark, "source": recipe.source.name}
    path = place / MADE
    if path.is_file():
        there = read_json(path, dict[str, str])
        for name, value in made.items():
            if there.get(name) != value:
                raise UsageError(
                    f"{place}: holds a build with another {name} ({there.get(name)}); give "
                    "another --out"
                )
        return
    others = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    if others:
        raise UsageError(f"{place}: exists and is no build; give a new --out")
    write_json(path, made)


class _Pipeline:
    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        plan: Plan,
        retry: bool,
        watcher: Watcher,
        services: Services | None,
    ) -> None:
        self.recipe, self.folder, self.plan = recipe, folder, plan
        self.retry, self.watcher, self.services = retry, watcher, services or Services()
        self.writer = FunnelWriter(folder, recipe.benchmark)
        self.identities: dict[str, Mapping[str, str]] = {}
        """Of each stage, what its results depend on."""
        self.images = [Path(path) for path in _several(recipe.source.images)]
        self.photographs = 0
        """Of the release."""

    def run(self, names: Sequence[str]) -> Built:
        """Run stages in order; one that could not finish is the last."""
        stopped, released = "", 0
        made: Benchmark | None = None
        for before, name in zip(("", *names), names, strict=False):
            if name == "mine":
                count = self._mine()
            elif name == "release":
                count, made = self._release(before)
                released = count.kept
            else:
                count, stopped = self._stage(name, before)
            self.writer.update(count, done=True)
            if stopped:
                break
        funnel = Funnel(benchmark=self.recipe.benchmark, stages=tuple(self.writer.stages.values()))
        return Built(
            self.folder,
            funnel,
            stopped,
            released,
            benchmark=made,
            photographs=self.photographs,
            cautions=cautions(self.recipe),
        )

    def _stage(self, name: str, before: str) -> tuple[Count, str]:
        stage = self._made(name, before)
        self.identities[name] = stage.identity()

        def progress(count: Count) -> None:
            self.writer.update(count)
            self.watcher.progress(name, count)

        def candidates() -> Iterator[Candidate]:
            return kept_candidates(self.folder, before)

        found = run_stage(stage, self.folder, candidates, retry=self.retry, on_progress=progress)
        if name == "verify":
            write_json(self.folder / SUMMARY, summary(self.folder, self.recipe.verify))
        return found

    def _made(self, name: str, before: str) -> Stage:
        """The stage of a name, with what it needs."""
        recipe, folder = self.recipe, self.folder
        if name == "propose":
            return ProposeStage(
                self._proposer(),
                by=recipe.propose.by,
                unchecked=recipe.propose.unchecked,
                agree=self.services.agree,
            )
        if name == "edit":
            return EditStage(
                folder,
                self.images,
                recipe.edit,
                plan=self.plan,
                donors=self._donors,
                options=self.services.editor,
                agree=self.services.agree,
            )
        if name == "verify":
            return VerifyStage(
                folder,
                recipe.verify,
                vlm=self.services.vlm,
                second_vlm=self.services.second_vlm,
                options=self.services.editor,
                agree=self.services.agree,
            )
        if name == "questions":
            chat = self.services.chat
            teller = None if chat is None else self._asked(recipe.propose.by, chat)
            asking = QuestionStage(
                folder, recipe.questions, teller=teller, agree=self.services.agree
            )
            asking.offer(kept_candidates(folder, before))
            return asking
        stage = ReviewStage(
            folder, recipe.benchmark, recipe.review.decisions, recipe.review.protocol
        )
        stage.offer(kept_candidates(folder, before))
        return stage

    def _proposer(self) -> Proposer:
        settings, chat = self.recipe.propose, self.services.chat
        check_ids(settings.unchecked)
        name, _, argument = settings.by.partition(":")
        found: Proposer
        if name == "rules":
            found = RulesProposer(self._repertoire())
        elif name == "scripted":
            found = ScriptedProposer(argument, settings.unchecked)
        else:
            found = self._asked(settings.by, chat)
        if not settings.critic:
            return found
        return CriticisedProposer(found, self._asked(settings.critic, self.services.critic))

    def _asked(self, spec: str, model: ChatClient | BatchedChatModel | None) -> ChatProposer:
        """A chat model that is shown this build's photographs."""
        settings = self.recipe.propose
        if model is None:
            raise UsageError(f"{spec}: no chat model was given that could propose")
        given = {
            "repairs": settings.repairs,
            "unchecked": settings.unchecked,
            **settings.options,
        }
        shown = convert_settings(
            given, ChatSettings, table="propose.options", elsewhere=open_tables
        )
        return ChatProposer(model, self.images, shown, model=spec, folder=self.folder)

    def _repertoire(self) -> Repertoire:
        """What the editor can do, where that is known."""
        found, editor = Repertoire(), self.recipe.edit.by.partition(":")[0]
        if editor == "procedural":
            found = procedural_repertoire()
        elif editor == "world":
            found = world_repertoire()
        return msgspec.structs.replace(found, unchecked=self.recipe.propose.unchecked)

    # ── mining ──────────────────────────────────────────────────────────────────────────────────

    @property
    def _donors(self) -> Path:
        return self.folder / "stages" / "donors.jsonl"

    def _mine(self) -> Count:
        """Candidates from photographs; done once, unless the source or a setting changed."""
        path = stage_file(self.folder, "mine")
        key = self._mining_key()
        noted = path.with_suffix(".json")
        if path.is_file() and noted.is_file() and self._donors.is_file():
            there = read_json(noted, _Mined)
            if there.key == key:
                return there.count
        mine, settings = self._miner()
        refuse = self.recipe.source.missing == "refuse"

        def progress(count: Count) -> None:
            self.writer.update(count)
            self.watcher.progress("mine", count)

        with mined_into(self.folder, progress) as mined:

            def missing(photograph: Photograph, why: str) -> None:
                name = f"{photograph.source}-{photograph.id}"
                mined.drop(name, Dropped(reason=NO_PICTURE, details=why))

            limit = settings.limit
            spread = None if limit is None else Spread(limit, settings.seed)
            photographs = self._photographs(None if refuse else missing, spread)
            with write_donors(self._donors, photographs) as passing:
                found = mine(passing, settings, mined.drop)
                for candidate in found if spread is None else spread.taken(found, mined.drop):
                    mined.keep(candidate)
            count = mined.count()
        write_json(noted, _Mined(key=key, count=count))
        return count

    def _miner(self) -> tuple[Any, Any]:
        """The function that mines for this benchmark, and its settings."""
        name = self.recipe.benchmark
        module = import_module(f"groundfault.building.mining.{name}")
        given = {"seed": self.recipe.seed, "limit": self.recipe.limit}
        if self.recipe.propose.by == "rules" and name != "reactbench":  # nobody is paid
            given["edits_per_target"] = 2
        given |= self.recipe.mine
        made = convert_settings(given, module.SETTINGS, table="mine", elsewhere=open_tables)
        return module.mine, made

    def _photographs(
        self, on_missing: OnMissing | None, spread: Spread | None
    ) -> Iterator[Photograph]:
        """Every photograph of the source that is wanted; parts of a set may have a folder each."""
        source = self.recipe.source
        if source.name == "folder" and not source.options.get("segmenter"):
            raise UsageError(
                "a plain folder has photographs and no masks; name who finds things in them: "
                '--segmenter sam3, or segmenter = "sam3" in [source.options] of a recipe'
            )
        files, folders = _several(source.annotations), _several(source.images)
        if len(files) == len(folders) and len(files) > 1:
            parts = [([file], folder) for file, folder in zip(files, folders, strict=True)]
        elif len(folders) > 1:
            raise UsageError(
                f"{len(files)} files of annotations and {len(folders)} folders of pictures: give "
                "one folder, or one for each file"
            )
        else:
            parts = [(files, folders[0] if folders else "")]
        for part, folder in parts:
            yield from photographs(
                source.name,
                annotations=part,
                images=folder or None,
                on_missing=on_missing,
                spread=spread,
                **_source_options(source),
            )

    def _mining_key(self) -> str:
        """What candidates depend on: the content of annotations and of exclusions, and every
        setting, also those that the recipe leaves as they are by default."""
        recipe, mining = self.recipe, self._miner()[1]
        source, excluded = recipe.source, mining.exclusions
        seen = [*excluded.files.values(), *excluded.pictures.values(), excluded.images]
        pictures: tuple[str, ...] = ENDINGS  # beside annotations they are not looked at
        if source.name == "folder":
            seen, pictures = [*seen, *_several(source.images)], ()
        digest = hashlib.sha256()
        with KnownHashes() as known:
            for path in _several(source.annotations):
                digest.update(_content(path, known, pictures).encode())
            for path in seen:
                digest.update(_content(path, known).encode())
        if source.missing == "drop":
            digest.update(encoded(sorted(map(_sizes, _several(source.images)))).encode())
        plain = msgspec.structs.replace(source, annotations=(), images=())
        settings = (recipe.benchmark, plain, mining, MINING)
        digest.update(msgspec.json.encode(settings, order="sorted"))
        return digest.hexdigest()

    # ── release ─────────────────────────────────────────────────────────────────────────────────

    def _release(self, before: str) -> tuple[Count, Benchmark | None]:
        candidates = list(kept_candidates(self.folder, before))
        count = Count.of("release", len(candidates), len(candidates), {})
        if not candidates:
            return count, None
        self.photographs = len({(c.photograph.source, c.photograph.id) for c in candidates})
        made = release(
            candidates,
            self.folder,
            self.recipe.benchmark,
            self.recipe.release,
            about=self._about(len(candidates)),
            source=f"photographs of {self.recipe.source.name}, edited by "
            f"{without_folders(self.recipe.edit.by)}, proposed by "
            f"{without_folders(self.recipe.propose.by)}, seed {self.recipe.seed}; "
            "built by groundfault",
            twins=self._twins(candidates),
            made_by=self._made_by(),
        )
        write_sheet(self.folder / SHEET, candidates, self.folder)
        if self.recipe.benchmark == "cafe":
            write_mosaic(self.folder / MOSAIC, candidates, self.folder)
        return count, made

    def _made_by(self) -> dict[str, Any]:
        """Every setting, also those that the recipe leaves as they are, and what each stage's
        results depend on: models, versions, the hash of prompts. Of files, the names alone."""
        source = self.recipe.source
        files = {name: _names(getattr(source, name)) for name in ("annotations", "images")}
        review = msgspec.structs.replace(
            self.recipe.review, decisions=Path(self.recipe.review.decisions).name
        )
        recipe = msgspec.structs.replace(
            self.recipe, source=msgspec.structs.replace(source, **files), review=review
        )
        told = msgspec.to_builtins(recipe) | {"mine": msgspec.to_builtins(self._miner()[1])}
        made: dict[str, Any] = _shared(
            {"recipe": told, "stages": self.identities}, self._own_files()
        )
        return made

    def _own_files(self) -> list[str]:
        """Files and folders of this machine that the recipe names."""
        recipe = self.recipe
        specs = (recipe.edit.by, recipe.propose.by)
        own = [spec.partition(":")[2] for spec in specs if without_folders(spec) != spec]
        settings = self._miner()[1]
        excluded = settings.exclusions
        named = [*excluded.files.values(), *excluded.pictures.values(), excluded.images]
        named += [getattr(settings, "tables", ""), recipe.review.protocol]
        named += [value for value in recipe.edit.options.values() if isinstance(value, str)]
        own += [path for path in named if os.sep in path and Path(path).exists()]
        return sorted(own, key=len, reverse=True)  # a folder after what is in it

    def _twins(self, candidates: Sequence[Candidate]) -> dict[str, Candidate]:
        """Candidates that are in a release as the twins of others."""
        wanted = twin_candidates(candidates)
        if not wanted:
            return {}
        passed = kept_candidates(self.folder, "verify")
        return {candidate.id: candidate for candidate in passed if candidate.id in wanted}

    def _about(self, count: int) -> str:
        reviewed = self.recipe.review.decisions != "none"
        apart = self.recipe.benchmark == "reactbench" or count == self.photographs
        together = (
            f" {count:,} edits of {self.photographs:,} photographs: tables count those of one "
            "photograph as one case."
        )
        return (
            "Photographs that were edited on purpose"
            + (" and reviewed by people. " if reviewed else "; nobody has reviewed them. ")
            + "Numbers on them do not compare with those on the published set."
            + ("" if apart else together)
        )


MINING = 4
"""The version of what mining does under the same settings; another one makes earlier candidates
stale."""


class _Mined(msgspec.Struct, frozen=True):
    key: str
    count: Count


def _shared(value: Any, own: Collection[str]) -> Any:
    """A value in which files of one's own go by their names, without the folders of this
    machine."""
    if isinstance(value, Mapping):
        return {name: _shared(each, own) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shared(each, own) for each in value]
    if not isinstance(value, str):
        return value
    for path in own:
        value = value.replace(path, Path(path).name)
    return value


def _names(paths: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(Path(path).name for path in _several(paths))


def _content(path: str, known: KnownHashes, without: Collection[str] = ()) -> str:
    """The hash of a file, or of what is in a folder; "" where there is neither."""
    if Path(path).is_file():
        return known.sha256(path)
    return folder_hash(path, known, without=without) if path and Path(path).is_dir() else ""


def _sizes(folder: str) -> list[tuple[str, int]]:
    """The pictures of a folder, and how large their files are."""
    root = Path(folder)
    return [(name, (root / name).stat().st_size) for name in names_below(root)]


def _several(paths: str | Sequence[str]) -> list[str]:
    return [paths] if isinstance(paths, str) else list(paths)
