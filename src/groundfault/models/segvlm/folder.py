"""A trained model on disk: what was trained, beside the names of what was not.

segvlm.json              which checkpoints it stands on, how it was made, hashes of the rest
adapter/                 LoRA and the rows of [SEG], as peft stores them
projector.safetensors    from states to prompts
decoder.safetensors      the mask decoder

A merged one has vlm/ and decoder/ as whole checkpoints instead, and stands on nothing else.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from groundfault import __version__
from groundfault.errors import DataError
from groundfault.io.foreign import sha256
from groundfault.io.store import read_json
from groundfault.models.segvlm.rows import MAX_PIXELS

__all__ = ["ADAPTER", "DECODER", "HEADER", "PROJECTOR", "Header", "files_of", "read_header"]

HEADER = "segvlm.json"
ADAPTER = "adapter"
PROJECTOR = "projector.safetensors"
DECODER = "decoder.safetensors"
MERGED_VLM, MERGED_DECODER = "vlm", "decoder"
FORMAT = 1


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What segvlm.json says."""

    format: int = FORMAT
    """Of the folder; another is refused."""
    groundfault: str = __version__
    """The version that wrote it."""
    vlm: str
    """A hub checkpoint, or a folder: relative to this one where it is merged."""
    vlm_identity: str
    """name@commit or a hash: the language model it was trained from."""
    decoder: str
    """The segmenter that draws the masks: a hub checkpoint, or a folder."""
    decoder_identity: str
    """The same for the decoder."""
    merged: bool = False
    """Whether LoRA's weights were merged into the model's."""
    seg: int
    """The token of [SEG]."""
    presence: bool = False
    """Whether the decoder's presence head was trained on absent things."""
    max_tokens: int = 128
    """Of an answer."""
    max_pixels: int = MAX_PIXELS
    """Of a picture as the language model sees it."""
    held_out: bool = True
    """Asked in words that it was not trained with."""
    step: int = 0
    """The step of the training that it is from."""
    recipe: dict[str, object] = msgspec.field(default_factory=dict)
    """What it was trained by."""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    """SHA-256 of the stored weights."""


def files_of(folder: Path) -> list[Path]:
    """The files of a trained model; a training's own state beside them is no part of it."""
    header = folder / HEADER
    if not header.is_file():
        return []
    return [header, *(folder / name for name in sorted(read_header(folder, verify=False).files))]


def read_header(folder: Path, *, verify: bool = True) -> Header:
    """What a folder holds; its weights are the ones that were written with it."""
    path = folder / HEADER
    if not path.is_file():
        raise DataError(
            path, "is not there", remedy="give the folder that `groundfault train segvlm` wrote"
        )
    header = read_json(path, Header)
    if header.format != FORMAT:
        raise DataError(
            path,
            f"has format {header.format}, this version reads {FORMAT}",
            remedy="use the version of groundfault that wrote it",
        )
    for name, digest in header.files.items() if verify else ():
        if not (folder / name).is_file() or sha256(folder / name) != digest:
            raise DataError(
                folder / name,
                "is missing or not what was written with segvlm.json",
                remedy="export the training again: groundfault train segvlm … --resume",
            )
    return header
