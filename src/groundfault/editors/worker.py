"""An editor of one's own, in an environment of its own: worker:/path/to/mine.py[:CHECKPOINT].

The script has `load(options)`, whose result has `edit(picture, region, instruction)`; the runtime
and everything around it (interpreter, keys, restarts, logs) are those of models, see
docs/workers.md. Pictures go through a nameless file, both ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundfault.errors import UsageError
from groundfault.interfaces import Canvas, ModelOptions, NotEdited
from groundfault.io.masks import MAX_PIXELS
from groundfault.models.worker import EditedReply
from groundfault.models.worker import load as load_worker
from groundfault.models.worker_process import WorkerError, WorkerGaveUp, WorkerNonsense
from groundfault.runs.identity import files_hash

if TYPE_CHECKING:
    from groundfault.editors.loading import EditorOptions
    from groundfault.interfaces import BinaryMask, Image
    from groundfault.models.worker_process import WorkerProcess

__all__ = ["WorkerEditor", "load"]

VERSION = "1"
LONGEST_REASON = 300


class _Load:
    """Makes editors; nothing is started yet."""

    def __call__(self, argument: str, options: EditorOptions) -> WorkerEditor:
        """The editor that `worker:SCRIPT` names."""
        if not argument:
            raise UsageError("worker: name the script, as in worker:/path/to/mine.py")
        return WorkerEditor(argument, options)

    def identity(self, argument: str, options: ModelOptions) -> Mapping[str, str]:
        """The script's content and that of its checkpoint, if it is here."""
        return {
            "adapter": f"worker {VERSION}",
            "files": files_hash(argument),
            "revision": options.revision,
            "dtype": options.dtype,
        }


load = _Load()


class WorkerEditor:
    """An editor in another process, which starts with the first picture."""

    canvas = Canvas()
    """A script takes any size; its reply is brought back, whatever size it has."""

    def __init__(self, argument: str, options: EditorOptions) -> None:
        self.worker = load_worker(argument, options)
        self.stopped_because = ""
        """Why nothing is asked any more: it failed too many times in a row."""

    def edit(self, image: Image, region: BinaryMask, instruction: str) -> Image | NotEdited:
        """The picture that the script gave, in the size in which it gave it."""
        if self.stopped_because:
            return NotEdited(outcome="failed", reason=self.stopped_because)
        height_px, width_px = image.shape[:2]
        shown = np.ascontiguousarray(image).tobytes() + region.astype(np.uint8).tobytes()
        request = {
            "type": "edit",
            "image": {"height": height_px, "width": width_px},
            "instruction": instruction,
        }
        try:
            return self.worker.exchange(memoryview(shown), request, _picture)
        except WorkerGaveUp as problem:
            self.stopped_because = str(problem)
            return NotEdited(outcome="failed", reason=str(problem)[:LONGEST_REASON])
        except WorkerError as problem:
            return NotEdited(outcome="failed", reason=str(problem)[:LONGEST_REASON])

    def keep_log(self, folder: Path) -> None:
        """From the next start on, keep there what the process writes to stderr."""
        self.worker.keep_log(folder)

    def close(self) -> None:
        """End the process."""
        self.worker.close()


def _picture(process: WorkerProcess, reply: object) -> Image | NotEdited:
    """The picture that a process left, checked."""
    if not isinstance(reply, EditedReply):
        raise process.error(WorkerNonsense, "did not answer with a picture")
    if reply.refused:
        return NotEdited(outcome="refused", reason=reply.refused[:LONGEST_REASON])
    if reply.height < 1 or reply.width < 1 or reply.height * reply.width > MAX_PIXELS:
        raise process.error(WorkerNonsense, f"gave a picture of {reply.height}x{reply.width}")
    content = process.shown(3 * reply.height * reply.width)
    if len(content) != 3 * reply.height * reply.width:
        raise process.error(WorkerNonsense, "announced more of a picture than it gave")
    return np.frombuffer(content, np.uint8).reshape(reply.height, reply.width, 3).copy()
