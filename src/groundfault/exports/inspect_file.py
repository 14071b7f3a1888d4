"""A task file for Inspect AI that names its exam, for who does not want to pass a folder."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from groundfault import __version__
from groundfault.io.store import new_folder
from groundfault.records import Benchmark

__all__ = ["export_inspect"]

_HEAD = '''"""Written by groundfault {version}: inspect eval {file} --model …"""

from inspect_ai import Task, task

from groundfault.exports import inspect_ai as groundfault

'''
_EXAM = """
@task
def groundfault_exam(mode: str = "std", judge: str = "rule") -> Task:
    return groundfault.exam({data!r}, mode=mode, judge=judge)
"""
_POPE = """
@task
def groundfault_pope(mode: str = "std") -> Task:
    return groundfault.pope({data!r}, {images!r}, mode=mode)
"""


def export_inspect(
    benchmark: Benchmark, data: str | PathLike[str], out: str | PathLike[str]
) -> Path:
    """Write the file into a folder that must not exist yet; the exam stays where it is."""
    yes_no = benchmark.card.protocol == "yes-no"
    name = "groundfault_pope.py" if yes_no else "groundfault_exam.py"
    text = (_HEAD + (_POPE if yes_no else _EXAM)).format(
        version=__version__,
        file=name,
        data=str(Path(data).resolve()),
        images=str(Path(benchmark.images).resolve()),
    )
    with new_folder(out) as temporary:
        (temporary / name).write_text(text, encoding="utf-8")
    return Path(out) / name
