"""Cases of one cluster are resampled together, whatever the protocol: a set of which every case is
there several times, under one cluster, says what the set itself says, no more surely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundfault.analysis.compare import compare_runs
from groundfault.analysis.entries import entry_of, recomputed
from groundfault.analysis.exam import cot_effects
from groundfault.analysis.summary import summarise, write_results
from groundfault.analysis.sweep import sweep
from groundfault.benchmarks import reactbench
from groundfault.benchmarks.audit import AuditPicture, AuditSet, as_benchmark
from groundfault.benchmarks.reactbench import LAYOUT, Question, Sample
from groundfault.io.masks import encode
from groundfault.io.phrases import Phrases, sound_phrases
from groundfault.protocols import find
from groundfault.protocols.scored import Scored, together
from groundfault.records import (
    Answer,
    Benchmark,
    Card,
    Case,
    Estimate,
    Item,
    Mode,
    Outcome,
    Prediction,
    Region,
    Role,
)

N, SIDE_PX = 60, 12
CARD = Card(
    name="mine", protocol="yes-no", title="Mine", source="here", licence="none", citation="none",
    main_metric="F1",
)  # fmt: skip
Made = tuple[Benchmark, list[Prediction], list[Prediction]]
"""A benchmark, and what two models answer."""


def region(pixels: np.ndarray) -> Region:
    return Region(encode(pixels))


def square(rng: np.random.Generator) -> np.ndarray:
    pixels = np.zeros((SIDE_PX, SIDE_PX), bool)
    top, left = rng.integers(0, SIDE_PX // 2, 2)
    pixels[top : top + rng.integers(2, 7), left : left + rng.integers(2, 7)] = True
    return pixels


def marked(item: Item, rng: np.random.Generator, often: float) -> Prediction:
    """The object itself, something else, or nothing."""
    chance = rng.random()
    if item.regions and chance < often:
        masks = (item.regions[0].mask,)
    else:
        masks = (region(square(rng)).mask,) if chance < 0.8 else ()
    known = tuple(mask for mask in masks if mask is not None)
    outcome = Outcome.OK if known else Outcome.ABSTAINED
    scores = tuple(round(float(rng.uniform(0.3, 1)), 2) for _ in known)
    return Prediction(item_id=item.id, outcome=outcome, masks=known, scores=scores)


def of_masks(protocol: str, roles: Sequence[Role]) -> Made:
    """Cases, each asked in some roles."""
    rng = np.random.default_rng(3)
    items, cases = [], []
    for k in range(N):
        cases.append(Case(id=f"c{k}", intervention="SM"))
        targets = [region(square(rng)), region(square(rng))]
        for role in roles:
            edited = role in (Role.VISUAL, Role.COUNTERFACTUAL)
            absent = role in (Role.NEGATIVE, Role.TEXTUAL, Role.VISUAL)
            absent |= len(roles) == 1 and k % 3 == 0
            target = targets[edited]
            items.append(
                Item(
                    id=f"c{k}:{role.value}",
                    case_id=f"c{k}",
                    role=role,
                    images=(f"{k}{'e' if edited else ''}.png",),
                    height_px=SIDE_PX,
                    width_px=SIDE_PX,
                    query="a cat",
                    regions=() if absent else (target,),
                    target=target if len(roles) > 1 else None,
                )
            )
    card = msgspec.structs.replace(CARD, protocol=protocol)
    found = Benchmark(card=card, cases=tuple(cases), items=tuple(items))
    a, b = ([marked(item, rng, often) for item in items] for often in (0.6, 0.4))
    return found, a, b


def said(item: Item, mode: Mode, right: bool) -> Prediction:
    assert item.answer is not None
    truth = item.answer.reference
    other = {"yes": "no", "no": "yes", "A": "B"}.get(truth, "A")
    parsed = truth if right else other
    return Prediction(
        item_id=item.id,
        mode=mode,
        outcome=Outcome.OK,
        text=parsed,
        parsed=parsed,
        verdict="right" if right else "wrong",
        judge="rule",
    )


def answers(benchmark: Benchmark, modes: Sequence[Mode], *shares: float) -> list[list[Prediction]]:
    rng = np.random.default_rng(5)
    ease = {case.id: rng.random() for case in benchmark.cases}
    return [
        [
            said(item, mode, rng.random() < (share + ease[item.case_id]) / 2)
            for item in benchmark.items
            for mode in modes
        ]
        for share in shares
    ]


def an_exam() -> Made:
    """16 samples in four tasks, each with its twin."""
    samples, questions = [], []
    for k in range(16):
        task = tuple(LAYOUT)[k % 4]
        for twin in (False, True):
            name = f"s{k}{'-twin' if twin else ''}"
            facts = {"object": "bee"} | ({"twin_of": f"s{k}"} if twin else {})
            samples.append(
                Sample(
                    id=name, task=task, images=(f"{name}.png",), height_px=9, width_px=9,
                    facts=facts,
                )
            )  # fmt: skip
            for n, (type_, dimension) in enumerate(LAYOUT[task], start=1):
                truth = {"YN": ("yes", "no")[(n + twin) % 2], "MC": "AB"[twin], "SA": "A bee."}
                questions.append(
                    Question(
                        id=f"{name}:Q{n}", sample_id=name, number=n, type=type_,
                        dimension=dimension, text="?", answer=truth[type_],
                        options=("one", "two") if type_ == "MC" else (),
                    )
                )  # fmt: skip
    found = reactbench.benchmark_of(samples, questions)
    a, b = answers(found, ("std", "cot"), 0.8, 0.5)
    return found, a, b


def yes_or_no() -> Made:
    items = tuple(
        Item(
            id=f"{k}:{truth}",
            case_id=f"c{k}",
            role=Role.QUESTION,
            images=(f"{k}.png",),
            height_px=9,
            width_px=9,
            query=f"Is there a {truth}?",
            answer=Answer(type="YN", reference=truth, dimension="random"),
        )
        for k in range(N)
        for truth in ("yes", "no")
    )
    found = Benchmark(
        card=CARD,
        cases=tuple(Case(id=f"c{k}") for k in range(N)),
        items=items,
    )
    a, b = answers(found, ("std",), 0.9, 0.6)
    return found, a, b


QUAD = (Role.FACTUAL, Role.TEXTUAL, Role.VISUAL, Role.COUNTERFACTUAL)
KINDS: dict[str, Callable[[], Made]] = {
    "concepts": lambda: of_masks("concepts", (Role.POSITIVE,)),
    "concept-pairs": lambda: of_masks("concept-pairs", (Role.POSITIVE, Role.NEGATIVE)),
    "replacement-quads": lambda: of_masks("replacement-quads", QUAD),
    "referring": lambda: of_masks("referring", (Role.POSITIVE,)),
    "yes-no": yes_or_no,
    "exam": an_exam,
}


METRICS = {
    "concepts": ("cgF1", "IL_MCC", "positive_micro_F1", "positive_macro_F1", "IL_recall"),
    "concept-pairs": ("cgF1", "IL_MCC", "IL-FPR", "AFPR", "SoftSwap"),
    "replacement-quads": ("IoU_fact", "IoU_cf", "dIoU_textual", "CMS_fact", "CCMS", "CCMS_mean"),
    "referring": ("See", "Segment", "gIoU"),
    "yes-no": ("F1", "accuracy", "recall", "yes_ratio"),
    "exam": ("paired_accuracy", "react_score", "accuracy_cot", "YN", "SA", "cot_effect"),
}
"""What is compared: no counts, and no fractions so near to 0 or 1 that they have exact intervals,
which take cases that differ by less than coins do for coins, and copies of them for what they are.
"""


def copied(made: Made, times: int, *, tagged: bool = True) -> Made:
    """Every case so many times, all of them in one cluster."""
    benchmark, *models = made
    cases, items = [], []
    for k in range(times):
        for case in benchmark.cases:
            facts = dict(case.facts)
            if "twin_of" in facts:
                facts["twin_of"] = f"{k}/{facts['twin_of']}"
            tags = {"cluster": f"of {case.id.removesuffix('-twin')}"} if tagged else {}
            found = msgspec.structs.replace(case, id=f"{k}/{case.id}", tags=tags, facts=facts)
            cases.append(found)
        for item in benchmark.items:
            images = tuple(f"{k}/{name}" for name in item.images)
            items.append(
                msgspec.structs.replace(
                    item, id=f"{k}/{item.id}", case_id=f"{k}/{item.case_id}", images=images
                )
            )
    a, b = (
        [
            msgspec.structs.replace(each, item_id=f"{k}/{each.item_id}")
            for k in range(times)
            for each in model
        ]
        for model in models
    )
    return msgspec.structs.replace(benchmark, cases=tuple(cases), items=tuple(items)), a, b


def scored(made: Made, which: int = 1) -> Scored:
    protocol = find(made[0].card.protocol)
    return protocol.score(made[0], made[which])  # type: ignore[arg-type]


def same(one: Estimate, other: Estimate) -> bool:
    pairs = ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    return all(a == b if a is None or b is None else a == pytest.approx(b) for a, b in pairs)


def width(estimate: Estimate) -> float:
    assert estimate.low is not None and estimate.high is not None
    return estimate.high - estimate.low


@pytest.mark.parametrize("kind", KINDS)
def test_copies_in_one_cluster_make_nothing_more_certain(kind: str) -> None:
    made = KINDS[kind]()
    once, several, apart = (
        summarise(scored(each), bootstrap=400, seed=0)
        for each in (made, copied(made, 3), copied(made, 3, tagged=False))
    )
    narrower = 0
    for row, found in once.rows.items():
        assert several.rows[row].n_cases == found.n_cases
        for name in METRICS[kind] if row == "Overall" else ():
            estimate, loose = found.metrics[name], apart.rows[row].metrics[name]
            assert same(estimate, several.rows[row].metrics[name]), (row, name)
            narrower += width(loose) < width(estimate)
    assert narrower == len(METRICS[kind])  # as where nothing says that they belong together


@pytest.mark.parametrize("kind", KINDS)
def test_copies_in_one_cluster_tell_no_models_apart(kind: str, tmp_path: Path) -> None:
    made = KINDS[kind]()
    found = []
    for name, each in (("once", made), ("several", copied(made, 3))):
        for k, run in enumerate("ab", start=1):
            this = scored(each, k)
            stored = summarise(this, bootstrap=0, seed=0, data={"files": name})
            write_results(tmp_path / name / run, this, stored)
        runs = [tmp_path / name / run for run in "ab"]
        found.append({t.metric: t for t in compare_runs(runs, resamples=400).tests})
    once, several = found
    assert once.keys() == several.keys() and len(once) > 2
    tested = 0
    for metric, test in once.items():
        other = several[metric]
        assert test.n == other.n
        assert test.difference == (other.difference and pytest.approx(other.difference))
        if test.method == "McNemar":  # three copies are no one thing that is so or not
            assert other.method != "McNemar"
            continue
        assert (test.p, test.method) == (other.p and pytest.approx(other.p), other.method), metric
        assert test.low == (other.low and pytest.approx(other.low))
        tested += 1
    assert tested > 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_of_one_cluster_is_one(kind: str) -> None:
    benchmark, a, _ = made = KINDS[kind]()
    n = len({*scored(made).case.tolist()})
    assert n == len([case for case in benchmark.cases if "twin_of" not in case.facts])
    cases = tuple(
        msgspec.structs.replace(case, tags={"cluster": "all"}) for case in benchmark.cases
    )
    tagged = msgspec.structs.replace(benchmark, cases=cases)
    assert not scored((tagged, a, a)).case.any()
    # a cluster that has the name of a case, and cases that say nothing
    first, second, *others = benchmark.cases
    named = msgspec.structs.replace(first, tags={"cluster": benchmark.cases[-1].id})
    one = msgspec.structs.replace(benchmark, cases=(named, second, *others))
    assert scored((one, a, a)).case.tolist() == scored(made).case.tolist()


def test_audited_photographs_have_clusters_too() -> None:
    phrases = sound_phrases(Phrases(exclusive=(("dog", "cat"),)))
    pictures = tuple(
        AuditPicture(file=f"{k}.png", photograph=str(k), height_px=9, width_px=9) for k in range(4)
    )
    plain = as_benchmark(AuditSet(phrases=phrases, pictures=pictures), "")
    a = [Prediction(item_id=item.id, outcome=Outcome.ABSTAINED) for item in plain.items]
    assert scored((plain, a, a)).case.tolist() == [0, 1, 2, 3]
    tags = ({"cluster": "x"}, {}, {}, {"cluster": "x"})
    cases = tuple(
        msgspec.structs.replace(case, tags=each)
        for case, each in zip(plain.cases, tags, strict=True)
    )
    tagged = msgspec.structs.replace(plain, cases=cases)
    assert scored((tagged, a, a)).case.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("kind", ["concept-pairs", "replacement-quads"])
def test_a_sweep_knows_clusters(kind: str) -> None:
    made = KINDS[kind]()
    protocol = find(kind)
    once, several = (
        sweep(
            protocol,
            each[0],
            protocol.matched(each[0], each[1], {}),
            settings={},
            t_values=(0.4, 0.7),
            tau_values=(0.3,),
            bootstrap=100,
            seed=0,
        )
        for each in (made, copied(made, 2))
    )
    for one, other in zip(once.points, several.points, strict=True):
        if one.row == "Overall":
            assert all(same(one.metrics[n], other.metrics[n]) for n in METRICS[kind])


def test_samples_of_one_photograph_are_one_cluster() -> None:
    """A twin goes with its sample, also where it shows another photograph."""
    benchmark, a, _ = an_exam()
    samples, questions = reactbench.rows_of(benchmark)
    photographs = {"s0": "p", "s0-twin": "q", "s1": "q", "s2": "p", "s2-twin": "p"}
    samples = [
        msgspec.structs.replace(
            sample, facts=sample.facts | {"photograph": photographs.get(sample.id, sample.id)}
        )
        for sample in samples
    ]
    found = reactbench.benchmark_of(samples, questions)
    case = dict(zip([c.id for c in found.cases], scored((found, a, a)).case.tolist(), strict=True))
    assert case["s0"] == case["s0-twin"] == case["s2"] == case["s2-twin"]
    assert case["s1"] == case["s1-twin"] != case["s0"]
    assert len({*case.values()}) == 15
    assert reactbench.rows_of(found)[0] == samples


def test_the_effect_of_reasoning_is_no_surer_by_copies() -> None:
    made = an_exam()
    once, several = (
        cot_effects(each[0], each[1], resamples=300) for each in (made, copied(made, 3))
    )
    assert once.keys() == several.keys()
    for row, effect in once.items():
        assert same(effect.difference, several[row].difference)
        assert effect.p_bootstrap == pytest.approx(several[row].p_bootstrap)


def test_runs_scored_before_clusters_are_compared_like_the_others(tmp_path: Path) -> None:
    """Whichever comes first."""
    made = copied(KINDS["replacement-quads"](), 3)
    for k, name in enumerate(("new", "other"), start=1):
        this = scored(made, k)
        write_results(tmp_path / name, this, summarise(this, bootstrap=200, seed=0))
    old = scored(made, 2)
    old = msgspec.structs.replace(old, case=np.arange(len(old.case)))
    write_results(tmp_path / "old", old, summarise(old, bootstrap=200, seed=0))
    right = compare_runs([tmp_path / "new", tmp_path / "other"], resamples=200)
    assert not right.notes
    for runs in (("new", "old"), ("old", "new")):
        found = compare_runs([tmp_path / name for name in runs], resamples=200)
        assert "were not when old was scored" in found.notes[0]
        assert [test.p for test in found.tests] == [test.p for test in right.tests]
        assert all(test.n == N for test in found.tests)
        ends = found.rows["Overall"]["CMS_fact"]["old"]
        assert same(ends, right.rows["Overall"]["CMS_fact"]["other"])


def test_an_entry_of_a_leaderboard_follows_from_its_clusters(tmp_path: Path) -> None:
    this = scored(copied(KINDS["replacement-quads"](), 2))
    summary = summarise(this, bootstrap=100, seed=0)
    write_results(tmp_path / "run", this, summary)
    again = recomputed(entry_of(tmp_path / "run"))
    assert again["Overall"].n_cases == N
    for name, estimate in again["Overall"].metrics.items():
        assert same(estimate, summary.rows["Overall"].metrics[name])


@given(st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=3), max_size=12))
def test_what_shares_a_key_is_together(keys: list[set[int]]) -> None:
    found = together(keys).tolist()
    firsts = list(dict.fromkeys(found))
    assert firsts == list(range(len(firsts)))
    groups = [set().union(*(k for k, n in zip(keys, found, strict=True) if n == g)) for g in firsts]
    assert sum(map(len, groups)) == len(set().union(*keys))  # no key is in two of them
    for group, members in zip(
        groups, ([k for k, n in zip(keys, found, strict=True) if n == g] for g in firsts),
        strict=True,
    ):  # fmt: skip
        reached = set(members[0])
        while more := [k for k in members if k & reached and not k <= reached]:
            reached.update(*more)
        assert reached == group
