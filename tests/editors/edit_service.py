"""A stand-in for POST /v1/images/edits and Gemini's :generateContent, on loopback.

It is as strict as the documented contract, and both real SDKs work with it (`sdk_client.py`).
What is transparent in the mask becomes red, so that a client that inverts it is caught. It can be
made to shift and recolour what it gives, to refuse and to fail, by shares, as real services do.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image
from tests.editors.loopback import LoopbackService

KEY = "sk-test-5ecret5ecret5ecret"
FIELDS = {"model", "prompt", "n", "size", "quality", "output_format", "input_fidelity",
          "background", "moderation", "output_compression", "user", "stream", "partial_images",
          "response_format"}  # fmt: skip
OLD = ("gpt-image-1", "gpt-image-1-mini", "gpt-image-1.5")
OLD_SIZES = ("auto", "1024x1024", "1536x1024", "1024x1536")
MASK_BYTES, IMAGE_BYTES = 4 << 20, 50 << 20
RED = (255, 0, 0)


@dataclass
class Behaviour:
    """How good the service is."""

    shift_px: int = 0
    gain: float = 1.0
    """Everything becomes so much brighter."""
    refuse: float = 0.0
    fail: float = 0.0
    """Shares of requests, by a hash of the prompt."""
    fail_times: int = 10**9
    """How often a request that fails does so."""
    size: tuple[int, int] | None = None
    """Width and height of what it gives, whatever was asked for."""
    garbage: str = ""
    """What it sends instead of a picture."""


@dataclass
class Got:
    """A request that came in."""

    path: str
    form: dict[str, str] = field(default_factory=dict)
    images: list[bytes] = field(default_factory=list)
    mask: bytes | None = None
    body: Any = None
    authorization: str = ""


class EditService(LoopbackService):
    """The server; `with` starts and ends it."""

    def __init__(
        self, behaviour: Behaviour | None = None, answer: Callable[[str], str] | None = None
    ) -> None:
        super().__init__()
        self.behaviour = behaviour or Behaviour()
        self.answer = answer
        """What a chat model of the same server says to the last words of a conversation."""
        self.asked: list[str] = []
        self.got: list[Got] = []
        self.failures: dict[str, int] = {}

    @property
    def url(self) -> str:
        """Of OpenAI's interface."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def gemini_url(self) -> str:
        """Of Gemini's."""
        return f"http://127.0.0.1:{self.port}/v1beta"

    def routes(self) -> Iterator[tuple[str, str, Any]]:
        """What it serves."""
        yield "POST", "/v1/images/edits", self._edits
        yield "POST", "/v1/chat/completions", self._chat
        yield "POST", "/{version}/models/{model:[^/:]+}:generateContent", self._gemini

    async def _chat(self, request: Any) -> Any:
        from aiohttp import web

        last = json.loads(await request.read())["messages"][-1]["content"]
        words = last if isinstance(last, str) else last[-1]["text"]
        self.asked.append(words)
        assert self.answer is not None
        message = {"role": "assistant", "content": self.answer(words)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return web.json_response({"choices": [choice], "usage": usage})

    async def _edits(self, request: Any) -> Any:
        got = Got(request.path, authorization=request.headers.get("Authorization", ""))
        self.got.append(got)
        if got.authorization != f"Bearer {KEY}":
            return _error(f"Incorrect API key provided: {got.authorization}", 401)
        if request.content_type != "multipart/form-data":
            return _error("Content-Type must be multipart/form-data", 400)
        async for part in await request.multipart():
            content = bytes(await part.read(decode=False))
            if part.name in ("image", "image[]"):
                got.images.append(content)
            elif part.name == "mask":
                got.mask = content
            else:
                got.form[part.name] = content.decode()
        problem = _wrong(got)
        if problem:
            return _error(problem, 400)
        return self._answer(got.form["prompt"], self._edited(got), got)

    def _edited(self, got: Got) -> Image.Image:
        image = _opened(got.images[0]).convert("RGB")
        size = got.form.get("size", "auto")
        if size != "auto":
            width, height = map(int, size.split("x"))
            image = image.resize((width, height), Image.Resampling.LANCZOS)
        if got.mask is not None:
            alpha = _opened(got.mask).getchannel("A")
            alpha = alpha.resize(image.size, Image.Resampling.NEAREST)
            pixels = np.array(image)
            pixels[np.array(alpha) == 0] = RED
            image = Image.fromarray(pixels)
        return self._spoilt(image)

    def _spoilt(self, image: Image.Image) -> Image.Image:
        how = self.behaviour
        pixels = np.roll(np.array(image), how.shift_px, axis=(0, 1))
        pixels = np.clip(pixels * how.gain, 0, 255).astype(np.uint8)
        image = Image.fromarray(pixels)
        return image if how.size is None else image.resize(how.size)

    def _answer(self, prompt: str, image: Image.Image, got: Got) -> Any:
        from aiohttp import web

        fault = self._fault(prompt)
        if fault is not None:
            return fault
        encoded = self.behaviour.garbage or _encoded(image, got.form.get("output_format", "png"))
        count = int(got.form.get("n", "1"))
        usage = {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30,
                 "input_tokens_details": {"image_tokens": 8, "text_tokens": 2}}  # fmt: skip
        return web.json_response(
            {"created": 1, "data": [{"b64_json": encoded}] * count, "usage": usage}
        )

    def _fault(self, prompt: str) -> Any:
        how = self.behaviour
        draw = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16) / 2**32
        if draw < how.refuse:
            return _error("Your request was rejected by the safety system.", 400,
                          code="moderation_blocked")  # fmt: skip
        if draw < how.refuse + how.fail:
            self.failures[prompt] = self.failures.get(prompt, 0) + 1
            if self.failures[prompt] <= how.fail_times:
                return _error("The server had an error", 500)
        return None

    async def _gemini(self, request: Any) -> Any:
        from aiohttp import web

        body = json.loads(await request.read())
        got = Got(request.path, body=body, authorization=request.headers.get("x-goog-api-key", ""))
        self.got.append(got)
        if got.authorization != KEY:
            return _error("API key not valid. API_KEY_INVALID", 400)
        problem = _wrong_for_gemini(body)
        if problem:
            return _error(problem, 400)
        parts = body["contents"][-1]["parts"]
        blobs = [part.get("inlineData") or part.get("inline_data") for part in parts]
        got.images = [_unbase64(blob["data"]) for blob in blobs if blob]
        words = " ".join(part["text"] for part in parts if "text" in part)
        fault = self._fault(words)
        if fault is not None:
            return fault if fault.status == 500 else web.json_response(_blocked())
        image = self._spoilt(_opened(got.images[0]).convert("RGB").resize((1024, 1024)))
        data = self.behaviour.garbage or _encoded(image, "png")
        content = {"role": "model", "parts": [{"text": "Here it is."},
                   {"inlineData": {"mimeType": "image/png", "data": data}}]}  # fmt: skip
        usage = {"promptTokenCount": 3, "candidatesTokenCount": 1290}
        return web.json_response(
            {"candidates": [{"finishReason": "STOP", "content": content}], "usageMetadata": usage}
        )


def _blocked() -> dict[str, Any]:
    return {"candidates": [{"finishReason": "IMAGE_SAFETY"}], "usageMetadata": {}}


def _error(message: str, status: int, code: str | None = "invalid_value") -> Any:
    from aiohttp import web

    kind = "invalid_request_error" if status < 500 else "server_error"
    body = {"error": {"message": message, "type": kind, "code": code, "param": None}}
    return web.json_response(body, status=status)


def _wrong(got: Got) -> str:
    """What the documentation does not allow."""
    form = got.form
    strange = {*form} - FIELDS
    if strange:
        return f"Unknown parameter: '{sorted(strange)[0]}'."
    if not got.images or not form.get("prompt") or not form.get("model"):
        return "image, prompt and model are required"
    if len(got.images) > 16 or any(len(each) >= IMAGE_BYTES for each in got.images):
        return "too many or too large images"
    if not form.get("n", "1").isdigit() or not 1 <= int(form.get("n", "1")) <= 10:
        return "n must be from 1 to 10"
    if "response_format" in form:
        return "Unknown parameter: 'response_format'."
    return _wrong_size(form) or _wrong_fidelity(form) or _wrong_mask(got)


def _wrong_size(form: dict[str, str]) -> str:
    size = form.get("size", "auto")
    if form["model"] in OLD:
        return "" if size in OLD_SIZES else f"Invalid size '{size}'."
    if size == "auto":
        return ""
    width, _, height = size.partition("x")
    if not width.isdigit() or not height.isdigit():
        return f"Invalid size '{size}'."
    w, h = int(width), int(height)
    fits = not w % 16 and not h % 16 and 1 / 3 <= w / h <= 3 and w * h <= 3840 * 2160
    return "" if fits else f"Invalid size '{size}'."


def _wrong_fidelity(form: dict[str, str]) -> str:
    allowed = {"gpt-image-1.5": ("low", "high"), "gpt-image-1-mini": ("low",)}
    given = form.get("input_fidelity")
    fits = given is None or given in allowed.get(form["model"], ())
    return "" if fits else "The parameter 'input_fidelity' is not supported with this model."


def _wrong_mask(got: Got) -> str:
    if got.mask is None:
        return ""
    if len(got.mask) >= MASK_BYTES or not got.mask.startswith(b"\x89PNG"):
        return "mask must be a PNG of less than 4 MB"
    mask = _opened(got.mask)
    if mask.mode not in ("RGBA", "LA"):
        return "mask must have an alpha channel"
    return "" if mask.size == _opened(got.images[0]).size else "mask and image differ in size"


def _wrong_for_gemini(body: dict[str, Any]) -> str:
    strange = {*body} - {"contents", "generationConfig", "systemInstruction", "safetySettings"}
    if strange:
        return f"Invalid JSON payload received. Unknown name '{sorted(strange)[0]}'"
    wanted = body.get("generationConfig", {})
    strange = {*wanted} - {"responseModalities", "imageConfig", "temperature", "maxOutputTokens",
                           "seed", "candidateCount"}  # fmt: skip
    if strange:
        return f"Invalid JSON payload received. Unknown name '{sorted(strange)[0]}'"
    if "IMAGE" not in wanted.get("responseModalities", []):
        return "no picture is asked for"
    config = wanted.get("imageConfig", {})
    ratio = config.get("aspectRatio", "1:1")
    if ratio not in ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"):
        return f"Invalid aspect ratio {ratio}"
    parts = body["contents"][-1]["parts"]
    has_picture = any("inlineData" in part or "inline_data" in part for part in parts)
    return "" if has_picture else "no picture is given"


def _opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def _unbase64(data: str) -> bytes:
    plain = data.replace("-", "+").replace("_", "/")  # the SDK sends the URL-safe alphabet
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


def _encoded(image: Image.Image, form: str) -> str:
    content = io.BytesIO()
    image.save(content, form)
    return base64.b64encode(content.getvalue()).decode()
