"""When an edit is good enough to be shown to people."""

from __future__ import annotations

import msgspec

__all__ = ["VerifySettings"]


class VerifySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds of the checks, and whom they ask. Where a threshold is not set, what was measured
    is recorded and drops nothing."""

    min_strength: float | None = 8.0
    """Mean ΔE where the change is meant to be."""
    min_changed: float | None = 0.6
    """Share of the pixels there that changed visibly; of replaced and erased things half of it."""
    max_changed_outside: float | None = 0.0
    """Share of the pixels that must not change which do."""
    max_leaked: float | None = 1.0
    """Share of the pixels that must not change which the editor changed before pasting back; 1
    takes any, as they are put back."""
    max_residual_px: float | None = 3.0
    """Shift that a quarter of a reply has left after it was laid over the photograph."""
    min_overlap: float | None = 0.3
    """IoU of the boxes of the old and the new thing, of replacements."""
    max_size_ratio: float | None = 3.0
    """How much larger or smaller a replacement may be."""
    max_mask_stray: float | None = 0.1
    """Share of a new thing's mask where nothing may have changed."""
    min_new_changed: float | None = 0.3
    """Share of a new thing's pixels that changed visibly."""
    max_remains: float | None = 0.5
    """Correlation of fine detail before and after, where a thing was erased or replaced."""
    max_outline: float | None = None
    """Contrast along an erased thing's outline, as a share of what it was."""
    min_edge: float | None = None
    """Change just inside the edge, by that further inside; the worst of twelve directions."""
    max_halo: float | None = None
    """Change just outside the edge, by that inside; the worst of twelve directions."""
    max_competing: float | None = 0.0
    """Annotated things in the photograph that are what the negative phrase names."""
    max_artefacts: float | None = None
    """How unlike the rest an edit is in noise, sharpness and blocks, in bits."""
    resegment: str = ""
    """A segmenter that looks for the target in the edited picture. A hint: what it drops would be
    missing from a set that such models are tested on."""
    min_resegmented: float | None = None
    """IoU of what it finds with the mask."""
    max_competing_found: float | None = None
    """Things elsewhere that it takes for what the negative phrase names."""
    vlm: str = ""
    """A chat model that answers questions about every edit; neither proposer nor editor."""
    second_vlm: str = ""
    """Another one, for agreement."""
    vlm_drops: tuple[str, ...] = ()
    """Questions whose wrong answer drops an edit, if every model that answered gave it; "all"."""
    side_px: int = 1024
    """The longer side of the pictures that these models are shown."""
