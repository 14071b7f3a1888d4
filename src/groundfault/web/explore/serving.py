"""Explore as a server: one owner, one invitation, loopback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groundfault.errors import MissingExtra
from groundfault.web.explore.desk import Desk, Places

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from groundfault.web.security import Site
    from groundfault.web.serving import Running

__all__ = ["explore_in_background", "serve_explore"]


def serve_explore(
    folders: Sequence[Path],
    places: Places,
    *,
    port: int = 0,
    browser: bool = True,
) -> None:
    """Explore runs until Ctrl-C; the one line that is printed is the address."""
    from groundfault.web.serving import Address, serve

    make, link = _app_of(folders, places)
    serve(make, Address(port=port), link=link, browser=browser)


def explore_in_background(folders: Sequence[Path], places: Places, *, port: int = 0) -> Running:
    """Explore runs from a thread of this process."""
    from groundfault.web.serving import serve_in_background

    make, link = _app_of(folders, places)
    return serve_in_background(make, link=link, port=port)


def _app_of(
    folders: Sequence[Path], places: Places
) -> tuple[Callable[[Site], Starlette], Callable[[Site], str]]:
    """How the application is made, and its link. Runs are read first: what is wrong with them is
    said before anything is opened."""
    try:
        from groundfault.web.app import make_app
        from groundfault.web.doors import OneKeyDoor
        from groundfault.web.explore.routes import HOME, routes
    except ModuleNotFoundError as problem:
        raise MissingExtra(str(problem.name), "desk") from None
    desk, door = Desk(folders, places), OneKeyDoor()

    def make(site: Site) -> Starlette:
        return make_app(routes(), door=door, site=site, home=HOME, state={"desk": desk})

    def link(site: Site) -> str:
        return f"{site.url}/join#{door.invitation}"

    return make, link
