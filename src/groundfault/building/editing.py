"""The stage that edits: an editor is asked for each candidate, and what must not change is held.

Where an editor knows what it touched, nothing else is taken from its reply; where it does not (a
service that draws the whole picture again), its reply is brought back to the photograph's frame,
and outside the region that may change every pixel is the photograph's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from groundfault import registry
from groundfault.building.distances import grown, shrunk
from groundfault.building.framing import Framed, changed_region, edit_in_frame, new_thing
from groundfault.building.pictures import (
    find_photograph,
    keep_image,
    keep_original,
    read_photograph,
)
from groundfault.building.proposals.layout import region_of
from groundfault.building.proposals.tables import plain_category
from groundfault.building.provenance import without_folders
from groundfault.building.records import Candidate, Dropped, EditedPicture
from groundfault.building.stages import FAILED, Agree, Keep, Record, encoded, unasked
from groundfault.editors.loading import EditorOptions, editor_identity, load_editor
from groundfault.editors.services import ServiceEditor
from groundfault.errors import RAISED, DataError, GroundfaultError, described
from groundfault.interfaces import (
    DirectEditor,
    Edited,
    Editor,
    EditRequest,
    Neighbour,
    NotEdited,
)
from groundfault.io.foreign import sha256
from groundfault.io.hashes import KnownHashes
from groundfault.io.interrupts import requested, stop_if_requested
from groundfault.io.masks import decode, encode
from groundfault.runner.pool import Loaded, WorkerPool, start_workers
from groundfault.runner.work import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    BinaryMask = NDArray[np.bool_]

__all__ = ["EditJob", "EditSettings", "EditStage", "touchable"]

VERSION = "8"
"""Of what this stage does with an editor's reply; another one makes old results stale."""
TARGET = ("surface", "material", "recolour")
"""Kinds of edit that change the target and nothing else."""
OF_THE_VALUE = (
    "no donor",
    "looks like the place",
    "already so",
    "no colours",
    "doubtful",
)
"""Reasons that another value of the same kind of edit may not meet with."""
NEW_THING = ("replace", "add", "move")
ANYWHERE = ("add", "move")
"""Kinds of edit whose place only the instruction says."""
NO_MASK = "no mask"
BOX_ALONE = (
    "its annotations have a box alone; an editor that is asked in words may change what is in it"
)
"""Said where an editor works along a target's edge."""


class EditSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How pictures are edited."""

    by: str = "procedural"
    """The editor: NAME or NAME:argument."""
    dose: float = 1.0
    """How strongly, from 0 (not at all) to 1, for editors that know doses."""
    edge_px: int = 6
    """How far beyond the target's edge a changed surface may show, and how far inside it a changed
    background may: masks are not exact to the pixel."""
    reach: float = 0.25
    """How far around the target an erased or replaced thing may take its shadow along, as a share
    of the target's longer side, and as far around what replaced it, where its editor says where it
    put that; at least `edge_px`."""
    masker: str = ""
    """The segmenter that finds a new thing in the reply of an editor that does not say where it
    put it, as HalluSegBench has it; "" takes what changed."""
    keep_raw: bool = True
    """Keep what the editor gave, before anything was pasted back."""
    options: dict[str, Any] = {}
    """What the editor itself takes."""


class EditStage:
    """Asks an editor about every candidate: in this process, in several, on Ray, or by many
    requests at once."""

    name = "edit"

    def __init__(
        self,
        folder: Path,
        images: Sequence[Path],
        settings: EditSettings,
        *,
        plan: Plan | None = None,
        donors: Path | None = None,
        options: EditorOptions | None = None,
        agree: Agree = unasked,
    ) -> None:
        self.plan, self.agree = plan or Plan(), agree
        folders = tuple(path.resolve() for path in images)
        given = msgspec.structs.replace(
            options or EditorOptions(),
            settings=settings.options,
            donors="" if donors is None else str(donors.resolve()),
            images=tuple(map(str, folders)),
        )
        self.job = EditJob(folder.resolve(), folders, settings, given)
        self._donors = "" if donors is None or not donors.is_file() else sha256(donors)
        self._hashes: dict[str, str] = {}

    def identity(self) -> Mapping[str, str]:
        """The editor with its version and settings."""
        job = self.job
        known = editor_identity(job.settings.by, job.options)
        settings = encoded(msgspec.structs.replace(job.settings, keep_raw=True))
        return {"version": VERSION, "settings": settings, "donors": self._donors, **known}

    def depends(self, candidate: Candidate) -> str:
        """The photograph's own content, which is read once for all that is asked about it."""
        name = candidate.photograph.file
        if name not in self._hashes:
            try:
                path = find_photograph(candidate.photograph, self.job.images)
            except GroundfaultError:
                return ""
            with KnownHashes() as known:
                self._hashes[name] = known.sha256(path)
        return self._hashes[name]

    def run(self, candidates: Iterable[Candidate], keep: Keep) -> str:
        """Edit everything that is left."""
        first = next(iter(candidates := iter(candidates)), None)
        if first is None:
            return ""  # no editor has to be loaded
        pending = itertools.chain([first], candidates)
        if self.plan.engine == "local" and self.plan.workers <= 1:
            return self._here(pending, keep)
        waiting: dict[str, Candidate] = {}

        def work(_: Loaded) -> Iterator[tuple[Candidate, ...]]:
            for candidate in pending:
                waiting[candidate.id] = candidate
                yield (candidate,)

        workers = start_workers(self.plan, self.job, most=max(1, self.plan.workers or 64))
        try:
            pool: WorkerPool[Candidate, Record] = WorkerPool(self.job, workers, work)
            for _, records in pool.results(lambda _: None):
                for record in records:
                    keep(waiting.pop(record.id), _result(record))
                stop_if_requested()
            return pool.stopped
        finally:
            workers.close()

    def _here(self, candidates: Iterator[Candidate], keep: Keep) -> str:
        doer, _ = self.job.set_up()
        try:
            candidates = self._agreed(candidates, doer)
            many = doer.at_once
            if many <= 1:
                for candidate in candidates:
                    self._keep(candidate, doer.one(candidate), keep)
                    stop_if_requested()
                    if doer.stopped:
                        break
            else:
                self._many(candidates, doer, many, keep)
            return doer.stopped
        finally:
            doer.close()

    def _agreed(self, candidates: Iterator[Candidate], doer: _Doer) -> Iterator[Candidate]:
        """Show whoever pays what is left to edit, where an editor costs something."""
        if not isinstance(doer.editor, ServiceEditor):
            return candidates
        pending = list(candidates)
        self.agree(f"{self.job.settings.by} is to edit", doer.editor.estimate(len(pending)))
        return iter(pending)

    def _many(self, candidates: Iterator[Candidate], doer: Any, many: int, keep: Keep) -> None:
        """By requests to a service, several under way."""
        with ThreadPoolExecutor(many, "edit") as threads:
            under_way: dict[Future[Record], Candidate] = {}
            exhausted = False
            while under_way or not exhausted:
                while not exhausted and len(under_way) < many:
                    candidate = None if doer.stopped or requested() else next(candidates, None)
                    exhausted = candidate is None
                    if candidate is not None:
                        under_way[threads.submit(doer.one, candidate)] = candidate
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    self._keep(under_way.pop(future), future.result(), keep)
        stop_if_requested()

    def _keep(self, candidate: Candidate, record: Record, keep: Keep) -> None:
        if record.reason != NOT_ASKED:
            keep(candidate, _result(record))


NOT_ASKED = "not asked"
"""The reason of what waits for the next session: a budget has ended, or a server is down."""


def _result(record: Record) -> Candidate | Dropped:
    if record.candidate is not None:
        return record.candidate
    return Dropped(reason=record.reason, details=record.details)


class EditJob(NamedTuple):
    """What a worker needs to edit."""

    folder: Path
    images: tuple[Path, ...]
    settings: EditSettings
    options: EditorOptions
    task: type[Candidate] = Candidate
    result: type[Record] = Record

    def set_up(self) -> tuple[_Doer, Loaded]:
        """Load the editor."""
        return _Doer(self, load_editor(self.settings.by, self.options)), Loaded()

    def died(self, task: Candidate) -> list[Record]:
        """It has failed."""
        details = "the worker process ended while it was on this picture, twice"
        return [Record(id=task.id, reason=FAILED, details=details)]


class _Doer:
    """An editor at work."""

    def __init__(self, job: EditJob, editor: Editor) -> None:
        self.job, self.editor = job, editor
        self.at_once: int = getattr(editor, "requests_at_once", 1)
        self._masker: Any = None
        self._kept_last = "", ""
        """The photograph of the last candidate, and what it is called in the build."""

    @property
    def stopped(self) -> str:
        return str(getattr(self.editor, "stopped_because", ""))

    def prepare(self, batch: Any) -> Any:
        return batch

    def predict(self, prepared: Sequence[Candidate]) -> list[Record]:
        return [self.one(candidate) for candidate in prepared]

    def close(self) -> None:
        if hasattr(self.editor, "close"):
            self.editor.close()

    def one(self, candidate: Candidate) -> Record:
        """What becomes of a candidate; whatever an editor raises is a failure of this one."""
        try:
            found = self._edit(candidate)
        except DataError as problem:
            return Record(id=candidate.id, reason="photograph unreadable", details=str(problem))
        except GroundfaultError:
            raise
        except RAISED as problem:
            return Record(id=candidate.id, reason=FAILED, details=described(problem))
        if isinstance(found, NotEdited):
            if found.outcome == "failed" and self.stopped:
                return Record(id=candidate.id, reason=NOT_ASKED)
            reason = FAILED if found.outcome == "failed" else f"refused: {found.reason}"
            return Record(id=candidate.id, reason=reason, details=found.details or found.reason)
        return Record(id=candidate.id, candidate=found)

    def _edit(self, candidate: Candidate) -> Candidate | NotEdited:
        """Try what is proposed; where the editor has nothing to do it with, or refuses this kind of
        edit, what else might be done."""
        assert candidate.proposal is not None
        image = read_photograph(candidate.photograph, self.job.images)
        first, *others = candidate.proposal, *candidate.proposal.alternatives
        refused = dict[str, NotEdited]()
        for proposal in (first, *others):
            earlier = refused.get(proposal.kind)
            if earlier is not None and earlier.reason not in OF_THE_VALUE:
                continue  # another value of the same kind is refused for the same reason
            alone = msgspec.structs.replace(proposal, alternatives=())
            found = self._try(msgspec.structs.replace(candidate, proposal=alone), image)
            if not isinstance(found, NotEdited) or found.outcome == "failed":
                return found
            refused[proposal.kind] = found
        return refused[first.kind]

    def _try(self, candidate: Candidate, image: Image) -> Candidate | NotEdited:
        job, proposal = self.job, candidate.proposal
        assert proposal is not None
        if proposal.kind == "none":  # it is asked about as it is
            kept = self._original(candidate, image)
            same = EditedPicture(before=kept, after=kept, editor="none")
            return msgspec.structs.replace(candidate, edited=same)
        if candidate.target.mask is None and isinstance(self.editor, DirectEditor):
            return NotEdited(outcome="refused", reason=NO_MASK, details=BOX_ALONE)
        photograph = candidate.photograph
        region = region_of(candidate.target, (photograph.height_px, photograph.width_px))
        request = EditRequest(
            instruction=proposal.instruction,
            kind=proposal.kind,
            value=proposal.value,
            category=plain_category(candidate.target.category),
            seed=candidate.seed,
            dose=job.settings.dose,
            others=_others(candidate) if isinstance(self.editor, DirectEditor) else (),
        )
        if not isinstance(self.editor, DirectEditor):
            return self._by_words(candidate, image, region, request)
        found = self.editor.perform(image, region, request)
        if isinstance(found, NotEdited):
            return found
        if found.target is not None:
            candidate, region = _corrected(candidate, found), np.asarray(found.target, bool)
        held = _hold(image, region, request.kind, found, job.settings)
        return self._kept(candidate, image, held)

    def _by_words(
        self, candidate: Candidate, image: Image, region: BinaryMask, request: EditRequest
    ) -> Candidate | NotEdited:
        """By an editor that takes a picture and words; where the new thing is has to be found."""
        may = touchable(region, request.kind, self.job.settings)
        if request.kind in ANYWHERE:
            may = np.ones_like(region)
        framed = edit_in_frame(self.editor, image, may, request.instruction)
        if isinstance(framed, NotEdited):
            return framed
        mask, details = None, framed.details
        if request.kind in NEW_THING:
            found = self._found(candidate, image, framed.image, may)
            if isinstance(found, NotEdited):
                return found
            mask, told = found
            details = {**details, **told}
        held = Edited(image=framed.image, mask=mask, touched=may, details=details)
        return self._kept(candidate, image, held, framed)

    def _found(
        self, candidate: Candidate, before: Image, after: Image, may: BinaryMask
    ) -> tuple[BinaryMask, dict[str, str]] | NotEdited:
        """Where the new thing is, as a segmenter finds it or, without one, where the picture
        changed; with how it was found, and all that the segmenter gave."""
        masker, proposal = self.job.settings.masker, candidate.proposal
        if not masker:
            changed = changed_region(before, after, may)
            if changed is None:
                return NotEdited(outcome="refused", reason="the new thing is not found")
            return changed, {"mask_by": "difference"}
        assert proposal is not None
        if self._masker is None:
            self._masker = registry.load_model(masker, self.job.options)
        [answer] = self._masker.segment(after, [proposal.negative])
        chosen = new_thing(answer, None if proposal.kind in ANYWHERE else may)
        if isinstance(chosen, NotEdited):
            return chosen
        given = [{"score": s, "mask": m} for s, m in zip(answer.scores, answer.masks, strict=True)]
        return chosen, {"mask_by": masker, "masks_given": encoded(given)}

    def _kept(
        self, candidate: Candidate, image: Image, held: Edited, framed: Framed | None = None
    ) -> Candidate:
        folder, settings = self.job.folder, self.job.settings
        raw = ""
        if framed is not None and settings.keep_raw:
            raw = keep_image(folder, f"{candidate.id}-raw", framed.raw)
        edited = EditedPicture(
            before=self._original(candidate, image),
            after=keep_image(folder, f"{candidate.id}-edited", held.image),
            raw=raw,
            mask=None if held.mask is None else encode(held.mask),
            touched=encode(np.asarray(held.touched)),
            editor=without_folders(settings.by),
            details=held.details,
            matrix=() if framed is None else framed.matrix,
        )
        return msgspec.structs.replace(candidate, edited=edited)

    def _original(self, candidate: Candidate, image: Image) -> str:
        """Where the photograph is kept: once for candidates of it that follow each other."""
        photograph = candidate.photograph
        file, kept = self._kept_last  # several threads may be here
        if file != photograph.file:
            path = find_photograph(photograph, self.job.images)
            kept = keep_original(self.job.folder, photograph, path, image)
            self._kept_last = photograph.file, kept
        return kept


def _corrected(candidate: Candidate, found: Edited) -> Candidate:
    """A candidate whose target's mask is what its editor made of it; who did that is told."""
    mask, by = encode(np.asarray(found.target, bool)), found.details.get("target_by", "its editor")
    target = msgspec.structs.replace(candidate.target, mask=mask, masked_by=by)
    return msgspec.structs.replace(candidate, target=target)


def _others(candidate: Candidate) -> tuple[Neighbour, ...]:
    """What else is annotated in a candidate's photograph."""
    return tuple(
        Neighbour(
            category=plain_category(thing.category), mask=np.asarray(decode(thing.mask), bool)
        )
        for thing in candidate.photograph.things
        if thing.mask is not None and thing.id != candidate.target.id
    )


def touchable(
    region: BinaryMask, kind: str, settings: EditSettings, new: BinaryMask | None = None
) -> BinaryMask:
    """The pixels that an edit of this kind may change; `new` is where its editor put a new thing.
    Editors that say what they touched are held to that besides; what is added or moved may be
    anywhere."""
    if kind in TARGET:
        return grown(region, settings.edge_px)
    if kind == "context":
        return ~shrunk(region, settings.edge_px)
    if kind == "none":
        return np.zeros_like(region)
    rows, columns = np.nonzero(region)
    longer = max(np.ptp(rows), np.ptp(columns)) + 1 if len(rows) else 0
    around = region if new is None else region | new
    return grown(around, max(settings.edge_px, round(settings.reach * float(longer))))


def _hold(
    image: Image, region: BinaryMask, kind: str, found: Edited, settings: EditSettings
) -> Edited:
    """Take from an edit only what it may change."""
    may = touchable(region, kind, settings, found.mask)
    if found.touched is not None and kind not in ("add", "move"):
        may &= found.touched
    elif found.touched is not None:
        may = found.touched
    kept = np.where(may[..., None], found.image, image)
    return Edited(image=kept, mask=found.mask, touched=may, details=found.details)
