"""docs/building-rules.md names code and tests that exist."""

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


@pytest.mark.parametrize(("rule", "where", "test"), ROWS, ids=[row[0][:40] for row in ROWS])
def test_code_and_test_of_a_rule_exist(rule: str, where: str, test: str) -> None:
    for path in re.findall(r"`([^`]+)`", where):
        assert (ROOT / "src" / "groundfault" / path).exists(), path
    for named in re.findall(r"`([^`]+)`", test):
        file, _, function = named.partition("::")
        text = (ROOT / "tests" / file).read_text()
        assert not function or re.search(rf"^(async )?def {function}\(", text, re.MULTILINE), named


def test_every_rule_is_told_once() -> None:
    names = [row[0] for row in ROWS]
    assert len(names) == len({*names}) > 60
