"""Boards: their numbers are those of summaries, `sweep` and `compare`, and selections are what a
plain loop would select."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.conftest import rewrite_results

import groundfault as gf
from groundfault.analysis.compare import compare_runs
from groundfault.analysis.scoring import score_run
from groundfault.analysis.statistics import distinct_rows
from groundfault.analysis.summary import read_results, summarise, write_results
from groundfault.errors import GroundfaultError, UnknownName, UsageError
from groundfault.metrics import target_aware
from groundfault.protocols.exam import twin_items
from groundfault.records import Outcome
from groundfault.runs.benchmark import read_again
from groundfault.runs.recorder import read_predictions, replace_predictions
from groundfault.runs.run import read_run
from groundfault.web.explore import points
from groundfault.web.explore.board import Board, Point
from groundfault.web.explore.boards import read_boards
from groundfault.web.explore.confusion import confusion
from groundfault.web.explore.contrast import contrast, differences
from groundfault.web.explore.listing import listed, rates
from groundfault.web.explore.selection import Marked, Selection, end_counts, facet_counts, select
from groundfault.web.explore.views import Chosen, Ended, View, address, parse

Boards = Callable[[str], Board]
Runs = Callable[[str], list[Path]]
NOTHING = Marked({}, frozenset())
KINDS = ("pairs", "crowd", "quads", "exam", "clean")


def chosen(board: Board, **view: object) -> Selection:
    return select(board, View(**view), NOTHING)  # type: ignore[arg-type]


def same(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else abs(a - b) < 1e-12


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_rates_are_those_of_the_summary(board_of: Boards, kind: str) -> None:
    board = board_of(kind)
    assert board.notes == []
    for run, sums in zip(board.runs, board.own_sums, strict=True):
        for row, content in run.summary.rows.items():
            if row in board.rows:
                values = sums.values(board.rows[row])
                for metric, estimate in content.metrics.items():
                    assert same(values[metric], estimate.value), (run.name, row, metric)


def test_twins_count_as_in_the_summary(board_of: Boards, made: Runs) -> None:
    board, rows = board_of("exam"), ("Overall", "erasure", "attribute", "tracing", "counting")
    for run, sums in zip(board.runs, board.own_sums, strict=True):
        for row in rows:
            chosen_, told = board.rows[row], run.summary.rows[row].metrics["paired_accuracy"]
            found = sums.estimates(chosen_, board.cluster, resamples=100, seed=0)
            assert found["paired_accuracy"] == told and told.n, (run.name, row)
    paired = [run.summary.rows["Overall"].metrics["paired_accuracy"].value for run in board.runs]
    assert paired[0] == 0.0 and paired[2] == 1.0  # blind, oracle
    view, base = View(a="oracle", b="random"), chosen(board).base
    compared = compare_runs([made("exam")[2], made("exam")[1]], resamples=500, seed=0)
    [test] = [t for t in compared.tests if (t.row, t.metric) == ("Overall", "paired_accuracy")]
    mine = {each.metric: each for each in differences(board, view, base, resamples=500)}
    assert same(mine["paired_accuracy"].difference, test.difference)
    assert same(mine["paired_accuracy"].p, test.p)


def test_a_pair_with_an_answer_that_failed_counts_nowhere(made: Runs, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made("exam")[2], tmp_path / "run"))
    benchmark = read_again(read_run(run))
    twin = twin_items(benchmark)[0][1].id
    lost = [each for each in read_predictions(run) if (each.item_id, each.mode) == (twin, "std")]
    ended = {"outcome": Outcome.FAILED, "verdict": None}
    replace_predictions(run, [msgspec.structs.replace(each, **ended) for each in lost])
    scored, data = score_run(benchmark, run, {}), read_results(run)[0].data
    write_results(run, scored, summarise(scored, bootstrap=0, seed=0, data=data))
    [shelf] = read_boards([made("exam")[2], run])
    every = shelf.board.rows["Overall"]
    whole, part = (
        sums.estimates(every, shelf.board.cluster, resamples=0, seed=0)["paired_accuracy"]
        for sums in shelf.board.own_sums
    )
    told = read_results(run)[0].rows["Overall"].metrics["paired_accuracy"]
    assert (part.value, part.n) == (told.value, told.n) == (1.0, whole.n - 1)


def swept(board: Board, taus: tuple[float | None, ...]) -> Iterator[tuple[int, gf.Estimate, str]]:
    for run, made in enumerate(board.runs):
        given = {"tau": taus} if taus != (None,) else {}
        try:
            found = gf.sweep(made.folder, t=(0.05, 0.3, 0.5, 0.85, 0.99), **given)
        except UsageError as problem:
            assert "tells predictions apart" in str(problem)
            continue
        for point in found.points:
            yield run, point, point.row  # type: ignore[misc]


@pytest.mark.parametrize(("kind", "taus"), [("pairs", (0.1, 0.3, 0.75)), ("crowd", (0.3, 0.6)),
                                            ("clean", (None,))])  # fmt: skip
def test_any_threshold_is_that_of_sweep(
    board_of: Boards, kind: str, taus: tuple[float | None, ...]
) -> None:
    board = board_of(kind)
    seen = 0
    for run, swept_point, row in swept(board, taus):
        point = Point(swept_point.t, swept_point.tau)  # type: ignore[attr-defined]
        metrics = swept_point.metrics  # type: ignore[attr-defined]
        member = board.rows[row]
        quick, full = board.quick_sums(run, point), board.full_sums(run, point).values(member)
        for name, estimate in metrics.items():
            assert same(full[name], estimate.value), (run, point, row, name)
        if quick is not None and kind != "clean":
            at_once = quick.values(member)
            for name in target_aware.METRICS:
                assert at_once[name] == metrics[name].value
            seen += 1
        for side, cells in (
            ("p⁺", target_aware.POSITIVE_CELLS),
            ("p⁻", target_aware.NEGATIVE_CELLS),
        ):
            if side in board.sides:
                ends = board.ends(point)[run][side][member]
                for code, cell in enumerate(cells):
                    assert (ends == code).sum() == metrics[cell].value
    assert seen or kind == "clean"


def test_a_crowd_needs_its_masks(board_of: Boards) -> None:
    board = board_of("crowd")
    assert len(board.matched) == len(board.runs)  # type: ignore[attr-defined]
    always = next(k for k, run in enumerate(board.runs) if run.name == "always-yes")
    said = board.pairs[always].negative  # type: ignore[attr-defined]
    assert said.own is not None and (said.own > 0).any()


def test_failed_and_unread_answers_are_counted_as_scores_count_them(
    made: Runs, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(made("pairs")[0], tmp_path / "run"))
    ends = {1: Outcome.FAILED, 2: Outcome.UNPARSED, 5: Outcome.UNPARSED, 8: Outcome.FAILED}
    found = list(read_predictions(run))
    nothing = {"masks": (), "scores": (), "qualities": (), "presence": None}
    changed = [msgspec.structs.replace(found[k], outcome=end, **nothing) for k, end in ends.items()]
    replace_predictions(run, changed)
    scored = score_run(read_again(read_run(run)), run, {"t": 0.5})
    write_results(run, scored, summarise(scored, bootstrap=0, seed=0))
    [shelf] = read_boards([run])
    for _, point, row in swept(shelf.board, (0.3,)):
        at = Point(point.t, point.tau)  # type: ignore[attr-defined]
        sums = shelf.board.quick_sums(0, at)
        assert sums is not None
        values = sums.values(shelf.board.rows[row])
        for name in target_aware.METRICS:
            assert values[name] == point.metrics[name].value  # type: ignore[attr-defined]
    labels = [shelf.board.sides["p⁻"][code] for code in shelf.board.ends(Point())[0]["p⁻"]]
    assert labels.count("failed") == 2 and "UA-FP" in labels


def test_many_predictions_per_case_are_counted_alike(
    board_of: Boards, made: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of("pairs")
    monkeypatch.setattr(points, "PADDED", 0)
    [shelf] = read_boards(made("pairs"))
    for point in (Point(), Point(0.1, 0.1), Point(0.3, 0.8)):
        for mine, theirs in zip(shelf.board.ends(point), board.ends(point), strict=True):
            assert all(np.array_equal(mine[side], theirs[side]) for side in board.sides)


def test_tests_are_those_of_compare(board_of: Boards, made: Runs) -> None:
    board = board_of("pairs")
    view = View(a="nano-cft", b="nano-base")
    base = chosen(board).base
    compared = compare_runs([made("pairs")[1], made("pairs")[0]], resamples=2000, seed=0)
    for test in compared.mcnemar:
        found = contrast(board, msgspec.structs.replace(view, on=test.outcome), base)
        assert (found.only_a, found.only_b, found.p) == (
            test.only_a_right, test.only_b_right, test.p,
        )  # fmt: skip
        assert found.both + found.neither + found.only_a + found.only_b == base.sum() == 8
    made_of = {each.metric: each for each in differences(board, view, base, resamples=2000)}
    assert set(made_of) == {test.metric for test in compared.tests}
    for each in compared.tests:
        mine = made_of[each.metric]
        assert same(mine.difference, each.difference) and mine.method == each.method
        assert same(mine.p, each.p) and same(mine.low, each.low) and same(mine.high, each.high)


def test_intervals_of_many_are_those_of_few(
    board_of: Boards, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundfault.web.explore import sums

    board = board_of("pairs")
    every = board.rows["Overall"]
    few = board.own_sums[1].estimates(every, board.cluster, resamples=4000, seed=0)
    monkeypatch.setattr(sums, "MANY", 0)
    many = board.own_sums[1].estimates(every, board.cluster, resamples=4000, seed=0)
    for name in ("AFPR", "cgF1", "SoftSwap"):
        assert same(few[name].value, many[name].value)
        ends = [(each.low, each.high) for each in (few[name], many[name])]
        assert np.allclose(np.array(ends[0], float), np.array(ends[1], float), atol=0.05)


def test_distinct_rows_are_those_of_numpy() -> None:
    rows = np.random.default_rng(0).integers(0, 3, (500, 4)).astype(float)
    found, number = distinct_rows(rows)
    expected, places = np.unique(rows, axis=0, return_inverse=True)
    assert np.array_equal(found, expected) and np.array_equal(number, places.ravel())


# ── which runs share a board ────────────────────────────────────────────────────────────────────


def test_other_content_is_shown_apart(made: Runs, tmp_path: Path) -> None:
    part = tmp_path / "part"
    gf.evaluate(
        read_run(made("pairs")[0]).benchmark_folder, "oracle", out=part, limit=3, bootstrap=0
    )
    shelves = read_boards([*made("pairs"), part, *made("quads")])
    assert [len(shelf.board.runs) for shelf in shelves] == [3, 1, 2]
    assert shelves[0].apart and shelves[1].apart and not shelves[2].apart
    assert len({shelf.key for shelf in shelves}) == 3


def test_runs_at_other_thresholds_share_a_board(made: Runs, tmp_path: Path) -> None:
    other = tmp_path / "strict"
    shutil.copytree(made("pairs")[1], other)
    scored = score_run(read_again(read_run(other)), other, {"t": 0.8, "tau": 0.6})
    summary, _ = read_results(made("pairs")[1])
    write_results(other, scored, summarise(scored, bootstrap=0, seed=0, data=summary.data))
    [shelf] = read_boards([made("pairs")[0], other])
    board = shelf.board
    assert [run.t for run in board.runs] == [0.5, 0.8]
    own, both = board.ends(Point()), board.ends(Point(0.5, 0.3))
    assert np.array_equal(own[0]["p⁺"], both[0]["p⁺"])
    assert not np.array_equal(own[1]["p⁺"], both[1]["p⁺"])


def test_a_run_of_another_packages_protocol_is_listed(made: Runs, tmp_path: Path) -> None:
    other = Path(shutil.copytree(made("pairs")[0], tmp_path / "other"))
    rewrite_results(other, protocol="somebodys-own")
    [shelf] = read_boards([other])
    board = shelf.board
    assert type(board) is Board and len(board) == len(board.names)
    page = listed(board, View(), chosen(board), {})
    assert page.n and page.entries[0]["asked"] == []
    with pytest.raises(UsageError, match="right or wrong"):
        chosen(board, a="x", b="y", ab="10")


# ── selections ──────────────────────────────────────────────────────────────────────────────────


VIEWS = (
    View(row="all"),
    View(row="all", q="SEEN"),
    View(chosen=(Chosen("intervention", "SM"), Chosen("intervention", "CC"))),
    View(row="all", chosen=(Chosen("dose", "0.5"),), ended=(Ended("p⁻", "TN", "nano-base"),)),
    View(
        row="all", t=0.2, ended=(Ended("p⁺", "TA-TP", "nano-cft"), Ended("p⁺", "UA-P", "nano-cft"))
    ),
    View(row="all", a="nano-cft", b="nano-base", ab="10", on="p⁺ found", t=0.7),
    View(row="all", a="nano-cft", b="nano-base", ab="00"),
    View(row="SM", chosen=(Chosen("dose", "no such dose"),)),
)


def plainly(board: Board, view: View, place: int) -> bool:
    """Whether an entry is in a view, by a plain loop."""
    run = {each.name: k for k, each in enumerate(board.runs)}
    ends = board.ends(view.point)

    def label(side: str, name: str) -> str:
        return board.sides[side][int(ends[run[name]][side][place])]

    def right(name: str) -> int:
        both = (label("p⁺", name) == "TA-TP", label("p⁻", name) == "TN")
        return int(all(both)) if not view.on else int(both[0])

    facts = {name: facet.labels[facet.codes[place]] for name, facet in board.facets.items()}
    text = " ".join([board.names[place].as_py(), *facts.values()]).lower()
    groups: dict[str, list[bool]] = {}
    for each in view.chosen:
        groups.setdefault(each.facet, []).append(facts[each.facet] == each.value)
    for end in view.ended:
        key = f"{end.side}@{end.run}"
        groups.setdefault(key, []).append(label(end.side, end.run) == end.end)
    return (
        (view.row == "all" or bool(board.rows[view.row][place]))
        and all(word in text for word in view.q.lower().split() if word != "seen")
        and all(any(group) for group in groups.values())
        and (not view.ab or f"{right(view.a)}{right(view.b)}" == view.ab)
    )


@pytest.mark.parametrize("view", VIEWS)
def test_a_selection_is_what_a_loop_selects(board_of: Boards, view: View) -> None:
    board = board_of("pairs")
    found = select(board, view, NOTHING)
    if view.q:  # phrases and names are searched, not properties
        assert found.n == 0
        return
    assert np.flatnonzero(found.chosen).tolist() == [
        place for place in range(len(board)) if plainly(board, view, place)
    ]


def test_counts_are_what_choosing_would_leave(board_of: Boards) -> None:
    board = board_of("pairs")
    view = View(row="all", chosen=(Chosen("dose", "1"),), ended=(Ended("p⁻", "TN", "nano-cft"),))
    found = select(board, view, NOTHING)
    for facet in facet_counts(board, view, found):
        for each in facet["values"]:
            others = tuple(old for old in view.chosen if old.facet != facet["name"])
            other = msgspec.structs.replace(
                view, chosen=(*others, Chosen(facet["name"], each["value"]))
            )
            assert select(board, other, NOTHING).n == each["n"]
    for run, counts in enumerate(end_counts(board, view, found)):
        for side, times in counts.items():
            for code, n in enumerate(times):
                name = board.runs[run].name
                rest = tuple(old for old in view.ended if (old.side, old.run) != (side, name))
                ended = (*rest, Ended(side, board.sides[side][code], name))
                assert select(board, msgspec.structs.replace(view, ended=ended), NOTHING).n == n


def test_orders(board_of: Boards) -> None:
    board = board_of("pairs")
    right = (board.right(Point(), "both right") == 1).sum(axis=0)
    order = chosen(board, row="all", sort="hardest").order()
    assert (np.diff(right[order]) >= 0).all()
    assert (np.diff(right[chosen(board, row="all", sort="easiest").order()]) <= 0).all()
    scores = board.measures["score of p⁻"](1)
    down = chosen(board, row="all", sort="score of p⁻", by="nano-cft", down=True).order()
    known = scores[down][~np.isnan(scores[down])]
    assert (np.diff(known) <= 0).all() and np.isnan(scores[down][len(known) :]).all()


def test_pages_hold_everything_once(board_of: Boards) -> None:
    board, seen = board_of("exam"), list[str]()
    pages = listed(board, View(row="all"), chosen(board, row="all"), {}).pages
    for page in range(1, pages + 1):
        view = View(row="all", page=page, sort="disputed")
        seen += [
            entry["name"] for entry in listed(board, view, select(board, view, NOTHING), {}).entries
        ]
    assert len(seen) == len(set(seen)) == len(board)
    assert chosen(board).n == int(board.rows["Overall"].sum()) < len(board)  # without twins
    beyond = View(row="all", page=99)
    assert listed(board, beyond, select(board, beyond, NOTHING), {}).page == pages


def test_own_marks_select(board_of: Boards) -> None:
    board = board_of("pairs")
    names = [board.names[k].as_py() for k in (0, 3)]
    marked = Marked({"glass": frozenset(names)}, frozenset(names[:1]))
    view = View(row="all", tags=("glass",))
    assert select(board, view, marked).order().tolist() == [0, 3]
    assert select(board, msgspec.structs.replace(view, noted=True), marked).order().tolist() == [0]
    assert select(board, View(row="all", tags=("none",)), marked).n == 0


@pytest.mark.parametrize(("view", "problem"), [
    (View(row="nowhere"), "row"), (View(chosen=(Chosen("colour", "red"),)), "property"),
    (View(ended=(Ended("p⁻", "XX", "nano-cft"),)), "end"), (View(sort="size"), "order"),
    (View(ended=(Ended("p⁻", "TN", "nobody"),)), "run"), (View(a="x", b="y", ab="10"), "run"),
])  # fmt: skip
def test_unknown_names_are_refused(board_of: Boards, view: View, problem: str) -> None:
    with pytest.raises(UnknownName, match=f"unknown {problem}"):
        select(board_of("pairs"), view, NOTHING).order()


def test_views_are_addresses() -> None:
    from urllib.parse import parse_qsl

    view = View(
        set="ab", row="SM seen", q="a b", t=0.25, tau=0.5, chosen=(Chosen("p⁺ phrase", "x:y@z&"),),
        ended=(Ended("p⁻", "TA-FP", "openai:a@b:c"),), a="A&B", b="é", on="p⁺ found", ab="01",
        tags=("so so",), noted=True, sort="hardest", down=True, page=3, case="c d",
    )  # fmt: skip
    assert parse(parse_qsl(address(view))) == view
    assert parse([]) == View() and address(View()) == ""
    for wrong in ("ab=2", "t=x", "tau=-1", "tau=1.5", "page=0", "page=x", "f=x", "e=x:y", "t=nan"):
        with pytest.raises(UsageError):
            parse([tuple(wrong.split("=", 1))])  # type: ignore[list-item]


# ── what is taken for what ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["pairs", "quads"])
def test_confusions_are_counted(board_of: Boards, kind: str) -> None:
    board = board_of(kind)
    every = np.ones(len(board), bool)
    for way, (there, asked, judge) in board.confusable.items():
        found = confusion(board, every, Point(), way=way)
        ends = [judge(of_run) for of_run in board.ends(Point())]
        labels = [(board.facets[name].labels, board.facets[name].codes) for name in (there, asked)]
        counted: dict[tuple[str, str], list[list[int]]] = {}
        for place in range(len(board)):
            key = tuple(names[codes[place]] for names, codes in labels)
            row = counted.setdefault(key, [[0, 0] for _ in board.runs])  # type: ignore[arg-type]
            for run, end in enumerate(ends):
                row[run][0] += int(end[place] >= 0)
                row[run][1] += int(end[place] == 1)
        assert found.n_pairs == len(counted)
        for pair in found.pairs:
            assert [list(both) for both in zip(pair.n, pair.taken, strict=True)] == counted[
                pair.there, pair.asked
            ]
        taken = [sum(pair.taken) for pair in found.pairs]
        assert not any(taken[taken.index(0) :] if 0 in taken else [])
        assert any(taken) or kind == "quads"


def test_questions_have_no_two_phrases(board_of: Boards) -> None:
    with pytest.raises(UsageError, match="two phrases"):
        confusion(board_of("exam"), np.ones(len(board_of("exam")), bool), Point())


def test_rates_say_what_is_missing(board_of: Boards) -> None:
    """Without masks at hand there are the target-aware rates, and a reason for the rest."""
    board = board_of("pairs")
    found = rates(board, View(t=0.31), chosen(board, t=0.31), full=False, intervals=False)
    assert "AFPR" in found.runs[0]["values"] and "cgF1" not in found.runs[0]["values"]
    full = rates(board, View(t=0.31), chosen(board, t=0.31), full=True, intervals=True)
    assert full.runs[0]["values"]["cgF1"].interval and full.runs[0]["t"] == 0.31
    assert not full.runs[0]["why"]


def test_dumps_whose_files_are_gone_keep_their_cells(made: Runs, tmp_path: Path) -> None:
    gone = tmp_path / "scores"
    gone.mkdir()
    for name in ("summary.json", "cases.parquet"):
        shutil.copy(made("pairs")[0] / name, gone / name)
    [shelf] = read_boards([gone])
    board = shelf.board
    assert board.quick_sums(0, Point(0.2, 0.3)) is not None
    with pytest.raises(GroundfaultError, match="not at hand"):
        board.full_sums(0, Point(0.2, 0.3))
    found = rates(board, View(t=0.2), chosen(board, t=0.2), full=True, intervals=False)
    assert "not at hand" in found.runs[0]["why"] and "AFPR" in found.runs[0]["values"]
