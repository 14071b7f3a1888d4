"""Where decisions are kept: SQLite in a file, or PostgreSQL by its URL. The same SQL for both.

One thread has the only connection. Requests that wait for it share one commit, each behind its own
savepoint: a disk that needs 5 ms to be sure still takes thousands of decisions per second, and
whatever a caller was told is on the disk. Two servers may use one database: every job takes the
writer's lock first.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from groundfault.errors import MissingExtra, UsageError

__all__ = ["Database", "Rows", "Unavailable", "open_database"]

T = TypeVar("T")
Row = tuple[Any, ...]
MOST_AT_ONCE = 64
"""So many jobs share a commit at most."""
LOCK = 7_301_994
"""PostgreSQL's writers of this desk wait for each other by this number."""
BUSY_S = 30.0


class Unavailable(Exception):
    """The database cannot be reached just now; what was asked for did not happen."""


class Rows(Protocol):
    """What jobs are given: SQL with ? for values."""

    def __call__(self, sql: str, *values: Any) -> list[Row]:
        """Run a statement; the rows that it gives, if any."""


class _Engine(Protocol):
    failures: tuple[type[Exception], ...]
    is_postgres: bool

    def connect(self) -> None: ...
    def rows(self, sql: str, *values: Any) -> list[Row]: ...
    def begin(self) -> None: ...
    def end(self, how: str) -> None: ...
    def close(self) -> None: ...


class _Sqlite:
    """A file, in WAL mode with every commit on the disk."""

    failures: tuple[type[Exception], ...] = (sqlite3.OperationalError,)
    is_postgres = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection: sqlite3.Connection | None = None

    def connect(self) -> None:
        if self.connection is not None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        made = sqlite3.connect(self.path, BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            made.execute("PRAGMA journal_mode=WAL")
            made.execute("PRAGMA synchronous=FULL")
            [(found,)] = made.execute("PRAGMA quick_check(1)").fetchall()
        except BaseException:
            made.close()
            raise
        if found != "ok":
            made.close()
            raise sqlite3.DatabaseError(found)
        self.connection = made

    def rows(self, sql: str, *values: Any) -> list[Row]:
        assert self.connection is not None
        try:
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as problem:
            if type(problem) is sqlite3.DatabaseError:  # the file was damaged meanwhile
                raise sqlite3.OperationalError(f"{self.path.name}: {problem}") from None
            raise

    def begin(self) -> None:
        self.rows("BEGIN IMMEDIATE")

    def end(self, how: str) -> None:
        self.rows(how)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class _Postgres:
    """A server. After a lost connection the next job makes a new one."""

    is_postgres = True

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("psycopg", "postgres") from None
        self.psycopg: Any = psycopg
        self.failures: tuple[type[Exception], ...] = (psycopg.OperationalError,)
        self.url = url
        self.connection: Any = None

    def connect(self) -> None:
        if self.connection is None or self.connection.closed:
            self.connection = self.psycopg.connect(self.url, autocommit=True, connect_timeout=10)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        cursor = self.connection.execute(sql.replace("?", "%s"), values or None)
        return cursor.fetchall() if cursor.description else []

    def begin(self) -> None:
        self.rows("BEGIN")
        self.rows(f"SELECT pg_advisory_xact_lock({LOCK})")

    def end(self, how: str) -> None:
        self.rows(how)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Database:
    """A thread with a connection; `call` and `run` give it jobs."""

    def __init__(self, engine: _Engine) -> None:
        self._engine = engine
        self._jobs: queue.SimpleQueue[tuple[Callable[[Rows], Any], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._work, daemon=True, name="desk database")
        self._thread.start()

    @property
    def is_postgres(self) -> bool:
        """Whether its dialect is PostgreSQL's."""
        return self._engine.is_postgres

    def call(self, job: Callable[[Rows], T]) -> T:
        """Do a job in a transaction and wait for its result."""
        return self._submit(job).result()

    def run(self, job: Callable[[Rows], T]) -> asyncio.Future[T]:
        """The same, from an event loop. Jobs are done in the order in which they were given, also
        if nobody has waited for them yet."""
        return asyncio.wrap_future(self._submit(job))

    def close(self) -> None:
        """Do what waits, then let go of the database. Twice is no more than once."""
        if not self._thread.is_alive():
            return
        self._jobs.put(None)
        self._thread.join()

    def _submit(self, job: Callable[[Rows], T]) -> Future[T]:
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future

    def _work(self) -> None:
        is_open = True
        while is_open:
            batch = []
            for job in self._waiting():
                if job is None:
                    is_open = False
                    break
                batch.append(job)
            if batch:
                self._do(batch)
        self._engine.close()

    def _waiting(self) -> Iterator[tuple[Callable[[Rows], Any], Future[Any]] | None]:
        yield self._jobs.get()
        for _ in range(MOST_AT_ONCE - 1):
            try:
                yield self._jobs.get_nowait()
            except queue.Empty:
                return

    def _do(self, batch: list[tuple[Callable[[Rows], Any], Future[Any]]]) -> None:
        """Jobs in one transaction; nobody hears of a result before it is on the disk."""
        engine, done = self._engine, list[tuple[Future[Any], Any, BaseException | None]]()
        try:
            engine.connect()
            engine.begin()
            for job, future in batch:
                done.append((future, *self._attempt(job)))
            engine.end("COMMIT")
        except Exception as problem:
            with contextlib.suppress(Exception):
                engine.end("ROLLBACK")
            if isinstance(problem, engine.failures):
                problem = Unavailable(str(problem).splitlines()[0] if str(problem) else "")
            for _, future in batch:
                future.set_exception(problem)
            return
        for future, result, failure in done:
            if failure is not None:
                future.set_exception(failure)
            else:
                future.set_result(result)

    def _attempt(self, job: Callable[[Rows], Any]) -> tuple[Any, BaseException | None]:
        engine = self._engine
        engine.rows("SAVEPOINT one")
        try:
            result = job(engine.rows)
        except engine.failures:
            raise
        except Exception as problem:
            engine.rows("ROLLBACK TO SAVEPOINT one")
            engine.rows("RELEASE SAVEPOINT one")
            return None, problem
        engine.rows("RELEASE SAVEPOINT one")
        return result, None


def open_database(url: str) -> Database:
    """The database at sqlite:///PATH, a plain path, or postgresql://…"""
    scheme = urlsplit(url).scheme if "://" in url else ""
    if scheme in ("postgresql", "postgres"):
        engine: _Engine = _Postgres(url)
    elif scheme in ("", "sqlite"):
        engine = _Sqlite(Path(url.removeprefix("sqlite:///")))
    else:
        raise UsageError(f"--database {scheme}://…: give sqlite:///PATH or postgresql://…")
    database = Database(engine)
    try:
        database.call(lambda rows: rows("SELECT 1"))
    except (Unavailable, OSError, sqlite3.Error) as problem:
        database.close()
        said = f"--database: it cannot be opened ({_without_secrets(problem)})"
        if type(problem) is sqlite3.DatabaseError:
            path = url.removeprefix("sqlite:///")
            said = f"{path}: is damaged ({problem}); put back a copy of it, or what was exported"
        raise UsageError(said) from None
    return database


def _without_secrets(problem: Exception) -> str:
    """What a driver says, without what may stand in a URL."""
    words = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
    return " ".join(word for word in words.split() if "://" not in word and "password=" not in word)
