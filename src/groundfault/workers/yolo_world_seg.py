"""YOLO-World-Seg: open-vocabulary instance segmentation with a mask head of its own; the YOLO-World
of CAFE's tables.

repository   https://github.com/AILab-CVC/YOLO-World (read at 4f70adb), GPL-3.0
checkpoint   yolo_world_seg_l_dual_vlpan_2e-4_80e_8gpus_seghead_finetune_lvis-5a642d30.pth, from the
             hub repository wondervictor/YOLO-World: only its mask head was fine-tuned
paper        Cheng et al., YOLO-World: Real-Time Open-Vocabulary Object Detection, CVPR 2024

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_YOLO_WORLD_SEG (with its submodule
mmyolo, whose configuration it extends), the Python of its environment (mmcv, mmdet, mmyolo) into
$GROUNDFAULT_WORKER_PYTHON_YOLO_WORLD_SEG, and the weights file is named with the model:
`worker:yolo_world_seg:/path/to/weights.pth`. At the commit that we read, `reparameterize` in
yolo_world/models/detectors/yolo_world.py assigns to None, which no Python compiles: take an earlier
commit, or name that variable.

The published operating point for CAFE is a score of 0.15; here everything from 0.01 on is kept, so
that a threshold can be chosen afterwards. Phrases change the picture's features in this model, so
each is asked alone, beside the blank that the repository's demonstration adds.
"""

# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundfault.workers.lisa import need_repository
from groundfault.workers.runtime import Answer, Picture, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "yolo_world_seg_l_dual_vlpan_2e-4_80e_8gpus_seghead_finetune_lvis"
CONFIG = "configs/segmentation/" + NAME + ".py"
BLANK = [" "]
LEAST_SCORE = 0.01
MOST = 100


def answer_of(labels: Sequence[int], scores: Sequence[float], masks: Sequence[Any]) -> Answer:
    """The instances of the phrase, which is class 0, best first; none is an abstention.

    >>> found = answer_of([0, 1, 0, 0], [0.2, 0.9, 0.8, 0.001], "abcd")
    >>> found.masks, found.scores, found.outcome
    (['c', 'a'], [0.8, 0.2], 'ok')
    """
    kept = [k for k, label in enumerate(labels) if label == 0 and scores[k] >= LEAST_SCORE]
    kept = sorted(kept, key=lambda k: -scores[k])[:MOST]
    return Answer(
        [masks[k] for k in kept],
        [min(scores[k], 1.0) for k in kept],
        outcome="ok" if kept else "abstained",
    )


class YoloWorldSeg:
    """The loaded model."""

    def __init__(self, options: dict[str, Any]) -> None:
        need_repository(options, "YOLO_WORLD_SEG", "https://github.com/AILab-CVC/YOLO-World")
        if not options["checkpoint"]:
            raise RuntimeError(
                "YOLO-World-Seg needs its weights: download " + NAME + "-5a642d30.pth from the hub "
                "repository wondervictor/YOLO-World and ask for worker:yolo_world_seg:/path/to/it"
            )
        from mmdet.apis import init_detector
        from mmdet.utils import get_test_pipeline_cfg
        from mmengine.config import Config
        from mmengine.dataset import Compose

        self.model = options["checkpoint"]
        self.versions = versions_of("torch", "mmcv", "mmdet", "mmengine")
        device = "cuda:0" if options["device"] == "auto" else options["device"]
        settings = Config.fromfile(CONFIG)
        self.network = init_detector(settings, checkpoint=self.model, device=device)
        steps = get_test_pipeline_cfg(cfg=settings)
        steps[0].type = "mmdet.LoadImageFromNDArray"  # the picture is in memory already
        self.prepare = Compose(steps)

    def segment(self, picture: Picture, phrases: Sequence[str]) -> list[Answer]:
        """One answer per phrase, each from a pass of its own."""
        return [self._answer(picture, phrase) for phrase in phrases]

    def _answer(self, picture: Picture, phrase: str) -> Answer:
        import torch

        pixels = picture.array()[:, :, ::-1].copy()  # mmcv's channels are blue, green, red
        sample = self.prepare({"img_id": 0, "img": pixels, "texts": [[phrase], BLANK]})
        batch = {"inputs": sample["inputs"].unsqueeze(0), "data_samples": [sample["data_samples"]]}
        with torch.no_grad():
            found = self.network.test_step(batch)[0].pred_instances.cpu()
        return answer_of(found.labels.tolist(), found.scores.float().tolist(), found.masks)


load = YoloWorldSeg
