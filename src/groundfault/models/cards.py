"""What is known about each model that has a name: who made it, how it is asked, and what of it was
run by us. The documentation has a page per card."""

from __future__ import annotations

from typing import Literal, NamedTuple

from groundfault.workers import SCRIPTS

__all__ = ["CARDS", "RUN_WORDS", "ModelCard", "Run", "card_of"]

Run = Literal["run", "tiny", "described", "stand-in", "loopback", "parts", "yours"]
RUN_WORDS: dict[Run, str] = {
    "run": "Run by us, in the tests and for the numbers in these pages.",
    "tiny": "Not run by us with published weights: no hub can be reached where the tests run. The "
    "tests run the library's real classes with tiny random weights, and compare them with the "
    "library's own calls. No published score is reproduced yet.",
    "described": "Not run by us with published weights. The tests build the library's real "
    "networks from their descriptions, with random weights and a stand-in for CLIP; they are "
    "skipped where ultralytics is not installed, as in CI.",
    "stand-in": "Not run by us: no GPU and none of these weights are at hand. The script runs in a "
    "real process against stand-ins with the calls that we read in the repository. Look at a few "
    "overlays before you trust a number.",
    "loopback": "Run by us against servers of our own on the loopback, friendly and hostile. No "
    "paid service was ever asked.",
    "parts": "Run by us with parts that were run by us (nano, scripted chat servers on the "
    "loopback, tiny random weights). No published checkpoint and no paid service took part.",
    "yours": "Run by us with what was trained here.",
}
"""What each word of a card means."""


class ModelCard(NamedTuple):
    """What a reader of a model's numbers should know. What is "" does not apply."""

    title: str
    run: Run
    paper: str = ""
    extra: str = ""
    """What `pip install 'groundfault[…]'` brings for it."""
    phrases: str = ""
    """How the phrases of one picture are asked, so that they do not change each other."""
    score: str = ""
    """What the score of an instance is."""
    reads: str = ""
    """What becomes of a phrase, and how many tokens of it are read."""
    overlaps: str = ""
    """What happens to boxes that overlap."""


_TOGETHER = "asked together; the network compares each with the picture by itself"
_ALONE = "asked one at a time, on a picture that is encoded once: together they would change each "
_ALONE += "other's scores"
_CONVERSATION = "one conversation, or one pass, per phrase"

CARDS: dict[str, ModelCard] = {
    "nano-base": ModelCard("nano-base", "run", phrases=_TOGETHER),
    "nano-cft": ModelCard("nano-cft", "run", phrases=_TOGETHER),
    "nano": ModelCard("A nano of your own", "yours", extra="train", phrases=_TOGETHER),
    "sam3": ModelCard(
        "SAM 3", "tiny", "Carion et al., SAM 3: Segment Anything with Concepts", "transformers",
        _TOGETHER, "its own probability × presence of the phrase", "as it is; 32 tokens",
        "the network's 200 queries, none dropped",
    ),
    "grounded-sam2": ModelCard(
        "Grounded SAM 2", "tiny",
        "Liu et al., Grounding DINO; Ravi et al., SAM 2: Segment Anything in Images and Videos",
        "transformers", _ALONE, "best-matching token of the phrase",
        "lower case, one full stop at its end; 256 tokens", "900 queries, none dropped",
    ),
    "owlv2-sam": ModelCard(
        "OWLv2 + SAM", "tiny",
        "Minderer et al., Scaling Open-Vocabulary Object Detection; Kirillov et al., Segment "
        "Anything",
        "transformers", _TOGETHER, "patch–phrase similarity, calibrated by the network",
        "as it is, without a template; 16 tokens", "one box per patch, none dropped",
    ),
    "clipseg": ModelCard(
        "CLIPSeg", "tiny", "Lüddecke and Ecker, Image Segmentation Using Text and Image Prompts",
        "transformers", _TOGETHER,
        "peak of the map; one mask, where the map reaches half its peak", "as it is; 77 tokens",
    ),
    "omdet-sam": ModelCard(
        "OmDet-Turbo + SAM", "tiny",
        "Zhao et al., Real-time Transformer-based Open-Vocabulary Detection", "transformers",
        _ALONE, "class probability", 'as it is, task "Detect ⟨phrase⟩."; 77 tokens',
        "dropped above IoU 0.5",
    ),
    "yolo-world": ModelCard(
        "YOLO-World + SAM", "described",
        "Cheng et al., YOLO-World: Real-Time Open-Vocabulary Object Detection", "ultralytics",
        _ALONE, "class probability", "as it is; 77 tokens", "dropped above IoU 0.7",
    ),
    "yoloe": ModelCard(
        "YOLOE", "described", "Wang et al., YOLOE: Real-Time Seeing Anything", "ultralytics",
        _TOGETHER, "class probability", "as it is; 77 tokens", "dropped above IoU 0.7",
    ),
    "segvlm": ModelCard(
        "A segmenter that talks, trained here", "yours",
        "Li et al., Counterfactual Segmentation Reasoning (RobustSeg)", "segvlm",
        "one conversation per phrase, several at once; the picture is encoded once for the mask "
        "decoder",
    ),
    "agent": ModelCard(
        "The verifying agent", "parts", "Liang et al., From Pixels to Concepts (CAFE)", "asking",
        "one episode per phrase", "the segmenter's own, of the masks that the agent keeps",
    ),
    "worker": ModelCard(
        "A script in an environment of its own", "run",
        phrases="all phrases of a picture in one request; the script does what it does",
        score="the script's; 1 where it has none",
    ),
    "openai": ModelCard("Servers with OpenAI's protocol", "loopback", extra="asking"),
    "vllm": ModelCard("vLLM and its like", "loopback", extra="asking"),
    "gemini": ModelCard("Gemini", "loopback", extra="asking"),
    "hf": ModelCard("Vision-language models through transformers", "tiny", extra="transformers"),
    "oracle": ModelCard("oracle", "run"),
    "blind": ModelCard("blind", "run"),
    "text-only": ModelCard("text-only", "run"),
    "always-yes": ModelCard("always-yes", "run"),
    "random": ModelCard("random", "run"),
    "replay": ModelCard("replay", "run"),
}  # fmt: skip
"""The models by name; scripts of `worker:` have theirs in `workers.SCRIPTS`."""


OF_THE_WORLD = ("nano-base", "nano-cft", "nano")
"""Models that have learnt from the rendered world alone: they know its words and its looks."""


def card_of(name: str) -> ModelCard:
    """The card of a model, or of `worker:SCRIPT`.

    >>> card_of("worker:lisa").run, card_of("sam3").title
    ('stand-in', 'SAM 3')
    """
    if name.startswith("worker:"):
        title = SCRIPTS[name.removeprefix("worker:")].about.partition(":")[0]
        return ModelCard(title, "stand-in", phrases=_CONVERSATION)
    return CARDS[name]
