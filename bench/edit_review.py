"""Edits for careful eyes: sheets with before, after and what was asked, a rubric, and the count.

    python bench/edit_review.py SHEETS VERDICTS.csv [VERDICTS.csv …]
    python bench/edit_review.py --known KNOWN.csv VERDICTS.csv [VERDICTS.csv …]

`bench/photo_editor.py` writes the sheets. A reviewer reads RUBRIC.txt, looks at every sheet and
writes a line per tile: kind,tile,verdict,reason. Some tiles show the untouched photograph twice;
who calls one of them an edit did not look. The keys say which; reviewers don't open them.

How strict an eye is matters more than what it looks at. Reviewers can learn it from sheets whose
verdicts are shown to them, and judge others blind whose verdicts are known; `--known` counts how
many of those they accept, beside how many were accepted, and how often they agree.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

VERDICTS = ("accept", "borderline", "reject", "unedited")
RUBRIC = """\
You review edited photographs for a benchmark, as its three reviewers per edit would: you see the
photograph before (the target is outlined), the photograph after, and what was asked for. Decide for
each tile whether you would keep the edit.

accept      all four hold, looking at it as long as you like at the size shown:
  done      the picture shows what was asked for; a person told nothing would say so
            surface   coloured and patterned like that, as if painted, printed or dyed, all of it
            material  made of that substance, all of it
            context   stands, lies or flies in that place, at a size and from a view that fit
            recolour  of that colour, as far as it has a body; glass, tyres, eyes may stay
            erase     gone, and nothing tells that it was there
            replace   another thing of the named kind is in its place
            add       the named thing is there, where it could be
            move      it is elsewhere in the picture, where it could be, and no longer where it was
  itself    you would still name the target by its category (for a material: its shape says what it
            shows); for replace and add the new thing
  whole     the edit follows the target's outline: no part of it forgotten, nothing beside it
            changed that one would notice
  clean     no fault that catches the eye: halos, smears, holes, cut-off or floating parts, light or
            sharpness that clash, repeated patches, ghosts
borderline  you would want to ask somebody else
reject      one of the four does not hold
unedited    after is the same as before

A counterfactual looks strange: a striped elephant is no fault. That it was computed is none either,
as long as the four hold. In another place the target keeps every pixel, as the papers ask: that it
is not lit by the new place is no fault, nor that its old surroundings are seen through water.
Write KIND,TILE,VERDICT,REASON: one line per tile, a few words of reason.
"""
WORDS = {
    "surface": "{category}: with the surface of: {value}",
    "material": "{category}: made of {value}",
    "context": "{category}: put into this place: {value}",
    "recolour": "{category}: coloured {value}",
    "erase": "{category}: erased",
    "replace": "{category}: replaced by {value}",
    "add": "{category}: {value} is added beside it",
    "move": "{category}: moved",
}


class Layout(NamedTuple):
    """How tiles are shown."""

    columns: int
    rows: int
    before_px: tuple[int, int]
    after_px: tuple[int, int]
    closer: bool
    """Whether an edit of the target itself is shown with what is around it, not all of the
    photograph."""
    font_px: int


LAYOUTS = {
    "large": Layout(1, 2, (326, 488), (646, 488), closer=False, font_px=15),
    "sheet": Layout(4, 6, (152, 152), (152, 152), closer=True, font_px=11),
}
"""`large`: as large as is seen without shrinking. `sheet`: four columns of six, as on the sheets of
the first sketch of the editor, whose counts by eye are what later ones are compared with."""
ITSELF = ("surface", "material", "recolour")
"""Kinds that change the target and nothing else."""


def tile(
    image: Any, mask: Any, after: Any, text: str, layout: Layout, closer: bool = False
) -> Image.Image:
    """The outlined photograph, the edited one, and what was asked."""
    outlined = image.copy()
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    around = _around(mask) if closer else np.s_[:, :]
    wide = outlined[around].shape[1]
    cv2.drawContours(outlined, contours, -1, (255, 0, 255), max(wide // 300, 1))
    head = layout.font_px + 7
    size = layout.before_px[0] + layout.after_px[0] + 8, layout.after_px[1] + head
    drawn = Image.new("RGB", size, "white")
    left = 0
    for picture, room in ((outlined, layout.before_px), (after, layout.after_px)):
        shown = Image.fromarray(picture[around])
        scale = min(room[0] / shown.width, room[1] / shown.height)
        fitted = round(shown.width * scale), round(shown.height * scale)
        drawn.paste(shown.resize(fitted, Image.Resampling.LANCZOS), (left, head))
        left += room[0] + 4
    font = ImageFont.load_default(layout.font_px)
    ImageDraw.Draw(drawn).text((4, 1), text, fill="black", font=font)
    return drawn


def _around(mask: Any) -> tuple[slice, slice]:
    """The target's box with a third of its extent around it."""
    rows, columns = np.nonzero(mask)
    margin = round(max(np.ptp(rows), np.ptp(columns)) / 3)
    top, left = max(rows.min() - margin, 0), max(columns.min() - margin, 0)
    return slice(top, rows.max() + margin), slice(left, columns.max() + margin)


def words_of(entry: dict[str, Any]) -> str:
    """What was asked for."""
    return WORDS[entry["kind"]].format(**entry)


def write_sheets(
    made: list[dict[str, Any]],
    kind: str,
    untouched: int,
    seed: int,
    out: Path,
    layout: Layout = LAYOUTS["large"],
) -> None:
    """Edits and untouched photographs in one random order, with their key.

    Each of `made` has `instance`, `request`, `edited` and `image`.
    """
    rng = np.random.default_rng(seed)
    shown = [(entry, True) for entry in made]
    shown += [(made[index], False) for index in rng.permutation(len(made))[:untouched]]
    tiles, key = [], []
    for number, index in enumerate(rng.permutation(len(shown))):
        entry, is_edited = shown[index]
        request, instance = entry["request"], entry["instance"]
        told = {
            "tile": number,
            "edited": is_edited,
            "kind": kind,
            "value": request.value or entry["edited"].details.get("category", ""),
            "category": instance.category,
            "image_id": instance.image_id,
            "annotation_id": instance.annotation_id,
            "refused": entry["refused"],
        }
        after = entry["edited"].image if is_edited else entry["image"]
        text = f"{kind} {number}    {words_of(told)}"
        closer = layout.closer and kind in ITSELF
        tiles.append(tile(entry["image"], instance.mask(), after, text, layout, closer))
        key.append(told)
    each = layout.columns * layout.rows
    wide, tall = tiles[0].size
    for first in range(0, len(tiles), each):
        part = tiles[first : first + each]
        rows = -(-len(part) // layout.columns)
        sheet = Image.new("RGB", (wide * layout.columns, tall * rows), "white")
        for index, one in enumerate(part):
            sheet.paste(one, (index % layout.columns * wide, index // layout.columns * tall))
        sheet.save(out / f"{kind}-{first // each:02d}.png")
    (out / f"{kind}-key.json").write_text(json.dumps(key, indent=1))
    (out / "RUBRIC.txt").write_text(RUBRIC)


def read_verdicts(path: Path) -> dict[tuple[str, int], str]:
    """Kind and number of a tile → verdict."""
    found = {}
    with path.open(newline="") as file:
        for kind, number, verdict, *_ in csv.reader(file):
            if number.strip().isdigit():
                if verdict.strip() not in VERDICTS:
                    raise SystemExit(f"{path}: {kind} {number}: verdict '{verdict}'")
                found[kind.strip(), int(number)] = verdict.strip()
    return found


def count(sheets: Path, given: dict[str, dict[tuple[str, int], str]]) -> None:
    """How many edits each reviewer of a kind accepts, how many untouched tiles were known, and how
    often reviewers agree whether to accept."""
    for path in sorted(sheets.glob("*-key.json")):
        key = json.loads(path.read_text())
        kind = key[0]["kind"]
        verdicts = {name: found for name, found in given.items() if (kind, 0) in found}
        if not verdicts:
            continue
        through = [one for one in key if one["edited"] and not one["refused"]]
        edits = [(kind, one["tile"]) for one in through]
        rest = [(kind, one["tile"]) for one in key if not one["edited"]]
        told = []
        for name, found in verdicts.items():
            accepted = sum(found[tile] == "accept" for tile in edits)
            known = sum(found[tile] == "unedited" for tile in rest)
            told.append(
                f"{name} {accepted} of {len(edits)} ({accepted / len(edits):.0%}), "
                f"untouched known {known} of {len(rest)}"
            )
        agreed = sum(len({f[tile] == "accept" for f in verdicts.values()}) == 1 for tile in edits)
        both = sum(all(f[tile] == "accept" for f in verdicts.values()) for tile in edits)
        print(f"{kind}: {'; '.join(told)}; all accept {both}, agree about {agreed}")
        for reason in sorted({one["refused"] for one in key if one["edited"]} - {""}):
            tiles = [(kind, one["tile"]) for one in key if one["refused"] == reason]
            kept = (sum(f[tile] == "accept" for tile in tiles) for f in verdicts.values())
            print(f"  refused, {reason}: {', '.join(map(str, kept))} of {len(tiles)}")


def compare_with_known(
    known: dict[tuple[str, int], str], given: dict[str, dict[tuple[str, int], str]]
) -> None:
    """How strict reviewers are beside verdicts on the same tiles that are known."""
    accepted = {tile for tile, verdict in known.items() if verdict == "accept"}
    for name, found in given.items():
        missing = known.keys() - found.keys()
        if missing:
            raise SystemExit(f"{name}: no verdict on {min(missing)}")
        own = {tile for tile in known if found[tile] == "accept"}
        agreed = len(known) - len(own ^ accepted)
        print(f"{name}: accepts {len(own)}, known {len(accepted)}; agree {agreed} of {len(known)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--known", type=Path, help="known verdicts on tiles that were judged blind")
    parser.add_argument("files", type=Path, nargs="+", help="[SHEETS] VERDICTS.csv …")
    given = parser.parse_args()
    sheets, files = (None, given.files) if given.known else (given.files[0], given.files[1:])
    verdicts = {path.stem: read_verdicts(path) for path in files}
    if sheets is None:
        compare_with_known(read_verdicts(given.known), verdicts)
    else:
        count(sheets, verdicts)


if __name__ == "__main__":
    main()
