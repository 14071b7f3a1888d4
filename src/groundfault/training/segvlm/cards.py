"""The card of a trained model: what it is, what it stands on, what is not known about it. Hubs read
the lines above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from groundfault import __version__
from groundfault.models.segvlm.folder import Header

__all__ = ["CARD", "card_of", "card_of_cure"]

CARD = "README.md"
ENDING = """Its licence is that of the checkpoints it stands on and of the data it was trained on.
How good it is, evaluation says: nothing is claimed here.
"""


def card_of(header: Header) -> str:
    """The card of a segmenter that talks."""
    names = [
        identity.rpartition("@")[0] for identity in (header.vlm_identity, header.decoder_identity)
    ]
    trained = _trained(header.recipe, header.step, header.groundfault)
    return f"""{_head(names)}# A segmenter that says when nothing is there

{trained} (RobustSeg's recipe; the form of its negative loss is a reconstruction).

- stands on: {header.vlm_identity} and {header.decoder_identity}
- learnt: LoRA on the language model, the rows of [SEG], the projector, the mask decoder
- losses: {_words(header.recipe.get("losses"))}
- data: {_sources(header.recipe)}
- presence head trained on absent things: {"yes" if header.presence else "no"}

    groundfault eval BENCHMARK --model segvlm:FOLDER

{ENDING}"""


def card_of_cure(
    kind: str, identities: Sequence[str], spec: str, step: int, recipe: Mapping[str, object]
) -> str:
    """The card of SAM 3, Grounding DINO or OWLv2 after counterfactual fine-tuning."""
    names = [identity.rpartition("@")[0] for identity in identities]
    return f"""{_head(names)}# {kind} that says when nothing is there

{_trained(recipe, step, __version__)}: phrases of things that are absent are its negatives.

- stands on: {", ".join(identities)}
- losses: {_words(recipe.get("losses"))}
- data: {_sources(recipe)}

    groundfault eval BENCHMARK --model {spec}

{ENDING}"""


def _head(names: Sequence[str]) -> str:
    """What hubs read; folders are no names there."""
    known = [
        name for name in names if name.count("/") == 1 and not name.startswith((".", "/", "~"))
    ]
    lines = [
        "library_name: groundfault",
        "pipeline_tag: image-segmentation",
        "tags: [counterfactual-fine-tuning, hallucination, referring-segmentation]",
    ]
    if known:
        lines.append(f"base_model: [{', '.join(known)}]")
    return "\n".join(["---", *lines, "---", "", ""])


def _trained(recipe: Mapping[str, object], step: int, version: str) -> str:
    how = f"{step} steps of counterfactual fine-tuning, seed {recipe.get('seed', 0)}"
    return f"Trained with groundfault {version} for {how}"


def _sources(recipe: Mapping[str, object]) -> str:
    found: Any = recipe.get("sources") or ()
    return ", ".join(f"{each['name']} ({each.get('rate', 1.0):g})" for each in found) or "not said"


def _words(value: object) -> str:
    return msgspec.json.encode(value or {}).decode()
