"""An object cut out by SAM 2, where its ONNX files are given: drawn masks are off by some pixels,
forget paws and take along what is seen between legs. The drawn mask says which object is meant, and
how far the network is believed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

from groundfault.editors.procedural.edges import (
    Floats,
    Mask,
    Matte,
    box_of,
    core,
    crisp,
    floats,
    grown,
    matte,
    steadied,
)
from groundfault.editors.procedural.networks import session
from groundfault.editors.procedural.relief import extent_px
from groundfault.editors.procedural.silhouettes import REACH_PX
from groundfault.errors import DataError

__all__ = ["LEAST_SURE", "Cutout", "cut_out"]

FILES = "a folder with SAM 2's encoder and decoder as ONNX or ORT files"
MARGIN = 0.25
"""How much of its surroundings the network sees, as a share of the object's extent."""
SIDE_PX, SMALL_PX = 1024, 256
"""The pictures that the network takes, and the masks that it gives and takes."""
FEATURES = ("image_embed", "high_res_feats_0", "high_res_feats_1")
"""What the encoder gives and the decoder takes."""
MEAN, DEVIATION = floats([0.485, 0.456, 0.406]), floats([0.229, 0.224, 0.225])
CORNERS, INSIDE = (2, 3), 1
"""What a point means to the network: a corner of the object's box, or a place on it."""
MOST_POINTS = 5
APART = 0.18
"""How far points on an object are from each other, as a share of the window's diagonal."""
LEAST_DEPTH, LEAST_DEPTH_PX = 0.25, 4.0
"""How far from its outline a point on an object is, as a share of the deepest one's."""
LEAST_SURE, LEAST_AGREED = 0.85, 0.78
"""Limits of a cut-out that is trusted: see `Cutout`."""
HAIR = 0.035
"""How long hair is that a network leaves outside, as a share of an animal's extent."""
CLOSE_PX = 3
"""How far the network and a drawn mask are apart where they still agree."""
HALF_SURE = 0.6
"""The IoU that the network expects of an answer that may be right."""
SMALLEST_PIECE, LARGEST_SPECK, SPECK_PX = 0.02, 0.006, 12
"""Pieces of an object that are smaller are none, holes of it that are smaller are specks; as a
share of it."""


class Cutout(NamedTuple):
    """What a network takes for the object that a mask was drawn for."""

    mask: Mask
    sure: float
    """The IoU with the true object that the network expects when it looks without a hint."""
    agreed: float
    """The IoU with the drawn mask."""
    beyond: float
    """How much goes on farther away than an edit may reach, as a share of the drawn mask."""
    added: float = 0.0
    """The largest piece that was not drawn, as a share of the object: something else, or a part
    that shows how carelessly it was drawn."""
    missed: float = 0.0
    """The largest piece that was drawn and that the network does not see, as a share of it."""
    more: float = 0.0
    """How much another answer of the network adds, as a share of the object: that it may be a part
    of something larger."""

    @property
    def is_trusted(self) -> bool:
        return self.sure >= LEAST_SURE and self.agreed >= LEAST_AGREED

    def edge(self, photo: Floats, *, furred: bool = False, blur: float = 1.0) -> Matte:
        """The object's soft edge: of what has fur by its colours, of others as sharp as the
        photograph is."""
        if furred:
            return steadied(matte(photo, self.mask, hair=HAIR), self.mask)
        return crisp(photo, self.mask, blur)


def cut_out(photo: Floats, drawn: Mask, folder: str, others: Mask | None = None) -> Cutout:
    """The object that a mask was drawn for; `others` are what is known not to be it. The network is
    given the object's box and points on it, and then its own answer once more: that rids it of
    specks."""
    box = box_of(drawn, max(int(MARGIN * extent_px(drawn)), REACH_PX))
    window = np.ascontiguousarray((photo[box] * 255 + 0.5).astype(np.uint8))
    inside = drawn[box]
    seen = _seen(window.tobytes(), (window.shape[0], window.shape[1]), folder)
    points, meanings = _points_on(inside)
    asked = seen | {"point_coords": points[None], "point_labels": meanings[None]}
    first = _look(asked, inside, folder)
    again = _look(asked, inside, folder, hint=first.odds)
    found = np.zeros_like(drawn)
    found[box] = cv2.resize(again.odds, inside.shape[::-1], interpolation=cv2.INTER_CUBIC) > 0
    if others is not None:
        found &= ~(others & ~drawn)
    found = _without_specks(found)
    area = max(int(drawn.sum()), 1)
    return Cutout(
        mask=found,
        sure=first.sure,
        agreed=float((found & drawn).sum() / max(int((found | drawn).sum()), 1)),
        beyond=float((found & ~grown(drawn, REACH_PX)).sum() / area),
        added=_largest_piece(core(found, CLOSE_PX) & ~drawn) / max(int(found.sum()), 1),
        missed=_largest_piece(core(drawn, CLOSE_PX) & ~found) / max(int(found.sum()), 1),
        more=_more(first, found[box]),
    )


def _largest_piece(mask: Mask) -> int:
    _, _, found, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    return int(found[1:, cv2.CC_STAT_AREA].max(initial=0))


def _more(look: _Look, own: Mask) -> float:
    """How much the answers that a network half believes go beyond an object."""
    small = cv2.resize(floats(own), (SMALL_PX, SMALL_PX), interpolation=cv2.INTER_AREA) > 0.5
    beside = ~grown(small, 1)
    extra = [
        cv2.erode((answer & beside).astype(np.uint8), np.ones((3, 3), np.uint8)).sum()
        for answer, sure in zip(look.answers, look.sures, strict=True)
        if sure > HALF_SURE
    ]
    return float(max(extra, default=0) / max(int(small.sum()), 1))


class _Look(NamedTuple):
    """What the network answers to a box and some points."""

    odds: Floats
    """Above 0 where the object is, (SMALL_PX, SMALL_PX)."""
    sure: float
    answers: Mask
    """All that it may be, each (SMALL_PX, SMALL_PX)."""
    sures: Floats


def _look(asked: dict[str, Floats], inside: Mask, folder: str, hint: Floats | None = None) -> _Look:
    """The answer nearest to the drawn mask, of those that the network gives to a picture with
    points, and to a `hint` where the object is."""
    none = np.zeros((SMALL_PX, SMALL_PX), np.float32)
    given = asked | {
        "mask_input": (none if hint is None else hint)[None, None],
        "has_mask_input": floats([hint is not None]),
    }
    masks, expected = _asked(folder, "decoder", ["masks", "iou_predictions"], given).values()
    size, count = (SMALL_PX, SMALL_PX), max(expected.size, 1)
    if masks.shape != (1, count, *size) or expected.shape != (1, count):
        found = f"{masks.shape} and {expected.shape}"
        raise _unfit(folder, f"the decoder answers with {found} numbers, not with small masks")
    small = cv2.resize(floats(inside), size, interpolation=cv2.INTER_AREA) > 0.5
    likeness = [((m > 0) & small).sum() / max(((m > 0) | small).sum(), 1) for m in masks[0]]
    best = int(np.argmax(likeness))
    odds = np.clip(masks[0, best], -32, 32)
    return _Look(odds, float(expected[0, best]), masks[0] > 0, expected[0])


def _points_on(inside: Mask) -> tuple[Floats, Floats]:
    """The corners of an object's box and points deep inside it, in the network's pixels, and what
    they mean."""
    tall, wide = inside.shape
    rows, columns = box_of(inside)
    found: list[tuple[float, float]] = [
        (columns.start, rows.start),
        (columns.stop, rows.stop),
    ]
    meanings = list(CORNERS)
    depth = cv2.distanceTransform(np.pad(inside.astype(np.uint8), 1), cv2.DIST_L2, 5)[1:-1, 1:-1]
    depth = depth.copy()
    least = max(LEAST_DEPTH * float(depth.max()), LEAST_DEPTH_PX)
    apart = APART * float(np.hypot(tall, wide))
    for _ in range(MOST_POINTS):
        row, column = np.unravel_index(int(depth.argmax()), depth.shape)
        if depth[row, column] < least:
            break
        found.append((float(column) + 0.5, float(row) + 0.5))
        meanings.append(INSIDE)
        cv2.circle(depth, (int(column), int(row)), int(max(depth[row, column], apart)), 0, -1)
    scale = SIDE_PX / floats([wide, tall])
    return floats(found) * scale, floats(meanings)


@functools.lru_cache(maxsize=8)  # several edits of one object are tried in turn
def _seen(pixels: bytes, shape: tuple[int, int], folder: str) -> dict[str, Floats]:
    """What the network makes of an RGB picture, before it knows what is looked for."""
    picture = floats(np.frombuffer(pixels, np.uint8).reshape(*shape, 3)) / 255
    seen = cv2.resize(picture, (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_LINEAR)
    given = ((seen - MEAN) / DEVIATION).transpose(2, 0, 1)[None]
    return _asked(folder, "encoder", FEATURES, {"image": np.ascontiguousarray(given)})


def _asked(
    folder: str, part: str, wanted: Sequence[str], given: dict[str, Floats]
) -> dict[str, Floats]:
    """What the encoder or the decoder answers, by name."""
    network = _network(folder, part)
    try:
        return dict(zip(wanted, map(floats, network.run(wanted, given)), strict=True))
    except Exception as problem:  # whatever the runtime raises about another network
        raise _unfit(folder, f"the {part} can't be asked: {problem}") from None


def _network(folder: str, part: str) -> Any:
    """The encoder or the decoder, the one file in a folder that has it in its name."""
    found = sorted(
        path
        for path in (Path(folder).iterdir() if Path(folder).is_dir() else ())
        if part in path.name and path.suffix in (".onnx", ".ort")
    )
    if len(found) != 1:
        raise _unfit(folder, f"{len(found)} files there are SAM 2's {part}")
    return session(str(found[0]), "SAM 2", FILES)


def _unfit(folder: str, problem: str) -> DataError:
    return DataError(folder, problem, remedy=f"give {FILES}")


def _without_specks(mask: Mask) -> Mask:
    """A mask without small holes and small pieces, the holes first: a small piece may have one."""
    area = int(mask.sum())
    _, holes, found, _ = cv2.connectedComponentsWithStats((~mask).astype(np.uint8))
    specks = found[:, cv2.CC_STAT_AREA] < max(LARGEST_SPECK * area, SPECK_PX)
    specks[0] = False
    filled = mask | specks[holes]
    _, pieces, found, _ = cv2.connectedComponentsWithStats(filled.astype(np.uint8))
    large = found[:, cv2.CC_STAT_AREA] >= SMALLEST_PIECE * area
    large[0] = False
    return np.asarray(large[pieces])
