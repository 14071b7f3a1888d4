"""The door of a review: people, invitations and sessions in the database, secrets as digests."""

from __future__ import annotations

import time

from groundfault.web.doors import Entry, NoEntry, Person, Role, digest, token
from groundfault.web.review.database import Database, Rows

__all__ = ["DatabaseDoor"]

INVITATION_S = 30 * 86_400.0
SESSION_S = 90 * 86_400.0
KNOWN_S = 5.0
"""So long a session is taken as it was: pictures need not ask the database each."""
LONGEST_NAME = 60


class DatabaseDoor:
    """Lets people in."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._known: dict[str, tuple[float, Person | None]] = {}

    # ── the door ────────────────────────────────────────────────────────────────────────────────

    async def person(self, session: str) -> Person | None:
        hashed, now = digest(session), time.monotonic()
        when, found = self._known.get(hashed, (-KNOWN_S, None))
        if now - when < KNOWN_S:
            return found
        found = await self.database.run(lambda rows: _holder(rows, hashed))
        if len(self._known) > 10_000:
            self._known.clear()
        self._known[hashed] = (now, found)
        return found

    async def enter(self, invitation: str, name: str) -> Entry:
        return await self.database.run(lambda rows: _enter(rows, digest(invitation), name))

    # ── what owners do ──────────────────────────────────────────────────────────────────────────

    def invite(self, rows: Rows, role: Role, *, name: str = "", seats: int = 1) -> str:
        """A new invitation, in somebody's name or for several people; earlier ones in that name
        end. The token is told once."""
        secret = token()
        if name:
            _add_person(rows, name, role)
            rows("DELETE FROM invitation WHERE name=?", name)
        ends = time.time() + INVITATION_S
        rows("INSERT INTO invitation VALUES(?,?,?,?,?)", digest(secret), role, name, seats, ends)
        return secret

    def remove(self, rows: Rows, name: str) -> None:
        """End somebody's sessions and invitations; what they said stays."""
        rows("UPDATE person SET removed=1 WHERE name=?", name)
        rows("DELETE FROM session WHERE person=?", name)
        rows("DELETE FROM invitation WHERE name=?", name)
        self._known.clear()


def _holder(rows: Rows, hashed: str) -> Person | None:
    found = rows(
        "SELECT p.name, p.role FROM session s JOIN person p ON p.name=s.person "
        "WHERE s.hash=? AND p.removed=0 AND s.made>?",
        hashed,
        time.time() - SESSION_S,
    )
    return Person(*found[0]) if found else None


def _enter(rows: Rows, hashed: str, wanted: str) -> Entry:
    found = rows("SELECT role, name, seats, ends FROM invitation WHERE hash=?", hashed)
    if not found or found[0][3] < time.time():
        raise NoEntry("this invitation is not valid, or has ended")
    role, name, seats, _ = found[0]
    if not name:
        name = wanted
        if seats < 1:
            raise NoEntry("everybody who was invited with this link has entered already")
        _add_person(rows, name, role, is_new=True)
        rows("UPDATE invitation SET seats=seats-1 WHERE hash=?", hashed)
    [(role,)] = rows("SELECT role FROM person WHERE name=?", name)
    session = token()
    rows("INSERT INTO session VALUES(?,?,?)", digest(session), name, time.time())
    return Entry(Person(name, role), session)


def _add_person(rows: Rows, name: str, role: Role, *, is_new: bool = False) -> None:
    if not name:
        raise NoEntry("say your name", wants_name=True)
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise NoEntry(f"a name has {LONGEST_NAME} letters at most", wants_name=True)
    taken = rows("SELECT name FROM person WHERE folded=?", name.casefold())
    if taken and (is_new or taken != [(name,)]):
        raise NoEntry("somebody has this name already; take another one", wants_name=True)
    if taken:
        rows("UPDATE person SET removed=0, role=? WHERE name=?", role, name)
    else:
        folded = name.casefold()
        rows("INSERT INTO person VALUES(?,?,?,?,0)", name, folded, role, time.time())
