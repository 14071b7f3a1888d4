"""The published traces of the CAFE authors' agent, as our records.

demo_data.json    cases with `pos_steps` and `neg_steps`: query, agent, tool_result …
assets/…          the pictures that the steps name
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from groundfault.errors import DataError
from groundfault.io.foreign import read_json_object, within
from groundfault.io.masks import MAX_PIXELS
from groundfault.models.agent.traces import Ending, Trace, Turn
from groundfault.parsing.tool_calls import TOOLS
from groundfault.records import Outcome

__all__ = ["Imported", "read_published"]

LARGEST_BYTES = 64 << 20
_RETURNED = re.compile(r"returned (\d+) mask")
_PREFIX = "[Tool Result] "
_ENDINGS: dict[str, Ending] = {"select": "select", "report": "report"}
_DECISIONS: dict[str, Ending] = {"select_masks_and_return": "select", "report_no_mask": "report"}


class Imported(NamedTuple):
    """A published trace with its pictures by hash."""

    name: str
    trace: Trace
    pictures: dict[str, bytes]


class _Step(msgspec.Struct):
    type: Literal["query", "agent", "tool_result"]
    concept: str = ""
    think: str = ""
    tool_name: str = ""
    tool_params: dict[str, Any] = {}
    text: str = ""
    images: list[str] = []


class _Case(msgspec.Struct):
    tid: str
    image: str
    pos_outcome: str
    neg_outcome: str
    pos_steps: list[_Step]
    neg_steps: list[_Step]


class _Demo(msgspec.Struct):
    cases: list[_Case]


def read_published(folder: str | PathLike[str]) -> Iterator[Imported]:
    """Each case's p⁺ and p⁻ episode from a folder with demo_data.json."""
    file = Path(folder) / "demo_data.json"
    demo = read_json_object(file, _Demo, expected='{"cases": [{"tid": …, "pos_steps": […]}]}')
    for case in demo.cases:
        sides = (
            ("positive", case.pos_steps, case.pos_outcome),
            ("negative", case.neg_steps, case.neg_outcome),
        )
        for side, steps, ended in sides:
            album = _Album(Path(folder), file, f"case {case.tid}, {side}")
            yield Imported(
                f"{re.sub(r'[^0-9A-Za-z_-]', '_', case.tid)[:80]}-{side}",
                _trace(steps, case.image, ended, album),
                album.pictures,
            )


class _Album:
    """Pictures as they are read, by hash."""

    def __init__(self, folder: Path, file: Path, record: str) -> None:
        self.folder, self.file, self.record = folder, file, record
        self.pictures: dict[str, bytes] = {}

    def add(self, relative: str) -> str:
        path = within(self.folder, relative, file=self.file, record=self.record)
        try:
            if path.stat().st_size > LARGEST_BYTES:
                raise OSError(None, f"it has more than {LARGEST_BYTES >> 20} MB")
            content = path.read_bytes()
        except OSError as problem:
            raise self.unsound(f"the picture {relative} cannot be read ({problem.strerror})") from (
                None
            )
        sha256 = hashlib.sha256(content).hexdigest()
        self.pictures[sha256] = content
        return sha256

    def unsound(self, problem: str) -> DataError:
        return DataError(self.file, problem, record=self.record, remedy="get the file again")


def _trace(steps: list[_Step], image: str, ended: str, album: _Album) -> Trace:
    if not steps or steps[0].type != "query" or ended not in _ENDINGS:
        raise album.unsound("it does not begin with a query, or has an outcome we do not know")
    turns = tuple(_turns(steps[1:], album))
    if not turns or _DECISIONS.get(turns[-1].tool) != _ENDINGS[ended]:
        raise album.unsound(f"its last step is not the decision that its outcome, {ended}, says")
    chosen = turns[-1].parameters.get("final_answer_masks", [])
    picture = album.add(image)
    return Trace(
        query=steps[0].concept,
        size_px=_size_px(album.pictures[picture], album),
        picture=picture,
        turns=turns,
        ending=_ENDINGS[ended],
        outcome=Outcome.OK if ended == "select" else Outcome.ABSTAINED,
        chosen=tuple(sorted(chosen)),
        source="CAFE demo",
    )


def _turns(steps: list[_Step], album: _Album) -> Iterator[Turn]:
    """An agent's step and the tool's result that follows it are a turn."""
    for index, step in enumerate(steps):
        if step.type != "agent":
            continue
        if step.tool_name not in TOOLS:
            raise album.unsound(f"there is no tool '{step.tool_name[:40]}'")
        try:
            msgspec.convert(step.tool_params, TOOLS[step.tool_name])
        except msgspec.ValidationError as problem:
            raise album.unsound(f"the parameters of {step.tool_name}: {problem}") from None
        call = {"name": step.tool_name, "parameters": step.tool_params}
        after = steps[index + 1] if index + 1 < len(steps) else _Step("query")
        result = after if after.type == "tool_result" else _Step("tool_result")
        returned = _RETURNED.search(result.text)
        segmented = step.tool_name == "segment_phrase" and returned is not None
        n_masks = int(returned[1]) if returned and segmented else 0
        if n_masks > 10_000:
            raise album.unsound(f"a result of {n_masks} masks is not credible")
        yield Turn(
            said=f"<think>{step.think}</think>\n<tool>{msgspec.json.encode(call).decode()}</tool>",
            thought=step.think,
            tool=step.tool_name,
            parameters=step.tool_params,
            result=result.text.removeprefix(_PREFIX),
            pictures=tuple(map(album.add, result.images)),
            found=(Outcome.OK if n_masks else Outcome.ABSTAINED) if segmented else None,
            n_masks=n_masks,
        )


def _size_px(content: bytes, album: _Album) -> tuple[int, int]:
    """(height, width); the pixels are not decoded."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content)) as picture:
            width_px, height_px = picture.size
    except (UnidentifiedImageError, OSError, ValueError) as problem:
        raise album.unsound(f"its image cannot be read ({problem})") from None
    if width_px * height_px > MAX_PIXELS:
        raise album.unsound(f"its image claims {width_px}x{height_px} pixels")
    return height_px, width_px
