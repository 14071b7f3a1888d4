"""Results as other libraries have them, held against those libraries where they are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundfault as gf
from groundfault.errors import GroundfaultError
from groundfault.io.masks import decode
from groundfault.world.presets import BuildSettings, build


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> gf.Result:
    base = tmp_path_factory.mktemp("world")
    build("cafe", 3, base / "world", BuildSettings(size_px=96), workers=1)
    return gf.evaluate(base / "world", "oracle", base / "run", bootstrap=20)


def test_supervision_has_the_same_pixels_and_scores() -> None:
    supervision = pytest.importorskip("supervision")
    pixels = np.zeros((8, 10), bool)
    pixels[2:5, 3:7] = True
    given = gf.as_prediction([pixels, pixels], [0.9, 0.2])
    found = gf.to_supervision(given, t=0.5)
    assert isinstance(found, supervision.Detections) and len(found) == 1
    assert found.xyxy.tolist() == [[3, 2, 7, 5]] and found.confidence.tolist() == [0.9]
    assert (found.mask[0] == pixels).all()
    assert len(gf.to_supervision(gf.as_prediction([], []))) == 0


def test_datasets_has_a_row_per_item_with_its_picture(run: gf.Result) -> None:
    pytest.importorskip("datasets")
    benchmark = run.benchmark()
    found = gf.to_datasets(benchmark)
    assert found["id"] == [item.id for item in benchmark.items]
    first = found[0]
    assert first["images"][0].size == (96, 96)
    (region,) = benchmark.items[0].regions
    assert region.mask is not None
    told: Any = {"size": tuple(first["sizes"][0]), "counts": first["counts"][0]}
    assert (decode(told) == decode(region.mask)).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its MongoDB driver has one
def test_fiftyone_has_expected_and_answered(run: gf.Result) -> None:
    """With a MongoDB of its own, or the one that FIFTYONE_DATABASE_URI names."""
    fiftyone = pytest.importorskip("fiftyone")
    try:
        dataset = gf.to_fiftyone(run)
    except fiftyone.core.config.FiftyOneConfigError:
        pytest.skip("FiftyOne finds no MongoDB here")
    items = {item.id: item for item in run.benchmark().items}
    try:
        assert {sample["item_id"] for sample in dataset} == set(items)
        for sample in dataset:
            item = items[sample["item_id"]]
            assert (sample["query"], sample["role"]) == (item.query, str(item.role))
            for field in ("expected", "answered"):  # the oracle's are the same
                found = [on_canvas(each, 96) for each in sample[field].detections]
                wanted = [decode(region.mask) for region in item.regions if region.mask]
                assert len(found) == len(wanted)
                assert all((a == b).all() for a, b in zip(found, wanted, strict=True))
    finally:
        dataset.delete()


def on_canvas(detection: Any, side_px: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The whole picture's mask from a detection's box and the mask inside of it."""
    left, top, width, height = (round(part * side_px) for part in detection.bounding_box)
    canvas = np.zeros((side_px, side_px), bool)
    canvas[top : top + height, left : left + width] = detection.mask
    return canvas


def test_wandb_gets_every_number(run: gf.Result, tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb")
    with pytest.raises(GroundfaultError, match=r"wandb\.init"):
        gf.log_run(run, "wandb")
    with wandb.init(mode="offline", dir=tmp_path, project="test") as tracked:
        gf.log_run(run, "wandb")
        assert tracked.summary["Overall/IL-FPR"] == 0.0
        assert tracked.summary["groundfault"] == "world-cafe"


def test_mlflow_gets_every_number_and_the_cases(
    run: gf.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as tracked:
        gf.log_run(run, "mlflow")
    stored = mlflow.get_run(tracked.info.run_id)
    assert stored.data.metrics["Overall/IL-FPR"] == 0.0
    assert list((tmp_path / "runs").rglob("cases.parquet"))


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(GroundfaultError, match="pip install supervision"):
        gf.to_supervision(gf.as_prediction([], []))
