"""Objects cut out by SAM 2, or by a tiny real pair of networks that takes for the object what is
red: when it is believed, how often it is asked, and what is said about files that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundfault.editors.procedural import ProceduralEditor, cutouts, networks
from groundfault.editors.procedural.cutouts import Cutout, cut_out
from groundfault.editors.procedural.donors import Donor
from groundfault.editors.procedural.edges import floats
from groundfault.editors.procedural.transplants import best_donor
from groundfault.errors import DataError
from groundfault.interfaces import Edited, EditRequest, Neighbour, NotEdited

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SIZE = (200, 260)
STEEP = 60.0
"""How sharply the network tells red from grey."""
RED = (180, 40, 30)
ALL, NONE = 10.0, -10.0
"""The odds of an answer that takes everything for the object, and of one that sees nothing."""
VALUES = {
    "recolour": "blue",
    "surface": "giraffe",
    "material": "gold",
    "context": "deep sea",
    "add": "sports ball",
    "move": "",
}


def save_encoder(path: Path, *, side: int = 1024) -> None:
    """A graph that gives red minus green at 256 x 256 pixels, and two smaller copies of it."""
    helper = onnx.helper
    deviation, mean = cutouts.DEVIATION, cutouts.MEAN
    weights = floats([deviation[0], -deviation[1], 0]).reshape(1, 3, 1, 1)

    def pooled(given: str, found: str, by: int) -> Any:
        sizes = {"kernel_shape": [by, by], "strides": [by, by]}
        return helper.make_node("AveragePool", [given], [found], **sizes)

    nodes = [
        pooled("image", "small", 4),
        helper.make_node("Conv", ["small", "weights", "bias"], ["high_res_feats_0"]),
        pooled("high_res_feats_0", "high_res_feats_1", 2),
        pooled("high_res_feats_1", "image_embed", 2),
    ]
    features = [
        ("high_res_feats_0", [1, 1, side // 4, side // 4]),
        ("high_res_feats_1", [1, 1, side // 8, side // 8]),
        ("image_embed", [1, 1, side // 16, side // 16]),
    ]
    constants = {"weights": weights, "bias": floats([mean[0] - mean[1]])}
    save(path, nodes, [("image", [1, 3, side, side])], features, constants)


def save_decoder(
    path: Path,
    *,
    sure: float = 0.97,
    least: float = 0.25,
    others: tuple[float, float] = (ALL, NONE),
    side: int = 256,
    points: str = "point_coords",
    count: int = 3,
) -> None:
    """A graph with three answers, the one in the middle what is redder than `least`. `sure` is the
    IoU that it expects of that one; of the others, and where it is given a hint, it expects
    less."""
    helper = onnx.helper
    nodes = [
        helper.make_node("Mul", ["high_res_feats_0", "steep"], ["steeply"]),
        helper.make_node("Sub", ["steeply", "least"], ["odds"]),
        helper.make_node("Mul", ["odds", "nothing"], ["blank"]),
        helper.make_node("Add", ["blank", "first"], ["one"]),
        helper.make_node("Add", ["blank", "last"], ["other"]),
        helper.make_node("Concat", ["one", "odds", "other"], ["masks"], axis=1),
        helper.make_node("Mul", ["has_mask_input", "half"], ["less"]),
        helper.make_node("Sub", ["sure", "less"], ["iou_predictions"]),
    ]
    inputs = [
        ("image_embed", [1, 1, side // 4, side // 4]),
        ("high_res_feats_0", [1, 1, side, side]),
        ("high_res_feats_1", [1, 1, side // 2, side // 2]),
        (points, [1, "points", 2]),
        ("point_labels", [1, "points"]),
        ("mask_input", [1, 1, 256, 256]),
        ("has_mask_input", [1]),
    ]
    constants = {
        "steep": floats([STEEP]),
        "least": floats([least * STEEP]),
        "nothing": floats([0]),
        "first": floats([others[0]]),
        "last": floats([others[1]]),
        "half": floats([0.5]),
        "sure": floats([[0.5, sure, 0.5][:count]]),
    }
    outputs = [("masks", [1, 3, side, side]), ("iou_predictions", [1, count])]
    save(path, nodes, inputs, outputs, constants)


def save(path: Path, nodes: Any, inputs: Any, outputs: Any, constants: dict[str, Any]) -> None:
    helper, numbers = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        path.stem,
        [helper.make_tensor_value_info(name, numbers, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, numbers, shape) for name, shape in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.parent.mkdir(exist_ok=True)
    onnx.save(model, path)


def saved(folder: Path, **changes: Any) -> str:
    """A folder with both networks."""
    save_encoder(folder / "tiny_encoder.onnx")
    save_decoder(folder / "tiny_decoder.onnx", **changes)
    return str(folder)


@pytest.fixture(scope="module")
def sam2(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(tmp_path_factory.mktemp("sam2"))


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


def box(rows: slice, columns: slice) -> Any:
    found = np.zeros(SIZE, bool)
    found[rows, columns] = True
    return found


def look(image: Any, drawn: Any, sam2: str, others: Any = None) -> Cutout:
    return cut_out(floats(image) / 255, drawn, sam2, others)


def request(kind: str = "recolour", category: str = "sports ball", **fields: Any) -> EditRequest:
    return EditRequest(instruction="", kind=kind, value=VALUES[kind], category=category, **fields)


def iou(one: Any, other: Any) -> float:
    return float((one & other).sum() / (one | other).sum())


# ---- what is cut out


def test_a_cut_out_follows_what_is_seen_instead_of_what_was_drawn(sam2: str) -> None:
    image, mask = picture()
    drawn = np.roll(mask, (3, -3), (0, 1))
    found = look(image, drawn, sam2)
    assert found.is_trusted and found.sure == pytest.approx(0.97)
    assert iou(found.mask, mask) > 0.97 > iou(drawn, mask)
    assert found.agreed == pytest.approx(iou(found.mask, drawn))


def test_what_goes_on_beyond_the_drawn_mask_is_counted(sam2: str) -> None:
    image, mask = picture()
    tail = box(slice(96, 104), slice(180, 215))
    image[tail & ~mask] = RED
    found = look(image, mask, sam2)
    assert found.is_trusted and iou(found.mask, mask | tail) > 0.97
    assert 0.5 < found.beyond * mask.sum() / (tail & ~mask).sum() < 1
    assert look(*picture(), sam2).beyond == 0


def test_what_the_network_and_who_drew_disagree_about_is_measured(sam2: str) -> None:
    image, mask = picture()
    same = look(image, mask, sam2)
    assert same.added == same.missed == same.more == 0
    piece = box(slice(90, 110), slice(180, 215)) & ~mask
    careless = look(image, mask | piece, sam2)
    assert careless.missed > 0.3 * piece.sum() / mask.sum() and careless.added == 0
    image[piece] = RED
    forgotten = look(image, mask, sam2)
    assert forgotten.added > 0.3 * piece.sum() / mask.sum() and forgotten.missed == 0


def test_an_answer_that_is_half_believed_tells_that_there_may_be_more() -> None:
    own, larger = np.zeros((256, 256), bool), np.zeros((256, 256), bool)
    own[100:150, 100:150], larger[100:150, 100:200] = True, True
    for sure, least, most in ((0.9, 0.8, 1.0), (0.5, 0.0, 0.0)):
        answers = cutouts._Look(own * 1.0, 0.95, np.stack([own, larger]), np.array([0.95, sure]))
        assert least <= cutouts._more(answers, own) <= most


def test_others_are_left_out_but_not_what_was_drawn(sam2: str) -> None:
    image, mask = picture()
    beside = box(slice(80, 120), slice(180, 215))
    image[beside & ~mask] = RED
    assert (look(image, mask, sam2).mask & beside & ~mask).sum() > 500
    found = look(image, mask, sam2, beside)
    assert not (found.mask & beside & ~mask).any()
    assert (found.mask & beside & mask).sum() > 0.9 * (beside & mask).sum()


def test_specks_and_small_holes_go_and_larger_holes_stay(sam2: str) -> None:
    image, mask = picture()
    speck = box(slice(98, 102), slice(214, 218))
    eye = box(slice(80, 83), slice(120, 123))
    handle = box(slice(100, 120), slice(120, 140))
    ring = box(slice(140, 150), slice(60, 70)) & ~box(slice(144, 146), slice(64, 66))
    image[speck | ring] = RED
    image[eye | handle] = 115
    found = look(image, mask, sam2).mask
    assert not found[speck].any() and found[eye].all()
    assert not found[102:118, 122:138].any()
    assert not found[140:150, 60:70].any(), "neither a piece that is too small, nor its hole"


@pytest.mark.parametrize("furred", [False, True])
def test_the_edge_of_a_cut_out_is_soft_and_on_its_outline(sam2: str, furred: bool) -> None:
    image, mask = picture()
    image = cv2.GaussianBlur(image, (0, 0), 1.2)
    found = look(image, mask, sam2)
    alpha = found.edge(floats(image) / 255, furred=furred).alpha
    assert iou(alpha > 0.5, mask) > 0.97
    assert 0.005 < ((alpha > 0.02) & (alpha < 0.98)).mean() < 0.06


@settings(max_examples=25)
@given(
    blobs=st.lists(
        st.tuples(st.integers(0, 119), st.integers(0, 89), st.integers(3, 40)),
        min_size=1,
        max_size=6,
    )
)
def test_points_lie_on_the_object_and_apart_from_each_other(
    blobs: list[tuple[int, int, int]],
) -> None:
    y, x = np.mgrid[:90, :120]
    inside = np.logical_or.reduce([np.hypot(x - cx, y - cy) <= r for cx, cy, r in blobs])
    points, meanings = cutouts._points_on(inside)
    own = points * floats([120, 90]) / cutouts.SIDE_PX
    assert meanings[:2].tolist() == list(cutouts.CORNERS)
    rows, columns = np.nonzero(inside)
    assert own[0] == pytest.approx((columns.min(), rows.min()), abs=0.01)
    assert own[1] == pytest.approx((columns.max() + 1, rows.max() + 1), abs=0.01)
    on, meant = own[2:], meanings[2:]
    assert len(on) <= cutouts.MOST_POINTS and (meant == cutouts.INSIDE).all()
    thick = max(r for _, _, r in blobs) > 2 * cutouts.LEAST_DEPTH_PX
    assert len(on) or not thick, "of what is thin the box alone is told"
    assert all(inside[int(row), int(column)] for column, row in on)
    away = np.linalg.norm(on[:, None] - on[None], axis=2)[np.triu_indices(len(on), 1)]
    assert (away > cutouts.APART * np.hypot(90, 120) - 1.5).all()


# ---- when it is believed


@pytest.mark.parametrize("kind", VALUES)
def test_another_shape_than_the_drawn_one_is_refused(sam2: str, kind: str) -> None:
    image, mask = picture()
    drawn = mask.copy()
    drawn[:, 130:] = False
    drawn |= box(slice(60, 140), slice(70, 150)) | box(slice(70, 130), slice(40, 75))
    found = look(image, drawn, sam2)
    assert found.sure > 0.9 and not found.is_trusted
    answer = ProceduralEditor(sam2=sam2).perform(image, drawn, request(kind))
    assert answer == NotEdited(outcome="refused", reason="outline unclear")


@pytest.mark.parametrize("kind", VALUES)
def test_a_network_that_is_unsure_is_not_believed(tmp_path: Path, kind: str) -> None:
    image, mask = picture()
    unsure = saved(tmp_path, sure=0.5)
    found = look(image, mask, unsure)
    assert found.agreed > 0.95 and not found.is_trusted
    answer = ProceduralEditor(sam2=unsure).perform(image, mask, request(kind))
    assert answer == NotEdited(outcome="refused", reason="outline unclear")


def test_without_filters_whatever_is_seen_is_edited(tmp_path: Path) -> None:
    image, mask = picture()
    unsure = saved(tmp_path, sure=0.1)
    drawn = mask & ~box(slice(0, 200), slice(0, 104))
    assert look(image, drawn, unsure).agreed < cutouts.LEAST_AGREED
    found = ProceduralEditor(sam2=unsure, filters=False).perform(image, drawn, request())
    assert isinstance(found, Edited)
    assert iou(np.asarray(found.target), mask) > 0.97


def test_an_object_that_goes_must_go_with_all_of_itself(tmp_path: Path) -> None:
    """Where it only goes, how sure the network is does not count; what stays behind does."""
    image, mask = picture()
    erase = EditRequest(instruction="", kind="erase", value="", category="sports ball")
    unsure = saved(tmp_path, sure=0.1)
    half = mask & ~box(slice(0, 200), slice(0, 130))
    gone, left = (
        ProceduralEditor(sam2=unsure).perform(image, drawn, erase) for drawn in (mask, half)
    )
    assert isinstance(gone, Edited) or gone.reason != "outline unclear"
    assert left == NotEdited(outcome="refused", reason="outline unclear")


@pytest.mark.parametrize("kind", ["surface", "material", "recolour"])
def test_a_network_that_sees_nothing_changes_nothing(tmp_path: Path, kind: str) -> None:
    image, mask = picture()
    blind = saved(tmp_path, least=2.0, others=(NONE, NONE))
    found, usual = (
        ProceduralEditor(sam2=path).perform(image, mask, request(kind)) for path in (blind, "")
    )
    assert isinstance(found, Edited) and isinstance(usual, Edited)
    assert np.array_equal(found.image, usual.image)
    assert found.target is None and "target_by" not in found.details


def test_a_donor_that_the_network_sees_otherwise_is_passed_over(sam2: str, tmp_path: Path) -> None:
    image, mask = picture()
    ball, outline = np.roll(image, 8, 1), np.roll(mask, 8, 1)

    class Balls:
        def of(self, category: str) -> list[Donor]:
            return [Donor("apple", "1", "", lambda: outline, lambda: ball)]

    photo = floats(image[..., ::-1]) / 255
    found, none = (
        best_donor(photo, mask, "orange", "apple", Balls(), folder)
        for folder in (sam2, saved(tmp_path, sure=0.5))
    )
    assert found is not None and none is None
    assert found[1].alpha.sum() == pytest.approx(mask.sum(), rel=0.05)


# ---- what becomes of it


@pytest.mark.parametrize("kind", ["surface", "material", "recolour", "context"])
def test_the_corrected_mask_is_the_targets(sam2: str, kind: str) -> None:
    image, mask = picture()
    drawn = np.roll(mask, (3, -3), (0, 1))
    found = ProceduralEditor(sam2=sam2).perform(image, drawn, request(kind))
    assert isinstance(found, Edited), found
    assert iou(np.asarray(found.target), mask) > 0.97
    assert found.details["target_by"] == "SAM 2"


def test_a_tail_that_a_drawn_mask_forgot_is_edited_too(sam2: str) -> None:
    image, mask = picture()
    tail = box(slice(96, 104), slice(180, 215))
    image[tail & ~mask] = RED
    edited = ProceduralEditor(sam2=sam2).perform(image, mask, request())
    assert isinstance(edited, Edited) and (edited.image != image).any(2)[98:102, 190:210].all()
    assert iou(np.asarray(edited.target), mask | tail) > 0.97


def test_what_others_have_is_not_edited(sam2: str) -> None:
    image, mask = picture()
    beside = box(slice(90, 110), slice(190, 215))
    image[beside] = RED
    other = Neighbour(category="apple", mask=beside)
    found = ProceduralEditor(sam2=sam2).perform(image, mask, request(others=(other,)))
    assert isinstance(found, Edited), found
    assert not np.asarray(found.target)[beside].any()
    assert np.array_equal(found.image[95:105, 195:210], image[95:105, 195:210])


def test_pixels_far_from_the_mask_stay(sam2: str) -> None:
    image, mask = picture()
    found = ProceduralEditor(sam2=sam2).perform(image, mask, request())
    assert isinstance(found, Edited)
    assert np.array_equal(found.image[~found.touched], image[~found.touched])
    assert iou(np.abs(found.image.astype(int) - image).max(2) > 30, mask) > 0.95


# ---- how often it is asked


class Listener:
    """Sessions of the networks, and what they were asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, path: str, *told: str) -> Any:
        self.part, self.real = Path(path).stem, networks.session(path, *told)
        return self

    def run(self, wanted: Any, given: dict[str, Any]) -> Any:
        self.asked.append((self.part, given))
        return self.real.run(wanted, given)


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Listener:
    found = Listener()
    monkeypatch.setattr(cutouts, "session", found)
    cutouts._seen.cache_clear()
    return found


def test_several_edits_of_one_object_cost_one_look(sam2: str, listener: Listener) -> None:
    image, mask = picture()
    editor = ProceduralEditor(sam2=sam2)
    for kind in ("surface", "material", "recolour", "recolour"):
        assert isinstance(editor.perform(image, mask, request(kind)), Edited)
    assert [part for part, _ in listener.asked].count("tiny_encoder") == 1


def test_the_network_is_given_its_own_answer_once_more(sam2: str, listener: Listener) -> None:
    look(*picture(), sam2)
    assert [part for part, _ in listener.asked] == ["tiny_encoder", "tiny_decoder", "tiny_decoder"]
    first, again = (given for _, given in listener.asked[1:])
    assert first["has_mask_input"] == 0 and not first["mask_input"].any()
    assert again["has_mask_input"] == 1
    assert 0.1 < (again["mask_input"] > 0).mean() < 0.9
    assert np.abs(again["mask_input"]).max() <= 32


def test_what_no_category_bears_costs_no_look(tmp_path: Path, listener: Listener) -> None:
    image, mask = picture()
    unsuited = request("surface", category="person")
    found = ProceduralEditor(sam2=str(tmp_path / "missing")).perform(image, mask, unsuited)
    assert isinstance(found, NotEdited) and not listener.asked


# ---- files that are none


def told(folder: Path) -> str:
    """What is said about a folder, which is named with a remedy."""
    image, mask = picture()
    with pytest.raises(DataError) as caught:
        ProceduralEditor(sam2=str(folder)).perform(image, mask, request())
    said = str(caught.value)
    assert str(folder) in said and cutouts.FILES in said
    return said


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    assert "0 files" in told(tmp_path / "missing")


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_a_folder_without_a_part_or_with_two(tmp_path: Path, part: str) -> None:
    saved(tmp_path)
    own = tmp_path / f"tiny_{part}.onnx"
    (tmp_path / f"another_{part}.ort").write_bytes(own.read_bytes())
    (tmp_path / f"{part}.txt").write_text("no network either")
    assert f"2 files there are SAM 2's {part}" in told(tmp_path)
    own.unlink()
    (tmp_path / f"another_{part}.ort").unlink()
    assert f"0 files there are SAM 2's {part}" in told(tmp_path)


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_a_file_that_is_no_network(tmp_path: Path, part: str) -> None:
    saved(tmp_path)
    (tmp_path / f"tiny_{part}.onnx").write_bytes(b"no network")
    assert f"tiny_{part}.onnx" in told(tmp_path)


def test_an_encoder_for_other_pictures(tmp_path: Path) -> None:
    saved(tmp_path)
    save_encoder(tmp_path / "tiny_encoder.onnx", side=512)
    assert "the encoder can't be asked" in told(tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"points": "points"}, "the decoder can't be asked"),
        ({"side": 128}, "the decoder can't be asked"),
        ({"count": 1}, "the decoder answers with"),
    ],
    ids=["names", "features", "answers"],
)
def test_a_decoder_of_another_kind(tmp_path: Path, changes: Any, said: str) -> None:
    assert said in told(Path(saved(tmp_path, **changes)))


def test_a_decoder_that_answers_with_other_sizes(tmp_path: Path) -> None:
    """Larger masks, as other exports give."""
    saved(tmp_path)
    path = tmp_path / "tiny_decoder.onnx"
    model = onnx.load(path)
    join = next(node for node in model.graph.node if node.output[0] == "masks")
    join.output[0] = "small"
    double = onnx.numpy_helper.from_array(floats([1, 1, 2, 2]), "double")
    model.graph.initializer.append(double)
    model.graph.node.append(
        onnx.helper.make_node("Resize", ["small", "", "double"], ["masks"], mode="nearest")
    )
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    onnx.save(model, path)
    assert "the decoder answers with" in told(tmp_path)


def test_two_networks_in_each_others_place(tmp_path: Path) -> None:
    save_encoder(tmp_path / "decoder.onnx")
    save_decoder(tmp_path / "encoder.onnx")
    assert "the encoder can't be asked" in told(tmp_path)
