"""The figure of a calibration: cgF1 and its two factors along the threshold."""

from __future__ import annotations

from groundfault.analysis.calibration import Calibration
from groundfault.protocols.concepts import CONCEPTS
from groundfault.reports.page.drawing import Figure, shortened
from groundfault.reports.page.figures import Curve, curves

__all__ = ["calibration_figure"]


def calibration_figure(found: Calibration) -> Figure:
    """cgF1 and its two factors along t; the ring marks the operating point."""
    lines = []
    for series, name in enumerate(("cgF1", "IL_MCC", "positive_micro_F1")):
        known = [
            (point.t, estimate)
            for point in found.sweep.points
            if (estimate := point.metrics[name]).value is not None
        ]
        if not known:
            continue
        values = [estimate for _, estimate in known]
        banded = name == "cgF1" and all(e.low is not None and e.high is not None for e in values)
        lines.append(
            Curve(
                series,
                CONCEPTS.metric(name).short,
                [t for t, _ in known],
                [e.value or 0.0 for e in values],
                [e.low or 0.0 for e in values] if banded else (),
                [e.high or 0.0 for e in values] if banded else (),
                marked=[t for t, _ in known].index(found.t) if name == "cgF1" else None,
            )
        )
    return curves(
        "calibration",
        f"{shortened(found.model, 110)}: t = {found.t:.2f} by cgF1 over boxes",
        lines,
        across="score threshold t",
        text=lambda value: f"{value:.2f}".replace("-", "−"),
        x_text=lambda value: f"{value:.2f}",
        x_range=(0.0, 1.0),
        dots=False,
    )
