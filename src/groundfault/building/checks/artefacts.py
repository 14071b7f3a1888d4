"""Does the edited part look as if the same camera had taken it?

Three numbers compare what changed visibly with what could not change, in bits (doublings), so that
they add up to one score:

    noise       |log2| of the noise levels (median of a second difference, robust to edges)
    blur        log2 of how much less fine detail there is beside coarse detail; 0 if there is more
    blockiness  log2 of the steps at every eighth pixel beside other steps; 0 if there are fewer

Other surfaces differ from photographs in all three, which is why none drops anything by itself.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from groundfault.building.checks.check import Check, Seen, brightness
from groundfault.building.distances import shrunk
from groundfault.io.colours import VISIBLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    BinaryMask = NDArray[np.bool_]

__all__ = ["BLOCKINESS", "BLUR", "NOISE", "SCORE"]

FEWEST_PX = 256
QUIET = 0.25
"""Levels of noise that are none: drawn pictures have less."""


def _compared(
    measure: Callable[[Floats], Callable[[BinaryMask], float | None]], seen: Seen
) -> tuple[float, float] | None:
    """A measure of the edited part and of the rest; None where one of them is too small."""
    parts = seen.once("edited and rest", lambda: _parts(seen))
    if parts is None:
        return None
    level = measure(seen.once("light", lambda: brightness(seen.after)))
    one, other = map(level, parts)
    return None if one is None or other is None else (one, other)


def _parts(seen: Seen) -> tuple[BinaryMask, BinaryMask] | None:
    """What changed visibly, and what could not change; None where one of them is too small."""
    edited = shrunk(seen.touched & (seen.difference > VISIBLE), 2)
    if np.count_nonzero(edited) < FEWEST_PX:  # a scattered change has no inside
        edited = seen.touched & seen.meant
    rest = shrunk(~seen.touched, 2)
    return (edited, rest) if min(map(np.count_nonzero, (edited, rest))) >= FEWEST_PX else None


def _noise_level(light: Floats) -> Callable[[BinaryMask], float]:
    from scipy.ndimage import convolve

    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]])
    rough = np.abs(convolve(light, kernel))
    return lambda where: float(np.median(rough[where]) / (6 * 0.6745)) + QUIET


def _fine_share(light: Floats) -> Callable[[BinaryMask], float | None]:
    from scipy.ndimage import gaussian_filter

    soft = gaussian_filter(light, 1.0)
    finest, finer = light - soft, soft - gaussian_filter(light, 3.0)

    def level(where: BinaryMask) -> float | None:
        fine, coarse = finest[where].std(), finer[where].std()
        return float((fine + QUIET) / (coarse + QUIET)) if coarse > QUIET else None

    return level


def _steps(light: Floats) -> Callable[[BinaryMask], float | None]:
    down, across = (np.abs(np.diff(lines, axis=0)) for lines in (light, light.T))
    return partial(_largest_step, down, across)


def _largest_step(down: Floats, across: Floats, where: BinaryMask) -> float | None:
    """Steps at the eighth of the columns and rows where they are largest, by those elsewhere."""
    found = []
    for step, inside in ((down, where), (across, where.T)):
        place = np.arange(len(step)) % 8
        sums = np.bincount(place, (step * inside[1:]).sum(axis=1), minlength=8)
        counts = np.bincount(place, inside[1:].sum(axis=1), minlength=8)
        if counts.min() < 16:
            return None
        means = sums / counts
        found.append(float(means.max() / max(np.median(means), QUIET)))
    return max(found)


def _noise(seen: Seen) -> float | None:
    found = _compared(_noise_level, seen)
    return None if found is None else float(abs(np.log2(found[0] / found[1])))


def _blur(seen: Seen) -> float | None:
    found = _compared(_fine_share, seen)
    return None if found is None else max(0.0, float(np.log2(found[1] / found[0])))


def _blockiness(seen: Seen) -> float | None:
    found = _compared(_steps, seen)
    if found is None or not found[1]:
        return None
    return max(0.0, float(np.log2(max(found[0], 1e-3) / found[1])))


def _score(seen: Seen) -> float | None:
    parts = [seen.found[name] for name in ("noise", "blur", "blockiness") if name in seen.found]
    return sum(parts) if parts else None


_check = partial(Check, wants="most")
NOISE = _check("noise", "The edit is as noisy as the rest.", "|log2| of the noise levels", _noise)
BLUR = _check(
    "blur", "The edit is as sharp as the rest.", "log2 of the share of fine detail", _blur
)
BLOCKINESS = _check(
    "blockiness", "The edit has no blocks.", "log2 of the steps at every eighth pixel", _blockiness
)
SCORE = _check(
    "artefacts",
    "The edit looks as if the same camera had taken it.",
    "noise + blur + blockiness, in bits",
    _score,
    setting="max_artefacts",
    reason="artefacts",
)
