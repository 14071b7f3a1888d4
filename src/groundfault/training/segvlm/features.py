"""Features of the frozen picture encoder, kept: computed once per picture and decoder, in memory
for the step, on disk for the training and for the next one.

Stored in bf16, as the decoder gets them anyway, so that kept features are the same as fresh ones.
SAM 2's take 8 MB a picture, SAM's 2 MB; when the limit is reached, further ones are not stored.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from groundfault.io.foreign import sha256 as file_hash
from groundfault.io.pictures import read_image
from groundfault.io.store import atomic_file
from groundfault.models.segvlm.decoders import Features, MaskDecoder

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["FeatureStore", "PictureStore"]

IN_MEMORY = 64
"""Pictures, and features of pictures: a step draws few of them more than once."""
GB = 1 << 30


class PictureStore:
    """Decoded pictures of the last steps."""

    def __init__(self, most: int = IN_MEMORY) -> None:
        self._seen: OrderedDict[str, Image] = OrderedDict()
        self.most = most

    def read(self, path: str) -> Image:
        """A picture, decoded once while it is remembered."""
        if path not in self._seen:
            self._seen[path] = read_image(path)
            if len(self._seen) > self.most:
                self._seen.popitem(last=False)
        self._seen.move_to_end(path)
        return self._seen[path]


class FeatureStore:
    """Features by the content of a picture and the identity of a decoder."""

    def __init__(
        self, decoder: MaskDecoder, identity: str, folder: Path | None, *, limit_gb: float = 50.0
    ) -> None:
        self.decoder, self.folder = decoder, folder
        self.limit = limit_gb * GB
        self._decoder = sha256(identity.encode()).hexdigest()[:16]
        self._keys: dict[str, str] = {}
        self._near: OrderedDict[str, Features] = OrderedDict()
        self._used = _bytes_in(folder)
        self.n_encoded = 0

    def get(self, paths: Sequence[str], images: Sequence[Image]) -> list[Features]:
        """Features of pictures; those that are not known are encoded together, each once."""
        keys = [self._key(path) for path in paths]
        found: dict[str, Features] = {}
        missing: dict[str, Image] = {}
        for key, image in zip(keys, images, strict=True):
            known = self._near.get(key) or self._stored(key)
            if known is None:
                missing[key] = image
            else:
                found[key] = known
        if missing:
            self.n_encoded += len(missing)
            encoded = self.decoder.encode([*missing.values()])
            for key, features in zip(missing, encoded, strict=True):
                found[key] = features
                self._store(key, features)
        for key in found:
            self._remember(key, found[key])
        return [found[key] for key in keys]

    def _key(self, path: str) -> str:
        if path not in self._keys:
            self._keys[path] = f"{file_hash(path)[:40]}-{self._decoder}"
        return self._keys[path]

    def _place(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / key[:2] / f"{key}.safetensors"

    def _stored(self, key: str) -> Features | None:
        place = self._place(key)
        if place is None or not place.is_file():
            return None
        try:
            with safe_open(place, framework="pt") as file:
                return tuple(file.get_tensor(str(k)) for k in range(len(file.keys())))
        except (SafetensorError, OSError):  # cut off by a full disk: it is made again
            return None

    def _store(self, key: str, features: Features) -> None:
        place = self._place(key)
        size = sum(level.numel() * level.element_size() for level in features)
        if place is None or self._used + size > self.limit:
            return
        with atomic_file(place, durable=False) as temporary:
            levels = {str(k): level.cpu().contiguous() for k, level in enumerate(features)}
            save_file(levels, temporary)
        self._used += size

    def _remember(self, key: str, features: Features) -> None:
        self._near[key] = features
        self._near.move_to_end(key)
        if len(self._near) > IN_MEMORY:
            self._near.popitem(last=False)


def _bytes_in(folder: Path | None) -> int:
    if folder is None or not folder.is_dir():
        return 0
    return sum(file.stat().st_size for file in folder.rglob("*.safetensors"))


def stacked(features: Sequence[Features], device: torch.device | str) -> Features:
    """Features of several pictures, a row for each."""
    return tuple(torch.stack(level).to(device) for level in zip(*features, strict=True))
