"""OpenSeeD: open-vocabulary instance segmentation.

repository   https://github.com/IDEA-Research/OpenSeeD (read at 5dc694e), Apache-2.0
checkpoint   model_state_dict_swint_51.2ap.pt, from the repository's release "openseed"; its
             licence is not stated apart from the repository's
paper        Zhang et al., A Simple Framework for Open-Vocabulary Segmentation and Detection,
             ICCV 2023

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_OPENSEED, the Python of its
environment (detectron2, the compiled deformable attention) into
$GROUNDFAULT_WORKER_PYTHON_OPENSEED, and the weights file is named with the model:
`worker:openseed:/path/to/model_state_dict_swint_51.2ap.pt`.

Phrases that are asked together compete: the decoder's queries are the places that fit *any* of them
best, and of all queries and phrases only the best 100 pairs are kept. So each phrase is asked
alone, with a pass of its own.

The published operating point for CAFE is a score of 0.15; here everything above 0.01 is kept, so
that a threshold can be chosen afterwards. "auto" is fp32, as its demonstration runs; lower types
are autocast, as its evaluation does.
"""

# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundfault.workers.lisa import device_and_dtype, need_repository, need_weights
from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIG = "configs/openseed/openseed_swint_lang.yaml"
SHORT_SIDE_PX = 800
LEAST_SCORE = 0.01
ONE_PHRASE = "groundfault: one phrase at a time"
"""detectron2's catalogue takes one value per name for good, so this name means one class."""


def answer_of(scores: Sequence[float], masks: Sequence[Any]) -> Answer:
    """The instances of a phrase that are worth keeping; none is an abstention.

    >>> found = answer_of([0.9, 0.001, 1.2], "abc")
    >>> found.masks, found.scores, found.outcome
    (['a', 'c'], [0.9, 1.0], 'ok')
    >>> answer_of([0.001], "a").outcome
    'abstained'
    """
    kept = [k for k, score in enumerate(scores) if score >= LEAST_SCORE]
    return Answer(
        [masks[k] for k in kept],
        [min(scores[k], 1.0) for k in kept],
        outcome="ok" if kept else "abstained",
    )


class OpenSeeD:
    """The loaded model."""

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, "OPENSEED", "https://github.com/IDEA-Research/OpenSeeD")
        need_weights(
            options,
            "OpenSeeD",
            "download model_state_dict_swint_51.2ap.pt from the repository's release and ask for "
            "worker:openseed:/path/to/it",
        )
        from detectron2.data import MetadataCatalog
        from openseed import build_model
        from openseed.BaseModel import BaseModel
        from utils.arguments import load_opt_from_config_files

        self.model = options["checkpoint"]
        self.versions = versions_of("torch", "detectron2")
        settings = load_opt_from_config_files([CONFIG])
        settings["WEIGHT"] = self.model
        self.device, self.dtype = device_and_dtype(options, usual="float32")
        network = BaseModel(settings, build_model(settings)).from_pretrained(self.model)
        self.network = network.eval().to(self.device)
        metadata = MetadataCatalog.get(ONE_PHRASE)
        metadata.thing_dataset_id_to_contiguous_id = {0: 0}
        self.network.model.metadata = metadata
        self.network.model.sem_seg_head.num_classes = 1

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase, from a pass of its own."""
        import torch

        entry = {"image": self._resized(picture), "height": picture.height, "width": picture.width}
        lower = self.dtype != torch.float32
        with torch.no_grad(), torch.autocast(self.device.type, dtype=self.dtype, enabled=lower):
            return [self._answer(phrase, entry) for phrase in phrases]

    def _answer(self, phrase: str, entry: dict[str, Any]) -> Answer:
        words = self.network.model.sem_seg_head.predictor.lang_encoder
        words.get_text_embeddings([phrase], is_eval=True)
        outputs = self.network.forward([entry], "inst_seg")
        instances = outputs[-1]["instances"].to("cpu")
        return answer_of(instances.scores.tolist(), instances.pred_masks)

    def _resized(self, picture: Picture) -> Any:
        """(3, height, width), its short side as in the repository's demonstration."""
        import numpy
        import torch

        scale = SHORT_SIDE_PX / min(picture.height, picture.width)
        size = round(picture.width * scale), round(picture.height * scale)
        pixels = numpy.array(picture.pil().resize(size, 3))  # bicubic
        return torch.from_numpy(pixels).permute(2, 0, 1).to(self.device)


load = OpenSeeD
