"""Ask a model everything in a benchmark, keep its predictions, grade and score them."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import msgspec

from groundfault import registry
from groundfault.analysis.exam import cot_effects, hallucination_rates, position_bias
from groundfault.analysis.scoring import data_hashes, score_run
from groundfault.analysis.summary import summarise, write_results
from groundfault.api.grading import (
    Graders,
    is_local,
    load_graders,
    load_judge,
    names_thinking,
)
from groundfault.api.options import OF_JUDGES, ONLY_MASKS, ONLY_WORDS, EvaluateOptions, Options
from groundfault.api.result import Result
from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.interfaces import Baseline, ChatModel, Segmenter
from groundfault.io.addresses import refuse_credentials
from groundfault.io.sources import load
from groundfault.judges.corrections import judge_run, n_corrected
from groundfault.protocols import Protocol, find, of_benchmark
from groundfault.records import Benchmark, Card, Mode, Prediction, Summary
from groundfault.registry import is_baseline
from groundfault.reports.events import RunReporter
from groundfault.runner.prompts import prompts_hash
from groundfault.runner.session import folder_name, predict
from groundfault.runner.ways import InMasks, InWords, ModelThinks
from groundfault.runs.benchmark import first_cases, limited
from groundfault.runs.identity import model_identity, object_identity
from groundfault.runs.resume import earlier_run
from groundfault.runs.run import Run, read_run

if TYPE_CHECKING:
    from groundfault.llm.cost import CostEstimate
    from groundfault.protocols.scored import Scored

__all__ = ["Asked", "Evaluation", "check_beforehand", "evaluate", "run_folders"]


def evaluate(
    benchmark: Benchmark | str | PathLike[str],
    model: Any,
    out: str | PathLike[str] | None = None,
    *,
    label: str = "",
    **options: Unpack[EvaluateOptions],
) -> Result:
    """Ask a model everything in a benchmark, keep its predictions in `out`, and score them.

    `benchmark` is what `load` gives, or what it takes: a name or a folder. `model` is a name as on
    the command line, or any object with .segment(image, phrases), .complete(conversations) or
    .predict(items, mode). `label` is what tables call it, as "LABEL=NAME" says too. A run that is
    there goes on where it ended; without `out` it is kept only as long as the result.
    """
    found = benchmark if isinstance(benchmark, Benchmark) else load(str(benchmark))
    if out is not None:
        return _evaluated(found, model, Path(out), label, options)
    kept = tempfile.mkdtemp(prefix="groundfault-")
    try:
        result = _evaluated(found, model, Path(kept), label, options)
    except BaseException:
        shutil.rmtree(kept, ignore_errors=True)
        raise
    weakref.finalize(result, shutil.rmtree, kept, ignore_errors=True)
    return result


def _evaluated(
    benchmark: Benchmark, model: Any, out: Path, label: str, options: EvaluateOptions
) -> Result:
    evaluation = Evaluation(benchmark, Options.of(options))
    asked = Asked.of(model, label)
    graders = evaluation.graders([asked])
    reporter = RunReporter(asked.name, quiet=True)
    result = evaluation.run(asked, out, reporter, graders)
    if result is None:
        raise GroundfaultError(
            f"{asked.name}: not one item was answered, so there is nothing to score; "
            f"most often: {_commonest_failure(out)}"
        )
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
        registry.check_model(Asked.of(model).spec, protocol.answers)
    if protocol.answers == "masks" and not options.judge:
        _check_base_url([Asked.of(model) for model in models], options)


def _refuse_options(name: str, options: Options, protocol: Protocol) -> None:
    if protocol.answers == "words":
        options.refuse(ONLY_MASKS, f"{name}, which is asked in words")
        return
    used = OF_JUDGES if protocol.judged else ()
    unused = tuple(option for option in ONLY_WORDS if option not in used)
    options.refuse(unused, f"{name}, which is asked for masks")


def _check_base_url(models: Sequence[Asked], options: Options) -> None:
    """Refuse the address of a server where nobody would ask it."""
    known = registry.names("models")
    asked = [each.spec.partition(":")[0] for each in models if isinstance(each.model, str)]
    if options.base_url and all(known[name].answers and name != "agent" for name in asked):
        names = ", ".join(each.name for each in models)
        raise UsageError(
            f"--base-url does not go with {names}: of those that give masks, agents ask a server"
        )


class Asked(NamedTuple):
    """A model that is asked, and what it is called."""

    model: Any
    """Its spec, or the object itself."""
    label: str = ""

    @classmethod
    def of(cls, model: Any, label: str = "") -> Asked:
        """From `SPEC`, `LABEL=SPEC` or an object."""
        if not isinstance(model, str):
            return cls(model, label)
        own, spec = registry.split_label(model)
        return cls(spec, label or own)

    @property
    def spec(self) -> str:
        """What a run notes of it."""
        return self.model if isinstance(self.model, str) else type(self.model).__name__

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.label or self.spec

    @property
    def folder_name(self) -> str:
        """What its run's folder is called among others."""
        return folder_name(self.label or self.spec)


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
        self.prompts = options.prompts()
        _refuse_options(benchmark.card.name, self.options, self.protocol)
        if options.calibration and options.t is not None:
            raise UsageError("--calibration and --t both set the threshold; give one of them")
        _refuse_silence(self.asked)

    def check(self, asked: Asked) -> None:
        """Refuse a model that cannot be asked this benchmark, before it is loaded."""
        model = asked.model
        if isinstance(model, str):
            refuse_credentials(model)
            registry.check_model(model, "words" if self.in_words else "masks")
            if self._is_calibrated(model):  # what is known now must fit already
                self._t(model, self._identity(model))
            return
        fitting = (ChatModel, Baseline) if self.in_words else (Segmenter, Baseline)
        if not isinstance(model, fitting):
            wanted = "complete(conversations)" if self.in_words else "segment(image, phrases)"
            raise UsageError(f"{asked.name} has no {wanted}, which {self._what()} needs")

    def _what(self) -> str:
        return f"{self.benchmark.card.name}, asked {'in words' if self.in_words else 'for masks'},"

    def _thinks(self, model: Any, folder: Path | None = None) -> bool | None:
        """Whether a model always reasons: as told, as its name says, or as the run that goes on
        was told; None where only its replies can tell."""
        if not self.in_words or self.options.thinking is not None:
            return bool(self.options.thinking)
        if isinstance(model, str) and names_thinking(model):
            return True
        if folder is not None and self.options.resume:
            earlier = earlier_run(folder)
            if earlier and earlier.outcomes.get("failed", 0) < earlier.n_items:  # it has replied
                return bool(earlier.settings.get("thinking"))
        settled = self.options.modes is not None and self.options.max_tokens is not None
        return False if settled else None

    def modes(self, model: Any, thinks: bool | None = None) -> tuple[Mode, ...]:
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
        if self._thinks(model) if thinks is None else thinks:
            return ("cot",)
        return ("std", "cot")

    def graders(self, models: Sequence[Asked]) -> Graders:
        """Who grades the answers of these models."""
        for each in models:
            self.check(each)
        if not self.in_words:
            if not self.options.judge:
                _check_base_url(models, self.options)
            self._name_uncalibrated(models)
            judge = None
            if self.protocol.judged:
                judge = load_judge(self.options, n_corrected(self.asked), self.agree)
            return Graders(judge=judge)
        asked = {each.name: (self.asked, self.modes(each.model)) for each in models}
        return load_graders(self.options, asked, self.agree)

    def _is_calibrated(self, spec: str) -> bool:
        """Whether a model's threshold comes from --calibration; baselines have no use for it."""
        return bool(self.options.calibration) and not is_baseline(spec)

    def _name_uncalibrated(self, models: Sequence[Asked]) -> None:
        found = [each.name for each in models if is_baseline(each.spec)]
        if self.options.calibration and found:
            print(
                f"{', '.join(found)}: baselines, which --calibration does not concern; scored at "
                f"t = {self.scoring.t:g}",
                file=sys.stderr,
            )

    def run(
        self,
        asked: Asked,
        folder: Path,
        reporter: RunReporter,
        graders: Graders,
    ) -> Result | None:
        """Ask one model, grade and score it; None where nothing was answered."""
        with reporter.asking():
            run = self.ask(asked, folder, reporter, graders)
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
            notes = [*(run.judged.warnings if run.judged else ()), self._chosen_t(run)[1]]
            result = self._result(scored, folder, run, warnings=tuple(filter(None, notes)))
        reporter.finished(result.run or run, folder, result.summary, result.more)
        return result

    def ask(self, asked: Asked, folder: Path, reporter: RunReporter, graders: Graders) -> Run:
        """Ask one model what is left, and keep its predictions."""
        thinks = self._thinks(asked.model, folder)
        try:
            return self._ask(asked, folder, reporter, graders, thinks)
        except ModelThinks:  # it had never replied, so there is nothing to go on with
            return self._ask(asked, folder, reporter, graders, True, resume=False)

    def _ask(
        self,
        asked: Asked,
        folder: Path,
        reporter: RunReporter,
        graders: Graders,
        thinks: bool | None,
        *,
        resume: bool = True,
    ) -> Run:
        model, name = asked.model, asked.spec
        options, modes = self.options, self.modes(model, thinks)
        chat = options.for_words(thinking=bool(thinks))
        made = chat if self.in_words else options.for_masks()
        if thinks:
            which = "so it is asked in one mode, cot," if modes == ("cot",) else "so it is asked"
            most = f"with at most {chat.max_tokens} tokens for an answer"
            print(f"{name}: always reasons, {which} {most}", file=sys.stderr)
        load_it = (
            functools.partial(registry.load_model, model, made)
            if isinstance(model, str)
            else lambda: model
        )
        plan = options.plan(
            reserve=graders.reserve(options.budget, self.asked, modes),
            aside=graders.aside(options.budget),
        )
        plan = msgspec.structs.replace(plan, resume=plan.resume and resume)
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
                prompts=self.prompts,
                thinks=thinks,
            )
        else:
            way = InMasks(load_it, name, images, plan, folder)
        return predict(
            self.benchmark,
            way,
            folder,
            name=name,
            label=asked.label,
            modes=modes,
            identity=self._identity(model, thinking=bool(thinks)) | self._data_identity(),
            settings={
                **msgspec.to_builtins(made),
                **self._settings(),
                **({"thinking": bool(thinks)} if self.in_words else {}),
            },
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

    def _data_identity(self) -> dict[str, str]:
        """What stands for the benchmark's content, where its items say it one by one."""
        return {"data": "items by content"} if self.protocol.items_by_content else {}

    def _identity(self, model: Any, *, thinking: bool = False) -> dict[str, str]:
        """What predictions depend on besides the benchmark."""
        chat = self.options.for_words(thinking=thinking)
        if isinstance(model, str):
            found = model_identity(model, chat if self.in_words else self.options.for_masks())
        else:
            found = object_identity(model)
        if not self.in_words:
            return found
        words = {
            "prompts": prompts_hash(self.prompts),
            "temperature": str(chat.temperature),
            "max_tokens": str(chat.max_tokens),
        }
        if chat.sampling_seed is not None:
            words["sampling seed"] = str(chat.sampling_seed)
        if chat.extra_body:
            body = msgspec.json.encode(chat.extra_body, order="deterministic")
            words["extra body"] = body.decode()
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
        settings["t"] = self._chosen_t(run)[0]
        return score_run(self.asked, folder, settings)

    def _chosen_t(self, run: Run) -> tuple[float, str]:
        """The threshold that a run is scored at, and what is to be said about it."""
        from groundfault.analysis.calibration import usual_point

        if self._is_calibrated(run.model):
            return self._t(run.model, run.identity), ""
        if self.options.t is not None:
            return self.scoring.t, ""
        return usual_point(run.model)

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
            "rates": hallucination_rates(self.asked, predictions),
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


def _refuse_silence(asked: Benchmark) -> None:
    """Refuse to ask questions without words."""
    silent = [item.id for item in asked.items if not item.query.strip()]
    if silent:
        more = f", and so are {len(silent) - 1} more" if len(silent) > 1 else ""
        where = asked.folder or asked.source.get("annotations") or asked.card.name
        raise DataError(
            str(where),
            f"its query is empty{more}: nobody can be asked that",
            record=f"item {silent[0]}",
            remedy="give it its words, or drop it",
        )


def run_folders(models: Sequence[Asked], out: Path) -> dict[Asked, Path]:
    """A folder for each model's run; two that would share one are refused."""
    folders = {asked: out / asked.folder_name for asked in models}
    if len(set(folders.values())) < len(models):
        names = ", ".join(asked.name for asked in models)
        raise UsageError(
            f"two of {names} would share a folder; give them labels: --model LABEL=SPEC"
        )
    return folders
