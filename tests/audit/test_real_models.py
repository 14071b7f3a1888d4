"""Real networks: an ONNX segmenter as a plug-in, nano on world pictures, edits of photographs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw
from tests.audit.scripted import FindsBright
from tests.conftest import Ran
from tests.runner.plug_ins import PlugIn

import groundfault as gf
from groundfault.benchmarks.audit import audit_set
from groundfault.io.masks import decode

SEGMENTER = """
import onnxruntime

CHANNELS = {"red thing": 0, "yellow thing": 1, "blue thing": 2}

class Model:
    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options)

    def segment(self, image, phrases):
        pixels = image.transpose(2, 0, 1)[None].astype(np.float32) / 255
        [scores] = self.session.run(None, {"pixels": pixels})
        return [self.answer(scores[0, CHANNELS[p]]) if p in CHANNELS else as_prediction([], [])
                for p in phrases]

    def answer(self, scores):
        mask = scores >= 0.3
        return as_prediction([mask], [float(scores[mask].mean())]) if mask.any() else (
            as_prediction([], []))

def load(argument, options):
    return Model(argument)
"""
WEIGHTS = np.array([[1, -0.5, -0.5], [0.5, 0.5, -1], [-0.5, -0.5, 1]], np.float32)
"""How much of red, yellow and blue is in a colour; orange has of red and of yellow."""


def write_network(path: Path) -> None:
    """sigmoid(20 · (W · colour − 0.6)) at every pixel, as a real ONNX graph."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper, numpy_helper

    weights = (20 * WEIGHTS).reshape(3, 3, 1, 1)
    bias = np.full(3, -20 * 0.6, np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["pixels", "w", "b"], ["logits"]),
            helper.make_node("Sigmoid", ["logits"], ["scores"]),
        ],
        "colours",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1, 3, "h", "w"])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 3, "h", "w"])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)


def test_an_onnx_segmenter_as_a_plug_in(
    plug_in: PlugIn, tmp_path: Path, run: Callable[..., Ran]
) -> None:
    """Of five pictures two are orange, which the network calls red and yellow: 2 of 5."""
    plug_in.write(SEGMENTER)
    write_network(tmp_path / "colours.onnx")
    images = tmp_path / "photographs"
    images.mkdir()
    colours = ["red", "yellow", "orange", "red", "orange"]
    for number, colour in enumerate(colours):
        picture = Image.new("RGB", (80, 60), "grey")
        ImageDraw.Draw(picture).rectangle((10 + number, 10, 50, 40), fill=colour)
        picture.save(images / f"{number}.png")
    (tmp_path / "p.toml").write_text(
        'exclusive = [["red thing", "yellow thing"]]\nabsent = ["blue thing"]\n'
    )
    ended = run(
        "audit", "--images", images, "--phrases", tmp_path / "p.toml",
        "--model", f"colours=mine:{tmp_path / 'colours.onnx'}", "--out", tmp_path / "out",
        "--counterfactuals", 0, "--bootstrap", 100, "--change", "mirrored", "--change", "scaled",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    found = gf.open_run(tmp_path / "out" / "runs" / "colours")
    metrics = found.summary.rows["Overall"].metrics
    assert (metrics["contradiction_rate"].value, metrics["contradiction_rate"].n) == (0.4, 5)
    assert metrics["absent_accepted"].value == 0
    assert metrics["stability"].value == 1 and metrics["stability"].n == 2 * (5 + 2)
    assert found.run is not None and "model file" in found.run.identity


def test_nano_on_world_pictures(tmp_path: Path) -> None:
    """What nano's own masks say, counted pixel by pixel, is what the audit says."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skia")
    from groundfault import registry
    from groundfault.interfaces import ModelOptions
    from groundfault.world.presets import BuildSettings, build

    build("cafe", 16, tmp_path / "world", BuildSettings(seed=7, size_px=160))
    world = gf.load(tmp_path / "world")
    pairs = sorted({item.query for item in world.items})[:10]
    phrases = {"exclusive": [pairs[:6]], "absent": pairs[6:]}
    found = gf.audit(
        world.images, phrases, "nano-base", tmp_path / "out",
        stability=0, counterfactuals=0, bootstrap=0, page=False, t=0.05, tau=0.3,
    )  # fmt: skip
    metrics = found.results["nano-base"].summary.rows["Overall"].metrics

    model = registry.load_model("nano-base", ModelOptions())
    contradicted = judged = accepted = 0
    for path in sorted(Path(world.images).glob("*.png")):
        answers = model.segment(np.asarray(Image.open(path).convert("RGB")), pairs)
        masks = [
            [decode(m) for m, s in zip(a.masks, a.scores, strict=True) if s >= 0.05]
            for a in answers
        ]
        masks = [[mask for mask in each if mask.any()] for each in masks]
        accepted += sum(bool(each) for each in masks[6:])
        for i in range(6):
            for j in range(i):
                judged += bool(masks[i] or masks[j])
                contradicted += any(
                    (a & b).sum() >= 0.3 * (a | b).sum() for a in masks[i] for b in masks[j]
                )
    assert judged and contradicted
    assert metrics["contradiction_rate"].n == judged
    assert metrics["contradiction_rate"].value == pytest.approx(contradicted / judged)
    assert metrics["absent_accepted"].value == pytest.approx(accepted / (16 * 4))


def photographs(folder: Path, n: int = 3) -> Path:
    """A bright thing with soft shading on a dark, slightly uneven ground."""
    folder.mkdir()
    rng = np.random.default_rng(3)
    rows, across = np.mgrid[:180, :240].astype(np.float32)
    for number in range(n):
        ground = 60 + 8 * rng.standard_normal((180, 240, 1)).astype(np.float32)
        pixels = np.repeat(ground, 3, axis=2) + (rows * 0.1)[..., None]
        inside = ((rows - 95) / 50) ** 2 + ((across - 110 - 10 * number) / 42) ** 2 < 1
        shade = (190 + 0.3 * (across - 110))[..., None] * np.array([1.0, 0.78, 0.45])
        pixels[inside] = (shade + 3 * rng.standard_normal((180, 240, 1)))[inside]
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(folder / f"{number}.png")
    return folder


def edits_of(out: Path) -> list[Any]:
    found = audit_set(gf.load("audit", set=out / "set").settings)
    return [picture.edit for picture in found.pictures if picture.edit is not None]


def test_things_are_edited_and_asked_about_again(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    images = photographs(tmp_path / "photographs")
    phrases = {"exclusive": [["vase", "bottle"]], "absent": ["ladybug"]}
    model = FindsBright(unknown=["bottle", "ladybug"], threshold=120)
    options = {"stability": 0, "counterfactuals": 2, "bootstrap": 0, "page": False}
    found = gf.audit(images, phrases, model, tmp_path / "out", **options)
    edits = edits_of(tmp_path / "out")
    kinds = {edit.kind for edit in edits}
    assert "none" in kinds and "surface" in kinds
    assert {edit.phrase for edit in edits} == {"vase"}
    assert {edit.masked_by for edit in edits} == {"FindsBright"}
    assert {edit.value for edit in edits if edit.kind == "surface"} == {
        "ladybug"
    }  # what may mislead
    [result] = found.results.values()
    summary = result.summary
    assert summary.rows["no-op edit"].metrics["stability"].value == 1.0
    assert summary.rows["Overall"].metrics["kept_rate"].n > 0
    assert summary.rows["Overall"].metrics["turned_rate"].value == 0  # it knows no ladybug
    assert "marked by FindsBright itself; nobody has checked" in summary.about
    assert model.n_shown == 3 + len(edits)  # each picture once, photographs before their edits
    again = FindsBright(unknown=["bottle", "ladybug"], threshold=120)
    gf.audit(images, phrases, again, tmp_path / "out", **options)
    assert again.n_shown == 0


def test_somebody_else_marks(tmp_path: Path, plug_in: PlugIn) -> None:
    pytest.importorskip("cv2")
    plug_in.write("""
        class Model:
            def segment(self, image, phrases):
                mask = image.mean(axis=2) > 120
                return [as_prediction([mask], [0.9]) for phrase in phrases]

        def load(argument, options):
            return Model()
    """)
    images = photographs(tmp_path / "photographs", 2)
    model = FindsBright(unknown=["ladybug"], threshold=120)
    found = gf.audit(
        images, {"phrases": ["vase"], "absent": ["ladybug"]}, model, tmp_path / "out",
        stability=0, counterfactuals=1, edits=["surface"], masks="mine", bootstrap=0, page=False,
    )  # fmt: skip
    assert {edit.masked_by for edit in edits_of(tmp_path / "out")} == {"mine"}
    assert (tmp_path / "out" / "masks" / "mine" / "run.json").is_file()
    [result] = found.results.values()
    assert "marked by mine; nobody" in result.summary.about
