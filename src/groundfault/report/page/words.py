"""What the page says in plain words: benchmarks, metrics, cells, slices."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from groundfault.report.summaries import SHORT

__all__ = [
    "BENCHMARKS",
    "CELLS",
    "EXAM",
    "EXAM_HEADLINES",
    "METRICS",
    "SLICES",
    "BenchmarkWords",
    "benchmark_words",
    "family",
    "short_name",
    "slice_name",
]

EXAM = "reactbench"
"""The benchmark that is told as an exam: questions in words, answers in words."""
EXAM_HEADLINES = (
    "react_score", "react_score_plain", "accuracy_std", "accuracy_cot", "cot_effect",
    "YN", "SA", "MC", "unparsed_rate",
)  # fmt: skip


class BenchmarkWords(msgspec.Struct, frozen=True, kw_only=True):
    """How a benchmark is told to someone who has not read its paper."""

    title: str
    asked: str
    """What the models were asked and what a good one does."""
    main: str
    """The metric that says who is best."""
    told: str
    """The metric of the first sentence; no other benchmark of these has it."""
    sentence: str
    """What that metric says; {value} and {interval} are put in."""
    bars: tuple[str, ...]


BENCHMARKS = {
    "cafe": BenchmarkWords(
        title="CAFE",
        asked=(
            "One object in each picture was edited so that it looks like something else: it wears "
            "another surface (a cat with tiger stripes), stands in another context or is made of "
            "another material. The model is asked twice. p⁺ names what the object is: it should "
            "be found. p⁻ names what it merely looks like: nothing should be found."
        ),
        main="cgF1",
        told="IL-FPR",
        sentence="accepts the misleading phrase in {value} of pairs {interval}",
        bars=("AFPR", "ACSR", "SoftSwap", "cgF1", "positive_micro_F1", "IL_MCC"),
    ),
    "halluseg": BenchmarkWords(
        title="HalluSegBench",
        asked=(
            "One object c of picture I was replaced by another, c′, giving picture I′. The model "
            "is asked for both in both pictures. A mask should be there for (I, c) and (I′, c′) "
            "and disappear for (I, c′), where only the words changed, and for (I′, c), where only "
            "the picture changed."
        ),
        main="dIoU_textual",
        told="dIoU_textual",
        sentence=(
            "loses {value} of overlap {interval}, as it should, when the words name another object"
        ),
        bars=(
            "dIoU_textual", "dIoU_visual", "IoU_fact", "IoU_cf", "CMS_fact", "CMS_counterfact",
        ),
    ),
    "fprefcoco": BenchmarkWords(
        title="FP-RefCOCO",
        asked=(
            "Each query describes an object. Some descriptions are false: nothing in the picture "
            "fits. The model should mark what is there and reject what is not."
        ),
        main="See",
        told="See",
        sentence="is right about existence for {value} of queries {interval}",
        bars=("See", "See_true", "See_false", "Segment", "gIoU"),
    ),
    "saco": BenchmarkWords(
        title="SA-Co",
        asked=(
            "Each query is a noun phrase for a picture. The model should mark every instance, or "
            "nothing where the concept is absent."
        ),
        main="cgF1",
        told="cgF1",
        sentence="reaches a cgF1 of {value} {interval}",
        bars=(
            "cgF1", "IL_MCC", "positive_micro_F1", "positive_macro_F1", "IL_recall", "IL_FPR",
        ),
    ),
    EXAM: BenchmarkWords(
        title="ReactBench",
        asked=(
            "An exam in four tasks, each of which provokes one cause of hallucination: something "
            "that belongs there was taken out of the picture (erasure), something looks unlike "
            "its kind (attribute), one thing changed between two pictures (tracing), many things "
            "are to be counted (counting). Every picture is asked about in yes/no questions, short "
            "answers and multiple choice, straight (Std) and with the request to think step by "
            "step (CoT)."
        ),
        main="react_score",
        told="react_score",
        sentence="reaches a React-Score of {value} {interval}",
        bars=("react_score", "accuracy_std", "accuracy_cot"),
    ),
    "pope": BenchmarkWords(
        title="POPE",
        asked=(
            "Each picture is asked about in yes/no questions: is there such a thing? Half of the "
            "things are there. The others are drawn at random, from what is frequent (popular) or "
            "from what often goes with what is there (adversarial)."
        ),
        main="F1",
        told="F1",
        sentence="reaches an F1 of {value} {interval}",
        bars=("F1", "accuracy", "precision", "recall", "yes_ratio"),
    ),
}  # fmt: skip


def family(benchmark: str, metrics: Collection[str]) -> str:
    """The benchmark whose metrics these are: another benchmark may be scored in its way.

    >>> family("our-own-edits", {"cgF1", "IL-FPR"}), family("cafe", ())
    ('cafe', 'cafe')
    """
    if benchmark in BENCHMARKS:
        return benchmark
    return next((name for name, words in BENCHMARKS.items() if words.told in metrics), benchmark)


def benchmark_words(benchmark: str, metrics: Collection[str]) -> BenchmarkWords:
    """The words of a benchmark; for one that nobody described, its bare metrics."""
    kin = family(benchmark, metrics)
    if kin in BENCHMARKS:
        words = BENCHMARKS[kin]
        return words if kin == benchmark else msgspec.structs.replace(words, title=benchmark)
    main = next(iter(metrics), "")
    return BenchmarkWords(
        title=benchmark,
        asked="",
        main=main,
        told=main,
        sentence=f"has {main} {{value}} {{interval}}",
        bars=tuple(metrics)[:6],
    )


METRICS = {
    "cgF1": "How well concepts are found and absent ones rejected: pmF1 × IL_MCC. 100 is perfect.",
    "IL_MCC": "Is the concept in the picture or not, yes or no? Correlation of answer and truth, "
    "from −1 over 0 (chance) to 1.",
    "positive_micro_F1": "Quality of the masks where the concept is there (pmF1).",
    "positive_macro_F1": "The same, each pair counting alike.",
    "IL-FPR": "Share of pairs whose misleading phrase p⁻ is accepted at all: AFPR + UFPR.",
    "IL_FPR": "Share of absent concepts that are accepted.",
    "IL_recall": "Share of present concepts that are accepted.",
    "AFPR": "Share of pairs whose p⁻ is accepted on the edited object: the model takes the "
    "look for the thing.",
    "UFPR": "Share of pairs whose p⁻ is accepted, but somewhere else.",
    "ACSR": "Share of pairs that are swapped: p⁻ accepted on the edited object, p⁺ not found.",
    "UCSR": "Swapped likewise, with p⁻ accepted somewhere else.",
    "SoftSwap": "Share of pairs whose best score under p⁻ is above the best under p⁺, whatever "
    "the threshold.",
    "found": "Share of pairs whose p⁺ is found on the edited object (TA-TP).",
    "IoU_fact": "Overlap with the object where it is asked for: (I, c).",
    "IoU_cf": "Overlap with the replacement where it is asked for: (I′, c′).",
    "dIoU_textual": "How much overlap disappears when only the words change. 0 or less: the "
    "model marks what the words no longer name.",
    "dIoU_visual": "How much overlap disappears when only the picture changes. 0 or less: the "
    "model marks what is no longer there.",
    "CMS_fact": "Size of the wrong mask for (I, c′) relative to the object; pixels on the object "
    "weigh three times. 0: no mask.",
    "CMS_counterfact": "The same for (I′, c).",
    "CCMS": "CMS_fact over CMS_counterfact: above 1, words mislead more than pictures.",
    "CCMS_mean": "The same ratio averaged case by case, as the published script prints it.",
    "See": "Share of queries whose existence is judged rightly.",
    "See_true": "The same where the description is true.",
    "See_false": "The same where it is false.",
    "Segment": "Pixels shared over pixels marked or meant, pooled over queries (cIoU).",
    "react_score": "Right answers of the four tasks, weighted by the paper's formula: short "
    "answers count twice, erasure and counting 0.3, attribute and tracing 0.2.",
    "react_score_plain": "The same weights of the tasks, but plain shares of right answers.",
    "accuracy_std": "Share of right answers to the question as it stands.",
    "accuracy_cot": "Share of right answers when asked to think step by step first.",
    "cot_effect": "Accuracy with minus without chain of thought. Below 0: thinking aloud misleads.",
    "YN": "Share of right answers to yes/no questions, mean over the modes asked.",
    "SA": "The same for short answers.",
    "MC": "The same for multiple choice.",
    "unparsed_rate": "Share of answers that could not be read as an answer. They count as wrong.",
    "F1": "Harmonic mean of precision and recall of yes.",
    "accuracy": "Share of right answers.",
    "precision": "Share of right ones among the answers yes.",
    "recall": "Share of what is there that gets a yes.",
    "yes_ratio": "Share of yes among the answers that could be read. Half would be right.",
    "gIoU": "Overlap averaged over queries; a false description counts 1 if rejected, else 0.",
}

CELLS = {
    "TA-TP": "p⁺ found on the object",
    "UA-P": "p⁺ accepted, but elsewhere",
    "TA-FN": "p⁺ seen on the object, score too low",
    "UA-FN": "p⁺ not found",
    "TA-FP": "p⁻ accepted on the object",
    "UA-FP": "p⁻ accepted elsewhere",
    "TN": "p⁻ rejected",
    "words ignored": "the mask stays although the words changed",
    "picture ignored": "a mask is there although the object was replaced",
    "object missed": "little or no mask where one should be",
    "false premise accepted": "a mask for something that is not there",
    "true premise rejected": "no mask for something that is there",
    "poor mask": "existence right, mask poor",
    "false alarm": "a mask for an absent concept",
    "missed": "no mask for a present concept",
}

SLICES = {
    "SM": "superficial mimicry",
    "CC": "context conflict",
    "OC": "ontological conflict",
    "control": "unedited picture",
    "S": "small objects",
    "M": "medium objects",
    "L": "large objects",
    "erasure": "object taken out",
    "attribute": "unusual look",
    "tracing": "two pictures",
    "counting": "many objects",
}

NAMES = {
    "react_score": "React-Score",
    "react_score_plain": "plain",
    "accuracy_std": "Std",
    "accuracy_cot": "CoT",
    "cot_effect": "CoT − Std",
    "unparsed_rate": "not read",
}
"""Of columns whose metrics have longer names."""


def short_name(metric: str) -> str:
    """What a metric is called above a column.

    >>> short_name("react_score"), short_name("positive_micro_F1"), short_name("AFPR")
    ('React-Score', 'pmF1', 'AFPR')
    """
    return NAMES.get(metric) or SHORT.get(metric, metric)


def slice_name(row: str) -> str:
    """A table row with what it stands for.

    >>> slice_name("SM"), slice_name("Overall")
    ('SM · superficial mimicry', 'Overall')
    """
    return f"{row} · {SLICES[row]}" if row in SLICES else row
