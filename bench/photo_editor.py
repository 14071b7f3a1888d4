"""How good the procedural editor's pictures are: numbered sheets for the eye, and CPU seconds.

    python bench/photo_editor.py --annotations A.json --images DIR --kind surface --out sheets/

Every eligible instance (one polygon, not at the border, neither person nor table, and as large as
--shares says: 3 to 35 % of the picture, as a target of CAFE is well seen, by default) gets one
request. Sheets show before, after and what was asked, edits shuffled among untouched photographs;
`bench/edit_review.py` has the rubric and counts verdicts. With --picture FILE one sheet takes edits
in turn by kind, from photographs that show no people and whose licence allows edited copies.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

import edit_review
from groundfault.building.proposals.tables import plain_category
from groundfault.editors.procedural import ProceduralEditor, repertoire
from groundfault.editors.procedural.donors import ListedDonors
from groundfault.editors.procedural.fills import LEFT_BEHIND
from groundfault.editors.procedural.fitting import fitting_values
from groundfault.editors.procedural.suited import suited_values
from groundfault.interfaces import EditRequest, Neighbour, NotEdited
from groundfault.io.coco_photographs import read
from groundfault.io.masks import parse_mask
from groundfault.io.pictures import read_image

NOT_EDITED = ("person", "dining table")
VALUES = {
    "surface": repertoire.SURFACES,
    "material": repertoire.MATERIALS,
    "context": repertoire.PLACES,
    "recolour": repertoire.COLOURS,
}
FIRST = {"recolour": 6}
"""How many of the values that fit best take turns; of other kinds all do."""
FREE = frozenset({"Attribution License", "No known copyright restrictions"})
"""Licences of COCO's photographs that allow edited copies under any terms."""
TILES = 12
TILE_PX = (420, 330)


class Instance(NamedTuple):
    picture: Path
    size_px: tuple[int, int]
    category: str
    annotation_id: int
    segmentation: Any
    image_id: int
    others: tuple[tuple[str, Any], ...] = ()
    """Categories and segmentations of what else is annotated in the picture."""
    licence: str = ""

    def image(self) -> Any:
        return read_image(self.picture, size_px=self.size_px)

    def mask(self) -> Any:
        return parse_mask(self.segmentation, *self.size_px).to_array().astype(bool)

    def neighbours(self) -> tuple[Neighbour, ...]:
        return tuple(
            Neighbour(
                category=category,
                mask=parse_mask(segmentation, *self.size_px).to_array().astype(bool),
            )
            for category, segmentation in self.others
            if segmentation
        )


def eligible(annotations: Path, images: Path, shares: tuple[float, float]) -> list[Instance]:
    """The instances that an edit is tried on, which have a share of the picture between two, in
    the file's order."""
    data = json.loads(annotations.read_text())
    pictures = {image["id"]: image for image in data["images"]}
    names = {category["id"]: category["name"] for category in data["categories"]}
    licences = {licence["id"]: licence["name"] for licence in data.get("licenses", [])}
    found = []
    of_picture: dict[int, list[Any]] = {}
    for annotation in data["annotations"]:
        of_picture.setdefault(annotation["image_id"], []).append(annotation)
    for annotation in data["annotations"]:
        image = pictures[annotation["image_id"]]
        category = plain_category(names[annotation["category_id"]])
        x, y, wide, tall = annotation["bbox"]
        share = annotation["area"] / (image["width"] * image["height"])
        inside = min(x, y, image["width"] - x - wide, image["height"] - y - tall) >= 2
        one = isinstance(annotation["segmentation"], list) and len(annotation["segmentation"]) == 1
        if annotation["iscrowd"] or not (shares[0] <= share <= shares[1] and inside and one):
            continue
        if category not in NOT_EDITED and (images / image["file_name"]).exists():
            size = (image["height"], image["width"])
            others = tuple(
                (plain_category(names[other["category_id"]]), other["segmentation"])
                for other in of_picture[image["id"]]
                if other is not annotation
            )
            found.append(
                Instance(
                    images / image["file_name"],
                    size,
                    category,
                    annotation["id"],
                    annotation["segmentation"],
                    image["id"],
                    others,
                    licences.get(image.get("license"), ""),
                )
            )
    return found


def donors_of(arguments: argparse.Namespace) -> ListedDonors:
    """Every photograph may give its things to the others, those of `--donors` too."""
    photographs = [
        photograph
        for annotations in (*arguments.annotations, *arguments.donors)
        for photograph in read(annotations, source="coco")
    ]
    return ListedDonors(photographs, [*arguments.images, *arguments.donor_images])


def request_for(kind: str, number: int, instance: Instance, seed: int) -> EditRequest:
    """The request that the n-th instance gets: the first values take turns that fit it in its
    picture; those that suit its category where none does, or all."""
    photo = instance.image().astype(np.float32) / 255
    values = fitting_values(kind, photo, instance.mask(), instance.category)
    if kind in FIRST:
        values = values[: FIRST[kind]]
    values = values or suited_values(kind, instance.category) or VALUES[kind]
    value = values[number % len(values)]
    words = f"{kind} {value}".strip()
    return EditRequest(
        instruction=words,
        kind=kind,
        value=value,
        category=instance.category,
        seed=seed + number,
        others=instance.neighbours(),
    )


def is_proposed(kind: str, category: str) -> bool:
    """Whether an edit of a kind is proposed at all for things of a category: of cups no surface is,
    as CAFE's proposer answers None."""
    if kind == "erase":  # an empty plate, stand or post would be left, or pipes
        return category not in repertoire.PLUMBED | LEFT_BEHIND
    if kind in ("replace", "add"):
        return category in repertoire.INSTEAD
    return bool(suited_values(kind, category))


def run(
    editor: ProceduralEditor,
    kind: str,
    instances: list[Instance],
    seed: int,
    unfiltered: ProceduralEditor | None = None,
) -> tuple[list[dict[str, Any]], Counter[str], list[float]]:
    """All instances tried once: what came out, why others did not, and CPU seconds of each. Given
    another editor without filters, it makes those that are proposed and refused, too."""
    made, reasons, seconds = [], Counter[str](), []
    for number, instance in enumerate(instances):
        image, mask = instance.image(), instance.mask()
        request = request_for(kind, number, instance, seed)
        started = time.process_time()
        found = editor.perform(image, mask, request)
        entry = {"instance": instance, "request": request, "image": image, "refused": ""}
        if isinstance(found, NotEdited):
            reasons[found.reason] += 1
            if unfiltered is None or not is_proposed(kind, instance.category):
                continue
            entry["refused"] = found.reason
            found = unfiltered.perform(image, mask, request)
            if isinstance(found, NotEdited):
                continue
        else:
            seconds.append(time.process_time() - started)
        made.append(entry | {"edited": found})
    return made, reasons, seconds


def tile(picture: Any, text: str) -> Image.Image:
    """A picture under a line of text."""
    sheet = Image.new("RGB", (TILE_PX[0], TILE_PX[1] + 16), "white")
    shown = Image.fromarray(picture)
    shown.thumbnail(TILE_PX, Image.Resampling.LANCZOS)
    sheet.paste(shown, (0, 16))
    ImageDraw.Draw(sheet).text((4, 2), text, fill="black")
    return sheet


def sheets_of(tiles: list[Image.Image], columns: int, path: Path) -> None:
    """Tiles, some to a sheet, as numbered JPEG files."""
    for first in range(0, len(tiles), TILES):
        part = tiles[first : first + TILES]
        wide, tall = part[0].size
        rows = -(-len(part) // columns)
        sheet = Image.new("RGB", (wide * columns, tall * rows), "white")
        for index, one in enumerate(part):
            sheet.paste(one, (index % columns * wide, index // columns * tall))
        sheet.save(path.with_name(f"{path.name}-{first // TILES:02d}.jpg"), quality=88)


def may_be_shown(instance: Instance) -> bool:
    """Whether an edited copy of the photograph may be passed on, and shows nobody."""
    return instance.licence in FREE and "person" not in {name for name, _ in instance.others}


def picture_of(made: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """One sheet: edits in turn by kind, each photograph at most twice per kind."""
    queues = {kind: list(found) for kind, found in made.items()}
    tiles: list[Image.Image] = []
    ids: list[int] = []
    while any(queues.values()) and len(tiles) < TILES:
        for queue in queues.values():
            if queue and len(tiles) < TILES:
                one = min(queue, key=lambda entry: ids.count(entry["instance"].image_id))
                queue.remove(one)
                ids.append(one["instance"].image_id)
                tiles.append(
                    tile(
                        one["edited"].image,
                        f"{one['instance'].category}: {one['request'].instruction} "
                        f"{one['edited'].details.get('category', '')}",
                    )
                )
    sheets_of(tiles, 3, path.with_suffix(""))
    path.with_name(f"{path.stem}-00.jpg").replace(path)
    print("photographs:", ", ".join(map(str, sorted(set(ids)))))


def _some_of_each(instances: list[Instance], most: int | None) -> list[Instance]:
    """The first ones of each category."""
    taken = Counter[str]()
    found = []
    for instance in instances:
        taken[instance.category] += 1
        if most is None or taken[instance.category] <= most:
            found.append(instance)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--annotations", type=Path, action="append", required=True)
    parser.add_argument("--images", type=Path, action="append", required=True)
    parser.add_argument("--kind", action="append", choices=repertoire.KINDS, required=True)
    parser.add_argument("--donors", type=Path, action="append", default=[], help="annotations too")
    parser.add_argument("--donor-images", type=Path, action="append", default=[])
    parser.add_argument("--without", type=int, nargs="*", default=[], help="ids of images")
    parser.add_argument("--migan", default="", help="migan_pipeline_v2.onnx")
    parser.add_argument("--sam2", default="", help="folder with SAM 2's ONNX files")
    parser.add_argument("--care", type=float, default=0.0, help="how good odds must be")
    parser.add_argument(
        "--shares", type=float, nargs=2, default=(0.03, 0.35), help="of the picture, from and to"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--each", type=int, default=None, help="of a category, at most")
    parser.add_argument("--untouched", type=float, default=0.15, help="per edit")
    parser.add_argument(
        "--unfiltered", action="store_true", help="show what the filters refuse, too"
    )
    parser.add_argument(
        "--layout", nargs="+", choices=edit_review.LAYOUTS, default=["large"], help="of sheets"
    )
    parser.add_argument("--picture", type=Path, help="one sheet of what may be shown to others")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    instances = [
        instance
        for annotations, images in zip(arguments.annotations, arguments.images, strict=True)
        for instance in eligible(annotations, images, tuple(arguments.shares))
        if instance.image_id not in arguments.without
        and (arguments.picture is None or may_be_shown(instance))
    ]
    order = np.random.default_rng(arguments.seed).permutation(len(instances))
    instances = _some_of_each([instances[index] for index in order], arguments.each)
    instances = instances[: arguments.limit]
    options = {
        "migan": arguments.migan,
        "sam2": arguments.sam2,
        "care": arguments.care,
        "donors": donors_of(arguments),
    }
    editor = ProceduralEditor(**options)
    unfiltered = ProceduralEditor(**options, filters=False) if arguments.unfiltered else None
    shown: dict[str, list[dict[str, Any]]] = {}
    for kind in arguments.kind:
        made, reasons, seconds = run(editor, kind, instances, arguments.seed, unfiltered)
        through = sum(not one["refused"] for one in made)
        share = through / max(len(instances), 1)
        proposed = sum(is_proposed(kind, one.category) for one in instances)
        print(
            f"{kind}: {through} of {len(instances)} let through ({share:.0%}; "
            f"{through / max(proposed, 1):.0%} of the {proposed} that one is proposed for)",
            end="",
        )
        if seconds:
            print(f"; CPU s median {np.median(seconds):.2f}, most {max(seconds):.2f}", end="")
        print("; refused:", ", ".join(f"{r} {n}" for r, n in reasons.most_common()) or "none")
        if not made:
            continue
        if arguments.picture is not None:
            shown[kind] = made
            continue
        untouched = round(arguments.untouched * len(made))
        for layout in arguments.layout:
            out = arguments.out / layout
            out.mkdir(exist_ok=True)
            shape = edit_review.LAYOUTS[layout]
            edit_review.write_sheets(made, kind, untouched, arguments.seed, out, shape)
    if arguments.picture is not None:
        picture_of(shown, arguments.picture)


if __name__ == "__main__":
    main()
