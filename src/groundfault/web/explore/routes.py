"""Addresses. A view is in the query of each; whatever is wrong with it is said in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from groundfault.errors import GroundfaultError
from groundfault.reports.page.drawing import rendered, standalone
from groundfault.web.app import body_of, guarded, json_response, page, refuse
from groundfault.web.doors import Person
from groundfault.web.explore.cases import case_view
from groundfault.web.explore.confusion import confusion
from groundfault.web.explore.contrast import contrast, differences
from groundfault.web.explore.desk import SIDES_PX, Desk
from groundfault.web.explore.exports import as_csv, as_ids, new_place, write_benchmark
from groundfault.web.explore.figure import selection_figure
from groundfault.web.explore.listing import listed, rates
from groundfault.web.explore.selection import run_named
from groundfault.web.explore.training import Leaks, write_training_list
from groundfault.web.explore.views import View, parse

__all__ = ["HOME", "routes"]

HOME = "/explore"
PICTURES_KEPT = "private, max-age=3600"
T = TypeVar("T")


class _NoteIn(msgspec.Struct, frozen=True, kw_only=True):
    set: str
    case: str
    text: str = ""
    tag: str = ""
    on: bool = True
    id: str = ""


class _ExportIn(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    name: str
    view: str
    """The query of the page's address."""
    allow: bool = False
    """Whether a training list may hold what is evaluated."""


def routes() -> list[BaseRoute]:
    """All of them; only the owner of the runs may enter."""
    reading = {
        "": _page,
        "/api/sets": _sets,
        "/api/list": _list,
        "/api/rates": _rates,
        "/api/contrast": _contrast,
        "/api/differences": _differences,
        "/api/confusion": _confusion,
        "/api/case": _case,
        "/api/episode": _episode,
        "/picture/{key}/{place:int}/{item:int}/{number:int}/{size}": _picture,
        "/episode/{key}/{run:int}/{place:int}/{item:int}/{name}": _episode_picture,
        "/export/{kind}": _download,
    }
    changing = {"/api/note": _note, "/api/export": _export}
    return [
        *(guarded(HOME + path, handler, role="owner") for path, handler in reading.items()),
        *(
            guarded(HOME + path, handler, role="owner", methods=["POST"])
            for path, handler in changing.items()
        ),
    ]


async def _said(work: Callable[[], T]) -> T:
    """Do some work in a thread; what a user can mend becomes words."""
    try:
        return await run_in_threadpool(work)
    except GroundfaultError as problem:
        refuse(400, str(problem))


def _desk(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


def _view(request: Request) -> View:
    try:
        return parse(request.query_params.multi_items())
    except GroundfaultError as problem:
        refuse(400, str(problem))


async def _page(request: Request, person: Person) -> Response:
    return page(request, "explore/explore.html")


async def _sets(request: Request, person: Person) -> Response:
    return json_response(await _said(_desk(request).about))


async def _list(request: Request, person: Person) -> Response:
    """A page of entries, with what choosing more would leave."""
    desk, view = _desk(request), _view(request)

    def work() -> Any:
        desk.notes.refresh()
        found, chosen = desk.select(view)
        noted = desk.notes.all(found.shelf.data)
        tags = {tag: len(cases) for tag, cases in desk.notes.marked(found.shelf.data).tags.items()}
        return {"list": listed(found.board, view, chosen, noted), "tags": tags}

    return json_response(await _said(work))


async def _rates(request: Request, person: Person) -> Response:
    """Every run's metrics on the selection; `full` has those that need masks compared, `intervals`
    their uncertainty."""
    desk, view = _desk(request), _view(request)
    full, intervals = (request.query_params.get(name) == "1" for name in ("full", "intervals"))

    def work() -> Any:
        found, chosen = desk.select(view)
        return rates(found.board, view, chosen, full=full, intervals=intervals)

    return json_response(await _said(work))


async def _contrast(request: Request, person: Person) -> Response:
    desk, view = _desk(request), _view(request)

    def work() -> Any:
        found, chosen = desk.select(view)
        return contrast(found.board, view, chosen.base)

    return json_response(await _said(work))


async def _differences(request: Request, person: Person) -> Response:
    desk, view = _desk(request), _view(request)

    def work() -> Any:
        found, chosen = desk.select(view)
        return differences(found.board, view, chosen.base)

    return json_response(await _said(work))


async def _confusion(request: Request, person: Person) -> Response:
    desk, view = _desk(request), _view(request)
    way, first = request.query_params.get("way", ""), request.query_params.get("first", "")

    def work() -> Any:
        found, chosen = desk.select(view)
        by = run_named(found.board, first) if first else None
        return confusion(found.board, chosen.chosen, view.point, way=way, by=by)

    return json_response(await _said(work))


async def _case(request: Request, person: Person) -> Response:
    desk, view = _desk(request), _view(request)

    def work() -> Any:
        found, place = desk.place_of(view)
        desk.notes.refresh()
        case = case_view(found.board, found.answers, place, view.point)
        return {"case": case, "noted": desk.notes.of(found.shelf.data, case.name)}

    return json_response(await _said(work))


async def _episode(request: Request, person: Person) -> Response:
    desk, view = _desk(request), _view(request)
    run, item = _number(request, "run"), _number(request, "item")

    def work() -> Any:
        found, place = desk.place_of(view)
        return found.episodes.find(run, place, item)

    episode = await _said(work)
    if episode is None:
        refuse(404, "there is no such episode")
    return json_response(episode)


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not re.fullmatch(r"\d{1,6}", text):
        refuse(400, f"{name}: give a number")
    return int(text)


async def _picture(request: Request, person: Person) -> Response:
    """A picture by set, entry, question and number; no request names a file."""
    given = request.path_params
    if given["size"] not in SIDES_PX:
        refuse(404, "no such size")
    content = await run_in_threadpool(
        _desk(request).picture,
        given["key"],
        given["place"],
        given["item"],
        given["number"],
        given["size"],
    )
    return _jpeg(content)


async def _episode_picture(request: Request, person: Person) -> Response:
    given, desk = request.path_params, _desk(request)
    found = desk.sets.get(given["key"])
    if found is None or not given["place"] < len(found.board):
        refuse(404, "no such picture")
    content = await run_in_threadpool(
        found.episodes.picture, given["run"], given["place"], given["item"], given["name"]
    )
    return _jpeg(content)


def _jpeg(content: bytes | None) -> Response:
    if content is None:
        refuse(404, "no such picture")
    kind = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
    return Response(content, media_type=kind, headers={"cache-control": PICTURES_KEPT})


async def _note(request: Request, person: Person) -> Response:
    """Add a note or a tag, or take one back."""
    given, desk = await body_of(request, _NoteIn), _desk(request)

    def work() -> Any:
        view = View(set=given.set, case=given.case)
        found, place = desk.place_of(view)
        data, case = found.shelf.data, found.board.names[place].as_py()
        if given.tag:
            desk.notes.tag(data, case, given.tag, on=given.on)
        elif given.on:
            desk.notes.add(data, case, given.text)
        else:
            desk.notes.withdraw(data, case, given.id)
        return desk.notes.of(data, case)

    return json_response(await _said(work))


# ── taking a selection elsewhere ────────────────────────────────────────────────────────────────


async def _download(request: Request, person: Person) -> Response:
    """Ids, a table or a figure, as a file."""
    desk, view, kind = _desk(request), _view(request), request.path_params["kind"]
    makers: dict[str, tuple[str, Callable[[], bytes]]] = {
        "ids.txt": ("text/plain; charset=utf-8", lambda: _ids(desk, view)),
        "table.csv": ("text/csv; charset=utf-8", lambda: _csv(desk, view)),
        "figure.svg": ("image/svg+xml", lambda: _figure(desk, view, "svg")),
        "figure.png": ("image/png", lambda: _figure(desk, view, "png")),
    }
    if kind not in makers:
        refuse(404, "no such export")
    media, make = makers[kind]
    content = await _said(make)
    headers = {"content-disposition": f'attachment; filename="selection-{kind}"'}
    return Response(content, media_type=media, headers=headers)


def _ids(desk: Desk, view: View) -> bytes:
    found, chosen = desk.select(view)
    return as_ids(found.board, chosen.order().tolist()).encode()


def _csv(desk: Desk, view: View) -> bytes:
    found, chosen = desk.select(view)
    return as_csv(found.board, chosen.order().tolist(), view.point).encode()


def _figure(desk: Desk, view: View, kind: str) -> bytes:
    """The open case alone, else the first of the selection."""
    found, chosen = desk.select(view)
    places = [desk.place_of(view)[1]] if view.case else chosen.order().tolist()
    two = [run_named(found.board, name) for name in (view.a, view.b) if name and view.ab]
    figure = selection_figure(
        found.board,
        found.answers,
        places,
        view.point,
        title=_title(view, found.shelf.title),
        runs=two,
    )
    return rendered(standalone(figure), kind)


def _title(view: View, title: str) -> str:
    if view.ab in ("10", "01"):
        right, wrong = (view.a, view.b) if view.ab == "10" else (view.b, view.a)
        return f"{title}: {right} is right, {wrong} is not"
    return title


async def _export(request: Request, person: Person) -> Response:
    """Write a benchmark or a training list into the folder of exports."""
    given, desk = await body_of(request, _ExportIn), _desk(request)
    try:
        view = parse(parse_qsl(given.view, keep_blank_values=True))
    except GroundfaultError as problem:
        refuse(400, str(problem))

    def work() -> Any:
        found, chosen = desk.select(view)
        out, places = new_place(desk.exports, given.name), chosen.order().tolist()
        if given.kind == "benchmark":
            how = f"in the view {given.view}" if given.view else "whole"
            return {"path": str(out), "hash": write_benchmark(found.board, places, out, how=how)}
        about = write_training_list(
            found.board, places, out, point=view.point, link=given.view,
            others=desk.others(found), allow=given.allow,
        )  # fmt: skip
        return {"path": str(out), "about": about}

    if given.kind not in ("benchmark", "training"):
        refuse(400, "export a benchmark or a training list")
    try:
        return json_response(await run_in_threadpool(work))
    except Leaks as problem:
        return json_response({"error": str(problem), "leaks": problem.leaks}, 409)
    except GroundfaultError as problem:
        refuse(400, str(problem))
