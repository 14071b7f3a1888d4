"""VisionReasoner: Qwen2.5-VL thinks, then lists a box and a point per object; SAM 2 makes masks.

repository   https://github.com/JIA-Lab-research/VisionReasoner (read at c013132), Apache-2.0,
             whose prompt is read from its source
checkpoint   Ricky06662/VisionReasoner-7B, whose licence we did not see, and
             facebook/sam2-hiera-large (Apache-2.0)
paper        Liu et al., VisionReasoner, arXiv 2505.12081

Not run by us. The repository goes into $GROUNDFAULT_WORKER_REPO_VISION_REASONER, the Python of an
environment like Seg-Zero's into $GROUNDFAULT_WORKER_PYTHON_VISION_REASONER. Its task router, depth
model and hybrid mode are left out: every question here is one for masks. It gives no scores, as
Seg-Zero.

An empty list between the tags of its answer is an abstention; the closing tag may be missing.
"""

from __future__ import annotations

import re

from groundfault.workers.seg_zero import Prompt, Thinker, coordinates, value_of

_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|$)", re.DOTALL)


def prompts_of(text: str) -> list[Prompt]:
    """All objects that an answer names; none if one of them is not all there.

    >>> prompts_of('<answer>[{"bbox_2d": [1,2,3,4], "point_2d": [2,3]}]</answer>')
    [Prompt(box_xyxy=[1.0, 2.0, 3.0, 4.0], points_xy=[[2.0, 3.0]])]
    >>> prompts_of('<answer>[{"bbox_2d": [1,2,3,4], "point_2d": [2,3]}, {}]</answer>')
    []
    """
    answer = _ANSWER.search(text)
    value = value_of(answer.group(1)) if answer else None
    prompts = []
    for item in value if isinstance(value, list) else []:
        entry = item if isinstance(item, dict) else {}
        box, point = coordinates(entry.get("bbox_2d"), 4), coordinates(entry.get("point_2d"), 2)
        if box is None or point is None:
            return []
        prompts.append(Prompt(box, [point]))
    return prompts


class VisionReasoner(Thinker):
    """The loaded model."""

    name = "VISION_REASONER"
    url = "https://github.com/JIA-Lab-research/VisionReasoner"
    checkpoint = "Ricky06662/VisionReasoner-7B"
    prompt_at = ("vision_reasoner/models/vision_reasoner_model.py", "DETECTION_TEMPLATE")
    example = (
        '[{"bbox_2d": [10,100,200,210], "point_2d": [30,110]}, '
        '{"bbox_2d": [225,296,706,786], "point_2d": [302,410]}]'
    )
    stripped = '."?!'
    max_new_tokens = 2048

    def prompts(self, text: str) -> list[Prompt]:
        """What its answer names."""
        return prompts_of(text)


load = VisionReasoner
