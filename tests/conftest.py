"""Shared fixtures: the command line in process, and a CAFE set small enough to check by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from pycocotools import mask as coco_mask

from groundfault import cli

# Some virtual machines announce AMX and end a process that uses it (a bfloat16 layer is enough);
# torch reads this before its first such layer.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
# On CI the same examples every time, so that a red run means a changed program; elsewhere new ones.
# A busy machine is no failure anywhere.
settings.register_profile(
    "ours",
    derandomize=bool(os.environ.get("CI")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", settings.get_profile("ours"), max_examples=1000)
ALL = bool(os.environ.get("GROUNDFAULT_TEST_ALL"))
"""Whether what takes longer is tested too: `make test-all`."""
settings.load_profile("long" if ALL else "ours")

SIDE_PX = 40
OFFSET = 1_000_000_000


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


LONG = (
    "transformers",
    "ray",
    *(
        f"tests/{name}.py"
        for name in (
            "llm/test_client_server", "test_tutorials", "explore/test_browser",
            "editors/test_procedural", "test_report_page", "desk/test_review_browser",
            "desk/test_from_build_to_release", "exports/test_inspect", "editors/test_props",
            "llm/test_killed_server", "test_nano", "test_nano_training", "test_docs", "test_fuzz",
            "workers/test_scripts", "llm/test_eval_exam_server", "test_plugin", "test_cli",
            "test_demo", "building/test_pipeline", "desk/test_review_server", "test_world_presets",
            "test_world_exam_rules", "test_panels", "models/test_worker", "test_api",
        )
    ),
)  # fmt: skip
"""The groups that take longest, 10 s and more: begun first, none keeps one process at work while
the others have ended."""


def pytest_configure(config: pytest.Config) -> None:
    """xdist would begin with the groups of most tests, and end with long ones of few."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A file's tests run in one process, so that what they share is made once; long files first."""
    places: dict[pytest.Item, int] = {}
    for item in items:
        marker = item.get_closest_marker("xdist_group")
        group = marker.args[0] if marker else item.location[0]
        if marker is None:
            item.add_marker(pytest.mark.xdist_group(group))
        places[item] = LONG.index(group) if group in LONG else len(LONG)
    items.sort(key=places.__getitem__)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command in process: run("score", "cafe", …)."""

    def run_command(*arguments: object) -> Ran:
        capsys.readouterr()
        code = cli.run([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return run_command


@pytest.fixture
def write_json(tmp_path: Path) -> Callable[[str, Any], Path]:
    """Write a value to a file of the test's own folder."""

    def write(name: str, value: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(value))
        return path

    return write


def box_pixels(x: int, y: int, width: int, height: int, side_px: int = SIDE_PX) -> Any:
    """A filled box as (side, side) pixels."""
    pixels = np.zeros((side_px, side_px), np.uint8)
    pixels[y : y + height, x : x + width] = 1
    return pixels


def box_rle(x: int, y: int, width: int, height: int, side_px: int = SIDE_PX) -> dict[str, Any]:
    """A filled box in COCO's own compressed run lengths."""
    coded = coco_mask.encode(np.asfortranarray(box_pixels(x, y, width, height, side_px)))
    return {"size": coded["size"], "counts": coded["counts"].decode()}


def box_runs(x: int, y: int, width: int, height: int) -> dict[str, Any]:
    """A filled box in plain run lengths."""
    flat = box_pixels(x, y, width, height).ravel(order="F")
    edges = np.flatnonzero(np.diff(flat, prepend=0)).tolist()
    ends = [0, *edges, flat.size]
    return {"size": [SIDE_PX, SIDE_PX], "counts": np.diff(ends).tolist()}


def box_polygon(x: int, y: int, width: int, height: int) -> list[list[float]]:
    """A filled box as one polygon."""
    right, bottom = x + width, y + height
    return [[x, y, right, y, right, bottom, x, bottom]]


TARGET = (8, 8, 12, 12)
ELSEWHERE = (24, 24, 12, 12)
PAIRS = [
    # edit type, (box, score) of the answers to p⁺ and to p⁻             → cells at t 0.5, τ 0.3
    ("Superficial Mimicry", [(TARGET, 0.9)], [(TARGET, 0.4)]),  # TA-TP, TN
    ("Superficial Mimicry", [((8, 9, 12, 12), 0.7)], [(ELSEWHERE, 0.6)]),  # TA-TP, UA-FP
    ("Context Conflict", [(ELSEWHERE, 0.9), (TARGET, 0.2)], [(TARGET, 0.1)]),  # UA-P, TN
    ("Ontological Conflict", [(TARGET, 0.3)], [(TARGET, 0.6)]),  # TA-FN, TA-FP, soft swap
]


@dataclass
class CafeSet:
    """Annotations and predictions to be changed at will, then written."""

    folder: Path
    annotations: Any
    predictions: Any
    rewrite: dict[str, Callable[[bytes], bytes]] = field(default_factory=dict)
    """File name → what becomes of its bytes."""

    @property
    def annotation_file(self) -> Path:
        return self.folder / "annotations.json"

    @property
    def prediction_file(self) -> Path:
        return self.folder / "predictions.json"

    def write(self) -> CafeSet:
        """Write both files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path, value in (
            (self.annotation_file, self.annotations),
            (self.prediction_file, self.predictions),
        ):
            change = self.rewrite.get(path.name, bytes)
            path.write_bytes(change(json.dumps(value).encode()))
        return self

    @property
    def options(self) -> list[object]:
        return ["--annotations", self.annotation_file, "--predictions", self.prediction_file]


def cafe_set(folder: Path) -> CafeSet:
    """Four pairs on 40 x 40 pixels (2 SM, 1 CC, 1 OC), answered by an imagined model.

    TA-TP 2, UA-P 1, TA-FN 1, TA-FP 1, UA-FP 1, TN 2; AFPR, UFPR, ACSR and SoftSwap 1/4, UCSR 0.
    """
    images, annotations, predictions = [], [], []
    for number, (edit_type, to_positive, to_negative) in enumerate(PAIRS, start=1):
        shared = {
            "file_name": f"{number}.jpg",
            "height": SIDE_PX,
            "width": SIDE_PX,
            "edit_type": edit_type,
        }
        negative = OFFSET + number
        images += [
            {"id": number, "text_input": "cat", **shared},
            {"id": negative, "text_input": "tiger", "fp_source_id": number, **shared},
        ]
        annotations.append(
            {
                "id": number,
                "image_id": number,
                "category_id": 1,
                "iscrowd": 0,
                "segmentation": box_rle(*TARGET),
                "bbox": list(TARGET),
            }
        )
        predictions += [
            {
                "image_id": image_id,
                "category_id": 1,
                "segmentation": box_rle(*box),
                "bbox": list(box),
                "score": score,
            }
            for image_id, answers in ((number, to_positive), (negative, to_negative))
            for box, score in answers
        ]
    content = {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": 1, "name": "object"}],
    }
    return CafeSet(folder, content, predictions)


@pytest.fixture
def cafe(tmp_path: Path) -> CafeSet:
    """The small CAFE set, not yet written."""
    return cafe_set(tmp_path / "cafe")


def rewrite_results(folder: Path, **changes: Any) -> None:
    """Make the results in a folder those of other settings, another benchmark or protocol."""
    import pyarrow.parquet as pq

    from groundfault.io.results import read_results, stamp
    from groundfault.io.store import write_json

    summary, table = read_results(folder)
    summary = msgspec.structs.replace(summary, **changes)
    summary = msgspec.structs.replace(summary, stamp=stamp(summary))
    noted = {b"protocol": summary.protocol, b"stamp": summary.stamp}
    table = table.replace_schema_metadata({**table.schema.metadata, **noted})
    pq.write_table(table, folder / "cases.parquet")
    write_json(folder / "summary.json", summary)
