"""Calibration: the published rule on golden files, what is stored, what is refused."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from tests.conftest import Ran

import groundfault as gf
from groundfault.analysis.calibration import Calibration, operating_points
from groundfault.analysis.scoring import score_run
from groundfault.analysis.summary import summarise
from groundfault.benchmarks import folder
from groundfault.errors import UsageError
from groundfault.io.masks import encode
from groundfault.io.store import read_json
from groundfault.records import Benchmark, Card, Case, Item, Region, Role
from groundfault.runs.run import read_run

GOLDEN = Path(__file__).parent / "golden"
Run = Callable[..., Ran]


@pytest.fixture(params=["cafe_n60_s11", "cafe_n60_s12"])
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    for packed in (GOLDEN / request.param).glob("*.json.gz"):
        (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path


def calibrated(ran: Ran) -> Calibration:
    assert ran.code == 0, ran.err
    return msgspec.json.decode(ran.out.encode(), type=Calibration)


def test_the_curve_is_the_published_evaluators(run: Run, golden: Path) -> None:
    """At the thresholds that the golden files have, and its first maximum is taken."""
    found = calibrated(
        run(
            "calibrate", f"replay:{golden / 'pred.json'}", "--data", "cafe", "--annotations",
            golden / "annotations.json", "--bootstrap", 0, "--out", golden / "runs", "--json",
        )
    )  # fmt: skip
    expected = json.loads((golden / "expected.json").read_text())["cgf1"]
    curve = {point.t: point.metrics["cgF1"].value for point in found.sweep.points}
    assert list(curve) == [round(0.05 * k, 2) for k in range(1, 20)]
    for t in (0.2, 0.5):
        published = expected[f"Overall,bbox,t={t}"]["metrics"]["cgF1"]
        assert curve[t] == pytest.approx(published, abs=1e-9)
    highest = max(value for value in curve.values() if value is not None)
    assert found.t == next(t for t, value in curve.items() if value == highest)
    assert found.cgF1.value == highest


def scored_set(where: Path, scores: list[tuple[float, float]]) -> tuple[Path, Path]:
    """Pictures with one square asked for rightly and wrongly, and a dump with given scores."""
    (where / "source").mkdir(parents=True)
    cases, items, dump = [], [], []
    for k, pair in enumerate(scores):
        pixels = np.zeros((32, 32, 3), np.uint8)
        pixels[4:20, 4:20] = 200
        Image.fromarray(pixels).save(where / "source" / f"{k}.png")
        region = Region(encode(pixels[..., 0] > 0))
        cases.append(Case(id=str(k), intervention="SM"))
        for role, score in zip((Role.POSITIVE, Role.NEGATIVE), pair, strict=True):
            item = Item(
                id=f"{k}-{role}",
                case_id=str(k),
                role=role,
                images=(f"{k}.png",),
                height_px=32,
                width_px=32,
                query=role,
                regions=(region,) if role is Role.POSITIVE else (),
                target=region,
            )
            items.append(item)
            assert region.mask is not None
            mask: dict[str, Any] = {**region.mask}
            dump.append({"image_id": item.id, "score": score, "segmentation": mask})
    card = Card(name="cafe", title="", source="", licence="", citation="", main_metric="cgF1")
    made = Benchmark(card=card, cases=tuple(cases), items=tuple(items))
    folder.write(made, where / "benchmark", images_from=where / "source")
    (where / "dump.json").write_text(json.dumps(dump))
    return where / "benchmark", where / "dump.json"


def test_by_hand(run: Run, tmp_path: Path) -> None:
    """Right answers score 0.6 and more, wrong ones less than 0.4: 0.4 is the first that parts
    them (a score of 0.38 is below it)."""
    data, dump = scored_set(tmp_path, [(0.6, 0.38), (0.7, 0.1), (0.9, 0.2)])
    command = ("calibrate", f"replay:{dump}", "--data", data, "--out", tmp_path / "runs")
    ran = run(*command)
    assert ran.code == 0, ran.err
    assert "t = 0.40, cgF1 over boxes 100.0" in ran.out and "Use it with --t 0.4" in ran.out
    assert "5 thresholds up to 0.6 give the same; the first is it" in ran.out
    place = next((tmp_path / "runs").iterdir())
    stored = read_json(place / "calibration.json", Calibration)
    assert stored.t == 0.4 and stored.data == read_run(place).content_hash
    assert stored.n_cases == 3 and stored.identity["model"].startswith("replay:")
    figure = ElementTree.fromstring((place / "calibration.svg").read_text())
    words = "".join(figure.itertext())
    assert "score threshold t" in words and "cgF1" in words and "t = 0.40" in words


def test_a_run_is_not_asked_again(run: Run, tmp_path: Path) -> None:
    data, dump = scored_set(tmp_path, [(0.6, 0.3), (0.7, 0.1)])
    assert run(
        "eval", data, "--model", f"replay:{dump}", "--bootstrap", 0, "--out", tmp_path / "runs"
    ).code == 0  # fmt: skip
    dump.unlink()  # the model is gone
    place = next((tmp_path / "runs").iterdir())
    before = {path: path.read_bytes() for path in place.iterdir()}
    found = calibrated(run("calibrate", place, "--bootstrap", 0, "--json"))
    assert found.t == 0.35 and found.published_t is None
    assert {path: path.read_bytes() for path in before} == before
    assert calibrated(run("calibrate", place, "--data", data, "--bootstrap", 0, "--json")) == found
    for point in found.sweep.points:
        made = folder.read(data)
        scored = score_run(made, place, {"t": point.t, "iou": "bbox", "variant": "parity"})
        expected = summarise(scored, bootstrap=0, seed=0).rows["Overall"].metrics["cgF1"].value
        assert point.metrics["cgF1"].value == expected


def test_a_model_is_asked_as_eval_asks_it(run: Run, tmp_path: Path) -> None:
    data, dump = scored_set(tmp_path, [(0.6, 0.3), (0.7, 0.1)])
    out = ("--data", data, "--bootstrap", 0, "--out", tmp_path / "runs")
    assert run("calibrate", f"replay:{dump}", *out, "--no-probe", "--timeout", 7).code == 0
    noted = read_run(next((tmp_path / "runs").iterdir())).settings
    assert (noted["probe"], noted["timeout_s"], noted["batch"]) == (False, 7.0, 0)
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    there = ("--engine", "ray", "--ray-address", "127.0.0.1:1")
    refused = run("calibrate", "always-yes", *out, *there)
    assert refused.code == 2 and "Ray at 127.0.0.1:1 cannot be reached" in refused.err


def test_the_published_point_is_shown(run: Run, tmp_path: Path) -> None:
    data, dump = scored_set(tmp_path, [(0.6, 0.3), (0.7, 0.1)])
    out = ("--bootstrap", 0, "--out", tmp_path / "runs")
    assert run("eval", data, "--model", f"replay:{dump}", *out).code == 0
    place = next((tmp_path / "runs").iterdir())
    stored = json.loads((place / "run.json").read_text())
    (place / "run.json").write_text(json.dumps({**stored, "model": "owlv2-sam:my/owl"}))
    ran = run("calibrate", place, "--bootstrap", 0)
    assert "owlv2-sam:my/owl: t = 0.35" in ran.out
    assert "published at t = 0.20, where cgF1 is" in ran.out


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([(1.0, 1.0), (1.0, 1.0)], "every score is 1, so no threshold tells predictions apart"),
        ([(0.97, 0.96), (0.99, 0.98)], "every t from 0.05 to 0.95 gives the same cgF1"),
        ([], "not one prediction with a score"),
    ],
)
def test_scores_that_say_nothing_are_refused(
    run: Run, tmp_path: Path, scores: list[tuple[float, float]], message: str
) -> None:
    data, dump = scored_set(tmp_path, scores or [(0.6, 0.3), (0.7, 0.1)])
    if not scores:
        first = json.loads(dump.read_text())[0]["image_id"]
        dump.write_text(json.dumps([{"image_id": first, "outcome": "abstained"}]))
    ran = run("calibrate", f"replay:{dump}", "--data", data, "--out", tmp_path / "runs")
    assert ran.code == 2 and message in ran.err, ran.out + ran.err
    assert not list(tmp_path.glob("runs/*/calibration.*"))


def test_a_sweep_of_equal_scores_is_refused_but_one_threshold_is_not(
    run: Run, tmp_path: Path
) -> None:
    data, dump = scored_set(tmp_path, [(0.4, 0.4), (0.4, 0.4)])
    command = ("sweep", "folder", "--folder", data, "--predictions", dump)
    ran = run(*command)
    assert ran.code == 2 and "every score is 0.4" in ran.err
    assert run(*command, "--t", 0.3).code == 0


def lvis_set(where: Path) -> tuple[Path, Path, Path]:
    """LVIS annotations of two pictures as in its first version: names of another folder's."""
    (where / "val2017").mkdir(parents=True)
    mask = np.zeros((32, 32), bool)
    mask[4:20, 4:20] = True
    images, annotations, dump = [], [], []
    for k, score in ((1, 0.3), (2, 0.9)):
        name = f"{k:012d}.jpg"
        Image.fromarray(np.repeat(mask[..., None], 3, 2).astype(np.uint8) * 200).save(
            where / "val2017" / name
        )
        images.append(
            {
                "id": k, "height": 32, "width": 32, "neg_category_ids": [2],
                "not_exhaustive_category_ids": [], "file_name": f"COCO_val2014_{name}",
                "coco_url": f"http://images.cocodataset.org/val2017/{name}",
            }
        )  # fmt: skip
        coded: dict[str, Any] = {**encode(mask)}
        annotations.append({"id": k, "image_id": k, "category_id": 1, "segmentation": coded})
        dump.append({"image_id": f"{k}:1", "score": score, "segmentation": coded})
    dump.append({"image_id": "1:2", "score": 0.2, "segmentation": coded})
    names = [{"id": 1, "name": "bath_towel"}, {"id": 2, "name": "kite"}]
    content = {"images": images, "annotations": annotations, "categories": names}
    (where / "lvis.json").write_text(json.dumps(content))
    (where / "dump.json").write_text(json.dumps(dump))
    return where / "lvis.json", where / "val2017", where / "dump.json"


def test_lvis_in_one_command(run: Run, tmp_path: Path) -> None:
    annotations, images, dump = lvis_set(tmp_path)
    found = calibrated(
        run(
            "calibrate", f"replay:{dump}", "--data", "lvis", "--annotations", annotations,
            "--images", images, "--out", tmp_path / "runs", "--bootstrap", 0, "--json",
        )
    )  # fmt: skip
    assert (found.t, found.benchmark, found.n_cases) == (0.25, "lvis", 2)


def test_lvis_pictures_are_found_under_either_name(run: Run, tmp_path: Path) -> None:
    """A model that looks at them: annotations name COCO's folders of 2014, the pictures are those
    of 2017, whether that folder is given or the one above it."""
    annotations, images, _ = lvis_set(tmp_path)
    for place in (images, images.parent):
        ran = run(
            "eval", "lvis", "--annotations", annotations, "--images", place, "--model",
            "nano-base", "--out", tmp_path / f"runs-{place.name}", "--bootstrap", 0,
        )  # fmt: skip
        assert ran.code == 0 and "4 of 4 answered" in ran.out + ran.err, ran.err


def test_the_end_of_the_sweep(run: Run, tmp_path: Path) -> None:
    data, dump = scored_set(tmp_path, [(0.02, 0.01), (0.07, 0.01)])
    ran = run("calibrate", f"replay:{dump}", "--data", data, "--out", tmp_path / "runs")
    assert "t = 0.05" in ran.out and "the true best may lie beyond it" in ran.out


def test_what_is_refused(run: Run, tmp_path: Path) -> None:
    data, _ = scored_set(tmp_path / "a", [(0.6, 0.3), (0.7, 0.1)])
    other, _ = scored_set(tmp_path / "b", [(0.6, 0.3)])
    out = ("--out", tmp_path / "runs")

    def refused(*words: object) -> str:
        ran = run("calibrate", *words)
        assert ran.code == 2, ran.out
        return ran.err

    assert "give a folder for the run with --out" in refused("oracle", "--data", data)
    assert "give the calibration data with --data" in refused("oracle", *out)
    assert "no such benchmark folder" in refused("oracle", "--data", "no/where", *out)
    part = ("eval", data, "--model", "oracle", "--limit", 1, "--bootstrap", 0)
    assert run(*part, "--out", tmp_path / "part").code == 0
    assert "2 of 4 items were asked; finish" in refused(tmp_path / "part" / "oracle")
    assert "holds answers to other data" in refused(
        tmp_path / "part" / "oracle", "--data", other
    )  # fmt: skip

    made = folder.read(data)
    present = tuple(item for item in made.items if item.role is Role.POSITIVE)
    card = msgspec.structs.replace(made.card, content_hash="")
    folder.write(
        msgspec.structs.replace(made, items=present, card=card),
        tmp_path / "present",
        images_from=data / "images",
    )
    assert "needs phrases for what is in the picture and for what is not" in refused(
        "oracle", "--data", tmp_path / "present", *out
    )
    assert not (tmp_path / "runs").exists(), "the model was asked in vain"


def points_of(where: object, spec: str, on: Path, **identity: str) -> dict[str, float]:
    return operating_points({spec: identity}, str(where), folder.read(on))


def test_frozen_thresholds_are_found_again(run: Run, tmp_path: Path) -> None:
    """In the file, in its run, in the folder of runs; for the same model, on other data."""
    data, dump = scored_set(tmp_path / "a", [(0.6, 0.38), (0.7, 0.1), (0.9, 0.2)])
    other, another_dump = scored_set(tmp_path / "b", [(0.6, 0.3)])
    out, model = tmp_path / "runs", f"replay:{dump}"
    assert run("calibrate", model, "--data", data, "--out", out).code == 0
    (place,) = out.iterdir()
    assert run("calibrate", f"replay:{another_dump}", "--data", other, "--out", out).code == 0
    same = read_json(place / "calibration.json", Calibration).identity
    same = {name: value for name, value in same.items() if name != "model"}
    for where in (out, place, place / "calibration.json"):
        assert points_of(where, model, other, **same) == {model: 0.4}
    with pytest.raises(UsageError, match=r"calibrated with another dtype .'auto', now 'float16'"):
        points_of(out, model, other, **{**same, "dtype": "float16"})
    with pytest.raises(UsageError, match="calibrated with another checkpoints"):
        points_of(out, model, other, **{**same, "checkpoints": "other@2"})
    with pytest.raises(UsageError, match=r"has thresholds of replay:.*, replay:.*, not of blind"):
        points_of(out, "blind", other, **same)
    with pytest.raises(UsageError, match=r"calibrated on this very benchmark.*--t 0\.4"):
        points_of(out, model, data, **same)
    with pytest.raises(UsageError, match=r"no calibration\.json is there"):
        points_of(tmp_path / "nowhere", model, other)


def test_published_thresholds_by_name(tmp_path: Path) -> None:
    data, _ = scored_set(tmp_path, [(0.6, 0.3)])
    assert points_of("published", "owlv2-sam:my/owl", data) == {"owlv2-sam:my/owl": 0.2}
    with pytest.raises(UsageError, match="no threshold of clipseg is published; known are sam3"):
        points_of("published", "clipseg", data)


def test_eval_takes_each_models_own_threshold(run: Run, tmp_path: Path) -> None:
    """The threshold of the calibration set, not the default of 0.5, on another set; baselines in
    the same command have no use for it, which is said once."""
    data, dump = scored_set(tmp_path / "a", [(0.6, 0.38), (0.45, 0.1), (0.9, 0.2)])
    other, _ = scored_set(tmp_path / "b", [(0.6, 0.38)])
    calibrated_at, runs, model = tmp_path / "calibrated", tmp_path / "runs", f"replay:{dump}"
    assert run("calibrate", model, "--data", data, "--out", calibrated_at).code == 0
    t = read_json(next(calibrated_at.glob("*/calibration.json")), Calibration).t
    command = ("eval", other, "--model", model, "--bootstrap", 0, "--out", runs)
    ran = run(*command, "--model", "oracle", "--model", "random:3", "--calibration", calibrated_at)
    assert ran.code == 0, ran.err
    line = "oracle, random:3: baselines, which --calibration does not concern; scored at t = 0.5"
    assert ran.err.count(line) == 1

    def scored_at(pattern: str) -> float:
        (place,) = runs.glob(f"{pattern}/summary.json")
        return float(json.loads(place.read_text())["settings"]["t"])

    assert scored_at("replay*") == t != 0.5
    assert scored_at("oracle") == scored_at("random-3") == 0.5
    assert read_run(next(runs.glob("replay*"))).settings["calibration"] == str(calibrated_at)
    assert "give one of them" in run(*command, "--calibration", calibrated_at, "--t", 0.4).err
    refused = run(*command, "--calibration", "published")
    assert refused.code == 2 and f"no threshold of {model} is published" in refused.err


def test_the_published_threshold_is_the_default_and_its_absence_is_said(
    run: Run, tmp_path: Path
) -> None:
    data, dump = scored_set(tmp_path, [(0.3, 0.1), (0.7, 0.25)])
    out = ("--bootstrap", 0, "--out", tmp_path / "runs")

    class Mine:
        def segment(self, image: Any, phrases: list[str]) -> list[gf.Prediction]:
            return [gf.as_prediction([image[..., 0] > 0], [0.3]) for _ in phrases]

    noted = gf.evaluate(str(data), Mine(), bootstrap=0).summary
    assert noted.settings["t"] == 0.5
    assert any("No threshold of Mine is published: t = 0.5 is merely" in n for n in noted.notes)
    chosen = gf.evaluate(str(data), Mine(), bootstrap=0, t=0.25).summary
    assert not any("No threshold" in note for note in chosen.notes)
    for model in ("oracle", "nano-base", f"replay:{dump}"):  # those that have one, or are no model
        assert "No threshold" not in run("eval", data, "--model", model, *out).out
    place = next((tmp_path / "runs").glob("replay*"))
    stored = json.loads((place / "run.json").read_text())
    (place / "summary.json").unlink()  # what was scored before is scored as it was
    (place / "run.json").write_text(json.dumps({**stored, "model": "clipseg"}))
    assert "No threshold of clipseg is published" in run("score", place, "--bootstrap", 0).err
    (place / "run.json").write_text(json.dumps({**stored, "model": "owlv2-sam"}))
    scored = run("score", place, "--bootstrap", 0, "--json")
    assert scored.json["settings"]["t"] == 0.2
    assert "owlv2-sam is scored at t = 0.2, where it was published." in scored.err
    assert run("score", place, "--bootstrap", 0, "--t", 0.4, "--json").json["settings"]["t"] == 0.4


def test_replaced_objects_are_scored_at_a_model_s_threshold_too(run: Run, tmp_path: Path) -> None:
    """HalluSegBench's masks have no t of their own; a model's scores have one all the same."""
    bench = tmp_path / "bench"
    run("world", "build", "--preset", "halluseg", "--n", 2, "--size", 96, "--out", bench)

    class Mine:
        def segment(self, image: Any, phrases: list[str]) -> list[gf.Prediction]:
            return [gf.as_prediction([image[..., 0] > 90], [0.3]) for _ in phrases]

    stored = tmp_path / "run"
    told = gf.evaluate(str(bench), Mine(), out=stored, bootstrap=0).summary
    assert told.settings["t"] == 0.5
    assert any("No threshold of Mine is published" in note for note in told.notes)
    assert not any("No threshold" in n for n in gf.evaluate(str(bench), "oracle").summary.notes)
    of_owl = json.loads((stored / "run.json").read_text()) | {"model": "owlv2-sam"}
    (stored / "run.json").write_text(json.dumps(of_owl))
    (stored / "summary.json").unlink()
    assert gf.score(stored, bootstrap=0).summary.settings["t"] == 0.2
