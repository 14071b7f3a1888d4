"""The record of decisions: what was said stays said.

Rows of `decision` and `undo` are only ever added; the database itself refuses to change or remove
them. `task` and `assignment` are working tables: what follows from the decisions, and who looks at
what just now.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from groundfault.building.review import Decision, Settled, settle
from groundfault.building.review_rules import ReviewProtocol
from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import decode_json
from groundfault.web.review.database import Database, Rows
from groundfault.web.review.items import Items

__all__ = ["Ledger", "Stored", "all_decisions", "timestamp"]

VERSION = "1"
TABLES = """
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS person(name TEXT PRIMARY KEY, folded TEXT UNIQUE NOT NULL,
  role TEXT NOT NULL, joined DOUBLE PRECISION NOT NULL, removed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS invitation(hash TEXT PRIMARY KEY, role TEXT NOT NULL,
  name TEXT NOT NULL, seats INTEGER NOT NULL, ends DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS session(hash TEXT PRIMARY KEY, person TEXT NOT NULL,
  made DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS decision(id {serial}, key TEXT UNIQUE NOT NULL, item TEXT NOT NULL,
  stage TEXT NOT NULL, person TEXT NOT NULL, verdict TEXT NOT NULL, seconds DOUBLE PRECISION
  NOT NULL, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS undo(decision BIGINT PRIMARY KEY, person TEXT NOT NULL,
  time TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS task(item TEXT PRIMARY KEY, place INTEGER NOT NULL,
  digest TEXT NOT NULL, stage TEXT NOT NULL, state TEXT NOT NULL, wanted INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS assignment(item TEXT NOT NULL, stage TEXT NOT NULL,
  person TEXT NOT NULL, state TEXT NOT NULL, given DOUBLE PRECISION NOT NULL,
  seen DOUBLE PRECISION NOT NULL, PRIMARY KEY(item, stage, person));
CREATE INDEX IF NOT EXISTS task_wanted ON task(state, wanted, place);
CREATE INDEX IF NOT EXISTS decision_item ON decision(item);
CREATE INDEX IF NOT EXISTS decision_person ON decision(person, id);
CREATE INDEX IF NOT EXISTS assignment_person ON assignment(person, state, given);
CREATE INDEX IF NOT EXISTS assignment_open ON assignment(state, seen)
"""
SQLITE_GUARDS = [
    f"CREATE TRIGGER IF NOT EXISTS {table}_{what} BEFORE {what} ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END"
    for table in ("decision", "undo")
    for what in ("UPDATE", "DELETE")
]
POSTGRES_GUARDS = [
    "CREATE OR REPLACE FUNCTION desk_keep() RETURNS trigger LANGUAGE plpgsql AS "
    "$$BEGIN RAISE EXCEPTION 'decisions are never changed'; END$$",
    *(
        f"CREATE OR REPLACE TRIGGER {table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION desk_keep()"
        for table in ("decision", "undo")
    ),
]
TAKEN = "SELECT count(*) FROM assignment WHERE item=? AND stage=? AND state IN ('open','decided')"
SKIPPED = "SELECT count(*) FROM assignment WHERE item=? AND stage=? AND state='skipped'"
AT_ONCE = 100
"""So many tasks are written with one statement."""
SKIPS = 3
"""What so many people skip waits for an adjudicator."""


class Stored(msgspec.Struct, frozen=True):
    """A decision with its row."""

    id: int
    key: str
    decision: Decision


class Ledger:
    """Decisions about some items, by their protocols."""

    def __init__(self, database: Database, items: Items, protocols: dict[str, ReviewProtocol]):
        self.database, self.items, self.protocols = database, items, protocols
        database.call(self._prepare)

    def protocol(self, item_id: str) -> ReviewProtocol:
        """How an item is reviewed."""
        return self.protocols[self.items[item_id].protocol]

    # ── beginning ───────────────────────────────────────────────────────────────────────────────

    def _prepare(self, rows: Rows) -> None:
        postgres = self.database.is_postgres
        serial = "INTEGER PRIMARY KEY AUTOINCREMENT"
        if postgres:
            serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        for statement in TABLES.format(serial=serial).split(";"):
            rows(statement)
        for guard in POSTGRES_GUARDS if postgres else SQLITE_GUARDS:
            rows(guard)
        rows("INSERT INTO meta VALUES('version', ?) ON CONFLICT DO NOTHING", VERSION)
        [(version,)] = rows("SELECT value FROM meta WHERE name='version'")
        if version != VERSION:
            raise UsageError(f"this database is of version {version}, not {VERSION}; export it")
        self._match_items(rows)

    def _match_items(self, rows: Rows) -> None:
        """Take up new items; refuse what was decided about other content. How many opinions are
        asked for may have changed since the last start: what follows is worked out again."""
        stored: dict[str, str] = dict(rows("SELECT item, digest FROM task"))
        if stored and not any(item in stored for item in self.items):
            raise UsageError(
                "this database holds decisions about other items; give another --database"
            )
        changed = [i for i in self.items if stored.get(i) not in (None, self.items[i].digest)]
        if changed:
            raise UsageError(
                f"{len(changed)} items were changed after their review began ({changed[0]} …); "
                "give changed candidates new ids, or review into another --database"
            )
        rules = msgspec.json.encode(self.protocols).decode()
        if rows("SELECT value FROM meta WHERE name='rules'") != [(rules,)]:
            rows("DELETE FROM meta WHERE name='rules'")
            rows("INSERT INTO meta VALUES('rules', ?)", rules)
            rows("DELETE FROM task")
            stored = {}
        self._add_tasks(rows, [item for item in self.items if item not in stored])

    def _add_tasks(self, rows: Rows, items: list[str]) -> None:
        decided = {item for (item,) in rows("SELECT DISTINCT item FROM decision")}
        for start in range(0, len(items), AT_ONCE):
            tasks = [
                (item, known.place, known.digest, *self._task(rows, item, item in decided))
                for item in items[start : start + AT_ONCE]
                for known in [self.items[item]]
            ]
            marks = ",".join(["(?,?,?,?,?,?)"] * len(tasks))
            rows(f"INSERT INTO task VALUES{marks}", *(value for task in tasks for value in task))

    # ── what follows ────────────────────────────────────────────────────────────────────────────

    def about(self, rows: Rows, item: str) -> list[Decision]:
        """Every decision about an item, in order."""
        found = rows(
            "SELECT d.record, u.decision FROM decision d LEFT JOIN undo u ON u.decision=d.id "
            "WHERE d.item=? ORDER BY d.id",
            item,
        )
        return [_decoded(record, undone is not None) for record, undone in found]

    def settled(self, rows: Rows, item: str) -> Settled:
        """How an item stands."""
        return self._settled(item, self.about(rows, item))

    def _settled(self, item: str, decisions: list[Decision]) -> Settled:
        return settle(self.items.record(item), decisions, self.protocol(item))

    def refresh(self, rows: Rows, item: str) -> None:
        """Bring an item's task up to date with its decisions."""
        task = self._task(rows, item, True)
        rows("UPDATE task SET stage=?, state=?, wanted=? WHERE item=?", *task, item)

    def _task(self, rows: Rows, item: str, is_decided: bool) -> tuple[str, str, int]:
        """Stage, state, and how many more people are wanted for it."""
        known = self.items[item]
        if known.gold is not None:
            return "", "gold", 0
        settled = self.settled(rows, item) if is_decided else self._settled(item, [])
        if settled.state != "open":
            return settled.stage, settled.state, 0
        [(taken,)] = rows(TAKEN, item, settled.stage) if is_decided else [(0,)]
        [(skipped,)] = rows(SKIPPED, item, settled.stage) if is_decided else [(0,)]
        if skipped >= SKIPS:
            return settled.stage, "split", 0
        asked, _ = self.protocol(item).stage(settled.stage).asked(known.kind)
        return settled.stage, "open", max(asked - taken, 0)

    # ── writing and reading ─────────────────────────────────────────────────────────────────────

    def find(self, rows: Rows, key: str) -> Stored | None:
        """The decision with this key of its sender."""
        found = rows(
            "SELECT d.id, d.key, d.record, u.decision FROM decision d "
            "LEFT JOIN undo u ON u.decision=d.id WHERE d.key=?",
            key,
        )
        for id_, key_, record, undone in found:
            return Stored(id_, key_, _decoded(record, undone is not None))
        return None

    def last_of(self, rows: Rows, person: str, most: int = 1) -> list[Stored]:
        """Somebody's last decisions that stand, the newest first."""
        found = rows(
            "SELECT d.id, d.key, d.record FROM decision d LEFT JOIN undo u ON u.decision=d.id "
            "WHERE d.person=? AND u.decision IS NULL ORDER BY d.id DESC LIMIT ?",
            person,
            most,
        )
        return [Stored(id_, key, _decoded(record, False)) for id_, key, record in found]

    def add(self, rows: Rows, key: str, decision: Decision) -> None:
        """Write a decision down."""
        rows(
            "INSERT INTO decision(key, item, stage, person, verdict, seconds, record) "
            "VALUES(?,?,?,?,?,?,?)",
            key,
            decision.item_id,
            decision.stage,
            decision.reviewer,
            decision.verdict,
            decision.seconds,
            msgspec.json.encode(decision).decode(),
        )

    def take_back(self, rows: Rows, stored: Stored) -> None:
        """Write down that a decision was taken back."""
        rows("INSERT INTO undo VALUES(?,?,?)", stored.id, stored.decision.reviewer, timestamp())


def timestamp() -> str:
    """Now, ISO, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def all_decisions(rows: Rows) -> Iterator[Decision]:
    """Every decision in order, those marked that were taken back."""
    for record, undone in rows(
        "SELECT d.record, u.decision FROM decision d LEFT JOIN undo u ON u.decision=d.id "
        "ORDER BY d.id"
    ):
        yield _decoded(record, undone is not None)


def _decoded(record: str, undone: bool) -> Decision:
    try:
        decision = decode_json(record, Decision)
    except msgspec.MsgspecError as problem:
        remedy = "put back a copy of the database, or what was exported"
        said = f"a decision is damaged ({problem})"
        raise DataError("the desk's database", said, remedy=remedy) from None
    return msgspec.structs.replace(decision, undone=True) if undone else decision
