"""Do the published numbers follow from each other?

`checks` derives again what can be derived from the published tables; `conformance_markdown` writes
the result, `conformance_brief` the page `docs/conformance.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log10

from groundfault.published import PublishedRow, published_rows, sources
from groundfault.published.checking import Cells, Check, Claim
from groundfault.published.reactbench_checks import reactbench_checks
from groundfault.published.reactbench_claims import CLAIMS as REACTBENCH_CLAIMS
from groundfault.published.reactbench_claims import SCORE, SCORE_PLAIN, SCORE_PLAIN_TABLE3
from groundfault.published.segmentation_checks import (
    CAFE_PARTS,
    CAFE_PROMPTS,
    CAFE_SHARES,
    implied_sizes,
    segmentation_checks,
)
from groundfault.published.segmentation_checks import CLAIMS as SEGMENTATION_CLAIMS

__all__ = ["CLAIMS", "Check", "checks", "conformance_brief", "conformance_markdown"]

CLAIMS: tuple[Claim, ...] = SEGMENTATION_CLAIMS + REACTBENCH_CLAIMS
STATISTICS = (CAFE_PARTS, CAFE_SHARES, CAFE_PROMPTS)
"""Claims of which the page shows every check."""
SCORE_CLAIMS = (SCORE, SCORE_PLAIN, SCORE_PLAIN_TABLE3)
"""Three readings of one column; the page shows them in one table."""

LINES = (
    "In brackets: how many of the places that can be decided disagree. "
    "[Every claim, cell and table](reference/made/published.md); `groundfault conformance` prints "
    "the same."
)
NUMBERS = ("published", "derived", "tolerance")

INTRODUCTION = """\
# Do the published numbers follow from each other?

Each claim should hold between numbers that the papers print (`groundfault.published`). A printed
53.0 stands for 53.0 ± 0.05; this half unit is carried through each sum, product, ratio or mean at
its worst. A difference within it agrees; a claim that needs a cell which is not printed is
undecidable. Units are the paper's. A disagreement says that two printed numbers do not fit each
other, not which of them is right."""

NOT_CHECKED = """\
## What cannot be checked

- ΔIoU = IoU_fact - IoU_textual and ΔIoU = IoU_fact - IoU_visual: neither the poster nor the
  supplement prints an IoU.
- CAFE's overall pmF1: it is not a mean of the subsets' values.
- HalluSegBench's limits of small, medium and large objects: no document gives them."""


def checks(rows: Iterable[PublishedRow] | None = None) -> tuple[Check, ...]:
    """Every claim at every cell it speaks about, for the published rows or for given ones."""
    cells = Cells(published_rows() if rows is None else rows)
    return (*segmentation_checks(cells), *reactbench_checks(cells))


def conformance_markdown(checks: Sequence[Check]) -> str:
    """How it is done, one line per claim, then the disagreements claim by claim."""
    sections = [INTRODUCTION, _summary(checks)]
    sections += [
        _disagreements(claim, failed)
        for claim in CLAIMS
        if claim not in SCORE_CLAIMS and (failed := _failed(claim, checks))
    ]
    sections += [_react_score(checks), _statistics(checks), _implied_sizes(), NOT_CHECKED, _notes()]
    return "\n\n".join(sections) + "\n"


def conformance_brief(checks: Sequence[Check]) -> str:
    """The same without tables of cells: what each disagreement comes to, and where to read on."""
    verdicts = {claim.name: _verdicts(claim, checks) for claim in CLAIMS}
    found = [
        f"- **{claim.name}** ({of[1]} of {int(of[0]) + int(of[1])}): {claim.finding}"
        for claim in CLAIMS
        if (of := verdicts[claim.name])[1] != "0"
    ]
    hold = [f"{name} ({of[0]})" for name, of in verdicts.items() if of[1] == "0"]
    sections = (
        INTRODUCTION,
        "\n".join((f"## What disagrees\n\n{LINES}\n", *found)),
        f"## What agrees\n\nIn brackets the number of places: {'; '.join(hold)}.",
        _implied_sizes(),
        NOT_CHECKED,
    )
    return "\n\n".join(sections) + "\n"


def _failed(claim: Claim, checks: Iterable[Check]) -> list[Check]:
    return [each for each in checks if each.claim == claim.name and each.verdict == "disagrees"]


def _verdicts(claim: Claim, checks: Iterable[Check]) -> list[str]:
    """How many checks of a claim agree, disagree and cannot be decided."""
    counts = Counter(check.verdict for check in checks if check.claim == claim.name)
    return [str(counts[verdict]) for verdict in ("agrees", "disagrees", "undecidable")]


def _summary(checks: Sequence[Check]) -> str:
    lines = [
        (
            claim.name,
            _tables(check.source_table for check in checks if check.claim == claim.name),
            *_verdicts(claim, checks),
            _farthest(check for check in checks if check.claim == claim.name),
        )
        for claim in CLAIMS
    ]
    header = ("claim", "table", "agree", "disagree", "undecidable", "farthest off")
    how = "\n".join(f"- **{claim.name}**: {claim.rule}" for claim in CLAIMS)
    return f"## All claims\n\n{_table(header, lines)}\n\n## How each is checked\n\n{how}"


def _farthest(checks: Iterable[Check]) -> str:
    """The largest distance from what a claim allows, with the tolerance there."""
    known = [(check.off, check.tolerance) for check in checks if check.off is not None]
    if not known:
        return ""
    off, tolerance = max(known, key=lambda each: (each[0] or 0.0) - (each[1] or 0.0))
    return f"{_short(off or 0.0)} (± {_short(tolerance or 0.0)})"


def _short(value: float) -> str:
    """Two digits; of large numbers all before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{round(value, 9):.2g}"


def _statistics(checks: Sequence[Check]) -> str:
    """Every number of CAFE's section 4.1 that follows from others, and how far it is off."""
    names = [claim.name for claim in STATISTICS]
    lines = [
        (
            check.metric.removesuffix("_count"),
            check.note or "=",
            *(_plain(value) for value in (check.published, check.derived, check.off)),
            check.verdict,
        )
        for check in checks
        if check.claim in names
    ]
    header = ("number", "is", "published", "derived", "off by", "verdict")
    return (
        "## CAFE: the data set in numbers\n\nSection 4.1, Figure 3 and the rate of retention in "
        f"Appendix A.1: what follows from other numbers there.\n\n{_table(header, lines)}"
    )


def _plain(value: float | None) -> str:
    """A count as it is, a share with at most three places."""
    if value is None:
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{round(value, 3):,}"


def _disagreements(claim: Claim, failed: Sequence[Check]) -> str:
    """A line per disagreement; what all lines have in common is said once, above them."""
    places = zip(*((c.model, c.row, c.setting, c.metric) for c in failed), strict=True)
    common, differing = _split(list(places))
    if not differing:
        common, differing = [], [[part] for part in common]
    columns: dict[str, Sequence[str]] = {
        "table": [check.source_table for check in failed],
        "where": [", ".join(filter(None, parts)) for parts in zip(*differing, strict=True)],
        **dict(zip(NUMBERS, zip(*map(_numbers, failed), strict=True), strict=True)),
        "note": [check.note for check in failed],
    }
    for name in ("table", "tolerance", "note"):
        if len({*columns[name]}) == 1:
            (value, *_) = columns.pop(name)
            common.append(f"{name} {value}" if value else "")
    told = ", ".join(filter(None, common))
    above = f"{claim.finding} In all lines: {told}." if told else claim.finding
    lines = zip(*columns.values(), strict=True)
    return f"## {claim.name}\n\n{above}\n\n{_table(tuple(columns), lines)}"


def _split(columns: Iterable[Sequence[str]]) -> tuple[list[str], list[Sequence[str]]]:
    """The values of columns that are the same in every line, and the other columns."""
    columns = list(columns)
    common = [values[0] for values in columns if len({*values}) == 1]
    return common, [values for values in columns if len({*values}) > 1]


def _implied_sizes() -> str:
    """How many objects are small, medium and large, if the tables are about the same runs."""
    cells = Cells(published_rows())
    lines = []
    for task in ("referring", "reasoning"):
        shares, miss = implied_sizes(cells, task)
        lines.append((task, *(f"{100 * share:.0f} %" for share in shares), f"{miss:.4f}"))
    header = ("task", "small", "medium", "large", "mean miss")
    return (
        "## HalluSegBench: how many objects are small, medium and large?\n\nThe limits are not "
        "published. These shares turn the supplementary Tables 4 and 5 into the main table with "
        "the smallest mean distance (without Seg-Zero and RobustSeg, whose tables do not fit each "
        f"other).\n\n{_table(header, lines)}"
    )


def _react_score(checks: Sequence[Check]) -> str:
    """Published React-Score beside the formula and the plain accuracies."""
    by_claim = {
        claim.name: {check.model: check for check in checks if check.claim == claim.name}
        for claim in SCORE_CLAIMS
    }
    lines = []
    nearer_to_plain = 0
    for model, formula in by_claim[SCORE.name].items():
        plain = by_claim[SCORE_PLAIN.name][model]
        is_plain = _gap(plain) < _gap(formula)
        nearer_to_plain += is_plain
        derived = [_numbers(by_claim[claim.name][model])[1] for claim in SCORE_CLAIMS]
        lines.append((model, _numbers(formula)[0], *derived))
    header = ("model", "published", "formula", "plain", "plain, from Table 3")
    tolerances = {_numbers(check)[2] for check in by_claim[SCORE.name].values()}
    findings = "\n".join(f"- {claim.finding}" for claim in SCORE_CLAIMS)
    return (
        "## ReactBench: which React-Score is published?\n\n"
        f"Of {len(lines)} published scores, {nearer_to_plain} lie nearer to the plain accuracies "
        f"than to the formula (tolerance {', '.join(sorted(tolerances))}).\n\n"
        f"{findings}\n\n{_table(header, lines)}"
    )


def _gap(check: Check) -> float:
    if check.published is None or check.derived is None:
        return float("inf")
    return abs(check.published - check.derived)


def _numbers(check: Check) -> tuple[str, str, str]:
    """Published, derived and tolerance; the derived number with one more place than printed."""
    if check.published is None or check.derived is None or check.tolerance is None:
        return "", "", ""
    places = max(0, round(-log10(check.tolerance))) if check.tolerance else 0
    more = places + 1 if places else 0
    return (
        f"{check.published:.{places}f}",
        f"{check.derived:.{more}f}",
        f"{check.tolerance:.2g}" if places else f"{check.tolerance:.0f}",
    )


def _notes() -> str:
    """What each table shows; a note that several tables have is told once, below."""
    known = sources()
    of_note: dict[str, list[str]] = {}
    for source in known:
        for note in source.notes:
            of_note.setdefault(note, []).append(source.table)
    lines = [
        (
            source.table,
            source.caption,
            " ".join(note for note in source.notes if len(of_note[note]) == 1),
        )
        for source in known
    ]
    shared = [f"- {_tables(tables)}: {note}" for note, tables in of_note.items() if len(tables) > 1]
    table = _table(("table", "what it shows", "notes"), lines)
    return "\n\n".join(("## The tables", table, "\n".join(shared)))


def _tables(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
