"""The ready scripts against stand-ins for their repositories.

The stand-ins have the calls that the repositories have where we read them, and tiny answers. What
they show: the scripts load, ask and answer through the real runtime in a real process. What they
cannot show: that the published weights behave. docs/workers.md says so.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.models import worker
from groundfault.models.worker_process import WorkerModelError
from groundfault.records import Outcome, Prediction
from groundfault.workers import lisa, openseed, seg_zero, vision_reasoner

PICTURE = np.zeros((30, 50, 3), np.uint8)
PICTURE[:, :20] = 255
NAMES = {
    "openseed", "lisa", "pixellm", "glamm", "sesame", "seg_zero", "vision_reasoner", "robustseg",
    "yolo_world_seg",
}  # fmt: skip

CONVERSATION = """
    class Conversation:
        roles = ("USER", "ASSISTANT")
        def __init__(self):
            self.messages = []
        def copy(self):
            return Conversation()
        def append_message(self, role, text):
            self.messages.append((role, text))
        def get_prompt(self):
            return " ".join(f"{role}: {text or ''}" for role, text in self.messages)
    conv_templates = {"llava_v1": Conversation()}
"""
TOKENIZER = """
    import torch
    class Ids(list):
        pass
    class Words:
        input_ids = [7]
    class AutoTokenizer:
        unk_token = "<unk>"
        eos_token_id, bos_token_id, pad_token_id = 2, 1, 0
        @classmethod
        def from_pretrained(cls, name, **_):
            return cls()
        def __call__(self, text, add_special_tokens=True):
            return Words()
        def add_tokens(self, tokens, **_):
            pass
        def decode(self, ids, skip_special_tokens=False):
            text = bytes(i for i in ids.tolist() if 0 < i < 256).decode()
            return "<s> " + text + "</s>"
        def batch_decode(self, ids, skip_special_tokens=False):
            return [bytes(i for i in row.tolist() if 0 < i < 256).decode() for row in ids]
    class CLIPImageProcessor:
        size = {"shortest_edge": 448}
        @classmethod
        def from_pretrained(cls, name):
            return cls()
        def preprocess(self, pixels, return_tensors):
            return {"pixel_values": torch.zeros(1, 3, 224, 224)}
"""
NETWORK = """
    import torch
    from types import SimpleNamespace
    SAID = {True: "Sure, [SEG] .", False: "There is no such thing."}
    class Tower:
        image_processor = None
        def to(self, *_, **__):
            return self
    class Network:
        seg_token_idx = 7777
        def __init__(self):
            self.config = SimpleNamespace(vision_tower="clip")
        @classmethod
        def from_pretrained(cls, name, **settings):
            network = cls()
            network.settings = settings
            return network
        def get_model(self):
            return SimpleNamespace(
                config=self.config,
                initialize_vision_modules=lambda config: None,
                get_vision_tower=Tower,
            )
        def to(self, *_):
            return self
        def eval(self):
            return self
        def answer(self, ids, original):
            prompt = bytes(i for i in ids[0].tolist() if 0 < i < 256).decode()
            assert "<image>" in prompt and "ASSISTANT" in prompt, prompt
            there = "zebra" not in prompt
            tokens = list(SAID[there].encode()) + ([7777] if there else [])
            said = torch.tensor([ids[0].tolist() + tokens])
            mask = torch.full((1, *original), -1.0)
            mask[:, :, :20] = 1.0
            return said, [mask if there else mask[:0]]
"""
RESIZE = """
    class ResizeLongestSide:
        def __init__(self, side):
            self.side = side
        def apply_image(self, pixels):
            import numpy
            assert pixels.dtype == numpy.uint8 and pixels.shape[2] == 3
            height = self.side * pixels.shape[0] // pixels.shape[1]
            return numpy.zeros((height, self.side, 3), numpy.uint8)
"""
IMAGE_TOKENS = """
    import torch
    IMAGE_TOKEN_INDEX = -200
    def tokenizer_image_token(prompt, tokenizer, return_tensors):
        return torch.tensor([-200, *prompt.encode()])
"""


def repository(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        for parent in path.relative_to(folder).parents:
            if str(parent) != ".":
                (folder / parent / "__init__.py").touch()
    return folder


def asked(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, checkpoint: str = ""
) -> tuple[dict[str, str], list[Prediction]]:
    pytest.importorskip("torch")
    monkeypatch.delenv("GROUNDFAULT_WORKER_PYTHON", raising=False)
    monkeypatch.setenv(f"GROUNDFAULT_WORKER_REPO_{name.upper()}", str(folder))
    options = ModelOptions(device="cpu", dtype="float32", timeout_s=600.0)
    with worker.load(f"{name}:{checkpoint}", options) as model:
        model.load_s = 600.0
        found = model.segment(PICTURE, ["the cup", "the zebra"])
        return model.about, found


def left_part(prediction: Prediction) -> bool:
    return bool((decode(prediction.masks[0]) == (PICTURE[:, :, 0] > 0)).all())


FAMILY = {
    "transformers.py": TOKENIZER,
    "model/llava/conversation.py": CONVERSATION,
    "model/llava/mm_utils.py": IMAGE_TOKENS,
    "model/segment_anything/utils/transforms.py": RESIZE,
    "utils/utils.py": "IMAGE_TOKEN_INDEX = -200",
}


def test_lisa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = textwrap.dedent(NETWORK) + textwrap.dedent("""
        class LISAForCausalLM(Network):
            def evaluate(self, clip, images, ids, resized, original, max_new_tokens, tokenizer):
                assert images.shape == (1, 3, 1024, 1024) and clip.shape[0] == 1
                assert tuple(resized[0]) == (614, 1024), resized
                return self.answer(ids, original[0])
    """)
    folder = repository(tmp_path, {**FAMILY, "model/LISA.py": network})
    about, (cup, zebra) = asked("lisa", folder, monkeypatch)
    assert about["model"] == "xinlai/LISA-7B-v1"
    assert (cup.outcome, cup.text, cup.scores) == (Outcome.OK, "Sure, [SEG] .", (1.0,))
    assert left_part(cup)
    assert (zebra.outcome, zebra.masks) == (Outcome.ABSTAINED, ())


def test_pixellm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = textwrap.dedent(NETWORK) + textwrap.dedent("""
        class PixelLMForCausalLM(Network):
            def evaluate(self, clip, images, ids, resized, clip_resize_list, original_size_list,
                         max_new_tokens, tokenizer):
                assert len(self.settings["seg_token_idx"]) == 6
                assert clip.shape == (1, 3, 448, 448) and tuple(clip_resize_list[0]) == (268, 448)
                return (*self.answer(ids, original_size_list[0]), None, None)
    """)
    folder = repository(tmp_path, {**FAMILY, "model/PixelLM.py": network})
    about, (cup, zebra) = asked("pixellm", folder, monkeypatch, checkpoint="weights/hf_model")
    assert about["model"] == "weights/hf_model"
    assert left_part(cup)
    assert zebra.outcome is Outcome.ABSTAINED


def test_glamm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = textwrap.dedent(NETWORK) + textwrap.dedent("""
        class GLaMMForCausalLM(Network):
            def evaluate(self, overview, images, ids, resized, original, max_tokens_new, bboxes):
                assert set(self.settings) >= {"seg_token_idx", "bbox_token_idx", "bop_token_idx"}
                return self.answer(ids, original[0])
    """)
    files = {
        **FAMILY,
        "model/GLaMM.py": network,
        "model/SAM/utils/transforms.py": RESIZE,
        "tools/utils.py": "IMAGE_TOKEN_INDEX = -200",
    }
    _, (cup, zebra) = asked("glamm", repository(tmp_path, files), monkeypatch)
    assert left_part(cup)
    assert zebra.outcome is Outcome.ABSTAINED


@pytest.mark.parametrize("name", ["sesame", "robustseg"])
def test_sesame_and_robustseg(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = textwrap.dedent(NETWORK) + textwrap.dedent("""
        from transformers import AutoTokenizer, CLIPImageProcessor
        class SESAMEForCausalLM(Network):
            def evaluate(self, clip, images, ids, shapes, max_new_tokens):
                assert shapes[0] == [(614, 1024), (30, 50)], shapes
                said, masks = self.answer(ids, shapes[0][1])
                there = bool(len(masks[0]))
                blank = torch.zeros(shapes[0][1]).int()
                return said, [(masks[0][0] > 0).int() if there else blank], [there]
        def load_pretrained_model_SESAME(model_path, device_map="auto", device="cuda"):
            tower = Tower()
            tower.image_processor = CLIPImageProcessor()
            return AutoTokenizer(), SESAMEForCausalLM(), tower, 2048
    """)
    loaders = """
        import torch
        def replace_image_tokens(prompts):
            raise AssertionError("the configuration does not ask for it")
        def tokenize_and_pad(prompts, tokenizer, padding):
            return torch.tensor([[-200, *prompt.encode()] for prompt in prompts]), None
    """
    files = {**FAMILY, "model/SESAME.py": network, "dataloaders/utils.py": loaders}
    about, (cup, zebra) = asked(name, repository(tmp_path, files), monkeypatch)
    assert about["model"] in ("tsunghanwu/SESAME", "PLAN-Lab/RobustSeg")
    assert left_part(cup)
    assert (zebra.outcome, zebra.masks) == (Outcome.ABSTAINED, ())


THINKING = {
    "sam2/sam2_image_predictor.py": """
        import numpy
        class SAM2ImagePredictor:
            @classmethod
            def from_pretrained(cls, name, device):
                return cls()
            def set_image(self, image):
                self.size = image.size
            def predict(self, point_coords, point_labels, box):
                assert len(point_coords) == len(point_labels)
                left, top, right, bottom = (round(side) for side in box)
                masks = numpy.zeros((3, self.size[1], self.size[0]), numpy.float32)
                masks[1, top:bottom, left:right] = 1
                return masks, numpy.array([0.1, 0.8, 0.3]), None
    """,
    "qwen_vl_utils.py": """
        def process_vision_info(messages):
            image = messages[0]["content"][0]["image"]
            assert image.size == (840, 840)
            return [image], None
    """,
    "transformers.py": """
        import torch
        class Inputs(dict):
            input_ids = torch.zeros(1, 4, dtype=torch.long)
            def to(self, device):
                return self
        class AutoProcessor:
            @classmethod
            def from_pretrained(cls, name, **_):
                return cls()
            def apply_chat_template(self, messages, **_):
                return messages[0]["content"][1]["text"]
            def __call__(self, text, **_):
                return Inputs(prompt=text[0])
            def batch_decode(self, ids, **_):
                return [bytes(row.tolist()).decode() for row in ids]
        class Qwen2_5_VLForConditionalGeneration:
            @classmethod
            def from_pretrained(cls, name, **_):
                return cls()
            def to(self, device):
                return self
            def eval(self):
                return self
            def generate(self, prompt, max_new_tokens, do_sample):
                answers = __import__("answers")
                text = answers.ABSENT if "zebra" in prompt else answers.PRESENT
                assert prompt.startswith("Find "), prompt
                return torch.tensor([[0] * 4 + list(text.encode())])
    """,
}


def test_seg_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        **THINKING,
        "answers.py": """
            PRESENT = ("<think>No cup? There!</think><answer>{'bbox': [0, 0, 336, 840], "
                       "'points_1': [9, 9], 'points_2': [99, 99]}</answer>")
            ABSENT = "<think>Hm.</think><answer>There is no such thing.</answer>"
        """,
        "inference_scripts/infer.py": """
            def main():
                QUESTION_TEMPLATE = "Find '{Question}'." "Like <answer>{Answer}</answer>"
        """,
    }
    about, (cup, zebra) = asked("seg_zero", repository(tmp_path, files), monkeypatch)
    assert about["model"] == "Ricky06662/Seg-Zero-7B"
    assert left_part(cup)
    assert cup.scores == (0.8,)
    assert zebra.outcome is Outcome.ABSTAINED


def test_vision_reasoner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        **THINKING,
        "answers.py": """
            ONE = '{"bbox_2d": [0, 0, 336, 840], "point_2d": [9, 9]}'
            PRESENT = "<think>Two.</think><answer>[" + ONE + ", " + ONE + "]</answer>"
            ABSENT = "<think>Hm.</think><answer>[]</answer>"
        """,
        "vision_reasoner/models/vision_reasoner_model.py": """
            class VisionReasonerModel:
                def __init__(self):
                    self.DETECTION_TEMPLATE = \\
                        "Find \\"{Question}\\"." \\
                        "Like <answer>{Answer}</answer>"
        """,
    }
    _, (cup, zebra) = asked("vision_reasoner", repository(tmp_path, files), monkeypatch)
    assert len(cup.masks) == 2
    assert left_part(cup)
    assert zebra.outcome is Outcome.ABSTAINED


def test_openseed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "detectron2/data.py": """
            from types import SimpleNamespace
            class MetadataCatalog:
                @staticmethod
                def get(name):
                    return SimpleNamespace()
        """,
        "utils/arguments.py": """
            def load_opt_from_config_files(files):
                assert files == ["configs/openseed/openseed_swint_lang.yaml"]
                return {}
        """,
        "openseed/BaseModel.py": """
            import torch
            from types import SimpleNamespace
            class Instances(SimpleNamespace):
                def to(self, device):
                    return self
            class BaseModel:
                def __init__(self, settings, model):
                    self.model = model
                def from_pretrained(self, path):
                    return self
                def eval(self):
                    return self
                def to(self, device):
                    return self
                def forward(self, inputs, task):
                    (entry,) = inputs
                    assert task == "inst_seg" and entry["image"].shape == (3, 800, 1333)
                    assert self.model.sem_seg_head.num_classes == len(self.model.names) == 2
                    mask = torch.zeros(entry["height"], entry["width"])
                    mask[:, :20] = 1
                    return [{"instances": Instances(
                        pred_classes=torch.tensor([0, 1, 0]),
                        scores=torch.tensor([0.75, 0.001, 0.5]),
                        pred_masks=torch.stack([mask, mask, 1 - mask]))}]
        """,
    }
    folder = repository(tmp_path, files)
    (folder / "openseed" / "__init__.py").write_text(
        textwrap.dedent("""
        from types import SimpleNamespace
        def build_model(settings):
            model = SimpleNamespace()
            def get_text_embeddings(names, is_eval):
                model.names = names
            encoder = SimpleNamespace(get_text_embeddings=get_text_embeddings)
            model.sem_seg_head = SimpleNamespace(predictor=SimpleNamespace(lang_encoder=encoder))
            return model
    """)
    )
    about, (cup, zebra) = asked("openseed", folder, monkeypatch, checkpoint="weights.pt")
    assert about["model"] == "weights.pt"
    assert cup.scores == (0.75, 0.5)
    assert left_part(cup)
    assert (zebra.outcome, zebra.masks) == (Outcome.ABSTAINED, ())


def test_every_model_has_its_script() -> None:
    assert set(worker.scripts()) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_script_says_what_it_needs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"GROUNDFAULT_WORKER_REPO_{name.upper()}", raising=False)
    with (
        worker.load(name, ModelOptions(timeout_s=20)) as model,
        pytest.raises(WorkerModelError, match=f"GROUNDFAULT_WORKER_REPO_{name.upper()}"),
    ):
        model.start()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_script_names_its_source_and_says_that_it_was_not_run(name: str) -> None:
    text = worker.scripts()[name].read_text(encoding="utf-8")
    page = Path(__file__).parents[2].joinpath("docs", "workers.md").read_text(encoding="utf-8")
    for word in ("repository  ", "checkpoint  ", "paper  ", "Not run by us"):
        assert word in text
    assert f"`{name}`" in page


def test_sams_input_is_normalised_before_it_is_padded() -> None:
    torch = pytest.importorskip("torch")
    canvas = lisa.padded(np.full((2, 3, 3), 128, np.uint8), 4)
    assert canvas.shape == (3, 4, 4)
    expected = (128 - torch.tensor(lisa.MEAN_RGB)) / torch.tensor(lisa.DEVIATION_RGB)
    assert torch.allclose(canvas[:, 1, 2], expected)
    assert canvas[:, 2:].abs().sum() == 0
    assert canvas[:, :, 3].abs().sum() == 0


@pytest.mark.parametrize(
    "answer",
    ["", "[]", "{}", "nothing", "[1, 2]", '{"bbox": [1, 2, 3, 4]}', '{"bbox": [1,2,3,"4"]}',
     '{"bbox": [1,2,3,4], "points_1": [1], "points_2": [1, 2]}', "[" * 5000, "1e999",
     '{"bbox": [1e999,2,3,4], "points_1": [1,1], "points_2": [1,2]}', '[{"bbox_2d": null}]'],
)  # fmt: skip
def test_answers_that_are_not_all_there_prompt_nothing(answer: str) -> None:
    text = f"<think>…</think><answer>{answer}</answer>"
    assert seg_zero.prompts_of(text) == []
    assert vision_reasoner.prompts_of(text) == []


MMDET = {
    "mmengine/config.py": """
        from types import SimpleNamespace
        class Config(SimpleNamespace):
            @staticmethod
            def fromfile(path):
                assert path.startswith("configs/segmentation/yolo_world_seg_l_dual")
                names = ("LoadImageFromFile", "LoadText")
                return Config(steps=[SimpleNamespace(type=name) for name in names])
    """,
    "mmengine/dataset.py": """
        import numpy, torch
        class Compose:
            def __init__(self, steps):
                assert steps[0].type == "mmdet.LoadImageFromNDArray", steps
            def __call__(self, data):
                assert data["img"].flags["C_CONTIGUOUS"] and data["img"].dtype == numpy.uint8
                pixels = torch.from_numpy(data["img"]).permute(2, 0, 1)
                return {"inputs": pixels, "data_samples": data["texts"]}
    """,
    "mmdet/utils.py": """
        def get_test_pipeline_cfg(cfg):
            return cfg.steps
    """,
    "mmdet/apis.py": """
        import torch
        from types import SimpleNamespace
        class Instances(SimpleNamespace):
            def cpu(self):
                return self
        class Network:
            def test_step(self, batch):
                (texts,), (pixels,) = batch["data_samples"], batch["inputs"]
                assert len(texts) == 2 and texts[1] == [" "], texts  # one phrase and the blank
                there = pixels[2] > 0  # the last channel is red
                if texts[0] == ["the zebra"]:  # the box is the blank's, the phrase scores nothing
                    labels, scores = [1, 0], [0.9, 0.004]
                else:
                    labels, scores = [0, 1, 0], [0.3, 0.8, 0.6]
                masks = torch.stack([~there, ~there, there][-len(labels):])
                return [SimpleNamespace(pred_instances=Instances(
                    labels=torch.tensor(labels), scores=torch.tensor(scores), masks=masks))]
        def init_detector(settings, checkpoint, device):
            assert checkpoint.endswith("weights.pth") and device == "cpu"
            return Network()
    """,
}


def test_yolo_world_seg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path, MMDET)
    about, (cup, zebra) = asked("yolo_world_seg", folder, monkeypatch, checkpoint="weights.pth")
    assert about["model"].endswith("weights.pth")
    assert cup.scores == pytest.approx((0.6, 0.3))
    assert left_part(cup)
    assert (zebra.outcome, zebra.masks) == (Outcome.ABSTAINED, ())


def test_yolo_world_seg_wants_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorkerModelError, match="seghead_finetune_lvis-5a642d30"):
        asked("yolo_world_seg", repository(tmp_path, MMDET), monkeypatch)


def test_openseeds_scores_stay_with_their_masks() -> None:
    found = openseed.answers_of(3, [2, 0, 2], [0.5, 0.9, 1.2], ["a", "b", "c"])
    assert [answer.masks for answer in found] == [["b"], [], ["a", "c"]]
    assert found[2].scores == [0.5, 1.0]
    assert [answer.outcome for answer in found] == ["ok", "abstained", "ok"]
