"""A benchmark of coloured cards: cards.tsv has a picture, a phrase, and whether it is there."""

from __future__ import annotations

from pathlib import Path

from groundfault.benchmarks import Input
from groundfault.errors import DataError
from groundfault.io.foreign import sha256
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
INPUTS = (
    Input("cards", "file", help="cards.tsv: picture, phrase, yes or no."),
    Input("images", "folder", help="The pictures."),
)


def recognise(path: Path) -> bool:
    """Whether a file is one of ours."""
    return path.name == "cards.tsv"


def read(cards: Path, images: Path) -> Benchmark:
    """A case per picture, an item per line."""
    items: list[Item] = []
    for number, line in enumerate(Path(cards).read_text().splitlines(), start=1):
        try:
            image, phrase, there = line.split("\t")
        except ValueError:
            raise DataError(
                cards, "not three columns", record=f"line {number}", remedy="use tabs"
            ) from None
        height, width = read_image(Path(images) / image).shape[:2]
        items.append(
            Item(
                id=f"{image}:{phrase}",
                case_id=image,
                role=Role.POSITIVE if there == "yes" else Role.NEGATIVE,
                images=(image,),
                height_px=height,
                width_px=width,
                query=phrase,
                regions=(Region(None, (0.0, 0.0, width, height)),) if there == "yes" else (),
            )
        )
    items.sort(key=lambda item: item.case_id)
    return Benchmark(
        card=CARD,
        cases=tuple(Case(id=image) for image in dict.fromkeys(item.case_id for item in items)),
        items=tuple(items),
        images=str(images),
        hashes={"cards": sha256(cards)},
    )
