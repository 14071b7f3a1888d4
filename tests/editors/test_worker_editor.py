"""Editors in a process of their own."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from groundfault.editors.contract import check_editor
from groundfault.editors.loading import EditorOptions, editor_identity, load_editor
from groundfault.editors.worker import WorkerEditor
from groundfault.errors import UsageError
from groundfault.interfaces import NotEdited

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need a POSIX system")
IMAGE = np.random.default_rng(0).integers(0, 250, (40, 60, 3), dtype=np.uint8)
REGION = np.zeros((40, 60), bool)
REGION[10:20, 5:30] = True
SCRIPT = """
    import numpy
    from groundfault.workers.runtime import Picture, Refused

    def load(options):
        return Mine()

    class Mine:
        model = "mine"

        def edit(self, picture, region, instruction):
            print("noise on stdout")
            pixels = picture.array()
            pixels[region.array()] = (255, 0, 0)
            if instruction == "refuse":
                return Refused("not this one")
            if instruction == "raise":
                raise RuntimeError("out of ideas")
            if instruction == "die":
                import os
                os._exit(3)
            if instruction == "larger":
                return numpy.repeat(numpy.repeat(pixels, 2, 0), 2, 1)
            if instruction == "pil":
                from PIL import Image
                found = Image.fromarray(pixels)
                found.paste((255, 0, 0), (0, 0), region.pil())
                return found
            if instruction == "bytes":
                return Picture(picture.height, picture.width, pixels.tobytes())
            if instruction == "floats":
                return pixels / 255
            if instruction == "nothing":
                return None
            return pixels
"""


@pytest.fixture
def editor(tmp_path: Path) -> WorkerEditor:
    script = tmp_path / "mine.py"
    script.write_text(textwrap.dedent(SCRIPT))
    found = load_editor(f"worker:{script}", EditorOptions(timeout_s=60))
    assert isinstance(found, WorkerEditor)
    found.worker.backoff_s = 0.01
    return found


@pytest.mark.parametrize("instruction", ["red", "pil", "bytes"])
def test_a_script_edits_inside_the_region(editor: WorkerEditor, instruction: str) -> None:
    found = editor.edit(IMAGE, REGION, instruction)
    editor.close()
    assert isinstance(found, np.ndarray)
    assert (found[REGION] == (255, 0, 0)).all()
    assert np.array_equal(found[~REGION], IMAGE[~REGION])


def test_one_process_edits_many_pictures_of_any_size(editor: WorkerEditor) -> None:
    for side in (8, 50, 20):
        image = np.full((side, side, 3), side, np.uint8)
        found = editor.edit(image, np.zeros((side, side), bool), "larger")
        assert isinstance(found, np.ndarray)
        assert found.shape == (2 * side, 2 * side, 3) and (found == side).all()
    check_editor(editor)
    editor.close()


@pytest.mark.parametrize("instruction", ["raise", "die", "floats", "nothing"])
def test_what_goes_wrong_is_a_failure_of_one_edit(editor: WorkerEditor, instruction: str) -> None:
    found = editor.edit(IMAGE, REGION, instruction)
    assert isinstance(found, NotEdited) and found.outcome == "failed"
    assert isinstance(editor.edit(IMAGE, REGION, "red"), np.ndarray)
    editor.close()


def test_a_script_may_refuse(editor: WorkerEditor) -> None:
    found = editor.edit(IMAGE, REGION, "refuse")
    editor.close()
    assert found == NotEdited(outcome="refused", reason="not this one")


def test_a_script_that_always_dies_is_given_up(editor: WorkerEditor) -> None:
    editor.worker.restarts = 1
    for _ in range(4):
        found = editor.edit(IMAGE, REGION, "die")
        assert isinstance(found, NotEdited) and found.outcome == "failed"
    assert "not started again" in editor.stopped_because
    editor.close()


def test_identities_follow_the_script(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("x = 1")
    first = editor_identity(f"worker:{script}", EditorOptions())
    script.write_text("x = 22")
    assert editor_identity(f"worker:{script}", EditorOptions()) != first
    with pytest.raises(UsageError, match="name the script"):
        load_editor("worker", EditorOptions())
    with pytest.raises(UsageError, match="no such file"):
        load_editor(f"worker:{tmp_path}/other.py", EditorOptions())
