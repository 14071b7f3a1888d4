"""A benchmark of coloured cards: cards.tsv has a picture, a phrase, and whether it is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundfault.errors import DataError
from groundfault.io.foreign import sha256
from groundfault.io.inputs import Input, Outline
from groundfault.io.masks import encode
from groundfault.io.pictures import read_image
from groundfault.records import Benchmark, Card, Case, Item, Region, Role

CARD = Card(
    name="colour-cards",
    protocol="presence",
    title="Colour cards",
    source="made by hand",
    licence="CC0",
    citation="",
    main_metric="presence_accuracy",
)
ABOUT = "a folder of coloured cards with cards.tsv"
INPUTS = (
    Input("cards", "The folder: cards.tsv has picture, phrase, yes or no.", kind="folder"),
    Input("images", "The pictures, if they are elsewhere.", kind="folder", required=False),
)
FILE = "cards.tsv"


def recognise(outline: Outline) -> bool:
    """Whether a folder is one of ours."""
    return outline.kind == "folder" and FILE in outline.fields


def read(cards: str | Path, images: str | Path | None = None) -> Benchmark:
    """A case per picture, an item per line."""
    items: list[Item] = []
    file, images = Path(cards) / FILE, images or cards
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        try:
            image, phrase, there = line.split("\t")
        except ValueError:
            raise DataError(
                file, "not three columns", record=f"line {number}", remedy="use tabs"
            ) from None
        height, width = read_image(Path(images) / image).shape[:2]
        whole = encode(np.ones((height, width), bool))  # nobody marked where the colour is
        items.append(
            Item(
                id=f"{image}:{phrase}",
                case_id=image,
                role=Role.POSITIVE if there == "yes" else Role.NEGATIVE,
                images=(image,),
                height_px=height,
                width_px=width,
                query=phrase,
                regions=(Region(whole),) if there == "yes" else (),
            )
        )
    items.sort(key=lambda item: item.case_id)
    return Benchmark(
        card=CARD,
        cases=tuple(Case(id=image) for image in dict.fromkeys(item.case_id for item in items)),
        items=tuple(items),
        images=str(images),
        hashes={"cards": sha256(file)},
    )
