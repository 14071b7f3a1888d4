"""The episodes of agents among the shown cases, to be stepped through inside the report.

Pictures are drawn again from the masks that a trace keeps; they share the page's budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from groundfault.errors import GroundfaultError
from groundfault.io.foreign import within
from groundfault.io.pictures import read_image
from groundfault.models.agent.replays import replay
from groundfault.models.agent.traces import Trace, trace_of
from groundfault.reports.agent_traces import ending_words, facts_of
from groundfault.reports.page.gallery import Example, Gallery, View
from groundfault.reports.page.inputs import Chapter, RunData
from groundfault.reports.page.pictures import Pictures
from groundfault.reports.page.sources import Sources
from groundfault.runs.recorder import read_predictions
from groundfault.runs.shards import shards

__all__ = ["Episodes", "Step", "make_episodes"]

MOST_EPISODES = 60
MOST_PICTURES = 240
"""Of all episodes together: at 20 kB each, about half of the page's budget."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, or the question before the first."""

    title: str
    thought: str = ""
    call: str = ""
    result: str = ""
    problem: bool = False
    scores: tuple[float, ...] = ()
    left_out: int = 0
    pictures: tuple[tuple[int, int, int], ...] = ()
    """Number, width and height in pixels."""
    again: bool = False
    """Whether its pictures are those of an earlier turn, because it showed none."""


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation with a segmenter at hand."""

    run: str
    series: int
    item_id: str
    query: str
    role: str
    verdict: str
    right: bool | None
    ending: str
    ending_words: str
    facts: tuple[str, ...]
    steps: tuple[Step, ...]


class Episodes(msgspec.Struct, frozen=True, kw_only=True):
    """What can be stepped through."""

    shown: tuple[Episode, ...] = ()
    n_cases: int = 0
    """Questions among the shown cases that an agent answered."""
    places: Mapping[tuple[str, str], int] = {}
    notes: tuple[str, ...] = ()

    def place(self, example: Example, view: View) -> int | None:
        """Where the episode of a view is, if it is there."""
        return self.places.get((example.run, view.item_id))


def make_episodes(
    found: Sequence[Chapter],
    gallery: Gallery | None,
    *,
    sources: Sources,
    pictures: Pictures,
) -> Episodes:
    """The episodes behind the gallery's cases, the worst first, as many as there is room for."""
    agents = {
        (run.summary.benchmark, run.name): run
        for chapter in found
        for run in chapter.runs
        if _is_agent(run)
    }
    if gallery is None or not agents:
        return Episodes()
    wanted = [
        (agents[example.benchmark, example.run], example, view)
        for example in gallery.examples
        if (example.benchmark, example.run) in agents
        for view in sorted(example.views, key=lambda view: view.right is not False)
        if view.item_id
    ]
    traces = _traces(wanted)
    known = [entry for entry in wanted if (entry[0].folder, entry[2].item_id) in traces]
    shown: list[Episode] = []
    places: dict[tuple[str, str], int] = {}
    notes: list[str] = []
    before = len(pictures.thumbnails)
    for run, example, view in known:
        if len(shown) >= MOST_EPISODES or len(pictures.thumbnails) - before >= MOST_PICTURES:
            break
        drawn = _drawn(run, traces[run.folder, view.item_id], view, sources, pictures, notes)
        places[example.run, view.item_id] = len(shown)
        shown.append(_episode(example, view, traces[run.folder, view.item_id], drawn))
    return Episodes(
        shown=tuple(shown),
        n_cases=len(known),
        places=places,
        notes=tuple(dict.fromkeys(notes)),
    )


def _is_agent(run: RunData) -> bool:
    """By its first answer."""
    if not shards(run.folder):
        return False
    first = next(iter(read_predictions(run.folder)), None)
    return first is not None and trace_of(first) is not None


def _traces(
    wanted: Sequence[tuple[RunData, Example, View]],
) -> dict[tuple[Path, str], Trace]:
    items: dict[Path, set[str]] = {}
    for run, _, view in wanted:
        items.setdefault(run.folder, set()).add(view.item_id)
    return {
        (folder, answer.item_id): trace
        for folder, names in items.items()
        for answer in read_predictions(folder)
        if answer.item_id in names and (trace := trace_of(answer)) is not None
    }


Drawn = Sequence[tuple[tuple[int, int, int], ...]]
"""Pictures of the question and of each turn: number, width and height in the page."""


def _drawn(
    run: RunData,
    trace: Trace,
    view: View,
    sources: Sources,
    pictures: Pictures,
    notes: list[str],
) -> Drawn:
    """The pictures of an episode, drawn again; empty where its image is not at hand."""
    source = sources.of(run)
    if source is None or not view.image:
        return ()
    try:
        path = within(source.images, view.image, file=source.images, record=f"item {view.item_id}")
        episode = replay(trace, read_image(path, size_px=trace.size_px))
    except (GroundfaultError, OSError) as problem:
        notes.append(f"Pictures of an episode of {run.name} cannot be drawn again: {problem}")
        return ()
    again = episode.trace()
    if again.picture != trace.picture or any(
        then.pictures != now.pictures for then, now in zip(trace.turns, again.turns, strict=False)
    ):
        notes.append(
            f"Pictures of {run.name}'s episodes were drawn again and are not byte for byte what it "
            "was shown."
        )
    found = []
    for names in ((again.picture,), *(turn.pictures for turn in again.turns)):
        numbers = [
            pictures.add_content(name, episode.pictures[name].content)
            for name in names
            if name in episode.pictures
        ]
        found.append(tuple((k, *pictures.sizes[k]) for k in numbers if k is not None))
    return found


def _episode(example: Example, view: View, trace: Trace, drawn: Drawn) -> Episode:
    return Episode(
        run=example.run,
        series=example.series,
        item_id=view.item_id,
        query=trace.query,
        role=view.role,
        verdict=view.verdict,
        right=view.right,
        ending=trace.ending,
        ending_words=ending_words(trace),
        facts=facts_of(trace),
        steps=tuple(_steps(trace, drawn)),
    )


def _steps(trace: Trace, drawn: Drawn) -> Iterator[Step]:
    by_step = (*drawn, *[()] * (1 + len(trace.turns) - len(drawn)))
    seen = by_step[0]
    yield Step(
        title="The question",
        result=trace.reason or f"Is “{trace.query}” in this picture?",
        problem=bool(trace.reason),
        pictures=seen,
    )
    for number, turn in enumerate(trace.turns, start=1):
        new = by_step[number]
        seen = new or seen
        parameters = msgspec.json.encode(turn.parameters).decode() if turn.parameters else ""
        yield Step(
            title=f"Turn {number}",
            thought=turn.thought or ("" if turn.tool else turn.said),
            call=f"{turn.tool} {parameters}".strip(),
            result=turn.result,
            problem=bool(turn.problem),
            scores=turn.scores,
            left_out=turn.left_out,
            pictures=seen,
            again=not new,
        )
