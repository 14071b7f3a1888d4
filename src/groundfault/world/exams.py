"""ReactBench from the world: interventions rendered and asked about, four tasks in turn.

A sample is a pure function of (seed, number, size), so any number of workers makes the same
bytes. What the questions are about must be seen: a draw that hides it is passed over. Unless the
paper's layout is asked for, every sample has a twin, asked the same with other answers: the
unedited scene, the first picture twice, or a scene with another number of the same things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np

from groundfault.benchmarks.reactbench import TWIN, Question, Sample, write_exam
from groundfault.errors import UsageError
from groundfault.exams import Layout
from groundfault.exams.counting import LEAST_APART
from groundfault.io.store import check_vacant
from groundfault.records import Benchmark
from groundfault.world.attributes import draw_attribute
from groundfault.world.busy import difficulty, draw_alteration
from groundfault.world.crowds import (
    LAYOUTS,
    check_countable,
    crowded_scene,
    draw_count,
    most_countable,
)
from groundfault.world.interventions import Intervention
from groundfault.world.objects.exhibits import EXHIBITS
from groundfault.world.presets import ABOUT, in_order, png
from groundfault.world.priors import draw_erasure
from groundfault.world.questions import TASKS, facts_of, questions_about, twins_about
from groundfault.world.render import Rendered, render
from groundfault.world.sampling import DEFAULTS, WorldSettings, generator
from groundfault.world.scene import Scene
from groundfault.world.usual import DIRECTIONS

__all__ = ["MadeSample", "build_exam", "make_sample", "question_twins"]

TURN = ("erasure", "attribute", "tracing", "counting")
ALTERATIONS = ("move", "remove", "add", "replace")
DRAWS = 120
"""Most draws do; some find no room, or hide what would be asked about."""

KNOBS = (
    "size_px",
    "surface_correlation",
    "context_correlation",
    "material_share",
    "relation_share",
)
"""Of the world; things and contexts follow from the task."""
LEAST_COUNT = 2
LEAST_PX = 24
"""A thing with fewer visible pixels than this is not asked about."""
LEAST_SHOWN = 0.4
"""Share of a thing that must not be hidden."""
MOST_SHARE = 0.05
"""Of the picture that an altered thing may cover: a change to be searched for."""


class MadeSample(msgspec.Struct, frozen=True):
    """One sample with its questions and its pictures as PNG, by name."""

    sample: Sample
    questions: tuple[Question, ...]
    pictures: dict[str, bytes]
    twin: MadeSample | None = None
    """The same questions about the twin."""


def build_exam(
    n: int,
    out: str | PathLike[str],
    *,
    seed: int = 0,
    size_px: int = 384,
    world: WorldSettings = DEFAULTS,
    layout: Layout = "twins",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Benchmark:
    """Build an exam of n samples into a folder, which must not exist yet; with twins, each sample
    is followed by its twin."""
    if n < 1:
        raise UsageError(f"n is {n}; an exam has at least one sample")
    if seed < 0:
        raise UsageError(f"the seed is {seed}; seeds are not negative")
    world = msgspec.structs.replace(world, size_px=size_px)
    WorldSettings(**msgspec.structs.asdict(world))  # refuses impossible sizes before any work
    out = Path(out)
    check_vacant(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    samples: list[Sample] = []
    questions: list[Question] = []
    pictures: dict[str, bytes | Path] = {}
    make = partial(make_sample, seed=seed, size_px=size_px, world=world, layout=layout)
    with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
        for done, one in enumerate(in_order(make, range(n), workers), start=1):
            for made in (one, one.twin) if one.twin else (one,):
                samples.append(made.sample)
                questions += made.questions
                for name, content in made.pictures.items():
                    pictures[name] = Path(scratch) / name
                    (Path(scratch) / name).write_bytes(content)
            if progress is not None:
                progress(done, n)
        knobs = ", ".join(f"{name} {getattr(world, name)}" for name in KNOBS)
        note = f"groundfault world, preset reactbench, n {n}, seed {seed}, {knobs}"
        if layout == "twins":
            note += ", each with its twin"
        return write_exam(
            out,
            samples,
            questions,
            pictures,
            notes=(note,),
            title="World: exam",
            about=ABOUT,
        )


def make_sample(
    number: int,
    *,
    seed: int,
    size_px: int,
    world: WorldSettings = DEFAULTS,
    layout: Layout = "twins",
) -> MadeSample:
    """One sample, rendered, with its twin where the layout has twins."""
    draws = _draws(number, seed, size_px, world)
    turn = number // len(TURN)
    for case, index, settings in draws:
        try:
            wording = int(generator(seed, index, 3).integers(1 << 31))
            name = f"{number:06d}"
            if layout == "paper":
                asked = questions_about(case, name, seed=wording, series=seed, turn=turn)
                return _make(case, asked, size_px)
            return _make_twins(case, name, settings, seed=wording, series=seed, turn=turn)
        except UsageError:  # nothing unambiguous to ask about this one: take the next
            continue
    raise UsageError(
        f"no {TURN[number % len(TURN)]} sample fits pictures of {size_px} pixels; ask for larger "
        "ones"
    )


def question_twins(
    number: int, *, seed: int, size_px: int = 384, world: WorldSettings = DEFAULTS
) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """The questions of a sample and of its twin without a picture: of the first draw that can be
    asked about, whether or not everything in it would be seen."""
    name, turn = f"{number:06d}", number // len(TURN)
    for case, index, settings in _draws(number, seed, size_px, world):
        try:
            wording = int(generator(seed, index, 3).integers(1 << 31))
            other = _other_crowd(case, settings, wording) if case.kind == "counting" else None
            count = None if other is None else other.count
            twin = f"{name}{TWIN}"
            return twins_about(case, name, twin, seed=wording, series=seed, turn=turn, count=count)
        except UsageError:
            continue
    raise UsageError(f"sample {number} finds nothing to ask about")


def _draws(
    number: int, seed: int, size_px: int, world: WorldSettings
) -> Iterator[tuple[Intervention, int, WorldSettings]]:
    """Interventions that may become a sample, each with its index and the settings of its world."""
    task, turn = TURN[number % len(TURN)], number // len(TURN)
    # A sculpture of an apple would make the number and the look of apples a riddle.
    world = msgspec.structs.replace(world, size_px=size_px, material_share=0.0)
    for draw in range(DRAWS):
        index = number * DRAWS + draw
        try:
            yield _draw(task, turn, generator(seed, index, 9), world, seed), index, world
        except UsageError:
            continue


def _draw(
    task: str, turn: int, rng: np.random.Generator, world: WorldSettings, seed: int
) -> Intervention:
    """One intervention; pairs, directions, operations and layouts take turns."""
    if task == "erasure":
        return draw_erasure(rng, world, pair_of(seed, turn))
    if task == "attribute":
        return draw_attribute(rng, world, DIRECTIONS[turn % len(DIRECTIONS)])
    if task == "tracing":
        return draw_alteration(rng, ALTERATIONS[turn % len(ALTERATIONS)], world)
    return draw_count(rng, world, tuple(LAYOUTS)[turn % len(LAYOUTS)])


def pair_of(seed: int, turn: int) -> str:
    """The pair that an erasure breaks: all of them in turn, in an order of the seed's."""
    round_, at = divmod(turn, len(EXHIBITS))
    return tuple(EXHIBITS)[int(generator(seed, round_, 10).permutation(len(EXHIBITS))[at])]


def _make(case: Intervention, questions: tuple[Question, ...], size_px: int) -> MadeSample:
    facts, sample_id = facts_of(case), questions[0].sample_id
    task = TASKS[case.kind]
    after = render(case.counterfactual)
    pictures = {f"{sample_id}.png": png(after)}
    if task == "tracing":
        before = render(case.factual)
        _check_seen(before, [case.before] if case.before >= 0 else [], MOST_SHARE)
        _check_seen(after, [case.after] if case.after >= 0 else [], MOST_SHARE)
        facts |= difficulty(before.image, after.image, before.count)
        pictures = {f"{sample_id}-before.png": png(before), f"{sample_id}-after.png": png(after)}
    elif task == "counting":
        check_countable(after)
    else:
        _check_seen(after, range(after.count))
    sample = Sample(
        id=sample_id,
        task=task,
        images=tuple(pictures),
        height_px=size_px,
        width_px=size_px,
        facts=facts,
    )
    return MadeSample(sample, questions, pictures)


def _make_twins(
    case: Intervention,
    sample_id: str,
    world: WorldSettings,
    *,
    seed: int,
    series: int,
    turn: int,
) -> MadeSample:
    """A sample and its twin, both rendered."""
    other = _other_crowd(case, world, seed) if case.kind == "counting" else None
    twin_id = f"{sample_id}{TWIN}"
    asked, again = twins_about(
        case,
        sample_id,
        twin_id,
        seed=seed,
        series=series,
        turn=turn,
        count=None if other is None else other.count,
    )
    made = _make(case, asked, world.size_px)
    pictures = _twin_pictures(case, made, twin_id, other)
    facts = {**made.sample.facts, "twin_of": sample_id}
    if case.kind == "attribute":
        facts["shown"] = facts["usual"]
    if other is not None:
        facts["count"] = str(other.count)
    sample = msgspec.structs.replace(made.sample, id=twin_id, images=tuple(pictures), facts=facts)
    return msgspec.structs.replace(made, twin=MadeSample(sample, again, pictures))


def _twin_pictures(
    case: Intervention, made: MadeSample, twin_id: str, other: _Crowd | None
) -> dict[str, bytes]:
    """The unedited picture; of tracing, the first one twice; of counting, that of another scene."""
    if TASKS[case.kind] == "tracing":
        first = made.pictures[made.sample.images[0]]
        return {f"{twin_id}-before.png": first, f"{twin_id}-after.png": first}
    unedited = render(case.factual if other is None else other.scene)
    if other is None:
        _check_seen(unedited, range(unedited.count))
    else:
        check_countable(unedited)
    return {f"{twin_id}.png": png(unedited)}


class _Crowd(msgspec.Struct, frozen=True):
    """Another picture of the things that are counted."""

    scene: Scene
    count: int


def _other_crowd(case: Intervention, world: WorldSettings, seed: int) -> _Crowd:
    """The same kind of things in the same place and layout, more or fewer by about a third."""
    rng, facts = generator(seed, 0, 8), case.facts
    count, most = int(facts["count"]), most_countable(world.size_px)
    apart = max(LEAST_APART, round(count * float(rng.uniform(0.15, 0.45))))
    counts = [n for n in (count - apart, count + apart) if LEAST_COUNT <= n <= most]
    if not counts:
        raise UsageError(f"no scene has so many more or fewer than {count}")
    other = counts[int(rng.integers(len(counts)))]
    context = case.counterfactual.place.context
    scene = crowded_scene(
        rng, facts["object"], other, facts["layout"], facts["distractor"], context, world
    )
    return _Crowd(scene, other)


def _check_seen(rendered: Rendered, indices: Iterable[int], most: float = 1.0) -> None:
    for index in indices:
        seen_px = int(rendered.masks[index].sum())
        whole_px = rendered.whole_px[index]
        if seen_px < max(LEAST_PX, LEAST_SHOWN * whole_px):
            raise UsageError(f"of thing {index} only {seen_px} of {whole_px} pixels are seen")
        if seen_px > most * rendered.labels.size:
            raise UsageError(f"thing {index} fills too much of the picture")
