"""Weights from folders and from a hub of ours on the loopback, its faults included."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.models.conftest import picture
from tests.models.tiny.hub import COMMIT, Hub, running_hub

from groundfault.errors import GroundfaultError, MissingExtra, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.models import checkpoints, clipseg, placement

pytestmark = pytest.mark.xdist_group("transformers")

CPU = ModelOptions(device="cpu")


@pytest.fixture
def hub(transformers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with an empty cache of its own."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running_hub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def served(hub: Hub, checkpoint_folder: Any, tmp_path: Path) -> Path:
    """A tiny CLIPSeg on the hub, beside files that nobody needs."""
    folder = tmp_path / "served"
    shutil.copytree(checkpoint_folder("clipseg"), folder)
    (folder / "pytorch_model.bin").write_bytes(b"the same weights again")
    (folder / "original.pt").write_bytes(b"the authors' format")
    hub.checkpoints["own/clipseg"] = folder
    return folder


def test_hub_and_folder_are_the_same_model(served: Path, checkpoint_folder: Any) -> None:
    loaded = clipseg.load("own/clipseg", CPU)
    local = clipseg.load(str(checkpoint_folder("clipseg")), CPU)
    image = picture(40, 30)
    assert loaded.segment(image, ["a dog"]) == local.segment(image, ["a dog"])
    assert loaded.checkpoints == (f"own/clipseg@{COMMIT}",)
    assert local.checkpoints[0].startswith(f"{checkpoint_folder('clipseg')}@sha256:")


def test_only_what_is_needed_is_fetched(hub: Hub, served: Path) -> None:
    (fetched,) = checkpoints.fetch(["own/clipseg"], CPU)
    names = {file.name for file in fetched.folder.iterdir()}
    assert {"config.json", "model.safetensors"} <= names
    assert not names & {"pytorch_model.bin", "original.pt"}


@pytest.mark.parametrize("revision", ["", "v1", COMMIT])
def test_revisions_resolve_to_a_commit(served: Path, revision: str) -> None:
    options = ModelOptions(device="cpu", revision=revision)
    (fetched,) = checkpoints.fetch(["own/clipseg"], options)
    assert fetched.identity == f"own/clipseg@{COMMIT}"


def test_a_pinned_commit_in_the_cache_asks_nobody(hub: Hub, served: Path) -> None:
    pinned = ModelOptions(revision=COMMIT)
    first = checkpoints.fetch(["own/clipseg"], pinned)
    hub.asked.clear()
    assert checkpoints.fetch(["own/clipseg"], pinned) == first
    assert hub.asked == []


def test_offline_uses_the_cache_only(hub: Hub, served: Path) -> None:
    offline = ModelOptions(offline=True)
    with pytest.raises(GroundfaultError, match="not in the hub's cache, and offline was asked"):
        checkpoints.fetch(["own/clipseg"], offline)
    assert hub.asked == []
    online = checkpoints.fetch(["own/clipseg"], CPU)
    hub.asked.clear()
    assert checkpoints.fetch(["own/clipseg"], ModelOptions(offline=True, revision=COMMIT)) == online
    assert hub.asked == []


def test_gated_shows_the_licence(hub: Hub) -> None:
    hub.checkpoints["facebook/sam3"] = "GatedRepo"
    with pytest.raises(GroundfaultError) as caught:
        checkpoints.fetch(["facebook/sam3"], CPU)
    assert "facebook/sam3 is gated (SAM License)" in str(caught.value)
    assert f"{hub.url}/facebook/sam3" in str(caught.value) and "hf auth login" in str(caught.value)


def test_missing_revision_is_named(served: Path) -> None:
    with pytest.raises(GroundfaultError, match="own/clipseg has no revision 'v9'"):
        checkpoints.fetch(["own/clipseg"], ModelOptions(revision="v9"))


def test_missing_checkpoint_is_named(hub: Hub) -> None:
    with pytest.raises(GroundfaultError, match="'own/nothing' is neither a folder nor"):
        checkpoints.fetch(["own/nothing"], CPU)


def test_a_broken_download_is_an_error_and_not_a_checkpoint(hub: Hub, served: Path) -> None:
    hub.broken_files = {"model.safetensors"}
    with pytest.raises(GroundfaultError, match="own/clipseg could not be fetched"):
        checkpoints.fetch(["own/clipseg"], CPU)
    with pytest.raises(GroundfaultError, match="not in the hub's cache"):
        checkpoints.fetch(["own/clipseg"], ModelOptions(offline=True, revision=COMMIT))
    hub.broken_files = set()
    assert checkpoints.fetch(["own/clipseg"], CPU)


def test_nobody_answers(hub: Hub, monkeypatch: pytest.MonkeyPatch, served: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(GroundfaultError, match=r"own/clipseg could not be fetched from http://127"):
        checkpoints.fetch(["own/clipseg"], CPU)


def test_no_weights_on_the_hub(hub: Hub, served: Path) -> None:
    for file in ("model.safetensors", "pytorch_model.bin"):
        (served / file).unlink()
    with pytest.raises(GroundfaultError, match="holds no model of transformers"):
        checkpoints.fetch(["own/clipseg"], CPU)


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "nowhere", "a/b/c"])
def test_no_such_folder(name: str) -> None:
    with pytest.raises(UsageError, match="neither a folder nor a hub checkpoint"):
        checkpoints.fetch([name], CPU)


def test_a_folder_must_hold_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"needs config\.json and weights"):
        checkpoints.fetch([str(tmp_path)], CPU)
    (tmp_path / "config.json").write_text("{}")
    index = '{"weight_map": {"a": "model-00001-of-00002.safetensors"}}'
    (tmp_path / "model.safetensors.index.json").write_text(index)
    with pytest.raises(UsageError, match=r"needs config\.json and weights"):
        checkpoints.fetch([str(tmp_path)], CPU)
    (tmp_path / "model-00001-of-00002.safetensors").write_bytes(b"")
    assert checkpoints.fetch([str(tmp_path)], CPU)


def test_other_content_is_another_identity(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (first,) = checkpoints.fetch([str(tmp_path)], CPU)
    (tmp_path / "model.safetensors").write_bytes(b"Weights")
    (second,) = checkpoints.fetch([str(tmp_path)], CPU)
    assert first.identity != second.identity


def test_arguments() -> None:
    assert checkpoints.named("omdet-sam", "a/b") == ("a/b", "facebook/sam-vit-huge")
    with pytest.raises(UsageError, match=r"one '\+' at most"):
        checkpoints.named("omdet-sam", "a/b+c/d+e/f")
    with pytest.raises(UsageError, match=r"revision 'x\+y' is for 2"):
        checkpoints.fetch(["a/b"], ModelOptions(revision="x+y"))


def test_every_default_has_a_licence() -> None:
    for model, names in checkpoints.DEFAULTS.items():
        assert all(name in checkpoints.CHECKPOINTS for name in names)
        assert checkpoints.licences(model)
    assert checkpoints.licences("yoloe") == "AGPL-3.0"
    assert checkpoints.licences("oracle") == "no weights"


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"torch is not installed.*groundfault\[transformers\]"):
        clipseg.load("", CPU)


def test_builds_that_do_not_fit_are_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def importing(name: str, *rest: Any) -> Any:
        if name == "torchvision":
            raise RuntimeError("operator torchvision::nms does not exist")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(GroundfaultError, match=r"torchvision can't be loaded.*builds of one kind"):
        checkpoints.require_transformers()


@pytest.mark.parametrize(
    ("options", "device", "dtype"),
    [
        (ModelOptions(device="cpu"), "cpu", "float32"),
        (ModelOptions(device="cpu", dtype="bf16"), "cpu", "bfloat16"),
        (ModelOptions(device="cpu", dtype="float16"), "cpu", "float16"),
    ],
)
def test_placement(transformers: Any, options: ModelOptions, device: str, dtype: str) -> None:
    assert placement.Placement.of(options) == (device, dtype)


@pytest.mark.parametrize(("cuda", "mps"), [(True, False), (False, True), (False, False)])
def test_auto_is_the_best_there_is(
    transformers: Any, monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.setattr(torch, "empty", lambda *_, **__: None)
    expected = ("cuda", "bfloat16") if cuda else ("mps" if mps else "cpu", "float32")
    assert placement.Placement.of(ModelOptions()) == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ModelOptions(device="abacus"), "device 'abacus'"),
        (ModelOptions(device="cuda:99"), "device 'cuda:99'"),
        (ModelOptions(device="cpu", dtype="int4"), "unknown dtype 'int4'"),
    ],
)
def test_wrong_placement(transformers: Any, options: ModelOptions, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        placement.Placement.of(options)
