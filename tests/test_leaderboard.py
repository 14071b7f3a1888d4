"""A site of runs, and entries that prove their own numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.conftest import Ran

import groundfault as gf
from groundfault.analysis.compare import compare_runs
from groundfault.analysis.entries import Entry, entry_of, read_entry, recomputed, unpack
from groundfault.errors import DataError
from groundfault.io.example import write_example
from groundfault.io.results import stamp


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    base = tmp_path_factory.mktemp("runs")
    paths = write_example(base)
    folders = []
    for name in ("gullible", "careful"):
        gf.score("cafe", annotations=[paths["annotations"]], predictions=paths[name],
                 out=base / name, bootstrap=200)  # fmt: skip
        folders.append(base / name)
    return folders


def test_a_site_has_a_page_numbers_and_entries(
    runs: list[Path], tmp_path: Path, run: Callable[..., Ran]
) -> None:
    ran = run("leaderboard", *runs, "--by", "us", "--out", tmp_path / "site")
    assert ran.code == 0, ran.err
    lines = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert [line["name"] for line in lines] == ["careful", "gullible"]  # the better first
    assert [line["ranks"]["cgF1"] for line in lines] == [1, 2]
    assert all((tmp_path / "site" / line["file"]).is_file() for line in lines)
    page = (tmp_path / "site" / "index.html").read_text()
    assert page.index("careful") < page.index("gullible") and "<script src" not in page
    again = run(
        "leaderboard", *(tmp_path / "site" / "entries").glob("*.json"), "--out", tmp_path / "b"
    )
    assert again.code == 0, again.err
    assert json.loads((tmp_path / "b" / "leaderboard.json").read_text()) == lines


def test_an_unpacked_entry_compares_as_the_run_it_is_of(runs: list[Path], tmp_path: Path) -> None:
    folders = [unpack(entry_of(folder), tmp_path / folder.name) for folder in runs]
    there, here = (compare_runs(found, resamples=200) for found in (runs, folders))
    assert (here.rows, here.tests, here.ranks) == (there.rows, there.tests, there.ranks)


def change(path: list[Any], value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(entry: dict[str, Any]) -> None:
        *before, last = path
        for key in before:
            entry = entry[key]
        entry[last] = value(entry[last]) if callable(value) else value

    return apply


OVERALL, GIVEN = ("summary", "rows", "Overall", "metrics"), ("contributions",)
TRICKS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a better number": (change([*OVERALL, "AFPR", "value"], 0.0), "not those"),
    "a kinder case": (change([*GIVEN, "target.TA-FP", 0], lambda x: 1.0 - x), "does not follow"),
    "a case less": (change(["case_id"], lambda x: x[1:]), "case_id: has"),
    "no number": (change([*GIVEN, "pcs.objects", 3], "many"), "is no entry"),
    "an infinite one": (change([*GIVEN, "pcs.objects", 3], 1e400), "no"),
    "a script as address": (change(["url"], "javascript:alert(1)"), "url"),
    "no name": (change(["name"], "  "), "name"),
    "an unknown field": (change(["more"], lambda x: x), "is no entry"),
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_an_entry_that_was_changed_is_refused(
    trick: str, runs: list[Path], tmp_path: Path, run: Callable[..., Ran]
) -> None:
    run("leaderboard", runs[0], "--out", tmp_path / "site")
    (file,) = (tmp_path / "site" / "entries").glob("*.json")
    entry = json.loads(file.read_text())
    entry.setdefault("url", "")
    if trick == "an unknown field":
        entry["more"] = 1
    else:
        TRICKS[trick][0](entry)
    file.write_text(json.dumps(entry))
    ran = run("leaderboard", file, "--out", tmp_path / "b")
    assert ran.code == 2 and TRICKS[trick][1] in ran.err, ran.err
    assert not (tmp_path / "b").exists()


def test_forged_numbers_with_a_fresh_stamp_are_found(runs: list[Path], tmp_path: Path) -> None:
    entry = entry_of(runs[0])
    row = entry.summary.rows["Overall"]
    better = msgspec.structs.replace(row.metrics["cgF1"], value=0.99)
    row = msgspec.structs.replace(row, metrics={**row.metrics, "cgF1": better})
    rows = {**entry.summary.rows, "Overall": row}
    forged = msgspec.structs.replace(entry.summary, rows=rows)
    forged = msgspec.structs.replace(forged, stamp=stamp(forged))
    file = tmp_path / "forged.json"
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(entry, summary=forged)))
    with pytest.raises(DataError, match="cgF1 does not follow from its cases"):
        read_entry(file)


SETTINGS = ("summary", "settings")
CHEATS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "resamples without end": (change([*SETTINGS, "bootstrap"], 10**9), "bootstrap must be"),
    "fewer than no resamples": (change([*SETTINGS, "bootstrap"], -5), "bootstrap must be"),
    "resamples in words": (change([*SETTINGS, "bootstrap"], "many"), "bootstrap must be"),
    "a seed below zero": (change([*SETTINGS, "seed"], -1), "seed must be"),
    "an unknown protocol": (change(["summary", "protocol"], "mine"), "is not known here"),
    "less than nothing": (change([*GIVEN, "target.TA-FP", 0], -1.0), "what no case can"),
    "a metric of its own": (
        change([*OVERALL], lambda found: {**found, "best": {"value": 1.0}}), "best does not follow",
    ),
    "no columns": (change(["contributions"], {}), "no contributions"),
    "a foreign column": (
        change(["contributions"], lambda x: {"mine.x": x["pcs.objects"]}), "contributions: unknown",
    ),
    "no rows": (change(["summary", "rows"], {}), "no row Overall"),
    "a case of nowhere": (change(["case", 0], -3), "case: has a number"),
    "a name that turns text around": (change(["name"], "a\u202eb"), "printable"),
    "a name without end": (change(["by"], "x" * 1000), "at most 200 characters"),
}  # fmt: skip


@pytest.mark.parametrize("cheat", CHEATS)
def test_an_entry_that_was_changed_and_stamped_again_is_refused(
    cheat: str, runs: list[Path], tmp_path: Path
) -> None:
    """None of them ends in a traceback, takes all memory, or is shown."""
    content = json.loads(msgspec.json.encode(entry_of(runs[0])))
    made, told = CHEATS[cheat]
    made(content)
    entry = msgspec.convert(content, Entry)
    summary = msgspec.structs.replace(entry.summary, stamp=stamp(entry.summary))
    file = tmp_path / "cheat.json"
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(entry, summary=summary)))
    with pytest.raises(DataError, match=told):
        read_entry(file)


def test_part_of_the_cases_is_never_ranked_against_the_whole(
    runs: list[Path], tmp_path: Path
) -> None:
    entry = entry_of(runs[0])
    kept = slice(0, 100)
    part = msgspec.structs.replace(
        entry, name="part", case=entry.case[kept], case_id=entry.case_id[kept],
        rows=entry.rows[kept], split=entry.split[kept], truth_sha256=entry.truth_sha256[kept],
        contributions={name: values[kept] for name, values in entry.contributions.items()},
    )  # fmt: skip
    summary = msgspec.structs.replace(part.summary, rows=recomputed(part))
    summary = msgspec.structs.replace(summary, stamp=stamp(summary))
    file = tmp_path / "part.json"
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(part, summary=summary)))
    site = gf.leaderboard([*runs, file], tmp_path / "site")
    lines = json.loads((site / "leaderboard.json").read_text())
    assert {line["name"]: bool(line["ranks"]) for line in lines} == {
        "careful": True, "gullible": True, "part": False,
    }  # fmt: skip


def test_hostile_names_are_text_and_files_stay_inside(runs: list[Path], tmp_path: Path) -> None:
    entry = msgspec.structs.replace(entry_of(runs[0]), name="../<img src=x onerror=a()>")
    file = tmp_path / "entry.json"
    file.write_bytes(msgspec.json.encode(entry))
    site = gf.leaderboard([file], tmp_path / "site")
    assert "<img" not in (site / "index.html").read_text()
    (written,) = (site / "entries").iterdir()
    assert written.name == "img_src_x_onerror_a.json"
