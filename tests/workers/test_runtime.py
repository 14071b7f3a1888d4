"""The runtime on its own: its encoder, and the oldest Python it promises."""

from __future__ import annotations

import ast
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from groundfault.interfaces import ModelOptions
from groundfault.io.masks import encode
from groundfault.models import worker
from groundfault.workers import runtime

FOLDER = Path(runtime.__file__).parent
OLDEST = (3, 8)
masks = arrays(
    np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.integers(0, 2)
)


@given(masks)
def test_both_encoders_write_what_coco_does(mask: np.ndarray) -> None:
    expected = encode(mask > 0)
    for form in (mask, mask > 0, mask.astype(float), mask.tolist(), np.asfortranarray(mask)):
        coded = runtime.encode_mask(form, *mask.shape)
        assert (tuple(coded["size"]), coded["counts"]) == (expected["size"], expected["counts"])


def test_tensors_of_any_type_are_encoded() -> None:
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[-1.0, 2.0], [0.0, 3.0]], dtype=torch.bfloat16, requires_grad=True)
    assert (
        runtime.encode_mask(logits, 2, 2)["counts"]
        == encode(np.array([[0, 1], [0, 1]]) > 0)["counts"]
    )


@pytest.mark.parametrize("mask", [[[1]], [[1, 1, 1], [1, 1, 1]], [[1, 1], [1]], np.ones((2, 3))])
def test_masks_of_another_size_are_refused(mask: object) -> None:
    with pytest.raises(ValueError, match="mask"):
        runtime.encode_mask(mask, 2, 2)


def test_a_picture_must_be_whole() -> None:
    with pytest.raises(ValueError, match="11 bytes"):
        runtime.Picture(2, 2, b"x" * 11)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_everything_here_is_written_for_the_oldest_python(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST)


def test_the_runtime_needs_the_standard_library_only() -> None:
    tree = ast.parse((FOLDER / "runtime.py").read_text(encoding="utf-8"))
    top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {
        name.partition(".")[0]
        for node in top
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    }
    assert imported <= set(sys.stdlib_module_names)


@functools.cache
def other_pythons() -> list[str]:
    """Interpreters of other versions on this machine, as named in the environment or by PATH or
    pyenv."""
    found = [shutil.which(f"python3.{minor}") for minor in range(8, 14)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found += [str(path) for path in sorted(pyenv.glob("3.*/bin/python3"))]
    usable = {}
    for python in found:
        if python is None:
            continue
        asked = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        version = asked.stdout.strip()
        if asked.returncode == 0 and tuple(map(int, version.split())) >= OLDEST:
            usable.setdefault(version, python)
    return list(usable.values())


@pytest.mark.parametrize("python", other_pythons())
def test_a_worker_in_another_python(
    python: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bright.py").write_text(
        "from groundfault.workers.runtime import Answer\n"
        "class Model:\n"
        "    def segment(self, picture, phrases):\n"
        "        print('to stdout')\n"
        "        rows = [[picture.rgb[3 * (y * picture.width + x)] // 128\n"
        "                 for x in range(picture.width)] for y in range(picture.height)]\n"
        "        return [Answer([rows], [0.5], text=phrase) for phrase in phrases]\n"
        "def load(options):\n"
        "    return Model()\n"
    )
    monkeypatch.setenv("GROUNDFAULT_WORKER_PYTHON", python)
    picture = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    with worker.load(str(tmp_path / "bright.py"), ModelOptions(timeout_s=120)) as model:
        (found,) = model.segment(picture, ["zebra"])
    assert found.masks == (encode(picture[:, :, 0] >= 128),)


@pytest.mark.parametrize("python", other_pythons())
def test_the_scripts_import_in_another_python_without_any_library(python: str) -> None:
    code = f"""
import importlib
__file__ = {str(FOLDER / "runtime.py")!r}
source = open(__file__, encoding="utf-8").read()
exec(compile(source.replace('__name__ == "__main__"', "False"), __file__, "exec"))
_mount()
for name in {sorted(worker.scripts())!r}:
    assert callable(importlib.import_module("groundfault.workers." + name).load), name
"""
    asked = subprocess.run(
        [python, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert asked.returncode == 0, asked.stderr
