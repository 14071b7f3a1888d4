"""A contact sheet of a build: before, after, target and phrases of many cases on one picture."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundfault.building.pictures import read_kept
from groundfault.building.records import Candidate
from groundfault.io.masks import decode
from groundfault.io.store import write_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image, ImageDraw

    Pixels = NDArray[np.uint8]

__all__ = ["MOSAIC", "SHEET", "write_mosaic", "write_sheet"]

SHEET, MOSAIC = "sheet.jpg", "mosaic.jpg"
TILE = (300, 225)
"""Width and height of one picture, in pixels."""
GAP, CAPTION, MOST = 8, 40, 48
COLUMNS = 2
"""Cases side by side; each has three pictures."""
MOSAIC_COLUMNS = 6
INK, SOFT, PAPER, TARGET = (25, 28, 36), (105, 110, 122), (250, 250, 248), (230, 30, 90)
BADGES = {"SM": (196, 92, 20), "CC": (22, 120, 150), "OC": (110, 60, 160)}


def write_sheet(path: Path, candidates: Sequence[Candidate], folder: Path) -> None:
    """Write a sheet of at most 48 cases, evenly spread over all of them."""
    write_bytes(path, sheet(_spread(candidates), folder))


def sheet(candidates: Sequence[Candidate], folder: Path) -> bytes:
    """A JPEG with a case per cell."""
    from PIL import Image, ImageDraw

    columns = min(COLUMNS, max(1, len(candidates)))
    rows = -(-len(candidates) // columns)
    cell = (3 * TILE[0] + 2 * GAP, TILE[1] + CAPTION)
    size = (columns * (cell[0] + 3 * GAP) + 3 * GAP, rows * (cell[1] + 2 * GAP) + 2 * GAP)
    page = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(page)
    for number, candidate in enumerate(candidates):
        left = 3 * GAP + number % columns * (cell[0] + 3 * GAP)
        top = 2 * GAP + number // columns * (cell[1] + 2 * GAP)
        for place, pixels in enumerate(_pictures(candidate, folder)):
            page.paste(_tile(pixels), (left + place * (TILE[0] + GAP), top))
        _caption(draw, candidate, left, top + TILE[1] + 4)
    content = BytesIO()
    page.save(content, "JPEG", quality=82)
    return content.getvalue()


def write_mosaic(path: Path, candidates: Sequence[Candidate], folder: Path) -> None:
    """Write the edited pictures of at most 48 cases side by side, with what is asked about them, as
    CAFE's paper shows its set."""
    from PIL import Image, ImageDraw

    shown = _spread(candidates)
    columns = min(MOSAIC_COLUMNS, len(shown))
    cell = (TILE[0] + GAP, TILE[1] + CAPTION + GAP)
    size = (columns * cell[0] + GAP, -(-len(shown) // columns) * cell[1] + GAP)
    page = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(page)
    for number, candidate in enumerate(shown):
        assert candidate.edited is not None
        left = GAP + number % columns * cell[0]
        top = GAP + number // columns * cell[1]
        page.paste(_tile(read_kept(folder, candidate.edited.after)), (left, top))
        _caption(draw, candidate, left, top + TILE[1] + 4)
    content = BytesIO()
    page.save(content, "JPEG", quality=82)
    write_bytes(path, content.getvalue())


def _spread(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """At most 48 of them, evenly spread."""
    if len(candidates) <= MOST:
        return candidates
    return [candidates[k * len(candidates) // MOST] for k in range(MOST)]


def _pictures(candidate: Candidate, folder: Path) -> list[Pixels]:
    """Before, after, and after with the target outlined."""
    edited = candidate.edited
    assert edited is not None
    before, after = read_kept(folder, edited.before), read_kept(folder, edited.after)
    mask = edited.mask or candidate.target.mask
    return [before, after, after if mask is None else _outlined(after, decode(mask))]


def _outlined(pixels: Pixels, mask: NDArray[np.bool_]) -> Pixels:
    """The picture dimmed around a mask, which has an edge in colour."""
    from scipy.ndimage import binary_dilation, binary_erosion

    wide = max(1, round(max(mask.shape) / 200))
    edge = binary_dilation(mask, iterations=wide) & ~binary_erosion(mask, iterations=wide)
    found = np.where(mask[..., None], pixels, pixels // 2 + 110).astype(np.uint8)
    found[edge] = TARGET
    return found


def _tile(pixels: Pixels) -> Image.Image:
    """A picture in the middle of its place."""
    from PIL import Image, ImageOps

    fitted = ImageOps.contain(Image.fromarray(pixels), TILE, Image.Resampling.LANCZOS)
    tile = Image.new("RGB", TILE, (236, 236, 234))
    tile.paste(fitted, ((TILE[0] - fitted.width) // 2, (TILE[1] - fitted.height) // 2))
    return tile


def _caption(draw: ImageDraw.ImageDraw, candidate: Candidate, left: int, top: int) -> None:
    """Task, phrases and id below the pictures."""
    from PIL import ImageFont

    font, small = ImageFont.load_default(15), ImageFont.load_default(11)
    proposal = candidate.proposal
    assert proposal is not None
    draw.text((left, top), candidate.task, BADGES.get(candidate.task, INK), font)
    begin = left + 10 + round(draw.textlength(candidate.task, font))
    words = f"+ {proposal.positive}   − {proposal.negative}"
    if not proposal.negative:
        words = f"{candidate.target.category}: {proposal.kind} {proposal.value}"
    draw.text((begin, top), _ascii(words), INK, font)
    draw.text((left, top + 19), _ascii(candidate.id), SOFT, small)


def _ascii(text: str) -> str:
    """What the built-in font can show."""
    return text.replace("−", "-").encode("ascii", "replace").decode()[:110]
