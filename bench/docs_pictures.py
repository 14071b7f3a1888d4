"""The first picture of the documentation and the README: four edits, what is asked of them.

    python bench/docs_pictures.py          writes docs/interventions.jpg
    python bench/docs_pictures.py --sheet FILE.png --seed 4     candidates to choose from

Scenes are drawn by the world: no photograph, no licence.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from groundfault.world.cases import sample_intervention
from groundfault.world.render import render
from groundfault.world.sampling import WorldSettings

SIDE_PX, GAP_PX, WORDS_PX = 330, 8, 62
KINDS = {
    "SM": "another surface",
    "CC": "another place",
    "OC": "another material",
    "replacement": "another thing",
}


class Shown(NamedTuple):
    """A drawn case."""

    kind: str
    seed: int
    index: int


CHOSEN = (
    Shown("SM", 4, 2), Shown("CC", 4, 1), Shown("OC", 4, 5), Shown("replacement", 4, 2),
)  # fmt: skip


def panels(shown: Shown) -> tuple[Image.Image, str]:
    """Before and after, side by side, and what is asked."""
    case = sample_intervention(shown.kind, shown.seed, shown.index, WorldSettings(size_px=SIDE_PX))
    before, after = render(case.factual), render(case.counterfactual)
    both = np.concatenate([before.image, np.full((SIDE_PX, 4, 3), 255, np.uint8), after.image], 1)
    still = "Still " if shown.kind == "replacement" else ""
    asked = f"{still}{_a(case.negative)}?  No: {_a(case.positive)}."
    return Image.fromarray(both), asked[0].upper() + asked[1:]


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def font(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size_px)


def sheet(cases: tuple[Shown, ...], columns: int) -> Image.Image:
    """Cases in rows, each with its words below."""
    wide, high = 2 * SIDE_PX + 4, SIDE_PX + WORDS_PX
    rows = -(-len(cases) // columns)
    size = (columns * (wide + GAP_PX) - GAP_PX, rows * (high + GAP_PX) - GAP_PX)
    page = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(page)
    for number, shown in enumerate(cases):
        left, top = number % columns * (wide + GAP_PX), number // columns * (high + GAP_PX)
        picture, asked = panels(shown)
        page.paste(picture, (left, top))
        pen.text((left + 2, top + SIDE_PX + 6), KINDS[shown.kind], fill="#555555", font=font(19))
        pen.text((left + 2, top + SIDE_PX + 30), asked, fill="black", font=font(23))
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--seed", type=int, default=4)
    given = parser.parse_args()
    if given.sheet:
        cases = tuple(Shown(kind, given.seed, k) for kind in KINDS for k in range(6))
        sheet(cases, 3).save(given.sheet)
        return
    out = Path(__file__).parents[1] / "docs" / "interventions.jpg"
    sheet(CHOSEN, 2).save(out, quality=84, optimize=True)
    print(f"written: {out}")


if __name__ == "__main__":
    main()
