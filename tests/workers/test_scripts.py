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

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.masks import decode
from groundfault.models import worker
from groundfault.models.worker import WorkerSegmenter
from groundfault.models.worker_process import WorkerModelError
from groundfault.records import Outcome, Prediction
from groundfault.workers import lisa, seg_zero, vision_reasoner

PICTURE = np.zeros((30, 50, 3), np.uint8)
PICTURE[:, :20] = 255
NAMES = {
    "openseed", "lisa", "pixellm", "glamm", "sesame", "seg_zero", "vision_reasoner", "robustseg",
}  # fmt: skip

CONVERSATION = """
    class Conversation:
        roles = ("USER", "ASSISTANT")
        def __init__(self, system, messages=()):
            self.system, self.messages = system, messages
        def copy(self):
            return Conversation(self.system, [[role, text] for role, text in self.messages])
        def append_message(self, role, text):
            self.messages.append([role, text])
        def get_prompt(self):
            turns = [f"{role}: {text}" if text else f"{role}:" for role, text in self.messages]
            return " ".join([self.system, *turns])
    conv_templates = {"llava_v1": Conversation("Named."), "v1": Conversation("Usual.")}
    default_conversation = conv_templates["v1"]
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
        def from_pretrained(cls, name, revision="main", **_):
            import os
            assert os.path.isdir(name) or revision == os.environ.get("REVISION", "main"), name
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
    import os
    import torch
    from types import SimpleNamespace
    OPENING = "Named."
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
        def from_pretrained(cls, name, revision="main", torch_dtype=torch.float32, **settings):
            assert os.path.isdir(name) or revision == os.environ.get("REVISION", "main"), name
            network = cls()
            network.settings = settings
            network.dtype = torch_dtype
            return network
        def get_model(self):
            return SimpleNamespace(
                config=self.config,
                initialize_vision_modules=lambda config: None,
                get_vision_tower=Tower,
            )
        def to(self, *where):
            self.dtype = where[-1]
            return self
        def eval(self):
            return self
        def answer(self, ids, original, images):
            assert images.dtype == self.dtype == getattr(torch, os.environ["DTYPE"])
            prompt = bytes(i for i in ids[0].tolist() if 0 < i < 256).decode()
            assert prompt.startswith(f"{OPENING} USER: ") and prompt.endswith(" ASSISTANT:")
            assert "<image>" in prompt, prompt
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


DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "auto": "bfloat16"}
"""As they are asked for, and what the stand-ins want to see."""


def started(
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    checkpoint: str = "",
    dtype: str = "fp32",
    revision: str = "",
) -> WorkerSegmenter:
    pytest.importorskip("torch")
    monkeypatch.delenv("GROUNDFAULT_WORKER_PYTHON", raising=False)
    monkeypatch.setenv(f"GROUNDFAULT_WORKER_REPO_{name.upper()}", str(folder))
    monkeypatch.setenv("DTYPE", DTYPES[dtype])
    if revision:
        monkeypatch.setenv("REVISION", revision)
    options = ModelOptions(device="cpu", dtype=dtype, revision=revision, timeout_s=600.0)
    model = worker.load(f"{name}:{checkpoint}", options)
    model.load_s = 600.0
    return model


def asked(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: str
) -> tuple[dict[str, str], list[Prediction]]:
    with started(name, folder, monkeypatch, **options) as model:
        found = model.segment(PICTURE, ["the cup", "the zebra"])
        return model.about, found


def users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    """A checkpoint in the folder in which the user is."""
    folder = tmp_path / "users folder"
    (folder / "weights").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "weights" / name).write_text("")
    return folder / "weights" / name


def left_part(prediction: Prediction) -> bool:
    return bool((decode(prediction.masks[0]) == (PICTURE[:, :, 0] > 0)).all())


FAMILY = {
    "transformers.py": TOKENIZER,
    "model/llava/conversation.py": CONVERSATION,
    "model/llava/mm_utils.py": IMAGE_TOKENS,
    "model/segment_anything/utils/transforms.py": RESIZE,
    "utils/utils.py": "IMAGE_TOKEN_INDEX = -200",
}


@pytest.mark.parametrize(("dtype", "revision"), [("fp32", ""), ("fp16", "v2"), ("auto", "0a1b2c")])
def test_lisa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, revision: str) -> None:
    network = textwrap.dedent(NETWORK) + textwrap.dedent("""
        class LISAForCausalLM(Network):
            def evaluate(self, clip, images, ids, resized, original, max_new_tokens, tokenizer):
                assert images.shape == (1, 3, 1024, 1024) and clip.shape[0] == 1
                assert tuple(resized[0]) == (614, 1024), resized
                return self.answer(ids, original[0], images)
    """)
    folder = repository(tmp_path, {**FAMILY, "model/LISA.py": network})
    about, (cup, zebra) = asked("lisa", folder, monkeypatch, dtype=dtype, revision=revision)
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
                said, masks = self.answer(ids, original_size_list[0], images)
                logits = torch.cat([masks[0], masks[0] * 4]).to(self.dtype)
                marked = (logits > 0).flatten(1)
                scores = (logits.sigmoid().flatten(1) * marked).sum(1) / (marked.sum(1) + 1e-6)
                return [said], [logits], [torch.tensor([len(logits)])], [scores]
    """)
    folder = repository(tmp_path / "repo", {**FAMILY, "model/PixelLM.py": network})
    weights = users_file(tmp_path, monkeypatch, "config.json").parent
    about, (cup, zebra) = asked("pixellm", folder, monkeypatch, checkpoint="weights", dtype="bf16")
    assert about["model"] == str(weights)
    assert left_part(cup)
    # the mean probability of what each mask marks, one over the other: 0.731 and 0.982
    assert cup.scores == pytest.approx((1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-4))), abs=0.01)
    assert zebra.outcome is Outcome.ABSTAINED


def test_glamm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = textwrap.dedent(NETWORK) + textwrap.dedent("""
        class GLaMMForCausalLM(Network):
            def evaluate(self, overview, images, ids, resized, original, max_tokens_new, bboxes):
                prompt = bytes(i for i in ids[0].tolist() if 0 < i < 256).decode()
                assert "USER: Look at <im_start><image><im_end> first.\\nPlease" in prompt, prompt
                assert set(self.settings) >= {"seg_token_idx", "bbox_token_idx", "bop_token_idx"}
                return self.answer(ids, original[0], images)
    """)
    files = {
        **FAMILY,
        "model/GLaMM.py": network,
        "model/SAM/utils/transforms.py": RESIZE,
        "tools/utils.py": "IMAGE_TOKEN_INDEX = -200",
        "eval/gcg/infer.py": """
            def inference(instructions):
                begin_str = f\"\"\"Look at {DEFAULT_IMAGE_TOKEN} first.\\n\"\"\"
        """,
    }
    _, (cup, zebra) = asked(
        "glamm", repository(tmp_path, files), monkeypatch, dtype="fp16", revision="v2"
    )
    assert left_part(cup)
    assert zebra.outcome is Outcome.ABSTAINED


@pytest.mark.parametrize(
    ("name", "dtype", "revision"),
    [("sesame", "fp32", ""), ("sesame", "fp16", "v2"), ("robustseg", "bf16", "v2")],
)
def test_sesame_and_robustseg(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, revision: str
) -> None:
    network = textwrap.dedent(NETWORK) + textwrap.dedent("""
        from transformers import AutoTokenizer, CLIPImageProcessor
        OPENING = "Usual."
        class SESAMEForCausalLM(Network):
            def evaluate(self, clip, images, ids, shapes, max_new_tokens):
                assert shapes[0] == [(614, 1024), (30, 50)], shapes
                prompt = bytes(i for i in ids[0].tolist() if 0 < i < 256).decode()
                assert "Mark the " in prompt and ", or deny it." in prompt, prompt
                said, masks = self.answer(ids, shapes[0][1], images)
                there = bool(len(masks[0]))
                blank = torch.zeros(shapes[0][1]).int()
                return said, [(masks[0][0] > 0).int() if there else blank], [there]
        def load_pretrained_model_SESAME(model_path, device_map="auto", device="cuda", **kwargs):
            kwargs["device_map"] = device_map
            tokenizer = AutoTokenizer.from_pretrained(model_path, use_fast=False)
            network = SESAMEForCausalLM.from_pretrained(
                model_path, low_cpu_mem_usage=True, seg_token_idx=7777, **kwargs)
            tower = Tower()
            tower.image_processor = CLIPImageProcessor()
            return tokenizer, network, tower, 2048
    """)
    questions = """
        SHORT_QUESTION_TEMPLATE = ["<image>\\nMark {class_name}, or deny it.", "{class_name}?"]
        LONG_QUESTION_TEMPLATE = ["<image>\\n{sent} Mark it."]
    """
    hub = f"""
        def snapshot_download(name, revision):
            assert (name.partition("/")[2], revision) == ({name!r}, "v2")
            return {str(tmp_path)!r}
    """.replace("name.partition", "name.lower().partition")
    loaders = """
        import torch
        def replace_image_tokens(prompts):
            raise AssertionError("the configuration does not ask for it")
        def tokenize_and_pad(prompts, tokenizer, padding):
            return torch.tensor([[-200, *prompt.encode()] for prompt in prompts]), None
    """
    files = {
        **FAMILY,
        "model/SESAME.py": network,
        "dataloaders/utils.py": loaders,
        "dataloaders/qa_template.py": questions,
        "huggingface_hub.py": hub,
    }
    folder = repository(tmp_path, files)
    about, (cup, zebra) = asked(name, folder, monkeypatch, dtype=dtype, revision=revision)
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
            def from_pretrained(cls, name, revision, **_):
                assert revision == __import__("os").environ.get("REVISION", "main")
                return cls()
            def apply_chat_template(self, messages, **_):
                return messages[0]["content"][1]["text"]
            def __call__(self, text, **_):
                return Inputs(prompt=text[0])
            def batch_decode(self, ids, **_):
                return [bytes(row.tolist()).decode() for row in ids]
        class Qwen2_5_VLForConditionalGeneration:
            @classmethod
            def from_pretrained(cls, name, revision, torch_dtype):
                assert revision == __import__("os").environ.get("REVISION", "main")
                assert torch_dtype == getattr(torch, __import__("os").environ["DTYPE"])
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
    about, (cup, zebra) = asked("seg_zero", repository(tmp_path, files), monkeypatch, revision="v2")
    assert about["model"] == "Ricky06662/Seg-Zero-7B"
    assert left_part(cup)
    assert (cup.scores, cup.qualities) == ((1.0,), (0.8,))
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
    assert (cup.scores, cup.qualities) == ((1.0, 1.0), (0.8, 0.8))
    assert left_part(cup)
    assert zebra.outcome is Outcome.ABSTAINED


OPENSEED = {
    "detectron2/data.py": """
        from types import SimpleNamespace
        class Metadata(SimpleNamespace):
            name = "N/A"
            def __setattr__(self, key, value):
                before = self.__dict__.setdefault(key, value)
                assert before == value, f"'{key}' of '{self.name}' is {before}, not {value}"
        class MetadataCatalog:
            known = {}
            @classmethod
            def get(cls, name):
                return cls.known.setdefault(name, Metadata(name=name))
    """,
    "utils/arguments.py": """
        def load_opt_from_config_files(files):
            assert files == ["configs/openseed/openseed_swint_lang.yaml"]
            return {}
    """,
    "openseed/BaseModel.py": """
        import os
        import torch
        from types import SimpleNamespace
        class Instances(SimpleNamespace):
            def to(self, device):
                return self
        class BaseModel:
            def __init__(self, settings, model):
                self.model = model
            def from_pretrained(self, path):
                assert open(path).read() == "" and os.path.isabs(path)
                return self
            def eval(self):
                return self
            def to(self, device):
                return self
            def forward(self, inputs, task):
                (entry,) = inputs
                wanted = getattr(torch, os.environ["DTYPE"])
                lower = torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()
                assert lower == (wanted != torch.float32)
                assert task == "inst_seg" and entry["image"].shape == (3, 800, 1333)
                names, head = self.model.names, self.model.sem_seg_head
                assert head.num_classes == len(names)
                assert len(self.model.metadata.thing_dataset_id_to_contiguous_id) == len(names)
                left = torch.zeros(entry["height"], entry["width"])
                left[:, :20] = 1
                # two places for queries, the best pairs of place and phrase: phrases compete
                fits = {"the cup": [0.75, 0.5], "the mug": [0.7, 0.4]}
                pairs = sorted(
                    ((score, k, place) for k, name in enumerate(names)
                     for place, score in enumerate(fits.get(name, [0.001, 0.001]))), reverse=True)
                kept = pairs[:2]
                return [{"instances": Instances(
                    pred_classes=torch.tensor([k for _, k, _ in kept]),
                    scores=torch.tensor([score for score, _, _ in kept]),
                    pred_masks=torch.stack([(left, 1 - left)[place] for _, _, place in kept]))}]
    """,
    "openseed/__init__.py": """
        from types import SimpleNamespace
        def build_model(settings):
            model = SimpleNamespace()
            def get_text_embeddings(names, is_eval):
                model.names = names
            encoder = SimpleNamespace(get_text_embeddings=get_text_embeddings)
            model.sem_seg_head = SimpleNamespace(predictor=SimpleNamespace(lang_encoder=encoder))
            return model
    """,
}


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_openseed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    folder = repository(tmp_path / "repo", OPENSEED)
    weights = users_file(tmp_path, monkeypatch, "swint.pt")
    about, (cup, zebra) = asked(
        "openseed", folder, monkeypatch, checkpoint="weights/swint.pt", dtype=dtype
    )
    assert about["model"] == str(weights)
    assert cup.scores == (0.75, 0.5)
    assert left_part(cup)
    assert (zebra.outcome, zebra.masks) == (Outcome.ABSTAINED, ())


def test_openseed_is_asked_any_number_of_phrases_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its classes are fixed for good by detectron2's catalogue, and compete in one pass."""
    folder = repository(tmp_path / "repo", OPENSEED)
    users_file(tmp_path, monkeypatch, "swint.pt")
    with started("openseed", folder, monkeypatch, checkpoint="./weights/swint.pt") as model:
        (alone,) = model.segment(PICTURE, ["the mug"])
        cup, mug, zebra = model.segment(PICTURE, ["the cup", "the mug", "the zebra"])
        both = model.segment(PICTURE, ["the zebra", "the cup"])
    assert alone.scores == mug.scores == pytest.approx((0.7, 0.4))
    assert [each.outcome for each in both] == [Outcome.ABSTAINED, Outcome.OK]
    assert (both[1].scores, zebra.masks) == (cup.scores, ())


@pytest.mark.parametrize("given", ["./absent", "weights/absent.pt", "~/absent-checkpoint"])
def test_a_checkpoint_that_is_not_there_is_told_before_anything_starts(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"there is no checkpoint /.*absent"):
        worker.load(f"lisa:{given}", ModelOptions())


def test_a_folder_has_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert worker.load("lisa:mine", ModelOptions()).checkpoint == str(tmp_path / "mine")
    assert worker.load("lisa:owner/mine", ModelOptions(revision="v2")).checkpoint == "owner/mine"
    with pytest.raises(UsageError, match="leave --revision out"):
        worker.load("lisa:mine", ModelOptions(revision="v2"))


def test_an_unknown_number_type_is_told_with_those_that_are_known() -> None:
    pytest.importorskip("torch")
    with pytest.raises(RuntimeError, match=r"unknown dtype 'int4'\. Known: auto, fp32, bf16, fp16"):
        lisa.device_and_dtype({"device": "cpu", "dtype": "int4"}, usual="float32")


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


OBJECT = "{'bbox': [1, 2, 3, 4], 'points_1': [1, 2], 'points_2': [2, 3]}"
JSON_OBJECT = OBJECT.replace("'", '"')


@pytest.mark.parametrize(
    "text",
    [
        f"<think>…</think><answer>{OBJECT}</answer>",
        f"<think>…</think><answer>{JSON_OBJECT}",
        f"<think>the left one, {OBJECT}",
        JSON_OBJECT,
        f"Here it is:\n```json\n{JSON_OBJECT}\n```\n",
        f"<think>a set {{a, b}} and {{}} of things</think><answer>[{OBJECT}]</answer>",
        f"<answer>{OBJECT}</answer> not {OBJECT.replace('1, 2', '9, 9')}",
    ],
)
def test_seg_zeros_first_object_is_read_wherever_it_stands(text: str) -> None:
    (prompt,) = seg_zero.prompts_of(text)
    assert prompt == seg_zero.Prompt([1, 2, 3, 4], [[1, 2], [2, 3]])


def test_vision_reasoners_list_may_lack_its_closing_tag() -> None:
    one = '{"bbox_2d": [1, 2, 3, 4], "point_2d": [2, 3]}'
    assert len(vision_reasoner.prompts_of(f"<answer>[{one}, {one}]")) == 2
    assert vision_reasoner.prompts_of(f"<answer>[{one}, {one[:9]}") == []
