"""Phrases whose relations are known, asked about photographs of which nothing is known.

Entries of the case table are comparisons (`matching/judgements`): two phrases about one picture, or
one phrase about a photograph and what was made of it. A case, which is resampled, is a photograph
with all of that. Accepted means score ≥ t; two masks are on one region if their IoU is ≥ τ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.benchmarks.audit import audit_set
from groundfault.config import check_threshold
from groundfault.matching.intake import FAILED, OUTCOME_NAMES, UNPARSED, failure_notes
from groundfault.matching.judgements import EDITED, Judgements, compare_answers
from groundfault.metrics import columns_of, consistency
from groundfault.protocols.protocol import Protocol
from groundfault.protocols.scored import Scored, clusters
from groundfault.records import Benchmark, Prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groundfault.protocols.scored import Floats

    Bools = NDArray[np.bool_]

__all__ = ["PROTOCOL", "score"]

WRONG: Mapping[str, str] = {
    "exclusive": "contradiction",
    "absent": "absent accepted",
    "same": "wordings differ",
    "part_of": "outside its whole",
    "kind_of": "outside its kind",
    "change": "unstable",
    "kept": "lost by an edit",
    "turned": "turned by an edit",
}
"""Kind of comparison → what it is when it goes wrong."""
POOR_OVERLAP = 0.5
"""Wordings, parts and changed pictures whose masks overlap by less are shown as going wrong."""
IN_WORDS: Mapping[str, str] = {
    "exclusive": "pairs of exclusive phrases",
    "absent": "absent phrases",
    "same": "pairs of wordings",
    "part_of": "parts",
    "kind_of": "kinds",
    "change": "phrases about changed pictures",
    "kept": "edited things",
    "turned": "phrases that an edit must not make true",
}


def score(benchmark: Benchmark, found: Judgements, *, t: float = 0.5, tau: float = 0.5) -> Scored:
    """Score what was compared at one operating point."""
    compared = _compared(found, t)
    verdicts = consistency.judge(compared, tau)
    imputed: tuple[Floats, ...] = ()
    if compared.failed.any():
        imputed = tuple(
            consistency.contributions(consistency.impute(verdicts, compared.failed, right=right))
            for right in (True, False)
        )
    outcomes = {name: int((found.outcome == code).sum()) for code, name in OUTCOME_NAMES.items()}
    return Scored(
        benchmark=benchmark.card.name,
        protocol=PROTOCOL.name,
        settings={"t": t, "tau": tau},
        columns=lambda: _table(benchmark, found, compared, verdicts),
        contributions=consistency.contributions(verdicts),
        contribution_names=columns_of(consistency.FAMILY),
        case=clusters(benchmark.cases)[_cases(found)],
        rows=_rows(found),
        outcomes=outcomes,
        imputed=imputed,
        notes=(
            *benchmark.notes,
            *found.notes,
            *_unjudged(verdicts),
            *failure_notes(outcomes, found.n_silent, "phrases about pictures"),
        ),
    )


def _compared(found: Judgements, t: float) -> consistency.Compared:
    listed, n = found.judgements, len(found.judgements)
    first = np.fromiter((each.first for each in listed), np.int64, n)
    second = np.fromiter((each.second for each in listed), np.int64, n)
    failed, unread = found.outcome == FAILED, found.outcome == UNPARSED
    accepted = found.highest >= t
    return consistency.Compared(
        kind=np.array([each.kind for each in listed], dtype="<U9"),
        accepted=accepted[first],
        accepted_second=accepted[second],
        unread=unread[first],
        unread_second=unread[second],
        failed=failed[first] | failed[second],
        sided=np.fromiter((each.sided for each in listed), bool, n),
        overlap=found.overlap.at(t),
        after=found.after.at(t),
    )


def _cases(found: Judgements) -> NDArray[np.int64]:
    return np.fromiter((each.case for each in found.judgements), np.int64, len(found.judgements))


def _rows(found: Judgements) -> dict[str, Bools]:
    """All comparisons, those of each change and each kind of edit, and those of each relation.
    Relations in edited pictures count in the row of the edit only."""
    listed, n = found.judgements, len(found.judgements)
    about_edit = np.fromiter((each.kind in ("kept", "turned") for each in listed), bool, n)
    edited = np.fromiter((bool(each.edit) for each in listed), bool, n)
    rows: dict[str, Bools] = {"Overall": ~edited | about_edit}
    names = np.array([each.name for each in listed], dtype=object)
    edits = np.array([each.edit for each in listed], dtype=object)
    kinds = np.array([each.kind for each in listed], dtype=object)
    for change in dict.fromkeys(names[kinds == "change"].tolist()):
        rows[change] = (names == change) & (kinds == "change")
    rows |= {kind: edits == kind for kind in EDITED if (edits == kind).any()}
    related = ~edited & (kinds != "change")
    for name in dict.fromkeys(names[related].tolist()):
        rows.setdefault(name, related & (names == name))
    return rows


def _unjudged(verdicts: consistency.Verdicts) -> Iterator[str]:
    """What could not be judged, and why."""
    for kind, words in IN_WORDS.items():
        here = verdicts.kind == kind
        why = Counter(verdicts.why_not[here & (verdicts.why_not != "")].tolist())
        if why:
            reasons = ", ".join(f"{reason} ({n:,})" for reason, n in why.most_common())
            total = int(here.sum())
            yield f"{sum(why.values()):,} of {total:,} {words} could not be judged: {reasons}."


def _table(
    benchmark: Benchmark,
    found: Judgements,
    compared: consistency.Compared,
    verdicts: consistency.Verdicts,
) -> dict[str, Any]:
    """What cases.parquet says about each comparison."""
    listed, items = found.judgements, benchmark.items
    cases = benchmark.cases
    pictures = {picture.file: picture for picture in audit_set(benchmark.settings).pictures}
    table: dict[str, Any] = {
        "case_id": [cases[each.case].id for each in listed],
        "comparison": [each.kind for each in listed],
        "name": [each.name for each in listed],
        "edit": [_edit_words(pictures[items[each.second].image]) for each in listed],
    }
    for side in ("first", "second"):
        places = [getattr(each, side) for each in listed]
        highest = found.highest[places]
        table[f"{side}_id"] = [items[place].id for place in places]
        table[f"{side}_query"] = [items[place].query for place in places]
        table[f"{side}_image"] = [items[place].image for place in places]
        table[f"{side}_outcome"] = [OUTCOME_NAMES[int(found.outcome[place])] for place in places]
        table[f"{side}_score"] = [float(s) if np.isfinite(s) else None for s in highest]
    accepted = {"first": compared.accepted, "second": compared.accepted_second}
    table |= {f"{side}_accepted": there.tolist() for side, there in accepted.items()}
    table["overlap"] = _nullable(compared.overlap)
    table["overlap_after"] = _nullable(compared.after)
    table["decision"] = _nullable(verdicts.decision)
    table["wrong"] = list(_wrong(verdicts))
    table["unjudged"] = verdicts.why_not.tolist()
    return table


def _edit_words(picture: Any) -> str:
    edit = picture.edit
    return "" if edit is None else f"{edit.kind} {edit.value}: {edit.phrase}".strip()


def _nullable(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _wrong(verdicts: consistency.Verdicts) -> Iterator[str]:
    """What went wrong in each comparison; "" where nothing did."""
    for kind, decision, overlap in zip(
        verdicts.kind.tolist(), verdicts.decision.tolist(), verdicts.overlap.tolist(), strict=True
    ):
        lower = consistency.DECISIONS[kind] in consistency.LOWER
        bad = decision == (1.0 if lower else 0.0)
        poor = kind in consistency.OVERLAPS and overlap < POOR_OVERLAP
        yield WRONG[kind] if bad or poor else ""


def _match(
    benchmark: Benchmark, predictions: Iterable[Prediction], settings: Mapping[str, object]
) -> Judgements:
    return compare_answers(benchmark, predictions)


def _contribute(benchmark: Benchmark, found: Judgements, settings: Mapping[str, Any]) -> Scored:
    if ((found.score >= 0) & (found.score <= 1)).all():  # else they may be logits
        check_threshold(settings["t"])
    return score(benchmark, found, t=settings["t"], tau=settings["tau"])


PROTOCOL = Protocol(
    name="phrase-relations",
    title="Photographs without labels",
    families=("consistency",),
    settings={"t": 0.5, "tau": 0.5},
    match=_match,
    contribute=_contribute,
    items_by_content=True,
    headlines=(
        "contradiction_rate", "absent_accepted", "wording_agreement", "wording_IoU", "containment",
        "implied_rate", "stability", "stability_IoU", "kept_rate", "turned_rate", "unjudged",
    ),
    main="contradiction_rate",
    along_t=(
        "contradiction_rate", "absent_accepted", "wording_agreement", "wording_IoU", "containment",
        "implied_rate", "stability", "stability_IoU", "kept_rate", "turned_rate",
    ),
    along_tau=("contradiction_rate", "kept_rate", "turned_rate"),
    asked=(
        "Nobody has labelled these pictures. Every phrase is asked of every picture, and answers "
        "are held against each other: phrases that exclude each other must not mark one region, "
        "what is in no picture must not be found, wordings of one thing must agree, a part lies "
        "inside its whole, and a harmless change of the picture changes no answer."
    ),
    told="contradiction_rate",
    sentence="contradicts itself on {value} of exclusive pairs {interval}",
    pictures_first=True,
    cells={
        "contradiction": "two phrases that exclude each other mark one region",
        "absent accepted": "a mask for what is in no picture",
        "wordings differ": "one wording is accepted, the other is not or marks something else",
        "outside its whole": "the part is marked outside of its whole",
        "outside its kind": "the kind is marked outside of its wider kind",
        "unstable": "a harmless change of the picture changes the answer",
        "lost by an edit": "the thing is no longer found, though it still is what it was",
        "turned by an edit": "an edit makes the model find what is not there",
    },
)  # fmt: skip
