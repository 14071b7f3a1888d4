"""Small real files, written by the program while the documentation is built."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["example_files"]

ROOT = Path(__file__).parents[2]
MOST_ENTRIES, MOST_NUMBERS, MOST_KEYS, MOST_CHARACTERS = 2, 4, 16, 44
PHRASES = """exclusive = [["dog", "cat"]]
absent = ["zebra"]
same = [["sofa", "couch"]]
part_of = [["wheel", "car"]]
kind_of = [["taxi", "car"]]
phrases = ["bicycle"]
"""


def example_files() -> dict[str, str]:
    """Name → text, shortened with … where it goes on."""
    with tempfile.TemporaryDirectory(prefix="groundfault-docs-") as place:
        folder = Path(place)
        found = {**_scored(folder), **_asked(folder), **_exam(folder), **_audited(folder)}
    return (
        {name: _shown(value) for name, value in found.items()}
        | _recipes()
        | {"phrases": PHRASES.strip()}
    )


def _scored(folder: Path) -> dict[str, Any]:
    from groundfault.io.example import write_example

    paths = write_example(folder / "example")
    stored = json.loads(paths["annotations"].read_text())
    stored = {key: stored[key] for key in ("images", "annotations", "categories")}
    return {"annotations": stored, "results": json.loads(paths["careful"].read_text())}


def _asked(folder: Path) -> dict[str, Any]:
    import groundfault as gf
    from groundfault.world.presets import BuildSettings, build

    build("cafe", 1, folder / "world", BuildSettings(seed=1, size_px=160), workers=1)
    world = gf.load(folder / "world")
    run = gf.evaluate(world, "oracle", folder / "runs" / "oracle", bootstrap=100)
    place = folder / "runs" / "oracle"
    return {
        "benchmark": json.loads((folder / "world" / "benchmark.json").read_text()),
        "case": msgspec.to_builtins(world.cases[0]),
        "item": msgspec.to_builtins(world.items[0]),
        "run": _without_places(json.loads((place / "run.json").read_text())),
        "summary": _without_places(json.loads((place / "summary.json").read_text())),
        "prediction": msgspec.to_builtins(next(iter(run.predictions()))),
    }


def _exam(folder: Path) -> dict[str, Any]:
    import pyarrow.parquet as parquet

    from groundfault.world.exams import build_exam

    build_exam(4, folder / "exam", seed=1, workers=1)
    rows = {
        name: parquet.read_table(folder / "exam" / f"{name}s.parquet").slice(0, 1).to_pylist()[0]
        for name in ("sample", "question")
    }
    rows["sample"]["facts"] = dict(rows["sample"]["facts"])
    return {"exam": json.loads((folder / "exam" / "exam.json").read_text()), **rows}


def _audited(folder: Path) -> dict[str, Any]:
    import groundfault as gf
    from groundfault.building.funnel import Funnel
    from groundfault.building.review import Decision
    from groundfault.building.stages import Count

    phrases = {"exclusive": [["dog", "cat"]], "absent": ["zebra"]}
    options: dict[str, Any] = {"counterfactuals": 0, "bootstrap": 0, "page": False}
    gf.audit(folder / "world" / "images", phrases, "always-yes", folder / "audit", **options)
    stages = Count(name="mine", entered=12, kept=7, dropped={"too small": 5})
    decision = Decision(
        item_id="000123", stage="first", verdict="reject", reasons=("artefact",), reviewer="anna",
        time="2026-11-17T10:04:05Z", seconds=6.5,
    )  # fmt: skip
    return {
        "audit": json.loads((folder / "audit" / "set" / "audit.json").read_text()),
        "funnel": msgspec.to_builtins(Funnel(benchmark="cafe", stages=(stages,))),
        "decision": msgspec.to_builtins(decision),
    }


def _recipes() -> dict[str, str]:
    """Files that ship."""
    protocols = ROOT / "src" / "groundfault" / "building" / "review_protocols"
    files = {
        "scoring": ROOT / "recipes" / "cafe" / "grounded-sam2.toml",
        "nano": ROOT / "recipes" / "nano" / "default.toml",
        "agent": ROOT / "recipes" / "agent" / "cafe-sam3.toml",
        "protocol": protocols / "cafe.toml",
    }
    return {name: file.read_text().strip() for name, file in files.items()}


def _without_places(found: dict[str, Any]) -> dict[str, Any]:
    """Without paths and times of the machine that builds the documentation."""
    text = re.sub(r"/[^\"]*groundfault-docs-[^/\"]*/", "/data/", json.dumps(found))
    dropped = {"seconds", "latency_s", "versions"}
    return {key: value for key, value in json.loads(text).items() if key not in dropped}


def _shown(value: Any) -> str:
    """Indented, with lists of plain values on one line."""
    text = json.dumps(_short(value), indent=2, ensure_ascii=False)
    plain = re.compile(r"\[\n\s*[^\[\]{}]*?\n\s*\]")
    return plain.sub(
        lambda found: " ".join(found[0].split()).replace("[ ", "[").replace(" ]", "]"), text
    )


def _short(value: Any) -> Any:
    """The first entries of what is long."""
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return f"{value[:MOST_CHARACTERS]}…"
    if isinstance(value, Mapping):
        kept = {key: _short(each) for key, each in value.items() if each not in (None, "", [], {})}
        short = dict(list(kept.items())[:MOST_KEYS])
        return short | ({"…": "…"} if len(kept) > MOST_KEYS else {})
    if isinstance(value, (list, tuple)):
        most = MOST_NUMBERS if _is_numbers(value) else MOST_ENTRIES
        more = ["…"] if len(value) > most else []
        return [*map(_short, value[:most]), *more]
    return round(value, 4) if isinstance(value, float) else value


def _is_numbers(value: Any) -> bool:
    return all(isinstance(each, (int, float)) for each in value)
