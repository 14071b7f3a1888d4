"""Is everything here? Each line says what was found and, if wrong, what to do."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from groundfault import __version__
from groundfault.editors.contract import check_editor
from groundfault.interfaces import ModelOptions
from groundfault.registry import KINDS, load, plugins
from groundfault.reports.tables import Cell, Table

__all__ = ["health_table", "is_healthy"]

OPTIONAL = {"skia-python": "world"}
"""Library → extra that brings it."""
TRY_VISION = (
    "import torch; from torchvision.ops import nms; "
    "nms(torch.tensor([[0., 0., 1., 1.]]), torch.tensor([1.]), 0.5)"
)
NEEDED = ("msgspec", "numpy", "pillow", "pyarrow", "rich", "rlemasklib", "scipy", "typer")


def health_table() -> Table:
    """Python, libraries, mask arithmetic, memory."""
    rows: list[list[Cell | str]] = [
        ["groundfault", "ok", __version__],
        ["python", "ok" if sys.version_info >= (3, 11) else "wrong", platform.python_version()],
        *(_library(name) for name in NEEDED),
        *(_optional(name, extra) for name, extra in OPTIONAL.items()),
        ["mask arithmetic", *_mask_check()],
        *_vision(),
        *_plug_ins(),
        [
            "terminal",
            "ok",
            f"{'colour' if sys.stdout.isatty() else 'plain text'}, {sys.stdout.encoding}",
        ],
    ]
    return Table(["what", "state", "detail"], rows, title="groundfault doctor", left_columns=3)


def is_healthy(table: Table) -> bool:
    """Whether no line is wrong."""
    return all(str(row[1]) in ("ok", "optional") for row in table.rows)


def _library(name: str) -> list[Cell | str]:
    try:
        return [name, "ok", version(name)]
    except PackageNotFoundError:
        return [name, "missing", f"pip install {name}"]


def _optional(name: str, extra: str) -> list[Cell | str]:
    try:
        return [name, "ok", version(name)]
    except PackageNotFoundError:
        return [name, "optional", f"not installed: pip install 'groundfault[{extra}]'"]


def _vision() -> Iterator[list[Cell | str]]:
    """Whether torchvision's compiled half works with this torch, where both are installed: one of
    another version or built for other hardware installs without a word and fails on import."""
    try:
        versions = version("torch"), version("torchvision")
    except PackageNotFoundError:
        return
    tried = subprocess.run(  # apart: an import that fails halfway stays in this process
        [sys.executable, "-c", TRY_VISION], capture_output=True, text=True, errors="replace"
    )
    said = tried.stderr.strip().splitlines()
    yield ["torchvision", *vision_state(*versions, said[-1] if tried.returncode and said else "")]


def vision_state(torch: str, vision: str, problem: str) -> tuple[str, str]:
    """The state of a pair of versions, of which a trial said `problem`.

    >>> vision_state("2.4.1", "0.19.1+cpu", "")
    ('ok', '0.19.1+cpu with torch 2.4.1')
    >>> vision_state("2.4.1", "0.15.2", "RuntimeError: operator torchvision::nms does not exist")[0]
    'wrong'
    """
    pair = f"{vision} with torch {torch}"
    if not problem:
        return "ok", pair
    major, minor = (int(part) for part in torch.split(".")[:2])
    wanted = f"0.{minor + 15}" if major == 2 else ""  # 0.15 came with 2.0, and so on
    other = wanted and not vision.startswith(f"{wanted}.")
    remedy = (
        f"pip install 'torchvision=={wanted}.*'"
        if other
        else "the versions go together, so one is built for other hardware: install both from one "
        "index"
    )
    return "wrong", f"{pair}: {problem}; {remedy}"


def _plug_ins() -> Iterator[list[Cell | str]]:
    """What other packages add: each is loaded, and an editor does a small edit."""
    for kind in KINDS:
        for name, entry in sorted(plugins(kind).items()):
            what = f"{kind.removesuffix('s')} {name}"
            try:
                found = load(kind, name)
                if kind == "editors":
                    check_editor(found("", ModelOptions()), name)
                yield [what, "ok", entry.target]
            except Exception as problem:  # whatever another package may raise
                yield [what, "wrong", f"{entry.target}: {problem}"]


def _mask_check() -> tuple[str, str]:
    if importlib.util.find_spec("rlemasklib") is None:
        return "missing", "pip install rlemasklib"
    from groundfault.io.masks import iou_matrix, parse_mask

    left = parse_mask({"size": [4, 4], "counts": [0, 8, 8]}, 4, 4)
    right = parse_mask({"size": [4, 4], "counts": [4, 8, 4]}, 4, 4)
    found = float(iou_matrix([left], [right])[0, 0])
    return ("ok", "IoU of a known pair is right") if found == 1 / 3 else ("wrong", f"{found} ≠ 1/3")
