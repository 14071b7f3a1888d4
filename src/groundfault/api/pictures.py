"""A case as people look at it: its pictures with what was expected and what the model marked, or
its questions with what the model said."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundfault.errors import UnknownName, UsageError
from groundfault.io.foreign import within
from groundfault.io.masks import decode
from groundfault.io.pictures import read_image
from groundfault.records import Item, Outcome, Prediction, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    from groundfault.api.result import Result

    Pixels = NDArray[np.uint8]
    BinaryMask = NDArray[np.bool_]

__all__ = ["CasePicture", "case_picture"]

MARKED, EXPECTED = (230, 97, 1), (26, 152, 80)
"""What the model marked, orange; what a perfect answer contains, green."""
TINT = 0.45
LINE_PX = 2
GAP_PX = 8


class Panel(NamedTuple):
    """One item of a case: its picture and a line about it."""

    pixels: Pixels
    caption: str


class CasePicture:
    """The pictures of a case; a notebook shows it, `save` writes it, `image` is Pillow's."""

    def __init__(self, case_id: str, panels: list[Panel], words: list[tuple[str, str]]) -> None:
        self.case_id, self.panels, self.words = case_id, panels, words

    @property
    def image(self) -> Image:
        """All panels side by side."""
        from PIL import Image

        height = max(panel.pixels.shape[0] for panel in self.panels)
        width = sum(panel.pixels.shape[1] + GAP_PX for panel in self.panels) - GAP_PX
        canvas = np.full((height, width, 3), 255, np.uint8)
        left = 0
        for panel in self.panels:
            rows, columns = panel.pixels.shape[:2]
            canvas[:rows, left : left + columns] = panel.pixels
            left += columns + GAP_PX
        return Image.fromarray(canvas)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture, as what its name ends in."""
        from groundfault.io.store import atomic_file

        path = Path(path)
        with atomic_file(path) as temporary, temporary.open("wb") as file:
            self.image.save(file, path.suffix.lstrip(".").upper().replace("JPG", "JPEG") or "PNG")
        return path

    def _repr_html_(self) -> str:
        figures = "".join(
            f'<figure style="margin:0"><img style="max-width:320px" src="{_data_url(p.pixels)}">'
            f"<figcaption>{escape(p.caption)}</figcaption></figure>"
            for p in self.panels
        )
        words = "".join(f"<dt>{escape(q)}</dt><dd>{escape(a)}</dd>" for q, a in self.words)
        listed = f"<dl>{words}</dl>" if words else ""
        return (
            f"<div><b>{escape(self.case_id)}</b>"
            f'<div style="display:flex;gap:8px;flex-wrap:wrap">{figures}</div>{listed}</div>'
        )


def case_picture(result: Result, case_id: str) -> CasePicture:
    """The pictures of one case of a result, with the stored predictions."""
    benchmark = result.benchmark()
    items = [item for item in benchmark.items if item.case_id == case_id]
    if not items:
        raise UnknownName("case", case_id, [case.id for case in benchmark.cases])
    if not benchmark.images or not Path(benchmark.images).is_dir():
        raise UsageError(f"{benchmark.images or 'its folder'}: the pictures are not there")
    wanted = {item.id for item in items}
    found: dict[str, list[Prediction]] = {}
    for prediction in result.predictions():
        if prediction.item_id in wanted:
            found.setdefault(prediction.item_id, []).append(prediction)
    folder = Path(benchmark.images)
    t = result.summary.settings.get("t")
    least = float(t) if isinstance(t, (int, float)) else -np.inf
    if items[0].role is Role.QUESTION:
        panels = [Panel(_read(folder, name, items[0]), name) for name in items[0].images]
        words = [(item.query, _said(p)) for item in items for p in found.get(item.id, ())]
        return CasePicture(case_id, panels, words)
    panels = [
        _panel(_read(folder, item.image, item), item, found.get(item.id, []), least)
        for item in items
    ]
    return CasePicture(case_id, panels, [])


def _read(folder: Path, name: str, item: Item) -> Pixels:
    path = within(folder, name, file="the benchmark", record=f"item {item.id}")
    return read_image(path, size_px=(item.height_px, item.width_px))


def _panel(pixels: Pixels, item: Item, predictions: list[Prediction], t: float) -> Panel:
    drawn: Any = pixels.copy()
    said = "no prediction"
    for prediction in predictions[:1]:
        kept = [(m, s) for m, s in zip(prediction.masks, prediction.scores, strict=True) if s >= t]
        for mask, _ in kept:
            _tint(drawn, decode(mask))
        scores = ", ".join(f"{score:.2f}" for _, score in kept)
        said = f"accepted ({scores})" if kept else "nothing accepted"
        if prediction.outcome is not Outcome.OK:
            said = f"{prediction.outcome} {prediction.reason}".strip()
    for region in item.regions:
        if region.mask is not None:
            _outline(drawn, decode(region.mask), EXPECTED)
    return Panel(drawn, f"{item.role}: “{item.query}” — {said}")


def _tint(drawn: Pixels, mask: BinaryMask) -> None:
    if mask.shape == drawn.shape[:2]:
        drawn[mask] = (drawn[mask] * (1 - TINT) + np.array(MARKED) * TINT).astype(np.uint8)
        _outline(drawn, mask, MARKED)  # a tint alone is lost on a ground of its own colour


def _outline(drawn: Pixels, mask: BinaryMask, colour: tuple[int, int, int]) -> None:
    if mask.shape != drawn.shape[:2]:
        return
    inner = mask.copy()
    for _ in range(LINE_PX):
        padded = np.pad(inner, 1)
        inner = inner & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    drawn[mask & ~inner] = colour


def _said(prediction: Prediction) -> str:
    verdict = f" [{prediction.verdict}]" if prediction.verdict else ""
    return f"{prediction.mode}: {prediction.text or prediction.reason}{verdict}"


def _data_url(pixels: Pixels) -> str:
    from PIL import Image

    target = BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return f"data:image/png;base64,{b64encode(target.getvalue()).decode()}"
