"""Small sound examples of every format, and the commands that read them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.buildings import BUILD_WORDS, MINED, make_builds
from tests.fuzz.desks import desk_cells, make_desks

__all__ = ["CELLS", "Cell", "make_examples"]

Run = Callable[..., object]
N_CASES = 3
SIDE_PX = 96
TRACES = Path(__file__).parents[1] / "agent" / "published" / "demo_data.json"
SHOWN = [f"7_positive/{name}.png" for name in ("seg_couch", "zoom_3", "zoom_2")]
SHOWN += ["7_negative/seg_zebra.png", "7.png"]


class Cell(NamedTuple):
    """A command on a format. In its words {f} is the format's folder and {out} a new place."""

    command: str
    format: str
    words: tuple[str, ...]
    sound: bool = True
    """Whether the undamaged example is accepted."""


def make_examples(folder: Path, run: Run) -> None:
    """Write a folder per format with what the commands below read; `run` runs a command."""
    made = folder / "world"
    run(
        "world",
        "build",
        "--preset",
        "all",
        "--n",
        N_CASES,
        "--size",
        SIDE_PX,
        "--out",
        made,
        "--workers",
        1,
    )
    for name, preset in (("folder", "cafe"), ("quads", "halluseg"), ("exam", "reactbench")):
        (made / preset).rename(folder / name)
    _concepts(folder, made / "clean", run)
    _fprefcoco(folder / "fprefcoco")
    _pope(folder / "pope")
    run(
        "world",
        "build",
        "--preset",
        "reactbench",
        "--n",
        N_CASES,
        "--size",
        SIDE_PX,
        "--out",
        folder / "made",
        "--native",
        folder / "reactbench",
        "--workers",
        1,
    )
    _runs(folder, run)
    run(
        "convert",
        folder / "replaced" / "random-1",
        "--to",
        "halluseg",
        "--out",
        folder / "halluseg",
    )
    _labels(folder, run)
    _episodes(folder, run)
    make_builds(folder, run)
    make_desks(folder, run)
    (folder / "config").mkdir()
    (folder / "config" / "config.toml").write_text('t = 0.4\ntau = 0.3\nvariant = "exact"\n')
    recipe = (
        'data_seed = 1\nscenes = 2\nstages = [{name = "a", steps = 1, learning_rate = 0.001}]\n'
    )
    (folder / "recipe").mkdir()
    (folder / "recipe" / "recipe.toml").write_text(
        recipe + 'bogus = "so that nothing is trained"\n'
    )


def _concepts(folder: Path, clean: Path, run: Run) -> None:
    """CAFE, SA-Co, COCO and LVIS, with the answers of a model that guesses."""
    sources = {"cafe": folder / "folder", "saco": folder / "folder", "coco": clean}
    for name, source in sources.items():
        (folder / name).mkdir()
        run("convert", source, "--to", name, "--out", folder / name / "a.json")
    (folder / "lvis").mkdir()
    content = json.loads((folder / "coco" / "a.json").read_text())
    for image in content["images"]:
        image |= {
            "neg_category_ids": [content["categories"][0]["id"]],
            "not_exhaustive_category_ids": [],
        }
    for category in content["categories"]:
        category |= {"frequency": "f", "synset": "x.n.01", "synonyms": [category["name"]]}
    (folder / "lvis" / "a.json").write_text(json.dumps(content))
    for name in (*sources, "lvis"):
        content = json.loads((folder / name / "a.json").read_text())
        box = {"size": [SIDE_PX, SIDE_PX], "counts": _box(SIDE_PX)}
        kinds = [category["id"] for category in content["categories"]] or [1]
        asked = [(image["id"], kind) for image in content["images"] for kind in kinds]
        dump = [
            {
                "image_id": image,
                "category_id": kind,
                "score": 0.3 + 0.1 * (k % 5),
                "bbox": [4, 4, 20, 20],
                "segmentation": box,
            }
            for k, (image, kind) in enumerate(asked)
        ]
        (folder / name / "p.json").write_text(json.dumps(dump))


def _box(side_px: int) -> str:
    import numpy as np
    from pycocotools import mask

    pixels = np.zeros((side_px, side_px), np.uint8, order="F")
    pixels[4:24, 4:24] = 1
    counts: str = mask.encode(pixels)["counts"].decode()
    return counts


def _fprefcoco(folder: Path) -> None:
    folder.mkdir()
    box = {"size": [64, 64], "counts": _box(64)}
    refs = [
        {
            "ref_id": k,
            "image_id": k,
            "ann_id": k,
            "sentences": [
                {
                    "sent": f"the dog {k}",
                    "sent_id": k,
                    "is_false_premise": bool(k % 2),
                    "gt_sent": "a cat",
                }
            ],
        }
        for k in range(1, 4)
    ]
    content = {
        "images": [
            {"id": k, "file_name": f"{k}.jpg", "height": 64, "width": 64} for k in (1, 2, 3)
        ],
        "annotations": [
            {
                "id": k,
                "image_id": k,
                "category_id": 1,
                "segmentation": box,
                "area": 400,
                "bbox": [4, 4, 20, 20],
                "iscrowd": 0,
            }
            for k in (1, 2, 3)
        ],
        "categories": [{"id": 1, "name": "dog"}],
        "refs": refs,
    }
    (folder / "a.json").write_text(json.dumps(content))


def _pope(folder: Path) -> None:
    folder.mkdir()
    for setting in ("random", "popular", "adversarial"):
        lines = [
            {
                "question_id": k,
                "image": f"{k % 2}.jpg",
                "text": f"Is there a {thing} in the image?",
                "label": "yes" if k % 2 else "no",
            }
            for k, thing in enumerate(("dog", "cat", "car", "tree"), start=1)
        ]
        text = "\n".join(map(json.dumps, lines))
        (folder / f"coco_pope_{setting}.json").write_text(text)


def _runs(folder: Path, run: Run) -> None:
    """Runs of guessing models in masks, in words, and a scored dump."""
    for name, source in (("masks", "folder"), ("replaced", "quads"), ("words", "exam")):
        for seed in (1, 2):
            run(
                "eval",
                folder / source,
                "--model",
                f"random:{seed}",
                "--bootstrap",
                20,
                "--out",
                folder / name,
            )
    run(
        "score",
        "cafe",
        "--annotations",
        folder / "cafe" / "a.json",
        "--predictions",
        folder / "cafe" / "p.json",
        "--bootstrap",
        20,
        "--out",
        folder / "scored" / "one",
    )
    seen = folder / "seen"  # of a model that finds something, so that a threshold can be chosen
    words = ("--model", "nano-base", "--bootstrap", 0, "--out", seen)
    run("eval", folder / "folder", *words)
    run("calibrate", seen / "nano-base", "--bootstrap", 0)


def _labels(folder: Path, run: Run) -> None:
    """What people say of answers, for the cards of judges and readers."""
    (folder / "labels").mkdir()
    read = [
        {"kind": "yes_no", "text": "Yes.", "value": True},
        {"kind": "yes_no", "text": "No, there is none.", "value": False},
        {"kind": "number", "text": "There are 12 of them.", "value": 12},
        {"kind": "yes_no", "text": "Maybe.", "value": None},
    ]
    (folder / "labels" / "read.jsonl").write_text("\n".join(map(json.dumps, read)))
    asked = json.loads((folder / "reactbench" / "erasure.json").read_text())
    free = [row["id"] for row in asked if row["number"] in (5, 7)]
    judged = [{"item_id": each, "text": "There is none.", "verdict": "right"} for each in free]
    (folder / "labels" / "judged.jsonl").write_text("\n".join(map(json.dumps, judged)))
    run("judge-card", folder / "exam", "--out", folder / "labels" / "card.json")


def _episodes(folder: Path, run: Run) -> None:
    """A run of an agent, and traces as they were published."""
    model = "episodes=agent:nano-base+scripted:accept"
    words = ("--model", model, "--bootstrap", 0, "--out", folder / "agent")
    run("eval", folder / "folder", *words)
    from PIL import Image

    demo = folder / "demo"
    for k, name in enumerate(SHOWN):
        (demo / "assets" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (64, 48), (40 * k, 40 * k, 40 * k)).save(demo / "assets" / name)
    shutil.copy(TRACES, demo / "demo_data.json")
    run("agent", "import", demo, "--out", folder / "traces")


def _dumps() -> list[Cell]:
    cells = []
    for name in ("cafe", "saco", "coco", "lvis"):
        files = ("--annotations", "{f}/a.json", "--predictions", "{f}/p.json")
        cells += [
            Cell("score", name, ("score", name, *files, "--bootstrap", "20", "--json")),
            Cell("sweep", name, ("sweep", name, *files, "--json")),
            Cell(
                "eval",
                name,
                (
                    "eval",
                    name,
                    "--annotations",
                    "{f}/a.json",
                    "--model",
                    "random:1",
                    "--bootstrap",
                    "0",
                    "--out",
                    "{out}",
                    "--json",
                ),
            ),
            Cell("inspect", name, ("inspect", "{f}/a.json", "--json")),
            Cell("convert", name, ("convert", "{f}/a.json", "--to", "folder", "--out", "{out}")),
        ]
    return cells


def _of_runs() -> list[Cell]:
    """What is told of runs, and made of them, beside report and compare."""
    masks, again = "{f}/random-1", ("--bootstrap", "0", "--json")
    cells = [
        Cell("score", "masks", ("score", masks, *again)),
        Cell("sweep", "masks", ("sweep", masks, "--json")),
        Cell("convert", "masks", ("convert", masks, "--to", "coco", "--out", "{out}.json")),
        Cell("score", "replaced", ("score", masks, *again)),
        Cell("convert", "replaced", ("convert", masks, "--to", "halluseg", "--out", "{out}")),
        Cell("compare", "scored", ("compare", "{f}/one", "{f}/one", "--json")),
        Cell("inspect", "scored", ("inspect", "{f}/one", "--json"), sound=False),
        Cell("inspect", "masks", ("inspect", "{f}/random-1", "--json")),
        Cell("costs", "agent", ("agent", "costs", "{f}/episodes", "--json")),
        Cell("steps", "agent", ("agent", "steps", "{f}/episodes", "--out", "{out}.html")),
        Cell("report", "agent", ("report", "{f}/episodes", "--out", "{out}.html")),
    ]
    kept = ("masks", "replaced", "words", "agent")
    return cells + [Cell("status", name, ("status", "{f}", "--json")) for name in kept]


def _of_other_files() -> list[Cell]:
    """Labels, traces, and what few commands read."""
    told = ("--annotations", "{f}/a.json", "--model", "random:1", "--bootstrap", "0")
    corrected = ("--card", "{f}/card.json", "--bootstrap", "0", "--json")
    return [
        Cell("eval", "fprefcoco", ("eval", "fprefcoco", *told, "--out", "{out}", "--json")),
        Cell("reader-card", "labels", ("reader-card", "{f}/read.jsonl", "--json")),
        Cell(
            "judge-card",
            "labels",
            ("judge-card", "{f}/judged.jsonl", "--exam", "{f}/../exam", "--json"),
        ),
        Cell("judge", "labels", ("judge", "{f}/../words/random-1", *corrected)),
        Cell("import", "demo", ("agent", "import", "{f}", "--out", "{out}")),
        Cell("steps", "traces", ("agent", "steps", "{f}", "--out", "{out}.html")),
        Cell("pairs", "coco", ("build", "pairs", "{f}/a.json", "--out", "{out}")),
        Cell("pairs", "lvis", ("build", "pairs", "{f}/a.json", "--out", "{out}.json")),
        Cell("export", "exam", ("export", "inspect", "{f}", "--out", "{out}")),
        Cell(
            "eval",
            "reactbench",
            ("eval", "{f}", "--model", "blind", *corrected[2:], "--out", "{out}"),
        ),
    ]


def _of_builds() -> list[Cell]:
    """Sources up to mining, a recipe with all that it names, and a build that goes on."""
    going_on = tuple(word.replace("{f}", "{f}/../building") for word in BUILD_WORDS)
    cells = [
        Cell(
            "build",
            f"source-{source}",
            ("build", benchmark, "--source", source, "--annotations", annotations, "--images",
             "{f}/images", "--stage", "mine", "--out", "{out}"),
        )
        for source, benchmark in MINED.items()
        for annotations in ["{f}/a.json" if source in ("lvis", "saco") else "{f}"]
    ]  # fmt: skip
    return [
        *cells,
        Cell("build", "building", BUILD_WORDS),
        Cell("build", "built", (*going_on[:-1], "{f}")),
        Cell("status", "built", ("build", "status", "{f}", "--json")),
        Cell("explain", "built", ("build", "explain", "{f}", "coco-1-101-SM")),
        Cell(
            "check-card",
            "built",
            ("build", "check-card", "{f}", "--labels", "{f}/../building/labels.jsonl", "--json"),
        ),
    ]


CELLS = [
    *_dumps(),
    Cell("inspect", "dump", ("inspect", "{f}/../cafe/p.json", "--json")),
    Cell(
        "score",
        "halluseg",
        (
            "score",
            "halluseg",
            "--cases",
            "{f}/results.json",
            "--data",
            "{f}/data",
            "--predictions",
            "{f}",
            "--missing",
            "empty",
            "--bootstrap",
            "20",
            "--json",
        ),
    ),
    Cell("inspect", "halluseg", ("inspect", "{f}/results.json", "--json")),
    Cell(
        "convert",
        "halluseg",
        ("convert", "{f}/results.json", "--data", "{f}/data", "--to", "folder", "--out", "{out}"),
    ),
    Cell("inspect", "fprefcoco", ("inspect", "{f}/a.json", "--json")),
    Cell("convert", "fprefcoco", ("convert", "{f}/a.json", "--to", "folder", "--out", "{out}")),
    *(
        Cell(
            "eval",
            name,
            ("eval", "{f}", "--model", "random:1", "--bootstrap", "0", "--out", "{out}", "--json"),
        )
        for name in ("folder", "quads", "exam")
    ),
    *(Cell("inspect", name, ("inspect", "{f}", "--json")) for name in ("folder", "quads", "exam")),
    Cell("convert", "folder", ("convert", "{f}", "--to", "cafe", "--out", "{out}.json")),
    Cell("convert", "exam", ("convert", "{f}", "--to", "folder", "--out", "{out}")),
    Cell(
        "eval",
        "pope",
        (
            "eval",
            "pope",
            "--data",
            "{f}",
            "--images",
            "{f}",
            "--model",
            "blind",
            "--bootstrap",
            "0",
            "--out",
            "{out}",
            "--json",
        ),
    ),
    Cell("inspect", "pope", ("inspect", "{f}", "--json")),
    Cell("convert", "reactbench", ("convert", "{f}", "--to", "folder", "--out", "{out}")),
    Cell("inspect", "reactbench", ("inspect", "{f}", "--json")),
    *(
        Cell(command, name, (command, "{f}/random-1", "{f}/random-2", *more))
        for name in ("masks", "replaced", "words")
        for command, more in (
            ("report", ("--out", "{out}.html")),
            ("compare", ("--bootstrap", "50", "--json")),
        )
    ),
    Cell(
        "eval",
        "masks",
        (
            "eval",
            "{f}/../folder",
            "--model",
            "random:1",
            "--bootstrap",
            "0",
            "--out",
            "{f}",
            "--json",
        ),
    ),
    Cell("judge", "words", ("judge", "{f}/random-1", "--bootstrap", "0", "--json")),
    Cell("report", "scored", ("report", "{f}/one", "--out", "{out}.html")),
    Cell("calibrate", "seen", ("calibrate", "{f}/nano-base", "--bootstrap", "0", "--json")),
    Cell(
        "replay",
        "masks",
        (
            "eval",
            "{f}/../folder",
            "--model",
            "replay:{f}/random-1",
            "--bootstrap",
            "0",
            "--out",
            "{out}",
            "--json",
        ),
    ),
    Cell(
        "score",
        "config",
        (
            "score",
            "cafe",
            "--annotations",
            "{f}/../cafe/a.json",
            "--predictions",
            "{f}/../cafe/p.json",
            "--config",
            "{f}/config.toml",
            "--bootstrap",
            "0",
            "--json",
        ),
    ),
    Cell("train", "recipe", ("train", "nano", "{f}/recipe.toml", "--out", "{out}"), sound=False),
    *_of_runs(),
    *_of_other_files(),
    *_of_builds(),
    *desk_cells(Cell),
]
