"""Proposals from a file that somebody else wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.building.proposal_parts import candidate

from groundfault.building.proposals.scripted import ScriptedProposer
from groundfault.building.records import Candidate, Dropped, Proposal
from groundfault.errors import DataError, UsageError

ZEBRA = {
    "instruction": "Cover the whole cat with zebra stripes and keep its shape unchanged.",
    "value": "zebra",
    "positive": "cat",
    "negative": "zebra",
}


def script(folder: Path, *lines: dict[str, Any] | str) -> ScriptedProposer:
    file = folder / "proposals.jsonl"
    whole = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(whole) + "\n", "utf-8")
    return ScriptedProposer(file)


def test_lines_are_found_by_candidate_target_or_category(tmp_path: Path) -> None:
    for key in (
        {"candidate": "7-0-SM"},
        {"photograph": "7", "target": "0"},
        {"photograph": "7", "target": "0", "task": "SM"},
        {"category": "cat", "task": "SM"},
    ):
        found = script(tmp_path, {**key, **ZEBRA}).propose(candidate("SM"))
        assert isinstance(found, Proposal)
        assert (found.kind, found.value, found.by) == (
            "surface",
            "zebra",
            "scripted:proposals.jsonl",
        )
    other = script(tmp_path, {"category": "cat", "task": "CC", **ZEBRA}).propose(candidate("SM"))
    assert isinstance(other, Dropped) and other.reason == "not in the script"


def test_the_nearest_line_counts_and_categories_take_turns(tmp_path: Path) -> None:
    bee = ZEBRA | {"negative": "bee", "value": "bee"}
    ant = ZEBRA | {"negative": "ant", "value": ""}
    found = script(
        tmp_path,
        {"category": "cat", **bee},
        {"category": "cat", **ant},
        {"candidate": "7-0-SM", **ZEBRA},
    )
    assert found.propose(candidate("SM")).negative == "zebra"  # type: ignore[union-attr]
    others = (msgspec.structs.replace(candidate("SM"), id=f"c{k}") for k in range(20))
    assert {found.propose(each).negative for each in others} == {"bee", "ant"}  # type: ignore[union-attr]


def test_none_and_broken_rules_are_drops(tmp_path: Path) -> None:
    nothing = script(tmp_path, {"candidate": "7-0-SM", "none": True}).propose(candidate("SM"))
    assert nothing == Dropped(reason="None", details="proposals.jsonl")
    wrong = {"candidate": "7-0-SM", **ZEBRA, "negative": "kitten"}
    found = script(tmp_path, wrong).propose(candidate("SM"))
    assert isinstance(found, Dropped) and found.reason == "SM-12"


def test_each_candidate_is_reported(tmp_path: Path) -> None:
    found: list[tuple[Candidate, Proposal | Dropped]] = []
    asked = [candidate("SM"), candidate("SM", 1)]
    proposer = script(tmp_path, {"candidate": "7-0-SM", **ZEBRA})
    proposer.propose_many(asked, lambda about, result: found.append((about, result)))
    assert [about.id for about, _ in found] == ["7-0-SM", "7-1-SM"]
    assert proposer.identity.startswith("scripted ") and not proposer.stopped_because


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[1, 2]",
        "[" * 100_000,
        '{"candidate": "x", "surprise": 1}',
        '{"candidate": "x", "task": "dance"}',
        '{"candidate": 7}',
        "{}",
        '{"photograph": "7"}',
        '{"candidate": "x", "category": "cat"}',
        '{"candidate": "x", "instruction": "a\\u0000b"}',
        json.dumps({"candidate": "x", "instruction": "a" * 3000}),
        json.dumps({"candidate": "x", "fields": {str(k): "v" for k in range(200)}}),
        '{"candidate": "x", "fields": {"a": {"b": 1}}}',
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_hostile_lines_are_refused_by_number(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match="line 2"):
        script(tmp_path, {"candidate": "a", **ZEBRA}, line)


def test_two_lines_for_one_candidate_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="earlier line"):
        script(tmp_path, {"candidate": "a", **ZEBRA}, {"candidate": "a", **ZEBRA})


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        ScriptedProposer(tmp_path / "none.jsonl")
