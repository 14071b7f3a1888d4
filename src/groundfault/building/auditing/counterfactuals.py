"""Counterfactuals of one's own photographs: a thing that a segmenter marked gets another surface,
is recast in another material, or stands in another place; and once nothing is changed at all.

Nobody has checked the marked regions: an audit says whose they are. Which photographs, which thing
and which values are taken depends on the photographs and the marks alone. What was made or refused
is not tried again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from groundfault.benchmarks.audit import IMAGES, AuditEdit, AuditPicture
from groundfault.building.auditing.changes import png
from groundfault.building.proposals.tables import SURFACES, usual
from groundfault.editors.procedural import repertoire
from groundfault.errors import RAISED, UnknownName, described
from groundfault.interfaces import DirectEditor, Edited, EditRequest
from groundfault.io.masks import decode
from groundfault.io.phrases import Phrases
from groundfault.io.pictures import read_image
from groundfault.io.store import is_there, read_json, write_bytes, write_json
from groundfault.records import Outcome, Prediction, Rle

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["EDITS", "Counterfactuals", "Mark", "check_edits", "edit_marked", "marks_of"]

EDITS: Mapping[str, tuple[str, ...]] = {
    "surface": repertoire.SURFACES,
    "material": repertoire.MATERIALS,
    "context": repertoire.PLACES,
}
"""Kind of edit → the values that it may have."""
NO_CHANGE = "none"
EDITOR = "procedural"
SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.5
"""Of the picture: other regions are not edited."""
REFUSED = "refused.json"
TRIES = 2
"""Values that are tried before an edit is given up."""
MOST_TRIED = 5
"""Times as many photographs as are wanted."""
Progress = Callable[[int, int], None]


class Mark(NamedTuple):
    """A region that a segmenter marked."""

    phrase: str
    region: Rle
    score: float


class Counterfactuals(NamedTuple):
    """What was made of photographs, by their files, and what is to be said about it."""

    made: dict[str, list[AuditPicture]]
    notes: tuple[str, ...]


def check_edits(names: Sequence[str]) -> tuple[str, ...]:
    """The names of kinds of edits, each once; unknown ones are refused."""
    for name in names:
        if name not in EDITS:
            raise UnknownName("kind of edit", name, EDITS)
    return tuple(dict.fromkeys(names))


def marks_of(
    photographs: Sequence[AuditPicture],
    phrases: Phrases,
    predictions: Iterable[Prediction],
    t: float,
) -> dict[str, Mark]:
    """File → what may be edited in it: the surest mask of a phrase that is not absent, preferring
    phrases that exclude others."""
    asked = {
        picture.item_id(phrase): (picture, phrase)
        for picture in photographs
        for phrase in phrases.asked()
        if phrase not in phrases.absent
    }
    excluding = {phrase for group in phrases.exclusive for phrase in group}
    best: dict[str, tuple[tuple[bool, float, str], Mark]] = {}
    for prediction in predictions:
        known = asked.get(prediction.item_id)
        if known is None or prediction.outcome is not Outcome.OK:
            continue
        picture, phrase = known
        for score, region in zip(prediction.scores, prediction.masks, strict=False):
            rank = (phrase in excluding, score, phrase)
            if score < t or (picture.file in best and best[picture.file][0] >= rank):
                continue
            if SMALLEST_SHARE <= decode(region).mean() <= LARGEST_SHARE:
                best[picture.file] = rank, Mark(phrase, region, score)
    return {file: mark for file, (_, mark) in best.items()}


def edit_marked(
    photographs: Sequence[AuditPicture],
    marks: Mapping[str, Mark],
    phrases: Phrases,
    place: Path,
    *,
    n: int,
    kinds: Sequence[str],
    masked_by: str,
    progress: Progress,
) -> Counterfactuals:
    """Edit what is marked in each of these ways and in none at all, until n photographs have an
    edit; after so many failures nobody tries on."""
    marked = sorted(
        (each for each in photographs if each.file in marks), key=lambda each: each.file
    )[: n * MOST_TRIED]
    editing = _Editing(place, phrases, masked_by)
    made: dict[str, list[AuditPicture]] = {}
    for picture in marked:
        found = list(editing.all_of(picture, marks[picture.file], kinds))
        if len(found) > 1:  # more than the one that nothing was done to
            made[picture.file] = found
        progress(len(made), min(n, len(marked)))
        if len(made) == n:
            break
    editing.keep()
    return Counterfactuals(made, tuple(editing.notes(len(photographs), len(marks), len(made))))


class _Editing:
    """The editor at work on marked photographs."""

    def __init__(self, place: Path, phrases: Phrases, masked_by: str) -> None:
        self.images, self.place = place / IMAGES, place
        self.phrases, self.masked_by = phrases, masked_by
        stored = place / REFUSED
        self.refused: dict[str, str] = read_json(stored, dict[str, str]) if is_there(stored) else {}
        self.reasons: Counter[str] = Counter()
        self.n_made: Counter[str] = Counter()
        self._editor: DirectEditor | None = None

    def all_of(
        self, picture: AuditPicture, mark: Mark, kinds: Sequence[str]
    ) -> Iterator[AuditPicture]:
        """Every edit of one photograph that could be made."""
        try:
            pixels = read_image(self.images / picture.file)
        except Exception:  # asking about it says what is wrong
            return
        unchanged = self._one(picture, pixels, mark, NO_CHANGE, "")
        if isinstance(unchanged, AuditPicture):
            yield unchanged
        for kind in kinds:
            reason = ""
            for value in _values(kind, mark, self.phrases, picture.file)[:TRIES]:
                found = self._one(picture, pixels, mark, kind, value)
                if isinstance(found, AuditPicture):
                    self.n_made[kind] += 1
                    yield found
                    break
                reason = found
            else:
                self.reasons[f"{kind}: {reason or 'nothing suits it'}"] += 1

    def _one(
        self, picture: AuditPicture, pixels: Image, mark: Mark, kind: str, value: str
    ) -> AuditPicture | str:
        """An edited picture, made now or before, or why there is none."""
        edit = AuditEdit(
            kind=kind,
            value=value,
            phrase=mark.phrase,
            region=mark.region,
            masked_by=self.masked_by,
            editor=EDITOR,
        )
        name = f"{Path(picture.file).stem}-{_digest(edit)}.png"
        if name in self.refused:
            return self.refused[name]
        if not (self.images / name).is_file():
            found = self._perform(pixels, mark, kind, value)
            if isinstance(found, str):
                self.refused[name] = found
                return found
            write_bytes(self.images / name, png(found))
        return AuditPicture(
            file=name,
            photograph=picture.photograph,
            height_px=picture.height_px,
            width_px=picture.width_px,
            edit=edit,
        )

    def _perform(self, pixels: Image, mark: Mark, kind: str, value: str) -> Any:
        known = usual(mark.phrase)
        request = EditRequest(
            instruction=f"{kind} {value}".strip(),
            kind=kind,
            value=value,
            category=known.name if known is not None else mark.phrase,
        )
        try:
            found = self.editor.perform(pixels, decode(mark.region), request)
        except RAISED as problem:
            return described(problem)
        return found.image if isinstance(found, Edited) else found.reason

    @property
    def editor(self) -> DirectEditor:
        """The procedural editor, loaded when it is needed."""
        if self._editor is None:
            from groundfault.editors.procedural.editor import ProceduralEditor

            self._editor = ProceduralEditor()
        return self._editor

    def keep(self) -> None:
        """Note what was refused."""
        if self.refused:
            write_json(self.place / REFUSED, self.refused)

    def notes(self, n: int, n_marked: int, n_chosen: int) -> Iterator[str]:
        """What was made, of what, and what was not."""
        made = ", ".join(f"{kind} ({n:,})" for kind, n in self.n_made.items()) or "none"
        yield (
            f"Counterfactuals of {n_chosen:,} of {n:,} photographs, things marked by "
            f"{self.masked_by} in {n_marked:,}: {made}."
        )
        if self.reasons:
            told = ", ".join(f"{reason} ({n:,})" for reason, n in self.reasons.most_common(8))
            yield f"{sum(self.reasons.values()):,} edits could not be made: {told}."


def _digest(edit: AuditEdit) -> str:
    """What an edited picture is known by: what was done to which region, by whom."""
    content = msgspec.json.encode([edit.kind, edit.value, edit.phrase, edit.region, edit.editor])
    return f"{edit.kind}-{hashlib.sha256(content).hexdigest()[:12]}"


def _values(kind: str, mark: Mark, phrases: Phrases, file: str) -> list[str]:
    """What an edit may turn a thing into, what may mislead most first: a surface that is typical of
    what cannot be there."""
    values = [value for value in EDITS[kind] if not _is_its_own(kind, value, mark.phrase)]
    start = int(hashlib.sha256(f"{kind} {file}".encode()).hexdigest(), 16) % max(len(values), 1)
    drawn = values[start:] + values[:start]
    never = {*phrases.absent}
    never.update(other for group in phrases.exclusive if mark.phrase in group for other in group)
    lures = [
        value for value in drawn if kind == "surface" and SURFACES.get(value) is not None
        and SURFACES[value].typical_of in never
    ]  # fmt: skip
    return [*lures, *(value for value in drawn if value not in lures)]


def _is_its_own(kind: str, value: str, phrase: str) -> bool:
    """Whether a surface is what the thing wears anyway, or would make it another thing."""
    surface = SURFACES.get(value) if kind == "surface" else None
    if surface is None:
        return False
    known = usual(phrase)
    names = {phrase, known.name if known else phrase}
    return bool(names & {value, surface.typical_of, *surface.unlike})
