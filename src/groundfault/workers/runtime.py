"""The worker's side of an isolated model: one file, standard library only, Python 3.8 or newer.

    python runtime.py SCRIPT.py PICTURE_FD

runs a model inside its own environment and answers groundfault over stdin and stdout, one JSON
object per line (docs/workers.md has the messages). SCRIPT.py knows the model:

    from groundfault.workers.runtime import Answer

    def load(options):                      # {"device": …, "dtype": …, "checkpoint": …, …}
        return Mine(options["checkpoint"])

    class Mine:
        model = "owner/checkpoint"          # what run.json says was asked
        def segment(self, picture, phrases):
            return [Answer(masks=[…], scores=[…]) for phrase in phrases]

An editor has `edit` in its place, and gives a picture of any size, as an array or a PIL image, or
Refused("why"); what it raises is a failure:

        def edit(self, picture, region, instruction):   # region: rows of 0 and 1, 1 may change
            return self.pipeline(picture.pil(), region.pil(), instruction)

Whatever the script or its libraries print goes to stderr: the protocol has a private copy of
stdout, and stdin is empty for everyone else.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import platform
import sys
import threading
import time
import traceback
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["PROTOCOL", "Answer", "Picture", "Refused", "RegionMask", "encode_mask", "versions_of"]

PROTOCOL = 1
ERROR_CHARACTERS = 4000


class Answer(NamedTuple):
    """What a model has to say about one phrase."""

    masks: Sequence[Any] = ()
    """(height, width) arrays, tensors, nested lists (above 0 is object), or run-length codes."""
    scores: Sequence[float] | None = None
    """One in 0–1 per mask; None where the model has none: each mask then counts as certain."""
    text: str = ""
    """What the model said, without the prompt."""
    presence: float | None = None
    """Probability that what the phrase names is there at all; multiplies the scores."""
    outcome: str = ""
    """"ok", "abstained" or "unparsed"; "" leaves it to the text. Needed if there is neither
    text nor mask: whether that is an abstention, only the script knows."""
    reason: str = ""
    qualities: Sequence[float] = ()
    """How good each mask is by the model's own estimate, where that says nothing about whether the
    thing is there; kept with the prediction, never scored."""


class Picture:
    """One picture, upright: RGB bytes, row by row."""

    def __init__(self, height: int, width: int, rgb: bytes) -> None:
        if len(rgb) != 3 * height * width:
            raise ValueError(f"the picture has {len(rgb)} bytes instead of 3x{height}x{width}")
        self.height = height
        self.width = width
        self.rgb = rgb

    def array(self) -> Any:
        """(height, width, 3) uint8 array, writable."""
        import numpy

        flat = numpy.frombuffer(bytearray(self.rgb), dtype=numpy.uint8)
        return flat.reshape(self.height, self.width, 3)

    def pil(self) -> Any:
        """The same as a PIL image."""
        from PIL import Image

        return Image.frombytes("RGB", (self.width, self.height), self.rgb)


class RegionMask:
    """Where a picture may be changed: one byte per pixel, 1 where it may, row by row."""

    def __init__(self, height: int, width: int, rows: bytes) -> None:
        if len(rows) != height * width:
            raise ValueError(f"the region has {len(rows)} bytes instead of {height}x{width}")
        self.height = height
        self.width = width
        self.rows = rows

    def array(self) -> Any:
        """(height, width) array of booleans."""
        import numpy

        flat = numpy.frombuffer(self.rows, dtype=numpy.uint8)
        return flat.reshape(self.height, self.width) > 0

    def pil(self) -> Any:
        """A grey PIL image, white where the picture may change, as inpainting pipelines take it."""
        from PIL import Image

        return Image.frombytes("L", (self.width, self.height), self.rows).point(lambda v: 255 * v)


class Refused(NamedTuple):
    """What an editor gives in place of a picture that it will not make, however often asked."""

    reason: str


def encode_mask(mask: Any, height: int, width: int) -> dict[str, Any]:
    """COCO's compressed run-length code of a mask; a code is passed on as it is.

    >>> encode_mask([[1, 0], [0, 1]], 2, 2)
    {'size': [2, 2], 'counts': '0120'}
    """
    if isinstance(mask, dict):
        return mask
    if hasattr(mask, "detach"):  # a tensor, on any device, in any type
        mask = (mask.detach() > 0).cpu().numpy()
    shape = tuple(mask.shape) if hasattr(mask, "shape") else (len(mask), len(mask[0]))
    if shape != (height, width):
        raise ValueError(f"a mask is {shape}, the picture {(height, width)} (height, width)")
    runs = _runs_of_array(mask) if hasattr(mask, "shape") else _runs_of_rows(mask, width)
    return {"size": [height, width], "counts": _compressed(runs)}


def _runs_of_array(mask: Any) -> list[int]:
    """Run lengths in column order, the first of zeros."""
    import numpy

    flat = (mask > 0).ravel(order="F")
    changes = numpy.flatnonzero(flat[1:] != flat[:-1]) + 1
    runs: list[int] = numpy.diff(changes, prepend=0, append=flat.size).tolist()
    return [0, *runs] if flat[0] else runs


def _runs_of_rows(rows: Sequence[Sequence[Any]], width: int) -> list[int]:
    """The same without numpy."""
    if any(len(row) != width for row in rows):
        raise ValueError("the rows of a mask are not equally long")
    runs, current = [0], False
    for column in range(width):
        for row in rows:
            if (row[column] > 0) is not current:
                current = not current
                runs.append(0)
            runs[-1] += 1
    return runs


def _compressed(runs: Sequence[int]) -> str:
    """COCO's letters: five bits each, least first, the sixth bit says that more follow; from the
    fourth run on, the difference to the run before the last."""
    letters = bytearray()
    for index, run in enumerate(runs):
        left = run - runs[index - 2] if index > 2 else run
        more = True
        while more:
            bits = left & 0x1F
            left >>= 5
            more = left != (-1 if bits & 0x10 else 0)
            letters.append(48 + (bits | 0x20 if more else bits))
    return letters.decode("ascii")


def versions_of(*packages: str) -> dict[str, str]:
    """Installed versions, for run.json; "" where a package is absent."""
    import importlib.metadata

    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = ""
    return found


class Channel:
    """The protocol's own pipes, out of reach of what a library prints or reads."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._requests = os.fdopen(os.dup(0), "rb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdout = sys.stderr
        self._lock = threading.Lock()
        self._busy: int | None = None

    def requests(self) -> Iterable[Any]:
        """Until groundfault closes its end."""
        for line in self._requests:
            yield json.loads(line.decode("utf-8"))

    def send(self, message: dict[str, Any]) -> None:
        """One line; ends the busy time, so that no heart-beat follows an answer."""
        with self._lock:
            self._busy = None
            self._write(message)

    def _write(self, message: dict[str, Any]) -> None:
        line = memoryview(json.dumps(message, allow_nan=False).encode("ascii") + b"\n")
        while line:
            line = line[os.write(self._out, line) :]

    def busy(self, request: int) -> None:
        """From now on a heart-beat tells that this request is being worked on."""
        with self._lock:
            self._busy = request

    def beat_every(self, seconds: float) -> None:
        """Start the heart; it also ends a worker whose groundfault is gone."""
        threading.Thread(target=self._beat, args=(seconds,), daemon=True).start()

    def _beat(self, seconds: float) -> None:
        while True:
            time.sleep(seconds)
            with self._lock:
                if self._busy is not None:
                    try:
                        self._write({"type": "beat", "id": self._busy})
                    except OSError:
                        os._exit(1)


def load_script(path: str) -> types.ModuleType:
    """A script as a module, wherever it lies."""
    name = f"groundfault_worker_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python script")
    script = importlib.util.module_from_spec(spec)
    sys.modules[name] = script
    spec.loader.exec_module(script)
    return script


def serve(script: str, picture_fd: int) -> None:
    """Load the script's model when told to, then answer until stdin ends."""
    channel = Channel()
    channel.send(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "worker": Path(script).stem,
            "python": platform.python_version(),
        }
    )
    model: Any = None
    for request in channel.requests():
        channel.busy(request["id"])
        try:
            if request["type"] == "load":
                channel.beat_every(request["beat_s"])
                model = _loaded(script, request["options"])
                reply = _ready(model)
            elif request["type"] == "edit":
                reply = _edited(model, request, picture_fd)
            else:
                picture = _picture(request["image"], picture_fd)
                answers = model.segment(picture, request["phrases"])
                reply = {
                    "type": "answer",
                    "answers": [_answer(answer, picture) for answer in answers],
                }
        except (Exception, SystemExit) as problem:
            traceback.print_exc()
            message = f"{type(problem).__name__}: {problem}"
            reply = {"type": "error", "error": _clean(message[:ERROR_CHARACTERS])}
        sys.stderr.flush()
        reply["id"] = request["id"]
        channel.send(reply)


def _loaded(script: str, options: dict[str, Any]) -> Any:
    """The script's model, its repository first on the path and as working folder."""
    if options["repo"]:
        sys.path.insert(0, options["repo"])
        os.chdir(options["repo"])
    return load_script(script).load(options)


def _ready(model: Any) -> dict[str, Any]:
    return {
        "type": "ready",
        "model": str(getattr(model, "model", "")),
        "versions": dict(getattr(model, "versions", {})),
    }


def _picture(image: dict[str, Any], picture_fd: int) -> Picture:
    """From the shared, nameless file."""
    height, width = image["height"], image["width"]
    return Picture(height, width, _read(picture_fd, 3 * height * width, 0))


def _read(picture_fd: int, size: int, start: int) -> bytes:
    """So many bytes of the file from there on, or as many as it has."""
    parts, end = [], start + size
    while start < end:  # one call reads at most 2 GB
        part = os.pread(picture_fd, end - start, start)
        if not part:
            break
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _edited(model: Any, request: dict[str, Any], picture_fd: int) -> dict[str, Any]:
    """The reply to a request to edit; the new picture is put where the old one was."""
    picture = _picture(request["image"], picture_fd)
    pixels = picture.height * picture.width
    rows = _read(picture_fd, pixels, 3 * pixels)
    region = RegionMask(picture.height, picture.width, rows)
    found = model.edit(picture, region, request["instruction"])
    if isinstance(found, Refused):
        return {"type": "edited", "height": 0, "width": 0, "refused": _clean(found.reason)}
    height, width, rgb = _rgb(found)
    start = 0
    while start < len(rgb):
        start += os.pwrite(picture_fd, memoryview(rgb)[start:], start)
    return {"type": "edited", "height": height, "width": width, "refused": ""}


def _rgb(picture: Any) -> tuple[int, int, bytes]:
    """Height, width and bytes of a picture: one of ours, a PIL image, or an array."""
    if isinstance(picture, Picture):
        return picture.height, picture.width, picture.rgb
    if hasattr(picture, "convert"):
        return picture.height, picture.width, picture.convert("RGB").tobytes()
    if hasattr(picture, "detach"):
        picture = picture.detach().cpu().numpy()
    shape = tuple(getattr(picture, "shape", ()))
    if len(shape) != 3 or shape[2] != 3 or str(picture.dtype) != "uint8":
        raise ValueError(f"an edited picture is (height, width, 3) uint8, not {shape}")
    return shape[0], shape[1], picture.tobytes()


def _answer(answer: Any, picture: Picture) -> dict[str, Any]:
    answer = Answer(*answer)
    masks = [encode_mask(mask, picture.height, picture.width) for mask in answer.masks]
    scores = [1.0] * len(masks) if answer.scores is None else [float(s) for s in answer.scores]
    if len(scores) != len(masks):
        raise ValueError(f"{len(scores)} scores for {len(masks)} masks")
    qualities = [float(quality) for quality in answer.qualities]
    if not all(math.isfinite(number) for number in (*scores, *qualities)):
        raise ValueError(f"a score or quality is not finite: {scores} {qualities}")
    return {
        "masks": masks,
        "scores": scores,
        "text": _clean(answer.text),
        "presence": None if answer.presence is None else float(answer.presence),
        "outcome": answer.outcome,
        "reason": _clean(answer.reason),
        "qualities": qualities,
    }


def _clean(text: str) -> str:
    """Without what has no UTF-8 form."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _mount() -> None:
    """Make `groundfault.workers` importable in an environment without groundfault, and take this
    folder off the path: our openseed.py must not hide the package openseed."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]
    for name, folder in (("groundfault", here.parent), ("groundfault.workers", here)):
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    sys.modules["groundfault.workers.runtime"] = sys.modules["__main__"]


if __name__ == "__main__":
    _mount()
    serve(str(Path(sys.argv[1]).resolve()), int(sys.argv[2]))
