"""An inspection as tables: what the file is, then what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundfault.reports.tables import Cell, Table

if TYPE_CHECKING:
    from groundfault.io.inspection import Report

__all__ = ["inspection_tables"]


def inspection_tables(report: Report) -> Iterator[Table]:
    """What was found, and the findings if there are any."""
    rows: list[list[Cell | str]] = [["is", report.description]]
    rows += [[name, f"{count:,}"] for name, count in report.counts.items()]
    rows += [
        [name, f"{low:g}" if low == high else f"{low:g} to {high:g}"]
        for name, (low, high) in report.ranges.items()
    ]
    if report.predictions_per_image:
        spread = ", ".join(f"{name} {n:g}" for name, n in report.predictions_per_image.items())
        rows.append(["predictions per image", spread])
    if report.boxes:
        rows.append(["boxes", report.boxes])
    rows += [[f"fields of {part}", ", ".join(names)] for part, names in report.fields.items()]
    verdict = "sound" if report.sound else "not sound: see the errors"
    yield Table(["", verdict], rows, title=report.path, left_columns=2)
    if report.findings:
        yield Table(
            ["", "times", "finding", "first at", "remedy"],
            [
                [
                    Cell(finding.severity, strong=finding.severity == "error"),
                    f"{finding.count:,}",
                    finding.problem,
                    "; ".join(finding.records[:2]),
                    finding.remedy,
                ]
                for finding in report.findings
            ],
            title="findings",
            left_columns=5,
        )
