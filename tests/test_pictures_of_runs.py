"""`convert RUN --to halluseg`: a run's predictions as the four folders of PNGs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
from PIL import Image

import groundfault as gf
from groundfault.analysis.scoring import score_files
from groundfault.analysis.summary import summarise
from groundfault.benchmarks import folder as own_folder
from groundfault.benchmarks import halluseg
from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.masks import decode, encode
from groundfault.protocols.replacement import PROTOCOL
from groundfault.records import Benchmark, Case, Item, Outcome, Prediction, Region, Role
from groundfault.runs.pictures import export_pictures

SIDE = 16


def square(side: int, at: int = 0) -> np.ndarray:
    pixels = np.zeros((SIDE, SIDE), bool)
    pixels[at : at + side, at : at + side] = True
    return pixels


def quads(n: int) -> Benchmark:
    items = []
    for number in range(n):
        for role in halluseg.ROLES:
            edited = role in (Role.VISUAL, Role.COUNTERFACTUAL)
            region = Region(encode(square(3 + number % 5, int(edited))))
            items.append(
                Item(
                    id=f"case {number}, {role}",
                    case_id=f"case-{number}",
                    role=role,
                    images=(f"{number}{'b' if edited else 'a'}.png",),
                    height_px=SIDE,
                    width_px=SIDE,
                    query="cup" if role in (Role.FACTUAL, Role.VISUAL) else "bowl",
                    regions=(region,) if role in (Role.FACTUAL, Role.COUNTERFACTUAL) else (),
                    target=region,
                )
            )
    cases = tuple(Case(id=f"case-{number}", tags={"task": "referring"}) for number in range(n))
    return Benchmark(card=halluseg.CARD, cases=cases, items=tuple(items))


class Moody:
    """Finds what is there, falls for every third wrong question, and is unsure of one mask."""

    def __init__(self, *, breaks: bool = False) -> None:
        self.n, self.breaks = 0, breaks

    def segment(self, image: np.ndarray, phrases: Sequence[str]) -> list[Prediction]:
        found = []
        for _ in phrases:
            self.n += 1
            if self.breaks and self.n in (3, 9):
                found.append(Prediction(item_id="", outcome=Outcome.UNPARSED, reason="mumbles"))
            elif self.n % 3:
                masks = [square(4), square(5, 8)]
                found.append(gf.as_prediction(masks, [0.9, 0.2]))
            else:
                found.append(gf.as_prediction([], []))
        return found


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    made = quads(6)
    (tmp_path / "pictures").mkdir()
    for item in made.items:
        Image.fromarray(np.zeros((SIDE, SIDE, 3), np.uint8)).save(
            tmp_path / "pictures" / item.image
        )
    own_folder.write(made, tmp_path / "set", images_from=tmp_path / "pictures")
    return tmp_path / "set"


def metrics(scored: Any) -> dict[str, tuple[float | None, int]]:
    found = summarise(scored, bootstrap=0, seed=0).rows["Overall"].metrics
    return {name: (estimate.value, estimate.n) for name, estimate in found.items()}


def scored_again(out: Path, **given: Any) -> dict[str, tuple[float | None, int]]:
    inputs = {"cases": out / "results.json", "data": out / "data"}
    return metrics(score_files("halluseg", inputs, out, given)[0])


def test_a_run_scores_the_same_from_its_pictures(benchmark: Path, tmp_path: Path, run: Any) -> None:
    result = gf.evaluate(benchmark, Moody(), out=tmp_path / "run", bootstrap=0)
    found = result.summary.rows["Overall"].metrics
    asked = {name: (estimate.value, estimate.n) for name, estimate in found.items()}
    done = run("convert", tmp_path / "run", "--to", "halluseg", "--out", tmp_path / "empty")
    assert done.code == 0, done.err
    assert "--predictions" in done.out
    absent = run("convert", tmp_path / "run", "--to", "halluseg", "--out", tmp_path / "absent",
                 "--abstentions", "absent")  # fmt: skip
    assert absent.code == 0, absent.err
    for ran in (done, absent):  # the command that is named works as it stands
        [named] = [line for line in ran.out.splitlines() if "groundfault score" in line]
        assert run(*named.partition("groundfault ")[2].split(), "--bootstrap", 0).code == 0

    def counts(folder: str) -> int:
        return sum(len(list((tmp_path / folder / c).iterdir())) for c in halluseg.CORNERS.values())

    assert (counts("empty"), counts("absent")) == (24, 16)
    main = ("IoU_fact", "IoU_textual", "IoU_visual", "IoU_cf", "dIoU_textual", "CMS_fact", "CCMS")
    again = scored_again(tmp_path / "empty", missing="error")
    assert {name: again[name] for name in main} == {name: asked[name] for name in main}
    again = scored_again(tmp_path / "absent", missing="empty")
    assert again == asked
    skipped = scored_again(tmp_path / "absent", variant="parity")
    for name in ("IoU_fact", "dIoU_textual", "CMS_fact", "CMS_counterfact"):
        assert skipped[name] == asked[f"{name}_skipped"]


def test_the_published_scripts_would_read_it(benchmark: Path, tmp_path: Path) -> None:
    """As they do: paths of results.json below --base_path and --pred_base_path, OpenCV, > 0."""
    gf.evaluate(benchmark, Moody(), out=tmp_path / "run", bootstrap=0)
    out = tmp_path / "pngs"
    assert export_pictures(tmp_path / "run", out) == ()
    records = msgspec.json.decode((out / "results.json").read_bytes())
    scores = []
    for record in records:
        truth = cv2.imread(str(out / "data" / record["factual_mask_path"]), 0) > 0
        found = cv2.imread(str(out / record["mask_edtl_orgi"]), 0) > 0
        stem = Path(record["factual_image_path"]).stem
        assert record["mask_edtl_orgi"] == f"edtl_orgi/{stem}_{record['ann_id']}_mask.png"
        on, beside = (truth & found).sum(), (found & ~truth).sum()
        scores.append((3 * on + beside) / (3 * truth.sum()))
    assert np.mean(scores) == pytest.approx(scored_again(out, missing="error")["CMS_fact"][0])


def test_the_threshold_is_that_of_the_score_or_given(benchmark: Path, tmp_path: Path) -> None:
    gf.evaluate(benchmark, Moody(), out=tmp_path / "run", t=0.1, bootstrap=0)
    for name, given, area in (("scored", None, 41), ("given", 0.5, 16), ("none", 0.95, 0)):
        export_pictures(tmp_path / "run", tmp_path / name, t=given)
        picture = np.asarray(Image.open(tmp_path / name / "orgl_orgi" / "0a_case-0_mask.png"))
        assert (picture > 0).sum() == area


def test_what_a_picture_cannot_say_is_left_out_and_said(
    benchmark: Path, tmp_path: Path, run: Any
) -> None:
    gf.evaluate(benchmark, Moody(breaks=True), out=tmp_path / "run", bootstrap=0)
    done = run("convert", tmp_path / "run", "--to", "halluseg", "--out", tmp_path / "pngs")
    assert done.code == 0
    assert "Dropped: 2 of 6 cases (e.g. case-0)" in done.out and "could not be read" in done.out
    records = msgspec.json.decode((tmp_path / "pngs" / "results.json").read_bytes())
    assert [record["factual_image_path"] for record in records] == [
        "1a.png", "3a.png", "4a.png", "5a.png",
    ]  # fmt: skip
    assert scored_again(tmp_path / "pngs", missing="error")["IoU_fact"][1] == 4


def test_records_without_a_run(tmp_path: Path) -> None:
    """The writer takes records; every mask goes in where there is no threshold."""
    made = quads(2)
    answers = [
        Prediction(
            item_id=item.id,
            outcome=Outcome.OK,
            masks=(encode(square(2)), encode(square(2, 10))),
            scores=(0.01, 0.02),
        )
        for item in made.items
    ]
    assert halluseg.write_predictions(made, answers, tmp_path / "out") == ()
    found = np.asarray(Image.open(tmp_path / "out" / "edtl_edti" / "0a_case-0_mask.png")) > 0
    assert (found == (square(2) | square(2, 10))).all()
    again = halluseg.read(tmp_path / "out" / "results.json", tmp_path / "out" / "data")
    assert [decode(item.target.mask).sum() for item in again.items] == [
        decode(item.target.mask).sum() for item in made.items
    ]
    direct = metrics(PROTOCOL.score(made, answers, {}))
    assert scored_again(tmp_path / "out", missing="error") == direct


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--to", "halluseg", "--abstentions", "none"], "none"),
        (["--to", "coco", "--t", "0.5"], "--t go with a run and --to halluseg"),
    ],
)
def test_options_that_do_not_fit(
    benchmark: Path, tmp_path: Path, run: Any, options: list[str], problem: str
) -> None:
    done = run("convert", benchmark, *options, "--out", tmp_path / "out")
    assert done.code == 2 and problem in done.err


def test_runs_that_cannot_be_pictures(tmp_path: Path) -> None:
    made = quads(2)
    nothing = [Prediction(item_id=item.id, outcome=Outcome.FAILED) for item in made.items]
    with pytest.raises(UsageError, match="no case has four answers"):
        halluseg.write_predictions(made, nothing, tmp_path / "a")
    with pytest.raises(GroundfaultError, match="way to write an abstention"):
        halluseg.write_predictions(made, nothing, tmp_path / "b", abstentions="maybe")
    short = msgspec.structs.replace(made, items=made.items[:7])
    with pytest.raises(UsageError, match="case case-1 is not a quad"):
        halluseg.write_predictions(short, nothing, tmp_path / "c")
    assert not list(tmp_path.iterdir())


def test_sizes_of_a_run(benchmark: Path, tmp_path: Path, run: Any) -> None:
    result = gf.evaluate(benchmark, Moody(), out=tmp_path / "a", sizes="quantile", bootstrap=0)
    assert result.summary.settings["size_limits_px"] == [16, 36]
    assert {n: row.n_cases for n, row in result.summary.rows.items() if n in "SML"} == {
        "S": 2, "M": 2, "L": 2,
    }  # fmt: skip
    command = ["eval", benchmark, "--model", "oracle", "--out", tmp_path / "runs", "--bootstrap", 0]
    done = run(*command, "--sizes", "10,30")
    assert done.code == 0, done.err
    assert "sizes own limits, size_limits_px [10, 30]" in done.out
    command[command.index("--out") + 1] = tmp_path / "never"
    refused = run(*command, "--sizes", "10-30")
    assert not (tmp_path / "never").exists()  # nobody was asked
    assert refused.code == 2 and "sizes '10-30': give coco, quantile" in refused.err
