"""Boards of questions in words: each entry is a question in one mode, with its verdicts.

Verdicts are read as columns, not as records: two million answers fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.benchmarks.reactbench import is_twin, question_labels
from groundfault.errors import DataError
from groundfault.io.store import read_columns, read_table
from groundfault.metrics import columns_of
from groundfault.metrics import exam as exam_metric
from groundfault.metrics import twins as twins_metric
from groundfault.metrics import yes_no as yes_no_metric
from groundfault.parsing.yes_no import parse_yes_no_as_pope
from groundfault.protocols.exam import twin_items, weight_of
from groundfault.protocols.words import expected
from groundfault.records import MODES, Benchmark, Item
from groundfault.reports.page.inputs import RunData
from groundfault.runs.recorder import journals, read_journal
from groundfault.runs.shards import shards
from groundfault.web.explore.board import (
    FAILED,
    Asked,
    Board,
    Facet,
    Material,
    Point,
    facet_of,
)
from groundfault.web.explore.sums import Sums

if TYPE_CHECKING:
    from groundfault.web.explore.board import Codes, Flags, Floats, Ints

__all__ = ["QuestionBoard"]

ANSWER = "answer"
ENDS = ("right", "wrong", "not read", "unjudged", FAILED)
RIGHT, WRONG, UNREAD, UNJUDGED, LOST = range(5)
READ = ("item_id", "mode", "outcome", "verdict", "parsed")


class QuestionBoard(Board):
    """Exams, and yes/no questions about what is there."""

    kind = "questions"
    sides = {ANSWER: ENDS}

    def __init__(self, made_of: Material, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        super().__init__(made_of)

    def _prepare(self) -> None:
        answers = [_answers(run) for run in self.runs]
        said = {mode for table in answers for mode in table.column("mode").unique().to_pylist()}
        self.modes = tuple(mode for mode in MODES if mode in said) or MODES[:1]
        self.items_asked = self.benchmark.items
        self.labels = question_labels(self.items_asked)
        self.pairs = self._pairs()
        """Places of questions about edited pictures, with those of the same about their twins."""
        n = len(self.items_asked) * len(self.modes)
        self.item_of: Ints = np.repeat(np.arange(len(self.items_asked)), len(self.modes))
        self.mode_of: Ints = np.tile(np.arange(len(self.modes)), len(self.items_asked))
        self.end = [np.full(n, LOST, np.int8) for _ in self.runs]
        self.parsed = [np.full(n, None, object) for _ in self.runs]
        for run, table in enumerate(answers):
            self._place(run, table)
        self._from_cases()
        self.facets = self._facets_of_questions()
        self.own_sums = tuple(self._question_sums(run) for run in range(len(self.runs)))

    def _pairs(self) -> list[tuple[int, int]]:
        if not any(is_twin(case) for case in self.benchmark.cases):
            return []
        place = {item.id: k for k, item in enumerate(self.items_asked)}
        return [(place[item.id], place[twin.id]) for item, twin in twin_items(self.benchmark)]

    def twins(self, place: int) -> list[int]:
        """An entry and that of the same question about its twin, the edited picture first."""
        item, mode = int(self.item_of[place]), int(self.mode_of[place])
        found = next((pair for pair in self.pairs if item in pair), ())
        return [each * len(self.modes) + mode for each in found]

    def _place(self, run: int, answers: Any) -> None:
        """Put a run's verdicts where their questions stand."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = pa.array([item.id for item in self.items_asked])
        item = pc.index_in(answers.column("item_id"), ids).combine_chunks()
        mode = pc.index_in(answers.column("mode"), pa.array(self.modes)).combine_chunks()
        known = pc.and_(item.is_valid(), mode.is_valid()).to_numpy(zero_copy_only=False)
        place = (item.fill_null(0).to_numpy() * len(self.modes) + mode.fill_null(0).to_numpy())[
            known
        ]
        self.end[run][place] = _end_codes(answers)[known]
        self.parsed[run][place] = answers.column("parsed").to_numpy()[known]

    def _from_cases(self) -> None:
        """Clusters and rows of the questions, which are those of their cases."""
        import pyarrow as pa
        import pyarrow.compute as pc

        keys = pa.array([self._case_key(item) for item in self.items_asked])
        case = pc.index_in(keys, self.case_ids).fill_null(-1).to_numpy(zero_copy_only=False)
        if (case < 0).any():
            raise DataError(
                self.runs[0].folder,
                "its case table does not have every case of the benchmark",
                remedy="judge the run again",
            )
        case = case[self.item_of]
        self.case_ids = self.case_ids.take(pa.array(case))
        self.cluster = self.cluster[case]
        self.rows = {name: member[case] for name, member in self.rows.items()}

    def _case_key(self, item: Item) -> str:
        if self.protocol.name == "yes-no":
            return f"{item.image} {expected(item).dimension}".rstrip()
        return item.case_id

    def _facets_of_questions(self) -> dict[str, Facet]:
        import pyarrow as pa

        wanted = [expected(item) for item in self.items_asked]
        cases = {case.id: case for case in self.benchmark.cases}
        of_items: dict[str, Sequence[str]] = {
            "task": [cases[item.case_id].intervention for item in self.items_asked],
            "type": [each.type for each in wanted],
            "dimension": [each.dimension for each in wanted],
            "truth": [each.reference if each.type == "YN" else "" for each in wanted],
            "question": [self.labels[item.id] for item in self.items_asked],
            "picture": [
                "unedited" if is_twin(cases[item.case_id]) else "edited"
                for item in self.items_asked
            ],
        }
        if self.protocol.name == "yes-no":
            del of_items["question"]
        found = {}
        for name, values in of_items.items():
            facet = facet_of(pa.array([value or None for value in values]))
            if len(facet.labels) > 1:
                found[name] = Facet(facet.labels, facet.codes[self.item_of])
        if len(self.modes) > 1:
            found["mode"] = Facet(self.modes, self.mode_of)
        return found

    def _names(self) -> Any:
        import pyarrow as pa

        return pa.array(
            [f"{item.id} {mode}" if len(self.modes) > 1 else item.id
             for item in self.items_asked for mode in self.modes]
        )  # fmt: skip

    def _words(self) -> list[Any]:
        import pyarrow as pa

        texts = pa.array(
            [
                "\n".join((item.query, *expected(item).options, item.image))
                for item in self.items_asked
            ]
        )
        return [texts.take(pa.array(self.item_of))]

    def _ends(self, point: Point) -> list[dict[str, Codes]]:
        return [{ANSWER: end} for end in self.end]

    @property
    def criteria(self) -> Mapping[str, Callable[[dict[str, Codes]], Codes]]:
        right = np.array([1, 0, 0, -1, -1, -1], np.int8)
        return {"answer right": lambda ends: right[ends[ANSWER]]}

    def item(self, place: int) -> Item:
        """The question of an entry."""
        return self.items_asked[int(self.item_of[place])]

    def asked(self, place: int) -> list[Asked]:
        item, mode = self.item(place), self.modes[int(self.mode_of[place])]
        label = self.labels[item.id] if expected(item).number else expected(item).type
        role = f"{label} {mode}" if len(self.modes) > 1 else label
        return [Asked(role, item.query, item.id)]

    def said(self, run: int, place: int) -> dict[str, str]:
        parsed = self.parsed[run][place]
        return {ANSWER: str(parsed)} if parsed else {}

    # ── what questions add to the metrics ───────────────────────────────────────────────────────

    def _question_sums(self, run: int) -> Sums:
        """Contributions per question instead of per case, so that any choice of questions has its
        scores."""
        settings = self.runs[run].summary.settings
        if self.protocol.name == "yes-no":
            return self._yes_no_sums(run, settings)
        unscored = np.isin(self.end[run], (UNJUDGED, LOST))
        keys = np.stack([self.item_of, self.mode_of, self.end[run]])[:, ~unscored]
        contributions = np.zeros((len(unscored), len(exam_metric.COLUMNS)))
        contributions[~unscored] = self._exam_rows(run, keys, np.flatnonzero(~unscored))
        names = columns_of(exam_metric.FAMILY)
        if self.pairs:
            names = (*names, *columns_of(twins_metric.FAMILY))
            contributions = np.hstack([contributions, self._twin_rows(self.end[run])])
        return Sums.of(names, settings, contributions)

    def _twin_rows(self, end: Codes) -> Floats:
        """What questions about edited pictures add together with those about their twins."""
        first = len(self.modes) * np.array(self.pairs, np.int64).reshape(-1, 1, 2)
        item, twin = (first + np.arange(len(self.modes))[:, None]).reshape(-1, 2).T
        known = ~np.isin(end[item], (UNJUDGED, LOST)) & ~np.isin(end[twin], (UNJUDGED, LOST))
        item, twin = item[known], twin[known]
        return twins_metric.contributions(
            n_cases=len(end),
            case=item,
            mode=self._places_of_modes(twins_metric.MODES)[self.mode_of[item]],
            right=(end[item] == RIGHT) & (end[twin] == RIGHT),
            weight=self._weights()[self.item_of[item]],
        )

    def _places_of_modes(self, known: Sequence[str]) -> Ints:
        return np.array([known.index(mode) for mode in self.modes])

    def _weights(self) -> Floats:
        return np.array([weight_of(self.labels[item.id]) for item in self.items_asked])

    def _exam_rows(self, run: int, keys: Ints, places: Ints) -> Any:
        item, mode, end = keys
        wanted = [expected(each) for each in self.items_asked]
        cases = {case.id: case for case in self.benchmark.cases}

        def of_items(values: Sequence[Any], dtype: Any = np.int64) -> Any:
            return np.array(values, dtype)[item]

        tasks = [exam_metric.TASKS.index(cases[i.case_id].intervention) for i in self.items_asked]
        parsed = self.parsed[run][places]
        return exam_metric.contributions(
            n_cases=len(places),
            case=np.arange(len(places)),
            mode=self._places_of_modes(exam_metric.MODES)[mode],
            task=of_items(tasks),
            type_=of_items([exam_metric.TYPES.index(each.type) for each in wanted]),
            dimension=of_items([exam_metric.DIMENSIONS.index(each.dimension) for each in wanted]),
            right=end == RIGHT,
            unparsed=end == UNREAD,
            said_yes=np.array([value == "yes" for value in parsed], bool),
            truth_yes=of_items([each.reference == "yes" for each in wanted], bool),
            weight=self._weights()[item],
        )

    def _yes_no_sums(self, run: int, settings: Mapping[str, object]) -> Sums:
        contributions = np.zeros((len(self.item_of), len(yes_no_metric.COLUMNS)))
        truth = [expected(item).reference for item in self.items_asked]
        texts = _texts(self.runs[run], self.items_asked)
        for place in np.flatnonzero(self.end[run] != LOST).tolist():
            item = int(self.item_of[place])
            parsed, text = self.parsed[run][place], texts.get(self.items_asked[item].id, "")
            contributions[place, yes_no_metric.column(truth[item], parsed)] += 1
            as_pope = parse_yes_no_as_pope(text) or "yes"
            contributions[place, yes_no_metric.column_as_pope(truth[item], as_pope)] += 1
        return Sums.of(columns_of(yes_no_metric.FAMILY), settings, contributions)


def _answers(run: RunData) -> Any:
    """Item, mode, outcome, verdict and reading of every stored answer, as an Arrow table."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in READ])
    parts = [_columns(path).cast(schema) for path in shards(run.folder)]
    for journal in journals(run.folder):
        rows = [
            {name: getattr(each, name) for name in READ} | {"outcome": each.outcome.value}
            for each in read_journal(journal)
        ]
        parts.append(pa.Table.from_pylist(rows, schema))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _columns(path: Path) -> Any:
    import pyarrow as pa

    there = read_columns(path)
    table = read_table(path, [name for name in READ if name in there])
    for name in READ:
        if name not in there:
            table = table.append_column(name, pa.nulls(len(table), pa.string()))
    return table.select(READ)


def _end_codes(answers: Any) -> Codes:
    """How each answer ended, by the rules of the exam's scores."""
    import pyarrow.compute as pc

    def are(name: str, value: str) -> Flags:
        column = answers.column(name).fill_null("")
        found: Flags = pc.equal(column, value).to_numpy()
        return found

    ends = np.select(
        [
            are("verdict", "unjudged"),
            are("outcome", "failed"),
            are("outcome", "unparsed"),
            are("verdict", "right"),
        ],
        [UNJUDGED, LOST, UNREAD, RIGHT],
        WRONG,
    )
    return ends.astype(np.int8)


def _texts(run: RunData, items: Sequence[Item]) -> dict[str, str]:
    """What was said, word for word; POPE's own script reads that."""
    found: dict[str, str] = {}
    for path in shards(run.folder):
        table = read_table(path, ["item_id", "text"])
        found |= dict(
            zip(table.column("item_id").to_pylist(), table.column("text").to_pylist(), strict=True)
        )
    return {item.id: found[item.id] or "" for item in items if item.id in found}
