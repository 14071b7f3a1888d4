"""Single answers out of many: a run's predictions are looked up by item, shard by shard."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundfault.errors import GroundfaultError
from groundfault.io.store import read_table
from groundfault.records import Prediction
from groundfault.reports.page.inputs import RunData
from groundfault.reports.page.sources import Sources, dumped
from groundfault.runs.recorder import journals, read_journal
from groundfault.runs.shards import prediction_of, shards

__all__ = ["Answers"]

KEPT_SHARDS = 3
"""Of each run, as tables: neighbours of a case are usually looked at next."""


class Answers:
    """The stored answers of one run. Where only a dump was scored, that is read once, when it is
    first asked for."""

    def __init__(self, run: RunData, sources: Sources) -> None:
        self.run, self.sources = run, sources
        self.problem = ""
        """Why there are none."""
        self._lock = threading.Lock()
        self._ids: list[tuple[Path, Any]] | None = None
        self._tables: OrderedDict[Path, Any] = OrderedDict()
        self._loose: dict[str, list[Prediction]] | None = None

    def to(self, item_id: str) -> list[Prediction]:
        """What was answered to an item: once, or once per mode."""
        with self._lock:
            try:
                return [*self._in_shards(item_id), *self._others().get(item_id, ())]
            except GroundfaultError as problem:
                self.problem = str(problem)
                return []

    def _in_shards(self, item_id: str) -> Iterator[Prediction]:
        import pyarrow.compute as pc

        if self._ids is None:
            self._ids = [
                (path, read_table(path, ["item_id"]).column("item_id"))
                for path in shards(self.run.folder)
            ]
        for path, ids in self._ids:
            places = pc.indices_nonzero(pc.equal(ids, item_id))
            if len(places):
                for row in self._table(path).take(places).to_pylist():
                    yield prediction_of(row)

    def _table(self, path: Path) -> Any:
        if path not in self._tables:
            self._tables[path] = read_table(path)
            while len(self._tables) > KEPT_SHARDS:
                self._tables.popitem(last=False)
        self._tables.move_to_end(path)
        return self._tables[path]

    def _others(self) -> dict[str, list[Prediction]]:
        """Answers that no shard holds: of a journal, or of the dump that was scored."""
        if self._loose is None:
            self._loose = {}
            for journal in journals(self.run.folder):
                for each in read_journal(journal):
                    self._loose.setdefault(each.item_id, []).append(each)
            if not self._loose and not self._ids:
                for each in dumped(self.run, self.sources.of(self.run)):
                    self._loose.setdefault(each.item_id, []).append(each)
        return self._loose
