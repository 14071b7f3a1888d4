"""Agreement beyond chance, against values worked out by hand and published ones."""

from __future__ import annotations

import numpy as np
import pytest

from groundfault.analysis.agreement import agreement_estimate, fleiss_kappa, krippendorff_alpha

FLEISS = [
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]  # fmt: skip
"""A worked example with 10 subjects, 14 raters and 5 values: κ = 0.210."""


def spread(counts: tuple[int, ...]) -> list[int]:
    return [value for value, times in enumerate(counts) for _ in range(times)]


def test_fleiss_kappa_equals_the_worked_example() -> None:
    assert fleiss_kappa([spread(row) for row in FLEISS]) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_by_hand() -> None:
    # two of three agree in both units: P̄ = 1/3; half the votes are yes: P̄ₑ = 1/2
    assert fleiss_kappa(["yyn", "ynn"]) == pytest.approx((1 / 3 - 1 / 2) / (1 / 2))
    assert fleiss_kappa(["yyy", "nnn"]) == 1.0
    assert fleiss_kappa(["yyy", "yyy"]) is None  # nothing to tell apart
    assert fleiss_kappa([]) is None
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa(["yyy", "yn"])


def test_alpha_by_hand_and_with_missing_values() -> None:
    # coincidences: yy 2, nn 2, yn and ny 1 each; n = 6, Dₒ = 2/6, Dₑ = 2·3·3/(6·5) = 0.6
    assert krippendorff_alpha(["yy", "yn", "nn"]) == pytest.approx(1 - (2 / 6) / 0.6)
    assert krippendorff_alpha(["yy", "yn", "nn", ["y", None], [None]]) == pytest.approx(
        1 - (2 / 6) / 0.6
    )
    assert krippendorff_alpha(["yy", "yy"]) is None


def test_kappa_and_alpha_meet_on_many_units() -> None:
    rng = np.random.default_rng(0)
    units = [list(rng.integers(0, 2, 3)) for _ in range(4000)]
    kappa, alpha = fleiss_kappa(units), krippendorff_alpha(units)
    assert kappa is not None and alpha is not None
    assert kappa == pytest.approx(0, abs=0.03)
    assert alpha == pytest.approx(kappa, abs=1e-3)


def test_intervals_come_from_units_and_hold_the_value() -> None:
    units = ["yyy"] * 30 + ["nnn"] * 20 + ["yyn"] * 10 + ["yn"] * 3
    for measure, n in (("kappa", 60), ("alpha", 63)):
        found = agreement_estimate(measure, units, np.random.default_rng(1))  # type: ignore[arg-type]
        assert found.n == n
        assert found.low is not None and found.value is not None and found.high is not None
        assert 0.5 < found.low < found.value < found.high < 1
    assert agreement_estimate("kappa", [], np.random.default_rng(1)).value is None
    assert agreement_estimate("alpha", ["yn"], np.random.default_rng(1)).low is None
