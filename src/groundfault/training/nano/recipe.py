"""A training as a file: which pictures, which stages, each from where and for how long."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import torch

from groundfault import __version__
from groundfault.errors import UnknownName, UsageError
from groundfault.models.nano import LENGTH, SHIPPED, SIDE_PX
from groundfault.training.checkpoints import read_checkpoint, write_checkpoint
from groundfault.training.failures import Failures
from groundfault.training.nano.export import export
from groundfault.training.nano.fitting import Fitting, Mixture, fit
from groundfault.training.nano.network import Nano
from groundfault.training.nano.pictures import KINDS, Pictures, paint
from groundfault.training.nano.questions import how_often, vocabulary
from groundfault.training.nano.restoring import restore
from groundfault.world.phrases import material_of
from groundfault.world.scene import WORLD_VERSION

__all__ = ["Recipe", "Stage", "aimed", "cook"]

Count = Annotated[int, msgspec.Meta(ge=0)]
PAIR_KINDS = {kind: float(KINDS.count(kind)) for kind in KINDS}
SAMPLE = 512
"""Pictures that a finished model is asked about before it goes on."""
Told = Callable[[str, int, int, dict[str, float]], None]


class Stage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stretch of training."""

    name: str
    """What the model is called: FOLDER/NAME."""
    start: str = ""
    """The stage to go on from; "" starts from random weights."""
    weights: str = ""
    """Instead of training: an exported model, one of the package or FOLDER/NAME."""
    steps: Count = 0
    """Updates of the weights."""
    learning_rate: Annotated[float, msgspec.Meta(gt=0)] = 0.001
    """At its highest."""
    scenes_per_step: Count = 32
    """Habitual scenes in one step."""
    pairs_per_step: Count = 0
    """Counterfactual pairs, each two pictures."""
    sculptures: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    """How much likelier a scene with a sculpture is drawn than one without."""
    pair_kinds: dict[str, Annotated[float, msgspec.Meta(ge=0)]] = msgspec.field(
        default_factory=PAIR_KINDS.copy
    )
    """Shares of the kinds of pairs."""
    balanced: bool = False
    """Absent concepts are asked for as often as they are there, not all alike."""
    lambda_neg: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    """How much phrases for what is not there count."""
    rivals: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    """How much it counts that the other things of a picture are told no, besides fitting less."""
    eagerness: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    """How much a yes counts against a no."""
    sculptures_yes: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    """How much more a yes to a sculpture counts than one to another thing."""
    depictions: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    """Share of sculptures that habitual scenes call what they show."""
    tempting_scenes: bool = False
    """Habitual scenes are asked for what tempts as well: negatives of words, not of pictures."""
    misleading: bool = True
    """Pairs are asked for what each picture suggests, not only for what the other one shows."""
    coats: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    """Share of things in habitual scenes that get random colours: shapes are learnt beside
    surfaces."""
    seed: Count = 0
    """Of the draws and of random weights."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a training depends on."""

    data_seed: Count
    """Of the scenes that are drawn."""
    scenes: Annotated[int, msgspec.Meta(ge=1)]
    """Habitual ones."""
    pairs: Count = 0
    """Surprising ones."""
    threads: Annotated[int, msgspec.Meta(ge=1)] = 2
    """CPU threads that compute."""
    stages: tuple[Stage, ...]
    """Stretches of training, in order; each writes a model."""

    def __post_init__(self) -> None:
        names: list[str] = []
        for stage in self.stages:
            if stage.start and stage.start not in names:
                raise ValueError(f"stage {stage.name} starts from '{stage.start}', not above it")
            if stage.pairs_per_step and self.pairs < len(KINDS):
                raise ValueError(f"stage {stage.name} wants pairs: at least {len(KINDS)}")
            unknown = set(stage.pair_kinds) - set(PAIR_KINDS)
            if unknown or not sum(stage.pair_kinds.values()):
                raise ValueError(f"stage {stage.name}: pair_kinds are shares of {list(PAIR_KINDS)}")
            if stage.name in names or not stage.name.replace("-", "").replace(".", "").isalnum():
                raise ValueError(f"stage name '{stage.name}' is taken or not a plain name")
            if bool(stage.weights) == bool(stage.steps) or (stage.weights and stage.start):
                raise ValueError(f"stage {stage.name}: steps, or weights of a finished model")
            names.append(stage.name)


def cook(recipe: Recipe, out: Path, only: list[str], told: Told) -> list[Path]:
    """Run the stages of a recipe (and those they start from) and export each as a model.

    What is finished in `out` is not done again; a stage that was interrupted goes on from its
    last hundred steps.
    """
    stages = _needed(recipe, only)
    torch.set_num_threads(recipe.threads)
    words = vocabulary()
    pictures: dict[str, Pictures] = {}
    for kind, count, seed, wanted in (
        (
            "habitual",
            recipe.scenes,
            recipe.data_seed,
            any(stage.scenes_per_step for stage in stages),
        ),
        (
            "surprising",
            recipe.pairs,
            recipe.data_seed + 1,
            any(stage.pairs_per_step for stage in stages),
        ),
    ):
        if wanted:

            def advance(done: int, total: int, kind: str = kind) -> None:
                told(f"rendering {kind}", done, total, {})

            pictures[kind] = paint(kind, count, seed, out / "pictures", progress=advance)
    written = []
    for stage in stages:
        if not (out / f"{stage.name}.safetensors").exists():
            _run(stage, recipe, pictures, words, out, told)
        network = _network(words)
        network.load_state_dict(
            _load(out / f"{stage.name}.safetensors", _key(recipe, stage))["network"]
        )
        card = {"groundfault": __version__, "recipe": msgspec.to_builtins(recipe)}
        export(network, words, out / stage.name, card | {"stage": stage.name})
        written.append(out / stage.name)
    return written


def aimed(recipe: Recipe, failures: Failures) -> Recipe:
    """The same recipe with more pairs of the kinds that failed in a run, of other scenes."""
    seeds = {int(seed) for seed in re.findall(r"\bseed (\d+)", failures.source)}
    if seeds & {recipe.data_seed, recipe.data_seed + 1}:
        raise UsageError(
            f"data_seed {recipe.data_seed}: the run was made with this seed; choose another one, "
            "so that what it is measured on is not learnt"
        )
    stages = tuple(
        msgspec.structs.replace(stage, pair_kinds=_aimed_shares(stage, failures))
        if stage.pairs_per_step
        else stage
        for stage in recipe.stages
    )
    return msgspec.structs.replace(recipe, stages=stages)


def _aimed_shares(stage: Stage, failures: Failures) -> dict[str, float]:
    """Shares in proportion to failures; kinds that the run does not have keep the mean's."""
    rates = {kind: failures.of_intervention(kind) for kind in stage.pair_kinds}
    return {
        kind: share * (failures.rate if rates[kind] is None else rates[kind])  # type: ignore[operator]
        for kind, share in stage.pair_kinds.items()
    }


def _needed(recipe: Recipe, only: list[str]) -> list[Stage]:
    known = {stage.name: stage for stage in recipe.stages}
    for name in only:
        if name not in known:
            raise UnknownName("stage", name, known)
    needed = set(only or known)
    for stage in reversed(recipe.stages):
        if stage.name in needed and stage.start:
            needed.add(stage.start)
    return [stage for stage in recipe.stages if stage.name in needed]


def _network(words: dict[str, int]) -> Nano:
    return Nano(SIDE_PX, len(words) + 1, LENGTH)


def _key(recipe: Recipe, stage: Stage) -> str:
    """What a checkpoint depends on: its own stage, those before it, and the data."""
    chain, name = [], stage.name
    known = {one.name: one for one in recipe.stages}
    while name:
        chain.append(msgspec.structs.replace(known[name], name=""))
        name = known[name].start
    data = (WORLD_VERSION, recipe.data_seed, recipe.scenes, recipe.pairs)
    return hashlib.sha256(msgspec.json.encode((data, chain))).hexdigest()


def _load(path: Path, key: str) -> dict[str, Any]:
    stored = read_checkpoint(path)
    if stored.get("key") != key:
        raise UsageError(f"{path} belongs to another recipe; choose another folder or delete it")
    return stored


def _run(
    stage: Stage,
    recipe: Recipe,
    pictures: dict[str, Pictures],
    words: dict[str, int],
    out: Path,
    told: Told,
) -> None:
    key, part = _key(recipe, stage), out / f"{stage.name}.part.safetensors"
    torch.manual_seed(stage.seed)
    network = _network(words)
    if stage.weights:
        restore(network, _exported(stage.weights), pictures["habitual"].images[:SAMPLE])
        state = {"network": network.state_dict(), "key": key}
        write_checkpoint(out / f"{stage.name}.safetensors", state)
        return
    if stage.start:
        before = next(one for one in recipe.stages if one.name == stage.start)
        started = _load(out / f"{stage.start}.safetensors", _key(recipe, before))
        network.load_state_dict(started["network"])
    mixtures = []
    if stage.scenes_per_step:
        mixtures.append(_replay(stage, pictures["habitual"]))
    if stage.pairs_per_step:
        mixtures.append(_pairs(stage, pictures["surprising"]))
    fitting = Fitting(
        network,
        stage.learning_rate,
        stage.steps,
        stage.lambda_neg,
        stage.seed,
        rivals=stage.rivals,
        eagerness=stage.eagerness,
        sculptures_yes=stage.sculptures_yes,
    )
    if part.exists():
        fitting.restore(_load(part, key))

    def save(path: Path) -> None:
        write_checkpoint(path, fitting.state() | {"key": key})

    for step, losses in fit(fitting, mixtures, words):
        told(stage.name, step, stage.steps, losses)
        if step % 100 == 0 and step < stage.steps:
            save(part)
    save(out / f"{stage.name}.safetensors")
    part.unlink(missing_ok=True)


def _exported(name: str) -> Path:
    shipped = SHIPPED / name
    return shipped if shipped.with_name(f"{name}.find.onnx").is_file() else Path(name)


def _replay(stage: Stage, pictures: Pictures) -> Mixture:
    sculpted = [any(map(material_of, scene.things)) for scene in pictures.scenes]
    chances = np.where(sculpted, stage.sculptures, 1.0)
    chances /= chances.sum()
    often = how_often(pictures.scenes, chances.tolist()) if stage.balanced else None
    return Mixture(
        pictures,
        stage.scenes_per_step,
        chances=chances,
        often=often,
        depictions=stage.depictions,
        tempting=stage.tempting_scenes,
        coats=stage.coats,
    )


def _pairs(stage: Stage, pictures: Pictures) -> Mixture:
    n = len(pictures.scenes) // 2
    kinds = [KINDS[index % len(KINDS)] for index in range(n)]
    chances = np.array([stage.pair_kinds.get(kind, 0.0) / kinds.count(kind) for kind in kinds])
    chances /= chances.sum()
    scenes = np.repeat(chances / 2, 2)
    often = how_often(pictures.scenes, scenes.tolist()) if stage.balanced else None
    return Mixture(
        pictures,
        2 * stage.pairs_per_step,
        paired=True,
        chances=chances,
        often=often,
        tempting=True,
        misleading=stage.misleading,
    )
