"""What every segmenter owes, each with the real classes and tiny random weights."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.models.conftest import (
    SQUARES,
    assert_same,
    assert_sound,
    counted_calls,
    edge_error_px,
    picture,
    square,
)

from groundfault.interfaces import BatchSegmenter, ModelOptions
from groundfault.records import Outcome
from groundfault.runner.probe import PASSED, probe

pytestmark = pytest.mark.xdist_group("transformers")

PHRASES = ["a dog", "red car", "the leftmost of several very small umbrellas in the rain"]


class Family(NamedTuple):
    """A segmenter under test."""

    module: str
    parts: tuple[str, ...]
    """Tiny checkpoints, as its argument names them."""
    encoders: Callable[[Any], list[Any]]
    """The parts of its networks that look at the picture."""
    batches: bool = True
    """Whether several pictures go through its first encoder together."""


FAMILIES = {
    "sam3": Family("sam3", ("sam3",), lambda m: [m.model.vision_encoder]),
    "grounded-sam2": Family(
        "grounded_sam2",
        ("grounding_dino", "sam2"),
        lambda m: [m.detector.model.model.backbone.conv_encoder, m.segmenter.model.vision_encoder],
        batches=False,
    ),
    "grounded-sam": Family(
        "grounded_sam2",
        ("grounding_dino", "sam"),
        lambda m: [m.detector.model.model.backbone.conv_encoder, m.segmenter.model.vision_encoder],
        batches=False,
    ),
    "owlv2-sam": Family(
        "owlv2_sam",
        ("owlv2", "sam"),
        lambda m: [m.detector.model.owlv2.vision_model, m.segmenter.model.vision_encoder],
    ),
    "clipseg": Family("clipseg", ("clipseg",), lambda m: [m.model.clip.vision_model]),
    "omdet-sam": Family(
        "omdet_sam",
        ("omdet", "sam"),
        lambda m: [
            m.detector.model.vision_backbone.vision_backbone,
            m.detector.model.encoder.channel_projection_layers[0],
            m.segmenter.model.vision_encoder,
        ],
    ),
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


@pytest.fixture(scope="module")
def load(family: Family, checkpoint_folder: Any) -> Any:
    """Load it from its folders: load(dtype="bf16")."""
    argument = "+".join(str(checkpoint_folder(part)) for part in family.parts)

    def loaded(**options: Any) -> Any:
        module = import_module(f"groundfault.models.{family.module}")
        return module.load(argument, ModelOptions(device="cpu", **options))

    return loaded


@pytest.fixture(scope="module")
def model(load: Any) -> Any:
    return load()


def test_is_a_batch_segmenter_that_names_its_checkpoints(model: Any, family: Family) -> None:
    assert isinstance(model, BatchSegmenter)
    assert len(model.checkpoints) == len(family.parts)
    assert all("@sha256:" in identity for identity in model.checkpoints)
    assert tuple(model.placement) == ("cpu", "float32")


@pytest.mark.parametrize("size", [(96, 64), (50, 80), (1, 1), (1, 300), (300, 1)])
def test_masks_have_the_pictures_size(model: Any, size: tuple[int, int]) -> None:
    width, height = size
    found = model.segment(picture(width, height), PHRASES)
    assert len(found) == len(PHRASES)
    for prediction in found:
        assert prediction.outcome is Outcome.OK
        assert_sound(prediction, height, width)


def test_any_array_will_do(model: Any) -> None:
    image = picture(40, 30)
    frozen = image.copy()
    frozen.setflags(write=False)  # as Pillow gives them
    (expected,) = model.segment(image, ["a dog"])
    assert model.segment(frozen, ["a dog"]) == [expected]
    assert model.segment(image[::-1].copy()[::-1], ["a dog"]) == [expected]


def test_one_encoding_for_many_phrases(model: Any, family: Family) -> None:
    many = [f"thing {number}" for number in range(11)]
    for encoder in family.encoders(model):
        with counted_calls(encoder) as calls:
            assert len(model.segment(picture(96, 64), many)) == 11
        assert calls == [1]


def test_phrases_do_not_change_each_other(model: Any) -> None:
    image = picture(96, 64)
    together = model.segment(image, PHRASES)
    for phrase, found in zip(PHRASES, together, strict=True):
        assert_same(found, model.segment(image, [phrase])[0])
    assert together[0].scores != together[1].scores


def test_batch_gives_what_single_gives(model: Any, family: Family) -> None:
    images = [picture(96, 64), picture(50, 80, seed=1), picture(30, 30, seed=2)]
    phrases = [PHRASES, [], ["a cat"]]
    with counted_calls(family.encoders(model)[0]) as calls:
        together = model.segment_batch(images, phrases)
    assert len(calls) == 1 if family.batches else calls == [1, 1]
    for image, asked, found in zip(images, phrases, together, strict=True):
        assert len(found) == len(asked)
        for mine, theirs in zip(found, model.segment(image, asked), strict=True):
            assert_same(mine, theirs)


def test_no_phrases_no_work(model: Any) -> None:
    assert model.segment(picture(8, 8), []) == []
    assert model.segment_batch([], []) == []


def test_huge_picture(load: Any) -> None:
    model = load()
    (getattr(model, "detector", model)).most = 1
    (found,) = model.segment(np.zeros((6000, 8000, 3), np.uint8), ["a dog"])
    assert [mask["size"] for mask in found.masks] == [(6000, 8000)]


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_lower_precision(load: Any, dtype: str, model: Any) -> None:
    (found,) = load(dtype=dtype).segment(picture(96, 64), ["a dog"])
    (exact,) = model.segment(picture(96, 64), ["a dog"])
    assert found.scores[0] == pytest.approx(exact.scores[0], abs=0.05)


def test_same_answer_every_time(load: Any, model: Any) -> None:
    """Weights loaded twice lie elsewhere in memory, which may change the last bit of a sum."""
    answers = [each.segment(picture(40, 30), PHRASES) for each in (load(), model)]
    for again, before in zip(*answers, strict=True):
        assert again.outcome is before.outcome
        scores = [
            {mask["counts"]: score for mask, score in zip(found.masks, found.scores, strict=True)}
            for found in (again, before)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=1e-5)


@pytest.mark.parametrize(
    ("phrases", "said"),
    [
        (["a dog", ""], "phrase 1 is empty"),
        (["  \t"], "phrase 0 is empty"),
        (["a dog", None], "phrase 1 is None"),
        ([7], "phrase 0 is 7"),
        ([["a dog"]], "phrase 0 is"),
        ("a dog", "the one string 'a dog'"),
    ],
)
def test_wrong_phrases_are_named(model: Any, phrases: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        model.segment(picture(8, 8), phrases)


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((8, 8), np.uint8),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros((0, 8, 3), np.uint8),
        np.zeros((8, 8, 3), np.float32),
        "photo.jpg",
    ],
)
def test_wrong_pictures_are_refused(model: Any, image: Any) -> None:
    with pytest.raises(ValueError, match="an image is"):
        model.segment(image, ["a dog"])


def test_one_phrase_list_per_picture(model: Any) -> None:
    with pytest.raises(ValueError, match="2 images, but phrases for 1"):
        model.segment_batch([picture(8, 8)] * 2, [["a dog"]])


def test_the_probe_before_a_run_passes(model: Any) -> None:
    assert probe(model) == PASSED


@pytest.mark.parametrize("place", SQUARES)
def test_frame(model: Any, place: tuple[int, int, int, int, int]) -> None:
    image, truth = square(*place)
    assert edge_error_px(model.frame_probe(image), truth) <= 2
