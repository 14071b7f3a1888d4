"""`groundfault review` as a process: many people at once, kills, signals, secrets, roles."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import sqlite3
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.desk.parts import OPEN, Client, Served, hosted, make_review, served

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from groundfault.building.review import Decision, read_decisions
from groundfault.web.review.database import open_database
from groundfault.web.review.desk import export
from groundfault.web.review.ledger import all_decisions


def exported(folder: Path, database: str = "") -> list[Decision]:
    out = folder / "decisions.parquet"
    export(folder, out, database=database)
    return read_decisions(out)


def in_threads(work: Callable[[int], object], n: int) -> None:
    """Run the work n times at once; what one of them raises is raised."""
    problems: list[BaseException] = []

    def guarded(k: int) -> None:
        try:
            work(k)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def test_twenty_reviewers_at_once_give_exactly_three_opinions(
    tmp_path: Path, database: str
) -> None:
    make_review(tmp_path, 40, protocol="halluseg", side_px=16)
    options = ("--overlap", 3, "--database", database, "--reviewers", 20)
    with served(tmp_path, *options) as desk:
        token = desk.group_token()

        def review(k: int) -> None:
            client = Client(desk.base, token, f"person {k}")
            _, answer = client.get("/api/queue")
            while answer["items"]:
                _, status, answer = client.decide(answer["items"][0], ("accept", "reject")[k % 2])
                assert status == 200

        in_threads(review, 20)
        late = http.client.HTTPConnection(desk.base.removeprefix("http://"))
        OPEN.append(late)
        body = json.dumps({"token": token, "name": "one too many"})
        headers = {"x-groundfault": "1", "origin": desk.base, "content-type": "application/json"}
        late.request("POST", "/join", body, headers)
        assert late.getresponse().status == 404
    counted = Counter(d.item_id for d in exported(tmp_path, database))
    assert len(counted) == 40
    assert set(counted.values()) == {3}


def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path, database: str) -> None:
    make_review(tmp_path, 150, protocol="halluseg", side_px=16)
    options = (tmp_path, "--overlap", 3, "--database", database, "--reviewers", 4)
    acknowledged: set[str] = set()
    with served(*options) as desk:
        token, port = desk.group_token(), desk.base.rpartition(":")[2]
        clients = [Client(desk.base, token, f"person {k}") for k in range(4)]
        for client in clients:
            client.connection.close()
        desk.kill()
    for _ in range(3):
        with served(*options, "--port", port) as desk:
            ended = threading.Event()
            arguments = (desk, acknowledged, len(acknowledged) + 25, ended)
            killer = threading.Thread(target=_kill_after, args=arguments)
            killer.start()

            def review(k: int) -> None:
                client = clients[k]
                try:
                    _, answer = client.get("/api/queue")
                    while answer["items"]:
                        key, status, answer = client.decide(answer["items"][0])
                        if status == 200 and not answer["results"][0].get("error"):
                            acknowledged.add(key)
                except (OSError, http.client.HTTPException):
                    client.connection.close()  # the server is gone

            in_threads(review, 4)
            ended.set()
            killer.join()
    opened = open_database(database)
    stored = {key for (key,) in opened.call(lambda rows: rows("SELECT key FROM decision"))}
    decisions = opened.call(lambda rows: list(all_decisions(rows)))
    opened.close()
    assert len(acknowledged) >= 75
    assert acknowledged <= stored
    assert max(Counter(d.item_id for d in decisions).values()) <= 3


def _kill_after(desk: Served, acknowledged: set[str], n: int, ended: threading.Event) -> None:
    """Kill the server when it has acknowledged n decisions, in the midst of others."""
    while len(acknowledged) < n and not ended.is_set():
        time.sleep(0.001)
    desk.process.kill()


def test_one_line_and_an_end_on_ctrl_c(tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    for number in (signal.SIGINT, signal.SIGTERM):
        with served(tmp_path) as desk:
            assert desk.base.startswith("http://127.0.0.1:")
            Client(desk.base, desk.token)
            code, out, err = desk.interrupt(number)
        assert (code, out, err) == (0, "", "")


def test_a_desk_comes_back_where_it_was_and_two_do_not_disturb_each_other(tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    with served(tmp_path) as desk:
        first, base = Client(desk.base, desk.token), desk.base
        with served(tmp_path) as second:
            assert second.base != base
            other = Client(second.base, second.token)
            assert first.cookie.partition("=")[0] != other.cookie.partition("=")[0]
        desk.kill()
    with served(tmp_path) as again:
        assert again.base == base


def test_a_started_desk_ends_others_owner_links_and_keeps_sessions(tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    with served(tmp_path) as desk:
        port = desk.base.rpartition(":")[2]
        client, old = Client(desk.base, desk.token), desk.token
        desk.kill()
    with served(tmp_path, "--port", port) as desk:
        client.connection.close()
        assert client.get("/api/rules")[0] == 200
        client.cookie = ""
        assert client.post("/join", {"token": old})[0] == 404


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "say --share too"),
        (["--public-url", "ftp://x"], "--public-url"),
        (["--certificate", "nowhere.pem"], "belong together"),
        (["--database", "mysql://a:secret@b/c"], "sqlite:///PATH or postgresql://"),
        (["--protocol", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_wrong_options_end_with_one_sentence(
    run: Any, tmp_path: Path, options: list[str], words: str
) -> None:
    make_review(tmp_path, 1)
    ran = run("review", tmp_path, *options, "--no-browser")
    assert ran.code == 2
    assert words in ran.err
    assert "secret" not in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_export_by_command(run: Any, tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="halluseg")
    assert run("review", tmp_path, "--export", tmp_path / "d.jsonl").code == 2  # nobody yet
    with hosted(tmp_path) as desk:
        client = Client(desk.base, desk.token)
        client.decide(client.get("/api/queue")[1]["items"][0], "reject", reasons=["outside"])
        for name in ("d.jsonl", "d.parquet"):  # while the desk goes on
            assert run("review", tmp_path, "--export", tmp_path / name).code == 0
            [decision] = read_decisions(tmp_path / name)
            assert (decision.verdict, decision.reasons) == ("reject", ("outside",))
        status, content = client.get("/decisions.jsonl")
        assert status == 200
        assert content["verdict"] == "reject"
    assert run("review", tmp_path, "--export", tmp_path / "d.csv").code == 2


def test_secrets_are_on_no_disk_and_in_no_log(tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    with served(tmp_path, "--reviewers", 2) as desk:
        group = desk.group_token()
        client = Client(desk.base, desk.token)
        other = Client(desk.base, group, "Ada")
        client.get(f"/join?{desk.token}")
        client.get("/nowhere")
        secrets = [desk.token, group, *(c.cookie.partition("=")[2] for c in (client, other))]
        _, out, err = desk.interrupt()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in secrets:
        assert len(secret) >= 43  # 256 bits
        assert secret.encode() not in written
        assert secret not in out + err
    with closing(sqlite3.connect(tmp_path / "review/desk.sqlite")) as database:
        digests = database.execute("SELECT hash FROM session").fetchall()
    assert [len(digest) for (digest,) in digests] == [64, 64]


def open_assignments(folder: Path, person: str) -> int:
    sql = "SELECT count(*) FROM assignment WHERE state='open' AND person=?"
    with closing(sqlite3.connect(folder / "review/desk.sqlite")) as database:
        return int(database.execute(sql, (person,)).fetchone()[0])


OWNERS = ["/overview", "/api/overview", "/decisions.jsonl"]
ADJUDICATORS = ["/adjudication", "/api/splits"]


def test_reviewers_cannot_do_what_owners_and_adjudicators_can(tmp_path: Path) -> None:
    make_review(tmp_path, 2, protocol="halluseg")
    with hosted(tmp_path, overlap=2) as desk:
        group = desk.group
        owner = Client(desk.base, desk.token)
        reviewer = Client(desk.base, group, "Ada")
        for path in (*OWNERS, *ADJUDICATORS):
            assert reviewer.get(path)[0] == 403
            assert owner.get(path)[0] == 200
        for path, body in (("/api/invite", {"role": "owner"}), ("/api/remove", {"name": "x"})):
            assert reviewer.post(path, body)[0] == 403
        shown = reviewer.get("/api/queue")[1]["items"][0]
        ruling = {**shown, "stage": "adjudication:check"}
        _, status, answer = reviewer.decide(ruling)
        assert (status, answer["results"][0]["status"]) == (200, 403)
        assert open_assignments(tmp_path, "Ada") == 2
        assert owner.post("/api/remove", {"name": "Ada"})[0] == 200
        assert open_assignments(tmp_path, "Ada") == 0  # handed back at once
        assert reviewer.get("/api/queue")[0] == 401
        assert exported(tmp_path) == []


def test_nobody_decides_in_another_s_name_or_sees_what_others_said(tmp_path: Path) -> None:
    make_review(tmp_path, 3, protocol="halluseg")
    with hosted(tmp_path, overlap=2, reviewers=2) as desk:
        group = desk.group
        first, second = (Client(desk.base, group, name) for name in ("Ada", "Bob"))
        shown = first.get("/api/queue")[1]["items"][0]
        first.decide(shown, "reject", reviewer="Bob", comment="a secret opinion")
        _, queue = second.get("/api/queue")
        assert shown["item"]["id"] in [entry["item"]["id"] for entry in queue["items"]]
        assert "secret opinion" not in json.dumps(queue)
        assert "Ada" not in json.dumps(queue)
        assert "Ada" not in json.dumps(second.get("/api/rules")[1])
    assert [d.reviewer for d in exported(tmp_path)] == ["Ada"]


def test_pictures_by_number_only(tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    (tmp_path / "secret.txt").write_text("secret")
    with hosted(tmp_path) as desk:
        client = Client(desk.base, desk.token)
        assert client.get("/picture/0/after")[0] == 200
        for path in ("0/../../secret.txt", "0/..%2f..%2fsecret.txt", "1/after", "-1/after",
                     "0/mask", "00000000000/after", "%30/%61fter%00", "0/review"):  # fmt: skip
            assert client.get(f"/picture/{path}")[0] == 404


def test_hostile_work_is_refused_and_nothing_written(tmp_path: Path) -> None:
    make_review(tmp_path, 1, protocol="halluseg")
    with hosted(tmp_path) as desk:
        client = Client(desk.base, desk.token)
        shown = client.get("/api/queue")[1]["items"][0]
        half = {"op": "decide", "key": "x" * 20, "item_id": "case-0"}
        for broken in ({}, {"work": 1}, *({"work": [work]} for work in ({}, {"op": "x"}, half))):
            assert client.post("/api/work", broken)[0] == 400
        assert client.post("/api/work", {"work": [{"op": "undo"}] * 101})[0] == 413
        sql = "'; DROP TABLE decision; --"
        for more in (
            {"item_id": sql}, {"stage": sql}, {"verdict": "maybe"}, {"key": ""}, {"key": "k" * 65},
            {"mask": {"size": [2, 2], "counts": "4"}}, {"mask": {"size": [96, 96], "counts": "P"}},
            {"mask": {"size": [1 << 40, 1 << 40], "counts": "1"}}, {"reasons": [sql]},
            {"texts": {"instruction": "not here"}}, {"seconds": "NaN"},
        ):  # fmt: skip
            _, status, answer = client.decide(shown, **{"verdict": "accept", **more})
            assert status == 400 or answer["results"][0]["status"] in (400, 404), more
        assert exported(tmp_path) == []
        _, status, answer = client.decide(shown, comment=sql + "\0", seconds=-5.0)
        assert "error" not in answer["results"][0]
    [decision] = exported(tmp_path)
    assert (decision.comment, decision.seconds) == (sql + "\0", 0.0)


def test_tls_of_one_s_own_makes_cookies_secure(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    make_review(tmp_path, 1)
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True,
    )  # fmt: skip
    with served(tmp_path, "--certificate", certificate, "--key", key) as desk:
        assert desk.base.startswith("https://")
        context = ssl.create_default_context(cafile=str(certificate))
        context.check_hostname = False
        client = http.client.HTTPSConnection(desk.base.removeprefix("https://"), context=context)
        OPEN.append(client)
        headers = {"x-groundfault": "1", "origin": desk.base, "content-type": "application/json"}
        client.request("POST", "/join", json.dumps({"token": desk.token}), headers)
        cookie = client.getresponse().getheader("set-cookie") or ""
        assert "Secure" in cookie and "HttpOnly" in cookie


def test_sharing_without_tls_says_so(tmp_path: Path) -> None:
    make_review(tmp_path, 1)
    with served(tmp_path, "--share", "--host", "127.0.0.2") as desk:
        assert desk.base.startswith("http://127.0.0.2:")
        assert desk.process.stderr is not None
        assert "not encrypted" in desk.process.stderr.readline()
