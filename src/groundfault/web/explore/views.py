"""What is looked at, as an address: everything that decides what the page shows is in its query, so
that a link shows the same to whoever opens it.

    set=…            the board                      row=SM            row of the result table
    q=…              words                          t=0.4  tau=0.5    operating point, else each own
    f=dose:0.5       property, value                e=p⁻:TA-FP@RUN    how a run ended
    a=RUN b=RUN      two runs                       on=p⁺ found       what they are compared in
    ab=10            A right, B wrong               tag=…  noted=1    one's own notes
    sort=… by=RUN    order                          page=2            case=…  the open case
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal
from urllib.parse import quote, urlencode

import msgspec

from groundfault.config import number
from groundfault.errors import UsageError
from groundfault.web.explore.board import Point

__all__ = ["ALL", "PAGE", "Chosen", "Ended", "View", "address", "parse"]

PAGE = 50
ALL = "all"
"""The row of everything, doses and controls included."""
Both = Literal["", "10", "01", "11", "00"]


class Chosen(msgspec.Struct, frozen=True, order=True):
    """A property has one of these values; several values of one property are alternatives."""

    facet: str
    value: str


class Ended(msgspec.Struct, frozen=True, order=True):
    """A run ended so; several ends of one run and side are alternatives."""

    side: str
    end: str
    run: str


class View(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    set: str = ""
    row: str = "Overall"
    q: str = ""
    t: float | None = None
    tau: float | None = None
    chosen: tuple[Chosen, ...] = ()
    ended: tuple[Ended, ...] = ()
    a: str = ""
    b: str = ""
    on: str = ""
    ab: Both = ""
    tags: tuple[str, ...] = ()
    noted: bool = False
    sort: str = ""
    by: str = ""
    down: bool = False
    page: int = 1
    case: str = ""

    @property
    def point(self) -> Point:
        """The operating point."""
        return Point(self.t, self.tau)


def parse(parameters: Iterable[tuple[str, str]]) -> View:
    """The view of an address's query; what cannot be meant is refused in words."""
    given: dict[str, list[str]] = {}
    for name, value in parameters:
        given.setdefault(name, []).append(value)

    def one(name: str, usual: str = "") -> str:
        return given.get(name, [usual])[-1]

    ab = one("ab")
    if ab not in ("", "10", "01", "11", "00"):
        raise UsageError(f"ab={ab}: give 10, 01, 11 or 00")
    return View(
        set=one("set"),
        row=one("row", "Overall"),
        q=one("q").strip()[:200],
        t=_threshold("t", one("t"), 1e6),
        tau=_threshold("tau", one("tau"), 1.0),
        chosen=tuple(_chosen(text) for text in given.get("f", ())),
        ended=tuple(_ended(text) for text in given.get("e", ())),
        a=one("a"),
        b=one("b"),
        on=one("on"),
        ab=ab,  # type: ignore[arg-type]
        tags=tuple(given.get("tag", ())),
        noted=one("noted") == "1",
        sort=one("sort"),
        by=one("by"),
        down=one("down") == "1",
        page=_page(one("page", "1")),
        case=one("case"),
    )


def address(view: View) -> str:
    """The query of a view, without what is usual; `parse` reads it back.

    >>> address(View(q="red cat", t=0.4, ended=(Ended("p⁻", "TA-FP", "a@b"),)))
    'q=red+cat&t=0.4&e=p%E2%81%BB:TA-FP@a@b'
    """
    pairs: list[tuple[str, str]] = []
    for name in ("set", "row", "q", "t", "tau"):
        value = getattr(view, name)
        if value != getattr(View(), name):
            pairs.append((name, f"{value:g}" if isinstance(value, float) else value))
    pairs += [("f", f"{each.facet}:{each.value}") for each in view.chosen]
    pairs += [("e", f"{each.side}:{each.end}@{each.run}") for each in view.ended]
    pairs += [(name, getattr(view, name)) for name in ("a", "b", "on", "ab") if getattr(view, name)]
    pairs += [("tag", tag) for tag in view.tags]
    pairs += [("noted", "1")] if view.noted else []
    pairs += [(name, getattr(view, name)) for name in ("sort", "by") if getattr(view, name)]
    pairs += [("down", "1")] if view.down else []
    pairs += [("page", str(view.page))] if view.page != 1 else []
    pairs += [("case", view.case)] if view.case else []
    return urlencode(pairs, safe=":@", quote_via=_quoted)


def _quoted(text: str | bytes, safe: str | bytes = "", *_: object) -> str:
    """Like the usual way, with spaces that can be read."""
    return quote(str(text), safe=f"{safe!s} ").replace(" ", "+")


def _threshold(name: str, text: str, most: float) -> float | None:
    if not text:
        return None
    try:
        value = number(text)
    except ValueError:
        value = float("nan")
    if not (-most <= value <= most) or (name == "tau" and value < 0):
        raise UsageError(f"{name}={text[:40]}: is no threshold")
    return value


def _page(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text[:9]) < 10**8:
        raise UsageError(f"page={text[:40]}: is no page")
    return int(text)


def _chosen(text: str) -> Chosen:
    facet, colon, value = text.partition(":")
    if not colon:
        raise UsageError(f"f={text[:80]}: give property:value")
    return Chosen(facet, value)


def _ended(text: str) -> Ended:
    side, colon, rest = text.partition(":")
    end, at, run = rest.partition("@")
    if not colon or not at:
        raise UsageError(f"e={text[:80]}: give side:end@run")
    return Ended(side, end, run)
