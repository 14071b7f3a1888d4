"""A ComfyUI server with a workflow of one's own: comfyui:WORKFLOW.json, at --base-url or
http://127.0.0.1:8188.

The workflow is saved in ComfyUI's API format. Of the strings in it these are filled in:

    %image%    the name of the uploaded picture, for LoadImage; its own mask output is the region
    %mask%     the name of an uploaded mask, white where the picture may change, for LoadImageMask
               with the channel red
    %prompt%   the instruction
    %seed%     a number that follows from the instruction

The first picture that a node of the workflow saves is the reply. Written from ComfyUI's
documentation and tested with a stand-in; we have not run the real server.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec
import numpy as np

from groundfault.editors.loading import take_settings
from groundfault.editors.openai import BOUNDARY, form_data
from groundfault.editors.services import (
    LARGEST_RESPONSE,
    grey_mask,
    outcome_of,
    picture_reply,
    png,
)
from groundfault.errors import DataError, UsageError
from groundfault.interfaces import Canvas, ModelOptions, NotEdited
from groundfault.io.addresses import refuse_credentials
from groundfault.io.foreign import decode_json, read_json_object
from groundfault.io.interrupts import requested
from groundfault.llm.http_client import get, send
from groundfault.llm.pictures import make_picture
from groundfault.llm.server import Unsound
from groundfault.records import Picture
from groundfault.runs.identity import files_hash

if TYPE_CHECKING:
    from groundfault.editors.loading import EditorOptions
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["ComfyEditor", "load"]

VERSION = "1"
HERE = "http://127.0.0.1:8188"
LOOK_S = 0.25
"""Between looks whether a workflow has ended."""
REQUEST_S = 60.0
LONGEST_REASON = 300
PLACES = ("%image%", "%mask%", "%prompt%", "%seed%")
SETTINGS: dict[str, tuple[str, ...] | type] = {"seed": int, "most_px": int, "multiple_px": int}


class _Load:
    """Makes editors; nothing is asked yet."""

    def __call__(self, argument: str, options: EditorOptions) -> ComfyEditor:
        """The editor that a workflow is."""
        if not argument:
            raise UsageError("comfyui: name the workflow, as in comfyui:inpaint_api.json")
        settings = take_settings(f"comfyui:{argument}", options, SETTINGS)
        base_url = (options.base_url or HERE).rstrip("/")
        refuse_credentials(base_url)
        return ComfyEditor(
            _workflow(Path(argument)), base_url, timeout_s=options.timeout_s, **settings
        )

    def identity(self, argument: str, options: ModelOptions) -> Mapping[str, str]:
        """The workflow by its content, and the server."""
        return {
            "adapter": f"comfyui {VERSION}",
            "workflow": files_hash(argument),
            "base url": options.base_url,
        }


load = _Load()


def _workflow(file: Path) -> dict[str, Any]:
    found = read_json_object(file, dict[str, Any], expected="a ComfyUI workflow in API format")
    nodes = [node for node in found.values() if isinstance(node, dict)]
    if not nodes or not all("class_type" in node and "inputs" in node for node in nodes):
        raise DataError(
            file,
            "its nodes have no class_type and inputs",
            remedy="save the workflow with 'Export (API)' in ComfyUI",
        )
    missing = [place for place in ("%image%", "%prompt%") if place not in str(found)]
    if missing:
        raise DataError(
            file, f"it has no {missing[0]}", remedy="put it where the picture or the words belong"
        )
    return found


class ComfyEditor:
    """A workflow on a server."""

    def __init__(
        self,
        workflow: Mapping[str, Any],
        base_url: str,
        *,
        timeout_s: float,
        seed: int = 0,
        most_px: int = 1 << 22,
        multiple_px: int = 8,
    ) -> None:
        self.workflow, self.base_url = workflow, base_url
        self.timeout_s, self.seed = timeout_s, seed
        self.canvas = Canvas(multiple_px=multiple_px, most_px=most_px)
        self.requests_at_once = 2
        """One is drawn while the other is sent."""
        self.stopped_because = ""

    def edit(self, image: Image, region: BinaryMask, instruction: str) -> Image | NotEdited:
        """The first picture that the workflow saves, in the size in which it comes."""
        words = " ".join(instruction.split())
        try:
            values: dict[str, str | int] = {
                "%image%": self._upload(make_picture("image/png", png(_with_alpha(image, region)))),
                "%mask%": self._upload(grey_mask(region)),
                "%prompt%": words,
                "%seed%": zlib.crc32(f"{self.seed} {words}".encode()),
            }
            where = self._wait(self._queue(_filled(self.workflow, values)))
            asked = ("filename", "subfolder", "type")
            query = urlencode({name: where.get(name, "") for name in asked})
            content = self._get(f"view?{query}")
        except _Failed as problem:
            return NotEdited(outcome="failed", reason=str(problem)[:LONGEST_REASON])
        except OSError as problem:
            self._look_after(problem)
            words = f"{self.base_url}: {problem}"
            return NotEdited(outcome="failed", reason=words[:LONGEST_REASON])
        return _decoded(content, image.shape[:2])

    def _look_after(self, problem: OSError) -> None:
        """A server that cannot be reached is not asked again and again."""
        if "Cannot connect" in str(problem):
            self.stopped_because = (
                f"{self.base_url} cannot be reached ({problem}). Remedy: start ComfyUI, or name "
                "its address with --base-url"
            )

    def _upload(self, picture: Picture) -> str:
        """The name under which the server keeps a picture; one content has one name."""
        name = f"groundfault-{picture.sha256[:32]}"
        body = form_data({"type": "input", "overwrite": "true"}, {"image": picture}, filename=name)
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        found = _object(send(f"{self.base_url}/upload/image", kind, body, timeout_s=REQUEST_S))
        folder, named = found.get("subfolder", ""), found.get("name", "")
        return f"{folder}/{named}" if folder else str(named)

    def _queue(self, workflow: Mapping[str, Any]) -> str:
        body = msgspec.json.encode({"prompt": workflow, "client_id": "groundfault"})
        kind = {"Content-Type": "application/json"}
        found = _object(send(f"{self.base_url}/prompt", kind, body, timeout_s=REQUEST_S))
        if found.get("node_errors") or not isinstance(found.get("prompt_id"), str):
            raise _Failed(f"the workflow was not taken: {found.get('node_errors') or found}")
        return str(found["prompt_id"])

    def _wait(self, prompt_id: str) -> Mapping[str, Any]:
        """Where the first picture of a workflow is, once it has ended."""
        end = time.monotonic() + self.timeout_s
        while time.monotonic() < end and not requested():
            found = _object(self._get(f"history/{prompt_id}")).get(prompt_id)
            if isinstance(found, dict):
                return _first_picture(found)
            time.sleep(LOOK_S)
        raise _Failed(f"the workflow did not end within {self.timeout_s:g} s")

    def _get(self, path: str) -> bytes:
        return get(f"{self.base_url}/{path}", {}, timeout_s=REQUEST_S, largest=LARGEST_RESPONSE)


class _Failed(Exception):
    """One edit failed."""


def _object(content: bytes) -> dict[str, Any]:
    try:
        return decode_json(content, dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise _Failed(f"the server's answer is no JSON object ({problem})") from None


def _first_picture(ended: Mapping[str, Any]) -> Mapping[str, Any]:
    status = ended.get("status")
    if isinstance(status, dict) and status.get("status_str") == "error":
        raise _Failed(f"the workflow failed: {status.get('messages')}")
    outputs = ended.get("outputs")
    for output in outputs.values() if isinstance(outputs, dict) else ():
        pictures = output.get("images") if isinstance(output, dict) else None
        for picture in pictures if isinstance(pictures, list) else ():
            if isinstance(picture, dict) and isinstance(picture.get("filename"), str):
                return picture
    raise _Failed("the workflow saved no picture")


def _filled(value: Any, values: Mapping[str, str | int]) -> Any:
    """A workflow with its places filled in; words inside of longer ones too.

    >>> _filled({"text": "photo, %prompt%", "seed": "%seed%"}, {"%prompt%": "red", "%seed%": 7})
    {'text': 'photo, red', 'seed': 7}
    """
    if isinstance(value, dict):
        return {key: _filled(each, values) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, values) for each in value]
    if not isinstance(value, str):
        return value
    if value in values:
        return values[value]
    for place in PLACES[:2]:
        value = value.replace(place, str(values.get(place, place)))
    return value.replace("%prompt%", str(values.get("%prompt%", "%prompt%")))


def _with_alpha(image: Image, region: BinaryMask) -> Any:
    """The picture, transparent where it may change: what LoadImage makes its mask of."""
    return np.dstack([image, np.where(region, 0, 255).astype(np.uint8)])


def _decoded(content: bytes, size_px: tuple[int, int]) -> Image | NotEdited:
    from binascii import b2a_base64

    try:
        reply = picture_reply(
            b2a_base64(content, newline=False).decode(), tokens_in=None, tokens_out=None, cost=0.0
        )
    except Unsound as problem:
        return NotEdited(outcome="failed", reason=str(problem)[:LONGEST_REASON])
    return outcome_of(reply, size_px)
