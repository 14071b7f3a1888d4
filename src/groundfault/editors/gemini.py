"""Gemini's image models through `generateContent`: gemini:NAME, key in GEMINI_API_KEY.

Gemini takes no mask: the words say what changes, as in CAFE. With the setting `region = "mask"` it
is shown a second picture, white where the first may change, and told so; it need not heed it.
Settings besides: `aspect_ratio` ("1:1", "3:2" …; by default the nearest to the picture's) and
`image_size` (1K, 2K, 4K).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from groundfault.editors.loading import take_settings
from groundfault.editors.services import (
    EditServer,
    ServiceEditor,
    grey_mask,
    photograph,
    picture_reply,
    png_size,
)
from groundfault.errors import UsageError
from groundfault.interfaces import Canvas, ModelOptions
from groundfault.io.foreign import decode_json
from groundfault.llm.gemini import FILTERS, GeminiServer, decode_response
from groundfault.llm.gemini import gemini as chat_server
from groundfault.llm.server import (
    LONGEST_MESSAGE,
    REFUSED,
    ChatOptions,
    Tool,
    Unsound,
    count,
    usage_numbers,
)
from groundfault.records import Conversation, Message, Outcome, Picture, Reply

if TYPE_CHECKING:
    from groundfault.editors.loading import EditorOptions
    from groundfault.interfaces import BinaryMask, Image

__all__ = ["GeminiEditServer", "load", "nearest_ratio"]

VERSION = "1"
SIZES_PX = {
    "1:1": (1024, 1024),
    "2:3": (1248, 832),
    "3:2": (832, 1248),
    "3:4": (1184, 864),
    "4:3": (864, 1184),
    "4:5": (1152, 896),
    "5:4": (896, 1152),
    "9:16": (1344, 768),
    "16:9": (768, 1344),
    "21:9": (672, 1536),
}
"""Aspect ratio, width to height, → (height, width) of its replies at 1K."""
RATIOS = tuple(SIZES_PX)
MASK_WORDS = (
    " Change only what is white in the second picture; it is a mask, not part of the scene."
)
SETTINGS: dict[str, tuple[str, ...] | type] = {
    "region": ("words", "mask"),
    "aspect_ratio": RATIOS,
    "image_size": ("1K", "2K", "4K"),
}
NO_PICTURE = FILTERS | {"NO_IMAGE", "IMAGE_PROHIBITED_CONTENT", "IMAGE_OTHER", "IMAGE_RECITATION"}
"""Reasons to end without a picture."""


def nearest_ratio(width_px: int, height_px: int) -> str:
    """The aspect ratio of Gemini's that is nearest to a picture's.

    >>> nearest_ratio(640, 480), nearest_ratio(500, 500), nearest_ratio(1000, 628)
    ('4:3', '1:1', '3:2')
    """
    from math import log

    def distance(ratio: str) -> float:
        across, down = map(int, ratio.split(":"))
        return abs(log(across / down) - log(width_px / height_px))

    return min(RATIOS, key=distance)


class _Load:
    """Makes editors; nothing is asked yet."""

    def __call__(self, argument: str, options: EditorOptions) -> ServiceEditor:
        """The editor that `gemini:NAME` stands for."""
        if not argument:
            raise UsageError("gemini: name the model, as in gemini:gemini-3.1-flash-image")
        settings = take_settings(f"gemini:{argument}", options, SETTINGS)
        with_mask = settings.pop("region", "words") == "mask"
        inner = chat_server(argument, ChatOptions(base_url=options.base_url, max_tokens=0,
                                                  temperature=None))  # fmt: skip
        server = GeminiEditServer(inner, {k: str(v) for k, v in settings.items()}, options.price)

        def shown(image: Image, region: BinaryMask) -> tuple[Picture, ...]:
            pictures = (photograph(image),)
            return (*pictures, grey_mask(region)) if with_mask else pictures

        return ServiceEditor(
            server, options, canvas=Canvas(sizes_px=tuple(SIZES_PX.values())), shown=shown
        )

    def identity(self, argument: str, options: ModelOptions) -> Mapping[str, str]:
        """The version of the requests, and where they go."""
        return {"adapter": f"gemini {VERSION}", "base url": options.base_url}


load = _Load()


class GeminiEditServer(EditServer[GeminiServer]):
    """A Gemini model that gives pictures."""

    def body(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> bytes:
        """The picture and the words, with what kind of reply is wanted."""
        message = conversation[-1]
        words = message.text + (MASK_WORDS if len(message.pictures) > 1 else "")
        told = (Message("user", (*message.pictures, words)),)
        request = decode_json(self.inner.body(told), dict[str, msgspec.Raw])
        ratio = self.settings.get("aspect_ratio") or _ratio_of(message.pictures[0])
        image = {"aspectRatio": ratio} if ratio else {}
        if "image_size" in self.settings:
            image["imageSize"] = self.settings["image_size"]
        wanted = {"responseModalities": ["IMAGE"], "imageConfig": image}
        return msgspec.json.encode({**request, "generationConfig": wanted})

    def parse(self, body: bytes) -> Reply:
        """The first picture of a response; words without a picture, or a filter, are a refusal."""
        response = decode_response(body)
        tokens = usage_numbers(response.usage_metadata, "promptTokenCount", "candidatesTokenCount")
        tokens_in, tokens_out = map(count, tokens)
        blocked = response.prompt_feedback.block_reason if response.prompt_feedback else ""
        candidate = response.candidates[0] if response.candidates else None
        parts = candidate.content.parts if candidate and candidate.content else []
        data = next((part.inline_data.data for part in parts if part.inline_data), "")
        if data:
            return picture_reply(data, tokens_in=tokens_in, tokens_out=tokens_out, cost=self.price)
        words = " ".join("".join(part.text for part in parts).split())[:LONGEST_MESSAGE]
        ended = blocked or (candidate.finish_reason if candidate else "")
        if not blocked and ended not in NO_PICTURE and not words:
            raise Unsound(f"the response holds no picture (finish reason {ended or 'none'})")
        reason = f"gave words instead of a picture: {words}" if words else f"filtered: {ended}"
        return Reply(
            outcome=Outcome.UNPARSED,
            reason=f"{REFUSED}: {reason}",
            finish=ended.lower(),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )


def _ratio_of(picture: Picture) -> str:
    width_px, height_px = png_size(picture)
    return nearest_ratio(width_px, height_px) if width_px else ""
