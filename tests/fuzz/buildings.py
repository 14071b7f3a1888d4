"""Examples of what `build` reads: sources, a recipe with proposals and decisions, and a build that
has ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.building.photographs import write_set
from tests.building.sources import HEIGHT, WIDTH, picture
from tests.building.test_hostile_sources import SOURCES

from groundfault.building.review import Decision, read_items, write_decisions
from groundfault.building.review_rules import load_protocols
from groundfault.building.stages import kept_candidates

__all__ = ["BUILD_WORDS", "MINED", "make_builds"]

Run = Callable[..., object]
PHOTOGRAPHS = 2
RECIPE = """benchmark = "cafe"
[source]
annotations = "set/instances.json"
images = "set/images"
[mine]
tasks = ["SM"]
[propose]
by = "scripted:proposals.jsonl"
[edit]
by = "procedural"
options = {filters = false}
[review]
decisions = "decisions.jsonl"
"""
BUILD_WORDS = ("build", "{f}/recipe.toml", "--workers", "1", "--out", "{out}")
MINED = {"lvis": "cafe", "saco": "cafe", "refcoco": "halluseg", "reasonseg": "halluseg",
         "visual-genome": "reactbench", "fsc147": "reactbench"}  # fmt: skip
"""Source → the benchmark that candidates are mined for."""


def make_builds(folder: Path, run: Run) -> None:
    """Write a folder per source, one with a recipe, and the build that it makes."""
    for source in MINED:
        place = folder / f"source-{source}"
        place.mkdir()
        SOURCES[source](place)
        _pictures(place / "images", source)
    place, built = folder / "building", folder / "built"
    write_set(place / "set", PHOTOGRAPHS)
    (folder / "decided").mkdir()
    (place / "recipe.toml").write_text(RECIPE)
    (place / "decisions.jsonl").write_text("")
    _proposals(place)
    words = ("build", place / "recipe.toml", "--workers", 1, "--out", built)
    run(*words, "--stage", "review")
    _decisions(place, built)
    run(*words)
    labels = [{"id": c.id, "verdict": "accept"} for c in kept_candidates(built, "verify")]
    (place / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))


def _pictures(place: Path, source: str) -> None:
    """The photographs that a source names, in the sizes that it says."""
    sizes = {"visual-genome": (80, 100), "fsc147": (384, 384)}
    height_px, width_px = sizes.get(source, (HEIGHT, WIDTH))
    names = {
        "lvis": tuple(f"val2017/{k:012d}.jpg" for k in (1, 2, 3)),
        "saco": ("a/1.jpg",),
        "reasonseg": ("a.jpg",),
        "visual-genome": tuple(f"VG_100K/{k}.jpg" for k in (1, 2, 3)),
        "fsc147": ("2.jpg", "63.jpg"),
    }
    for seed, name in enumerate(names.get(source, ("1.jpg", "2.jpg", "3.jpg"))):
        picture(place / name, height_px, width_px, seed)


def _proposals(place: Path) -> None:
    told = [
        {
            "category": name,
            "task": "SM",
            "instruction": f"Cover the whole {name} with zebra stripes; keep its shape unchanged.",
            "value": "zebra",
            "positive": name,
            "negative": "ladybug",
        }
        for name in ("elephant", "bus", "chair", "cat")
    ]
    (place / "proposals.jsonl").write_text("\n".join(map(json.dumps, told)))


def _decisions(place: Path, built: Path) -> None:
    protocol = load_protocols(["cafe"])["cafe"]
    made = [
        Decision(item_id=item.id, stage=stage.name, reviewer=f"r{k}", verdict="accept")
        for item in read_items(built)
        for stage in protocol.stages
        for k in range(stage.asked(item.kind)[0])
    ]
    write_decisions(place / "decisions.jsonl", made)
    write_decisions(place.parent / "decided" / "decisions.parquet", made)
