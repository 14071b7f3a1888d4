"""Models that need an environment of their own: one script each, all run by `runtime.py`.

Everything in this folder runs on Python 3.8 without groundfault being installed there.
"""

from typing import NamedTuple

__all__ = ["SCRIPTS", "Script"]

NOT_SEEN = "not seen"
"""A licence that we could not read, which is not to say that there is none."""


class Script(NamedTuple):
    """What is known about a model before its script runs."""

    about: str
    code: str
    """Licence of its repository."""
    weights: str
    """Licence of what it loads unless told otherwise."""

    @property
    def licence(self) -> str:
        """Both, for lists."""
        return f"code: {self.code}; weights: {self.weights}"


SCRIPTS = {
    "glamm": Script("GLaMM: masks tied to phrases of its answer", "Apache-2.0", "Apache-2.0"),
    "lisa": Script("LISA: reasoning segmentation", "Apache-2.0", "none stated"),
    "openseed": Script(
        "OpenSeeD: open vocabulary, a pass per phrase", "Apache-2.0", "not stated apart"
    ),
    "pixellm": Script("PixelLM: several targets at once", "Apache-2.0", "Apache-2.0"),
    "robustseg": Script("RobustSeg: segments or abstains", "MIT", "none stated"),
    "seg_zero": Script("Seg-Zero: thinks, then SAM 2", "Apache-2.0", '"other", Apache-2.0'),
    "sesame": Script("SESAME: sees whether it is there", "MIT", NOT_SEEN),
    "vision_reasoner": Script(
        "VisionReasoner: thinks, then SAM 2", "Apache-2.0", f"{NOT_SEEN}, Apache-2.0"
    ),
}
"""The scripts that ship, by name."""
