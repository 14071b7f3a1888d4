"""What a browser would ask of the desk: review and explore are served for a moment, everything is
asked for once, and what comes back is printed as other commands print.

    @visit review BUILD            every page, the queue, its pictures, the overview
    @visit explore RUNS [NOTES]    every set: list, rates, contrast, cases, pictures, exports
    @visit post BODIES BUILD RUNS  each file of BODIES as a body; its name is the path
"""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from groundfault.errors import GroundfaultError

__all__ = ["desk_cells", "make_desks", "visit"]

Run = Callable[..., object]
SLASH = "+"
"""Stands for / in the name of a body's file."""


def visit(words: list[str]) -> int:
    """Run one of the visits; the exit code that a command would have."""
    where = [Path(word) for word in words[1:]]
    try:
        {"review": _review, "explore": _explore, "post": _post, "make": _make}[words[0]](*where)
    except GroundfaultError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0


class _Visitor:
    """Somebody with the owner's link. What the server cannot do is an error of ours."""

    def __init__(self, url: str) -> None:
        self.base, _, token = url.partition("/join#")
        self.connection = http.client.HTTPConnection(self.base.removeprefix("http://"), timeout=60)
        self.cookie = ""
        self.post("/join", json.dumps({"token": token, "name": "owner"}).encode())

    def get(self, path: str) -> bytes:
        """The body of a page or file; "" where it was refused, which is told."""
        self.connection.request("GET", path, headers={"cookie": self.cookie})
        return self._read(path)

    def json(self, path: str) -> Any:
        """The value of what the desk says; None where it was refused."""
        content = self.get(path)
        return json.loads(content) if content else None

    def post(self, path: str, body: bytes) -> bytes:
        """What the desk answers to a body."""
        headers = {"x-groundfault": "1", "origin": self.base, "cookie": self.cookie}
        headers["content-type"] = "application/json"
        self.connection.request("POST", path, body, headers)
        return self._read(path)

    def _read(self, path: str) -> bytes:
        response = self.connection.getresponse()
        content = response.read()
        self.cookie = (response.getheader("set-cookie") or self.cookie).partition(";")[0]
        if response.status >= 500 and response.status != 503:  # which says that it cannot be had
            raise AssertionError(f"{response.status} from {path}: {content[:200]!r}")
        if response.status >= 400:
            print(f"{response.status} {path}: {content[:300]!r}", file=sys.stderr)
            return b""
        return content


@contextlib.contextmanager
def _reviewing(folder: Path) -> Iterator[_Visitor]:
    from groundfault.web.review.desk import open_desk
    from groundfault.web.serving import serve_in_background

    desk = open_desk(folder)
    try:
        token = desk.owner_invitation()
        running = serve_in_background(desk.make_app, link=lambda site: f"{site.url}/join#{token}")
    except BaseException:
        desk.close()
        raise
    try:
        yield _Visitor(running.url)
    finally:
        running.stop()


@contextlib.contextmanager
def _exploring(runs: Path, notes: Path | None = None) -> Iterator[_Visitor]:
    from groundfault.api.comparing import folders_of
    from groundfault.api.exploring import places_of
    from groundfault.api.reporting import scored_folders
    from groundfault.web.explore.serving import explore_in_background

    places = places_of(images=None, notes=notes, exports=runs.parent / "explored", evaluated=())
    several = sorted(place for place in runs.iterdir() if place.is_dir())
    running = explore_in_background(scored_folders(folders_of(several)), places)
    try:
        yield _Visitor(running.url)
    finally:
        running.stop()


def _review(folder: Path) -> None:
    with _reviewing(folder) as visitor:
        for page in ("/", "/adjudication", "/overview"):
            print(page, len(visitor.get(page)) > 0)
        rules = visitor.json("/api/rules") or {}
        print(rules.get("total"), json.dumps(rules.get("protocols"), sort_keys=True))
        shown = (visitor.json("/api/queue") or {}).get("items", [])
        for each in sorted(shown, key=lambda one: str(one["item"].get("id"))):
            item = each["item"]
            told = {name: item.get(name) for name in ("id", "texts", "kind", "questions", "mask")}
            print(each["stage"], json.dumps(told, sort_keys=True))
        for path in sorted(set(_pictures(shown))):
            print(path, len(visitor.get(path)) > 0)
        overview = visitor.json("/api/overview") or {}
        print(json.dumps(overview.get("progress"), sort_keys=True))
        splits = visitor.json("/api/splits") or {}
        print(splits.get("total"), len(visitor.get("/decisions.jsonl").splitlines()))


def _pictures(shown: Any) -> Iterator[str]:
    """Addresses of pictures, wherever they stand in what the desk said."""
    if isinstance(shown, str) and shown.startswith("/picture/"):
        yield shown
    elif isinstance(shown, dict | list):
        for each in shown.values() if isinstance(shown, dict) else shown:
            yield from _pictures(each)


def _explore(runs: Path, notes: Path | None = None) -> None:
    with _exploring(runs, notes) as visitor:
        for each in (visitor.json("/explore/api/sets") or {}).get("sets", []):
            _one_set(visitor, each)


def _one_set(visitor: _Visitor, about: dict[str, Any]) -> None:
    names = [run["name"] for run in about["runs"]]
    two = {"a": names[0], "b": names[-1]}

    def ask(path: str, **view: Any) -> Any:
        words = urlencode({"set": about["key"], **view}, doseq=True)
        return visitor.json(f"/explore/api/{path}?{words}")

    print(about["kind"], about["n"], names)
    listed = (ask("list", row="all") or {}).get("list") or {"entries": []}
    print(json.dumps(listed, sort_keys=True))
    for path in ("rates", "contrast", "differences", "confusion"):
        print(path, json.dumps(ask(path, **two), sort_keys=True))
    for entry in listed["entries"][:2]:
        print(json.dumps(ask("case", case=entry["name"], **two), sort_keys=True))
        picture = f"/explore/picture/{about['key']}/{entry['place']}/0/0/thumb"
        print(len(visitor.get(picture)) > 0)
    for kind in ("ids.txt", "table.csv", "table.parquet", "figure.svg"):
        print(kind, len(visitor.get(f"/explore/export/{kind}?set={about['key']}")) > 0)


def _post(bodies: Path, build: Path, runs: Path) -> None:
    """Bodies go to the section that their path belongs to."""
    for explore in (False, True):
        opened = _exploring(runs) if explore else _reviewing(build)
        with opened as visitor:
            for path in sorted(bodies.glob("*.json")):
                place = "/" + path.stem.partition("=")[2].replace(SLASH, "/")
                if place.startswith("/explore") == explore and path.is_file():
                    print(place, len(visitor.post(place, path.read_bytes())) > 0)


# ── examples ────────────────────────────────────────────────────────────────────────────────────


def make_desks(folder: Path, run: Run) -> None:
    """A review in which somebody has decided, notes about runs, and bodies of requests."""
    shutil.copytree(folder / "built", folder / "desk")
    for name in ("bodies", "noted"):
        (folder / name).mkdir()
    run("@visit", "make", folder)


def _make(folder: Path) -> None:
    bodies = folder / "bodies"

    def keep(number: int, path: str, body: Any) -> bytes:
        content = json.dumps(body).encode()
        name = f"{number}={path.strip('/').replace('/', SLASH)}.json"
        (bodies / name).write_bytes(content)
        return content

    with _reviewing(folder / "desk") as visitor:
        shown = visitor.json("/api/queue")["items"]
        for number, each in enumerate(shown[:2]):
            work = {
                "op": "decide", "key": f"{number:032x}", "item_id": each["item"]["id"],
                "stage": each["stage"], "verdict": "accept", "seconds": 1.5, "note": "fine",
            }  # fmt: skip
            body = keep(number, "/api/work", {"work": [work], "have": []})
            visitor.post("/api/work", body)
    keep(2, "/api/work", {"work": [{"op": "undo", "key": "f" * 32, "undoes": "0" * 32}]})
    asked = {"number": 1, "type": "YN", "dimension": "d", "query": "Is it?", "reference": "Yes"}
    keep(3, "/api/questions", {"questions": [asked]})
    keep(4, "/api/invite", {"role": "reviewer", "name": "Ann", "seats": 2})
    keep(5, "/api/remove", {"name": "Ann"})
    keep(6, "/api/skipped", {})
    with _exploring(folder / "masks", folder / "noted" / "notes.jsonl") as visitor:
        [about] = visitor.json("/explore/api/sets")["sets"]
        first = visitor.json(f"/explore/api/list?set={about['key']}&row=all")["list"]["entries"][0]
        note = {"set": about["key"], "case": first["name"], "text": "odd", "tag": "", "on": True}
        visitor.post("/explore/api/note", keep(7, "/explore/api/note", note))
        tag = {**note, "text": "", "tag": "dark"}
        visitor.post("/explore/api/note", keep(8, "/explore/api/note", tag))
    view = f"set={quote(about['key'])}&row=all"
    keep(9, "/explore/api/export", {"kind": "folder", "name": "mine", "view": view})


def desk_cells(cell: Callable[..., Any]) -> list[Any]:
    """What browsers ask, on what the desk reads."""
    runs = ("masks", "replaced", "words", "agent")
    decided = ("build", "{f}/../building/recipe.toml", "--workers", "1", "--out", "{out}")
    return [
        cell("review", "built", ("@visit", "review", "{f}")),
        cell("review", "desk", ("@visit", "review", "{f}")),
        cell("export", "desk", ("review", "{f}", "--export", "{out}.jsonl")),
        *(cell("explore", name, ("@visit", "explore", "{f}")) for name in runs),
        cell("explore", "noted", ("@visit", "explore", "{f}/../masks", "{f}/notes.jsonl")),
        cell("post", "bodies", ("@visit", "post", "{f}", "{f}/../built", "{f}/../masks")),
        cell("build", "decided", (*decided, "--review", "{f}/decisions.parquet")),
    ]
