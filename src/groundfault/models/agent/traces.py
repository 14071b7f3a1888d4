"""What happened in an episode, as a record: enough to go through it again without a model.

A run keeps the trace of every answer beside the answer (in its `text`), with the masks that each
segmentation gave. Pictures are kept by hash: they can be drawn again from the image and the masks,
and must then have that hash. A folder of traces keeps the files too:

    FOLDER/NAME.json             a trace
    FOLDER/pictures/SHA256.jpg   every picture that it mentions
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import msgspec

from groundfault.errors import DataError
from groundfault.io.foreign import decode_json, within
from groundfault.io.store import read_json, write_bytes, write_json
from groundfault.models.agent.settings import Settings
from groundfault.records import Outcome, Prediction, Rle

__all__ = [
    "Ending",
    "Trace",
    "Turn",
    "picture_file",
    "read_trace",
    "read_traces",
    "trace_of",
    "write_trace",
]

Ending = Literal["select", "report", "turns", "failed", "unread"]
"""`turns`: they ran out, the newest segmentation is the answer. `unread`: they ran out, and there
was none."""
PICTURES = "pictures"
_KINDS = {b"\xff\xd8": ".jpg", b"\x89P": ".png"}


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reply and what came back."""

    said: str
    """The reply, word for word."""
    cut: str = ""
    """Why it is not whole, where the server says so."""
    thought: str = ""
    """What it said before its call."""
    tool: str = ""
    """"" where no call could be read."""
    parameters: dict[str, Any] = {}
    """Of the call."""
    problem: str = ""
    """Why the call was not carried out."""
    result: str = ""
    """What the model was told, without the counter."""
    pictures: tuple[str, ...] = ()
    """SHA-256 of those that it was shown, in order."""
    found: Outcome | None = None
    """How a segmentation ended."""
    n_masks: int = 0
    """How many masks the segmenter found."""
    masks: tuple[Rle, ...] = ()
    """That it was shown, in the order of their numbers; not there in published traces."""
    scores: tuple[float, ...] = ()
    """Of the masks, in the same order."""
    boxes_xywh: tuple[tuple[float, float, float, float] | None, ...] = ()
    """Of the masks, in the same order."""
    left_out: int = 0
    """Masks that were not shown: below the threshold, tiny, or over a surer one."""
    tokens_in: int | None = None
    """What the server counted; None where it says nothing."""
    tokens_out: int | None = None
    """What the server counted; None where it says nothing."""
    cost: float | None = None
    """Money; None where no price is known."""
    latency_s: float = 0.0
    """Until the reply was there."""
    segmenting_s: float = 0.0
    """What the segmenter took."""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One episode."""

    query: str
    """The phrase that was asked for."""
    size_px: tuple[int, int] = (0, 0)
    """(height, width) of the image."""
    picture: str = ""
    """SHA-256 of the image as it was shown."""
    prompt: str = ""
    """SHA-256 of the system prompt."""
    settings: Settings = Settings()
    """How the agent worked."""
    turns: tuple[Turn, ...] = ()
    """Every reply with what came back."""
    ending: Ending
    """How the episode ended: select, report, failed, turns (they ran out), unread."""
    outcome: Outcome
    """The same as a prediction's outcome."""
    reason: str = ""
    """Why it failed or could not be read."""
    chosen: tuple[int, ...] = ()
    """Numbers of the masks that are the answer."""
    source: str = ""
    """Of an imported trace."""

    def __post_init__(self) -> None:
        for turn in self.turns:
            named = turn.problem or isinstance(turn.parameters.get("text_prompt"), str)
            if turn.tool == "segment_phrase" and not named:
                raise ValueError("a turn segments a phrase and names none")

    @property
    def phrases(self) -> tuple[str, ...]:
        """What was segmented, in order."""
        return tuple(
            str(turn.parameters["text_prompt"])
            for turn in self.turns
            if turn.tool == "segment_phrase" and not turn.problem
        )

    @property
    def tokens(self) -> int | None:
        """In and out together; None where one reply's are not known."""
        counts = [(turn.tokens_in, turn.tokens_out) for turn in self.turns]
        if any(a is None or b is None for a, b in counts):
            return None
        return sum((a or 0) + (b or 0) for a, b in counts)

    @property
    def cost(self) -> float | None:
        """Money; None where one reply's is not known."""
        costs = [turn.cost for turn in self.turns]
        return None if None in costs else sum(cost or 0.0 for cost in costs)

    @property
    def latency_s(self) -> float:
        """Waited for replies and for the segmenter."""
        return sum(turn.latency_s + turn.segmenting_s for turn in self.turns)


def trace_of(prediction: Prediction) -> Trace | None:
    """The trace that an agent's answer carries; None if it is no agent's."""
    if not prediction.text.startswith("{"):
        return None
    try:
        return decode_json(prediction.text, Trace)
    except msgspec.DecodeError:
        return None


def write_trace(
    folder: str | PathLike[str], name: str, trace: Trace, pictures: Mapping[str, bytes]
) -> Path:
    """Keep a trace and its pictures (by hash) in a folder."""
    if not re.fullmatch(r"[\w.+-]{1,150}", name) or name.startswith("."):
        raise ValueError(f"{name!r} is no name for a trace: letters, digits and .+-_ only")
    for sha256, content in pictures.items():
        place = Path(folder) / PICTURES / f"{sha256}{_KINDS.get(content[:2], '.bin')}"
        if not place.exists():
            write_bytes(place, content)
    path = Path(folder) / f"{name}.json"
    write_json(path, trace)
    return path


def read_trace(path: str | PathLike[str]) -> Trace:
    """One trace of a folder."""
    return read_json(path, Trace)


def read_traces(folder: str | PathLike[str]) -> Iterator[tuple[str, Trace]]:
    """All traces of a folder by name."""
    for path in sorted(Path(folder).glob("*.json")):
        yield path.stem, read_trace(path)


def picture_file(folder: str | PathLike[str], sha256: str) -> Path:
    """Where a picture of a trace is."""
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise DataError(folder, f"{sha256!r} is no SHA-256", remedy="import the traces again")
    for kind in _KINDS.values():
        path = within(folder, f"{PICTURES}/{sha256}{kind}", file=folder, record=sha256)
        if path.is_file():
            return path
    raise DataError(folder, f"the picture {sha256} is missing", remedy="import the traces again")
