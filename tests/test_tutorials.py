"""Every command of the tutorial runs, and what the pages show is what comes out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("skia", reason="the tutorial draws scenes")

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial"
PAGES = [page.stem for page in sorted(TUTORIAL.glob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.S | re.M)


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a language, as they would stand at the margin."""
    found = BLOCK.findall((TUTORIAL / f"{page}.md").read_text())
    return [
        re.sub(f"^{indent}", "", text, flags=re.M)
        for indent, name, text in found
        if name == language
    ]


def steps(page: str) -> list[tuple[str, list[str]]]:
    """Commands, each with the lines that the page shows of it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(page, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip() != "…":
            found[-1][1].append(line)
    return found


def plain(text: str) -> str:
    return " ".join(text.replace("−", "-").split())


TOGETHER = {"review": ("photographs", "review")}
"""Pages that go on in the folder of another."""
NEEDS = {"fine-tune": ("torch", "onnx"), "review": ("starlette", "cv2")}
"""Libraries of extras that a page tells its reader to have."""
CHAINS = [
    TOGETHER.get(page, (page,))
    for page in PAGES
    if steps(page) and all(page == chain[-1] for chain in TOGETHER.values() if page in chain)
]


@pytest.mark.parametrize("pages", CHAINS, ids="-".join)
def test_what_a_page_shows_is_what_comes_out(pages: tuple[str, ...], tmp_path: Path) -> None:
    for library in NEEDS.get(pages[-1], ()):
        pytest.importorskip(library)
    environment = programs(tmp_path)
    for page in pages:
        for text in (*blocks(page, "python"), *blocks(page, "toml")):
            name = re.match(r"# (\w+\.\w+)\n", text)
            if name is not None:
                (tmp_path / name[1]).write_text(text)
        for command, shown in steps(page):
            if re.match(r"groundfault review \S+ --reviewers", command):
                review_together(tmp_path / command.split()[2])
                continue
            ran = subprocess.run(
                command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert ran.returncode == 0, (command, ran.stderr)
            came = plain(ran.stdout)
            for line in shown:
                assert plain(line) in came, (command, line, ran.stdout)
    if "review" in pages:
        what_three_friends_kept(tmp_path)


def programs(folder: Path) -> dict[str, str]:
    """An environment in which `groundfault` and `python` are what runs this test."""
    place = folder / "bin"
    place.mkdir()
    for name, started in (("groundfault", "-m groundfault.cli"), ("python", "")):
        (place / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {started} "$@"\n')
        (place / name).chmod(0o755)
    return {**os.environ, "PATH": f"{place}:{os.environ['PATH']}"}


def review_together(folder: Path) -> None:
    """The command runs, and three people decide as their browsers would: two accept everything,
    the third rejects everything in the last round."""
    from tests.desk.parts import Client, served

    with served(folder, "--reviewers", 3) as desk:
        group = desk.group_token()
        people = [Client(desk.base, group, name) for name in ("Ada", "Ben", "Cleo")]
        left = True
        while left:
            left = False
            for person, may_reject in zip(people, (False, False, True), strict=True):
                items = person.get("/api/queue")[1]["items"]
                if items:
                    left = True
                    last = items[0]["stage"] == "cross-check"
                    verdict = "reject" if may_reject and last else "accept"
                    reasons = ["artefact"] if verdict == "reject" else []
                    assert person.decide(items[0], verdict, reasons=reasons)[1] == 200
        for person in people:
            person.connection.close()


def what_three_friends_kept(folder: Path) -> None:
    """Cleo rejects everything in the last round: two of three keep SM and CC, no OC stays."""
    import groundfault as gf
    from groundfault.building.review import read_decisions, read_items

    decisions = read_decisions(folder / "decisions.jsonl")
    assert {each.reviewer for each in decisions} == {"Ada", "Ben", "Cleo"}
    offered = {item.id: item.kind for item in read_items(folder / "my-set")}
    kept = {case.id for case in gf.load(folder / "my-set" / "release").cases}
    assert kept == {name for name, kind in offered.items() if kind != "OC"}
    assert len(kept) < len(offered)


def test_pages_with_commands_are_as_many_as_they_were() -> None:
    """A page whose blocks are no longer found would pass by being empty."""
    assert sum(len(steps(page)) for page in PAGES) >= 25
    assert [page for page in PAGES if not steps(page)] == ["index"]
