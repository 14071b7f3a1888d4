"""A review as a whole: opened from a build's folder, served, exported."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from groundfault.building.review import ADJUDICATION, Decision, Settled, write_decisions
from groundfault.building.review_rules import load_protocols, own_protocols, write_rules
from groundfault.errors import UsageError
from groundfault.io.foreign import decode_json
from groundfault.web.review import statistics
from groundfault.web.review.assignments import IDLE_S, Assignments
from groundfault.web.review.database import Database, Rows, Unavailable, open_database
from groundfault.web.review.items import Items
from groundfault.web.review.ledger import Ledger, all_decisions
from groundfault.web.review.people import DatabaseDoor
from groundfault.web.security import Site

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["ReviewDesk", "Split", "export", "open_desk"]

DATABASE = "desk.sqlite"


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """What an adjudicator decides about, with what everybody said."""

    shown: object
    why: str
    decisions: tuple[Decision, ...]


class ReviewDesk:
    """Items, decisions and people of one review."""

    def __init__(self, database: Database, items: Items, ledger: Ledger, idle_s: float) -> None:
        self.database, self.items, self.ledger = database, items, ledger
        self.assignments = Assignments(ledger, idle_s=idle_s)
        self.door = DatabaseDoor(database)

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    def owner_invitation(self) -> str:
        """A link's token for whoever started the desk; earlier ones end."""
        return self.database.call(lambda rows: self.door.invite(rows, "owner", name=_own_name()))

    def open_invitation(self, seats: int) -> str:
        """A link's token for so many reviewers, who say their names."""
        return self.database.call(lambda rows: self.door.invite(rows, "reviewer", seats=seats))

    def make_app(self, site: Site) -> Starlette:
        """The application that serves it."""
        from groundfault.web.app import make_app
        from groundfault.web.review.routes import ROUTES

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            yield
            self.close()

        return make_app(
            ROUTES,
            door=self.door,
            site=site,
            state={"desk": self},
            lifespan=lifespan,
            passing=Unavailable,
        )

    # ── what is read ────────────────────────────────────────────────────────────────────────────

    def splits(self, rows: Rows, most: int = 20) -> list[Split]:
        """What waits for an adjudicator, the oldest first."""
        waiting = rows(
            "SELECT item, stage FROM task WHERE state='split' ORDER BY place LIMIT ?", most
        )
        return [self._split(rows, item, stage) for item, stage in waiting]

    def _split(self, rows: Rows, item: str, stage: str) -> Split:
        about = self.ledger.about(rows, item)
        return Split(
            shown=self.assignments.shown(rows, item, ADJUDICATION + stage),
            why=_why(self.ledger.settled(rows, item), about),
            decisions=tuple(d for d in about if not d.undone),
        )

    def overview_inputs(self, rows: Rows) -> Callable[[], statistics.Overview]:
        """What the overview needs, read at once; its numbers are worked out elsewhere."""
        said = statistics.opinions(rows)
        people = rows("SELECT name, role, removed FROM person ORDER BY joined")
        stages = [s.name for p in self.ledger.protocols.values() for s in p.stages]
        states = statistics.progress(rows, self.items, stages)
        rejected = rows(
            "SELECT d.record FROM decision d LEFT JOIN undo u ON u.decision=d.id "
            "WHERE u.decision IS NULL AND d.verdict='reject'"
        )
        records = [decode_json(record, Decision) for (record,) in rejected]
        reasons = Counter(reason for decision in records for reason in decision.reasons)
        return lambda: statistics.overview(said, self.items, people, states, reasons)


def _why(settled: Settled, about: Sequence[Decision]) -> str:
    """Why an item waits, in words."""
    standing = [d for d in about if not d.undone and d.stage == settled.stage]
    if any(d.flagged for d in standing):
        return "flagged"
    if settled.state == "open":
        return "skipped by several people"
    return "opinions differ"


def _own_name() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        name = "owner"
    return name if name.isprintable() and 0 < len(name) <= 60 else "owner"


def open_desk(
    folder: Path,
    *,
    database: str = "",
    overlap: int | None = None,
    protocols: Sequence[Path] = (),
    idle_s: float = IDLE_S,
) -> ReviewDesk:
    """The review of a build's folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give that of a build")
    items = Items(folder.resolve())
    files = [*own_protocols(folder), *protocols]
    rules = load_protocols(items.protocols, files, overlap=overlap)
    opened = open_database(database or str(folder / "review" / DATABASE))
    try:
        ledger = Ledger(opened, items, dict(rules))
        write_rules(folder, rules)
    except Unavailable as problem:
        opened.close()
        raise UsageError(f"{folder}: the desk's database cannot be used ({problem})") from None
    except BaseException:
        opened.close()
        raise
    return ReviewDesk(opened, items, ledger, idle_s)


def export(folder: Path, out: Path, *, database: str = "") -> int:
    """Write every decision of a review as JSONL or Parquet; how many there are. Nothing of the
    desk changes, which may be running."""
    url = database or str(Path(folder) / "review" / DATABASE)
    if not database and not Path(url).is_file():
        raise UsageError(f"{url}: nobody has reviewed here yet; start groundfault review {folder}")
    opened = open_database(url)
    try:
        decisions = opened.call(lambda rows: list(all_decisions(rows)))
    except Unavailable as problem:
        raise UsageError(f"{url.partition('://')[0]}: it cannot be read ({problem})") from None
    finally:
        opened.close()
    write_decisions(out, decisions)
    return len(decisions)
