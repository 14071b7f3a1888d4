"""Objects cut out by a network, a tiny real one that takes for the object what is red: when it is
believed, how often it is asked, and what is said about files that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundfault.editors.procedural import ProceduralEditor, cutouts, networks
from groundfault.editors.procedural.cutouts import cut_out
from groundfault.errors import DataError
from groundfault.interfaces import Edited, EditRequest, NotEdited

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SIZE = (200, 260)
SIDE = 64
STEEP = 60.0
"""How sharply the network tells red from grey."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A graph 1x3x64x64 → 1x1x64x64: the sigmoid of red minus green."""
    path = tmp_path_factory.mktemp("network") / "red.onnx"
    return saved(path, SIDE)


def saved(path: Path, side: int | str, masks: int = 1, least: float = 0.25) -> str:
    """A network for pictures of a size that answers with some masks of what is redder than
    `least`."""
    helper, numbers = onnx.helper, onnx.TensorProto.FLOAT
    weights = np.tile(
        np.array([STEEP, -STEEP, 0], np.float32).reshape(1, 3, 1, 1), (masks, 1, 1, 1)
    )
    bias = np.full(masks, -least * STEEP, np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["picture", "weights", "bias"], ["odds"]),
            helper.make_node("Sigmoid", ["odds"], ["share"]),
        ],
        "red",
        [helper.make_tensor_value_info("picture", numbers, [1, 3, side, side])],
        [helper.make_tensor_value_info("share", numbers, [1, masks, side, side])],
        [
            onnx.numpy_helper.from_array(weights, "weights"),
            onnx.numpy_helper.from_array(bias, "bias"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    return str(path)


def picture() -> tuple[Any, Any]:
    """A red ball before a grey wall with a blue and a yellow stripe, and its mask."""
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    mask = np.hypot(y - 100, x - 130) < 60
    light = (1 - 0.25 * (x - 130) / 60)[..., None]
    photo = np.where(
        mask[..., None], light * np.array([0.72, 0.16, 0.12], np.float32), np.float32(0.45)
    )
    photo[:20], photo[-20:] = (
        np.array([0.2, 0.3, 0.7], np.float32),
        np.array([0.6, 0.6, 0.1], np.float32),
    )
    noise = np.random.default_rng(0).normal(0, 0.01, (*SIZE, 1))
    return (np.clip(photo + noise, 0, 1) * 255).astype(np.uint8), mask


def floats(image: Any) -> Any:
    return image.astype(np.float32) / 255


def request(kind: str = "recolour", value: str = "blue") -> EditRequest:
    return EditRequest(instruction="", kind=kind, value=value, category="sports ball")


def iou(one: Any, other: Any) -> float:
    return float((one & other).sum() / (one | other).sum())


def test_a_cut_out_follows_what_is_seen_instead_of_what_was_drawn(network: str) -> None:
    image, mask = picture()
    drawn = np.roll(mask, (3, -3), (0, 1))
    found = cut_out(floats(image), drawn, network)
    assert found.is_trusted
    assert iou(found.mask, mask) > 0.97 > iou(drawn, mask)


def test_another_shape_than_the_drawn_one_is_refused(network: str) -> None:
    image, mask = picture()
    drawn = mask.copy()
    drawn[:, 130:] = False
    drawn[60:140, 70:150] = True
    drawn[70:130, 40:75] = True
    found = cut_out(floats(image), drawn, network)
    assert not found.is_trusted
    answer = ProceduralEditor(isnet=network).perform(image, drawn, request())
    assert answer == NotEdited(outcome="refused", reason="outline unclear")


def test_where_a_network_goes_on_the_drawn_outline_parts_two_things(network: str) -> None:
    image, mask = picture()
    both = mask.copy()
    both[80:120, 180:240] = True
    image[both & ~mask] = (180, 40, 30)
    found = cut_out(floats(image), mask, network)
    assert 0 < found.unseen < 0.46
    assert found.agrees(0.2)
    assert iou(found.parted(mask).mask, mask) > 0.97


def test_a_tail_that_a_drawn_mask_forgot_is_edited_too(network: str) -> None:
    image, mask = picture()
    tail = np.zeros_like(mask)
    tail[96:104, 180:215] = True
    image[tail & ~mask] = (180, 40, 30)
    found = cut_out(floats(image), mask, network)
    assert found.is_trusted and iou(found.mask, mask | tail) > 0.97
    edited = ProceduralEditor(isnet=network).perform(image, mask, request())
    assert isinstance(edited, Edited) and (edited.image != image).any(2)[98:102, 190:210].all()
    assert iou(edited.target, mask | tail) > 0.97


@pytest.mark.parametrize(
    ("kind", "value"), [("surface", "giraffe"), ("material", "gold"), ("recolour", "blue")]
)
def test_edits_of_one_object_ask_the_network_no_more_than_one(
    network: str, monkeypatch: pytest.MonkeyPatch, kind: str, value: str
) -> None:
    image, mask = picture()
    asked = []
    real = networks.session

    def session(*given: Any) -> Any:
        asked.append(given)
        return real(*given)

    monkeypatch.setattr(cutouts, "session", session)
    cutouts._seen.cache_clear()
    editor = ProceduralEditor(isnet=network)
    first, second = (editor.perform(image, mask, request(kind, value)) for _ in range(2))
    assert isinstance(first, Edited)
    assert isinstance(second, Edited)
    assert np.array_equal(first.image, second.image)
    assert len(asked) == 2  # the object, and in a mirror


def test_what_no_category_bears_costs_no_look(tmp_path: Path) -> None:
    image, mask = picture()
    unsuited = EditRequest(instruction="", kind="surface", value="zebra", category="person")
    found = ProceduralEditor(isnet=str(tmp_path / "none.onnx")).perform(image, mask, unsuited)
    assert isinstance(found, NotEdited)


def test_a_file_that_is_no_network_is_named_with_a_remedy(tmp_path: Path) -> None:
    image, mask = picture()
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"no network")
    with pytest.raises(DataError, match=r"broken\.onnx") as caught:
        ProceduralEditor(isnet=str(path)).perform(image, mask, request())
    assert "isnet-general-use.onnx" in str(caught.value)


@pytest.mark.parametrize(("side", "masks"), [("side", 1), (SIDE, 2)])
def test_a_network_of_another_shape_is_named_with_a_remedy(
    tmp_path: Path, side: int | str, masks: int
) -> None:
    image, mask = picture()
    path = saved(tmp_path / "another.onnx", side, masks)
    with pytest.raises(DataError, match=r"another\.onnx") as caught:
        ProceduralEditor(isnet=path).perform(image, mask, request())
    assert "isnet-general-use.onnx" in str(caught.value)


@pytest.mark.parametrize("kind", ["surface", "material", "recolour"])
def test_a_network_that_sees_nothing_changes_nothing(tmp_path: Path, kind: str) -> None:
    image, mask = picture()
    value = {"surface": "giraffe", "material": "gold", "recolour": "blue"}[kind]
    blind = saved(tmp_path / "blind.onnx", SIDE, least=2.0)
    found, usual = (
        ProceduralEditor(isnet=path).perform(image, mask, request(kind, value))
        for path in (blind, "")
    )
    assert isinstance(found, Edited)
    assert isinstance(usual, Edited)
    assert np.array_equal(found.image, usual.image)


def test_pixels_far_from_the_mask_stay(network: str) -> None:
    image, mask = picture()
    found = ProceduralEditor(isnet=network).perform(image, mask, request())
    assert isinstance(found, Edited)
    assert np.array_equal(found.image[~found.touched], image[~found.touched])
    assert iou(np.abs(found.image.astype(int) - image).max(2) > 30, mask) > 0.95
