"""The processes of a training: one, or as many as `accelerate launch` or `torchrun` started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from groundfault.errors import MissingExtra, UsageError
from groundfault.models.placement import Placement

__all__ = ["Cluster", "shards"]

PATIENCE = timedelta(hours=12)


class Cluster:
    """This process among its peers."""

    def __init__(
        self, precision: str = "auto", *, trackers: Sequence[str] = (), folder: Path | None = None
    ) -> None:
        try:
            import accelerate
        except ModuleNotFoundError:
            raise MissingExtra("accelerate", "segvlm") from None

        on_cpu = not torch.cuda.is_available()
        self._check_trackers(trackers)
        self.accelerator: Any = accelerate.Accelerator(
            cpu=on_cpu,
            log_with=list(trackers) or None,
            project_dir=str(folder) if folder is not None and trackers else None,
            # the others wait while the first one evaluates
            kwargs_handlers=[accelerate.InitProcessGroupKwargs(timeout=PATIENCE)],
        )
        if trackers:
            self.accelerator.init_trackers("groundfault")
        self.rank: int = self.accelerator.process_index
        self.n: int = self.accelerator.num_processes
        self.sharded: bool = shards() > 1
        lower = precision == "bf16" or (precision == "auto" and not on_cpu)
        self.placement = Placement(str(self.accelerator.device), "bfloat16" if lower else "float32")

    @property
    def is_first(self) -> bool:
        """Whether this process writes and speaks for all of them."""
        return self.rank == 0

    def autocast(self) -> AbstractContextManager[Any]:
        """Compute in the lower format, if there is one."""
        if self.placement.dtype == "float32":
            return nullcontext()
        return torch.autocast(torch.device(self.placement.device).type, dtype=torch.bfloat16)

    def sum_(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replace tensors by their sums over all processes, in one message."""
        if self.n == 1:
            return
        flat = torch.cat([each.detach().reshape(-1).double() for each in tensors])
        flat = flat.to(self.placement.device)
        torch.distributed.all_reduce(flat)
        start = 0
        for each in tensors:
            own = flat[start : start + each.numel()].reshape(each.shape)
            each.copy_(own.to(each.dtype))
            start += each.numel()

    def share(self, value: Any) -> Any:
        """What the first process gives, in every process."""
        held = [value]
        torch.distributed.broadcast_object_list(held, device=torch.device(self.placement.device))
        return held[0]

    def wait(self) -> None:
        """Until all processes are here."""
        self.accelerator.wait_for_everyone()

    def log(self, values: dict[str, float], step: int) -> None:
        """Tell the trackers, if there are any."""
        self.accelerator.log(values, step=step)

    def end(self) -> None:
        """Let the trackers write what they hold."""
        self.accelerator.end_training()

    def _check_trackers(self, trackers: Sequence[str]) -> None:
        from importlib.util import find_spec

        for name in trackers:
            if find_spec(name) is None:
                raise UsageError(f"trackers: {name} is not installed; pip install {name}")


def shards() -> int:
    """Over how many processes frozen weights are spread: all those that `accelerate launch
    --use_fsdp` started. On a CPU, accelerate takes no notice of its own word; torch shards there
    too."""
    asked = os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true"
    return int(os.environ.get("WORLD_SIZE", "1")) if asked else 1
