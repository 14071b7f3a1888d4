"""The application that every section of the desk is built on.

    app = make_app(routes, door=door, site=site, home="/explore")

Handlers are written as `async def handler(request: Request, person: Person) -> Response` and made
routes by `guarded`, which lets nobody in without a session and a sufficient role.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import jinja2
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from groundfault import __version__
from groundfault.io.foreign import decode_json
from groundfault.web.doors import Door, NoEntry, Person, Role
from groundfault.web.security import Guard, RateLimit, Site

__all__ = ["body_of", "guarded", "json_response", "make_app", "page", "refuse"]

HERE = Path(__file__).parent
SESSION_S = 90 * 86_400
JOIN_FAILURES, JOIN_SECONDS = 10, 60.0
"""So many wrong invitations per minute and address are looked at."""
T = TypeVar("T")
Handler = Callable[[Request, Person], Awaitable[Response]]


def make_app(
    routes: Sequence[BaseRoute],
    *,
    door: Door,
    site: Site,
    home: str = "/",
    state: Mapping[str, Any] | None = None,
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None,
    passing: type[Exception] | None = None,
) -> Starlette:
    """The application of these routes, with joining, scripts and styles. `home` is where whoever
    joins arrives; `state` is what handlers find in `request.app.state`; `passing` is
    the exception that says "try again": browsers get 503."""
    handlers: dict[Any, Any] = {HTTPException: _refused, Exception: _failed}
    if passing is not None:
        handlers[passing] = _try_again
    app = Starlette(
        routes=[
            Route("/join", _join_page, methods=["GET"]),
            Route("/join", _join, methods=["POST"]),
            Route("/leave", _leave, methods=["POST"]),
            Mount("/static", _Static(directory=HERE / "static")),
            *routes,
        ],
        middleware=[Middleware(Guard, site=site)],
        exception_handlers=handlers,
        lifespan=lifespan,
    )
    app.state.door, app.state.site, app.state.home = door, site, home
    app.state.join_failures = RateLimit(JOIN_FAILURES, JOIN_SECONDS)
    for name, value in (state or {}).items():
        setattr(app.state, name, value)
    return app


# ── handlers ────────────────────────────────────────────────────────────────────────────────────


def guarded(
    path: str, handler: Handler, *, role: Role = "reviewer", methods: Sequence[str] = ("GET",)
) -> Route:
    """A route for people with this role; others get 401 or 403, and pages lead them to /join."""

    async def endpoint(request: Request) -> Response:
        person = await _person(request)
        if person is None:
            if "text/html" in request.headers.get("accept", ""):
                return RedirectResponse("/join", 303)
            refuse(401, "open your invitation link first")
        if not person.may(role):
            refuse(403, f"this is for people with the role {role}")
        return await handler(request, person)

    return Route(path, endpoint, methods=list(methods), name=path)


def refuse(status: int, words: str) -> NoReturn:
    """End a request with a reason."""
    raise HTTPException(status, words)


async def body_of(request: Request, type_: type[T]) -> T:
    """The JSON of a request, as a checked record."""
    try:
        return decode_json(await request.body(), type_)
    except ClientDisconnect:
        refuse(413, "the request is too long")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        refuse(400, f"not what is expected here: {problem}")


def json_response(value: object, status: int = 200) -> Response:
    """A record as JSON."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def page(request: Request, template: str, **context: Any) -> HTMLResponse:
    """A page from a template, in which everything foreign is escaped."""
    words = _templates().get_template(template)
    return HTMLResponse(words.render(home=request.app.state.home, version=__version__, **context))


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class _Static(StaticFiles):
    """Our own scripts and styles; browsers ask each time whether they changed."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return JSONResponse({"error": problem.detail}, problem.status_code, problem.headers)


async def _try_again(request: Request, problem: Exception) -> Response:
    return JSONResponse({"error": "not possible just now; try again"}, 503)


async def _failed(request: Request, problem: Exception) -> Response:
    """A mistake of ours: the log has it, the browser does not."""
    return JSONResponse({"error": "the desk failed at this; its terminal says more"}, 500)


# ── joining ─────────────────────────────────────────────────────────────────────────────────────


class _Invitation(msgspec.Struct, frozen=True):
    token: str
    name: str = ""
    switch: bool = False
    """Whether somebody who is signed in wants to become somebody else."""


async def _join_page(request: Request) -> Response:
    """The page that an invitation opens. The token stands behind the # of the link, where neither
    servers nor proxies see it; the page's script sends it."""
    return page(request, "join.html")


async def _join(request: Request) -> Response:
    """Exchange an invitation for a session. A link on a foreign page cannot make anybody work under
    another name unnoticed: whoever is signed in is asked first."""
    address = request.client.host if request.client else ""
    failures: RateLimit = request.app.state.join_failures
    if failures.is_exhausted(address):
        refuse(429, "too many wrong invitations; wait a minute")
    wanted = await body_of(request, _Invitation)
    current = await _person(request)
    if current is not None and not wanted.switch:
        return json_response({"signed_in": current.name, "home": request.app.state.home}, 409)
    try:
        entry = await request.app.state.door.enter(wanted.token, wanted.name.strip())
    except NoEntry as problem:
        if not problem.wants_name:
            failures.count(address)
        said = {"error": str(problem), "wants_name": problem.wants_name}
        return json_response(said, 422 if problem.wants_name else 404)
    response = json_response({"name": entry.person.name, "home": request.app.state.home})
    _set_cookie(request, response, entry.session, SESSION_S)
    return response


async def _leave(request: Request) -> Response:
    """Forget the session in this browser."""
    response = json_response({})
    _set_cookie(request, response, "", 0)
    return response


def _set_cookie(request: Request, response: Response, value: str, max_age_s: int) -> None:
    site: Site = request.app.state.site
    response.set_cookie(
        site.cookie, value, max_age=max_age_s, httponly=True, samesite="strict", secure=site.is_tls
    )


async def _person(request: Request) -> Person | None:
    session = request.cookies.get(request.app.state.site.cookie, "")
    if not session or len(session) > 200:
        return None
    found: Person | None = await request.app.state.door.person(session)
    return found
