"""How a model is evaluated: every option once, for Python and for the command line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import msgspec

from groundfault.config import ScoreSettings, check, check_threshold
from groundfault.errors import UnknownName, UsageError
from groundfault.io.addresses import refuse_credentials
from groundfault.io.foreign import decode_json

if TYPE_CHECKING:
    from groundfault.interfaces import ModelOptions
    from groundfault.judges.card import JudgeCard
    from groundfault.llm.cost import CostEstimate
    from groundfault.llm.server import ChatOptions
    from groundfault.records import Mode
    from groundfault.runner.prompts import Prompts
    from groundfault.runner.work import Plan

__all__ = ["EvaluateOptions", "Options", "ScoreOptions", "score_settings"]

AnyPath = str | PathLike[str]
RULE = "rule"
ADDRESSES = ("base_url", "judge_base_url", "judge", "reader", "attribute")
"""Options that are, or may hold, addresses of servers."""
MASKS_TIMEOUT_S, WORDS_TIMEOUT_S = 600.0, 120.0
THINKING_MAX_TOKENS = 8192
"""Of an answer with the thoughts before it."""
MODES: dict[str, tuple[Mode, ...]] = {"std": ("std",), "cot": ("cot",), "both": ("std", "cot")}


class ScoreOptions(TypedDict, total=False):
    """How predictions are scored; what is not given is the protocol's own."""

    t: float | None
    """Score threshold: accepted means score ≥ t."""
    tau: float | None
    """Overlap threshold: aligned means IoU ≥ τ."""
    iou: Literal["segm", "bbox"] | None
    """Whether masks or boxes are compared."""
    variant: Literal["parity", "exact"] | None
    """As published, or by the definitions; None is what goes with the data."""
    sizes: str | tuple[int, int]
    """Small, medium and large objects: "coco", "quantile", or limits in pixels."""
    bootstrap: int | None
    """Resamples of cases for intervals; 0 for none."""
    seed: int | None
    """Of the resamples."""


class EvaluateOptions(ScoreOptions, total=False):
    """The options of `evaluate`."""

    limit: int | None
    """Only the first cases."""
    resume: bool
    """Go on where a run ended; False starts anew."""
    retry: Literal["", "timeout"]
    """"timeout" also asks again what an agent ran out of turns for, past the response store."""
    max_failures: int
    """Identical failures in a row after which a run is given up; 0 for never. [20]"""
    calibration: str
    """Where the threshold comes from: what `calibrate` wrote, or "published"."""
    device: str
    """Where a model runs: auto, cpu, cuda, cuda:1, mps."""
    dtype: str
    """What it computes in: auto, float32, bfloat16, float16."""
    revision: str
    """Of a hub checkpoint."""
    offline: bool
    """Only what is on this disk."""
    timeout_s: float | None
    """For one request to a model outside this process. [masks 600, words 120]"""
    batch: int
    """Images, or conversations, at once for models that can; 0 is what the model likes."""
    engine: Literal["local", "ray"]
    """This machine, or Ray."""
    workers: int
    """Copies of the model."""
    ray_address: str
    """A cluster that is there; "" starts one for the run."""
    probe: bool
    """Check the model's coordinates before it is asked."""
    base_url: str
    """Of a server with OpenAI's protocol."""
    mode: Literal["std", "cot", "both"] | None
    """How questions are asked. [both; yes/no questions: std]"""
    judge: Any
    """Of short answers, and of what answers to FP-RefCOCO say: "rule" (as without one), a model's
    spec, the name of a plug-in, or an object with .judge(question, answer, rubric)."""
    judge_base_url: str
    """Where the judge's server is, if not at `base_url`."""
    reader: str
    """The model that reads answers which the rules leave unread."""
    attribute: str
    """The model that names the sub-cause of each wrong chain of thought."""
    card: JudgeCard | AnyPath | None
    """A judge's card, to correct scores for its errors."""
    concurrency: int | None
    """Requests at a time."""
    budget: Any
    """Where asking stops: "5" (money), "200k tokens", or a SharedBudget."""
    price: str
    """IN/OUT, money per million tokens."""
    judge_price: str
    """The judge's price, if not `price`."""
    fresh: bool
    """Ask again what the response store has."""
    max_tokens: int | None
    """Of an answer. [1024; of a model that thinks 8192]"""
    temperature: float | str | None
    """"none" leaves it to the model."""
    sampling_seed: int | None
    """From which a model draws its words, where it takes one; `seed` is that of the resamples."""
    extra_body: Mapping[str, Any] | str
    """Further fields of each request to a server, as JSON or as a mapping."""
    judge_extra_body: Mapping[str, Any] | str
    """The same for judge and `attribute`."""
    system: str
    """A system message before each question."""
    prompt: AnyPath
    """A file whose text asks to reason, in place of ours, in `cot` mode."""
    thinking: bool | None
    """Whether the model always reasons: then it has one mode, cot, and more tokens. [its name or
    the server's first reply tells]"""
    patience_s: float | None
    """How long a server may be away."""
    max_wait_s: float | None
    """How long a session may wait for servers in all, while nothing is answered."""
    responses: str
    """The response store; "" is the user's own."""
    confirm: Callable[[CostEstimate], bool] | None
    """Shown what a paid run will likely cost; False calls it off."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`EvaluateOptions` with their defaults; unknown names are refused."""

    t: float | None = None
    tau: float | None = None
    iou: str | None = None
    variant: str | None = None
    sizes: str | tuple[int, int] = ""
    bootstrap: int | None = None
    seed: int | None = None
    limit: int | None = None
    resume: bool = True
    retry: str = ""
    max_failures: int = 20
    calibration: str = ""
    device: str = "auto"
    dtype: str = "auto"
    revision: str = ""
    offline: bool = False
    timeout_s: float | None = None
    batch: int = 0
    engine: Literal["local", "ray"] = "local"
    workers: int = 0
    ray_address: str = ""
    probe: bool = True
    base_url: str = ""
    mode: str | None = None
    judge: Any = ""
    judge_base_url: str = ""
    reader: str = ""
    attribute: str = ""
    card: Any = None
    concurrency: int | None = None
    budget: Any = None
    price: str = ""
    judge_price: str = ""
    fresh: bool = False
    max_tokens: int | None = None
    temperature: float | str | None = ""
    sampling_seed: int | None = None
    extra_body: Any = ""
    judge_extra_body: Any = ""
    system: str = ""
    prompt: Any = ""
    thinking: bool | None = None
    patience_s: float | None = None
    max_wait_s: float | None = None
    responses: str = ""
    confirm: Any = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Options from keyword arguments."""
        for name in given:
            if name not in cls.__struct_fields__:
                raise UnknownName("option", name, cls.__struct_fields__)
            if name in ADDRESSES and isinstance(given[name], str):
                refuse_credentials(given[name])
        return cls(**given)

    def given(self) -> set[str]:
        """The names of options that are not as by default."""
        plain = Options()
        names = self.__struct_fields__
        return {name for name in names if getattr(self, name) != getattr(plain, name)}

    def refuse(self, names: tuple[str, ...], what: str) -> None:
        """Refuse options that mean nothing to a benchmark."""
        for name in names:
            if name in self.given():
                raise UsageError(f"{_as_option(name)} does not go with {what}")

    @property
    def scoring(self) -> ScoreSettings:
        """How predictions are scored; refuses what makes no sense before a model is asked."""
        if self.sizes:
            from groundfault.protocols.replacement import check_sizes

            check_sizes(self.sizes)
        if self.t is not None and math.isfinite(self.t):
            check_threshold(self.t)
        return score_settings(
            t=self.t,
            tau=self.tau,
            iou=self.iou,
            variant=self.variant,
            bootstrap=self.bootstrap,
            seed=self.seed,
        )

    @property
    def modes(self) -> tuple[Mode, ...] | None:
        """How questions are asked; None leaves it to benchmark and model."""
        if self.mode is None:
            return None
        if self.mode not in MODES:
            raise UnknownName("mode", self.mode, MODES)
        return MODES[self.mode]

    def for_masks(self) -> ModelOptions:
        """How a model that gives masks is loaded."""
        from groundfault.interfaces import ModelOptions

        return ModelOptions(
            device=self.device,
            dtype=self.dtype,
            revision=self.revision,
            offline=self.offline,
            timeout_s=self.timeout_s or MASKS_TIMEOUT_S,
            base_url=self.base_url,
            fresh=bool(self.retry),
        )

    def for_words(self, *, thinking: bool = False) -> ChatOptions:
        """How a model that answers in words is loaded or reached."""
        from groundfault.llm.server import ChatOptions

        drawn: dict[str, Any] = {}
        if thinking:
            drawn["max_tokens"] = THINKING_MAX_TOKENS
        if self.max_tokens is not None:
            drawn["max_tokens"] = self.max_tokens
        if self.temperature != "":
            drawn["temperature"] = _temperature(self.temperature)
        return ChatOptions(
            device=self.device,
            dtype=self.dtype,
            revision=self.revision,
            offline=self.offline,
            timeout_s=self.timeout_s or WORDS_TIMEOUT_S,
            base_url=self.base_url,
            batch=self.batch or 4,
            sampling_seed=self.sampling_seed,
            extra_body=_extra_body(self.extra_body, "--extra-body"),
            **drawn,
        )

    def for_judging(self, *, base_url: str, thinking: bool = False) -> ChatOptions:
        """The same of a model that judges: greedy, and with fields of its own."""
        chat = self.for_words(thinking=thinking)
        return msgspec.structs.replace(
            chat,
            base_url=base_url,
            temperature=None if chat.temperature is None else 0.0,
            sampling_seed=None,
            extra_body=_extra_body(self.judge_extra_body, "--judge-extra-body"),
        )

    def prompts(self) -> Prompts:
        """What of the prompts was chosen."""
        from groundfault.runner.prompts import Prompts

        if not self.prompt:
            return Prompts(system=self.system)
        if self.modes == ("std",):
            raise UsageError("--prompt is the request to reason: give --mode cot or both")
        try:
            words = Path(self.prompt).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageError(f"--prompt {self.prompt}: cannot be read ({problem})") from None
        if not words:
            raise UsageError(f"--prompt {self.prompt}: is empty")
        return Prompts(system=self.system, reasoning=words)

    def plan(self, *, reserve: float = 0.0, aside: float = 0.0) -> Plan:
        """How the run is carried out."""
        from groundfault.llm.cost import parse_price
        from groundfault.runner.work import Plan

        more: dict[str, Any] = {}
        if self.concurrency is not None:
            more["concurrency"] = self.concurrency
        return Plan(
            engine=self.engine,
            workers=self.workers,
            batch=self.batch,
            ray_address=self.ray_address,
            device=self.device,
            resume=self.resume,
            max_failures=self.max_failures,
            probe=self.probe,
            retry=self.retry_policy(),
            ask_again=self._ask_again(),
            budget=self.budget,
            price=parse_price(self.price) if self.price else None,
            reserve=reserve,
            aside=aside,
            responses=self.responses,
            fresh=self.fresh,
            **more,
        )

    def _ask_again(self) -> str:
        from groundfault.runs.resume import RETRIES

        if self.retry not in RETRIES:
            raise UnknownName("kind of answer to ask for again", self.retry, filter(None, RETRIES))
        if self.retry and not self.resume:
            raise UsageError("--retry goes on with a run, --no-resume starts it anew; give one")
        return self.retry

    def retry_policy(self) -> Any:
        """The retry policy of requests."""
        from groundfault.llm.retry import RetryPolicy

        policy = RetryPolicy(timeout_s=self.timeout_s or WORDS_TIMEOUT_S)
        changes: dict[str, float] = {}
        if self.patience_s is not None:
            changes["outage_s"] = self.patience_s
            changes["first_contact_s"] = min(self.patience_s, policy.first_contact_s)
        if self.max_wait_s is not None:
            changes["longest_stall_s"] = self.max_wait_s
        return msgspec.structs.replace(policy, **changes)

    def with_shared_budget(self) -> Options:
        """With one budget that everybody lives on who is asked: models and their judges."""
        from groundfault.llm.cost import SharedBudget, parse_budget

        if not isinstance(self.budget, (str, int, float)) or self.budget == "":
            return self
        shared = SharedBudget(parse_budget(str(self.budget)))
        return msgspec.structs.replace(self, budget=shared)

    def judge_card(self) -> JudgeCard | None:
        """The judge's card, if one was given."""
        from groundfault.io.store import read_json
        from groundfault.judges.card import JudgeCard

        if self.card is None or isinstance(self.card, JudgeCard):
            return self.card
        return read_json(Path(self.card), JudgeCard)


ONLY_WORDS = (
    "mode", "judge", "judge_base_url", "reader", "attribute", "card", "concurrency", "budget",
    "price", "judge_price", "fresh", "max_tokens", "temperature", "patience_s", "max_wait_s",
    "sampling_seed", "extra_body", "judge_extra_body", "system", "prompt", "thinking",
)  # fmt: skip
"""Options that mean nothing where masks are asked for."""
OF_JUDGES = (
    "judge", "judge_base_url", "judge_price", "concurrency", "patience_s", "max_wait_s",
)  # fmt: skip
"""Those among them that mean something where words come with the masks and may be judged."""
ONLY_MASKS = (
    "engine", "workers", "ray_address", "probe", "retry", "t", "calibration", "tau", "iou",
    "variant", "sizes",
)  # fmt: skip
"""Options that mean nothing where words are asked for."""
_ON_THE_COMMAND_LINE = {
    "probe": "--no-probe",
    "patience_s": "--patience",
    "max_wait_s": "--max-wait",
}


def _as_option(name: str) -> str:
    return _ON_THE_COMMAND_LINE.get(name, f"--{name.replace('_', '-')}")


def _extra_body(given: Mapping[str, Any] | str, option: str) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    try:
        found = decode_json(given) if given else {}
    except msgspec.DecodeError as problem:
        raise UsageError(f"{option} '{given}': is no JSON ({problem})") from None
    if not isinstance(found, dict):
        raise UsageError(f"{option} '{given}': give a JSON object, as in '{{\"top_k\": 20}}'")
    return found


def _temperature(given: float | str | None) -> float | None:
    if given is None or given == "none":
        return None
    try:
        found = float(given)
        if not 0 <= found <= 10:
            raise ValueError
    except ValueError:
        raise UsageError(f"--temperature '{given}': give a number from 0 on, or none") from None
    return found


def score_settings(base: ScoreSettings | None = None, **given: Any) -> ScoreSettings:
    """Score settings with those given in place of the base's; wrong ones are refused."""
    changes = {name: value for name, value in given.items() if value is not None}
    return check(msgspec.structs.replace(base or ScoreSettings(), **changes))
