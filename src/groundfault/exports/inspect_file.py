"""A task file for Inspect AI that names its exam, for who does not want to pass a folder."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from groundfault import __version__
from groundfault.benchmarks import pope
from groundfault.io.store import new_folder
from groundfault.runner.exam_papers import Paper

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


def export_inspect(paper: Paper, out: str | PathLike[str]) -> Path:
    """Write the file into a folder that must not exist yet; the exam stays where it is."""
    is_pope = paper.name == pope.CARD.name
    name = "groundfault_pope.py" if is_pope else "groundfault_exam.py"
    text = (_HEAD + (_POPE if is_pope else _EXAM)).format(
        version=__version__, file=name, data=paper.place["data"], images=paper.place.get("images")
    )
    with new_folder(out) as temporary:
        (temporary / name).write_text(text, encoding="utf-8")
    return Path(out) / name
