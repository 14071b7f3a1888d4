"""The server: who gets in, what is asked for, what is refused; from the command line and from a
running event loop."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.desk.parts import Client, served

import groundfault as gf
from groundfault.runs.run import read_run

pytest.importorskip("uvicorn")

Runs = Callable[[str], list[Path]]


@pytest.fixture(scope="module")
def exploring(made: Runs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    where = tmp_path_factory.mktemp("beside")
    runs = [*made("pairs"), *made("quads"), *made("exam")]
    with gf.explore(runs, browser=False, notes=where / "notes.jsonl", exports=where) as found:
        yield found


@contextmanager
def entered(url: str) -> Iterator[Client]:
    """Somebody with the link, on a connection that is closed in the end."""
    base, _, token = url.partition("/join#")
    client = Client(base, token)
    try:
        yield client
    finally:
        client.connection.close()


@pytest.fixture(scope="module")
def client(exploring: Any) -> Iterator[Client]:
    with entered(exploring.url) as found:
        yield found


def asked(client: Client, path: str, **view: Any) -> Any:
    status, found = client.get(f"/explore/api/{path}?{urlencode(view, doseq=True)}")
    assert status == 200, found
    return found


def test_everything_that_a_page_asks_for(client: Client) -> None:
    sets = asked(client, "sets")["sets"]
    assert [each["kind"] for each in sets] == ["pairs", "quads", "questions"]
    for each in sets:
        found = asked(client, "list", set=each["key"], row="all")["list"]
        assert found["n"] == each["n"] == found["n_all"]
        rates = asked(client, "rates", set=each["key"], full=1, intervals=1)
        assert all(run["values"] for run in rates["runs"])
        a, b = (run["name"] for run in each["runs"][:2])
        counts = asked(client, "contrast", set=each["key"], a=a, b=b)
        one = asked(client, "list", set=each["key"], a=a, b=b, ab="10")["list"]
        assert one["n"] == counts["only_a"]
        assert asked(client, "differences", set=each["key"], a=a, b=b)
        entry = found["entries"][0]
        case = asked(client, "case", set=each["key"], case=entry["name"])["case"]
        assert case["name"] == entry["name"] and case["questions"][0]["said"]
        for size in ("thumb", "large"):
            picture = f"/explore/picture/{each['key']}/{entry['place']}/0/0/{size}"
            status, content = client.get(picture)
            assert status == 200 and content.startswith(b"\xff\xd8")


def test_masks_are_drawn_as_they_were_predicted(client: Client, made: Runs) -> None:
    from groundfault.io.masks import decode
    from groundfault.reports.page.outlines import outline

    run = gf.open_run(made("pairs")[1])
    found = next(each for each in run.predictions() if each.masks)
    case = asked(client, "case", case=found.item_id.partition(":")[0], t=found.scores[0] + 0.001)
    [said] = [
        said for question in case["case"]["questions"] if question["item_id"] == found.item_id
        for said in question["said"] if said["run"] == 1
    ]  # fmt: skip
    assert said["masks"][0]["path"] == outline(decode(found.masks[0]))
    assert said["masks"][0]["accepted"] is False


def test_a_dose_strip(client: Client) -> None:
    name = asked(client, "list", row="dose 0.5")["list"]["entries"][0]["name"]
    strip = asked(client, "case", case=name)["case"]["siblings"]
    assert [each["label"] for each in strip] == ["unedited", "dose 0.5", "dose 1"]
    assert [each["current"] for each in strip] == [False, True, False]


def test_a_question_and_its_twin(client: Client) -> None:
    exam = asked(client, "sets")["sets"][2]["key"]
    case = asked(client, "case", set=exam, case="000000:Q1 std")["case"]
    labels = [(each["name"], each["label"], each["current"]) for each in case["siblings"]]
    twin = "000000-twin:Q1 std"
    assert labels == [("000000:Q1 std", "this case", True), (twin, "its twin", False)]
    first, second = (each["right"] for each in case["siblings"])
    assert first[2] == second[2] == 1 and first[0] + second[0] == 1  # oracle, blind
    back = asked(client, "case", set=exam, case=twin)["case"]["siblings"]
    assert [(each["name"], each["current"]) for each in back] == [
        (labels[0][0], False),
        (twin, True),
    ]


def test_episodes_with_their_pictures(client: Client) -> None:
    entry = asked(client, "list", row="all")["list"]["entries"][0]
    found = asked(client, "episode", case=entry["name"], run=2, item=0)
    assert found["turns"][0]["title"] == "The question" and not found["note"]
    [name] = found["turns"][0]["pictures"]
    key = asked(client, "sets")["sets"][0]["key"]
    status, content = client.get(f"/explore/episode/{key}/2/{entry['place']}/0/{name}")
    assert status == 200 and content[:2] in (b"\xff\xd8", b"\x89P")
    for run, item, other in ((0, 0, name), (2, 0, "0" * 64), (2, 9, name), (99, 0, name)):
        assert client.get(f"/explore/episode/{key}/{run}/0/{item}/{other}")[0] == 404
    assert client.get(f"/explore/api/episode?case={entry['name']}&run=0&item=0")[0] == 404


def test_nobody_gets_in_without_the_link(exploring: Any) -> None:
    host = exploring.url.partition("/join#")[0].removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=60)
    for path in ("/explore/api/sets", "/explore/api/list", "/explore/export/ids.txt",
                 "/explore/picture/x/0/0/0/thumb"):  # fmt: skip
        connection.request("GET", path)
        response = connection.getresponse()
        assert response.status == 401 and b"case" not in response.read()
    connection.close()


@pytest.mark.parametrize("path", [
    "/explore/picture/KEY/0/0/0/huge", "/explore/picture/KEY/999999/0/0/thumb",
    "/explore/picture/KEY/0/7/0/thumb", "/explore/picture/KEY/0/0/5/thumb",
    "/explore/picture/nope/0/0/0/thumb", "/explore/picture/..%2f..%2fetc/0/0/0/thumb",
    "/explore/picture/KEY/0/0/0/..%2f..%2fpasswd", "/explore/export/..%2f..%2fsummary.json",
    "/explore/export/run.json", "/static/../app.py", "/static/explore/..%2f..%2fapp.py",
])  # fmt: skip
def test_no_request_leads_to_other_files(client: Client, path: str) -> None:
    key = asked(client, "sets")["sets"][0]["key"]
    assert client.get(path.replace("KEY", key))[0] == 404


@pytest.mark.parametrize("query", [
    "set=other", "row=nowhere", "t=x", "tau=7", "page=-1", "f=x", "e=y", "sort=colour", "ab=10",
    "a=x&b=y&ab=10", "f=colour:red", "case=nothing",
])  # fmt: skip
def test_what_cannot_be_meant_is_said_in_words(client: Client, query: str) -> None:
    place = "case" if query.startswith("case") else "list"
    status, said = client.get(f"/explore/api/{place}?{query}")
    assert status == 400 and said["error"] and "Traceback" not in said["error"]


def test_notes_through_the_page(client: Client, exploring: Any) -> None:
    sets = asked(client, "sets")
    key, case = sets["sets"][0]["key"], asked(client, "list")["list"]["entries"][0]["name"]
    assert client.post("/explore/api/note", {"set": key, "case": case, "tag": "odd"})[0] == 200
    status, found = client.post("/explore/api/note", {"set": key, "case": case, "text": "look"})
    assert status == 200 and [note["text"] for note in found["notes"]] == ["look"]
    listed = asked(client, "list", tag="odd", noted=1)
    assert [each["name"] for each in listed["list"]["entries"]] == [case] and listed["tags"] == {
        "odd": 1
    }
    lines = Path(sets["notes"]).read_text().splitlines()
    assert [json.loads(line)["case"] for line in lines] == [case, case]
    for wrong in ({"case": "nobody", "tag": "x"}, {"case": case, "text": " "},
                  {"case": case, "on": False, "id": "0"}):  # fmt: skip
        assert client.post("/explore/api/note", {"set": key, **wrong})[0] == 400
    assert len(Path(sets["notes"]).read_text().splitlines()) == 2
    client.connection.request("POST", "/explore/api/note", "{}", {"cookie": client.cookie})
    response = client.connection.getresponse()
    assert response.read() and response.status == 403


def test_downloads(client: Client) -> None:
    names = [each["name"] for each in asked(client, "list", sort="hardest")["list"]["entries"]]
    status, ids = client.get("/explore/export/ids.txt?sort=hardest")
    assert status == 200 and ids.decode().split() == names
    status, table = client.get("/explore/export/table.csv?t=0.2&row=all")
    assert status == 200 and table.decode().count("\n") > len(names)
    status, svg = client.get(f"/explore/export/figure.svg?case={quote(names[0])}")
    assert status == 200 and svg.startswith(b"<svg") and b"<script" not in svg
    assert client.get("/explore/export/figure.svg?q=nothingatall")[0] == 400


def test_a_benchmark_and_a_training_list(client: Client) -> None:
    exports = Path(asked(client, "sets")["exports"])
    wanted = {"kind": "benchmark", "name": "few", "view": "f=intervention%3ASM"}
    status, found = client.post("/explore/api/export", wanted)
    assert status == 200 and Path(found["path"]) == exports / "few"
    assert {case.intervention for case in gf.load(exports / "few").cases} == {"SM"}
    assert client.post("/explore/api/export", wanted)[0] == 400
    for name in ("../out", "a/b", "", ".hidden"):
        assert client.post("/explore/api/export", {**wanted, "name": name})[0] == 400
    training = {"kind": "training", "name": "hard", "view": "f=intervention%3ASM"}
    status, said = client.post("/explore/api/export", training)
    assert status == 409 and said["leaks"] and not (exports / "hard").exists()
    status, found = client.post("/explore/api/export", {**training, "allow": True})
    assert status == 200 and found["about"]["held_out_cases"] > 0
    assert client.post("/explore/api/export", {**training, "kind": "virus"})[0] == 400


# ── starting and ending ─────────────────────────────────────────────────────────────────────────


def test_the_command_prints_one_line_and_ends_on_ctrl_c(made: Runs, tmp_path: Path) -> None:
    notes = tmp_path / "n.jsonl"
    with served(*made("quads"), "--notes", notes, command="explore") as desk:
        assert desk.url.startswith("http://127.0.0.1:") and "/join#" in desk.url
        with entered(desk.url) as client:
            status, page = client.get("/explore")
        assert status == 200 and b"Explore" in page
        code, out, err = desk.interrupt()
    assert (code, out, err) == (0, "", "")


def test_folders_that_are_no_runs_are_refused(tmp_path: Path, run: Any) -> None:
    (tmp_path / "empty").mkdir()
    for wrong in (tmp_path / "empty", tmp_path / "gone"):
        ended = run("explore", wrong, "--no-browser")
        assert ended.code == 2 and str(wrong) in ended.err and ended.out == ""


def test_inside_a_running_event_loop(made: Runs) -> None:
    def sets_of(url: str) -> Any:
        with entered(url) as client:
            return client.get("/explore/api/sets")

    async def cell() -> None:
        found = gf.explore(gf.open_run(made("quads")[0]), browser=False, port=0)
        status, sets = await asyncio.to_thread(sets_of, found.url)
        assert status == 200 and len(sets["sets"]) == 1
        assert found.url in found._repr_html_() and "exploring at" in repr(found)
        found.close()
        found.close()
        with pytest.raises(OSError):
            await asyncio.to_thread(sets_of, found.url)

    asyncio.run(cell())


def test_help_needs_no_web_library() -> None:
    """Explaining a command imports nothing that serves it."""
    code = (
        "import sys; from groundfault import cli; cli.run(['explore', '--help']);"
        "print([name for name in ('starlette', 'uvicorn', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_pictures_that_were_moved(made: Runs, tmp_path: Path) -> None:
    """Where a benchmark is gone, everything but pictures is there, and the page says why."""
    import shutil

    import msgspec

    from groundfault.runs.run import write_run

    run = Path(shutil.copytree(made("pairs")[0], tmp_path / "run"))
    moved = Path(shutil.copytree(read_run(run).benchmark_folder, tmp_path / "moved"))
    write_run(run, msgspec.structs.replace(
        read_run(run), benchmark_folder=str(tmp_path / "gone"), settings={}))  # fmt: skip
    for images, status in ((None, 404), (moved, 200)):
        with gf.explore(run, browser=False, images=images) as found, entered(found.url) as client:
            entry = asked(client, "list")["list"]["entries"][0]
            case = asked(client, "case", case=entry["name"])["case"]
            assert bool(case["notes"]) is (images is None)
            key = asked(client, "sets")["sets"][0]["key"]
            assert client.get(f"/explore/picture/{key}/{entry['place']}/0/0/thumb")[0] == status
