"""RobustSeg: fine-tuned on counterfactual pairs to segment or abstain.

repository   none of its own that we know; its checkpoint is of SESAME's kind, so SESAME's code
             loads it: https://github.com/see-say-segment/sesame (read at 91f1f2e), MIT
checkpoint   PLAN-Lab/RobustSeg (with reasoning data: PLAN-Lab/RobustSeg_w_reason); no
             licence stated
paper        Li et al., Counterfactual Segmentation Reasoning, arXiv 2506.21546

Not run by us; that SESAME's code fits is our reading of the paper's appendix (the design "of prior
works", SESAME among them) and of the checkpoint's files. SESAME's repository goes into
$GROUNDFAULT_WORKER_REPO_ROBUSTSEG, its Python into $GROUNDFAULT_WORKER_PYTHON_ROBUSTSEG.
"""

from __future__ import annotations

from groundfault.workers.sesame import Sesame


class RobustSeg(Sesame):
    """The loaded model."""

    repository = "ROBUSTSEG"
    checkpoint = "PLAN-Lab/RobustSeg"


load = RobustSeg
