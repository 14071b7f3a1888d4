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
    """The language model."""
    decoder: str = "facebook/sam2.1-hiera-large"
    """Draws the masks; of detectors, used in evaluation only."""
    network: str = ""
    """Of the other cures: SAM 3, Grounding DINO or OWLv2; "" is the one that is evaluated here."""
    trained: tuple[str, ...] = ()
    """Of the other cures, parts of names of the weights that learn; () is the cure's own choice."""
    revision: str = ""
    """Of the hub; "" is the pinned one, else main."""
    max_tokens: Positive = 128
    """Of an answer."""
    max_pixels: Positive = MAX_PIXELS
    """Of a picture as the language model sees it."""


class Optimiser(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """AdamW with a linear warm-up and a linear way to 0."""

    learning_rate: Annotated[float, msgspec.Meta(gt=0)] = 1e-4
    """At its highest, after the warm-up."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW's."""
    weight_decay: Share = 0.0
    """AdamW's."""
    clip: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    """Highest norm of a gradient."""
    warm_up: Count = 100
    """Steps until the learning rate is at its highest."""
    batch: Positive = 96
    """Draws per step over all processes; a quad, or a picture with its sentences, is one."""
    micro_batch: Positive = 8
    """Questions at once in one process; halved when memory runs out."""
    checkpointing: bool = True
    """Compute activations of the language model twice instead of keeping them."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """auto is bf16 on CUDA, else fp32."""
    threads: Positive = 2
    """On a CPU."""


class DataSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Data to learn from or to be measured on."""

    name: str
    """What logs and tables call it."""
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
    """What it is measured on."""


class Guard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must not be learnt from, besides what is evaluated."""

    sets: tuple[DataSet, ...] = ()
    """Their pictures must not be learnt from."""
    ids: tuple[str, ...] = ()
    """Files with a COCO image id per line."""
    bits: Count = 40
    """Pictures whose perceptual hashes differ in no more bits show one scene."""
    leave_out: bool = False
    """Learn from the others instead of refusing to start; a quad goes as a whole."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a training depends on."""

    cure: Literal["segvlm", "sam3", "grounding-dino", "owlv2"] = "segvlm"
    """What is trained: a segmenter that talks, or one of the others."""
    about: str = ""
    """What the recipe is for, in a sentence."""
    seed: Count = 0
    """What every draw depends on."""
    steps: Positive
    """Updates of the weights."""
    model: Model = Model()
    """The checkpoints to begin with."""
    lora: Lora = Lora()
    """Which weights of the language model learn."""
    losses: Losses = Losses()
    """The weights of the parts of the loss."""
    wordings: Count = 0
    """How many of our ways to ask and to answer are used; 0 is all."""
    asked_as: Literal["held-out", "trained"] = "held-out"
    """How the model is asked later: in words that it was not trained with, or in the first ones."""
    optimiser: Optimiser = Optimiser()
    """Rates, batches and precision."""
    sources: tuple[DataSet, ...]
    """What it learns from."""
    evaluation: Evaluation = Evaluation()
    """What is measured while it learns."""
    guard: Guard = Guard()
    """What must not be learnt from."""
    save_every: Positive = 100
    """Steps between checkpoints; a killed training goes on from the last."""
    features_gb: Share = 50.0
    """Disk for features of pictures; 0 keeps none."""
    trackers: tuple[Literal["tensorboard", "wandb", "mlflow"], ...] = ()
    """Where curves are logged besides the folder."""

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
