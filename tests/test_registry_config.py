"""Names → things, ours and other packages'; settings from TOML."""

from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import CafeSet, Ran

from groundfault import registry
from groundfault.config import OPERATING_POINTS, ScoreSettings, check, load_toml
from groundfault.errors import DataError, GroundfaultError, UnknownName, UsageError

REGISTERED = [(kind, name) for kind, entries in registry.KINDS.items() for name in entries]


@pytest.mark.parametrize(("kind", "name"), REGISTERED)
def test_everything_registered_can_be_loaded(kind: str, name: str) -> None:
    assert registry.load(kind, name) is not None


def test_every_benchmark_has_a_card_and_a_reader() -> None:
    for name in registry.KINDS["benchmarks"]:
        module = registry.load("benchmarks", name)
        assert callable(module.read), name
        card = getattr(module, "CARD", None)  # a folder brings its own
        assert card is None or (card.name == name and card.citation and card.main_metric)


def test_every_protocol_declares_its_metrics() -> None:
    for name in registry.KINDS["protocols"]:
        protocol = registry.load("protocols", name)
        known = protocol.metrics()
        assert protocol.name == name and {*protocol.families} <= {*registry.KINDS["metrics"]}
        assert {protocol.main, protocol.told, *protocol.headlines, *protocol.bars} <= {*known}
        assert all(known[metric].about for metric in protocol.headlines), name


def test_every_family_makes_what_it_declares() -> None:
    for name in registry.KINDS["metrics"]:
        family = registry.load("metrics", name)
        sums = np.ones((3, len(family.columns)))
        values = family.values(sums, {"variant": "exact"})
        assert family.name == name
        assert {*values} == {metric.name for metric in family.metrics}
        assert {*family.support(sums[0])} == {*values}
        assert all(value.shape == (3,) for value in values.values())


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown benchmark 'caffe'\. Did you mean 'cafe'"):
        registry.load("benchmarks", "caffe")
    with pytest.raises(UnknownName, match=r"unknown kind 'metric'\. Did you mean 'metrics'"):
        registry.names("metric")
    with pytest.raises(UnknownName, match="unknown kind 'bench'"):
        registry.load("bench", "cafe")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution of someone else, installed in a folder of its own."""
    (tmp_path / "other_bench.py").write_text(
        "class Place:\n    answer = 42\n\nCARD = 'a card'\nread = len\n"
    )
    info = tmp_path / "other_bench-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-bench\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[groundfault.benchmarks]\n"
        "theirs = other_bench\n"
        "cafe = other_bench\n"
        "[groundfault.models]\n"
        "card = other_bench:CARD\n"
        "deep = other_bench:Place.answer\n"
        "extra = other_bench:CARD [gpu]\n"
        "gone = other_bench:NOTHING\n"
        "absent = no_such_module:CARD\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield
    sys.modules.pop("other_bench", None)


@pytest.mark.usefixtures("plugin")
def test_entry_points_of_other_packages_are_found() -> None:
    assert registry.load("benchmarks", "theirs").CARD == "a card"
    assert registry.load("models", "card") == "a card"
    assert registry.load("models", "deep") == 42
    assert registry.load("models", "extra") == "a card"
    theirs = set(registry.names("models")) - set(registry.KINDS["models"])
    assert theirs == {"card", "deep", "extra", "gone", "absent"}


@pytest.mark.usefixtures("plugin")
def test_ours_win_over_others_of_the_same_name() -> None:
    assert registry.load("benchmarks", "cafe").__name__ == "groundfault.benchmarks.cafe"
    assert registry.names("benchmarks")["cafe"] == registry.KINDS["benchmarks"]["cafe"]


@pytest.mark.usefixtures("plugin")
def test_broken_plugins_are_named() -> None:
    with pytest.raises(GroundfaultError, match=r"model 'gone' \(other_bench:NOTHING\)"):
        registry.load("models", "gone")
    with pytest.raises(GroundfaultError, match=r"model 'absent' \(no_such_module:CARD\)"):
        registry.load("models", "absent")


@pytest.mark.usefixtures("plugin")
def test_plugins_are_listed(run: Callable[..., Ran]) -> None:
    ran = run("list", "benchmarks", "--json")
    [rows] = ran.json.values()
    [theirs] = [row for row in rows if row["name"] == "theirs"]
    assert theirs == {"name": "theirs", "what": "plug-in", "lives in": "other_bench"}


def write_package(folder: Path, info: str, entries: str, name: str = "") -> None:
    """What an installer leaves of a package, without its code."""
    (folder / info).mkdir(parents=True)
    named = name or info.partition("-")[0]
    about = f"Metadata-Version: 2.1\nName: {named}\nVersion: 1.0\n"
    (folder / info / "METADATA").write_text(about)
    (folder / info / "PKG-INFO").write_text(about)
    (folder / info / "entry_points.txt").write_text(entries)


def model(name: str, target: str = "m:f") -> str:
    return f"[console_scripts]\nx = y:z\n\n[groundfault.models]\n{name} = {target}\n"


def found_by_the_library() -> dict[str, str]:
    """What importlib.metadata finds beside ours."""
    points = importlib.metadata.entry_points(group="groundfault.models")
    ours = registry.KINDS["models"]
    return {p.name: p.value.partition("[")[0].strip() for p in points if p.name not in ours}


def found() -> dict[str, str]:
    return {name: entry.target for name, entry in registry.plugins("models").items()}


def test_packages_are_found_where_python_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed, in development, as an egg, beside folders that are not there or cannot be read."""
    write_package(tmp_path / "site", "Plain.Name-1.0.dist-info", model("plain"))
    write_package(tmp_path / "site", "other-1.0.dist-info", "[console_scripts]\na = b:c\n")
    (tmp_path / "site" / "bare-1.0.dist-info").mkdir()
    (tmp_path / "site" / "old-1.0.egg-info").write_text("Name: old")
    write_package(tmp_path / "project", "developed.egg-info", model("developed"))
    write_package(tmp_path / "egg-1.0-py3.egg", "EGG-INFO", model("egg"), "egg")
    for folder in ("site", "project", "egg-1.0-py3.egg", "not there"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    assert set(found()) >= {"plain", "developed", "egg"}
    assert found() == found_by_the_library()


def test_a_package_in_a_zip_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(tmp_path / "site", "packed-1.0.dist-info", model("packed", "p:f [gpu]"))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for file in (tmp_path / "site").rglob("*"):
            archive.write(file, file.relative_to(tmp_path / "site"))
    monkeypatch.syspath_prepend(str(tmp_path / "all.zip"))
    assert found()["packed"] == "p:f"
    assert found() == found_by_the_library()


def test_a_package_that_someone_else_finds_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path, "hidden-1.0.dist-info", model("hidden"))

    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            return None

        @staticmethod
        def find_distributions(*_: object) -> list[importlib.metadata.Distribution]:
            return [importlib.metadata.PathDistribution(tmp_path / "hidden-1.0.dist-info")]

    monkeypatch.setattr(sys, "path", [*sys.path])  # another list: nothing is remembered
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    monkeypatch.syspath_prepend(str(tmp_path / "empty"))
    assert found()["hidden"] == "m:f"


def test_the_first_copy_of_a_package_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path / "old", "their_bench-1.0.dist-info", model("a", "old:f") + "b = old:f")
    write_package(tmp_path / "new", "Their.Bench-2.0.dist-info", model("a", "new:f"))
    write_package(tmp_path / "old", "unrelated-1.0.dist-info", model("a", "unrelated:f"))
    for folder in ("old", "new"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    assert (found().get("a"), found().get("b")) == ("new:f", None)


def test_a_package_that_is_installed_later_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook."""
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert "late" not in found()
    write_package(tmp_path / "site", "late-1.0.dist-info", model("late"))
    assert "late" in found()


def test_only_groups_of_ours_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = (
        "[groundfault]\nno = a:b\n[groundfault.models]\n# remark = a:b\n\n yes=a : b \n"
        "[groundfault.metrics]\nno = a:b\n[other.models]\nno = a:b\n"
    )
    write_package(tmp_path, "odd-1.0.dist-info", entries)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "no" not in found() and found()["yes"] == "a : b"
    assert found() == found_by_the_library()


def test_looking_for_packages_does_not_import_the_library() -> None:
    code = (
        "import sys; from groundfault import registry; registry.plugins('models'); "
        "sys.exit('importlib.metadata' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_settings_are_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        't = 1\ntau = 0.5 # τ\niou = "bbox"\nvariant = "exact"\nbootstrap = 1_000\nseed = 7\n'
    )
    settings = load_toml(path, ScoreSettings)
    expected = ScoreSettings(t=1.0, tau=0.5, iou="bbox", variant="exact", bootstrap=1000, seed=7)
    assert settings == expected
    assert isinstance(settings.t, float)


def test_what_toml_leaves_out_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("seed = 3")
    assert load_toml(path, ScoreSettings) == ScoreSettings(seed=3)
    assert (ScoreSettings().t, ScoreSettings().tau, ScoreSettings().bootstrap) == (0.5, 0.3, 10_000)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("taw = 0.5", "unknown setting 'taw'. Did you mean 'tau'"),
        ("quality = 1", "unknown setting 'quality'"),
        ('t = "0.5"', "t: expected `float`, got `str`"),
        ("bootstrap = 10.5", "bootstrap: expected `int`, got `float`"),
        ("bootstrap = -1", "bootstrap: expected `int` >= 0"),
        ("seed = true", "seed: expected `int`, got `bool`"),
        ("tau = 1.01", "tau: expected `float` <= 1.0"),
        ('variant = "paper"', "variant: invalid enum value 'paper'"),
        ("[t]\nvalue = 1", "t: expected `float`, got `object`"),
        ("t = 1\nt = 2", "overwrite"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(content)
    with pytest.raises(DataError) as refused:
        load_toml(path, ScoreSettings)
    assert message in refused.value.problem
    assert refused.value.file == str(path)


def test_settings_made_in_code_are_checked() -> None:
    assert check(ScoreSettings(t=0.2)) == ScoreSettings(t=0.2)
    for wrong in (
        ScoreSettings(tau=-0.1),
        ScoreSettings(t=float("nan")),
        ScoreSettings(t=float("inf")),
        ScoreSettings(bootstrap=2_000_000),
    ):
        with pytest.raises(UsageError, match="expected"):
            check(wrong)


def test_options_win_over_the_config(
    cafe: CafeSet, run: Callable[..., Ran], tmp_path: Path
) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('t = 0.2\ntau = 0.9\nvariant = "exact"\nbootstrap = 0\n')
    ran = run("score", "cafe", *cafe.write().options, "--config", config, "--tau", 0.5, "--json")
    assert ran.code == 0
    assert ran.json["settings"] == {
        "t": 0.2, "tau": 0.5, "iou": "segm", "variant": "exact", "bootstrap": 0, "seed": 0,
    }  # fmt: skip


def test_published_operating_points() -> None:
    assert OPERATING_POINTS == {
        "sam3": 0.5, "owlv2-sam": 0.2, "grounded-sam2": 0.2, "openseed": 0.15,
        "yolo_world_seg": 0.15,
    }  # fmt: skip
