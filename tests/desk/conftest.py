"""Databases for the desk's tests: SQLite, and a real PostgreSQL where Debian's is installed; a
browser."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.desk.parts import OPEN, cut_off, open_browser
from tests.desk.postgres import BINARIES, postgres_server


@pytest.fixture(autouse=True)
def _close_connections() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server with a role of its own, without the name of a database."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed: the extra 'postgres' brings it")
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgres_server("fsync=off") as url:  # the desk is killed in tests, the server is not
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database: of PostgreSQL's, a schema, which costs less than a database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/desk.sqlite"
    url: str = request.getfixturevalue("postgres")
    import psycopg

    name = f"d{os.urandom(6).hex()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE SCHEMA {name}")
    return f"{url}&options=-csearch_path%3D{name}"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of the review."""
    with open_browser() as driver:
        yield driver


@pytest.fixture
def no_complaints(browser: Any) -> Iterator[None]:
    """Nothing is refused by the policy, and no script fails."""
    yield
    cut_off(browser, False)
    said = [line["message"] for line in browser.get_log("browser")]
    browser.delete_all_cookies()
    ours = [line for line in said if "Content Security Policy" in line or "Uncaught" in line]
    assert ours == []
