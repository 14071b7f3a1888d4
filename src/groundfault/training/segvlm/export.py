"""What was trained, as a folder that `--model segvlm:FOLDER` loads; or merged into whole
checkpoints, for hubs and servers."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import save_file

from groundfault.errors import GroundfaultError, MissingExtra, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.foreign import sha256
from groundfault.io.store import atomic_file, new_folder, write_bytes, write_json
from groundfault.models.checkpoints import transport_error
from groundfault.models.segvlm.folder import (
    ADAPTER,
    DECODER,
    HEADER,
    MERGED_DECODER,
    MERGED_VLM,
    PROJECTOR,
    Header,
    read_header,
)
from groundfault.models.segvlm.loading import load_trained
from groundfault.training.segvlm.cards import CARD, card_of

if TYPE_CHECKING:
    from groundfault.training.segvlm.pupil import SegVLMPupil

__all__ = ["check_hub_name", "merge", "push", "write_model"]

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def write_model(folder: Path, pupil: SegVLMPupil, step: int, recipe: Mapping[str, object]) -> None:
    """Each file appears whole, and segvlm.json with their hashes last."""
    network = pupil.network
    adapter = _write_adapter(folder / ADAPTER, network.vlm, pupil.names[0])
    _write_tensors(folder / PROJECTOR, dict(network.projector.state_dict()))
    _write_tensors(folder / DECODER, network.decoder.trained())
    names = [*(f"{ADAPTER}/{name}" for name in adapter), PROJECTOR, DECODER]
    header = Header(
        vlm=pupil.names[0],
        vlm_identity=pupil.identities[0],
        decoder=pupil.names[1],
        decoder_identity=pupil.identities[1],
        seg=pupil.reader.seg,
        presence=pupil.weights.presence > 0 and network.decoder.has_presence,
        max_tokens=pupil.max_tokens,
        max_pixels=pupil.reader.max_pixels,
        held_out=pupil.held_out,
        step=step,
        recipe=dict(recipe),
        files={name: sha256(folder / name) for name in names},
    )
    write_bytes(folder / CARD, card_of(header).encode())
    write_json(folder / HEADER, header)


def merge(folder: Path, out: Path, options: ModelOptions) -> None:
    """LoRA and [SEG] become part of the weights: a folder that stands on nothing else."""
    network, reader, _ = load_trained(folder, options)
    header = read_header(folder)
    with new_folder(out) as temporary:
        network.vlm.merge_and_unload().save_pretrained(temporary / MERGED_VLM)  # type: ignore[operator]
        reader.processor.save_pretrained(temporary / MERGED_VLM)
        network.decoder.sam.save_pretrained(temporary / MERGED_DECODER)
        _processor(network.decoder).save_pretrained(temporary / MERGED_DECODER)
        _write_tensors(temporary / PROJECTOR, dict(network.projector.state_dict()))
        files = {PROJECTOR: sha256(temporary / PROJECTOR)}
        for part in (MERGED_VLM, MERGED_DECODER):
            for file in sorted((temporary / part).iterdir()):
                files[f"{part}/{file.name}"] = sha256(file)
        merged = _merged(header, files)
        write_bytes(temporary / CARD, card_of(merged).encode())
        write_json(temporary / HEADER, merged)


def check_hub_name(name: str) -> None:
    """Refuse what no hub would take, before anything is made."""
    if not _HUB_NAME.fullmatch(name):
        raise UsageError(f"'{name}' is no name on a hub; give OWNER/NAME")


def push(folder: Path, name: str) -> str:
    """Upload a folder to a hub's repository, made private if it is new; the commit's address."""
    check_hub_name(name)
    try:
        import huggingface_hub as hub
    except ModuleNotFoundError:
        raise MissingExtra("huggingface_hub", "transformers") from None

    client = hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None)
    try:
        client.create_repo(name, private=True, exist_ok=True)
        done = client.upload_folder(
            repo_id=name, folder_path=folder, commit_message="Counterfactual fine-tuning"
        )
    except (OSError, transport_error()) as problem:
        raise GroundfaultError(
            f"{folder} is written, but could not be uploaded to {name}: {problem}. Log in with "
            f"`hf auth login`, then: hf upload {name} {folder}"
        ) from None
    return str(done.commit_url)


def _merged(header: Header, files: dict[str, str]) -> Header:
    import msgspec

    return msgspec.structs.replace(
        header, merged=True, vlm=MERGED_VLM, decoder=MERGED_DECODER, files=files
    )


def _processor(decoder: Any) -> Any:
    """The processor class of a decoder's family, around its image processor."""
    import transformers

    family = type(decoder.sam).__name__.removesuffix("Model")
    return getattr(transformers, f"{family}Processor")(decoder.images)


def _write_adapter(folder: Path, vlm: Any, base: str) -> list[str]:
    """peft's own files; a folder of an earlier export is replaced."""
    vlm.peft_config["default"].base_model_name_or_path = base
    earlier = folder.with_name(f".{folder.name}.earlier")
    shutil.rmtree(earlier, ignore_errors=True)
    if folder.exists():
        folder.rename(earlier)
    with new_folder(folder) as temporary:
        vlm.save_pretrained(str(temporary), save_embedding_layers=False)
        (temporary / CARD).unlink(missing_ok=True)  # ours is beside
    shutil.rmtree(earlier, ignore_errors=True)
    return sorted(file.name for file in folder.iterdir())


def _write_tensors(path: Path, tensors: dict[str, Any]) -> None:
    with atomic_file(path) as temporary:
        kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        save_file(kept, temporary)
