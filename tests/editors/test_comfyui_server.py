"""A ComfyUI server as an editor, against a stand-in of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.editors.comfy_service import ComfyService

from groundfault.editors.comfyui import ComfyEditor
from groundfault.editors.loading import EditorOptions, editor_identity, load_editor
from groundfault.errors import DataError, UsageError
from groundfault.interfaces import NotEdited

pytest.importorskip("aiohttp")

IMAGE = np.random.default_rng(0).integers(0, 250, (48, 64, 3), dtype=np.uint8)
REGION = np.zeros((48, 64), bool)
REGION[10:20, 5:30] = True
WORKFLOW = {
    "1": {"class_type": "LoadImage", "inputs": {"image": "%image%"}},
    "2": {"class_type": "LoadImageMask", "inputs": {"image": "%mask%", "channel": "red"}},
    "3": {"class_type": "CLIPTextEncode", "inputs": {"text": "photo, %prompt%"}},
    "4": {"class_type": "KSampler", "inputs": {"seed": "%seed%", "positive": ["3", 0]}},
}


def workflow(folder: Path, content: Any = WORKFLOW) -> Path:
    file = folder / "workflow.json"
    file.write_text(json.dumps(content))
    return file


def editor_of(service: ComfyService, file: Path, **options: Any) -> ComfyEditor:
    found = load_editor(f"comfyui:{file}", EditorOptions(base_url=service.url, **options))
    assert isinstance(found, ComfyEditor)
    return found


def test_a_workflow_is_filled_in_and_its_picture_comes_back(tmp_path: Path) -> None:
    with ComfyService() as service:
        found = editor_of(service, workflow(tmp_path)).edit(IMAGE, REGION, "zebra\n%image% stripes")
        graph = service.prompts["id-0"]
        mask = service.files[graph["2"]["inputs"]["image"]]
    assert isinstance(found, np.ndarray)
    assert (found[REGION] == (255, 0, 0)).all()
    assert np.array_equal(found[~REGION], IMAGE[~REGION])
    assert np.array_equal(np.array(Image.open(io.BytesIO(mask))) == 255, REGION)
    assert graph["3"]["inputs"]["text"] == "photo, zebra %image% stripes"
    assert isinstance(graph["4"]["inputs"]["seed"], int)


@pytest.mark.parametrize("fault", ["node errors", "error", "no picture", "garbage"])
def test_faults_are_failures(tmp_path: Path, fault: str) -> None:
    with ComfyService(fault=fault, looks=0) as service:
        found = editor_of(service, workflow(tmp_path)).edit(IMAGE, REGION, "zebra")
    assert isinstance(found, NotEdited) and found.outcome == "failed" and found.reason


def test_a_workflow_that_does_not_end_is_left(tmp_path: Path) -> None:
    with ComfyService(looks=10**9) as service:
        editor = editor_of(service, workflow(tmp_path), timeout_s=0.3)
        found = editor.edit(IMAGE, REGION, "zebra")
    assert isinstance(found, NotEdited) and "did not end" in found.reason


def test_a_server_that_is_not_there_stops_everything(tmp_path: Path) -> None:
    with ComfyService() as service:
        editor = editor_of(service, workflow(tmp_path))
    found = editor.edit(IMAGE, REGION, "zebra")
    assert isinstance(found, NotEdited) and found.outcome == "failed"
    assert "start ComfyUI" in editor.stopped_because


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"nodes": [], "links": []}, "class_type"),
        ({"1": {"class_type": "LoadImage", "inputs": {"image": "cat.png"}}}, "%image%"),
        ([], "workflow"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        load_editor(f"comfyui:{workflow(tmp_path, content)}", EditorOptions())


def test_names_and_identities(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name the workflow"):
        load_editor("comfyui", EditorOptions())
    with pytest.raises(UsageError, match="holds a user"):
        load_editor(
            f"comfyui:{workflow(tmp_path)}", EditorOptions(base_url="http://me:secret@host")
        )
    first = editor_identity(f"comfyui:{workflow(tmp_path)}", EditorOptions())
    other = editor_identity(f"comfyui:{workflow(tmp_path, {'1': {}})}", EditorOptions())
    assert first != other
