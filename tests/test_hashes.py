"""Large files are hashed once, and again when they change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groundfault.interfaces import ModelOptions
from groundfault.io import hashes
from groundfault.io.foreign import sha256
from groundfault.runs.identity import FILES, model_identity


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint's folder with a large file that was written a while ago."""
    monkeypatch.setenv("GROUNDFAULT_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    large = folder / "model.safetensors"
    large.write_bytes(b"0" * hashes.LARGE_FILE_BYTES)
    os.utime(large, (1_000_000_000, 1_000_000_000))
    return large


def test_a_folder_of_weights_is_read_once(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(path: str | os.PathLike[str]) -> str:
        read.append(Path(path).name)
        return sha256(path)

    monkeypatch.setattr(hashes, "sha256", reading)
    spec = f"hf:{weights.parent}"
    first = model_identity(spec, ModelOptions())[FILES]
    assert read == ["config.json", "model.safetensors"]
    assert model_identity(spec, ModelOptions())[FILES] == first
    assert read.count("model.safetensors") == 1
    weights.write_bytes(b"1" * hashes.LARGE_FILE_BYTES)  # of the same size
    assert model_identity(spec, ModelOptions())[FILES] != first


def test_what_changed_a_moment_ago_is_read_again(weights: Path) -> None:
    os.utime(weights)
    with hashes.KnownHashes() as known:
        known.sha256(weights)
    assert not known.place.exists()


def test_a_cache_that_is_damaged_or_cannot_be_written(weights: Path) -> None:
    place = hashes.KnownHashes().place
    place.parent.mkdir(parents=True)
    place.write_text("{")
    with hashes.KnownHashes() as known:
        assert known.sha256(weights) == sha256(weights)
    place.unlink()
    place.parent.rmdir()
    place.parent.write_text("a file where the folder would be")
    with hashes.KnownHashes() as known:
        assert known.sha256(weights) == sha256(weights)
