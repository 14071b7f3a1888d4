"""Editors behind HTTP: pictures go out and come back through the chat client, so that retries,
budgets, the response store and keys are dealt with in one place.

A request is a conversation of one turn, the picture, what marks its region, and the words; a reply
holds the edited picture's file in base64 as its text.
"""

from __future__ import annotations

from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from groundfault.interfaces import Canvas, NotEdited
from groundfault.io.pictures import open_picture
from groundfault.llm.client import ChatClient
from groundfault.llm.cost import CostEstimate, CostTracker
from groundfault.llm.event_loop import EventLoopThread
from groundfault.llm.pictures import make_picture
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import REFUSED, Refused, Server, Trouble, Unsound, refusal
from groundfault.records import Message, Outcome, Picture, Reply

if TYPE_CHECKING:
    from groundfault.editors.loading import EditorOptions
    from groundfault.interfaces import BinaryMask, Image

__all__ = [
    "EditServer",
    "ServiceEditor",
    "alpha_mask",
    "grey_mask",
    "outcome_of",
    "photograph",
    "picture_reply",
    "png",
    "png_size",
]

LARGEST_RESPONSE = 96 << 20
"""A picture of 3840x2160 without loss, in base64."""
LONGEST_REASON = 300

Shown = Callable[["Image", "BinaryMask"], tuple[Picture, ...]]


S = TypeVar("S", bound=Server)


class EditServer(Generic[S]):
    """A chat server whose model gives pictures, as the chat client sees it: what the protocols of
    editing services share. Keys, addresses and errors are the chat server's."""

    free = False
    takes_tools = False
    largest_response = LARGEST_RESPONSE

    def __init__(self, inner: S, settings: Mapping[str, str], price: float | None = None) -> None:
        self.inner, self.settings, self.price = inner, dict(settings), price
        self.url = inner.url

    def headers(self) -> Mapping[str, str]:
        """The key."""
        return self.inner.headers()

    def secrets(self) -> Sequence[str]:
        """The key."""
        return self.inner.secrets()

    def problem(self, status: int, body: bytes) -> Refused | Trouble:
        """As the chat protocol has it. No parameter is tried without: it would be another edit."""
        found = self.inner.problem(status, body)
        if isinstance(found, Refused):
            return Refused(str(found), everything=found.everything)
        return found


class ServiceEditor:
    """An editor that asks a server. `edit` may be called by several threads at once."""

    def __init__(
        self,
        server: Server,
        options: EditorOptions,
        *,
        canvas: Canvas,
        shown: Shown,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.canvas, self.shown = canvas, shown
        self.price, self.requests_at_once = options.price, max(1, options.concurrency)
        self.client = ChatClient(
            server,
            responses=options.responses or None,
            fresh=options.fresh,
            concurrency=self.requests_at_once,
            retry=retry or RetryPolicy(timeout_s=options.timeout_s),
            cost=CostTracker(options.budget),
        )
        self._loop = EventLoopThread()

    def edit(self, image: Image, region: BinaryMask, instruction: str) -> Image | NotEdited:
        """The picture that the server gave, in the size in which it gave it."""
        words = " ".join(instruction.split())
        conversation = (Message("user", (*self.shown(image, region), words)),)
        reply = self._loop.run(self.client.reply(conversation))
        return outcome_of(reply, image.shape[:2])

    @property
    def stopped_because(self) -> str:
        """Why nothing is asked any more: the budget, the server, the key; "" while all is well."""
        return self.client.stopped

    def estimate(self, n_edits: int) -> CostEstimate:
        """What so many edits cost, none of which was paid for before."""
        cost = None if self.price is None else self.price * n_edits
        return CostEstimate(
            requests=n_edits,
            stored=0,
            tokens_in=0,
            tokens_out=0,
            tokens_out_most=0,
            cost=cost,
            cost_most=cost,
        )

    def close(self) -> None:
        """Close connections; what was paid for is written."""
        self._loop.run(self.client.aclose())
        self._loop.close()
        self._loop = EventLoopThread()


def outcome_of(reply: Reply, size_px: tuple[int, int]) -> Image | NotEdited:
    """The picture of a reply, or why there is none. One that is far larger than what was sent,
    (height, width), is not decoded."""
    if refusal(reply):
        reason = refusal(reply).removeprefix(f"{REFUSED}: ")
        return NotEdited(outcome="refused", reason=reason[:LONGEST_REASON])
    if reply.outcome is not Outcome.OK:
        return NotEdited(outcome="failed", reason=reply.reason[:LONGEST_REASON] or "no reply")
    try:
        return np.array(open_picture(BytesIO(a2b_base64(reply.text)), size_px=size_px))
    except (OSError, ValueError, SyntaxError, NotBase64) as problem:
        return NotEdited(outcome="failed", reason=f"the reply is no picture ({problem})")


def picture_reply(
    encoded: str, *, tokens_in: int | None, tokens_out: int | None, cost: float | None
) -> Reply:
    """A reply that holds a picture, which is decoded once to be sure of it; raises Unsound, upon
    which the server is asked again."""
    try:
        plain = encoded.replace("-", "+").replace("_", "/")
        content = a2b_base64(plain + "=" * (-len(plain) % 4))
        open_picture(BytesIO(content)).load()
    except (OSError, ValueError, SyntaxError, NotBase64) as problem:
        raise Unsound(f"the response holds no readable picture ({problem})") from None
    return Reply(
        outcome=Outcome.OK,
        text=b2a_base64(content, newline=False).decode("ascii"),
        finish="stop",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost,
    )


def png(pixels: object) -> bytes:
    """A picture's pixels as a PNG file, without anything else in it."""
    from PIL import Image

    content = BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(content, "PNG")
    return content.getvalue()


def png_size(picture: Picture) -> tuple[int, int]:
    """Width and height from a PNG's head; zeros where its hash stands for a picture."""
    head = picture.content[:24]
    if head[12:16] != b"IHDR":
        return 0, 0
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def photograph(image: Image) -> Picture:
    """A photograph as requests carry it, without loss."""
    return make_picture("image/png", png(image))


def alpha_mask(region: BinaryMask) -> Picture:
    """A region as OpenAI takes it: transparent where the picture may change."""
    pixels = np.zeros((*region.shape, 4), np.uint8)
    pixels[..., 3] = np.where(region, 0, 255)
    return make_picture("image/png", png(pixels))


def grey_mask(region: BinaryMask) -> Picture:
    """A region as most others take it: white where the picture may change."""
    return make_picture("image/png", png(np.where(region, 255, 0).astype(np.uint8)))
