"""A plug-in that a test writes, changes and writes again, as its author would."""

from __future__ import annotations

import importlib
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

__all__ = ["PlugIn"]

HEAD = """
import numpy as np
from groundfault import Outcome, Prediction, Reply, as_prediction
from groundfault.io.masks import encode

def square(image):
    mask = np.zeros(image.shape[:2], bool)
    mask[5:15, 4:16] = True
    return mask
"""


class PlugIn:
    """A distribution with the model `mine`, importable until the test ends."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.name = folder, "test_plug_in"
        folder.mkdir()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.syspath_prepend(str(folder))

    def write(self, code: str, *, version: str = "1.0", **modules: str) -> None:
        """Write the distribution anew: `code` is its model, `modules` are others of its package."""
        for old in self.folder.iterdir():
            shutil.rmtree(old)
        package = self.folder / self.name
        package.mkdir()
        (package / "__init__.py").touch()
        for name, content in {"model": HEAD + textwrap.dedent(code), **modules}.items():
            (package / f"{name}.py").write_text(content)
        described = self.folder / f"{self.name}-{version}.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Name: {self.name}\nVersion: {version}\n")
        points = f"[groundfault.models]\nmine = {self.name}.model:load\n"
        (described / "entry_points.txt").write_text(points)
        self.forget()

    def answer(self, expression: str, **more: str) -> None:
        """Write a segmenter that gives one expression of `image` and `phrase` for every phrase."""
        self.write(
            f"""
            class Model:
                def segment(self, image, phrases):
                    return [{expression} for phrase in phrases]

            def load(argument, options):
                return Model()
            """,
            **more,
        )

    def forget(self) -> None:
        """As in a new process: nothing of it was imported yet."""
        for module in [m for m in sys.modules if m.partition(".")[0] == self.name]:
            del sys.modules[module]
        importlib.invalidate_caches()
