"""A counterfactual fine-tuning as a file: what learns, from which data, how long, and what is
measured on the way. Paths are relative to where the command runs."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import msgspec

from groundfault.models.segvlm.network import Lora
from groundfault.models.segvlm.rows import MAX_PIXELS
from groundfault.training.segvlm.objective import Losses

__all__ = ["CURES", "DataSet", "Evaluation", "Guard", "Model", "Optimiser", "Recipe", "key_of"]

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0)]
CURES = ("segvlm", "sam3", "grounding-dino", "owlv2")


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The checkpoints: names on the hub, or folders."""

    vlm: str = "Qwen/Qwen3-VL-4B-Instruct"
    decoder: str = "facebook/sam2.1-hiera-large"
    """Draws the masks; of detectors, used in evaluation only."""
    network: str = ""
    """Of the other cures: SAM 3, Grounding DINO or OWLv2; "" is the one that is evaluated here."""
    trained: tuple[str, ...] = ()
    """Of the other cures, parts of names of the weights that learn; () is the cure's own choice."""
    revision: str = ""
    max_tokens: Positive = 128
    """Of an answer."""
    max_pixels: Positive = MAX_PIXELS
    """Of a picture as the language model sees it."""


class Optimiser(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """AdamW with a linear warm-up and a linear way to 0."""

    learning_rate: Annotated[float, msgspec.Meta(gt=0)] = 1e-4
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: Share = 0.0
    clip: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    warm_up: Count = 100
    batch: Positive = 96
    """Draws per step over all processes; a quad, or a picture with its sentences, is one."""
    micro_batch: Positive = 8
    """Questions at once in one process; halved when memory runs out."""
    checkpointing: bool = True
    """Compute activations of the language model twice instead of keeping them."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    threads: Positive = 2
    """On a CPU."""


class DataSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Data to learn from or to be measured on."""

    name: str
    format: str = "folder"
    """A benchmark's name, or refcoco, rrefcoco, reasonseg, vqa."""
    inputs: dict[str, str | list[str]] = {}
    """The format's own files: {folder = …}, {annotations = …, images = …}."""
    rate: Share = 1.0
    """How often it is drawn from, among the others."""
    shares: dict[str, Share] = {}
    """Of its strata: true and false, referring and reasoning."""
    sentences: Positive = 3
    """Most questions about one picture in one draw."""
    pictures: bool = True
    """False leaves edited pictures out: of a quad, (I, c) and (I, c') alone."""
    limit: Count = 0
    """Only the first cases; 0 is all."""


class Evaluation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is measured while it learns: before, every so many steps, and at the end."""

    every: Count = 0
    """Steps; 0 measures only before and after."""
    limit: Count = 0
    """Cases of each set; 0 is all."""
    sets: tuple[DataSet, ...] = ()


class Guard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must not be learnt from, besides what is evaluated."""

    sets: tuple[DataSet, ...] = ()
    ids: tuple[str, ...] = ()
    """Files with a COCO image id per line."""
    bits: Count = 40
    """Pictures whose perceptual hashes differ in no more bits show one scene."""
    leave_out: bool = False
    """Learn from the others instead of refusing to start; a quad goes as a whole."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a training depends on."""

    cure: Literal["segvlm", "sam3", "grounding-dino", "owlv2"] = "segvlm"
    about: str = ""
    seed: Count = 0
    steps: Positive
    model: Model = Model()
    lora: Lora = Lora()
    losses: Losses = Losses()
    wordings: Count = 0
    """How many of our ways to ask and to answer are used; 0 is all."""
    asked_as: Literal["held-out", "trained"] = "held-out"
    """How the model is asked later: in words that it was not trained with, or in the first ones."""
    optimiser: Optimiser = Optimiser()
    sources: tuple[DataSet, ...]
    evaluation: Evaluation = Evaluation()
    guard: Guard = Guard()
    save_every: Positive = 100
    features_gb: Share = 50.0
    """Disk for features of pictures; 0 keeps none."""
    trackers: tuple[Literal["tensorboard", "wandb", "mlflow"], ...] = ()

    def __post_init__(self) -> None:
        names = [source.name for source in self.sources]
        if len(set(names)) < len(names):
            raise ValueError("two sources have one name")
        if not names:
            raise ValueError("it has no source to learn from")


def key_of(recipe: Recipe, identities: tuple[str, ...], data: str) -> str:
    """What a stored state depends on: the recipe without what only watches it or fits it to a
    machine, the checkpoints and the data. Another state is not gone on with."""
    machine = msgspec.structs.replace(
        recipe.optimiser, micro_batch=1, checkpointing=True, threads=1
    )  # what is learnt is a mean over the whole step
    kept = msgspec.structs.replace(
        recipe, evaluation=Evaluation(), guard=Guard(), save_every=1, trackers=(), features_gb=0,
        about="", optimiser=machine,
    )  # fmt: skip
    content = msgspec.json.encode((kept, identities, data), order="deterministic")
    return hashlib.sha256(content).hexdigest()
