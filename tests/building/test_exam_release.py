"""Releases that show edited and unedited pictures: nothing but pixels tells one from the other."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests.building.test_exam_questions import asked, counted, made
from tests.llm.chat_server import ChatServer, Request, Response, completion

import groundfault as gf
from groundfault.building.patches import restore
from groundfault.building.records import Candidate
from groundfault.building.releasing import ReleaseSettings, release


def as_jpeg(candidate: Candidate, build: Path, content: Path | None = None) -> Candidate:
    """The same candidate, made from a JPEG: edits are PNGs."""
    assert candidate.edited is not None
    before = Path(candidate.edited.before).with_suffix(".jpg")
    if content is not None:
        Image.open(content).save(build / before, quality=95)
    photograph = msgspec.structs.replace(
        candidate.photograph, file=before.name, height_px=240, width_px=320, licence="CC BY 4.0"
    )
    after = candidate.edited.after if candidate.task != "counting" else str(before)
    edited = msgspec.structs.replace(candidate.edited, before=str(before), after=after)
    return msgspec.structs.replace(candidate, photograph=photograph, edited=edited)


def exam(build: Path, **settings: Any) -> tuple[Path, list[Candidate]]:
    """An exam of one sample per task, each with its twin; and all that it shows."""
    tasks: tuple[Any, ...] = ("erasure", "attribute")
    candidates = [
        as_jpeg(made(build, task, task), build, build / f"{task}-before.png") for task in tasks
    ]
    for number, name in ((8, "erasure-before.png"), (20, "attribute-after.png")):
        candidates.append(as_jpeg(counted(f"peas{number}", number), build, build / name))
    results = [r for r in asked(build, *candidates) if isinstance(r, Candidate)]
    assert [result.task for result in results] == ["erasure", "attribute", "counting"]
    twins = {candidate.id: candidate for candidate in candidates}
    given = ReleaseSettings(**settings)
    release(results, build, "reactbench", given, about="About.", source="Source", twins=twins)
    return build / "release", results


def shown(part: Any) -> Any:
    """What a request says; of a picture its type and every chunk but the pixels."""
    if isinstance(part, list):
        return [shown(each) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") != "image_url":
        return {name: shown(value) for name, value in part.items()}
    head, _, data = part["image_url"]["url"].partition(",")
    return head, _chunks(base64.b64decode(data))


def _chunks(content: bytes) -> list[tuple[bytes, bytes]]:
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = list[tuple[bytes, bytes]](), 8
    while at < len(content):
        size = int.from_bytes(content[at : at + 4], "big")
        kind, value = content[at + 4 : at + 8], content[at + 8 : at + 8 + size]
        found.append((kind, b"" if kind == b"IDAT" else value))
        at += 12 + size
    return sorted(set(found))


def test_requests_about_twins_differ_by_pixels_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("aiohttp")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    place, _ = exam(tmp_path)

    def answer(request: Request) -> Response:
        return Response(content=completion("A"))

    with ChatServer(answer) as server:
        options = {"base_url": server.url, "judge": "rule"}
        gf.evaluate(place, "openai:tiny", out=tmp_path / "run", **options)
        bodies = [json.dumps(shown(r.body), default=str, sort_keys=True) for r in server.requests]
        pixels = {json.dumps(r.body, sort_keys=True) for r in server.requests}
    assert len(pixels) == len(bodies) == 2 * 2 * (12 + 12 + 8)  # std, CoT
    assert all(bodies.count(body) % 2 == 0 for body in bodies)


def test_every_sample_of_an_exam_says_where_it_is_from(tmp_path: Path) -> None:
    place, results = exam(tmp_path)
    rows = pq.read_table(place / "provenance.parquet").to_pylist()
    by_id = {row["case_id"]: row for row in rows}
    assert sorted(by_id) == sorted(case.id for case in gf.load(place).cases)
    assert {row["licence"] for row in rows} == {"CC BY 4.0"}
    counting = next(result for result in results if result.task == "counting")
    other = by_id[f"{counting.id}-twin"]
    assert other["source_image_id"] != counting.photograph.id
    assert other["edit"] == by_id["erasure-twin"]["edit"] == "none"
    assert by_id["erasure"]["edit"] == "erase"


def test_an_exam_without_pictures_is_made_whole_from_the_photographs(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "bare").mkdir()
    whole, _ = exam(tmp_path / "whole")
    bare, _ = exam(tmp_path / "bare", pictures=False)
    assert not (bare / "images").exists()
    assert restore(bare, [tmp_path / "bare"]) == 6
    for path in (whole / "images").iterdir():
        assert (bare / "images" / path.name).read_bytes() == path.read_bytes()
    assert gf.load(bare).items == gf.load(whole).items
