"""A training from its recipe to a model in a folder.

segvlm.json, adapter/, …   the model (`groundfault.models.segvlm.folder`)
training/recipe.json       as it was resolved
training/log.jsonl         a line per step: losses by part and kind of sample
training/state.safetensors what --resume goes on from
training/evaluations/      a run per evaluated step and data set
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.foreign import decode_json
from groundfault.io.store import cache_folder, locked, write_bytes, write_json
from groundfault.models.segvlm.loading import load_bases
from groundfault.models.segvlm.network import SegVLM, add_lora, make_room, projector
from groundfault.models.segvlm.rows import Reader
from groundfault.training.checkpoints import read_checkpoint, write_checkpoint
from groundfault.training.segvlm import guard
from groundfault.training.segvlm.cluster import Cluster
from groundfault.training.segvlm.estimate import Estimate, estimate
from groundfault.training.segvlm.fitting import Fitting, StepLog, steps
from groundfault.training.segvlm.mixture import Mixture, Source
from groundfault.training.segvlm.pupil import Pupil, SegVLMPupil
from groundfault.training.segvlm.recipe import DataSet, Recipe, key_of
from groundfault.training.segvlm.sharding import evaluated, shard
from groundfault.training.segvlm.sources import pictures_of, source_of

__all__ = ["Data", "Evaluate", "Watch", "make_pupil", "read_data", "train"]

OWN = "training"
RECIPE, LOG, STATE, EVALUATIONS = "recipe.json", "log.jsonl", "state.safetensors", "evaluations"
Evaluate = Callable[[Any, DataSet, Path, int], Mapping[str, float | None]]
"""(segmenter, data, folder of the run, step) → what it measured."""


class Watch(NamedTuple):
    """Who is told what happens; nobody, unless somebody asks."""

    step: Callable[[StepLog, int], None] = lambda log, steps: None
    measured: Callable[[int, str, Mapping[str, float | None]], None] = lambda *_: None
    reading: Callable[[int, int], None] = lambda done, total: None
    estimated: Callable[[Estimate], None] | None = None
    """What it will take, before the first step; it is counted only where somebody listens."""


class Data(NamedTuple):
    """What is learnt from."""

    mixture: Mixture
    digest: str
    """Of all samples: another set of them is another training."""
    left_out: Mapping[str, int] = {}
    """Samples of each source whose pictures are measured on."""


def read_data(
    recipe: Recipe,
    *,
    change: Callable[[Sequence[Source]], Sequence[Source]] = lambda sources: sources,
    more_measured: Sequence[Path] = (),
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Data:
    """Read the sources, refuse what is measured on, and mix them. `change` may draw some of them
    more often."""
    read = [source_of(data) for data in recipe.sources if data.rate > 0]
    measured = [*more_measured]
    for data in (*recipe.evaluation.sets, *recipe.guard.sets):
        measured += pictures_of(data)
    ids = [number for path in recipe.guard.ids for number in guard.read_ids(path)]
    learnt = dict.fromkeys(Path(one.image) for source in read for one in source.samples)
    leaks = guard.find_leaks(
        [*learnt], list(dict.fromkeys(measured)), ids, bits=recipe.guard.bits, progress=progress
    )
    if not recipe.guard.leave_out:
        guard.refuse_leaks(leaks)
    kept = [guard.without(source, leaks) for source in read]
    left_out = {
        one.name: len(one.samples) - len(other.samples)
        for one, other in zip(read, kept, strict=True)
    }
    sources = change(kept)
    digest = sha256()
    for source in sources:
        digest.update(msgspec.json.encode((source.name, source.samples, dict(source.weights))))
    mixture = Mixture(sources, seed=recipe.seed, per_step=recipe.optimiser.batch)
    return Data(mixture, digest.hexdigest(), {name: n for name, n in left_out.items() if n})


def make_pupil(recipe: Recipe, cluster: Cluster) -> Pupil:
    """Load what learns."""
    options = ModelOptions(
        device=cluster.placement.device,
        dtype=cluster.placement.dtype,
        revision=recipe.model.revision,
    )
    torch.manual_seed(recipe.seed)
    if recipe.cure != "segvlm":
        from groundfault.training.segvlm.cures import make_cure

        return make_cure(recipe, options)
    names = (recipe.model.vlm, recipe.model.decoder)
    at_first = "cpu" if cluster.sharded else ""
    vlm, processor, decoder, identities = load_bases(*names, options, vlm_device=at_first)
    if recipe.losses.presence > 0 and not decoder.has_presence:
        raise UsageError(f"{names[1]} has no presence head to train; set losses.presence = 0")
    reader = Reader(processor, max_pixels=recipe.model.max_pixels)
    make_room(vlm, reader.seg)
    layers = projector(vlm, decoder).to(cluster.placement.device)
    wrapped = add_lora(vlm, recipe.lora, reader.seg)
    if recipe.optimiser.checkpointing:
        wrapped.gradient_checkpointing_enable(
            gradient_checkpointing_kwargs={"use_reentrant": False}
        )
    if cluster.sharded:
        shard(wrapped, cluster)
    return SegVLMPupil(
        SegVLM(wrapped, decoder, layers),
        reader,
        cluster.placement,
        recipe.losses,
        names=names,
        identities=identities,
        features=cache_folder() / "features" if recipe.features_gb else None,
        limit_gb=recipe.features_gb,
        max_tokens=recipe.model.max_tokens,
        held_out=recipe.asked_as == "held-out",
        shared_by=cluster if cluster.sharded else None,
    )


def train(
    recipe: Recipe,
    out: Path,
    data: Data,
    *,
    resume: bool = False,
    evaluate: Evaluate | None = None,
    watch: Watch | None = None,
) -> str:
    """Train to the end and write the model; how `--model` names it."""
    own, watch = out / OWN, watch or Watch()
    if (own / RECIPE).exists() and not resume:
        raise UsageError(f"{out} holds a training; go on with --resume, or choose another folder")
    torch.set_num_threads(recipe.optimiser.threads)
    cluster = Cluster(recipe.optimiser.precision, trackers=recipe.trackers, folder=own)
    if not cluster.is_first:
        return _trained(recipe, out, data, cluster, evaluate, Watch())
    with locked(out):
        return _trained(recipe, out, data, cluster, evaluate, watch)


def _trained(
    recipe: Recipe,
    out: Path,
    data: Data,
    cluster: Cluster,
    evaluate: Evaluate | None,
    watch: Watch,
) -> str:
    own = out / OWN
    pupil = make_pupil(recipe, cluster)
    fitting = Fitting(
        pupil,
        data.mixture,
        recipe.losses,
        recipe.optimiser,
        steps=recipe.steps,
        cluster=cluster,
        wordings=recipe.wordings,
    )
    key = key_of(recipe, pupil.identities, data.digest)
    log = _started(own, recipe, key, fitting, cluster)
    frozen = _frozen_hash(pupil)
    if watch.estimated is not None:
        watch.estimated(estimate(recipe, data.mixture, data.left_out))

    def measure(step: int) -> None:
        if evaluate is None or not (cluster.is_first or cluster.sharded):
            return
        with evaluated(pupil.segmenter(step), is_first=cluster.is_first) as segmenter:
            for each in recipe.evaluation.sets if cluster.is_first else ():
                folder = own / EVALUATIONS / each.name / f"step-{step:06d}"
                found = evaluate(segmenter, each, folder, step)
                watch.measured(step, each.name, found)
                known = {f"{each.name}/{k}": v for k, v in found.items() if v is not None}
                cluster.log(known, step)

    if fitting.step == 0:
        measure(0)
    for told in steps(fitting):
        log.append(told)
        watch.step(told, recipe.steps)
        cluster.log(_flat(told), told.step)
        is_last = told.step == recipe.steps
        if is_last or told.step % recipe.save_every == 0:
            _save(own, fitting, key, log, cluster)
        if recipe.evaluation.every and told.step % recipe.evaluation.every == 0 and not is_last:
            measure(told.step)
        cluster.wait()
    if _frozen_hash(pupil) != frozen:
        raise RuntimeError("weights that should be frozen have changed; nothing is exported")
    spec = _exported(out, recipe, pupil, fitting.step, cluster)
    measure(recipe.steps)
    cluster.wait()
    cluster.end()
    return spec


def _exported(out: Path, recipe: Recipe, pupil: Pupil, step: int, cluster: Cluster) -> str:
    if not cluster.is_first:
        return ""
    return pupil.export(out, step, msgspec.to_builtins(recipe))


def _started(
    own: Path, recipe: Recipe, key: str, fitting: Fitting, cluster: Cluster
) -> list[StepLog]:
    """The log of the steps that were taken, after going back to the last state that was stored."""
    if cluster.is_first:
        write_json(own / RECIPE, recipe)
    if not (own / STATE).exists():
        return []
    stored = read_checkpoint(own / STATE)
    if stored.get("key") != key:
        raise UsageError(
            f"{own / STATE} belongs to another recipe, other data or other checkpoints; choose "
            "another folder, or delete it"
        )
    fitting.restore(stored)
    lines = (own / LOG).read_bytes().splitlines() if (own / LOG).exists() else []
    return [decode_json(line, StepLog) for line in lines[: fitting.step]]


def _save(own: Path, fitting: Fitting, key: str, log: Sequence[StepLog], cluster: Cluster) -> None:
    """The log first: a state without its log would lose lines, a log is cut to its state."""
    if not cluster.is_first:
        return
    write_bytes(own / LOG, b"".join(msgspec.json.encode(each) + b"\n" for each in log))
    write_checkpoint(own / STATE, fitting.state() | {"key": key})


def _frozen_hash(pupil: Pupil) -> str:
    digest = sha256()
    for name, value in pupil.network.named_parameters():
        if not value.requires_grad:
            own = value.to_local() if hasattr(value, "to_local") else value  # this process's shard
            total = own.detach().sum(dtype=torch.float64)  # of billions, a sum is enough
            digest.update(f"{name} {total.item()!r}".encode())
    return digest.hexdigest()


def _flat(log: StepLog) -> dict[str, float]:
    """A step's numbers by name, for trackers."""
    found = {"loss": log.loss, "learning_rate": log.learning_rate, "norm": log.norm}
    for part, kinds in log.parts.items():
        found |= {f"{part}/{kind}": value for kind, value in kinds.items()}
    return found
