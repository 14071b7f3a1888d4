"""The report: what it says, that it is safe and complete, and how it behaves in a browser."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageDraw
from tests.conftest import rewrite_results

import groundfault as gf
from groundfault.analysis.scoring import score_files
from groundfault.analysis.summary import read_results, summarise, write_results
from groundfault.benchmarks import cafe, folder, fprefcoco
from groundfault.errors import DataError, UsageError
from groundfault.io.coco import read_coco_results
from groundfault.io.example import write_example
from groundfault.io.masks import decode, encode
from groundfault.matching.overlaps import compare_predictions
from groundfault.protocols import concepts, referring
from groundfault.records import Benchmark, Card, Case, Item, Outcome, Prediction, Region, Role
from groundfault.reports.page import agent_steps, gallery, html, write_figures, write_report
from groundfault.reports.page import pictures as page_pictures
from groundfault.reports.page.inputs import Chapter, chapters, load_runs
from groundfault.reports.page.outlines import outline, shrink
from groundfault.reports.page.pictures import Pictures
from groundfault.reports.page.points import counts, points_of, surface
from groundfault.reports.page.sources import Sources
from groundfault.reports.page.telling import telling_case
from groundfault.runs.run import Run, read_run, write_run
from groundfault.runs.shards import write_shard

pytest.importorskip("jinja2")

GOLDEN = Path(__file__).parent / "golden"
EVIL = '<script>alert("x")</script>'
EVIL_MODEL = "base <img src=x onerror=run()>"
SIDE_PX = 96
PHRASES = {"SM": ("cat", "tiger"), "CC": ("toy boat", "ship"), "OC": ("bronze statue", "horse")}
Write = Callable[..., list[Path]]


# ── runs to report on ──────────────────────────────────────────────────────────────────────────


def score_example(where: Path, n: int, *, bootstrap: int = 200, t: float = 0.5) -> list[Path]:
    paths = write_example(where / "example", n=n)
    benchmark = cafe.read([paths["annotations"]])
    runs = []
    for model in ("gullible", "careful"):
        overlaps = compare_predictions(benchmark, read_coco_results(paths[model]))
        scored = concepts.score(benchmark, overlaps, t=t, tau=0.3, iou="segm", variant="parity")
        summary = summarise(scored, bootstrap=bootstrap, seed=0, data={"annotations": f"n{n}"})
        write_results(where / model, scored, summary)
        runs.append(where / model)
    return runs


@pytest.fixture(scope="module")
def example_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return score_example(tmp_path_factory.mktemp("example"), 60)


def drawn_benchmark(pictures: Path, n: int) -> Benchmark:
    """Coloured shapes on grey; the first query is an attack."""
    pictures.mkdir(parents=True)
    rng = np.random.default_rng(0)
    cases, items = [], []
    for number in range(n):
        kind = list(PHRASES)[number % 3]
        x, y = (int(v) for v in rng.integers(4, 40, 2))
        picture = Image.new("RGB", (SIDE_PX, SIDE_PX), (200, 200, 210))
        pen = ImageDraw.Draw(picture)
        pen.ellipse((x, y, x + 48, y + 40), fill=tuple(rng.integers(0, 255, 3).tolist()))
        picture.save(pictures / f"{number}.png")
        mask = Image.new("1", picture.size)
        ImageDraw.Draw(mask).ellipse((x, y, x + 48, y + 40), fill=1)
        region = Region(encode(np.array(mask)))
        positive, negative = PHRASES[kind]
        shared: dict[str, Any] = {
            "case_id": f"case-{number}", "images": (f"{number}.png",), "height_px": SIDE_PX,
            "width_px": SIDE_PX, "target": region,
        }  # fmt: skip
        cases.append(Case(id=f"case-{number}", intervention=kind))
        items += [
            Item(id=f"{number}+", role=Role.POSITIVE, query=positive, regions=(region,), **shared),
            Item(id=f"{number}-", role=Role.NEGATIVE, query=negative if number else EVIL, **shared),
        ]
    card = Card(name="cafe", title="", source="", licence="", citation="", main_metric="cgF1")
    return Benchmark(card=card, cases=tuple(cases), items=tuple(items))


def answer(item: Item, number: int, fooled: int) -> Prediction:
    """Finds p⁺; accepts p⁻ in `fooled` of ten cases; some fail, abstain or cannot be read."""
    assert item.target is not None
    assert item.target.mask is not None
    end = {3: Outcome.FAILED, 4: Outcome.ABSTAINED, 5: Outcome.UNPARSED}.get(number)
    if end is not None and item.role is Role.NEGATIVE:
        return Prediction(item_id=item.id, outcome=end)
    moved = encode(np.roll(decode(item.target.mask), 3, axis=1))
    sure = item.role is Role.POSITIVE or number % 10 < fooled
    return Prediction(
        item_id=item.id, outcome=Outcome.OK, masks=(moved,), scores=(0.9 if sure else 0.2,)
    )


@pytest.fixture(scope="module")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs as `eval` leaves them, with a benchmark folder that has pictures."""
    where = tmp_path_factory.mktemp("pictured")
    benchmark = drawn_benchmark(where / "raw", 30)
    card = folder.write(benchmark, where / "benchmark", images_from=where / "raw")
    runs = []
    for model, fooled in ((EVIL_MODEL, 8), ("fine-tuned", 2)):
        out = where / f"run{fooled}"
        predictions = [
            answer(item, number // 2, fooled) for number, item in enumerate(benchmark.items)
        ]
        write_shard(out, 0, predictions)
        overlaps = compare_predictions(benchmark, predictions)
        scored = concepts.score(benchmark, overlaps, t=0.5, tau=0.3, iou="segm", variant="exact")
        summary = summarise(scored, bootstrap=200, seed=0, data={"benchmark": card.content_hash})
        write_results(out, scored, summary)
        run = Run(
            model=model, benchmark="cafe", benchmark_folder=str(where / "benchmark"),
            content_hash=card.content_hash, versions={"torch": "2.7"},
        )  # fmt: skip
        write_run(out, run)
        runs.append(out)
    return runs


@pytest.fixture(scope="module")
def halluseg_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("halluseg")
    with tarfile.open(GOLDEN / "halluseg_n60_s21.tar.xz") as archive:
        archive.extractall(where, filter="data")
    inputs = {"cases": where / "results.json", "data": where / "data"}
    scored, hashes = score_files("halluseg", inputs, where / "pred", {"variant": "parity"})
    summary = summarise(scored, bootstrap=200, seed=0, data=hashes)
    write_results(where / "lisa", scored, summary)
    return where / "lisa"


def with_column(run: Path, out: Path, name: str, values: list[Any]) -> Path:
    """A copy of a run whose cases say more."""
    shutil.copytree(run, out)
    table = pq.read_table(run / "cases.parquet")
    longer = table.append_column(name, pa.array(values))
    pq.write_table(longer.replace_schema_metadata(table.schema.metadata), out / "cases.parquet")
    return out


# ── reading a page ─────────────────────────────────────────────────────────────────────────────


class Page(HTMLParser):
    """Ids, links and the text of a page; scripts and styles left out."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.scripts = 0
        self.silent = False
        self.source = path.read_text()
        self.feed(self.source)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent = tag in ("script", "style")
        self.scripts += tag == "script"
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "action", "data", "srcset", "poster"):
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self.silent = False

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.words.append(data)


def page_of(runs: list[Path], out: Path, **options: Any) -> Page:
    write_report(runs, out, **options)
    return Page(out)


def test_the_page_is_complete_and_loads_nothing(pictured: list[Path], tmp_path: Path) -> None:
    page = page_of(pictured, tmp_path / "report.html")
    assert all(re.match(r"#|data:", link) for link in page.links)
    outside = re.findall(r"https?://[^\s\"'<]+", page.source)
    assert set(outside) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in page.source
    assert not re.search(r"url\((?!data:)", page.source)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_foreign_text_stays_text(pictured: list[Path], tmp_path: Path) -> None:
    page = page_of(pictured, tmp_path / "report.html")
    assert EVIL not in page.source
    assert f"p⁻ {EVIL}" in page.text  # the query of the first case
    assert EVIL_MODEL in page.text
    assert "<img" not in page.source
    assert page.scripts == 3  # theme, pictures, behaviour


def test_the_same_runs_give_the_same_bytes(example_runs: list[Path], tmp_path: Path) -> None:
    pages = [page_of(example_runs, tmp_path / f"{k}.html").source for k in (1, 2)]
    assert pages[0] == pages[1]


def test_numbers_stand_with_interval_rank_and_published_rows(
    example_runs: list[Path], tmp_path: Path
) -> None:
    page = page_of(example_runs, tmp_path / "report.html", with_published=True)
    estimate = read_results(example_runs[1])[0].rows["Overall"].metrics["AFPR"]
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    value, low, high = (f"{100 * x:.1f}" for x in (estimate.value, estimate.low, estimate.high))
    assert f"1 {value} {low} – {high}" in page.text
    assert "As published, on other data" in page.text and "CAFE-SAM3 (GPT-5.5)" in page.text
    assert re.search(r"careful accepts the misleading phrase in [\d.]+\s% of pairs", page.text)
    assert "careful leads on cgF1, beyond chance" in page.text
    assert "=1" in page.text  # UCSR: too rare to tell apart


def test_one_run_has_no_ranks(example_runs: list[Path], tmp_path: Path) -> None:
    page = page_of(example_runs[:1], tmp_path / "report.html")
    assert 'class="rank"' not in page.source
    assert "How much depends on the thresholds?" in page.text
    assert "Who has the lowest" not in page.text


def test_without_pictures_there_is_a_table_and_a_reason(
    example_runs: list[Path], tmp_path: Path
) -> None:
    page = page_of(example_runs, tmp_path / "report.html", max_cases=20)
    assert "do not say where their benchmark is" in page.text
    assert page.source.count('<tr class="card"') == 20
    assert "<image" not in page.source


def test_pictures_come_from_the_folder_that_is_given(
    example_runs: list[Path], pictured: list[Path], tmp_path: Path
) -> None:
    bare = []
    for run in pictured:
        bare.append(Path(shutil.copytree(run, tmp_path / run.name)))
        (bare[-1] / "run.json").unlink()
    assert "<image" not in page_of(bare, tmp_path / "1.html").source
    images = pictured[0].parent / "benchmark"
    page = page_of(bare, tmp_path / "2.html", images_from=images)
    assert page.source.count("<image data-picture=") > 20
    with pytest.raises(UsageError, match="is not a groundfault benchmark folder"):
        write_report(bare, tmp_path / "3.html", images_from=tmp_path)


def scored_dump(tmp_path: Path) -> Path:
    """A set in CAFE's own files, and what `score` makes of a dump of predictions."""
    raw = drawn_benchmark(tmp_path / "pictures", 6)
    cafe.write(raw, tmp_path / "set.json")
    read = cafe.read([tmp_path / "set.json"])
    dump = [
        {"image_id": int(item.id) if item.id.isdigit() else item.id, "category_id": 1, "score": 0.9,
         "segmentation": {"size": [SIDE_PX, SIDE_PX], "counts": item.target.mask["counts"]}}
        for item in read.items if item.target and item.target.mask
    ]  # fmt: skip
    (tmp_path / "dump.json").write_text(json.dumps(dump))
    gf.score(
        "cafe",
        annotations=tmp_path / "set.json",
        predictions=tmp_path / "dump.json",
        out=tmp_path / "scored",
        bootstrap=0,
    )
    return tmp_path / "scored"


def test_a_scored_dump_shows_plain_pictures_and_its_masks(tmp_path: Path) -> None:
    scored = scored_dump(tmp_path)
    bare = page_of([scored], tmp_path / "bare.html")
    assert "Give it with --images" in bare.text
    page = page_of([scored], tmp_path / "shown.html", images_from=tmp_path / "pictures")
    assert page.source.count("<image data-picture=") == 12 + 2  # the first case, once more
    assert 'class="answer"' in page.source
    (tmp_path / "dump.json").rename(tmp_path / "moved.json")
    gone = page_of([scored], tmp_path / "gone.html", images_from=tmp_path / "pictures")
    assert "masks cannot be drawn" in gone.text
    (tmp_path / "set.json").unlink()
    lost = page_of([scored], tmp_path / "lost.html", images_from=tmp_path / "pictures")
    assert "set.json: is no longer there" in lost.text


def test_a_run_on_foreign_files_remembers_its_pictures(tmp_path: Path) -> None:
    cafe.write(drawn_benchmark(tmp_path / "pictures", 6), tmp_path / "set.json")
    asked = gf.load("cafe", annotations=[tmp_path / "set.json"], images=tmp_path / "pictures")
    gf.evaluate(asked, "always-yes", out=tmp_path / "run", bootstrap=0)
    made = gf.report(tmp_path / "run" / "summary.json", tmp_path / "report.html")
    assert made.read_text().count("<image data-picture=") == 12 + 2
    (tmp_path / "pictures").rename(tmp_path / "moved")
    assert "--images" in page_of([tmp_path / "run"], tmp_path / "bare.html").text
    page = page_of([tmp_path / "run"], tmp_path / "again.html", images_from=tmp_path / "moved")
    assert page.source.count("<image data-picture=") == 12 + 2


def test_a_folder_of_other_content_gives_no_pictures(pictured: list[Path], tmp_path: Path) -> None:
    run = Path(shutil.copytree(pictured[0], tmp_path / "run"))
    stored = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(stored | {"content_hash": "other"}))
    assert (
        "has other questions than this run was asked"
        in page_of([run], tmp_path / "report.html").text
    )
    (run / "run.json").write_text(json.dumps(stored | {"benchmark_folder": "/gone"}))
    assert "/gone: is no longer there" in page_of([run], tmp_path / "report.html").text


def test_failures_show_counts_and_bounds(pictured: list[Path], tmp_path: Path) -> None:
    page = page_of(pictured, tmp_path / "report.html")
    assert "1 of 60 answers failed" in page.text
    assert "59 of 60 answered" in page.text
    low, high = read_results(pictured[1])[0].bounds["Overall"]["AFPR"]
    assert low is not None
    assert high is not None
    assert f"‹{100 * low:.1f} … {100 * high:.1f}›" in page.text


def test_runs_on_other_data_are_not_ranked(
    example_runs: list[Path], halluseg_run: Path, tmp_path: Path
) -> None:
    other = score_example(tmp_path / "other", 30)
    page = page_of([*example_runs, other[0], halluseg_run], tmp_path / "report.html")
    assert "not ranked against each other" in page.text
    assert page.source.count('class="chapter"') == 3
    assert [len(chapter.runs) for chapter in chapters(load_runs([*example_runs, *other]))] == [2, 2]
    assert {"gullible", "gullible (2)"} <= {
        run.name for run in load_runs([example_runs[0], other[0]])
    }


def test_other_settings_are_another_chapter(example_runs: list[Path], tmp_path: Path) -> None:
    run = Path(shutil.copytree(example_runs[0], tmp_path / "strict"))
    rewrite_results(run, settings={**read_results(run)[0].settings, "tau": 0.7})
    found = chapters(load_runs([*example_runs, run]))
    assert [chapter.apart for chapter in found] == ["τ 0.3", "τ 0.7"]


def test_baselines_stand_below_the_models_and_in_no_figure(
    example_runs: list[Path], tmp_path: Path
) -> None:
    baseline = Path(shutil.copytree(example_runs[0], tmp_path / "always-yes"))
    page = page_of([baseline, *example_runs], tmp_path / "report.html")
    below = page.source.index('<tbody class="baselines">')
    assert page.source.index("always-yes", below) < page.source.index("</tbody>", below)
    assert "always-yes: AFPR" not in page.text and "gullible: AFPR" in page.text
    assert "always-yes leads" not in page.text
    assert re.search(r"Hardest by AFPR: [^(]*\((careful|gullible)", page.text)
    assert "from τ 0.3 to 0.7" in page.text.lower()
    assert "(always-yes)" not in page.text
    assert "always-yes’s scores" not in page.text
    alone = page_of([baseline, example_runs[0]], tmp_path / "alone.html")
    assert "Who has the lowest" not in alone.text


def test_own_thresholds_are_told(example_runs: list[Path], tmp_path: Path) -> None:
    strict = score_example(tmp_path / "strict", 60, t=0.8)[1]
    page = page_of([example_runs[0], strict], tmp_path / "report.html")
    assert "gullible t = 0.5, careful t = 0.8" in page.text


def test_halluseg_has_its_own_sections(halluseg_run: Path, tmp_path: Path) -> None:
    page = page_of([halluseg_run], tmp_path / "report.html")
    assert "dIoU_textual, case by case" in page.text
    assert "words ignored" in page.text
    assert "Does the ranking" not in page.text


def test_referring_and_plain_phrases(tmp_path: Path) -> None:
    paths = write_example(tmp_path / "example", n=12)
    benchmark = fprefcoco.read([paths["annotations"]])
    scored = referring.score(benchmark, read_coco_results(paths["gullible"]), t=0.5)
    write_results(tmp_path / "fp", scored, summarise(scored, bootstrap=0, seed=0))
    pairs = cafe.read([paths["annotations"]])
    overlaps = compare_predictions(pairs, read_coco_results(paths["careful"]))
    plain = concepts.score(pairs, overlaps, t=0.5, tau=None, iou="segm", variant="exact")
    write_results(tmp_path / "plain", plain, summarise(plain, bootstrap=0, seed=0))
    page = page_of([tmp_path / "fp", tmp_path / "plain"], tmp_path / "report.html")
    assert "false premise accepted" in page.text
    assert "FP-RefCOCO" in page.text


def test_dose_and_split_appear_if_the_cases_have_them(
    example_runs: list[Path], tmp_path: Path
) -> None:
    assert "by dose" not in page_of(example_runs, tmp_path / "0.html").text
    run = with_column(example_runs[0], tmp_path / "1", "dose", [k % 4 / 4 for k in range(60)])
    run = with_column(run, tmp_path / "2", "split", ["seen", "unseen"] * 30)
    page = page_of([run], tmp_path / "1.html")
    assert "AFPR by dose" in page.text
    assert "By split" in page.text
    assert "AFPR by dose: SM" in page.text
    assert "not asked at every dose" not in page.text
    kinds = pq.read_table(example_runs[0] / "cases.parquet").column("intervention").to_pylist()
    late = [1.0 if kind == "OC" else k // 4 % 2 + 0.0 for k, kind in enumerate(kinds)]
    page = page_of(
        [with_column(example_runs[0], tmp_path / "4", "dose", late)], tmp_path / "4.html"
    )
    assert "OC · ontological conflict: not asked at every dose" in page.text
    words = with_column(example_runs[0], tmp_path / "3", "dose", ["much"] * 60)
    assert "by dose" not in page_of([words], tmp_path / "2.html").text


def test_the_dose_is_said_to_do_what_it_does(example_runs: list[Path], tmp_path: Path) -> None:
    cells = pq.read_table(example_runs[0] / "cases.parquet").column("negative_cell").to_pylist()
    fooled = [cell == "TA-FP" for cell in cells]
    assert 5 < sum(fooled) < 55
    doses = {"rises": fooled, "falls": [not f for f in fooled]}
    doses["stays within its bands"] = [k % 2 == 0 for k in range(60)]
    for number, (way, strong) in enumerate(doses.items()):
        values = [0.75 if s else 0.25 for s in strong]
        run = with_column(example_runs[0], tmp_path / str(number), "dose", values)
        page = page_of([run], tmp_path / f"{number}.html")
        said = [
            w for w in doses if f"From the weakest dose to the strongest, AFPR {w}" in page.text
        ]
        assert said == [way]
        assert "at dose 0," not in page.text


def test_weaker_doses_and_controls_stay_out_of_the_headline(
    pictured: list[Path], tmp_path: Path
) -> None:
    plain = folder.read(pictured[0].parent / "benchmark")
    cases = tuple(
        msgspec.structs.replace(case, intervention="control")
        if number < 6
        else msgspec.structs.replace(case, tags={"dose": "1" if number % 2 else "0.5"})
        for number, case in enumerate(plain.cases)
    )
    benchmark = msgspec.structs.replace(plain, cases=cases)
    predictions = [answer(item, k // 2, 4) for k, item in enumerate(benchmark.items)]
    overlaps = compare_predictions(benchmark, predictions)
    scored = concepts.score(benchmark, overlaps, t=0.5, tau=0.3, iou="segm", variant="exact")
    write_results(tmp_path / "run", scored, summarise(scored, bootstrap=50, seed=0))
    [run] = load_runs([tmp_path / "run"])
    assert run.rows() == ["Overall", "SM", "CC", "OC"]
    expected = run.summary.rows["Overall"].metrics["AFPR"].value
    assert counts(points_of(run, (0.3,)), "AFPR", 0.5, 0).mean() == pytest.approx(expected)
    page = page_of([tmp_path / "run"], tmp_path / "report.html")
    assert "AFPR by dose" in page.text
    assert "On the unedited controls AFPR is" in page.text
    assert "control · unedited picture" in page.text


def test_a_benchmark_of_another_name_is_told_like_its_kin(
    example_runs: list[Path], tmp_path: Path
) -> None:
    runs = []
    for run in example_runs:
        runs.append(Path(shutil.copytree(run, tmp_path / run.name)))
        rewrite_results(runs[-1], benchmark="mine & yours")
    page = page_of(runs, tmp_path / "report.html")
    assert "accepts the misleading phrase" in page.text
    assert "careful leads on cgF1, beyond chance" in page.text
    assert page.text.startswith("mine & yours: 2 runs")


def test_published_rows_stand_by_themselves_beside_their_own_data_only(
    example_runs: list[Path], tmp_path: Path
) -> None:
    other = page_of(example_runs, tmp_path / "other.html")
    assert "CAFE-SAM3" not in other.text and "As published" not in other.text
    run = Path(shutil.copytree(example_runs[0], tmp_path / "run"))
    rewrite_results(run, origin="teemosliang/CAFE@1")
    same = page_of([run], tmp_path / "same.html")
    assert "As published SAM 3" in same.text and "other data" not in same.text
    rows = read_results(run)[0].rows
    many = msgspec.structs.replace(rows["SM"], n_cases=1111)
    rewrite_results(run, rows={**rows, "SM": many}, origin="", data={"limit": "20"})
    assert "As published" not in page_of([run], tmp_path / "part.html").text


def test_what_is_no_run_is_refused(example_runs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one"):
        write_report([], tmp_path / "report.html")
    with pytest.raises(UsageError, match="no such file"):
        write_report([tmp_path], tmp_path / "report.html")
    bad = Path(shutil.copytree(example_runs[0], tmp_path / "bad"))
    (bad / "cases.parquet").write_bytes(b"no table")
    with pytest.raises(DataError):
        write_report([bad], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


# ── what the figures are made of ───────────────────────────────────────────────────────────────


def test_points_agree_with_the_scorer(pictured: list[Path], example_runs: list[Path]) -> None:
    for run in load_runs([*pictured, *example_runs]):
        points = points_of(run, (0.3,))
        metrics = run.summary.rows["Overall"].metrics
        for name in ("AFPR", "ACSR", "IL-FPR"):
            assert counts(points, name, 0.5, 0).mean() == pytest.approx(metrics[name].value)
        assert counts(points, "found", 0.5, 0).sum() == metrics["TA-TP"].value
        assert surface(points, "AFPR").shape == (1, 19)


@pytest.mark.parametrize(("t", "tau"), [(0.2, 0.1), (0.65, 0.7), (0.95, 0.9)])
def test_any_point_is_what_scoring_there_gives(tmp_path: Path, t: float, tau: float) -> None:
    paths = write_example(tmp_path, n=40)
    benchmark = cafe.read([paths["annotations"]])
    file = paths["gullible"]
    overlaps = compare_predictions(benchmark, read_coco_results(file))

    def write(name: str, t: float, tau: float) -> Path:
        scored = concepts.score(benchmark, overlaps, t=t, tau=tau, iou="segm", variant="parity")
        write_results(tmp_path / name, scored, summarise(scored, bootstrap=0, seed=0))
        return tmp_path / name

    [stored, there] = load_runs([write("stored", 0.5, 0.3), write("there", t, tau)])
    points = points_of(stored, (tau,))
    for name in ("AFPR", "ACSR", "IL-FPR"):
        expected = there.summary.rows["Overall"].metrics[name].value
        assert counts(points, name, t, 0).mean() == pytest.approx(expected)


def test_outlines_cover_what_they_go_around() -> None:
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:120, :160]
    for _ in range(5):
        cx, cy, a, b = rng.uniform((50, 40, 20, 15), (110, 80, 45, 35))
        pixels = ((x - cx) / a) ** 2 + ((y - cy) / b) ** 2 < 1
        pixels &= (x - cx) ** 2 + (y - cy) ** 2 > 36  # a hole
        drawn = Image.new("1", (160, 120))
        pen = ImageDraw.Draw(drawn)
        for k, ring in enumerate(re.findall(r"M([^Z]+)Z", outline(pixels))):
            corners = [tuple(map(float, pair.split())) for pair in ring.split("L")]
            pen.polygon(corners, fill=int(k == 0))
        covered = np.asarray(drawn)
        assert (covered & pixels).sum() / (covered | pixels).sum() > 0.9
    assert outline(np.zeros((4, 4), bool)) == ""
    speck = np.zeros((100, 100), bool)
    speck[50, 50] = True
    assert shrink(speck, 10, 10).sum() == 1


def gallery_of(runs: list[Path], max_cases: int) -> tuple[gallery.Gallery, Pictures]:
    pictures = Pictures()
    found = gallery.make_gallery(
        chapters(load_runs(runs)), sources=Sources(), max_cases=max_cases, pictures=pictures
    )
    return found, pictures


def test_the_gallery_shows_some_of_every_kind(pictured: list[Path]) -> None:
    found, _ = gallery_of(pictured, 8)
    assert len(found.examples) == 8
    assert {example.run for example in found.examples} == {r.name for r in load_runs(pictured)}
    assert {example.kind for example in found.examples} == {"SM", "CC", "OC"}
    first = found.examples[0]
    assert first.views[1].target.startswith("M")
    severities = [example.severity for example in found.examples]
    assert severities == sorted(severities, reverse=True)


def test_runs_stand_in_the_order_of_the_main_metric(example_runs: list[Path]) -> None:
    (chapter,) = chapters(load_runs(example_runs))
    values = [
        run.summary.rows["Overall"].metrics[chapter.protocol.main].value for run in chapter.runs
    ]
    assert values == sorted(values, key=lambda value: -(value or 0.0))
    (again,) = chapters(load_runs(example_runs[::-1]))
    assert [run.name for run in again.runs] == [run.name for run in chapter.runs]


def test_a_chapter_opens_with_a_case_where_two_models_part(
    pictured: list[Path], tmp_path: Path
) -> None:
    (chapter,) = chapters(load_runs(pictured))
    found = telling_case(chapter, sources=Sources(), pictures=Pictures())
    assert found is not None
    wrong, right = found.examples
    assert (wrong.run, right.run) == (chapter.runs[-1].name, chapter.runs[0].name)
    assert wrong.case_id == right.case_id and wrong.n_wrong and not right.n_wrong
    alone = Chapter(benchmark=chapter.benchmark, runs=chapter.runs[-1:])
    told = telling_case(alone, sources=Sources(), pictures=Pictures())
    assert told is not None and len(told.examples) == 1
    page = page_of(pictured, tmp_path / "report.html").source
    assert page.index('class="telling"') < page.index('class="verdict"') < page.index("<table")


def test_a_case_stands_beside_what_the_other_runs_made_of_it(
    pictured: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = gallery_of(pictured, 30)
    (chapter,) = chapters(load_runs(pictured))
    assert set(found.others) == {example.same for example in found.examples}
    for example in found.examples:
        beside = found.others[example.same]
        assert [other.run for other in beside] == [run.name for run in chapter.runs]
        assert {other.case_id for other in beside} == {example.case_id}
        assert example in beside
    assert any(other.n_wrong == 0 for others in found.others.values() for other in others)
    assert gallery_of(pictured[:1], 30)[0].others == {}
    monkeypatch.setattr(gallery, "OTHERS_BYTES", 1)
    few, _ = gallery_of(pictured, 30)
    assert len(few.others) == 1
    assert any("worst 1" in note for note in few.notes)


def test_pictures_stay_within_their_budget(
    pictured: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_pictures, "LONG_SIDES_PX", (96, 48, 24))
    large = gallery_of(pictured, 20)[1].encoded()
    monkeypatch.setattr(page_pictures, "PICTURE_BYTES", sum(map(len, large)) // 2)
    small = gallery_of(pictured, 20)[1].encoded()
    assert sum(map(len, small)) < sum(map(len, large))


def test_a_damaged_picture_is_left_out(pictured: list[Path], tmp_path: Path) -> None:
    bench = Path(shutil.copytree(pictured[0].parent / "benchmark", tmp_path / "benchmark"))
    for picture in (bench / "images").iterdir():
        picture.write_bytes(picture.read_bytes()[:60])
    page = page_of(pictured, tmp_path / "report.html", images_from=bench)
    assert "pictures could not be read" in page.text


def test_figures_are_files(
    example_runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "find_spec", lambda name: None)  # vl-convert is not installed
    written = write_figures(example_runs, tmp_path / "figures")
    assert {path.suffix for path in written} == {".svg", ".tex"}
    assert {"cafe-bars-AFPR.svg", "cafe-winner-ACSR.svg"} <= {path.name for path in written}
    from xml.etree import ElementTree

    for path in (path for path in written if path.suffix == ".svg"):
        ElementTree.parse(path)
        assert "var(" not in path.read_text()


def test_first_tables_are_latex(example_runs: list[Path], tmp_path: Path) -> None:
    written = {path.name: path for path in write_figures(example_runs, tmp_path)}
    assert {f"cafe-table-{row}.tex" for row in ("Overall", "SM", "CC", "OC")} <= set(written)
    latex = written["cafe-table-Overall.tex"].read_text()
    assert "Overall, 60 cases" in latex and r"AFPR $\downarrow$" in latex
    for run in load_runs(example_runs):
        [line] = [line for line in latex.splitlines() if line.lstrip().startswith(run.name)]
        value = run.summary.rows["Overall"].metrics["AFPR"].value
        assert value is not None and f"{100 * value:.1f}" in line
        assert r"\scriptsize [" in line


def test_figures_for_papers(halluseg_run: Path, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    written = write_figures([halluseg_run], tmp_path)
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".tex": b"\\begin{table}"}
    assert {path.suffix for path in written} == set(starts)
    assert all(path.read_bytes().startswith(starts[path.suffix]) for path in written)


def test_two_thousand_cases_fit(tmp_path: Path) -> None:
    runs = score_example(tmp_path, 2146, bootstrap=100)
    write_report(runs, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 2_000_000


# ── in a browser ───────────────────────────────────────────────────────────────────────────────


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A headless browser that logs what pages complain about and ask for."""
    webdriver = pytest.importorskip("selenium.webdriver")
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no chromium with chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--no-first-run", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--window-size=1200,900", "--force-prefers-reduced-motion",
        f"--user-data-dir={profile}",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    started.set_script_timeout(300)
    try:
        yield started
    finally:
        started.quit()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture
def opened(browser: Any, pictured: list[Path], tmp_path: Path) -> Any:
    write_report(pictured, tmp_path / "report.html")
    browser.get((tmp_path / "report.html").as_uri())
    return browser


def shown(browser: Any) -> list[str]:
    script = (
        "return [...document.querySelectorAll('.card:not([hidden]) .id')].map(e=>e.textContent)"
    )
    found: list[str] = browser.execute_script(script)
    return found


def choose(browser: Any, name: str, value: str, form: str = "filters") -> None:
    browser.execute_script(
        "const field = document.forms[arguments[2]].elements[arguments[0]];"
        "field.value = arguments[1]; field.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        value,
        form,
    )


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_it_opens_without_complaints_and_asks_for_nothing(opened: Any) -> None:
    assert opened.get_log("browser") == []
    asked = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    sent = [m["params"] for m in asked if m["method"] == "Network.requestWillBeSent"]
    by_page = [s["request"]["url"] for s in sent if s["documentURL"].endswith("report.html")]
    assert {url.partition(":")[0] for url in by_page} <= {"file", "data"}
    script = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
    assert opened.execute_script(script) < 60_000  # 0.2 s here; a busy machine is no failure


def test_pictures_are_there(opened: Any) -> None:
    opened.execute_script("document.getElementById('gallery').scrollIntoView()")
    filled = "return document.querySelectorAll('.card:not([hidden]) image[href^=data]').length"
    wait_until(lambda: opened.execute_script(filled) > 0)
    decodes = """
        const done = arguments[arguments.length - 1], picture = new Image();
        picture.onload = () => done(picture.naturalWidth);
        picture.onerror = () => done(0);
        picture.src = document.querySelector('image[href]').getAttribute('href');
    """
    assert opened.execute_async_script(decodes) == SIDE_PX


def test_labels_of_filters_stand_in_a_line(opened: Any) -> None:
    script = "return [...document.querySelectorAll('#filters label')].map(e=>e.offsetTop)"
    assert len(set(opened.execute_script(script))) == 1


def test_filters_and_search(opened: Any) -> None:
    everything = shown(opened)
    assert len(everything) > 10
    choose(opened, "model", "fine-tuned")
    some = shown(opened)
    assert 0 < len(some) < len(everything)
    choose(opened, "kind", "OC")
    choose(opened, "cell", "TA-FP")
    fewer = shown(opened)
    assert 0 < len(fewer) < len(some)
    assert opened.find_element("id", "shown").text == f"{len(fewer)} of {len(fewer)} shown"
    choose(opened, "search", "no such phrase")
    assert shown(opened) == []
    assert opened.find_element("id", "nothing").is_displayed()
    for name in ("model", "kind", "cell"):
        choose(opened, name, "")
    choose(opened, "search", "alert(")  # the attack is found as the text that it is
    assert set(shown(opened)) == {"case-0"}
    choose(opened, "search", "")
    assert shown(opened) == everything


def test_keys_walk_enlarge_and_close(opened: Any) -> None:
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    cards = opened.find_elements("css selector", ".card:not([hidden])")
    cards[0].send_keys(keys.ARROW_RIGHT)
    wait_until(lambda: opened.switch_to.active_element == cards[1])
    cards[1].send_keys(keys.ENTER)
    dialog, place = (opened.find_element("id", name) for name in ("enlarged", "place"))
    wait_until(dialog.is_displayed)
    wait_until(lambda: place.text.startswith("2 of"))
    opened.switch_to.active_element.send_keys(keys.ARROW_RIGHT)
    wait_until(lambda: place.text.startswith("3 of"))
    opened.switch_to.active_element.send_keys(keys.ESCAPE)
    wait_until(lambda: not dialog.is_displayed())
    wait_until(lambda: opened.switch_to.active_element == cards[2])


def test_the_enlarged_case_shows_every_run(opened: Any) -> None:
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    cards = opened.find_elements("css selector", ".card:not([hidden])")
    cards[0].send_keys(keys.ENTER)
    runs = "#enlarged-case .other-runs .other"
    wait_until(lambda: len(opened.find_elements("css selector", runs)) == 2)
    large = "return document.querySelector('#enlarged-case .large').dataset.run"
    before = opened.execute_script(large)
    opened.switch_to.active_element.send_keys(keys.ARROW_DOWN)
    wait_until(lambda: opened.execute_script(large) != before)
    missing = (
        "return document.querySelectorAll('#enlarged-case image:not([href]),"
        " #enlarged-case .picture:not(:has(.target))').length"
    )
    assert opened.execute_script(missing) == 0
    opened.switch_to.active_element.send_keys(keys.ESCAPE)


def test_theme_tabs_and_sorting(opened: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    before = opened.execute_script(ground)
    opened.find_element("id", "theme").click()
    assert opened.execute_script(ground) != before
    tabs = opened.find_elements("css selector", "#cafe-points [role=tab]")
    tabs[1].click()
    panels = opened.find_elements("css selector", "#cafe-points [role=tabpanel]")
    assert [panel.is_displayed() for panel in panels] == [False, True, False, False]
    heading = opened.find_elements("css selector", ".headline .sort")[4]  # AFPR
    opened.execute_script("window.scrollTo(0, 0)")
    names = "return [...document.querySelectorAll('.headline tbody th')].map(e => e.textContent)"
    heading.click()
    falling = opened.execute_script(names)[0]
    heading.click()
    assert falling.startswith("base")
    assert opened.execute_script(names)[0].startswith("fine-tuned")


def test_nothing_sticks_out_on_a_phone(opened: Any) -> None:
    assert width_on_a_phone(opened) == 390


def width_on_a_phone(opened: Any) -> int:
    """How wide the open page becomes on a screen of 390 pixels."""
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        opened.refresh()
        return int(opened.execute_script("return document.documentElement.scrollWidth"))
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# ── episodes of an agent ───────────────────────────────────────────────────────────────────────


class Gullible:
    """Finds the same thing whatever it is asked for."""

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        mask = np.zeros(np.asarray(image).shape[:2], bool)
        mask[10:50, 10:60] = True
        found = Prediction(item_id="", outcome=Outcome.OK, masks=(encode(mask),), scores=(0.9,))
        return [found for _ in phrases]


@pytest.fixture(scope="module")
def agent_run(pictured: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent that accepts everything, as `eval` leaves its run."""
    from tests.agent.parts import agent

    from groundfault.analysis.scoring import score_run
    from groundfault.models.agent.scripted import accept
    from groundfault.runner.session import predict
    from groundfault.runner.ways import InMasks
    from groundfault.runner.work import Plan

    out = tmp_path_factory.mktemp("agent") / "run"
    where = pictured[0].parent / "benchmark"
    benchmark = folder.read(where)
    with agent(accept, Gullible()) as verifier:
        plan = Plan(probe=False, batch=4)
        way = InMasks(lambda: verifier, "agent", where / "images", plan, out)
        predict(benchmark, way, out, name="agent", plan=plan)
    scored = score_run(benchmark, out, {"variant": "exact"})
    data = {"benchmark": benchmark.card.content_hash}
    write_results(out, scored, summarise(scored, bootstrap=50, seed=0, data=data))
    run = read_run(out)
    write_run(out, msgspec.structs.replace(run, benchmark_folder=str(where)))
    return out


def test_episodes_stand_behind_the_cases(
    agent_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of([agent_run], tmp_path / "report.html", max_cases=4)
    assert "Here are all 8 episodes" in page.text
    assert page.source.count('class="walk-link"') == 8 + 2  # the first case, once more
    assert "examine_masks" in page.text
    assert "drawn again" not in page.text
    assert len(page.ids) == len(set(page.ids))
    monkeypatch.setattr(agent_steps, "MOST_EPISODES", 3)
    fewer = page_of([agent_run], tmp_path / "fewer.html", max_cases=4)
    assert "the worst 3 of 8 episodes" in fewer.text
    assert fewer.source.count('class="walk-link"') == 3 + 2


def test_episodes_without_their_benchmark_have_words_only(agent_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(agent_run, tmp_path / "run"))
    write_run(run, msgspec.structs.replace(read_run(run), benchmark_folder="/gone"))
    page = page_of([run], tmp_path / "report.html", max_cases=4)
    assert "examine_masks" in page.text
    assert "<image" not in page.source


def test_an_address_leads_to_its_episode(browser: Any, agent_run: Path, tmp_path: Path) -> None:
    def seen() -> list[str]:
        articles = browser.find_elements("css selector", ".episode")
        return [one.get_attribute("id") for one in articles if one.is_displayed()]

    write_report([agent_run], tmp_path / "report.html", max_cases=6)
    page = (tmp_path / "report.html").as_uri()
    browser.get(f"{page}#episode-3")
    assert seen() == ["episode-3"]
    assert browser.switch_to.active_element.get_attribute("id") == "episode-3"
    script = "return document.activeElement.getBoundingClientRect().top"
    assert abs(browser.execute_script(script)) < 900
    assert browser.execute_script("return document.forms['episode-filters'].episode.value") == "3"
    browser.execute_script("location.hash = '#episode-1'")
    wait_until(lambda: seen() == ["episode-1"])
    browser.back()
    wait_until(lambda: seen() == ["episode-3"])
    browser.execute_script("location.hash = '#episode-none'")
    assert seen() == ["episode-3"] and browser.get_log("browser") == []


def test_only_its_own_scripts_run(opened: Any) -> None:
    opened.execute_script("""
        const foreign = document.createElement("script");
        foreign.textContent = "document.title = 'mine'";
        document.body.append(foreign);
    """)
    assert opened.title != "mine"
    [complaint] = opened.get_log("browser")
    assert "Content Security Policy" in complaint["message"]


def test_stepping_through_an_episode(browser: Any, agent_run: Path, tmp_path: Path) -> None:
    write_report([agent_run], tmp_path / "report.html", max_cases=6)
    browser.get((tmp_path / "report.html").as_uri())
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    links = browser.find_elements("css selector", ".card .walk-link")
    browser.execute_script("arguments[0].click()", links[1])
    article = browser.switch_to.active_element
    assert article.get_attribute("id") == links[1].get_attribute("href").partition("#")[2]
    assert not browser.find_element("id", "enlarged").is_displayed()
    steps = article.find_elements("css selector", ".step")
    assert [step.is_displayed() for step in steps] == [True, *[False] * (len(steps) - 1)]
    article.send_keys(keys.ARROW_RIGHT)
    wait_until(lambda: [step.is_displayed() for step in steps][:2] == [False, True])
    assert not article.find_elements("css selector", "image:not([href])")
    other = "1" if article.get_attribute("id") == "episode-0" else "0"
    choose(browser, "episode", other, "episode-filters")
    assert browser.find_element("id", f"episode-{other}").is_displayed()
    assert not article.is_displayed()
    assert browser.get_log("browser") == []


def test_nothing_is_0_for_sure(tmp_path: Path) -> None:
    """Baselines are at the ends of every scale; 0 of 12 leaves room for what was not seen."""
    from groundfault.reports.summaries import summary_table
    from groundfault.reports.tables import render

    benchmark = drawn_benchmark(tmp_path / "raw", 12)
    runs = []
    for name, accepts in (("never", ()), ("always", tuple(Role)), ("right", (Role.POSITIVE,))):
        predictions = [
            Prediction(
                item_id=item.id, outcome=Outcome.OK, masks=(item.target.mask,), scores=(0.9,)
            )
            if item.role in accepts and item.target is not None and item.target.mask is not None
            else Prediction(item_id=item.id, outcome=Outcome.ABSTAINED)
            for item in benchmark.items
        ]
        overlaps = compare_predictions(benchmark, predictions)
        for variant in ("exact", "parity"):
            scored = concepts.score(
                benchmark, overlaps, t=0.5, tau=0.3, iou="segm", variant=variant
            )
            summary = summarise(scored, bootstrap=100, seed=0, data={"benchmark": "x"})
            write_results(tmp_path / f"{name}-{variant}", scored, summary)
            runs.append(tmp_path / f"{name}-{variant}")
            table = render(summary_table(summary, list(summary.rows["Overall"].metrics)), "csv")
            assert not re.search(r"\[(−?[\d.]+), \1\]", table)
            afpr = summary.rows["Overall"].metrics["AFPR"]
            assert afpr.low is not None and afpr.high is not None
            assert afpr.high - afpr.low == pytest.approx(1 - 0.025 ** (1 / 12))
    write_report(runs, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text().replace("\u00a0", " ").replace("\u202f", " ")
    assert "0.0 – 26.5" in page
    assert not re.search(r"\b([\d.]+) – \1\b", page)
    assert not re.search(r"\[(−?[\d.]+), \1\]", page)
