"""Every command on mutated examples of every format: no traceback, no hang, no flood of memory, and
no other answer from broken files without a word.

    python -m tests.fuzz --each 200 --seed 1        a table of command × format, and what went wrong
    python -m tests.fuzz --only explore build/decided    of one command, or of one of its formats
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.examples import CELLS, Cell, make_examples
from tests.fuzz.mutations import mutate, restore

HANG_S = 20.0
"""Of CPU: the machine may be busy with other things."""
WAIT_S = 120.0
"""For a command that does nothing at all."""
MOST_MB = 2048.0
TOLD = 1000
"""After so many inputs each the number is told."""
TRACEBACK = "Traceback (most recent call last)"


class Trouble(NamedTuple):
    """An input that was not held."""

    cell: Cell
    seed: str
    file: str
    what: str
    detail: str


class Worker:
    """A process that runs commands; one that hangs or has grown is replaced."""

    def __init__(self) -> None:
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
            env=os.environ | {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "HF_HUB_OFFLINE": "1"},
        )

    def run(self, words: list[str]) -> dict[str, Any]:
        """How a command ended; "hang" if it did not."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        alarm = threading.Timer(WAIT_S, self.process.kill)
        alarm.start()
        line = self.process.stdout.readline()
        alarm.cancel()
        if not line:
            self.close()
            code = self.process.returncode
            self.process = self._start()
            return {
                "code": code,
                "out": "",
                "err": "",
                "traceback": "",
                "seconds": WAIT_S,
                "peak_mb": 0.0,
                "died": True,
            }
        ended: dict[str, Any] = json.loads(line)
        if ended["peak_mb"] > MOST_MB / 2:
            self.close()
            self.process = self._start()
        return ended

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()


class Fuzzer:
    """Examples, clean answers, counts and troubles."""

    def __init__(self, folder: Path, seed: int, only: Collection[str] = ()) -> None:
        self.folder, self.seed = folder, seed
        self.cells = [cell for cell in CELLS if not only or _names(cell) & {*only}]
        self.worker = Worker()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.troubles: list[Trouble] = []
        self.sound, self.scratch = folder / "sound", folder / "scratch"
        self.clean: dict[Cell, str] = {}

    def prepare(self) -> None:
        """Make the examples, and note what the commands say of them."""
        self.sound.mkdir()
        make_examples(self.sound, self._make)
        self.clean = {cell: self._clean(cell) for cell in self.cells}

    def _make(self, *words: object) -> None:
        ended = self.worker.run([str(word) for word in words])
        if ended["code"] != 0:
            raise SystemExit(f"the example cannot be made: {words}\n{ended}")

    def _restore(self, cell: Cell) -> Path:
        """Make everything sound that a cell's command reads; the folder of its format."""
        place = cell.format if cell.format != "dump" else "cafe"
        beside = re.findall(r"\{f\}/\.\./([\w-]+)", " ".join(cell.words))
        for name in {place, *beside}:
            restore(self.sound / name, self.scratch / name)
        return self.scratch / place

    def _clean(self, cell: Cell) -> str:
        self._restore(cell)
        ended = self._run(cell)
        if ended["code"] != 0 and cell.sound:
            raise SystemExit(f"the clean example is not held: {cell}\n{ended}")
        return self._answer(ended)

    def _run(self, cell: Cell) -> dict[str, Any]:
        out = self.folder / "out"
        for each in self.folder.glob("out*"):
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        place = self.scratch / (cell.format if cell.format != "dump" else "cafe")
        words = [word.format(f=place, out=out) for word in cell.words]
        return self.worker.run(words)

    def _answer(self, ended: dict[str, Any]) -> str:
        """What a command printed, without times, places and the hashes of what it read."""
        told = [line for line in ended["out"].splitlines() if '"event":"progress"' not in line]
        text = re.sub(r'"(seconds|stamp|elapsed_s|cpu_s)": ?("?)[^,}\n]*', "", "\n".join(told))
        text = re.sub(r'"(updated)": ?[\d.]+', "", text)
        return re.sub(r"\b[0-9a-f]{64}\b", "", text).replace(str(self.folder), "")

    def one(self, cell: Cell, number: int) -> None:
        """Mutate one file of a cell's format and run its command."""
        seed = f"{self.seed}/{cell.command}/{cell.format}/{number}"
        rng = random.Random(seed)
        place = self._restore(cell)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        weights = [0.2 if path.suffix in (".png", ".jpg", ".svg") else 1.0 for path in files]
        (hit,) = rng.choices(files, weights)
        kind = mutate(hit, rng)
        ended = self._run(cell)
        self.counts[cell.command, cell.format] += 1
        self.refused[cell.command, cell.format] += ended["code"] == 2
        what = self._trouble(cell, kind, ended)
        if what:
            detail = ended["traceback"].strip().splitlines()[-1:] or [ended["err"][-300:]]
            where = re.findall(r'groundfault/(\S+\.py)", line (\d+)', ended["traceback"])[-1:]
            name = str(hit.relative_to(self.scratch))
            self.troubles.append(Trouble(cell, seed, name, what, f"{where} {detail[0]}"))
            print(*self.troubles[-1][1:], sep=": ", file=sys.stderr, flush=True)
        if not self.counts.total() % TOLD:
            print(f"{self.counts.total()} inputs", file=sys.stderr, flush=True)

    def _trouble(self, cell: Cell, kind: str, ended: dict[str, Any]) -> str:
        if ended.get("died"):
            return "hang or death"
        if ended["traceback"] or TRACEBACK in ended["err"]:
            return "traceback"
        if ended["seconds"] > HANG_S:
            return f"{ended['seconds']:.0f} s"
        if ended["peak_mb"] > MOST_MB:
            return f"{ended['peak_mb']:.0f} MB"
        if ended["code"] not in (0, 1, 2):
            return f"exit {ended['code']}"
        if ended["code"] == 2 and not ended["err"] and not ended["out"]:
            return "refused without a word"
        told = ended["err"].strip() or '"severity"' in ended["out"]
        silent = ended["code"] == 0 and not told
        if kind == "broken" and silent and self._answer(ended) != self.clean[cell]:
            return "another answer without a word"
        return ""

    def table(self) -> Iterator[str]:
        """Counts per command × format, refused in brackets."""
        commands = list(dict.fromkeys(cell.command for cell in self.cells))
        formats = list(dict.fromkeys(cell.format for cell in self.cells))
        yield f"{'':12}" + "".join(f"{name:>13}" for name in commands)
        for name in formats:
            cells = [
                f"{self.counts[c, name]} ({self.refused[c, name]})" if self.counts[c, name] else ""
                for c in commands
            ]
            yield f"{name:12}" + "".join(f"{text:>13}" for text in cells)


def _names(cell: Cell) -> set[str]:
    """What a cell may be called on the command line."""
    return {cell.command, f"{cell.command}/{cell.format}"}


def fuzz(
    *, each: int, seconds: float, seed: int, folder: Path, only: Collection[str] = ()
) -> Fuzzer:
    """Go round all cells until each has its number or the time is up."""
    fuzzer = Fuzzer(folder, seed, only)
    until = time.monotonic() + seconds
    try:
        fuzzer.prepare()
        for number in range(each):
            for cell in fuzzer.cells:
                if number and time.monotonic() > until:  # once round in any case
                    return fuzzer
                fuzzer.one(cell, number)
    finally:
        fuzzer.worker.close()
    return fuzzer


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--each", type=int, default=200, help="Inputs per command × format.")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=(), help="Commands, or command/format.")
    given = parser.parse_args()
    options = {"each": given.each, "seconds": given.seconds, "seed": given.seed}
    with tempfile.TemporaryDirectory(prefix="groundfault-fuzz-") as name:
        fuzzer = fuzz(**options, only=given.only, folder=Path(name))
    print("\n".join(fuzzer.table()))
    print(
        f"{fuzzer.counts.total()} inputs, {fuzzer.refused.total()} refused, "
        f"{len(fuzzer.troubles)} not held"
    )
    for trouble in fuzzer.troubles:
        print(f"{trouble.what}: {trouble.seed}: {trouble.file}: {trouble.detail}")
    sys.exit(1 if fuzzer.troubles else 0)


if __name__ == "__main__":
    main()
