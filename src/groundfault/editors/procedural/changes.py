"""What an edit makes of a photograph: a picture, and where it may differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, Matte
from groundfault.editors.procedural.relief import LUMA, greyness
from groundfault.interfaces import Edited

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["Change", "grey_as", "over"]


class Change:
    """A picture, where it may differ from the photograph, and where a new thing is in it."""

    def __init__(
        self,
        picture: Floats,
        touched: Mask,
        mask: Mask | None = None,
        details: dict[str, str] | None = None,
    ) -> None:
        self.picture = picture
        self.touched = touched
        self.mask = mask
        self.details = details or {}

    def keep(self, photo: Floats, box: tuple[slice, slice], share: Floats) -> None:
        """Let a share of each pixel in a box stay as it was."""
        stays = share[..., None]
        self.picture[box] = self.picture[box] * (1 - stays) + photo[box] * stays

    def laid_over(self, image: Image, photo: Floats, dose: float) -> Edited:
        """The photograph with the change, as bytes: outside of it they are the photograph's."""
        share = min(max(dose, 0.0), 1.0)
        mixed = photo + share * (np.clip(self.picture, 0, 1) - photo)
        pixels = np.where(self.touched[..., None], (mixed * 255 + 0.5).astype(np.uint8), image)
        return Edited(image=pixels, mask=self.mask, touched=self.touched, details=self.details)


def over(photo: Floats, edge: Matte, box: tuple[slice, slice], new: Floats) -> Change:
    """New colours of an object, laid over what is behind it through its soft edge."""
    share = edge.alpha[box][..., None]
    picture = photo.copy()
    picture[box] = grey_as(photo, new) * share + edge.back[box] * (1 - share)
    touched = edge.alpha > 0
    return Change(np.where(touched[..., None], picture, photo).astype(np.float32), touched)


def grey_as(photo: Floats, new: Floats) -> Floats:
    """New colours as grey as the photograph."""
    grey = greyness(photo)
    return np.asarray(new * (1 - grey) + (new @ LUMA)[..., None] * grey, np.float32)
