"""One score threshold per model, chosen once on data of its own and then frozen.

The t that maximises cgF1 over boxes, of 0.05, 0.10 … 0.95; of equal ones the first (Liang et al.,
"From Pixels to Concepts", C.3). Models are asked once: every t is scored from stored answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import msgspec

from groundfault import __version__
from groundfault.analysis.sweep import T_GRID, Point, Sweep, best_threshold, sweep
from groundfault.benchmarks.folder import content_hash
from groundfault.config import OPERATING_POINTS, OWN_POINTS, ScoreSettings
from groundfault.errors import UsageError
from groundfault.io.store import read_json
from groundfault.protocols.concepts import CONCEPTS
from groundfault.records import Benchmark, Estimate, Outcome, Role
from groundfault.registry import is_baseline
from groundfault.runs.recorder import read_predictions
from groundfault.runs.resume import CHECKPOINTS, PLACEMENT
from groundfault.runs.run import SILENT, Run

__all__ = [
    "FILE",
    "PUBLISHED",
    "Calibration",
    "calibrate",
    "check_data",
    "operating_points",
    "published_point",
    "usual_point",
]

FILE = "calibration.json"
PUBLISHED = "published"
"""Instead of a place: the thresholds of the paper."""
MAY_DIFFER = ("data", "device", PLACEMENT)
"""Parts of a run's identity: calibration has data of its own; a device hardly changes a score."""

OVERALL = "Overall"
METRIC = "cgF1"
CURVE = (METRIC, "IL_MCC", "positive_micro_F1")
IOU, VARIANT = "bbox", "parity"


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """The content of calibration.json."""

    model: str
    """The spec it was asked by."""
    t: float
    """The operating point."""
    cgF1: Estimate  # noqa: N815 - the metric's name
    """There, over boxes."""
    published_t: float | None
    """The operating point at which the model was published, if it was."""
    published_cgF1: Estimate | None  # noqa: N815
    """Over boxes on this data, at that t."""
    sweep: Sweep
    """The whole curve."""
    benchmark: str
    """What it was chosen on."""
    data: str
    """Hash of the calibration data: report nothing on the same data as if it were unseen."""
    n_cases: int
    """How many cases it was chosen on."""
    outcomes: dict[str, int]
    """How many items ended how."""
    identity: dict[str, str]
    """Of the run: the threshold belongs to these weights and options."""
    notes: tuple[str, ...] = ()
    """What makes the choice doubtful, if anything does."""
    version: str = ""
    """Of groundfault, that wrote it."""


def published_point(model: str) -> float | None:
    """The threshold at which a model was published, by its name on the command line.

    >>> published_point("owlv2-sam:my/owl"), published_point("worker:openseed")
    (0.2, 0.15)
    >>> published_point("agent:sam3+openai:NAME")
    0.5
    >>> published_point("clipseg"), published_point("yolo-world")
    (None, None)
    """
    name, _, argument = model.partition(":")
    if name == "agent":  # its masks and scores are its segmenter's
        name, _, argument = argument.partition("+")[0].partition(":")
    if name == "worker":
        name = argument.partition(":")[0]
    return OPERATING_POINTS.get(name)


def usual_point(model: str) -> tuple[float, str]:
    """The threshold that a model is scored at unless one is chosen, the published one or else 0.5,
    and what is to be said about it.

    >>> usual_point("owlv2-sam")
    (0.2, 'owlv2-sam is scored at t = 0.2, where it was published.')
    >>> usual_point("oracle")
    (0.5, '')

    An agent decides about masks from its own t on; what it selected there counts.

    >>> usual_point("agent:sam3+openai:NAME,turns=8,t=0.2")
    (0.2, '')
    """
    own = re.search(r",t=([0-9.]+)(?:,|$)", model) if model.startswith("agent:") else None
    if own is not None:
        return float(own[1]), ""
    published, usual = published_point(model), ScoreSettings().t
    if published is not None:
        return published, f"{model} is scored at t = {published:g}, where it was published."
    name = model.partition(":")[0]
    if name in OWN_POINTS:
        return OWN_POINTS[name], ""
    if name == "agent":
        return usual, ""
    if is_baseline(model) or name == "replay":  # nobody's scores, or nobody knows whose
        return usual, ""
    return usual, (
        f"No threshold of {model} is published: t = {usual:g} is merely the usual one. "
        "`groundfault calibrate` finds its own, --t sets one."
    )


def operating_points(
    identities: Mapping[str, Mapping[str, str]], where: str, benchmark: Benchmark
) -> dict[str, float]:
    """The frozen threshold of each model, by its name on the command line.

    `identities` are the models' own, as `model_identity` says them before a run and the run itself
    after it, when its checkpoints are known too. `where` is a calibration.json, the folder of a
    calibrated run, a folder of such runs, or "published". A threshold of other weights or options
    is refused, and so is one that was chosen on the benchmark to be reported.
    """
    if where == PUBLISHED:
        return {spec: _published(spec) for spec in identities}
    known = {found.model: found for found in map(_read, _files(Path(where)))}
    digest = benchmark.card.content_hash or content_hash(benchmark)
    for spec, identity in identities.items():
        if spec not in known:
            raise UsageError(
                f"{where}: has thresholds of {', '.join(known)}, not of {spec}; see `groundfault "
                "calibrate --help`"
            )
        _check_identity(known[spec], {"model": spec, **identity})
        if known[spec].data == digest:
            raise UsageError(
                f"{where}: {spec} was calibrated on this very benchmark, which flatters it; "
                f"calibrate on other data, or give --t {known[spec].t} if that is meant"
            )
    return {spec: known[spec].t for spec in identities}


def _published(spec: str) -> float:
    t = published_point(spec)
    if t is None:
        raise UsageError(
            f"no threshold of {spec} is published; known are {', '.join(OPERATING_POINTS)}. "
            "Calibrate it, or give --t"
        )
    return t


def _files(where: Path) -> list[Path]:
    if where.is_file():
        return [where]
    found = [where / FILE] if (where / FILE).is_file() else sorted(where.glob(f"*/{FILE}"))
    if not found:
        raise UsageError(f"{where}: no {FILE} is there; `groundfault calibrate` writes it")
    return found


def _read(path: Path) -> Calibration:
    return read_json(path, Calibration)


def _check_identity(found: Calibration, now: Mapping[str, str]) -> None:
    unknown = {CHECKPOINTS} - {*now}
    for what in sorted({*found.identity, *now} - {*MAY_DIFFER} - unknown):
        was, given = found.identity.get(what, ""), now.get(what, "")
        if was != given:
            raise UsageError(
                f"{found.model} was calibrated with another {what} ('{was}', now '{given}'): its "
                "threshold does not hold; calibrate again"
            )


def calibrate(
    benchmark: Benchmark,
    run: Run,
    folder: str | PathLike[str],
    *,
    bootstrap: int = 0,
    seed: int = 0,
) -> Calibration:
    """Sweep the stored answers of a finished run and take the best threshold."""
    digest = _checked(benchmark, run, folder)
    answers = (answer for answer in read_predictions(folder) if answer.reason != SILENT)
    settings = {"iou": IOU, "variant": VARIANT}
    swept = sweep(
        CONCEPTS,
        benchmark,
        CONCEPTS.matched(benchmark, answers, settings),
        settings=settings,
        t_values=T_GRID,
        bootstrap=bootstrap,
        seed=seed,
    )
    points = tuple(_shortened(point) for point in swept.points if point.row == OVERALL)
    t = best_threshold(swept)
    if t is None:
        raise UsageError(f"{benchmark.card.name}: cgF1 is undefined at every t; give other data")
    if len({point.metrics[METRIC].value for point in points}) == 1:
        raise UsageError(
            f"{folder}: every t from {T_GRID[0]} to {T_GRID[-1]} gives the same cgF1, "
            f"{100 * (points[0].metrics[METRIC].value or 0.0):.1f}, so none of them can "
            "be chosen; calibrate on data that the model finds something in"
        )
    published = published_point(run.model)
    at = {point.t: point.metrics[METRIC] for point in points}
    return Calibration(
        model=run.model,
        t=t,
        cgF1=at[t],
        published_t=published,
        published_cgF1=None if published is None else at.get(published),
        sweep=msgspec.structs.replace(swept, points=points),
        benchmark=benchmark.card.name,
        data=digest,
        n_cases=len(benchmark.cases),
        outcomes=run.outcomes,
        identity=run.identity,
        notes=(*_cautions(points, t), *swept.notes),
        version=__version__,
    )


def check_data(benchmark: Benchmark) -> None:
    """Refuse data that no model can be calibrated on."""
    if any(item.role is Role.FACTUAL for item in benchmark.items):
        raise UsageError(
            f"{benchmark.card.name}: cases of replaced objects have no cgF1; calibrate on phrases "
            "(cafe, saco, or a folder of their kind)"
        )
    present = {item.present for item in benchmark.items if item.exhaustive}
    if present != {True, False}:
        raise UsageError(
            f"{benchmark.card.name}: calibration needs phrases for what is in the picture and for "
            "what is not; with one kind only, any threshold that accepts all, or nothing, is best"
        )


def _checked(benchmark: Benchmark, run: Run, folder: str | PathLike[str]) -> str:
    """The hash of data that a model can be calibrated on and that a run has answered."""
    check_data(benchmark)
    digest = benchmark.card.content_hash or content_hash(benchmark)
    if run.content_hash != digest:
        raise UsageError(f"{folder}: holds answers to other data; ask {run.model} again")
    if run.state != "finished" or run.n_items < len(benchmark.items):
        raise UsageError(
            f"{folder}: {run.n_items} of {len(benchmark.items)} items were asked; finish the run "
            "without --limit first"
        )
    if run.outcomes.get(Outcome.FAILED.value, 0) == run.n_items:
        raise UsageError(f"{folder}: every item failed; see run.json for the reasons")
    return digest


def _shortened(point: Point) -> Point:
    metrics = {name: point.metrics[name] for name in CURVE}
    return msgspec.structs.replace(point, metrics=metrics)


def _cautions(points: tuple[Point, ...], t: float) -> list[str]:
    values = {point.t: point.metrics[METRIC].value for point in points}
    equal = [other for other, value in values.items() if value == values[t]]
    notes = []
    if len(equal) > 1:
        notes.append(f"{len(equal)} thresholds up to {max(equal)} give the same; the first is it.")
    if t in (T_GRID[0], T_GRID[-1]):
        notes.append("The best t is at the end of the sweep: the true best may lie beyond it.")
    return notes
