"""Weights spread over processes (FSDP): what one device cannot hold, several can.

Only frozen weights are spread. A layer's are gathered while it computes and given back afterwards;
what learns is small, stays whole in every process, and its gradients are summed as without
sharding. So steps, states and exports are the same either way.

Every process takes part whenever the network computes. When one of them evaluates, it tells the
others what it asks, and they compute along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from groundfault.models.segvlm.segmenter import SegVLMSegmenter, Spoken
from groundfault.training.segvlm.cluster import Cluster

if TYPE_CHECKING:
    from groundfault.interfaces import Image

__all__ = ["SharedSegmenter", "evaluated", "shard"]


def shard(vlm: Any, cluster: Cluster) -> None:
    """Spread the frozen weights of a model with LoRA, layer by layer."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    device = torch.device(cluster.placement.device)
    mesh = init_device_mesh(device.type, (cluster.n,))
    learnt = {value for value in vlm.parameters() if value.requires_grad}
    for value in learnt:
        value.data = value.data.to(device)
    whole = vlm.get_base_model()
    for layer in _layers(whole):
        fully_shard(layer, mesh=mesh, ignored_params=learnt)
    fully_shard(whole, mesh=mesh, ignored_params=learnt)
    # it begins with the picture's encoder, outside of any call of the whole
    register_fsdp_forward_method(whole, "generate")


@contextmanager
def evaluated(segmenter: Any, *, is_first: bool) -> Iterator[Any]:
    """While the first process asks a segmenter, the others compute along, where they have to."""
    shared = segmenter if isinstance(segmenter, SharedSegmenter) else None
    if shared is not None and not is_first:
        shared.follow()
    try:
        yield segmenter
    finally:
        if shared is not None and is_first:
            shared.release()


def _layers(module: nn.Module) -> list[nn.Module]:
    """The layers of every tower: what stands in the outermost lists of modules."""
    found: list[nn.Module] = []
    for child in module.children():
        found += list(child) if isinstance(child, nn.ModuleList) else _layers(child)
    return found


class SharedSegmenter(SegVLMSegmenter):
    """A segmenter whose words need all processes: the first one asks, the others follow."""

    synced = True

    def __init__(self, cluster: Cluster, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.cluster = cluster

    def speak(self, images: Sequence[Image], questions: Sequence[str]) -> list[Spoken]:
        """Answers to questions, after the others were told them."""
        self.cluster.share((list(images), list(questions)))
        return self._speak_together(images, questions)

    def release(self) -> None:
        """Tell the others that nothing more is asked."""
        self.cluster.share(None)

    def follow(self) -> None:
        """Compute whatever the first process asks, until it asks nothing more."""
        was_training = self.network.training
        self.network.eval()
        with self.placement.inference():
            while (asked := self.cluster.share(None)) is not None:
                self._speak_together(*asked)
        self.network.train(was_training)

    def _speak_together(self, images: Sequence[Image], questions: Sequence[str]) -> list[Spoken]:
        # gathered weights are kept for training, which tensors of inference mode are no good for
        with torch.inference_mode(False), torch.no_grad():
            return super().speak(images, questions)
