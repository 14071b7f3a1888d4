"""The same quads for models that users have already: SAM 3, Grounding DINO, OWLv2.

Each question is one picture with one phrase. Where the phrase's things are there, queries are
matched to them (Hungarian, by class, box and overlap) and learn class and box; SAM 3's also learn
their masks. Where they are not, every query has to say no, and so has SAM 3's presence head: absent
phrases are negatives, weighted by λ_neg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from scipy.optimize import linear_sum_assignment
from torch import nn
from torch.nn import functional

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.foreign import sha256
from groundfault.io.masks import decode, mask_box, parse_mask
from groundfault.io.store import new_folder, write_bytes, write_json
from groundfault.models import checkpoints, prompting
from groundfault.models.box_to_mask import DetectThenSegment, load_segmenter
from groundfault.models.placement import Placement
from groundfault.training.segvlm.cards import CARD, card_of_cure
from groundfault.training.segvlm.features import PictureStore
from groundfault.training.segvlm.objective import bce, dice
from groundfault.training.segvlm.pupil import Pupil
from groundfault.training.segvlm.recipe import Recipe
from groundfault.training.segvlm.samples import Asked, Sample

__all__ = ["CURES", "Cure", "Heads", "detection_losses", "make_cure"]

ALPHA, GAMMA = 0.25, 2.0
"""Of the focal loss, as DETR's descendants have it."""
BOX, OVERLAP = 5.0, 2.0
"""Weights of box distance and overlap beside the class, in matching and in the loss."""
NETWORK = "network"


class Heads(NamedTuple):
    """What a network says about n questions with q queries each."""

    logits: torch.Tensor
    """(n, q)"""
    boxes: torch.Tensor
    """(n, q, 4): centre x, y, width, height in parts of the frame."""
    masks: torch.Tensor | None = None
    """(n, q, height, width) logits."""
    presence: torch.Tensor | None = None
    """(n,)"""


class Family(NamedTuple):
    """One kind of network: how it is loaded, asked and used."""

    model: str
    processor: str
    adapter: str
    """The name of the model that evaluates it."""
    trained: tuple[str, ...]
    """Parts of the names of weights that learn: heads and decoder, not the encoders."""


CURES = {
    "sam3": Family("Sam3Model", "Sam3Processor", "sam3", ("detr_decoder.", "dot_product_scoring.")),
    "grounding-dino": Family(
        "GroundingDinoForObjectDetection",
        "GroundingDinoProcessor",
        "grounded-sam2",
        ("model.decoder.", "class_embed.", "bbox_embed."),
    ),
    "owlv2": Family(
        "Owlv2ForObjectDetection", "Owlv2Processor", "owlv2-sam", ("class_head.", "box_head.")
    ),
}


def make_cure(recipe: Recipe, options: ModelOptions) -> Pupil:
    """Load a network and choose what learns."""
    import transformers

    family = CURES[recipe.cure]
    name = recipe.model.network or checkpoints.DEFAULTS[family.adapter][0]
    (fetched,) = checkpoints.fetch((name,), options)
    placement = Placement.of(options)
    network = placement.load(getattr(transformers, family.model), fetched.folder)
    processor = getattr(transformers, family.processor).from_pretrained(
        fetched.folder, local_files_only=True
    )
    parts = recipe.model.trained or family.trained
    network.requires_grad_(False)
    chosen = [value for own, value in network.named_parameters() if any(p in own for p in parts)]
    if not chosen:
        raise UsageError(f"model.trained: no weight of {name} has {' or '.join(parts)} in its name")
    for value in chosen:
        value.requires_grad_(True)
    return Cure(
        recipe.cure, network, processor, placement, (fetched.identity,), recipe.model.decoder
    )


class Cure:
    """A detector, or SAM 3, that learns to say no."""

    def __init__(
        self,
        kind: str,
        network: nn.Module,
        processor: Any,
        placement: Placement,
        identities: tuple[str, ...],
        decoder: str = "",
    ) -> None:
        self.kind, self.network, self.processor = kind, network, processor
        self.placement, self.identities, self.decoder = placement, identities, decoder
        own = ("ce", "bce", "dice", "presence")
        self.parts: tuple[str, ...] = own if kind == "sam3" else own[:1]
        self.pictures = PictureStore()

    def losses(self, asked: Sequence[Asked]) -> dict[str, torch.Tensor]:
        """Class and box as "ce", masks as "bce" and "dice", presence where there is such a head."""
        samples = [one.sample for one in asked if one.sample.kind != "vqa"]
        place = [k for k, one in enumerate(asked) if one.sample.kind != "vqa"]
        start = torch.zeros(len(asked), device=self.placement.device)
        if not samples:
            return {"ce": start}
        images = [self.pictures.read(sample.image) for sample in samples]
        heads = self.heads(images, [sample.query for sample in samples])
        pairs = zip(samples, images, strict=True)
        found = detection_losses(heads, [self._target(*pair) for pair in pairs])
        where = torch.tensor(place, device=self.placement.device)
        return {part: start.index_add(0, where, own) for part, own in found.items()}

    def heads(self, images: Sequence[Any], phrases: Sequence[str]) -> Heads:
        """What the network says about pictures with one phrase each."""
        return _HEADS[self.kind](self, images, phrases)

    def segmenter(self, step: int) -> Any:
        """The adapter that evaluates this kind of network, around the network as it is now."""
        ids = (*self.identities, f"step {step}")
        if self.kind == "sam3":
            from groundfault.models.sam3 import Sam3

            return _Evaluated(self.network, Sam3(
                self.network, self.processor, self.placement, checkpoints=ids))  # fmt: skip
        detector = _detector(self.kind)(self.network, self.processor, self.placement)
        options = ModelOptions(device=self.placement.device, dtype=self.placement.dtype)
        (fetched,) = checkpoints.fetch((self.decoder,), options)
        drawer = load_segmenter(fetched.folder, self.placement)
        both = DetectThenSegment(detector, drawer, checkpoints=(*ids, fetched.identity))
        return _Evaluated(self.network, both)

    def export(self, folder: Path, step: int, recipe: Mapping[str, object]) -> str:
        """The whole network as a checkpoint of transformers, and how it was made."""
        import shutil

        place = folder / NETWORK
        shutil.rmtree(place, ignore_errors=True)
        with new_folder(place) as temporary:
            self.network.save_pretrained(temporary)  # type: ignore[operator]
            self.processor.save_pretrained(temporary)
        more = "" if self.kind == "sam3" else f"+{self.decoder}"
        spec = f"{CURES[self.kind].adapter}:{place}{more}"
        card = card_of_cure(self.kind, self.identities, spec, step, recipe)
        write_bytes(folder / CARD, card.encode())
        about = {
            "step": step,
            "stands on": self.identities,
            "recipe": recipe,
            "files": {file.name: sha256(file) for file in sorted(place.iterdir())},
        }
        write_json(folder / "trained.json", about)
        return spec

    def _target(self, sample: Sample, image: Any) -> Target:
        """What is there, in the frame of the network: OWLv2 pads pictures to a square."""
        height, width = image.shape[:2]
        frame = (max(height, width),) * 2 if self.kind == "owlv2" else (height, width)
        return _target(sample, frame, self.placement.device)


class Target(NamedTuple):
    """What is there of a phrase."""

    boxes: torch.Tensor
    """(k, 4): centre x, y, width, height in parts of the frame; none where it is absent."""
    masks: torch.Tensor
    """(k, height, width) in the picture's own pixels."""

    @property
    def absent(self) -> bool:
        """Whether there is nothing of the kind."""
        return not len(self.boxes)


def _target(sample: Sample, frame: tuple[int, int], device: str) -> Target:
    """Each instance, or the one region that is known."""
    regions = sample.instances or ((sample.mask,) if sample.mask is not None else ())
    boxes = torch.zeros(len(regions), 4, device=device)
    for row, region in enumerate(regions):
        x, y, w, h = mask_box(parse_mask(region, *region["size"]))
        boxes[row] = torch.tensor([x + w / 2, y + h / 2, w, h])
    boxes /= torch.tensor([frame[1], frame[0]] * 2, device=device)
    masks = [torch.as_tensor(decode(region), dtype=torch.float32) for region in regions]
    return Target(boxes, torch.stack(masks).to(device) if masks else torch.zeros(0, 1, 1))


def detection_losses(heads: Heads, targets: Sequence[Target]) -> dict[str, torch.Tensor]:
    """(n,) of each part; 0 where it is not about a question."""
    rows = [_row(heads, row, target) for row, target in enumerate(targets)]
    return {part: torch.stack([row[part] for row in rows]) for part in rows[0]}


def _row(heads: Heads, row: int, target: Target) -> dict[str, torch.Tensor]:
    logits, boxes = heads.logits[row].float(), heads.boxes[row].float()
    wanted = torch.zeros_like(logits)
    zero = logits.sum() * 0
    found = {"ce": zero, "bce": zero, "dice": zero}
    box_loss = zero
    if not target.absent:
        queries, things = _matched(logits, boxes, target.boxes)
        wanted[queries] = 1.0
        near = boxes[queries], target.boxes[things]
        distance = functional.l1_loss(*near, reduction="none").sum(dim=1)
        box_loss = (BOX * distance + OVERLAP * (1 - _giou(*near).diagonal())).mean()
        if heads.masks is not None:
            found |= _mask_losses(heads.masks[row, queries], target.masks[things])
    found["ce"] = _focal(logits, wanted).sum() / max(1, len(target.boxes)) + box_loss
    if heads.presence is not None:
        there = heads.presence.new_tensor(0.0 if target.absent else 1.0)
        found["presence"] = functional.binary_cross_entropy_with_logits(
            heads.presence[row].float(), there.float()
        )
    return found


def _mask_losses(masks: torch.Tensor, truth: torch.Tensor) -> dict[str, torch.Tensor]:
    size = masks.shape[-2:]
    wanted = functional.interpolate(truth[:, None], size, mode="area")[:, 0].ge(0.5).float()
    inside = torch.ones_like(wanted, dtype=torch.bool)
    masks = masks.float()
    return {"bce": bce(masks, wanted, inside).mean(), "dice": dice(masks, wanted, inside).mean()}


def _matched(
    logits: torch.Tensor, boxes: torch.Tensor, things: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The query for each thing, all together as cheap as can be."""
    with torch.no_grad():
        cost = -logits.sigmoid()[:, None]
        cost = cost + BOX * torch.cdist(boxes, things, p=1) - OVERLAP * _giou(boxes, things)
    queries, own = linear_sum_assignment(cost.cpu().numpy())
    device = logits.device
    return torch.as_tensor(queries, device=device), torch.as_tensor(own, device=device)


def _focal(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Focal loss (Lin et al. 2017), which keeps the many easy negatives from ruling."""
    chance = logits.sigmoid()
    each = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    right = chance * wanted + (1 - chance) * (1 - wanted)
    return (ALPHA * wanted + (1 - ALPHA) * (1 - wanted)) * (1 - right) ** GAMMA * each


def _giou(boxes: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """(n, m): generalised overlap of boxes (Rezatofighi et al. 2019)."""
    (low, high), (low_, high_) = _corners(boxes), _corners(others)
    sizes, sizes_ = (high - low).prod(dim=1)[:, None], (high_ - low_).prod(dim=1)[None]
    shared = (torch.minimum(high[:, None], high_) - torch.maximum(low[:, None], low_)).clamp(min=0)
    shared = shared.prod(dim=2)
    joined = sizes + sizes_ - shared
    hull = (torch.maximum(high[:, None], high_) - torch.minimum(low[:, None], low_)).prod(dim=2)
    return shared / joined.clamp(min=1e-9) - (hull - joined) / hull.clamp(min=1e-9)


def _corners(boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    centre, half = boxes[:, :2], boxes[:, 2:] / 2
    return centre - half, centre + half


def _sam3(cure: Cure, images: Sequence[Any], phrases: Sequence[str]) -> Heads:
    pixels = prompting.processed(cure.processor.image_processor, images)["pixel_values"]
    config: Any = cure.network.config
    length = config.text_config.max_position_embeddings
    tokens = prompting.tokens(cure.processor.tokenizer, phrases, length)
    out = cure.network(
        pixel_values=pixels.to(cure.placement.device), **tokens.to(cure.placement.device)
    )
    low_high = out.pred_boxes
    boxes = torch.cat([(low_high[..., :2] + low_high[..., 2:]) / 2,
                       low_high[..., 2:] - low_high[..., :2]], dim=-1)  # fmt: skip
    return Heads(out.pred_logits, boxes, out.pred_masks, out.presence_logits[:, 0])


def _grounding_dino(cure: Cure, images: Sequence[Any], phrases: Sequence[str]) -> Heads:
    pixels = prompting.processed(cure.processor.image_processor, images)
    sentences = [f"{phrase.lower().strip().rstrip('.')}." for phrase in phrases]
    tokens = cure.processor.tokenizer(sentences, padding=True, return_tensors="pt")
    device = cure.placement.device
    out = cure.network(**pixels.to(device), **tokens.to(device))
    logits = out.logits.max(dim=2).values  # of the best word, as it is evaluated
    return Heads(logits, out.pred_boxes)


def _owlv2(cure: Cure, images: Sequence[Any], phrases: Sequence[str]) -> Heads:
    device, network = cure.placement.device, cure.network
    model: Any = network
    pixels = torch.cat([
        prompting.processed(cure.processor.image_processor, [image])["pixel_values"]
        for image in images
    ])  # fmt: skip
    length = model.config.text_config.max_position_embeddings
    tokens = prompting.tokens(cure.processor.tokenizer, phrases, length).to(device)
    with torch.no_grad():  # both encoders are frozen
        maps, _ = model.image_embedder(pixels.to(device))
        queries = model.owlv2.get_text_features(**tokens).pooler_output
    logits, _ = model.class_predictor(maps.flatten(1, 2), queries[:, None])
    boxes = model.box_predictor(maps.flatten(1, 2), maps)
    return Heads(logits[..., 0], boxes)


_HEADS = {"sam3": _sam3, "grounding-dino": _grounding_dino, "owlv2": _owlv2}


def _detector(kind: str) -> Any:
    if kind == "owlv2":
        from groundfault.models.owlv2_sam import Owlv2

        return Owlv2
    from groundfault.models.grounded_sam2 import GroundingDino

    return GroundingDino


class _Evaluated:
    """An adapter around a network that goes on learning afterwards."""

    def __init__(self, network: nn.Module, adapter: Any) -> None:
        self.network, self.adapter = network, adapter
        self.checkpoints, self.placement = adapter.checkpoints, adapter.placement
        self.any_sizes = True

    def segment(self, image: Any, phrases: Sequence[str]) -> Any:
        """What the adapter says."""
        return self.segment_batch([image], [phrases])[0]

    def segment_batch(self, images: Sequence[Any], phrases: Sequence[Sequence[str]]) -> Any:
        """The same for several pictures."""
        was_training = self.network.training
        self.network.eval()
        try:
            return self.adapter.segment_batch(images, phrases)
        finally:
            self.network.train(was_training)

    def frame_probe(self, image: Any) -> Any:
        """The adapter's own."""
        return self.adapter.frame_probe(image)
