"""An editor for tests: paints the region in the colour that the seed says, and counts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from groundfault.interfaces import Edited, EditRequest, ModelOptions, NotEdited

ASKED = "GROUNDFAULT_TEST_ASKED"
"""A file that grows by a line for every edit."""


class Paint:
    def __init__(self, refuse: int) -> None:
        self.refuse = refuse

    def edit(self, image: Any, region: Any, instruction: str) -> Any:
        return np.where(region[..., None], 255 - image, image).astype(np.uint8)

    def perform(self, image: Any, region: Any, request: EditRequest) -> Edited | NotEdited:
        if os.environ.get(ASKED):
            with Path(os.environ[ASKED]).open("a") as file:
                file.write(f"{request.category} {request.kind} {request.seed}\n")
        if self.refuse and request.seed % self.refuse == 0:
            return NotEdited(outcome="refused", reason="not this one")
        where = ~region if request.kind == "context" else region
        return Edited(image=self.edit(image, where, ""), touched=where, mask=None)


def load(argument: str, options: ModelOptions) -> Paint:
    return Paint(int(argument or 0))
