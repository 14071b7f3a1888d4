"""Train a model against hallucination, measured on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundfault.config import load_layered_toml
from groundfault.errors import MissingExtra
from groundfault.models.checkpoints import require_transformers

if TYPE_CHECKING:
    from groundfault.training.segvlm.estimate import Estimate
    from groundfault.training.segvlm.recipe import DataSet, Recipe
    from groundfault.training.segvlm.training import Data, Watch

__all__ = ["estimate_training", "measuring", "merge_trained", "read_recipe", "train"]

AnyPath = str | PathLike[str]


def read_recipe(path: AnyPath) -> Recipe:
    """A recipe of counterfactual fine-tuning; `base` in it names one that it changes."""
    _require_libraries()
    from groundfault.training.segvlm.recipe import Recipe

    return load_layered_toml(path, Recipe)


def train(
    recipe: Recipe | AnyPath,
    out: AnyPath,
    *,
    resume: bool = False,
    from_failures: AnyPath | None = None,
    watch: Watch | None = None,
) -> str:
    """Train as a recipe says; the result is how `evaluate` and `--model` name the model.

    With `from_failures`, a run's folder, what is like the questions that failed there is drawn more
    often; the run's own pictures must not be among those learnt from.
    """
    from groundfault.training.segvlm.training import Watch
    from groundfault.training.segvlm.training import train as train_

    wanted = read_recipe(recipe) if isinstance(recipe, (str, PathLike)) else recipe
    watch = watch or Watch()
    data = _data(wanted, from_failures, watch.reading)
    measure = measuring(wanted)
    return train_(wanted, Path(out), data, resume=resume, evaluate=measure, watch=watch)


def estimate_training(
    recipe: Recipe,
    *,
    from_failures: AnyPath | None = None,
    reading: Callable[[int, int], None] = lambda done, total: None,
) -> Estimate:
    """What a training will take; all data is read and guarded, nothing is trained."""
    from groundfault.training.segvlm.estimate import estimate

    data = _data(recipe, from_failures, reading)
    return estimate(recipe, data.mixture, data.left_out)


def merge_trained(folder: AnyPath, out: AnyPath, *, hub: str = "") -> str:
    """Make a trained model's folder one that stands on no other checkpoint, and upload it to
    `hub`, OWNER/NAME, if one is named; the address of the upload."""
    _require_libraries()
    from groundfault.interfaces import ModelOptions
    from groundfault.training.segvlm.export import check_hub_name, merge, push

    if hub:
        check_hub_name(hub)
    merge(Path(folder), Path(out), ModelOptions())
    return push(Path(out), hub) if hub else ""


def _data(
    recipe: Recipe, from_failures: AnyPath | None, reading: Callable[[int, int], None]
) -> Data:
    from groundfault.training.segvlm.training import read_data

    if from_failures is None:
        return read_data(recipe, progress=reading)
    from groundfault.training.failures import read_failures
    from groundfault.training.segvlm.loop import drawn_by_failures

    found = read_failures(from_failures)
    return read_data(
        recipe, change=drawn_by_failures(found), more_measured=found.pictures, progress=reading
    )


def measuring(recipe: Recipe) -> Callable[..., Mapping[str, float | None]]:
    """Evaluate as any model is: each is a run of its own, so that `compare` shows what training
    changed."""
    from groundfault.api.evaluating import evaluate
    from groundfault.training.segvlm.sources import benchmark_of

    def measure(
        segmenter: Any, data: DataSet, folder: Path, step: int
    ) -> Mapping[str, float | None]:
        limit = recipe.evaluation.limit or None
        result = evaluate(benchmark_of(data), segmenter, folder, label=f"step {step}", limit=limit)
        overall = next(iter(result.summary.rows.values()))
        return {name: estimate.value for name, estimate in overall.metrics.items()}

    return measure


def _require_libraries() -> None:
    require_transformers()
    for library in ("accelerate", "peft", "safetensors"):
        try:
            __import__(library)
        except ModuleNotFoundError:
            raise MissingExtra(library, "segvlm") from None
