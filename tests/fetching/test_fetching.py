"""Published sets by name: what is fetched, kept, checked, and said when it goes wrong."""

from __future__ import annotations

import io
import json
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.conftest import Ran, box_pixels, box_rle
from tests.fetching.dataset_hub import FIRST, SECOND, DatasetHub, Held, running_hub

from groundfault.errors import DataError, GroundfaultError, MissingExtra, UsageError
from groundfault.io import fetching, hub
from groundfault.runs.run import read_run

pytest.importorskip("huggingface_hub")
CAFE, HALLUSEG = "teemosliang/CAFE", "PLAN-Lab/HalluSegBench"
RESOLVE = "/{repo_id}/resolve/{revision}/{filename}"
Run = Callable[..., Ran]


def png(pixels: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def picture(seed: int) -> bytes:
    return png(np.random.default_rng(seed).integers(0, 256, (40, 40, 3), dtype=np.uint8))


def cafe_files(n: int = 3) -> dict[str, bytes]:
    images, annotations = [], []
    for k in range(1, n + 1):
        entry = {"id": k, "file_name": f"{k}.png", "width": 40, "height": 40}
        entry |= {"text_input": "cat", "edit_type": "Superficial Mimicry"}
        images += [entry, {**entry, "id": k + 10**9, "text_input": "tiger", "fp_source_id": k}]
        mask = box_rle(5, 5, 20, 10)
        annotations.append({"id": k, "image_id": k, "category_id": 1, "segmentation": mask})
    content = {"images": images, "annotations": annotations, "categories": [{"id": 1}]}
    return {
        ".gitattributes": b"*.png filter=lfs",
        "README.md": b"# CAFE",
        "CAFEval2026_annotations.json": json.dumps(content).encode(),
        "CAFEval2026_SM.json": b"{}",
        **{f"CAFEval2026_imgs/{k}.png": picture(k) for k in range(1, n + 1)},
    }


def halluseg_zip(extra: dict[str, bytes] | None = None, link: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for part in ("refer_seg", "reason_seg_val", "reason_seg_test"):
            record = {
                "factual_image_path": f"factual_images/{part}.jpg",
                "factual_mask_path": f"factual_masks/{part}_mask.png",
                "counterfactual_image_path": f"counterfactual_images/{part}_edited.png",
                "counterfactual_mask_path": f"counterfactual_masks/{part}_newmask.png",
                "label": "cat", "ann_id": "7", "gpt_instruction": "Change cat to dog",
                "factual_label": "the cat", "counterfactual_label": "the dog",
            }  # fmt: skip
            archive.writestr(f"test/{part}/data.json", json.dumps([record]))
            for name, path in record.items():
                if name.endswith("_path"):
                    mask = png(box_pixels(5, 5, 20, 10) * np.uint8(255))
                    content = mask if "mask" in name else picture(1)
                    archive.writestr(f"test/{part}/{path}", content)
        archive.writestr("test/notes.txt", "not needed")
        for name, content in (extra or {}).items():
            archive.writestr(name, content)
        if link:
            member = zipfile.ZipInfo(link)
            member.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(member, "/etc/passwd")
    return out.getvalue()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[DatasetHub]:
    """Both sets on a hub of ours, an empty cache, no pauses."""
    import huggingface_hub.file_download as library

    with running_hub() as running:
        running.datasets[CAFE] = Held({FIRST: cafe_files(), SECOND: cafe_files(2)})
        running.datasets[HALLUSEG] = Held({FIRST: {"test.zip": halluseg_zip()}}, licence="")
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))  # of processes that are started
        for name, value in (("ENDPOINT", ""), ("HUGGINGFACE_CO_URL_TEMPLATE", RESOLVE)):
            monkeypatch.setattr(library.constants, name, running.url + value)  # nobody else
        monkeypatch.setattr(library.constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
        monkeypatch.setenv("GROUNDFAULT_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(hub, "PAUSES_S", (0.0, 0.0))
        monkeypatch.setattr(library.constants, "DOWNLOAD_CHUNK_SIZE", 50)  # what a break loses
        monkeypatch.setattr(library, "time", SimpleNamespace(sleep=lambda seconds: None))
        yield running


def agree(offer: fetching.Offer) -> None:
    pass


def fetch(name: str = "cafe", revision: str = "", **options: Any) -> fetching.Fetched:
    return fetching.fetch(name, revision, **{"agree": agree, **options})


def test_what_an_evaluation_needs_is_fetched_once(served: DatasetHub, tmp_path: Path) -> None:
    offers: list[fetching.Offer] = []
    found = fetch(agree=offers.append)
    assert found.origin == f"{CAFE}@{FIRST}"
    place = tmp_path / "cache" / "data" / "teemosliang--CAFE" / FIRST
    for path, content in cafe_files().items():
        wanted = path.startswith("CAFEval2026")
        assert (place / path).exists() == wanted
        assert not wanted or (place / path).read_bytes() == content
    [offer] = offers
    assert offer.n_files == 5 and offer.licence.startswith("cc-by-4.0 by its card; see the")
    assert str(offer).startswith(f"cafe: 5 files, {offer.size_bytes / 1000:.1f} kB, from {CAFE}")
    asked = len(served.asked)
    assert fetch(agree=offers.append) == found == fetch(offline=True)
    assert len(served.asked) == asked and len(offers) == 1


def test_files_are_inside_their_folder_and_no_links(served: DatasetHub) -> None:
    found = fetch()
    assert not any(path.is_symlink() for path in found.inputs["images"].iterdir())


def test_the_first_commit_is_kept_until_main_is_asked_for(served: DatasetHub) -> None:
    fetch()
    served.datasets[CAFE].main = SECOND
    assert fetch().origin.endswith(FIRST)
    assert fetch(revision="main").origin.endswith(SECOND)
    assert fetch().origin.endswith(SECOND)
    assert fetch(revision=FIRST).origin.endswith(FIRST)
    assert fetch().origin.endswith(SECOND)


def test_nothing_is_fetched_without_agreement(served: DatasetHub) -> None:
    def refuse(offer: fetching.Offer) -> None:
        raise UsageError("no")

    with pytest.raises(UsageError, match="no"):
        fetch(agree=refuse)
    assert served.files_asked() == []


def test_progress_ends_with_all_of_it(served: DatasetHub) -> None:
    told: list[tuple[int, int]] = []
    fetch(progress=lambda done, whole: told.append((done, whole)))
    wanted = {path: c for path, c in cafe_files().items() if path.startswith("CAFEval2026")}
    size = sum(map(len, wanted.values()))
    assert told[-1] == (size, size)


# ── faults ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("GatedRepo", "is gated. Accept its terms at http://127.0.0.1:.*/datasets/teemosliang/CA"),
        ("RepoNotFound", "the hub shows you no dataset teemosliang/CAFE. If it is private, log in"),
    ],
)
def test_not_for_you(served: DatasetHub, fault: str, said: str) -> None:
    served.datasets[CAFE].fault = fault
    with pytest.raises(GroundfaultError, match=said):
        fetch()


def test_gated_when_files_are_asked_for(served: DatasetHub) -> None:
    """A hub lists a gated set to everybody and refuses its files."""

    def close(offer: fetching.Offer) -> None:
        served.datasets[CAFE].fault = "GatedRepo"

    with pytest.raises(GroundfaultError, match="is gated"):
        fetch(agree=close)


def test_no_such_revision(served: DatasetHub) -> None:
    with pytest.raises(GroundfaultError, match=r"has no revision 'v9'. See .*/commits"):
        fetch(revision="v9")


def test_a_file_that_is_listed_and_not_there(served: DatasetHub) -> None:
    def lose(offer: fetching.Offer) -> None:
        del served.datasets[CAFE].commits[FIRST]["CAFEval2026_imgs/2.png"]

    with pytest.raises(GroundfaultError, match=r"could not be fetched.*Entry ?Not ?Found|404"):
        fetch(agree=lose)


def test_an_unknown_layout(served: DatasetHub) -> None:
    served.datasets[HALLUSEG].commits[FIRST] = {"data.parquet": b"x"}
    with pytest.raises(GroundfaultError, match=r"has no file like test\.zip: its layout has ch"):
        fetch("halluseg")


def test_a_dropped_connection_is_taken_up_where_it_broke(served: DatasetHub) -> None:
    path = "CAFEval2026_imgs/2.png"
    served.faults.cut_after[path] = 100
    found = fetch()
    assert (found.inputs["images"] / "2.png").read_bytes() == cafe_files()[path]
    assert [a for a in served.files_asked() if "2.png" in a] == [path, f"{path} bytes=100-"]


def test_a_later_session_goes_on_with_the_part(served: DatasetHub, tmp_path: Path) -> None:
    path = "CAFEval2026_imgs/2.png"
    served.faults.cut_after[path], served.faults.always = 0, {path}
    with pytest.raises(GroundfaultError, match="What has arrived is kept: run the same command"):
        fetch()
    part = tmp_path / "cache/data/teemosliang--CAFE" / FIRST / f"{path}.part"
    part.write_bytes(cafe_files()[path][:500])
    served.faults.cut_after.clear()
    served.datasets[CAFE].main = SECOND  # meanwhile: the set that was begun is finished
    served.asked.clear()
    found = fetch()
    assert found.origin.endswith(FIRST)
    assert (found.inputs["images"] / "2.png").read_bytes() == cafe_files()[path]
    assert f"{path} bytes=500-" in served.files_asked() and not part.exists()


def test_a_part_with_wrong_content_is_begun_anew(served: DatasetHub, tmp_path: Path) -> None:
    path = "CAFEval2026_imgs/2.png"
    part = tmp_path / "cache/data/teemosliang--CAFE" / FIRST / f"{path}.part"
    part.parent.mkdir(parents=True)
    for content in (b"rubbish", b"x" * 10**6):
        part.write_bytes(content)
        found = fetch(revision=FIRST)
        assert (found.inputs["images"] / "2.png").read_bytes() == cafe_files()[path]
        (found.inputs["images"] / "2.png").unlink()


@pytest.mark.parametrize("path", ["CAFEval2026_imgs/2.png", "CAFEval2026_annotations.json"])
def test_a_wrong_checksum(served: DatasetHub, path: str, tmp_path: Path) -> None:
    served.faults.other_content[path] = bytes(len(cafe_files()[path]))
    with pytest.raises(DataError, match=r"does not have the checksum that it lists.*run the comm"):
        fetch()
    left = [p.name for p in (tmp_path / "cache").rglob("*") if p.name.startswith(Path(path).name)]
    assert left == []
    with pytest.raises(GroundfaultError, match="offline was asked for"):
        fetch(offline=True)
    served.faults.other_content.clear()
    assert fetch()


@pytest.mark.parametrize("length", [-10, 10])
def test_a_body_of_another_length(served: DatasetHub, length: int) -> None:
    path = "CAFEval2026_imgs/2.png"
    content = cafe_files()[path]
    served.faults.other_content[path] = content[:length] if length < 0 else content + bytes(length)
    with pytest.raises(GroundfaultError, match=r"could not be fetched|checksum"):
        fetch()
    served.faults.other_content.clear()
    assert fetch()


def test_a_hub_in_trouble_is_asked_again(served: DatasetHub) -> None:
    served.faults.status = {"listing": [503, 500], "CAFEval2026_imgs/1.png": [502, 504]}
    assert fetch()
    served.faults.status = {"listing": [503] * 9}
    with pytest.raises(GroundfaultError, match=r"could not be fetched.*503"):
        fetch(revision="main")


def test_nobody_answers(served: DatasetHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        GroundfaultError, match=r"could not be fetched from http://127.0.0.1:9/data"
    ):
        fetch()


@pytest.mark.parametrize(
    "name",
    [
        "CAFEval2026_imgs/../../../evil.png",
        "CAFEval2026_imgs//evil.png",
        "CAFEval2026_imgs/./evil.png",
        "CAFEval2026_imgs/..\\evil.png",
        "CAFEval2026_imgs/C:evil.png",
        "CAFEval2026_imgs/evil\0.png",
        "CAFEval2026_imgs/evil.png.part",
    ],
)
def test_names_that_lead_astray(served: DatasetHub, name: str, tmp_path: Path) -> None:
    served.faults.listed_names["CAFEval2026_imgs/1.png"] = name
    with pytest.raises(GroundfaultError, match=r"could lead outside the folder.*Nothing was fetch"):
        fetch()
    assert not list(tmp_path.rglob("*evil*")) and served.files_asked() == []


def test_a_commit_that_is_no_name(served: DatasetHub) -> None:
    evil = "../" * 14
    served.datasets[CAFE] = Held({evil: cafe_files()}, main=evil)
    with pytest.raises(GroundfaultError, match="the hub names no commit"):
        fetch()


def test_a_full_disk(served: DatasetHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda place: SimpleNamespace(free=100))
    with pytest.raises(UsageError, match="100 bytes are free; make room, or name another folder"):
        fetch()


def test_a_disk_that_fills_up(served: DatasetHub, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, block: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(hub._Part, "write", full)
    with pytest.raises(UsageError, match=r"cannot be written \(No space left on device\)"):
        fetch()


def test_a_cache_that_cannot_be(served: DatasetHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDFAULT_CACHE", "/dev/null/cache")
    with pytest.raises(UsageError, match="name another folder in GROUNDFAULT_CACHE"):
        fetch()


def test_files_may_come_from_elsewhere_and_the_token_does_not_go_there(
    served: DatasetHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    path = "CAFEval2026_imgs/2.png"
    with running_hub() as store:
        store.datasets = served.datasets
        store.faults.cut_after[path] = 100
        served.faults.elsewhere = store.url
        found = fetch()
        assert (found.inputs["images"] / "2.png").read_bytes() == cafe_files()[path]
        assert f"{path} bytes=100-" in store.files_asked()
        assert served.tokens == {"Bearer hf_secret"} and store.tokens == {""}


def test_a_killed_download_goes_on(
    served: DatasetHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill -9 in the middle of a large file loses at most the last 10 MB."""
    noise = np.random.default_rng(0).bytes(24_000_000)
    served.datasets[HALLUSEG].commits[FIRST]["test.zip"] = halluseg_zip({"test/big.png": noise})
    served.faults.stall_after["test.zip"] = 22_000_000
    program = (
        "from groundfault.io import fetching; fetching.fetch('halluseg', agree=lambda offer: None)"
    )
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "600")  # else a stall is asked for again
    process = subprocess.Popen([sys.executable, "-c", program])
    part = tmp_path / "cache/data/PLAN-Lab--HalluSegBench" / FIRST / "test.zip.part"
    deadline = time.monotonic() + 300
    while not (part.exists() and part.stat().st_size >= 20_000_000):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    served.faults.stall_after.clear()
    there = part.stat().st_size
    assert fetch("halluseg")
    assert served.files_asked() == ["test.zip", f"test.zip bytes={there}-"]


# ── offline ────────────────────────────────────────────────────────────────────────────────────


def test_offline_says_what_is_missing(served: DatasetHub) -> None:
    with pytest.raises(GroundfaultError, match=r"cafe \(teemosliang/CAFE at main\) is not in .*on"):
        fetch(offline=True)
    found = fetch()
    (found.inputs["images"] / "3.png").unlink()
    with pytest.raises(GroundfaultError, match=r"1 of 5 files .* e\.g\. CAFEval2026_imgs/3\.png"):
        fetch(offline=True)
    served.asked.clear()
    fetch()
    assert served.files_asked() == ["CAFEval2026_imgs/3.png"] and len(served.asked) == 1


def test_the_hubs_own_variable(served: DatasetHub, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(GroundfaultError, match="offline was asked for"):
        fetch()
    assert served.asked == []


def test_the_extra_is_named(served: DatasetHub, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fetch()
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    assert fetch() == found  # what is there needs no library
    with pytest.raises(MissingExtra, match=r"pip install 'groundfault\[hub\]'"):
        fetch("halluseg")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GROUNDFAULT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetching.cache_folder() == tmp_path / "groundfault"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert fetching.cache_folder() == Path.home() / ".cache" / "groundfault"


# ── HalluSegBench's archive ────────────────────────────────────────────────────────────────────


def test_the_parts_become_one_list(served: DatasetHub) -> None:
    found = fetch("halluseg")
    records = json.loads(found.inputs["cases"].read_text())
    assert [r["task"] for r in records] == ["reason_seg_test", "reason_seg_val", "refer_seg"]
    assert all((found.inputs["data"] / r["factual_mask_path"]).is_file() for r in records)
    assert not list(found.inputs["data"].rglob("notes.txt"))
    assert fetch("halluseg", offline=True) == found


@pytest.mark.parametrize("name", ["../evil.png", "/tmp/evil.png", "test/..\\evil.png"])
def test_an_archive_that_leads_astray(served: DatasetHub, name: str, tmp_path: Path) -> None:
    served.datasets[HALLUSEG].commits[FIRST]["test.zip"] = halluseg_zip({name: b"x"})
    with pytest.raises(DataError, match=r"leads outside the archive.*nothing was unpacked"):
        fetch("halluseg")
    assert not list(tmp_path.rglob("*evil*"))


def test_an_archive_with_a_link(served: DatasetHub) -> None:
    served.datasets[HALLUSEG].commits[FIRST]["test.zip"] = halluseg_zip(link="test/a.png")
    with pytest.raises(DataError, match=r"'test/a.png'.*it is a link"):
        fetch("halluseg")


def test_a_bomb(served: DatasetHub) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("test/refer_seg/a.png", bytes(10**7))
    served.datasets[HALLUSEG].commits[FIRST]["test.zip"] = out.getvalue()
    with pytest.raises(DataError, match=r"claims to unpack to 10\.0 MB"):
        fetch("halluseg")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "not a readable archive"),
        (halluseg_zip()[:-200], "not a readable archive"),
    ],
)
def test_no_archive(served: DatasetHub, content: bytes, said: str) -> None:
    served.datasets[HALLUSEG].commits[FIRST]["test.zip"] = content
    with pytest.raises(DataError, match=said):
        fetch("halluseg")


def test_an_archive_without_cases(served: DatasetHub) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("test/readme.json", "[]")
    served.datasets[HALLUSEG].commits[FIRST]["test.zip"] = out.getvalue()
    with pytest.raises(DataError, match=r"no data\.json with cases is in it"):
        fetch("halluseg")


# ── on the command line ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["cafe", "halluseg", f"cafe@{SECOND}"])
def test_eval_by_name(served: DatasetHub, run: Run, name: str, tmp_path: Path) -> None:
    command = ("eval", name, "--model", "oracle", "--bootstrap", 0, "--out", tmp_path / "runs")
    ran = run(*command)
    assert ran.code == 0, ran.err
    assert "licence: " in ran.err and "oracle: " in ran.err
    stored = read_run(tmp_path / "runs" / "oracle")
    commit = name.partition("@")[2] or FIRST
    repo = HALLUSEG if name == "halluseg" else CAFE
    assert stored.settings["dataset"] == f"{repo}@{commit}"
    again = run(*command, "--offline", "--no-resume")
    assert again.code == 0 and "licence" not in again.err


def test_a_large_download_needs_a_yes(
    served: DatasetHub, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "LARGE_BYTES", 10)
    command = ("eval", "cafe", "--model", "oracle", "--bootstrap", "0", "--out", tmp_path / "runs")
    monkeypatch.setattr("sys.argv", ["groundfault", *map(str, command)])
    ran = run(*command)
    again = f"groundfault eval cafe --model oracle --bootstrap 0 --out {tmp_path / 'runs'} --yes"
    assert ran.code == 2 and f"To fetch it: {again}" in ran.err
    assert "cafe: 5 files" in ran.err and served.files_asked() == []
    assert run(*command, "--yes").code == 0


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_a_person_is_asked(
    served: DatasetHub,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
) -> None:
    typed = io.StringIO(answer)
    monkeypatch.setattr(typed, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", typed)
    monkeypatch.setattr(fetching, "LARGE_BYTES", 10)
    ran = run("eval", "cafe", "--model", "oracle", "--bootstrap", "0", "--out", tmp_path / "runs")
    assert ran.code == code and "Fetch it?" in ran.err
    assert bool(served.files_asked()) == (code == 0)


def test_ctrl_c_while_fetching(
    served: DatasetHub, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hub, "download", interrupt)
    ran = run("eval", "cafe", "--model", "oracle", "--out", tmp_path / "runs")
    assert ran.code == 130 and "the same command goes on where this one ended" in ran.err
