"""What browsers ask the review for. Everything that a reviewer may know is in `Shown`: others'
verdicts and the truth about gold items do not leave the server before it is time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from groundfault.building.records import Question
from groundfault.building.review import question_problems
from groundfault.web.app import body_of, guarded, json_response, page, refuse
from groundfault.web.doors import NoEntry, Person, Role
from groundfault.web.pictures import picture_response
from groundfault.web.review.assignments import Refusal, Said, Work
from groundfault.web.review.database import Rows
from groundfault.web.review.desk import ReviewDesk
from groundfault.web.review.ledger import all_decisions

__all__ = ["ROUTES"]

MOST_WORK = 100
"""So many decisions come with one request at most."""
HISTORY = 500
"""So many earlier decisions a browser can take back after it was opened again."""


def _desk(request: Request) -> ReviewDesk:
    found: ReviewDesk = request.app.state.desk
    return found


# ── pages ───────────────────────────────────────────────────────────────────────────────────────


async def _review_page(request: Request, person: Person) -> Response:
    return page(request, "review/review.html", person=person, section="review")


async def _adjudication_page(request: Request, person: Person) -> Response:
    return page(request, "review/review.html", person=person, section="adjudication")


async def _overview_page(request: Request, person: Person) -> Response:
    return page(request, "review/overview.html", person=person, section="overview")


async def _picture(request: Request, person: Person) -> Response:
    place, side = request.path_params["place"], request.path_params["side"]
    path = _desk(request).items.picture(place, side)
    return await picture_response(request, {} if path is None else {"": path}, "")


# ── reviewing ───────────────────────────────────────────────────────────────────────────────────


class _Work(msgspec.Struct, frozen=True):
    work: list[Work]
    have: list[tuple[str, str]] = []
    """Items and stages that the browser has already: only their names are sent again."""


async def _rules(request: Request, person: Person) -> Response:
    """The protocols, and what this person may take back."""
    desk = _desk(request)

    def read(rows: Rows) -> list[dict[str, str]]:
        last = desk.ledger.last_of(rows, person.name, HISTORY)
        return [{"key": stored.key, "item": stored.decision.item_id} for stored in reversed(last)]

    history = await desk.database.run(read)
    rules = {
        "me": person,
        "protocols": desk.ledger.protocols,
        "history": history,
        "total": len(desk.items),
    }
    return json_response(rules)


async def _queue(request: Request, person: Person) -> Response:
    desk = _desk(request)
    return json_response(await desk.database.run(lambda rows: _next(rows, desk, person)))


def _next(
    rows: Rows, desk: ReviewDesk, person: Person, have: Container[tuple[str, str]] = ()
) -> dict[str, object]:
    items = [
        {"item": {"id": item}, "stage": stage}
        if (item, stage) in have
        else desk.assignments.shown(rows, item, stage)
        for item, stage in desk.assignments.given(rows, person.name)
    ]
    return {"items": items, **desk.assignments.counts(rows, person.name)}


async def _do_work(request: Request, person: Person) -> Response:
    """Decisions and what takes them back, in the order in which they were made; each stands or
    falls by itself. The next items come along."""
    desk, sent = _desk(request), await body_of(request, _Work)
    if len(sent.work) > MOST_WORK:
        refuse(413, f"{MOST_WORK} decisions at most in one request")
    jobs = [desk.database.run(_job(desk, person, work)) for work in sent.work]
    have = frozenset(sent.have)
    following = desk.database.run(lambda rows: _next(rows, desk, person, have))
    done = await asyncio.gather(*jobs, following, return_exceptions=True)
    results = []
    for work, result in zip(sent.work, done, strict=False):
        if isinstance(result, Refusal):
            told = {"key": work.key, "error": str(result), "status": result.status}
            results.append(told)
        elif isinstance(result, BaseException):
            raise result
        else:
            results.append(result)
    return json_response({"results": results, **await following})


def _job(desk: ReviewDesk, person: Person, work: Work) -> Callable[[Rows], dict[str, object]]:
    def job(rows: Rows) -> dict[str, object]:
        stored = desk.assignments.do(rows, person, work)
        if stored is not None:
            return {"key": stored.key, "item": stored.decision.item_id}
        assert isinstance(work, Said)
        return {"key": work.key, "item": work.item_id}

    return job


async def _take_up_skipped(request: Request, person: Person) -> Response:
    desk = _desk(request)

    def work(rows: Rows) -> dict[str, object]:
        desk.assignments.take_up_skipped(rows, person.name)
        return _next(rows, desk, person)

    return json_response(await desk.database.run(work))


class _Questions(msgspec.Struct, frozen=True):
    questions: list[Question]


async def _check_questions(request: Request, person: Person) -> Response:
    """What is wrong with questions that are being corrected."""
    sent = await body_of(request, _Questions)
    return json_response({"problems": question_problems(sent.questions)})


# ── adjudicators and owners ─────────────────────────────────────────────────────────────────────


async def _splits(request: Request, person: Person) -> Response:
    desk = _desk(request)
    found = await desk.database.run(lambda rows: desk.splits(rows))
    [(total,)] = await desk.database.run(
        lambda rows: rows("SELECT count(*) FROM task WHERE state='split'")
    )
    return json_response({"splits": found, "total": total})


async def _overview(request: Request, person: Person) -> Response:
    desk = _desk(request)
    work_out = await desk.database.run(desk.overview_inputs)
    return json_response(await run_in_threadpool(work_out))


class _Invite(msgspec.Struct, frozen=True):
    role: Role
    name: str = ""
    seats: int = 1


async def _invite(request: Request, person: Person) -> Response:
    """A link for somebody, or for several; it is told once."""
    desk, wanted = _desk(request), await body_of(request, _Invite)
    name = wanted.name.strip()
    if not 1 <= wanted.seats <= 1000:
        refuse(400, "a link is for 1 to 1000 people")
    if name == person.name and wanted.role != person.role:
        refuse(400, "owners cannot take their own role away")

    def work(rows: Rows) -> str:
        return desk.door.invite(rows, wanted.role, name=name, seats=wanted.seats)

    try:
        secret = await desk.database.run(work)
    except NoEntry as problem:
        refuse(400, str(problem))
    return json_response({"link": f"{request.app.state.site.url}/join#{secret}"})


class _Remove(msgspec.Struct, frozen=True):
    name: str


async def _remove(request: Request, person: Person) -> Response:
    desk, wanted = _desk(request), await body_of(request, _Remove)
    if wanted.name == person.name:
        refuse(400, "owners cannot remove themselves")

    def work(rows: Rows) -> None:
        desk.door.remove(rows, wanted.name)
        desk.assignments.let_go(rows, wanted.name)

    await desk.database.run(work)
    return json_response({})


async def _export(request: Request, person: Person) -> Response:
    """Every decision as a file."""
    desk = _desk(request)
    decisions = await desk.database.run(lambda rows: list(all_decisions(rows)))
    lines = b"".join(msgspec.json.encode(decision) + b"\n" for decision in decisions)
    headers = {"content-disposition": "attachment; filename=decisions.jsonl"}
    return Response(lines, media_type="application/x-ndjson", headers=headers)


POST = ("POST",)
ROUTES = [
    guarded("/", _review_page),
    guarded("/adjudication", _adjudication_page, role="adjudicator"),
    guarded("/overview", _overview_page, role="owner"),
    guarded("/picture/{place}/{side}", _picture),
    guarded("/api/rules", _rules),
    guarded("/api/queue", _queue),
    guarded("/api/work", _do_work, methods=POST),
    guarded("/api/skipped", _take_up_skipped, methods=POST),
    guarded("/api/questions", _check_questions, methods=POST),
    guarded("/api/splits", _splits, role="adjudicator"),
    guarded("/api/overview", _overview, role="owner"),
    guarded("/api/invite", _invite, role="owner", methods=POST),
    guarded("/api/remove", _remove, role="owner", methods=POST),
    guarded("/decisions.jsonl", _export, role="owner"),
]
