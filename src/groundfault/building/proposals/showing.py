"""How a model is shown the target: pictures for a request, and the words that explain them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from groundfault.building.pictures import find_photograph
from groundfault.building.proposals.layout import box_of, region_of
from groundfault.building.records import Candidate
from groundfault.errors import DataError
from groundfault.io.pictures import open_picture
from groundfault.llm.pictures import make_picture
from groundfault.records import Picture

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["SHOWINGS", "Showing", "encoded_picture", "said_how", "show_file", "show_target"]

Showing = Literal["outline", "box", "crop", "mask", "words"]
"""outline: its contour is drawn; box: a box; crop: a second picture of it alone; mask: a second
picture, white where it is; words: the photograph alone."""
SHOWINGS: tuple[str, ...] = get_args(Showing)
COLOUR = (255, 0, 255)
"""Magenta: hardly anything in a photograph has it."""
QUALITY = 90
MARGIN = 0.25
"""Around a crop, as a share of the box."""
_SAID = {
    "outline": "outlined in magenta; the line is not part of the photograph",
    "box": "in the magenta box; the box is not part of the photograph",
    "crop": "cut out in the second picture",
    "mask": "white in the second picture",
    "words": "not marked",
}


def said_how(showing: Showing) -> str:
    """The words that tell a model how the target is marked."""
    return _SAID[showing]


def show_target(
    candidate: Candidate, images: Path | Sequence[Path], showing: Showing, side_px: int
) -> tuple[Picture, ...]:
    """The pictures of a request about a candidate, their longer side at most `side_px`. The same
    photograph always gives the same bytes, so that a reply is found again."""
    photo = _opened(candidate, images)
    if showing == "words":
        return (encoded_picture(photo, side_px),)
    if showing == "crop":
        return (
            encoded_picture(photo, side_px),
            encoded_picture(_cropped(photo, candidate), side_px),
        )
    if showing == "mask":
        return (
            encoded_picture(photo, side_px),
            encoded_picture(_mask_picture(photo, candidate), side_px),
        )
    return (encoded_picture(_marked(photo, candidate, showing, side_px), side_px),)


def show_file(path: Path, side_px: int) -> Picture:
    """A picture of ours as a request shows it."""
    return encoded_picture(open_picture(path), side_px)


def _opened(candidate: Candidate, images: Path | Sequence[Path]) -> Image.Image:
    picture = candidate.photograph
    path = find_photograph(picture, [images] if isinstance(images, Path) else images)
    try:
        return open_picture(path, size_px=(picture.height_px, picture.width_px))
    except (OSError, ValueError, SyntaxError) as problem:
        raise DataError(
            path, f"no readable picture ({problem})", remedy="get the photograph again"
        ) from None


def encoded_picture(picture: Image.Image, side_px: int) -> Picture:
    """A picture as a request carries it, its longer side at most `side_px`."""
    longest = max(picture.size)
    if longest > side_px:
        scale = side_px / longest
        size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
        picture = picture.resize(size)
    content = BytesIO()
    picture.save(content, "JPEG", quality=QUALITY)
    return make_picture("image/jpeg", content.getvalue())


def _marked(
    photo: Image.Image, candidate: Candidate, showing: Showing, side_px: int
) -> Image.Image:
    from PIL import Image, ImageDraw, ImageFilter

    width = max(2, round(max(photo.size) / min(side_px, max(photo.size)) * 3))
    if showing == "box":
        marked = photo.copy()
        box = box_of(candidate.target)
        ImageDraw.Draw(marked).rectangle(tuple(map(round, box)), outline=COLOUR, width=width)
        return marked
    inside = Image.fromarray(region_of(candidate.target, (photo.height, photo.width)))
    grown = inside.convert("L").filter(ImageFilter.MaxFilter(2 * width + 1))
    ring = np.asarray(grown, bool) & ~np.asarray(inside, bool)
    pixels = np.array(photo)
    pixels[ring] = COLOUR
    return Image.fromarray(pixels)


def _mask_picture(photo: Image.Image, candidate: Candidate) -> Image.Image:
    from PIL import Image

    inside = region_of(candidate.target, (photo.height, photo.width))
    return Image.fromarray((inside * 255).astype(np.uint8)).convert("RGB")


def _cropped(photo: Image.Image, candidate: Candidate) -> Image.Image:
    box = box_of(candidate.target)
    across, down = (box.right - box.left) * MARGIN, (box.bottom - box.top) * MARGIN
    left, top = max(0, int(box.left - across)), max(0, int(box.top - down))
    right = min(photo.width, max(left + 1, int(box.right + across)))
    return photo.crop((left, top, right, min(photo.height, max(top + 1, int(box.bottom + down)))))
