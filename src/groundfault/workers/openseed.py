"""OpenSeeD: open-vocabulary instance segmentation, every phrase of a picture at once.

repository   https://github.com/IDEA-Research/OpenSeeD (read at 4c47542), Apache-2.0
checkpoint   model_state_dict_swint_51.2ap.pt, from the repository's release "openseed"; its
             licence is not stated apart from the repository's
paper        Zhang et al., A Simple Framework for Open-Vocabulary Segmentation and Detection,
             ICCV 2023

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_OPENSEED, the Python of its
environment (detectron2, the compiled deformable attention) into
$GROUNDFAULT_WORKER_PYTHON_OPENSEED, and the weights file is named with the model:
`worker:openseed:/path/to/model_state_dict_swint_51.2ap.pt`.

The published operating point for CAFE is a score of 0.15; here everything above 0.01 is kept, so
that a threshold can be chosen afterwards. The phrases of a picture are its classes, in one pass:
the scores are sigmoids, so a phrase does not compete with its neighbours, but the model keeps only
its best 100 instances (as configured) over all of them.
"""

# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundfault.workers.lisa import need_repository
from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIG = "configs/openseed/openseed_swint_lang.yaml"
SHORT_SIDE_PX = 800
LEAST_SCORE = 0.01


def answers_of(
    n_phrases: int, classes: Sequence[int], scores: Sequence[float], masks: Sequence[Any]
) -> list[Answer]:
    """Instances sorted to the phrases they are of; a phrase without any is an abstention.

    >>> [(a.masks, a.scores, a.outcome) for a in answers_of(2, [1, 1], [0.9, 0.001], "ab")]
    [([], [], 'abstained'), (['a'], [0.9], 'ok')]
    """
    found: list[tuple[list[Any], list[float]]] = [([], []) for _ in range(n_phrases)]
    for index, score in enumerate(scores):
        if score >= LEAST_SCORE:
            kept, kept_scores = found[classes[index]]
            kept.append(masks[index])
            kept_scores.append(min(score, 1.0))
    return [
        Answer(kept, kept_scores, outcome="ok" if kept else "abstained")
        for kept, kept_scores in found
    ]


class OpenSeeD:
    """The loaded model."""

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, "OPENSEED", "https://github.com/IDEA-Research/OpenSeeD")
        if not options["checkpoint"]:
            raise RuntimeError(
                "OpenSeeD needs its weights: download model_state_dict_swint_51.2ap.pt from the "
                "repository's release and ask for worker:openseed:/path/to/it"
            )
        import torch
        from openseed import build_model
        from openseed.BaseModel import BaseModel
        from utils.arguments import load_opt_from_config_files

        self.model = options["checkpoint"]
        self.versions = versions_of("torch", "detectron2")
        settings = load_opt_from_config_files([CONFIG])
        settings["WEIGHT"] = self.model
        device = "cuda" if options["device"] == "auto" else options["device"]
        self.device = torch.device(device)
        network = BaseModel(settings, build_model(settings)).from_pretrained(self.model)
        self.network = network.eval().to(self.device)

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase, from one pass."""
        import torch
        from detectron2.data import MetadataCatalog

        network = self.network.model
        metadata = MetadataCatalog.get("groundfault")
        metadata.thing_dataset_id_to_contiguous_id = {n: n for n in range(len(phrases))}
        network.metadata = metadata
        network.sem_seg_head.num_classes = len(phrases)
        with torch.no_grad():
            network.sem_seg_head.predictor.lang_encoder.get_text_embeddings(
                list(phrases), is_eval=True
            )
            entry = {"image": self._resized(picture), "height": picture.height}
            outputs = self.network.forward([{**entry, "width": picture.width}], "inst_seg")
        instances = outputs[-1]["instances"].to("cpu")
        return answers_of(
            len(phrases),
            instances.pred_classes.tolist(),
            instances.scores.tolist(),
            instances.pred_masks,
        )

    def _resized(self, picture: Picture) -> Any:
        """(3, height, width), its short side as in the repository's demonstration."""
        import numpy
        import torch

        scale = SHORT_SIDE_PX / min(picture.height, picture.width)
        size = round(picture.width * scale), round(picture.height * scale)
        pixels = numpy.array(picture.pil().resize(size, 3))  # bicubic
        return torch.from_numpy(pixels).permute(2, 0, 1).to(self.device)


load = OpenSeeD
