"""Who may enter: people, roles, invitations and sessions.

An invitation is a long random token in a link; whoever opens it exchanges it for a session, another
random token that lives in a cookie. Neither is kept: what is stored are their SHA-256 digests.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Literal, Protocol

import msgspec

__all__ = ["ROLES", "Door", "Entry", "NoEntry", "OneKeyDoor", "Person", "Role", "digest", "token"]

Role = Literal["reviewer", "adjudicator", "owner"]
ROLES: tuple[Role, ...] = ("reviewer", "adjudicator", "owner")
"""Each may do what those before it may."""


class Person(msgspec.Struct, frozen=True):
    """Somebody who has entered."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether this person has a role, or one above it.

        >>> Person("Ada", "owner").may("adjudicator")
        True
        """
        return ROLES.index(self.role) >= ROLES.index(role)


class Entry(msgspec.Struct, frozen=True):
    """What an invitation was exchanged for."""

    person: Person
    session: str
    """The secret for the cookie."""


class NoEntry(Exception):
    """An invitation is not honoured, for a reason that its bearer may read."""

    def __init__(self, reason: str, *, wants_name: bool = False) -> None:
        super().__init__(reason)
        self.wants_name = wants_name
        """Whether it would be with another name: the invitation itself is good."""


class Door(Protocol):
    """Keeps sessions. Its methods are awaited: they may ask a database."""

    async def person(self, session: str) -> Person | None:
        """Who holds this session; None if nobody does."""

    async def enter(self, invitation: str, name: str) -> Entry:
        """Exchange an invitation for a session; raises NoEntry. `name` counts where the invitation
        is not in somebody's name already."""


def token() -> str:
    """A secret that cannot be guessed: 256 bits, in letters that links may hold."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is stored of a secret. Secrets are random, so that a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


class OneKeyDoor:
    """One invitation for the owner, in memory: nothing outlives the process."""

    def __init__(self, person: Person | None = None) -> None:
        self.owner = person or Person("you", "owner")
        self.invitation = token()
        self._sessions: set[str] = set()

    async def person(self, session: str) -> Person | None:
        return self.owner if digest(session) in self._sessions else None

    async def enter(self, invitation: str, name: str) -> Entry:
        if not secrets.compare_digest(digest(invitation), digest(self.invitation)):
            raise NoEntry("this invitation is not valid")
        session = token()
        self._sessions.add(digest(session))
        return Entry(self.owner, session)
