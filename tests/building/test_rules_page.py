"""docs/building-rules.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("| \n").split(" | ")]
    for line in (ROOT / "docs" / "building-rules.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| rule")
]


@pytest.mark.parametrize(("rule", "test"), ROWS, ids=[row[0][:40] for row in ROWS])
def test_the_test_of_a_rule_exists(rule: str, test: str) -> None:
    named = re.findall(r"`([^`]+)`", test)
    assert named
    for each in named:
        file, _, function = each.partition("::")
        text = (ROOT / "tests" / file).read_text()
        assert not function or re.search(rf"^(async )?def {function}\(", text, re.MULTILINE), each


def test_every_rule_is_told_once() -> None:
    names = [row[0] for row in ROWS]
    assert len(names) == len({*names}) > 60
