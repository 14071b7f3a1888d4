"""The network: a vision-language model with LoRA on its language part, a projector, a mask decoder.

What learns: LoRA on the attention of the language model, the rows of [SEG] in its vocabulary (or
the whole vocabulary, as LISA does), the projector, the mask decoder. Everything else is frozen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import msgspec
import torch
from torch import nn

from groundfault.errors import GroundfaultError, MissingExtra
from groundfault.models.segvlm.decoders import Drawn, Features, MaskDecoder
from groundfault.models.segvlm.rows import HIDDEN, Rows

__all__ = ["Answered", "Lora", "SegVLM", "add_lora", "make_room", "projector", "tapped"]

LANGUAGE = r".*language_model.*\.(?:{targets})"
"""Only the language model: plain names of layers also hit the vision towers of some families."""


class Lora(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which weights of the language model learn, and how; the defaults are LISA's."""

    r: int = 8
    """The rank."""
    alpha: int = 16
    """The scale; updates are multiplied by alpha / r."""
    dropout: float = 0.05
    """Of LoRA's input."""
    targets: tuple[str, ...] = ("q_proj", "v_proj")
    """Parts of names of the layers that learn."""
    rows: Literal["new", "all"] = "new"
    """Of the vocabulary: [SEG] alone, or all words (LISA)."""


class Answered(NamedTuple):
    """What comes out for n rows, m of which have a [SEG]."""

    ce: torch.Tensor
    """(n,): mean cross-entropy of each answer; 0 where nothing is learnt."""
    drawn: Drawn | None
    """Of the rows with a [SEG], in order; None where no row has one."""


class SegVLM(nn.Module):
    """A vision-language model that draws what it finds."""

    def __init__(self, vlm: nn.Module, decoder: MaskDecoder, projector: nn.Module) -> None:
        super().__init__()
        self.vlm, self.decoder, self.projector = vlm, decoder, projector

    def forward(self, rows: Rows, features: Features) -> Answered:
        """Read questions with their answers; draw what each [SEG] stands for on the features of
        its picture, (m, …) each level."""
        ce, states = self.read(rows)
        if not len(states):
            return Answered(ce, None)
        return Answered(ce, self.draw(states, features))

    def read(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Cross-entropy of each answer, and the (m, hidden) states that predict [SEG]."""
        kept = rows.n_answer + 1
        with tapped(self.vlm) as states:
            logits = self.vlm(**rows.inputs, logits_to_keep=kept, use_cache=False).logits
        labels = rows.labels[:, -kept + 1 :]
        losses = nn.functional.cross_entropy(
            logits[:, :-1].float().transpose(1, 2), labels, ignore_index=HIDDEN, reduction="none"
        )
        ce = losses.sum(dim=1) / (labels != HIDDEN).sum(dim=1).clamp(min=1)
        own = (rows.seg >= 0).nonzero()[:, 0]
        # the state that predicts a word stands one place before it
        before = rows.seg[own] - 1 - (rows.labels.shape[1] - kept)
        return ce, states[-1][own, before]

    def draw(self, states: torch.Tensor, features: Features) -> Drawn:
        """Masks of (m, hidden) states."""
        weight = next(self.projector.parameters())
        drawn: Drawn = self.decoder(features, self.projector(states.to(weight.dtype)))
        return drawn

    def trained(self) -> dict[str, nn.Parameter]:
        """The weights that learn, by name."""
        return {name: value for name, value in self.named_parameters() if value.requires_grad}

    def frozen_hash(self) -> str:
        """SHA-256 of everything that must not change."""
        digest = hashlib.sha256()
        for name, value in self.named_parameters():
            if not value.requires_grad:
                digest.update(name.encode())
                digest.update(value.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


@contextmanager
def tapped(vlm: nn.Module) -> Iterator[list[torch.Tensor]]:
    """While it lasts, the states that the vocabulary is applied to, one (n, places, hidden) tensor
    per call: the last layer's, of exactly the places whose words are predicted."""
    seen: list[torch.Tensor] = []
    head: Any = vlm.get_output_embeddings()  # type: ignore[operator]
    handle = head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    try:
        yield seen
    finally:
        handle.remove()


def projector(vlm: Any, decoder: MaskDecoder) -> nn.Sequential:
    """From a state of the language model to a prompt, as LISA has it."""
    hidden = vlm.config.get_text_config().hidden_size
    return nn.Sequential(
        nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, decoder.width), nn.Dropout(0.0)
    )


def make_room(vlm: Any, seg: int) -> None:
    """A row of the vocabulary for [SEG], the mean of all words. Many vocabularies have spare rows:
    they are not resized, which would cut them off."""
    if vlm.get_input_embeddings().weight.shape[0] <= seg:
        vlm.resize_token_embeddings(seg + 1, mean_resizing=False)
    with torch.no_grad():
        for table in {id(t): t for t in _tables(vlm)}.values():
            table[seg] = table[:seg].mean(dim=0)


def add_lora(vlm: Any, settings: Lora, seg: int) -> Any:
    """The model with LoRA and the rows of the vocabulary that learn; the rest is frozen."""
    try:
        import peft
    except ModuleNotFoundError:
        raise MissingExtra("peft", "segvlm") from None

    pattern = LANGUAGE.format(targets="|".join(map(re.escape, settings.targets)))
    found = [name for name, _ in vlm.named_modules() if re.fullmatch(pattern, name)]
    if not found:
        raise GroundfaultError(
            f"no layer of the language model is called {' or '.join(settings.targets)}; choose "
            "lora.targets among those of this family"
        )
    tied = len({id(table) for table in _tables(vlm)}) == 1
    names = ["embed_tokens"] if tied else ["embed_tokens", "lm_head"]
    whole = settings.rows == "all"
    wrapped = peft.get_peft_model(
        vlm,
        peft.LoraConfig(
            r=settings.r,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            bias="none",
            task_type="CAUSAL_LM",
            target_modules=pattern,
            modules_to_save=names if whole else None,
            trainable_token_indices=None if whole else {name: [seg] for name in names},
        ),
    )
    for value in wrapped.parameters():
        if value.requires_grad:  # whatever learns is kept exactly, however rough the rest is
            value.data = value.data.float()
    return wrapped


def _tables(vlm: Any) -> Sequence[Any]:
    """The vocabulary as it is read and as it is said; one tensor where both are tied."""
    head = vlm.get_output_embeddings()
    return [vlm.get_input_embeddings().weight, *([] if head is None else [head.weight])]
