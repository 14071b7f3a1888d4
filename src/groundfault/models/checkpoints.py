"""Where weights come from: a folder, or the Hugging Face hub at a pinned revision.

A hub checkpoint is downloaded once into the hub's cache and then loaded as the folder it is, so
that both take the same way. What can go wrong there (gated, offline, no such revision) is said in
our words with the next step.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from groundfault.errors import GroundfaultError, MissingExtra, UsageError
from groundfault.interfaces import ModelOptions
from groundfault.io.hashes import KnownHashes
from groundfault.registry import BASELINES
from groundfault.workers import SCRIPTS

__all__ = [
    "CHECKPOINTS",
    "DEFAULTS",
    "Checkpoint",
    "Fetched",
    "fetch",
    "licences",
    "named",
    "require_transformers",
    "transport_error",
]


class Checkpoint(NamedTuple):
    """What is known about a published checkpoint before it is fetched."""

    licence: str
    revision: str = "main"
    """The commit that an adapter loads unless told otherwise."""
    gated: bool = False


UNSURE = "see its page"
"""Where we could not read the licence of the weights."""

CHECKPOINTS = {
    "facebook/sam3": Checkpoint(
        "SAM License", "3c879f39826c281e95690f02c7821c4de09afae7", gated=True
    ),
    "IDEA-Research/grounding-dino-base": Checkpoint(
        "Apache-2.0", "12bdfa3120f3e7ec7b434d90674b3396eccf88eb"
    ),
    "facebook/sam2.1-hiera-large": Checkpoint(
        "Apache-2.0", "665f8e2ad61cf5f53d65644ff27c8ee525124610"
    ),
    "google/owlv2-large-patch14-ensemble": Checkpoint(
        "Apache-2.0", "d638f16c163f70a8b6bd643b2ddbfc8be2c34807"
    ),
    "facebook/sam-vit-huge": Checkpoint("Apache-2.0", "87aecf0df4ce6b30cd7de76e87673c49644bdf67"),
    "CIDAS/clipseg-rd64-refined": Checkpoint(UNSURE),
    "omlab/omdet-turbo-swin-tiny-hf": Checkpoint(UNSURE),
    "openai/clip-vit-base-patch32": Checkpoint(UNSURE, "3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268"),
    "yolov8l-worldv2.pt": Checkpoint("AGPL-3.0"),
    "yoloe-11l-seg.pt": Checkpoint("AGPL-3.0"),
}
"""Published checkpoints; where no commit is pinned, the run records the one that was loaded."""

DEFAULTS = {
    "sam3": ("facebook/sam3",),
    "grounded-sam2": ("IDEA-Research/grounding-dino-base", "facebook/sam2.1-hiera-large"),
    "owlv2-sam": ("google/owlv2-large-patch14-ensemble", "facebook/sam-vit-huge"),
    "clipseg": ("CIDAS/clipseg-rd64-refined",),
    "omdet-sam": ("omlab/omdet-turbo-swin-tiny-hf", "facebook/sam-vit-huge"),
    "yolo-world": ("yolov8l-worldv2.pt", "facebook/sam-vit-huge"),
    "yoloe": ("yoloe-11l-seg.pt",),
}
"""Model name → the checkpoints it loads when none is named."""

OTHERWISE = {
    "nano-base": "Apache-2.0",
    "nano-cft": "Apache-2.0",
    "nano": "yours",
    "segvlm": "yours, as its checkpoints allow",
    "agent": "of its two models",
    "worker": "of your script",
    **dict.fromkeys((*BASELINES, "replay"), "no weights"),
}
"""Model name → licence of weights that are no published checkpoint."""

_SMALL_FILES = (".json", ".txt", ".model", ".jinja")


class Fetched(NamedTuple):
    """A checkpoint on this machine."""

    folder: Path
    identity: str
    """name@commit, or name@sha256:… of a folder's content: what a run is about."""


def named(model: str, argument: str) -> tuple[str, ...]:
    """The checkpoints that an argument asks for; what it leaves out is the default.

    >>> named("grounded-sam2", "")
    ('IDEA-Research/grounding-dino-base', 'facebook/sam2.1-hiera-large')
    >>> named("grounded-sam2", "+my/sam2")
    ('IDEA-Research/grounding-dino-base', 'my/sam2')
    >>> named("sam3", "my/sam3")
    ('my/sam3',)
    """
    defaults = DEFAULTS[model]
    parts = argument.split("+") if len(defaults) > 1 else [argument]
    if len(parts) > len(defaults):
        raise UsageError(f"{model}:{argument}: expected '{'+'.join(defaults)}', one '+' at most")
    parts += [""] * (len(defaults) - len(parts))
    return tuple(part or default for part, default in zip(parts, defaults, strict=True))


def licences(model: str) -> str:
    """The licences of what a model loads when nothing is named, for lists.

    >>> licences("grounded-sam2")
    'Apache-2.0'
    >>> licences("sam3")
    'SAM License (gated)'
    >>> licences("worker:openseed")
    'code: Apache-2.0; weights: not stated apart'
    """
    if model.startswith("worker:"):
        return SCRIPTS[model.removeprefix("worker:")].licence
    if model not in DEFAULTS:
        return OTHERWISE.get(model, UNSURE)
    found = [CHECKPOINTS[name] for name in DEFAULTS[model]]
    shown = [one.licence + (" (gated)" if one.gated else "") for one in found]
    return " + ".join(dict.fromkeys(shown))


def require_transformers() -> None:
    """Say which extra to install where the libraries of these adapters are missing."""
    for library in ("torch", "torchvision", "transformers"):
        try:
            __import__(library)
        except ModuleNotFoundError as problem:
            if problem.name != library:
                raise
            raise MissingExtra(library, "transformers") from None
        except RuntimeError as problem:
            raise GroundfaultError(
                f"{library} can't be loaded: {problem}. torch and torchvision must be builds of "
                "one kind; install both from one index, see https://pytorch.org/get-started"
            ) from problem


def fetch(names: Sequence[str], options: ModelOptions) -> list[Fetched]:
    """The folders of checkpoints; `options.revision` is one for all or one each, 'a+b'."""
    revisions = options.revision.split("+")
    if len(revisions) == 1:
        revisions *= len(names)
    if len(revisions) != len(names):
        raise UsageError(f"revision '{options.revision}' is for {len(revisions)} checkpoints")
    return [
        _from_folder(Path(name).expanduser(), name)
        if Path(name).expanduser().is_dir()
        else _from_hub(name, revision, offline=options.offline)
        for name, revision in zip(names, revisions, strict=True)
    ]


def _from_folder(folder: Path, name: str) -> Fetched:
    if not _complete(folder):
        raise UsageError(
            f"{folder} is no checkpoint: it needs config.json and weights "
            "(*.safetensors), as save_pretrained writes them"
        )
    digest = hashlib.sha256()
    with KnownHashes() as known:
        for file in sorted(folder.iterdir()):
            if file.suffix in (*_SMALL_FILES, ".safetensors", ".bin"):
                digest.update(file.name.encode())
                digest.update(bytes.fromhex(known.sha256(file)))
    return Fetched(folder, f"{name}@sha256:{digest.hexdigest()[:16]}")


def _from_hub(name: str, revision: str, *, offline: bool) -> Fetched:
    known = CHECKPOINTS.get(name, Checkpoint("unknown licence"))
    revision = revision or known.revision
    if name.startswith(("/", ".", "~")) or name.count("/") != 1:
        raise UsageError(f"'{name}' is neither a folder nor a hub checkpoint (owner/name)")
    try:
        import huggingface_hub as hub
        from huggingface_hub.errors import (
            EntryNotFoundError,
            GatedRepoError,
            HFValidationError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ModuleNotFoundError:
        raise MissingExtra("huggingface_hub", "transformers") from None

    cached = _cached(name, revision)
    if cached is not None and (offline or cached.name == revision):
        return Fetched(cached, f"{name}@{cached.name}")
    if offline:
        raise GroundfaultError(
            f"{name} at revision {revision} is not in the hub's cache, and offline was asked for. "
            "Load it once online, or give a folder"
        )
    endpoint = os.environ.get("HF_ENDPOINT") or None
    page = f"{endpoint or 'https://huggingface.co'}/{name}"
    try:
        info = hub.HfApi(endpoint=endpoint).model_info(name, revision=revision)
        needed = _needed([sibling.rfilename for sibling in info.siblings or ()])
        if not all(needed):
            raise GroundfaultError(f"{name} at {info.sha} holds no model of transformers")
        for files in needed:  # weights come last: a folder that has them has the rest too
            folder = Path(
                hub.snapshot_download(
                    name, revision=info.sha, allow_patterns=files, endpoint=endpoint
                )
            )
    except GatedRepoError:
        raise GroundfaultError(
            f"{name} is gated ({known.licence}). Accept its licence at {page}, "
            "log in with `hf auth login`, then run again"
        ) from None
    except RevisionNotFoundError:
        raise GroundfaultError(f"{name} has no revision '{revision}'. See {page}/commits") from None
    except RepositoryNotFoundError:
        raise GroundfaultError(
            f"'{name}' is neither a folder nor a checkpoint that the hub shows you. "
            "If it is private, log in with `hf auth login`"
        ) from None
    except HFValidationError as problem:
        raise UsageError(f"'{name}' is no name of a checkpoint: {problem}") from None
    except (OSError, EntryNotFoundError, transport_error()) as problem:
        raise GroundfaultError(
            f"{name} could not be fetched from {page}: {problem}. Try again, or give a folder"
        ) from problem
    return Fetched(folder, f"{name}@{info.sha}")


def _cached(name: str, revision: str) -> Path | None:
    """The whole checkpoint from the hub's cache, without asking the network."""
    from huggingface_hub import constants, try_to_load_from_cache

    found = try_to_load_from_cache(
        name, "config.json", cache_dir=constants.HF_HUB_CACHE, revision=revision
    )
    if not isinstance(found, str):
        return None
    folder = Path(found).parent
    return folder if _complete(folder) else None


def transport_error() -> type[Exception]:
    """What the hub's HTTP library raises where nobody answers. Which library that is has changed
    twice; the hub's own error is always derived from it."""
    from huggingface_hub.errors import HfHubHTTPError

    base: Any = HfHubHTTPError.__mro__[1]
    found: type[Exception] = base
    return found


def _needed(files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Configuration and vocabulary; and one set of weights, safetensors where there are any.

    >>> _needed(["config.json", "model.safetensors", "pytorch_model.bin", "sam3.pt", "a/b.json"])
    (['config.json'], ['model.safetensors'])
    """
    top = [file for file in files if "/" not in file]
    weights = [file for file in top if file.startswith("model") and file.endswith(".safetensors")]
    weights = weights or [file for file in top if file.startswith("pytorch_model")]
    return [file for file in top if file.endswith(_SMALL_FILES)], weights


def _complete(folder: Path) -> bool:
    """Whether a folder has a configuration and all of its weights."""
    if not (folder / "config.json").is_file():
        return False
    indices = [*folder.glob("*.safetensors.index.json"), *folder.glob("pytorch_model*.index.json")]
    for index in indices:
        shards = set(json.loads(index.read_text())["weight_map"].values())
        if all((folder / shard).is_file() for shard in shards):
            return True
    if indices:
        return False
    return any(folder.glob("*.safetensors")) or any(folder.glob("pytorch_model*.bin"))
