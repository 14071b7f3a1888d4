"""What `make` installs: every package pinned, the core's by the hashes of its files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def entries(name: str) -> dict[str, tuple[str, int]]:
    """Package → its version and how many hashes it has."""
    text = (ROOT / "requirements" / name).read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = {}
    for line in lines:
        pin = PIN.match(line)
        assert pin is not None, f"{name}: not pinned: {line[:60]}"
        found[canonicalize_name(pin[1])] = (pin[2], len(HASH.findall(line)))
    assert len(found) == len(lines)
    return found


def needed(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> None:
    """Every package that an installed one brings in here, with its extras."""
    if (name, extras) in seen:
        return
    seen.add((name, extras))
    for text in distribution(name).requires or ():
        wanted = Requirement(text)
        if any(
            wanted.marker is None or wanted.marker.evaluate({"extra": extra})
            for extra in (*extras, "")
        ):
            needed(canonicalize_name(wanted.name), frozenset(wanted.extras), seen)


def closure(*extras: str) -> Iterator[str]:
    seen: set[tuple[str, frozenset[str]]] = set()
    try:
        needed("groundfault", frozenset(extras), seen)
    except PackageNotFoundError as problem:
        pytest.skip(f"{problem} is not installed here")
    return iter(sorted({name for name, _ in seen} - {"groundfault"}))


def test_every_package_of_the_core_has_hashes_and_is_what_the_tests_use() -> None:
    core, dev = entries("core.txt"), entries("dev.txt")
    for name in closure():
        assert core[name][1] > 0, name
    for name in ("hatchling", "editables"):
        assert core[name][1] > 0, name
    assert {name: version for name, (version, _) in core.items()}.items() <= {
        name: version for name, (version, _) in dev.items()
    }.items()


def test_every_package_that_the_tests_install_is_pinned() -> None:
    dev = entries("dev.txt")
    assert [name for name in closure("dev") if name not in dev] == []


def test_the_build_backend_is_the_pinned_one() -> None:
    backend = re.search(
        r'requires = \["hatchling==([^"]+)"\]', (ROOT / "pyproject.toml").read_text()
    )
    assert backend is not None
    assert entries("core.txt")["hatchling"][0] == backend[1]
    assert entries("tools.txt")
