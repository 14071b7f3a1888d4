"""What is this file, and is it sound?

Readers stop at the first problem; an inspection goes on and reports all of them, with the first
few records of each kind. It reads laxly (NaN, ids of any type) so that it can say what is wrong
instead of stopping there. Results files are streamed. Nothing is ever unpickled or unpacked.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from groundfault.io.convert import format_of
from groundfault.io.foreign import open_file
from groundfault.io.inputs import Outline
from groundfault.io.inspection.annotations import inspect_object
from groundfault.io.inspection.benchmarks import inspect_benchmark
from groundfault.io.inspection.folders import (
    exam_files,
    inspect_benchmark_folder,
    inspect_exam,
    inspect_native_exam,
    inspect_scores,
)
from groundfault.io.inspection.lists import inspect_list
from groundfault.io.inspection.report import EXAMPLES, Draft, Finding, Report, unknown
from groundfault.registry import load

__all__ = ["Finding", "Report", "inspect"]

_MAGIC = {
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"\x1f\x8b": "gzip data: unpack it first, e.g. with gunzip",
    b"\xfd7zXZ": "xz data: unpack it first",
    b"\x89PNG": "a PNG picture; mask pictures belong to a HalluSegBench folder",
    b"\xff\xd8\xff": "a JPEG picture",
    b"\x80": "probably a Python pickle, which is never opened here as it can run any code: where "
    "you trust it, write its content as JSON",
    b"\x93NUMPY": "a NumPy array: encode its masks as COCO results",
    b"PAR1": "a Parquet table: give the folder that it is in",
    b"\x89HDF": "an HDF5 file",
}


def inspect(path: str | PathLike[str]) -> Report:
    """Look at a file or folder of any kind."""
    path = Path(path)
    if path.is_dir():
        return _inspect_directory(path)
    with open_file(path) as file:
        head = file.read(4096)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        report = inspect_list(path)
        named = report.format == "unknown" and path.name in exam_files()
        return inspect_native_exam(path) if named or report.format == "reactbench" else report
    if text.startswith(b"{"):
        ours = (_header("folder"), "summary.json")
        if path.name in ours and (path.parent / "cases.parquet").is_file():
            return _inspect_directory(path.parent)
        exam = load("benchmarks", "reactbench")
        if path.name == exam.HEADER and (path.parent / exam.SAMPLES).is_file():
            return inspect_exam(path.parent)
        return inspect_object(path)
    hint = next((hint for magic, hint in _MAGIC.items() if head.startswith(magic)), None)
    if not head:
        hint = "empty"
    return unknown(path, f"it is {hint}" if hint else "it holds no JSON list or object")


def _header(name: str) -> str:
    """The file that tells a folder of ours."""
    return str(load("benchmarks", name).HEADER)


def _inspect_directory(path: Path) -> Report:
    if (path / _header("folder")).is_file():
        return inspect_benchmark_folder(path)
    if (path / _header("reactbench")).is_file():
        return inspect_exam(path)
    if any((path / name).is_file() for name in exam_files()):
        return inspect_native_exam(path)
    named = format_of(Outline(path, "folder", frozenset(each.name for each in path.iterdir())))
    if named is not None:
        return inspect_benchmark(Draft(path, named))
    if (path / "summary.json").is_file():
        return inspect_scores(path)
    if (path / "results.json").is_file():
        return inspect(path / "results.json")
    names = sorted(entry.name for entry in path.iterdir())
    shown = ", ".join(names[:EXAMPLES]) + (" …" if len(names) > EXAMPLES else "")
    return unknown(path, f"a folder with {shown}" if names else "an empty folder")
