"""Ask a model everything in a benchmark, keep its predictions, grade and score them."""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from groundfault import registry
from groundfault.analysis.exam import cot_effects, position_bias
from groundfault.analysis.scoring import data_hashes, score_run
from groundfault.analysis.summary import summarise, write_results
from groundfault.api.grading import Graders, is_local, load_graders, load_judge
from groundfault.api.options import OF_JUDGES, ONLY_MASKS, ONLY_WORDS, EvaluateOptions, Options
from groundfault.api.result import Result
from groundfault.errors import GroundfaultError, UsageError
from groundfault.interfaces import Baseline, ChatModel, Checkpointed, Segmenter
from groundfault.io.addresses import refuse_credentials
from groundfault.io.sources import load
from groundfault.judges.corrections import judge_run, n_corrected
from groundfault.protocols import Protocol, find, of_benchmark
from groundfault.records import Benchmark, Card, Mode, Prediction, Summary
from groundfault.reports.events import RunReporter
from groundfault.runner.prompts import prompts_hash
from groundfault.runner.session import folder_name, predict
from groundfault.runner.ways import InMasks, InWords
from groundfault.runs.benchmark import first_cases, limited
from groundfault.runs.identity import model_identity
from groundfault.runs.run import Run, read_run

if TYPE_CHECKING:
    from groundfault.llm.cost import CostEstimate
    from groundfault.protocols.scored import Scored

__all__ = ["Evaluation", "check_beforehand", "evaluate"]

_THINKING = re.compile(r"(?<![a-z])thinking(?![a-z])", re.IGNORECASE)


def evaluate(
    benchmark: Benchmark | str | PathLike[str],
    model: Any,
    out: str | PathLike[str] | None = None,
    **options: Unpack[EvaluateOptions],
) -> Result:
    """Ask a model everything in a benchmark, keep its predictions in `out`, and score them.

    `benchmark` is what `load` gives, or what it takes: a name or a folder. `model` is a name as on
    the command line, or any object with .segment(image, phrases), .complete(conversations) or
    .predict(items, mode). A run that is there goes on where it ended; without `out` it is kept only
    as long as the result.
    """
    found = benchmark if isinstance(benchmark, Benchmark) else load(str(benchmark))
    keep = ""
    if out is None:
        out = tempfile.mkdtemp(prefix="groundfault-")
        keep = out
    evaluation = Evaluation(found, Options.of(options))
    graders = evaluation.graders([model])
    reporter = RunReporter(_name(model), quiet=True)
    result = evaluation.run(model, Path(out), reporter, graders)
    if result is None:
        raise GroundfaultError(
            f"{_name(model)}: not one item was answered, so there is nothing to score; "
            f"most often: {_commonest_failure(Path(out))}"
        )
    if keep:
        weakref.finalize(result, shutil.rmtree, keep, ignore_errors=True)
    return result


def _commonest_failure(folder: Path) -> str:
    failures = read_run(folder).failures
    return max(failures, key=failures.__getitem__, default="no reason was given")


def check_beforehand(name: str, models: Sequence[str], options: Options) -> None:
    """Refuse models and options that do not go with a known benchmark, before it is fetched."""
    known = name.partition("@")[0]
    if known not in registry.names("benchmarks") or Path(name).is_dir():
        return
    card: Card | None = getattr(registry.load("benchmarks", known), "CARD", None)
    if card is None or not card.protocol:
        return
    protocol = find(card.protocol)
    _refuse_options(known, options, protocol)
    for model in models:
        registry.check_model(model, protocol.answers)
    if protocol.answers == "masks" and not options.judge:
        _check_base_url(models, options)


def _refuse_options(name: str, options: Options, protocol: Protocol) -> None:
    if protocol.answers == "words":
        options.refuse(ONLY_MASKS, f"{name}, which is asked in words")
        return
    used = OF_JUDGES if protocol.judged else ()
    unused = tuple(option for option in ONLY_WORDS if option not in used)
    options.refuse(unused, f"{name}, which is asked for masks")


def _check_base_url(models: Sequence[Any], options: Options) -> None:
    """Refuse the address of a server where nobody would ask it."""
    known = registry.names("models")
    asked = [model.partition(":")[0] for model in models if isinstance(model, str)]
    if options.base_url and all(known[name].answers and name != "agent" for name in asked):
        raise UsageError(
            f"--base-url does not go with {', '.join(map(_name, models))}: of those that give "
            "masks, agents ask a server"
        )


class Evaluation:
    """One benchmark with options, for one model or several."""

    def __init__(
        self,
        benchmark: Benchmark,
        options: Options,
        *,
        agree: Callable[[str, bool], None] = lambda question, free: None,
    ) -> None:
        self.benchmark, self.options = benchmark, options.with_shared_budget()
        self.asked = first_cases(benchmark, options.limit)
        self.protocol: Protocol = of_benchmark(benchmark)
        self.in_words = self.protocol.answers == "words"
        self.agree = agree
        self.scoring = options.scoring
        _refuse_options(benchmark.card.name, self.options, self.protocol)
        if options.calibration and options.t is not None:
            raise UsageError("--calibration and --t both set the threshold; give one of them")

    def check(self, model: Any) -> None:
        """Refuse a model that cannot be asked this benchmark, before it is loaded."""
        if isinstance(model, str):
            refuse_credentials(model)
            registry.check_model(model, "words" if self.in_words else "masks")
            if self.options.calibration:  # what is known now must fit already
                self._t(model, self._identity(model))
            return
        fitting = (ChatModel, Baseline) if self.in_words else (Segmenter, Baseline)
        if not isinstance(model, fitting):
            wanted = "complete(conversations)" if self.in_words else "segment(image, phrases)"
            raise UsageError(f"{_name(model)} has no {wanted}, which {self._what()} needs")

    def _what(self) -> str:
        return f"{self.benchmark.card.name}, asked {'in words' if self.in_words else 'for masks'},"

    def modes(self, model: Any) -> tuple[Mode, ...]:
        """How questions are put to a model: as told, else in the modes that both have."""
        if not self.in_words:
            return ()
        several = len(self.protocol.settings.get("modes", ("std",))) > 1  # type: ignore[arg-type]
        if self.options.modes is not None:
            if len(self.options.modes) > 1 and not several:
                raise UsageError(
                    f"{self.benchmark.card.name} is scored in one mode: give --mode std or --mode "
                    "cot, and another --out for the other"
                )
            return self.options.modes
        if not several:
            return ("std",)
        if isinstance(model, str) and _THINKING.search(model):
            print(f"{model}: always reasons, so it has one mode, cot", file=sys.stderr)
            return ("cot",)
        return ("std", "cot")

    def graders(self, models: list[Any]) -> Graders:
        """Who grades the answers of these models."""
        for model in models:
            self.check(model)
        if not self.in_words:
            if not self.options.judge:
                _check_base_url(models, self.options)
            judge = None
            if self.protocol.judged:
                judge = load_judge(self.options, n_corrected(self.asked), self.agree)
            return Graders(judge=judge)
        asked = {_name(model): (self.asked, self.modes(model)) for model in models}
        return load_graders(self.options, asked, self.agree)

    def run(
        self,
        model: Any,
        folder: Path,
        reporter: RunReporter,
        graders: Graders,
    ) -> Result | None:
        """Ask one model, grade and score it; None where nothing was answered."""
        with reporter.asking():
            run = self.ask(model, folder, reporter, graders)
        reporter.ended(run)
        if run.unanswered:
            reporter.finished(run, folder, None, {})
            return None
        if self.in_words:
            result = self.grade(run, folder, graders, reporter)
        else:
            if graders.judge is not None:
                run = judge_run(folder, run, self.asked, graders.judge)
                reporter.graded(run)
            scored = self.score(folder, run)
            warnings = run.judged.warnings if run.judged else ()
            result = self._result(scored, folder, run, warnings=warnings)
        reporter.finished(result.run or run, folder, result.summary, result.more)
        return result

    def ask(self, model: Any, folder: Path, reporter: RunReporter, graders: Graders) -> Run:
        """Ask one model what is left, and keep its predictions."""
        name, options, modes = _name(model), self.options, self.modes(model)
        chat = options.for_words()
        made = options.for_words() if self.in_words else options.for_masks()
        load_it = (
            functools.partial(registry.load_model, model, made)
            if isinstance(model, str)
            else lambda: model
        )
        plan = options.plan(reserve=graders.reserve(options.budget, self.asked, modes))
        images = self.benchmark.images or None
        if self.in_words:
            way: InWords | InMasks = InWords(
                load_it,
                name,
                images or "",
                plan,
                folder,
                max_tokens=chat.max_tokens,
                confirm=self._confirm(name, reporter),
            )
        else:
            way = InMasks(load_it, name, images, plan, folder)
        return predict(
            self.benchmark,
            way,
            folder,
            name=name,
            modes=modes,
            identity=self._identity(model),
            settings={**msgspec.to_builtins(made), **self._settings()},
            asked=self.asked,
            plan=plan,
            started=reporter.started,
            progress=reporter.progress,
        )

    def _settings(self) -> dict[str, object]:
        return {
            "limit": self.options.limit,
            "dataset": self.benchmark.origin,
            **({} if self.in_words else {"calibration": self.options.calibration}),
        }

    def _identity(self, model: Any) -> dict[str, str]:
        """What predictions depend on besides the benchmark."""
        if isinstance(model, str):
            made = self.options.for_words() if self.in_words else self.options.for_masks()
            found = model_identity(model, made)
        else:
            found = {"object": f"{type(model).__module__}.{type(model).__qualname__}"}
            if isinstance(model, Checkpointed):
                found["object"] += " " + "+".join(model.checkpoints)
        if not self.in_words:
            return found
        chat = self.options.for_words()
        words = {
            "prompts": prompts_hash(),
            "temperature": str(chat.temperature),
            "max_tokens": str(chat.max_tokens),
        }
        return {key: value for key, value in found.items() if key != "device"} | words

    def _confirm(self, name: str, reporter: RunReporter) -> Callable[[CostEstimate], bool]:
        def confirm(guess: CostEstimate) -> bool:
            reporter.estimated(guess)
            if self.options.confirm is not None:
                return bool(self.options.confirm(guess))
            self.agree(f"Ask {name}?", self._is_own_server(name))
            return True

        return confirm

    def _is_own_server(self, name: str) -> bool:
        """Whether a model is on a server of one's own, and no price says otherwise."""
        if self.options.price:
            return False
        given = self.options.base_url
        if not given and name.removeprefix("blind:").startswith("openai:"):
            given = os.environ.get("OPENAI_BASE_URL", "")
        return is_local(given)

    def _t(self, spec: str, identity: Mapping[str, str]) -> float:
        from groundfault.analysis.calibration import operating_points

        return operating_points({spec: identity}, self.options.calibration, self.benchmark)[spec]

    def score(self, folder: Path, run: Run) -> Scored:
        """Score the stored predictions of a run in masks."""
        chosen = {name: getattr(self.options, name) for name in ("tau", "iou", "variant")}
        settings = {name: value for name, value in chosen.items() if value is not None}
        if self.options.sizes:
            settings["sizes"] = self.options.sizes
        settings["t"] = self.scoring.t
        if self.options.calibration:
            settings["t"] = self._t(run.model, run.identity)
        return score_run(self.asked, folder, settings)

    def grade(self, run: Run, folder: Path, graders: Graders, reporter: RunReporter) -> Result:
        """Grade, attribute and score the stored answers of a run in words."""
        from groundfault.judges import grading

        run, predictions = grading.grade_run(folder, run, self.asked, graders.judge)
        if graders.reader is not None:
            run, predictions = grading.read_run_again(
                folder, run, self.asked, predictions, graders.reader
            )
        reporter.graded(run)
        if graders.causes is not None:
            run, predictions = grading.attribute_run(
                folder, run, self.asked, predictions, graders.causes_spec, graders.causes
            )
        scored = self.protocol.score(self.asked, predictions)
        warnings = run.judged.warnings if run.judged else ()
        corrected = {}
        card = self.options.judge_card()
        result = self._result(scored, folder, run, warnings=warnings)
        if card is not None:
            corrected = grading.correct_run(
                folder,
                run,
                self.asked,
                predictions,
                scored,
                card,
                bootstrap=self.scoring.bootstrap,
                seed=self.scoring.seed,
            )
        result.more = self._more(predictions, corrected)
        return result

    def _more(
        self, predictions: list[Prediction], corrected: Mapping[str, Any]
    ) -> dict[str, object]:
        """What an exam gives besides its numbers."""
        from groundfault.judges.grading import distribution_of

        if self.protocol.name != "exam":
            return {}
        causes: Mapping[str, Mapping[str, int]] = {}
        if any(each.cause_by for each in predictions):
            causes = distribution_of(self.asked, predictions)
        return {
            "cot_effects": cot_effects(
                self.asked,
                predictions,
                resamples=self.scoring.bootstrap,
                seed=self.scoring.seed,
            ),
            "position_bias": position_bias(self.asked, predictions),
            "causes": causes,
            "corrected": corrected,
        }

    def _result(
        self, scored: Scored, folder: Path, run: Run, *, warnings: tuple[str, ...] = ()
    ) -> Result:
        hashes = data_hashes(self.benchmark, scored) | limited(self.benchmark, self.asked)
        summary: Summary = summarise(
            scored, bootstrap=self.scoring.bootstrap, seed=self.scoring.seed, data=hashes
        )
        if warnings:
            summary = msgspec.structs.replace(summary, notes=(*summary.notes, *warnings))
        write_results(folder, scored, summary)
        return Result(summary, folder=folder, run=run, benchmark=self.asked)


def _name(model: Any) -> str:
    return model if isinstance(model, str) else type(model).__name__


def run_folders(models: list[str], out: Path) -> dict[str, Path]:
    """A folder for each model's run; two that would share one are refused."""
    folders = {spec: out / folder_name(spec) for spec in models}
    if len(set(folders.values())) < len(folders):
        raise UsageError(f"two of {', '.join(folders)} would share a folder; ask them one by one")
    return folders
