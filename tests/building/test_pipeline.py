"""A build from photographs to its release: complete, the same again, and after any kill."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.building.painting import ASKED
from tests.building.photographs import write_set
from tests.llm.chat_server import ChatServer, Request, Response, completion

import groundfault as gf
from groundfault.building.checking import VerifySettings
from groundfault.building.funnel import read_funnel
from groundfault.building.patches import restore
from groundfault.building.pipeline import build
from groundfault.building.recipe import (
    EditSettings,
    Recipe,
    ReleaseSettings,
    ReviewSettings,
    SourceSettings,
)
from groundfault.building.stages import kept_candidates
from groundfault.errors import DataError, UsageError
from groundfault.io.masks import decode
from groundfault.io.pictures import read_image
from groundfault.runner.work import Plan


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """Photographs, and an editor that is found as those of other packages are."""
    installed = tmp_path / "packages" / "paint-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "entry_points.txt").write_text(
        "[groundfault.editors]\npaint = painting_for_tests:load\n"
    )
    code = Path(__file__).with_name("painting.py").read_text()
    (tmp_path / "packages" / "painting_for_tests.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.setenv(ASKED, str(tmp_path / "asked.txt"))
    annotations, images = write_set(tmp_path / "set")
    return Recipe(
        benchmark="cafe",
        source=SourceSettings(annotations=str(annotations), images=str(images)),
        edit=EditSettings(by="paint"),
    )


def contents(folder: Path) -> dict[str, str]:
    """The hash of every file but of what only the making needs, and of what a kill left in the
    making: that is swept a minute later."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".journal", ".groundfault")
    }


def asked(tmp_path: Path) -> list[str]:
    file = tmp_path / "asked.txt"
    return file.read_text().splitlines() if file.exists() else []


def test_a_build_ends_in_a_benchmark_that_the_oracle_solves(recipe: Recipe, tmp_path: Path) -> None:
    built = build(recipe, tmp_path / "out")
    assert built.funnel.problem == "" and not built.stopped
    assert [count.name for count in built.funnel.stages] == [
        "mine", "propose", "edit", "verify", "review", "release",
    ]  # fmt: skip
    released = gf.load(tmp_path / "out" / "release")
    assert len(released.cases) == built.released > 6
    assert {case.intervention for case in released.cases} == {"SM", "CC", "OC"}
    oracle = gf.evaluate(released, "oracle", out=tmp_path / "oracle")
    assert oracle.summary.rows["Overall"].metrics["cgF1"].value == 1.0
    native = gf.load("cafe", annotations=tmp_path / "out" / "native" / "annotations.json")
    assert len(native.cases) == len(released.cases)
    assert (tmp_path / "out" / "sheet.jpg").stat().st_size > 5000
    licences = gf.load(tmp_path / "out" / "release").card.licence
    assert "CC BY 4.0" in licences


EDIT_TYPES = {
    "SM": "Superficial Mimicry",
    "CC": "Context Conflict",
    "OC": "Ontological Conflict",
}


def test_the_authors_code_reads_the_native_files(recipe: Recipe, tmp_path: Path) -> None:
    """As scripts of T-S-Liang/CAFE@8b2cda7 and SAM 3's evaluator do: pairs by fp_source_id or by
    ids 1,000,000,000 apart, one mask of each p⁺, types in full, a category."""
    build(recipe, tmp_path / "out")
    native = tmp_path / "out" / "native"
    whole = json.loads((native / "annotations.json").read_text())
    positives = {i["id"]: i for i in whole["images"] if "fp_source_id" not in i}
    negatives = {i["id"]: i for i in whole["images"] if "fp_source_id" in i}
    assert {n: i["fp_source_id"] for n, i in negatives.items()} == {
        n + 1_000_000_000: n for n in positives
    }
    shared = ("file_name", "height", "width", "edit_type", "is_instance_exhaustive")
    for number, image in positives.items():
        other = negatives[number + 1_000_000_000]
        assert all(image[name] == other[name] for name in shared)
        assert 0 < number < 1_000_000_000 and image["is_instance_exhaustive"] == 1
        assert image["text_input"] and other["text_input"] not in ("", image["text_input"])
        picture = read_image(native / "images" / image["file_name"])
        assert picture.shape[:2] == (image["height"], image["width"])
    assert sorted(a["image_id"] for a in whole["annotations"]) == sorted(positives)
    assert all(isinstance(a["segmentation"]["counts"], str) for a in whole["annotations"])
    assert {a["category_id"] for a in whole["annotations"]} == {
        c["id"] for c in whole["categories"]
    }
    for short, name in EDIT_TYPES.items():
        part = json.loads((native / f"annotations_{short}.json").read_text())
        of_type = [i for i in whole["images"] if i["edit_type"] == name]
        ids = {image["id"] for image in of_type}
        assert part["images"] == of_type and part["categories"] == whole["categories"]
        wanted = [a for a in whole["annotations"] if a["image_id"] in ids]
        assert [a["segmentation"] for a in part["annotations"]] == [
            a["segmentation"] for a in wanted
        ]


def test_where_every_concept_pair_is_from_goes_along(recipe: Recipe, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    build(recipe, tmp_path / "out")
    told = json.loads(Path(str(recipe.source.annotations)).read_text())
    files = {str(image["id"]): image["file_name"] for image in told["images"]}
    things = {(str(a["image_id"]), str(a["id"])) for a in told["annotations"]}
    for part in ("release", "native"):
        rows = pq.read_table(tmp_path / "out" / part / "provenance.parquet").to_pylist()
        cases = gf.load(tmp_path / "out" / "release").cases
        assert [row["case_id"] for row in rows] == [case.id for case in cases]
        for row in rows:
            assert files[row["source_image_id"]] == row["source_file"]
            assert (row["source_image_id"], row["source_annotation_id"]) in things
            assert (
                row["licence"].startswith("CC BY 4.0") and row["instruction"] and row["rationale"]
            )


def test_pictures_of_a_release_are_no_files_of_the_build(recipe: Recipe, tmp_path: Path) -> None:
    """Who spoils a released picture spoils nothing that a build goes on from: it is made again."""
    out = tmp_path / "out"
    build(recipe, out)
    kept = {path.stat().st_ino for path in (out / "pictures").iterdir()}
    released = sorted((out / "release" / "images").iterdir())
    native = [out / "native" / "images" / path.name for path in released]
    assert not kept & {path.stat().st_ino for path in released}
    assert all(map(os.path.samefile, released, native))  # which are there once
    before = contents(out)
    released[0].write_bytes(b"spoiled")
    build(recipe, out)
    assert before.items() <= contents(out).items()


def test_no_pixel_changes_that_must_not(recipe: Recipe, tmp_path: Path) -> None:
    build(recipe, tmp_path / "out", until="verify")
    found = list(kept_candidates(tmp_path / "out", "verify"))
    assert len(found) > 6
    for candidate in found:
        assert candidate.edited is not None and candidate.target.mask is not None
        before = read_image(tmp_path / "out" / candidate.edited.before)
        after = read_image(tmp_path / "out" / candidate.edited.after)
        region = decode(candidate.target.mask)
        changed = np.any(before != after, axis=2)
        assert changed.any()
        if candidate.task == "CC":
            from groundfault.building.distances import shrunk

            assert not changed[shrunk(region, 6)].any()
        else:
            assert not changed[~region].any()


def test_a_second_run_asks_nobody_and_changes_no_byte(recipe: Recipe, tmp_path: Path) -> None:
    build(recipe, tmp_path / "out")
    before, questions = contents(tmp_path / "out"), asked(tmp_path)
    build(recipe, tmp_path / "out")
    assert contents(tmp_path / "out") == before and asked(tmp_path) == questions


def test_processes_make_the_same_bytes(recipe: Recipe, tmp_path: Path) -> None:
    build(recipe, tmp_path / "one")
    build(recipe, tmp_path / "two", plan=Plan(workers=2))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_another_default_of_mining_mines_again(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundfault.building.mining import cafe

    first = build(recipe, tmp_path / "out", until="mine").funnel.stages[0]

    class Stricter(cafe.CafeSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
        per_class: int | None = 1

    assert build(recipe, tmp_path / "out", until="mine").funnel.stages[0] == first
    monkeypatch.setattr(cafe, "SETTINGS", Stricter)
    assert build(recipe, tmp_path / "out", until="mine").funnel.stages[0].kept < first.kept


def test_refusals_are_counted_and_another_editor_starts_there_alone(
    recipe: Recipe, tmp_path: Path
) -> None:
    build(recipe, tmp_path / "out")
    asked_before = len(asked(tmp_path))
    picky = msgspec.structs.replace(recipe, edit=EditSettings(by="paint:2"))
    built = build(picky, tmp_path / "out")
    by_name = {count.name: count for count in built.funnel.stages}
    assert by_name["edit"].dropped.get("refused: not this one", 0) > 0
    assert built.funnel.problem == "" and len(asked(tmp_path)) > asked_before
    assert built.released < asked_before
    older = [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith("release-")]
    assert len(older) == 1  # the earlier release is kept as it was
    build(recipe, tmp_path / "out")
    assert len(gf.load(tmp_path / "out" / "release").cases) == asked_before


def decided(tmp_path: Path, verdict: Any) -> Path:
    """Decisions of three people in all stages."""
    from groundfault.building.review import Decision, read_items, write_decisions
    from groundfault.building.review_rules import load_protocols

    made = []
    protocol = load_protocols(["cafe"])["cafe"]
    for item in read_items(tmp_path / "out"):
        for stage in protocol.stages:
            opinions, _ = stage.asked(item.kind)
            made += [
                Decision(item_id=item.id, stage=stage.name, reviewer=f"r{k}", **verdict(item, k))
                for k in range(opinions)
            ]
    write_decisions(tmp_path / "decisions.jsonl", made)
    return tmp_path / "decisions.jsonl"


def test_people_decide_and_correct(recipe: Recipe, tmp_path: Path) -> None:
    build(recipe, tmp_path / "out", until="review")

    def verdict(item: Any, reviewer: int) -> dict[str, Any]:
        if item.kind == "OC":
            return {"verdict": "accept" if reviewer < 2 else "reject", "reasons": ("artefacts",)}
        texts = {"negative": "corrected"} if item.kind == "CC" else {}
        return {"verdict": "accept", "texts": texts}

    decisions = decided(tmp_path, verdict)
    reviewed = msgspec.structs.replace(recipe, review=ReviewSettings(decisions=str(decisions)))
    built = build(reviewed, tmp_path / "out")
    released = gf.load(tmp_path / "out" / "release")
    assert {case.intervention for case in released.cases} == {"SM", "CC"}  # OC needs all three
    negatives = {i.query for i in released.items if i.case_id.endswith("CC") and not i.present}
    assert negatives == {"corrected"} and built.funnel.problem == ""
    assert "nobody has reviewed" not in released.card.about


def test_open_decisions_wait(recipe: Recipe, tmp_path: Path) -> None:
    build(recipe, tmp_path / "out", until="review")
    (tmp_path / "decisions.jsonl").write_text("")
    reviewed = msgspec.structs.replace(
        recipe, review=ReviewSettings(decisions=str(tmp_path / "decisions.jsonl"))
    )
    built = build(reviewed, tmp_path / "out")
    assert "await decisions" in built.stopped and built.funnel.stages[-1].waiting > 0
    assert not (tmp_path / "out" / "release").exists()


def test_decisions_about_items_that_are_not_there_are_told(recipe: Recipe, tmp_path: Path) -> None:
    from groundfault.building.review import Decision, write_decisions

    made = Decision(item_id="elsewhere", stage="1", reviewer="r", verdict="accept")
    write_decisions(tmp_path / "decisions.jsonl", [made])
    settings = ReviewSettings(decisions=str(tmp_path / "decisions.jsonl"))
    built = build(msgspec.structs.replace(recipe, review=settings), tmp_path / "out")
    assert "1 are about others, as 'elsewhere'" in built.stopped
    assert str(tmp_path) not in built.stopped


def test_another_benchmark_does_not_go_into_the_same_folder(recipe: Recipe, tmp_path: Path) -> None:
    build(recipe, tmp_path / "out", until="mine")
    other = msgspec.structs.replace(recipe, benchmark="halluseg")
    with pytest.raises(UsageError, match="another benchmark"):
        build(other, tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="no build"):
        build(recipe, tmp_path / "full")


KILLS = 30 if os.environ.get("GROUNDFAULT_TEST_ALL") else 5
PROGRAM = """
import sys
from groundfault.building.pipeline import build
from groundfault.building.recipe import EditSettings, Recipe, SourceSettings
source = SourceSettings(annotations=sys.argv[1], images=sys.argv[2])
print("begin", flush=True)
build(Recipe(benchmark="cafe", source=source, edit=EditSettings(by="paint")), sys.argv[3])
print("end", flush=True)
"""


@pytest.mark.parametrize(("module", "name"), [(os, "link"), (shutil, "copytree"), (os, "fsync")])
def test_a_full_disk_is_told_and_the_same_command_goes_on(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(*args: Any, **options: Any) -> None:
        raise shutil.Error([("a", "b", str(full))]) if name == "copytree" else full

    with monkeypatch.context() as disk:
        disk.setattr(module, name, fail)
        if name == "link":  # then files are copied
            disk.setattr(shutil, "copyfile", fail)
        with pytest.raises(UsageError, match=r"disk is full|No space left"):
            build(recipe, tmp_path / "out")
    assert not (tmp_path / "out" / "release").exists()
    build(recipe, tmp_path / "out")
    build(recipe, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_build_that_is_killed_ends_as_if_it_never_was(recipe: Recipe, tmp_path: Path) -> None:
    annotations, images = tmp_path / "set" / "instances.json", tmp_path / "set" / "images"
    root = Path(__file__).parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{root}/src:{root}:{tmp_path / 'packages'}",
        ASKED: "",
    }
    line = [sys.executable, "-c", PROGRAM, str(annotations), str(images), str(tmp_path / "killed")]
    rng, ended, kills = random.Random(7), False, 0
    while not ended:
        with subprocess.Popen(
            line, stdout=subprocess.PIPE, text=True, env=environment, cwd=root
        ) as process:
            assert process.stdout is not None and process.stdout.readline() == "begin\n"
            if kills < KILLS:
                time.sleep(rng.uniform(0, 0.6))
                process.send_signal(signal.SIGKILL)
                kills += 1
            ended = process.stdout.read() == "end\n"
    build(recipe, tmp_path / "whole")
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert read_funnel(tmp_path / "killed").problem == ""


def test_models_check_the_edits_of_a_build_once(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("aiohttp")
    from groundfault.api.building import build as build_with

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-5ecret5ecret5ecret")
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    verify = VerifySettings(vlm="openai:one", second_vlm="openai:two", side_px=160)
    recipe = msgspec.structs.replace(recipe, verify=verify)

    def answer(request: Request) -> Response:
        questions = re.findall(r"^Q-\d+(?= )", request.last[0], re.MULTILINE)
        return Response(content=completion("\n".join(f"{each}: yes" for each in questions)))

    with ChatServer(answer) as server:
        built = build_with(recipe, tmp_path / "out", until="verify", base_url=server.url)
        times = len(server.requests)
        build_with(recipe, tmp_path / "out", until="verify", base_url=server.url)
        assert len(server.requests) == times > 0 and not built.stopped
    told = json.loads((tmp_path / "out" / "checks.json").read_text())
    asked = {each["question"]: each for each in told["questions"]}
    assert asked["positive-true"]["first"] == asked["positive-true"]["second"] == 1.0
    assert asked["negative-false"]["first"] == 0.0
    assert asked["positive-true"]["n"] == len(list(kept_candidates(tmp_path / "out", "verify")))


def test_stages_say_what_became_of_whom(recipe: Recipe, tmp_path: Path) -> None:
    from groundfault.cli import run

    build(recipe, tmp_path / "out")
    name = next(kept_candidates(tmp_path / "out", "verify")).id
    assert run(["build", "explain", str(tmp_path / "out"), name]) == 0
    assert run(["build", "explain", str(tmp_path / "out"), "nobody"]) == 2
    assert run(["build", "status", str(tmp_path / "out"), "--json"]) == 0
    funnel = json.loads((tmp_path / "out" / "funnel.json").read_text())
    assert {"name", "in", "out", "dropped"} <= set(funnel["stages"][0])


HOSTILE = "CC BY <script>x</script> | ![](http://e.org/a.png) \n# me\x1b[2J"


@pytest.mark.parametrize("licence", ["CC BY-NC 4.0 (example.org/nc)", HOSTILE])
def test_a_licence_in_words_and_any_address_come_to_the_end_as_words(
    recipe: Recipe, tmp_path: Path, licence: str
) -> None:
    file = tmp_path / "set" / "instances.json"
    said = json.loads(file.read_text())
    for image in said["images"]:
        image |= {"license": licence, "url": f"https://example.org/{image['id']}"}
    file.write_text(json.dumps(said))
    out = tmp_path / "out"
    gf.build(recipe, out)
    for place in ("release", "native", "hub"):
        rows = pq.read_table(out / place / "provenance.parquet").to_pylist()
        assert {row["licence"] for row in rows} == {licence.strip()}
        assert {row["url"] for row in rows} == {
            f"https://example.org/{row['source_image_id']}" for row in rows
        }
    sheet, card = (out / "datasheet.md").read_text(), (out / "hub" / "README.md").read_text()
    assert "not stated" not in sheet
    for text in (sheet, card):
        assert "CC BY" in text and "\x1b" not in text and "\n# me" not in text
        assert not re.search(r"(?<!\\)<script|!\[\]\(http", text)
    assert gf.load(out / "release").card.licence.startswith("CC BY")


def test_a_release_without_pictures_is_made_whole_from_the_photographs(
    recipe: Recipe, tmp_path: Path
) -> None:
    build(recipe, tmp_path / "whole")
    bare = msgspec.structs.replace(recipe, release=ReleaseSettings(pictures=False))
    build(bare, tmp_path / "bare")
    assert not (tmp_path / "bare" / "release" / "images").exists()
    photographs = [tmp_path / "set" / "images"]
    assert restore(tmp_path / "bare" / "release", photographs) == len(
        list((tmp_path / "whole" / "release" / "images").iterdir())
    )
    assert contents(tmp_path / "bare" / "release" / "images") == contents(
        tmp_path / "whole" / "release" / "images"
    )
    some = next((tmp_path / "set" / "images").iterdir())
    some.write_bytes(b"\x89PNG\r\n\x1a\n")
    shutil.rmtree(tmp_path / "bare" / "release" / "images")
    with pytest.raises((DataError, OSError)):
        restore(tmp_path / "bare" / "release", photographs)
    assert not (tmp_path / "bare" / "release" / "images").exists()


def test_a_hub_folder_says_what_its_columns_are(recipe: Recipe, tmp_path: Path) -> None:
    """Read with `datasets` 5.2.0 and `mlcroissant` 1.1.1 by hand; here the files are compared with
    what those read."""
    import pyarrow.parquet as pq

    build(recipe, tmp_path / "out")
    hub = tmp_path / "out" / "hub"
    table = pq.read_table(hub / "data" / "test-00000-of-00001.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == table.column_names and features["image"] == {"_type": "Image"}
    said = json.loads((hub / "croissant.json").read_text())
    assert said["conformsTo"].endswith("croissant/1.1")
    columns = [f["source"]["extract"]["column"] for f in said["recordSet"][0]["field"]]
    assert sorted(columns) == sorted(table.column_names)
    file = said["distribution"][0]
    content = (hub / file["contentUrl"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == file["sha256"]
    named = f"- config_name: release-{file['sha256'][:8]}\n"
    assert named in (hub / "README.md").read_text()
