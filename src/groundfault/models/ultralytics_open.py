"""YOLO-World (Cheng et al. 2024) with SAM, and YOLOE-seg (Wang et al. 2025), through ultralytics.

CAFE's YOLO-World is another system: YOLO-World-Seg-L, whose masks come from a head of its own. It
is `worker:yolo_world_seg`; ours has YOLO-World's boxes and SAM's masks, and no published threshold.

ultralytics and its weights are AGPL-3.0, unlike this package: an extra of its own, imported only
here. It reads phrases with CLIP, which is not on PyPI (see `docs/models.md`).

YOLO-World mixes the phrases into its neck, so each is asked alone on a backbone that runs once.
YOLOE compares them in its last layer only: all are asked together, each ranked by itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundfault.errors import GroundfaultError, MissingExtra
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.models import checkpoints, frames, prompting
from groundfault.models.box_to_mask import Detections, DetectThenSegment, best, load_segmenter
from groundfault.models.placement import Placement, encoded_before
from groundfault.models.prompting import FLOOR, MOST, PIXELS_AT_ONCE, Instance
from groundfault.records import Prediction

if TYPE_CHECKING:
    from groundfault.interfaces import BinaryMask, Image

    Reader = Callable[[list[str]], Any]
    """Embeddings (1, n, channels) of n phrases."""

__all__ = ["YoloWorld", "Yoloe", "load_yolo_world", "load_yoloe"]

SIDE_PX = 640
SUPPRESSED_FROM = 0.7
"""Boxes that overlap a better one by more are dropped: the library's default for prediction."""

PHRASES_AT_ONCE = 8


def load_yolo_world(argument: str, options: ModelOptions) -> DetectThenSegment:
    """YOLO-World and SAM (2): "weights+segmenter"; weights are a file or a published name."""
    weights, segmenter_name = checkpoints.named("yolo-world", argument)
    network, reader, identity = _network("YOLOWorld", weights, options)
    checkpoints.require_transformers()
    placement = Placement.of(options)
    (segmenter,) = checkpoints.fetch([segmenter_name], options)
    return DetectThenSegment(
        YoloWorld(network.to(placement.device), reader, placement),
        load_segmenter(segmenter.folder, placement),
        checkpoints=(identity, segmenter.identity),
    )


def load_yoloe(argument: str, options: ModelOptions) -> Yoloe:
    """YOLOE-seg; weights are a file or a published name."""
    (weights,) = checkpoints.named("yoloe", argument)
    network, reader, identity = _network("YOLOE", weights, options)
    placement = Placement.of(options)
    return Yoloe(network.to(placement.device), reader, placement, checkpoints=(identity,))


def _network(family: str, weights: str, options: ModelOptions) -> tuple[Any, Reader, str]:
    """A network, what reads its phrases, and what identifies it."""
    file = Path(weights).expanduser()
    if options.offline and file.suffix == ".pt" and not file.is_file():
        raise GroundfaultError(f"{weights} is no file, and offline was asked for")
    if options.offline:
        os.environ["YOLO_OFFLINE"] = "true"
    network = getattr(_imported(), family)(str(file)).model.float().eval()
    if getattr(network.model[-1], "end2end", False):
        raise GroundfaultError(f"{weights} has a head without suppression, which is not supported")
    digest = ""
    if file.is_file():
        with file.open("rb") as content:
            digest = f"@sha256:{hashlib.file_digest(content, 'sha256').hexdigest()[:16]}"

    def read(phrases: list[str]) -> Any:
        try:
            return network.get_text_pe(phrases, cache_clip_model=True)
        except ModuleNotFoundError as problem:
            if problem.name != "clip":
                raise
            raise GroundfaultError(
                "ultralytics reads phrases with CLIP, which is not installed: "
                "pip install git+https://github.com/ultralytics/CLIP.git"
            ) from None

    return network, read, weights + digest


def _imported() -> Any:
    """The library, without what its import does to others."""
    from PIL import Image as Pillow

    os.environ.setdefault("YOLO_AUTOINSTALL", "false")  # it would call pip while it runs
    os.environ.setdefault("YOLO_VERBOSE", "false")
    opened = Pillow.open
    try:
        with np.printoptions():
            import ultralytics
            import ultralytics.data.augment
    except ModuleNotFoundError as problem:
        if problem.name != "ultralytics":
            raise
        raise MissingExtra("ultralytics", "ultralytics") from None
    Pillow.open = opened  # replaced by one that asks for a HEIF library at every unreadable file
    return ultralytics


def _letterbox(image: Image, side_px: int) -> Any:
    """The picture in the network's frame, (1, 3, height, width) in 0…1: scaled to fit the side,
    padded to multiples of the stride, as the library predicts single pictures."""
    import torch
    from ultralytics.data.augment import LetterBox

    boxed = LetterBox(side_px, auto=True, stride=32)(image=image)
    return torch.from_numpy(boxed.copy()).permute(2, 0, 1)[None].float() / 255


def _suppressed(predicted: Any, *, floor: float, most: int) -> Any:
    """Rows x1, y1, x2, y2, score, 0, … of the best boxes in (4 + 1 + extra, n) predictions."""
    from ultralytics.utils.nms import non_max_suppression

    (rows,) = non_max_suppression(
        predicted[None].float().clone(),
        conf_thres=floor,
        iou_thres=SUPPRESSED_FROM,
        max_det=most,
        nc=1,
    )
    return rows


def _in_picture(boxes_xyxy: Any, frame: Any, size: tuple[int, ...]) -> Any:
    """Boxes of the (…, height, width) frame in the picture's own pixels."""
    from ultralytics.utils import ops

    scale_boxes: Any = ops.scale_boxes
    return scale_boxes(frame.shape[-2:], boxes_xyxy.clone(), size[:2])


def _probe_box(frame: Any) -> Any:
    """The box x1, y1, x2, y2 (1, 4) of the bright part of a frame, in its pixels."""
    import torch

    height, width = frame.shape[-2:]
    x, y, across, down = frames.found_box(frames.brightness(frame[0])).tolist()
    corners = torch.tensor([[x - across / 2, y - down / 2, x + across / 2, y + down / 2]])
    return corners * torch.tensor([width, height, width, height])


class YoloWorld:
    """Boxes by phrase."""

    def __init__(
        self,
        network: Any,
        reader: Reader,
        placement: Placement,
        *,
        floor: float = FLOOR,
        most: int = MOST,
        side_px: int = SIDE_PX,
    ) -> None:
        self.network, self.reader, self.placement = network, reader, placement
        self.side_px = side_px
        self.floor, self.most = floor, most

    def detect(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> list[list[Detections]]:
        """Picture by picture: their frames differ in shape."""
        return [self._detect(image, own) for image, own in zip(images, phrases, strict=True)]

    def probe(self, image: Image) -> Any:
        """The box of the picture's bright part, through this detector's frame."""
        frame = _letterbox(image, self.side_px)
        return _in_picture(_probe_box(frame), frame, image.shape)[0]

    def _detect(self, image: Image, phrases: Sequence[str]) -> list[Detections]:
        found: list[Detections] = []
        with self.placement.inference():
            frame = _letterbox(image, self.side_px).to(self.placement.device)
            before = self._backbone(frame)
            for start in range(0, len(phrases), PHRASES_AT_ONCE):
                some = list(phrases[start : start + PHRASES_AT_ONCE])
                for predicted in self._asked(frame, before, some):
                    rows = _suppressed(predicted, floor=self.floor, most=self.most)
                    boxes = _in_picture(rows[:, :4], frame, image.shape)
                    found.append(
                        best(boxes, rows[:, 4], image.shape, floor=self.floor, most=self.most)
                    )
        return found

    def _backbone(self, frame: Any) -> list[Any]:
        """What the layers before the first branch give; none of them has seen a phrase."""
        outputs: list[Any] = []
        for layer in self.network.model:
            if layer.f != -1:
                break
            frame = layer(frame)
            outputs.append(frame)
        return outputs

    def _asked(self, frame: Any, before: list[Any], phrases: list[str]) -> Any:
        """Raw predictions (n, 4 + 1, boxes), each phrase alone on the same picture."""
        n = len(phrases)
        words = self.reader(phrases).reshape(n, 1, -1).to(self.placement.device)
        self.network.model[-1].nc = 1
        with ExitStack() as stack:
            for layer, output in zip(self.network.model, before, strict=False):
                stack.enter_context(encoded_before(layer, output.expand(n, -1, -1, -1)))
            predicted, _ = self.network.predict(frame.expand(n, -1, -1, -1), txt_feats=words)
        return predicted


class Yoloe:
    """Segments every instance of a phrase."""

    def __init__(
        self,
        network: Any,
        reader: Reader,
        placement: Placement,
        *,
        checkpoints: tuple[str, ...] = (),
        floor: float = FLOOR,
        most: int = MOST,
        side_px: int = SIDE_PX,
    ) -> None:
        self.network, self.reader, self.placement = network, reader, placement
        self.side_px = side_px
        self.checkpoints = checkpoints
        self.floor, self.most = floor, most

    def segment(self, image: Image, phrases: Sequence[str]) -> list[Prediction]:
        """One prediction per phrase."""
        import torch

        prompting.check(image, phrases)
        if not phrases:
            return []
        with self.placement.inference():
            frame = _letterbox(image, self.side_px).to(self.placement.device)
            names = [str(number) for number in range(len(phrases))]
            self.network.set_classes(names, self.reader(list(phrases)))
            (predicted, prototypes), _ = self.network.predict(frame)
            boxes, scores, coefficients = predicted[0].split(
                [4, len(phrases), predicted.shape[1] - 4 - len(phrases)]
            )
            return [
                prompting.answer(
                    self._instances(
                        torch.cat([boxes, own[None], coefficients]), prototypes[0], frame, image
                    )
                )
                for own in scores
            ]

    def frame_probe(self, image: Image) -> BinaryMask:
        """The picture's bright part, there and back: seen in the prototypes, or as the box that
        crops a mask, whichever errs more."""
        import torch

        prompting.check(image, [])
        frame = _letterbox(image, self.side_px)
        field = torch.nn.functional.avg_pool2d(frames.brightness(frame[0])[None], 4)
        height, width = image.shape[:2]
        everywhere = torch.tensor([[0.0, 0.0, width, height]])
        box = _in_picture(_probe_box(frame), frame, image.shape)
        ways = [
            decode(prompting.coded(self._masks(prototypes, torch.ones(1, 1), crop, image))[0])
            for prototypes, crop in ((field, everywhere), (torch.ones_like(field), box))
        ]
        return frames.further_from(frames.bright_pixels(image), *ways)

    def _instances(
        self, predicted: Any, prototypes: Any, frame: Any, image: Image
    ) -> Iterator[Instance]:
        """What one phrase found, each mask in the picture's own pixels."""
        rows = _suppressed(predicted, floor=self.floor, most=self.most)
        boxes = _in_picture(rows[:, :4], frame, image.shape)
        step = max(1, PIXELS_AT_ONCE // (image.shape[0] * image.shape[1]))
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            masks = self._masks(prototypes, rows[some, 6:], boxes[some], image)
            seen = masks.amax(dim=(1, 2)) > 0  # the library drops what has no pixels
            yield from map(
                Instance,
                prompting.coded(masks[seen]),
                rows[some, 4][seen].tolist(),
                map(tuple, boxes[some][seen].tolist()),
            )

    def _masks(self, prototypes: Any, coefficients: Any, boxes: Any, image: Image) -> Any:
        from ultralytics.utils import ops

        process_mask: Any = ops.process_mask_native
        return process_mask(prototypes.float(), coefficients.float(), boxes, image.shape[:2])
