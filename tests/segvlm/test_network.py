"""The network: every family, what learns and what does not, where a mask comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.models.conftest import SQUARES, edge_error_px, picture, square
from tests.segvlm import tiny

from groundfault.interfaces import BatchSegmenter, ModelOptions, Probeable
from groundfault.io.masks import decode
from groundfault.models.segvlm.prompts import SEG, ask, questions
from groundfault.records import Outcome

torch = pytest.importorskip("torch", reason="training needs torch")
pytestmark = pytest.mark.xdist_group("transformers")

from groundfault.models.placement import Placement  # noqa: E402
from groundfault.models.segvlm.decoders import MaskDecoder  # noqa: E402
from groundfault.models.segvlm.loading import load_bases  # noqa: E402
from groundfault.models.segvlm.network import (  # noqa: E402
    Lora,
    SegVLM,
    add_lora,
    make_room,
    projector,
)
from groundfault.models.segvlm.rows import HIDDEN, Reader  # noqa: E402
from groundfault.models.segvlm.segmenter import SegVLMSegmenter  # noqa: E402

VLMS = ("qwen3_vl", "qwen2_5_vl", "llava_1_5")
PLACE = Placement("cpu", "float32")


def made(
    checkpoint: Callable[[str], str], vlm: str = "qwen3_vl", decoder: str = "sam2", **lora: Any
) -> tuple[SegVLM, Reader]:
    torch.manual_seed(0)
    model, processor, masks, _ = load_bases(checkpoint(vlm), checkpoint(decoder), ModelOptions())
    reader = Reader(processor)
    make_room(model, reader.seg)
    layers = projector(model, masks)
    return SegVLM(add_lora(model, Lora(**lora), reader.seg), masks, layers).eval(), reader


def features_of(decoder: MaskDecoder, *images: Any) -> Any:
    return tuple(torch.stack(level) for level in zip(*decoder.encode(images), strict=True))


@pytest.mark.parametrize(
    ("vlm", "decoder"),
    [*((vlm, "sam2") for vlm in VLMS), ("qwen3_vl", "sam"), ("qwen3_vl", "sam3_tracker")],
)
def test_each_family_reads_and_draws(
    checkpoint: Callable[[str], str], vlm: str, decoder: str
) -> None:
    network, reader = made(checkpoint, vlm, decoder)
    first, second = picture(80, 60), picture(40, 90, 1)
    rows = reader.rows(
        [first, second], ["the cat?", "a far longer question?"],
        [f"It is {SEG}.", "There is none."], [True, True],
    )  # fmt: skip

    answered = network(rows, features_of(network.decoder, first))

    side = network.decoder.side()
    assert answered.ce.shape == (2,)
    assert (answered.ce > 0).all()
    assert answered.drawn.masks.shape == (1, side, side)
    assert (answered.drawn.presence is not None) == (decoder != "sam")
    (answered.ce.sum() + answered.drawn.masks.sum()).backward()
    moved = [name for name, value in network.trained().items() if value.grad is not None]
    for part in ("lora_B", "projector", "mask_decoder", "embed_tokens", "lm_head"):
        assert any(part in name for name in moved), part
    assert not any("vision" in name or "visual" in name for name in moved)


def test_a_mask_is_drawn_from_the_state_that_predicts_seg(
    checkpoint: Callable[[str], str],
) -> None:
    network, reader = made(checkpoint)
    image = picture(64, 64)
    rows = reader.rows([image], ["Where?"], [f"It is {SEG}, there."], [True])

    _, states = network.read(rows)

    whole = network.vlm(**rows.inputs, output_hidden_states=True)
    place = int(rows.seg[0])
    assert rows.inputs["input_ids"][0, place] == reader.seg
    assert torch.equal(states[0], whole.hidden_states[-1][0, place - 1])
    own = rows.labels[0, place:]
    expected = torch.nn.functional.cross_entropy(
        whole.logits[0, :-1], rows.labels[0, 1:], ignore_index=HIDDEN
    )
    assert own[0] == reader.seg
    assert network.read(rows)[0][0].item() == pytest.approx(expected.item(), abs=1e-5)


@pytest.mark.parametrize("vlm", VLMS)
def test_labels_hide_the_question_and_the_picture(
    checkpoint: Callable[[str], str], vlm: str
) -> None:
    _, reader = made(checkpoint, vlm)
    image = picture(64, 48)
    answers = [f"Yes, {SEG}.", "There is no such thing in here.", f"It is {SEG}."]

    rows = reader.rows(
        [image] * 3, ["a?", "a long one, is it?", "b?"], answers, [True, True, False]
    )

    for row, answer in enumerate(answers[:2]):
        learnt = rows.labels[row][rows.labels[row] != HIDDEN].tolist()
        assert reader.tokenizer.decode(learnt[:-1]) == answer
        assert learnt[-1] == reader.tokenizer.eos_token_id
        shown = rows.labels[row] != HIDDEN
        assert torch.equal(rows.inputs["input_ids"][row][shown], rows.labels[row][shown])
    assert (rows.labels[2] == HIDDEN).all()
    assert rows.seg[2] >= 0
    assert rows.seg[1] == -1


def test_padding_changes_nothing(checkpoint: Callable[[str], str]) -> None:
    network, reader = made(checkpoint)
    images = [picture(64, 64), picture(96, 40, 2)]
    asked, said = ["Where?", "Where is the very long thing?"], [f"It is {SEG}.", f"{SEG}."]

    together = network.read(reader.rows(images, asked, said, [True, True]))
    alone = [
        network.read(reader.rows([i], [q], [a], [True]))
        for i, q, a in zip(images, asked, said, strict=True)
    ]

    for row, (ce, states) in enumerate(alone):
        assert together[0][row].item() == pytest.approx(ce[0].item(), abs=1e-4)
        assert torch.allclose(together[1][row], states[0], atol=1e-4)


def test_spare_rows_of_a_vocabulary_are_kept_and_tied_ones_learn_once(
    checkpoint: Callable[[str], str],
) -> None:
    model, processor = tiny.vlm("qwen3_vl")
    words = len(processor.tokenizer)
    model.resize_token_embeddings(words + 40, mean_resizing=False)
    reader = Reader(processor)
    make_room(model, reader.seg)
    assert model.get_input_embeddings().weight.shape[0] == words + 40
    table = model.get_input_embeddings().weight
    assert torch.allclose(table[reader.seg], table[: reader.seg].mean(dim=0))
    model.lm_head.weight = table  # as in Qwen's smaller models
    model.config.tie_word_embeddings = model.config.text_config.tie_word_embeddings = True
    before = table.detach().clone()

    wrapped = add_lora(model, Lora(), reader.seg)

    rows = [
        name for name, v in wrapped.named_parameters() if v.requires_grad and "lora" not in name
    ]
    assert len(rows) == 1
    with torch.no_grad():
        dict(wrapped.named_parameters())[rows[0]].add_(1.0)
    states = torch.randn(1, 1, 64)
    said = wrapped.get_output_embeddings()(states)[0, 0]
    assert torch.allclose(said[: reader.seg], (states[0, 0] @ before.T)[: reader.seg], atol=1e-5)
    assert said[reader.seg].item() == pytest.approx(
        float(states[0, 0] @ (before[reader.seg] + 1)), abs=1e-4
    )


def test_lora_is_on_the_language_model_alone(checkpoint: Callable[[str], str]) -> None:
    network, _ = made(checkpoint, "llava_1_5", "sam")
    adapted = [name for name in network.trained() if "lora_A" in name]
    assert len(adapted) == 4  # q and v of two layers; CLIP's tower has layers of the same names
    assert all("language_model" in name and ("q_proj" in name or "v_proj" in name)
               for name in adapted)  # fmt: skip


@pytest.mark.parametrize("decoder", ("sam2", "sam", "sam3_tracker"))
@pytest.mark.parametrize("shape", SQUARES[:5])
def test_targets_come_back_to_where_they_were(
    checkpoint: Callable[[str], str], decoder: str, shape: tuple[int, ...]
) -> None:
    masks = MaskDecoder(*tiny.DECODERS[decoder]())
    image, truth = square(*shape)

    target, inside = masks.target(truth)

    back = masks.in_picture(torch.where(target > 0, 9.0, -9.0), truth.shape).numpy()
    step = max(truth.shape) / masks.side()
    assert edge_error_px(back, truth) <= step + 1
    assert (target[~inside] == 0).all()
    assert image.shape[:2] == truth.shape


def test_a_thing_thinner_than_the_decoder_sees_is_no_empty_target() -> None:
    masks = MaskDecoder(*tiny.DECODERS["sam2"]())
    truth = np.zeros((600, 600), bool)
    truth[300, 100:110] = True
    assert masks.target(truth)[0].sum() > 0


@pytest.mark.parametrize("vlm", VLMS)
def test_what_is_said_and_drawn_is_what_training_reads(
    checkpoint: Callable[[str], str], vlm: str
) -> None:
    network, reader = made(checkpoint, vlm, rows="all")
    image = picture(64, 64)
    with torch.no_grad():  # it says [SEG] whatever it sees
        head = network.vlm.get_output_embeddings()
        weight = dict(head.named_parameters())["modules_to_save.default.weight"]
        weight.zero_()
    segmenter = SegVLMSegmenter(network, reader, PLACE, max_tokens=3)
    bias = torch.zeros(weight.shape[0])
    bias[reader.seg] = 30.0
    handle = head.register_forward_hook(lambda _, __, out: out + bias)
    try:
        (spoken,) = segmenter.speak([image], [ask("the cat")])
        (prediction,) = segmenter.segment(image, ["the cat"])
    finally:
        handle.remove()

    rows = reader.rows([image], [ask("the cat")], [SEG], [True])
    _, states = network.read(rows)
    assert spoken.sureness == pytest.approx(1.0, abs=1e-6)
    assert torch.allclose(spoken.state, states[0], atol=1e-5)
    drawn = network.draw(states, features_of(network.decoder, image))
    mask = network.decoder.in_picture(drawn.masks[0], (64, 64)).numpy()
    if mask.any():
        assert (decode(prediction.masks[0]) == mask).all()
    else:
        assert prediction.outcome is Outcome.ABSTAINED
    assert prediction.finish == "length"


def test_an_endless_answer_is_unread_and_an_ended_one_a_denial(
    checkpoint: Callable[[str], str],
) -> None:
    network, reader = made(checkpoint)
    segmenter = SegVLMSegmenter(network, reader, PLACE, max_tokens=4)
    assert isinstance(segmenter, BatchSegmenter) and isinstance(segmenter, Probeable)
    head = network.vlm.get_output_embeddings()
    for token, outcome in ((65, Outcome.UNPARSED), (reader.tokenizer.eos_token_id, "abstained")):
        handle = head.register_forward_hook(
            lambda _, __, out, token=token: out + 99.0 * torch.nn.functional.one_hot(
                torch.tensor(token), out.shape[-1]
            )
        )  # fmt: skip
        found = segmenter.segment_batch([picture(40, 40), picture(60, 30)], [["a"], ["b", "c"]])
        handle.remove()
        assert [[each.outcome for each in own] for own in found] == [[outcome], [outcome] * 2]


@pytest.mark.parametrize("shape", SQUARES[:6])  # the last has less than one row of 16
def test_masks_keep_to_the_pictures_frame(
    checkpoint: Callable[[str], str], shape: tuple[int, ...]
) -> None:
    network, reader = made(checkpoint, decoder="sam")
    image, truth = square(*shape)
    found = SegVLMSegmenter(network, reader, PLACE).frame_probe(image)
    step = max(truth.shape) / network.decoder.side()
    assert edge_error_px(found, truth) <= step + 1


def test_large_pictures_are_shown_smaller(checkpoint: Callable[[str], str]) -> None:
    _, reader = made(checkpoint)
    small = Reader(reader.processor, max_pixels=32 * 32)
    image = picture(128, 96)
    more, less = (len(one.prompts([image], ["a"])["pixel_values"]) for one in (reader, small))
    assert less < more


def test_questions_of_evaluation_are_held_out() -> None:
    for query in ("the cat", "What barks?"):
        assert not set(questions(query)) & set(questions(query, held_out=True))
        assert query in ask(query)
