"""segvlm:FOLDER, where FOLDER is what `groundfault train segvlm … --out FOLDER` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundfault.errors import DataError, GroundfaultError, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.models import checkpoints
from groundfault.models.placement import Placement, quiet

if TYPE_CHECKING:
    from groundfault.models.segvlm.network import SegVLM
    from groundfault.models.segvlm.rows import Reader
    from groundfault.models.segvlm.segmenter import SegVLMSegmenter

__all__ = ["load", "load_bases", "load_trained", "load_vlm"]


class _Load:
    """The registered callable: it knows which files a model is made of."""

    def __call__(self, argument: str, options: ModelOptions) -> SegVLMSegmenter:
        """A trained model from its folder."""
        if not argument:
            raise UsageError("segvlm: name the folder of a training, as in segvlm:out/robustseg")
        checkpoints.require_transformers()
        from groundfault.models.segvlm.folder import read_header
        from groundfault.models.segvlm.segmenter import SegVLMSegmenter

        folder = Path(argument).expanduser()
        header = read_header(folder)
        placement = Placement.of(options)
        network, reader, identities = load_trained(folder, options)
        return SegVLMSegmenter(
            network.eval(),
            reader,
            placement,
            presence=header.presence,
            max_tokens=header.max_tokens,
            held_out=header.held_out,
            checkpoints=identities,
        )

    def named_files(self, argument: str) -> list[str]:
        """The files of the model, not those of its training."""
        from groundfault.models.segvlm.folder import files_of

        return [str(path) for path in files_of(Path(argument).expanduser())]


load = _Load()


def load_vlm(folder: Path, placement: Placement) -> tuple[Any, Any]:
    """A vision-language model and its processor."""
    import torch
    import transformers

    classes: Any = transformers
    try:
        processor = classes.AutoProcessor.from_pretrained(folder, local_files_only=True)
        with quiet():
            model = classes.AutoModelForImageTextToText.from_pretrained(
                folder, dtype=getattr(torch, placement.dtype), local_files_only=True
            )
    except (ValueError, KeyError, OSError) as problem:
        raise GroundfaultError(
            f"{folder}: transformers cannot load it as a model of images and text ({problem})"
        ) from problem
    return model.to(placement.device), processor


def load_bases(
    vlm: str, decoder: str, options: ModelOptions, *, vlm_device: str = ""
) -> tuple[Any, Any, Any, tuple[str, str]]:
    """What a training stands on: model, processor, mask decoder, and the identities of both.
    `vlm_device` is another place for the model, which may be too large for the decoder's."""
    from groundfault.models.segvlm.decoders import load_decoder

    placement = Placement.of(options)
    first, second = checkpoints.fetch((vlm, decoder), options)
    own = Placement(vlm_device, placement.dtype) if vlm_device else placement
    model, processor = load_vlm(first.folder, own)
    return (
        model,
        processor,
        load_decoder(second.folder, placement).to(placement.device),
        (first.identity, second.identity),
    )


def load_trained(
    folder: Path, options: ModelOptions
) -> tuple[SegVLM, Reader, tuple[str, str, str]]:
    """The network of a folder as it was trained."""
    from safetensors.torch import load_file

    from groundfault.io.foreign import sha256
    from groundfault.models.segvlm.folder import ADAPTER, DECODER, HEADER, PROJECTOR, read_header
    from groundfault.models.segvlm.network import SegVLM, make_room, projector
    from groundfault.models.segvlm.rows import Reader

    header = read_header(folder)
    vlm, decoder = header.vlm, header.decoder
    if header.merged:
        vlm, decoder = str(folder / vlm), str(folder / decoder)
    model, processor, masks, identities = load_bases(vlm, decoder, options)
    if not header.merged:
        for was, now in zip(
            (header.vlm_identity, header.decoder_identity), identities, strict=True
        ):
            _check_identity(folder / HEADER, was, now)
    reader = Reader(processor, max_pixels=header.max_pixels)
    if reader.seg != header.seg:
        raise DataError(
            folder / HEADER,
            f"[SEG] was token {header.seg}, and is {reader.seg} in the vocabulary of {vlm}",
            remedy="give it the vocabulary that it was trained with",
        )
    if not header.merged:
        import peft

        make_room(model, reader.seg)
        model = peft.PeftModel.from_pretrained(model, str(folder / ADAPTER))
        masks.sam.mask_decoder.load_state_dict(load_file(folder / DECODER))
    layers = projector(model, masks)
    layers.load_state_dict(load_file(folder / PROJECTOR))
    network = SegVLM(model, masks, layers.to(Placement.of(options).device))
    return network, reader, (*identities, f"{folder.name}@sha256:{sha256(folder / HEADER)[:16]}")


def _check_identity(path: Path, was: str, now: str) -> None:
    """Refuse a checkpoint with other content than the one that was trained on; a folder may have
    moved."""
    if was.rpartition("@")[2] != now.rpartition("@")[2]:
        raise DataError(
            path,
            f"was trained on {was}, but {now} is there",
            remedy="give it the same checkpoint: --revision, or the folder as it was",
        )
