"""Pipelines of diffusers as editors, with tiny random weights: real code, no meaning."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.editors import tiny_pipelines
from tests.models.tiny.torchvision_cpu import make_importable

from groundfault.editors.diffusers_edit import DiffusersEditor
from groundfault.editors.loading import EditorOptions, editor_identity, load_editor
from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import NotEdited, Sized

if any(importlib.util.find_spec(name) is None for name in ("torch", "torchvision", "diffusers")):
    pytest.skip("the extra 'diffusers' brings them", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")
"""Theirs: diffusers warns of what it will change."""
IMAGE = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
REGION = np.zeros((64, 64), bool)
REGION[16:48, 16:48] = True
QUICK = EditorOptions(settings={"steps": 2}, device="cpu")


@pytest.fixture(scope="module", autouse=True)
def _torchvision() -> None:
    import torch

    torch.set_num_threads(1)
    make_importable()


@pytest.fixture(scope="module")
def inpainting(tmp_path_factory: pytest.TempPathFactory, _torchvision: None) -> Path:
    folder = tmp_path_factory.mktemp("pipelines") / "inpainting"
    tiny_pipelines.inpainting(folder)
    return folder


def editor_of(folder: Path, options: EditorOptions = QUICK) -> DiffusersEditor:
    found = load_editor(f"diffusers:{folder}", options)
    assert isinstance(found, DiffusersEditor) and isinstance(found, Sized)
    return found


def test_an_inpainting_pipeline_gets_white_where_it_may_draw(
    inpainting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = editor_of(inpainting)
    said: dict[str, Any] = {}
    draw = type(editor.pipeline).__call__

    def listening(self: Any, **arguments: Any) -> Any:
        said.update(arguments)
        return draw(self, **arguments)

    listening.__signature__ = __import__("inspect").signature(draw)  # type: ignore[attr-defined]
    monkeypatch.setattr(type(editor.pipeline), "__call__", listening)
    found = editor.edit(IMAGE, REGION, "zebra stripes")
    assert isinstance(found, np.ndarray)
    assert found.shape == IMAGE.shape and found.dtype == np.uint8
    assert np.array_equal(np.array(said["mask_image"]) == 255, REGION)
    assert np.array_equal(np.array(said["image"]), IMAGE)
    assert said["strength"] == 1.0 and said["num_inference_steps"] == 2
    again = editor.edit(IMAGE, REGION, "zebra stripes")
    assert np.array_equal(found, again)
    assert not np.array_equal(found, editor.edit(IMAGE, REGION, "brick wall"))


def test_what_the_checker_blanks_out_is_refused(
    inpainting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = editor_of(inpainting)

    class Blanked:
        nsfw_content_detected = (True,)
        images = ()

    monkeypatch.setattr(type(editor.pipeline), "__call__", lambda self, **said: Blanked())
    found = editor.edit(IMAGE, REGION, "x")
    assert isinstance(found, NotEdited) and found.outcome == "refused"


def test_an_editing_pipeline_gets_the_picture_and_the_words(tmp_path: Path) -> None:
    tiny_pipelines.editing(tmp_path / "kontext")
    editor = editor_of(tmp_path / "kontext")
    found = editor.edit(IMAGE[:32, :32], REGION[:32, :32], "make it marble")
    assert isinstance(found, np.ndarray) and found.shape == (32, 32, 3)


def test_what_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name the checkpoint"):
        load_editor("diffusers", QUICK)
    with pytest.raises(UsageError, match=r"model_index\.json"):
        load_editor(f"diffusers:{tmp_path}", QUICK)
    (tmp_path / "model_index.json").write_text('{"_class_name": "NoSuchPipeline"}')
    with pytest.raises(GroundfaultError, match="diffusers"):
        load_editor(f"diffusers:{tmp_path}", QUICK)
    with pytest.raises(UsageError, match="no setting"):
        load_editor(f"diffusers:{tmp_path}", EditorOptions(settings={"speed": 2}))


def test_identities_follow_the_files(inpainting: Path, tmp_path: Path) -> None:
    first = editor_identity(f"diffusers:{inpainting}", QUICK)
    assert first["files"] and first == editor_identity(f"diffusers:{inpainting}", QUICK)
    assert editor_identity("diffusers:some/name", QUICK)["files"] == ""
