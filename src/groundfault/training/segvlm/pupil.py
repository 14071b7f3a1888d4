"""Whatever learns: samples in, the parts of the loss out, a model in a folder at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from groundfault.io.masks import decode
from groundfault.models.placement import Placement
from groundfault.models.segvlm.decoders import Drawn, Features, MaskDecoder
from groundfault.models.segvlm.network import SegVLM
from groundfault.models.segvlm.rows import Reader
from groundfault.models.segvlm.segmenter import SegVLMSegmenter
from groundfault.training.segvlm.cluster import Cluster
from groundfault.training.segvlm.features import FeatureStore, PictureStore, stacked
from groundfault.training.segvlm.objective import PARTS, Losses, bce, dice
from groundfault.training.segvlm.samples import Asked
from groundfault.training.segvlm.sharding import SharedSegmenter

__all__ = ["Pupil", "SegVLMPupil"]


class Pupil(Protocol):
    """A network that learns from samples."""

    identities: tuple[str, ...]
    """Of the checkpoints that it stands on."""
    parts: tuple[str, ...]
    """Of the loss, those that it has."""

    @property
    def network(self) -> nn.Module:
        """Whose weights that require gradients are trained and stored."""
        ...

    def losses(self, asked: Sequence[Asked]) -> Mapping[str, torch.Tensor]:
        """The parts of the loss, (n,) each in the order of the samples, 0 where one is not about a
        sample."""
        ...

    def segmenter(self, step: int) -> Any:
        """The network as it is now, to be evaluated."""
        ...

    def export(self, folder: Path, step: int, recipe: Mapping[str, object]) -> str:
        """Write what was trained; how `--model` names it."""
        ...


class SegVLMPupil:
    """A vision-language model that learns to draw, and to deny."""

    def __init__(
        self,
        network: SegVLM,
        reader: Reader,
        placement: Placement,
        weights: Losses,
        *,
        names: tuple[str, str],
        identities: tuple[str, ...],
        features: Path | None = None,
        limit_gb: float = 50.0,
        max_tokens: int = 128,
        held_out: bool = True,
        shared_by: Cluster | None = None,
    ) -> None:
        self.network, self.reader, self.placement = network, reader, placement
        self.weights, self.names, self.identities = weights, names, identities
        self.max_tokens, self.held_out, self.shared_by = max_tokens, held_out, shared_by
        self.parts = tuple(part for part in PARTS if part == "ce" or weights.of(part) > 0)
        self.pictures = PictureStore()
        self.features = FeatureStore(network.decoder, identities[1], features, limit_gb=limit_gb)

    def losses(self, asked: Sequence[Asked]) -> dict[str, torch.Tensor]:
        """One pass for all questions, those with a forced [SEG] behind the others."""
        forced = [k for k, one in enumerate(asked) if one.forced and self.weights.forces]
        order = [*range(len(asked)), *forced]
        n = len(asked)
        images = [self.pictures.read(asked[k].sample.image) for k in order]
        rows = self.reader.rows(
            images,
            [asked[k].question for k in order],
            [one.answer for one in asked] + [asked[k].forced for k in forced],
            [place < n for place in range(len(order))],
        )
        drawing = [
            place for place, k in enumerate(order) if place >= n or asked[k].sample.mask is not None
        ]
        rows = _marked_only(rows, drawing).to(self.placement.device)
        levels: Features = ()
        if drawing:
            paths = [asked[order[place]].sample.image for place in drawing]
            found = self.features.get(paths, [images[place] for place in drawing])
            levels = stacked(found, self.placement.device)
        answered = self.network(rows, levels)
        parts = {"ce": answered.ce[:n]}
        if answered.drawn is not None:
            parts |= self._drawn(answered.drawn, [order[place] for place in drawing],
                                 [place >= n for place in drawing], asked)  # fmt: skip
        return parts

    def segmenter(self, step: int) -> SegVLMSegmenter:
        """The network as it is now."""
        kind: Callable[..., SegVLMSegmenter] = SegVLMSegmenter
        if self.shared_by is not None:
            kind = partial(SharedSegmenter, self.shared_by)
        return kind(
            self.network,
            self.reader,
            self.placement,
            presence=self.weights.presence > 0,
            max_tokens=self.max_tokens,
            held_out=self.held_out,
            checkpoints=(*self.identities, f"step {step}"),
        )

    def export(self, folder: Path, step: int, recipe: Mapping[str, object]) -> str:
        """Adapter, projector and decoder with their hashes, and a card."""
        from groundfault.training.segvlm.export import write_model

        write_model(folder, self, step, recipe)
        return f"segvlm:{folder}"

    def _drawn(
        self, drawn: Drawn, owners: Sequence[int], forced: Sequence[bool], asked: Sequence[Asked]
    ) -> dict[str, torch.Tensor]:
        """The parts about masks and presence, put to the places of their samples."""
        targets, inside = _targets(self.network.decoder, owners, forced, asked)
        masks = drawn.masks.float()
        targets, inside = targets.to(masks.device), inside.to(masks.device)
        place = torch.tensor(owners, device=masks.device)
        was_forced = torch.tensor(forced, device=masks.device)
        flat = bce(masks, targets, inside)
        zero = torch.zeros_like(flat)
        values = {
            "bce": torch.where(was_forced, zero, flat),
            "dice": torch.where(was_forced, zero, dice(masks, targets, inside)),
        }
        if self.weights.empty > 0:
            values["empty"] = torch.where(was_forced, flat, zero)
        if self.weights.presence > 0 and drawn.presence is not None:
            values["presence"] = nn.functional.binary_cross_entropy_with_logits(
                drawn.presence.float(), (~was_forced).float(), reduction="none"
            )
        start = flat.new_zeros(len(asked))
        return {part: start.index_add(0, place, own) for part, own in values.items()}


def _marked_only(rows: Any, drawing: Sequence[int]) -> Any:
    """[SEG] counts only where there is something to draw: an answer in words may mention it."""
    wanted = torch.zeros(len(rows.seg), dtype=torch.bool)
    wanted[list(drawing)] = True
    return rows._replace(seg=torch.where(wanted, rows.seg, torch.full_like(rows.seg, -1)))


def _targets(
    decoder: MaskDecoder, owners: Sequence[int], forced: Sequence[bool], asked: Sequence[Asked]
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the decoder has to draw, nothing where [SEG] was forced."""
    found = []
    for k, is_forced in zip(owners, forced, strict=True):
        mask = asked[k].sample.mask
        if is_forced or mask is None:
            side = decoder.side()
            found.append((torch.zeros(side, side), torch.ones(side, side, dtype=torch.bool)))
        else:
            target, inside = decoder.target(decode(mask))
            ignored = asked[k].sample.ignored
            if ignored is not None:
                inside &= decoder.target(decode(ignored))[0] == 0
            found.append((target, inside))
    return torch.stack([each[0] for each in found]), torch.stack([each[1] for each in found])
