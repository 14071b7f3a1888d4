"""OpenAI's image editing, and every server that speaks `POST /v1/images/edits`: openai:NAME.

The key is in OPENAI_API_KEY, the address in OPENAI_BASE_URL or --base-url. A request is a form with
files; the mask is a PNG of the picture's size, transparent where it may change. Settings:

    quality         low, medium, high, auto
    output_format   png (default), jpeg, webp
    input_fidelity  low, high; taken by gpt-image-1.5 and, low alone, by gpt-image-1-mini
    background      opaque, auto
    mask            false leaves the mask out: the words alone say what changes
    moderation      auto, low

What a service draws outside of the mask is not kept: the pipeline pastes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from groundfault.editors.loading import take_settings
from groundfault.editors.services import (
    EditServer,
    ServiceEditor,
    alpha_mask,
    photograph,
    picture_reply,
    png_size,
)
from groundfault.errors import UsageError
from groundfault.interfaces import Canvas, ModelOptions
from groundfault.io.foreign import decode_json
from groundfault.llm.openai_chat import OpenAIServer, below
from groundfault.llm.openai_chat import openai as chat_server
from groundfault.llm.server import (
    ChatOptions,
    Tool,
    Unsound,
    count,
    usage_numbers,
)
from groundfault.records import Conversation, Picture, Reply

if TYPE_CHECKING:
    from groundfault.editors.loading import EditorOptions
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["ImagesEditServer", "form_data", "load"]

VERSION = "1"
BOUNDARY = "groundfault-6f0c1d5a9e2b47c38d41b7f2e05a93cc"
"""Between the parts of a form. Files are PNGs that we wrote; words with it are refused."""
FIXED_SIZES = ((1024, 1024), (1024, 1536), (1536, 1024))
"""(height, width) that models before gpt-image-2 take."""
OLD_MODELS = ("gpt-image-1", "gpt-image-1-mini", "gpt-image-1.5")
SETTINGS: dict[str, tuple[str, ...] | type] = {
    "quality": ("low", "medium", "high", "auto"),
    "output_format": ("png", "jpeg", "webp"),
    "input_fidelity": ("low", "high"),
    "background": ("opaque", "auto"),
    "moderation": ("auto", "low"),
    "mask": bool,
}


def canvas_of(model: str) -> Canvas:
    """The sizes that a model takes; an unknown one is taken for a new one.

    >>> canvas_of("gpt-image-1.5").sizes_px[0], canvas_of("gpt-image-2").multiple_px
    ((1024, 1024), 16)
    """
    if model in OLD_MODELS:
        return Canvas(sizes_px=FIXED_SIZES)
    return Canvas(
        multiple_px=16, shortest_px=256, longest_px=3840, most_px=3840 * 2160, longest_ratio=3.0
    )


class _Load:
    """Makes editors; nothing is asked yet."""

    def __call__(self, argument: str, options: EditorOptions) -> ServiceEditor:
        """The editor that `openai:NAME` stands for."""
        if not argument:
            raise UsageError("openai: name the model, as in openai:gpt-image-2")
        settings = take_settings(f"openai:{argument}", options, SETTINGS)
        with_mask = settings.pop("mask", True)
        inner = chat_server(argument, ChatOptions(base_url=options.base_url))
        server = ImagesEditServer(inner, {k: str(v) for k, v in settings.items()}, options.price)

        def shown(image: Image, region: BinaryMask) -> tuple[Picture, ...]:
            pictures = (photograph(image),)
            return (*pictures, alpha_mask(region)) if with_mask else pictures

        return ServiceEditor(server, options, canvas=canvas_of(argument), shown=shown)

    def identity(self, argument: str, options: ModelOptions) -> Mapping[str, str]:
        """The version of the requests, and where they go."""
        return {"adapter": f"openai {VERSION}", "base url": options.base_url}


load = _Load()


class ImagesEditServer(EditServer[OpenAIServer]):
    """A server's images/edits: of a message, the first picture is edited, the second is the mask,
    and the words are the prompt."""

    def __init__(
        self, inner: OpenAIServer, settings: Mapping[str, str], price: float | None = None
    ) -> None:
        super().__init__(inner, settings, price)
        self.model = inner.model
        self.url = below(inner.base_url, "images/edits")

    def headers(self) -> Mapping[str, str]:
        """The key, and how the body is divided."""
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return {**super().headers(), "Content-Type": kind}

    def body(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> bytes:
        """The form of a request."""
        message = conversation[-1]
        image, *masks = message.pictures
        width_px, height_px = png_size(image)
        size = {"size": f"{width_px}x{height_px}"} if width_px else {}
        fields = {"model": self.model, "prompt": message.text, "n": "1", **size, **self.settings}
        files = {"image": image, **({"mask": masks[0]} if masks else {})}
        return form_data(fields, files)

    def parse(self, body: bytes) -> Reply:
        """The first picture of a response."""
        try:
            response = decode_json(body, _Response)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            raise Unsound(f"the response has another schema ({problem})") from None
        if not response.data or not response.data[0].b64_json:
            raise Unsound("the response holds no picture")
        tokens_in, tokens_out = usage_numbers(response.usage, "input_tokens", "output_tokens")
        return picture_reply(
            response.data[0].b64_json,
            tokens_in=count(tokens_in),
            tokens_out=count(tokens_out),
            cost=self.price,
        )


class _Datum(msgspec.Struct):
    b64_json: str = ""


class _Response(msgspec.Struct):
    data: list[_Datum] = []
    usage: msgspec.Raw = msgspec.Raw()


def form_data(
    fields: Mapping[str, str], files: Mapping[str, Picture], *, filename: str = ""
) -> bytes:
    """A form with files, `multipart/form-data`; the same fields always give the same bytes. Files
    are called as their fields are, or `filename`."""
    parts = []
    for name, value in fields.items():
        if BOUNDARY in value:
            raise UsageError("an instruction holds what divides the parts of a request")
        head = f'Content-Disposition: form-data; name="{name}"'
        parts.append(f"--{BOUNDARY}\r\n{head}\r\n\r\n{value}\r\n".encode())
    for name, picture in files.items():
        head = (
            f'Content-Disposition: form-data; name="{name}"; filename="{filename or name}.png"\r\n'
            f"Content-Type: {picture.mime}"
        )
        parts.append(f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + picture.content + b"\r\n")
    return b"".join((*parts, f"--{BOUNDARY}--\r\n".encode()))
