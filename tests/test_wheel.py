"""What is published works without the clone."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="builds the wheel")

ROOT = Path(__file__).parent.parent


def call(*words: object, cwd: Path, **more: str) -> str:
    ran = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("dist")
    call("-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": archive}


def test_wheel_and_archive_hold_what_they_must_and_no_more(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = wheel.namelist()
    assert any(name.endswith("report.html") for name in names)
    assert sum(name.endswith(".onnx") for name in names) >= 2
    assert not [name for name in names if name.startswith("tests") or "__pycache__" in name]
    assert built["wheel"].stat().st_size < 20 << 20
    with tarfile.open(built["sdist"]) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "docs/index.md"} <= inside


def installed(archive: Path, place: Path) -> dict[str, str]:
    """The environment in which that archive's package is the one that is imported."""
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--no-compile")
    call("-m", "pip", "install", "-q", *offline, "--target", place, archive, cwd=place.parent)
    alone = {"PYTHONPATH": str(place)}
    where = call("-c", "import groundfault; print(groundfault.__file__)", cwd=place.parent, **alone)
    assert Path(where.strip()).is_relative_to(place)
    return alone


def test_the_source_archive_installs_what_the_wheel_does(
    built: dict[str, Path], tmp_path: Path
) -> None:
    """Built on the way, from nothing but what the archive holds."""
    alone = installed(built["sdist"], tmp_path / "installed")
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = {name for name in wheel.namelist() if name.startswith("groundfault/")}
    found = (tmp_path / "installed").rglob("groundfault/**/*")
    files = {str(path.relative_to(tmp_path / "installed")) for path in found if path.is_file()}
    assert {name for name in files if "__pycache__" not in name} == names
    assert call("-m", "groundfault.cli", "--version", cwd=tmp_path, **alone).startswith("groundf")


def test_the_wheel_alone_runs_the_demo(built: dict[str, Path], tmp_path: Path) -> None:
    alone = installed(built["wheel"], tmp_path / "installed")
    words = ("-m", "groundfault.cli", "demo", "--n", 6, "--workers", 1, "--out", "demo")
    told = call(*words, cwd=tmp_path, **alone)
    assert "nano-cft" in told and (tmp_path / "demo" / "report.html").is_file()
