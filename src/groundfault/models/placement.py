"""Where a network runs, and how exactly it computes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from groundfault.errors import UsageError
from groundfault.interfaces import ModelOptions

__all__ = ["Placement", "encoded_before", "quiet"]

_DTYPES = {
    "fp32": "float32",
    "float32": "float32",
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp16": "float16",
    "float16": "float16",
}


class Placement(NamedTuple):
    """A device and a number format. Weights stay in fp32; lower formats are autocast, as the
    authors of the SAM family run theirs, so that coordinates and scores keep their precision."""

    device: str
    dtype: str

    @classmethod
    def of(cls, options: ModelOptions) -> Placement:
        """What the options say; "auto" is the best there is: bf16 on CUDA, else fp32."""
        import torch

        device = options.device
        if device == "auto":
            if torch.cuda.is_available():
                device = "cuda"
            else:
                device = "mps" if torch.backends.mps.is_available() else "cpu"
        dtype = options.dtype
        if dtype == "auto":
            dtype = "bf16" if device.startswith("cuda") else "fp32"
        if dtype not in _DTYPES:
            raise UsageError(f"unknown dtype '{dtype}'. Known: auto, {', '.join(_DTYPES)}")
        try:
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as problem:
            raise UsageError(f"device '{device}': {str(problem).splitlines()[0]}") from None
        return cls(device, _DTYPES[dtype])

    @contextmanager
    def inference(self) -> Iterator[None]:
        """Compute without gradients, in this format."""
        import torch

        lower = self.dtype != "float32"
        with (
            torch.inference_mode(),
            torch.autocast(
                torch.device(self.device).type,
                dtype=getattr(torch, self.dtype) if lower else None,
                enabled=lower,
            ),
        ):
            yield

    def load(self, model_class: Any, folder: Any) -> Any:
        """A network from a folder, ready to answer."""
        import torch

        with quiet():
            model = model_class.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
        return model.to(self.device).eval()


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bar per file, and no doubt about SAM (2 and 3) being part of a video model."""
    import transformers

    logging: Any = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def encoded_before(module: Any, output: Any) -> Iterator[None]:
    """While it lasts, a part of a network gives what it has computed before.

    For networks that take picture and phrase in one call: their picture encoder runs once, then
    each phrase is asked with its output. Not for several threads at once.
    """
    module.forward = lambda *_, **__: output
    try:
        yield
    finally:
        del module.forward
