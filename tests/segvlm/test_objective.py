"""The objective by hand, and the mixture by counting."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from groundfault.errors import UsageError  # noqa: E402
from groundfault.training.segvlm.mixture import Mixture, Source  # noqa: E402
from groundfault.training.segvlm.objective import (  # noqa: E402
    Losses,
    bce,
    counts,
    dice,
    total,
)
from groundfault.training.segvlm.samples import Kind, Sample, put  # noqa: E402

RLE = {"size": (2, 2), "counts": "04"}


def sample(kind: Kind, name: str = "a", **more: object) -> Sample:
    mask = RLE if kind in ("true", "factual", "counterfactual") else None
    return Sample(id=name, image="x.png", query="the cat", kind=kind, mask=mask, **more)  # type: ignore[arg-type]


def test_dice_and_bce_are_what_they_are_by_hand() -> None:
    logits = torch.tensor([[[0.0, 0.0], [0.0, 0.0]]])  # every chance is one half
    truth = torch.tensor([[[1.0, 0.0], [0.0, 0.0]]])
    everywhere = torch.ones(1, 2, 2, dtype=torch.bool)

    # Σpt = 0.5, Σp = 2, Σt = 1; each over 1000; ε = 1e-6
    by_hand = 1 - (2 * 0.0005 + 1e-6) / (0.002 + 0.001 + 1e-6)
    assert dice(logits, truth, everywhere)[0].item() == pytest.approx(by_hand, abs=1e-7)
    assert bce(logits, truth, everywhere)[0].item() == pytest.approx(math.log(2), abs=1e-6)

    # of the left column alone: Σpt = 0.5, Σp = 1, Σt = 1
    left = torch.tensor([[[True, False], [True, False]]])
    by_hand = 1 - (2 * 0.0005 + 1e-6) / (0.001 + 0.001 + 1e-6)
    assert dice(logits, truth, left)[0].item() == pytest.approx(by_hand, abs=1e-7)
    sure = torch.tensor([[[9.0, 9.0], [-9.0, 9.0]]])
    assert bce(sure, truth, left)[0].item() == pytest.approx(math.log1p(math.exp(-9)), abs=1e-6)


def test_an_empty_target_is_cheap_only_if_nothing_is_drawn() -> None:
    nothing, everywhere = torch.zeros(1, 8, 8), torch.ones(1, 8, 8, dtype=torch.bool)
    assert dice(torch.full((1, 8, 8), -30.0), nothing, everywhere)[0] < 1e-3
    assert dice(torch.full((1, 8, 8), 30.0), nothing, everywhere)[0] > 0.99


def test_lambda_scales_negatives_only() -> None:
    samples = [sample("factual"), sample("textual"), sample("visual"), sample("vqa")]
    about = counts(samples)
    gradients = {}
    for lambda_neg in (0.0, 0.8, 1.0, 1.2):
        values = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        masks = torch.tensor([5.0, 0.0, 0.0, 0.0], requires_grad=True)
        loss = total({"ce": values, "bce": masks}, samples, Losses(lambda_neg=lambda_neg), about)
        loss.backward()
        gradients[lambda_neg] = (values.grad.tolist(), masks.grad.tolist(), loss.item())

    for lambda_neg, (of_words, of_masks, loss) in gradients.items():
        assert of_words == pytest.approx([0.25, 0.25 * lambda_neg, 0.25 * lambda_neg, 0.25])
        assert of_masks[0] == pytest.approx(2.0)
        assert loss == pytest.approx((1 + 5 * lambda_neg + 4) / 4 + 2 * 5, rel=1e-6)


def test_micro_batches_add_up_to_the_step() -> None:
    samples = [sample(kind) for kind in ("factual", "textual", "true", "false", "vqa", "visual")]
    about, weights = counts(samples), Losses(presence=1.0, lambda_neg=0.8)
    rng = np.random.default_rng(0)
    parts = {
        part: torch.tensor(rng.random(6)) * torch.tensor(
            [float(s.kind != "vqa" and (part == "presence" or s.mask is not None)) or
             float(part == "ce") for s in samples]
        )
        for part in ("ce", "bce", "dice", "presence")
    }  # fmt: skip
    whole = total(parts, samples, weights, about)

    pieces = sum(
        total({name: value[k : k + 2] for name, value in parts.items()}, samples[k : k + 2],
              weights, about)
        for k in (0, 2, 4)
    )  # fmt: skip

    assert float(pieces) == pytest.approx(float(whole), rel=1e-6)
    assert about == {"ce": 6, "bce": 2, "dice": 2, "presence": 5, "empty": 3}


def groups(kind: Kind, n: int, each: int = 1) -> list[tuple[Sample, ...]]:
    return [tuple(sample(kind, f"{kind}{k}:{j}") for j in range(each)) for k in range(n)]


def quad(number: int) -> tuple[Sample, ...]:
    kinds: tuple[Kind, ...] = ("factual", "textual", "visual", "counterfactual")
    return tuple(sample(kind, f"{number}:{kind}") for kind in kinds)


def robustseg(seed: int = 0, per_step: int = 100) -> Mixture:
    premises = {"true": groups("true", 5), "false": groups("false", 5)}
    return Mixture(
        [
            Source("refcoco", 12, {"true": groups("true", 9, 5)}),
            Source("vqa", 2, {"vqa": groups("vqa", 4)}),
            Source("fp-refcoco", 3, premises, {"true": 2, "false": 1}),
            Source("reasonseg", 12, {"true": groups("true", 7)}),
            Source(
                "halluseg",
                2,
                {"referring": [quad(k) for k in range(8)], "reasoning": [quad(9)]},
                {"referring": 1, "reasoning": 1},
                whole=True,
            ),
        ],
        seed=seed,
        per_step=per_step,
    )


def test_the_mixture_is_robustsegs_within_three_sigma() -> None:
    mixture = robustseg()
    drawn = [each for step in range(100) for each in mixture.step(step)]
    n = len(drawn)
    assert n == 10_000

    def near(found: int, of: int, share: float) -> bool:
        return abs(found - of * share) <= 3 * math.sqrt(of * share * (1 - share))

    for name, rate in (
        ("refcoco", 12), ("vqa", 2), ("fp-refcoco", 3), ("reasonseg", 12), ("halluseg", 2),
    ):  # fmt: skip
        assert near(sum(each.source == name for each in drawn), n, rate / 31), name
    premises = [each.stratum for each in drawn if each.source == "fp-refcoco"]
    assert near(premises.count("true"), len(premises), 2 / 3)
    quads = [each for each in drawn if each.source == "halluseg"]
    assert near(sum(each.stratum == "reasoning" for each in quads), len(quads), 1 / 2)
    for each in quads:
        assert [one.kind for one in each.samples] == [
            "factual", "textual", "visual", "counterfactual",
        ]  # fmt: skip
        assert len({one.id.partition(":")[0] for one in each.samples}) == 1
    assert {len(each.samples) for each in drawn if each.source == "refcoco"} == {3}


def test_steps_depend_on_seed_and_number_alone() -> None:
    one, two = robustseg(), robustseg()
    assert one.step(7) == two.step(7)
    two.step(1)
    assert one.step(8) == two.step(8) != one.step(7)
    assert robustseg(seed=1).step(7) != one.step(7)


def test_weights_choose_groups_and_empty_sources_are_refused() -> None:
    source = Source("a", 1, {"true": groups("true", 3)}, weights={"true": [0.0, 1.0, 0.0]})
    drawn = Mixture([source], seed=0, per_step=20).step(0)
    assert {each.samples[0].id for each in drawn} == {"true1:0"}
    with pytest.raises(UsageError, match="'b' has nothing"):
        Mixture([Source("b", 1, {"true": []})], seed=0, per_step=1)
    with pytest.raises(UsageError, match="rate 0"):
        Mixture([Source("b", 0, {"true": groups("true", 1)})], seed=0, per_step=1)


def test_words_are_drawn_by_seed_and_fit_the_kind() -> None:
    asked = put([sample("factual"), sample("textual"), sample("false", there="the dog")], 3, 4)
    assert asked == put([one.sample for one in asked], 3, 4)
    assert "[SEG]" in asked[0].answer
    assert not asked[0].forced
    for negative in asked[1:]:
        assert "[SEG]" not in negative.answer
        assert "[SEG]" in negative.forced
        assert "cat" in negative.answer
    assert "the dog" in asked[2].answer
    (question,) = put([sample("vqa", answer="Two.")], 0)
    assert (question.question, question.answer) == ("the cat", "Two.")
    given = put([sample("false", answer="No cat here.")], 0)
    assert given[0].answer == "No cat here."
    few = {put([sample("textual")], k, wordings=1)[0].question for k in range(9)}
    assert len(few) == 1
