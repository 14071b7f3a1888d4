"""How an agent works: what a spec or a recipe may say about it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

__all__ = ["CHANGE_NO_ANSWER", "Settings", "Style"]

Style = Literal["paper", "published"]

CHANGE_NO_ANSWER = ("budget", "price", "concurrency", "fresh")
"""Settings that a run's name leaves out."""


Unset = Literal["none"] | None


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The defaults are the CAFE paper's agent."""

    style: Style = "paper"
    """`paper`: the rules of the paper, which the code enforces. `published`: the loop that the
    authors published, whose rules are in the prompt; docs/agent.md lists what differs."""
    prompt: str = ""
    """A file with the system prompt, in place of ours."""

    turns: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10
    """Replies until the episode ends by itself."""
    examine: bool = True
    """False takes `examine_masks` away, and with it the duty to use it."""
    rules: bool = True
    """False lets the model decide unasked: before it segments, without a look, a phrase twice."""
    t: Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)] = 0.5
    """Masks of a lower score are not shown."""
    calls: Literal["text", "native"] = "text"
    """Tool calls inside the reply's words, or as the server's own."""
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1024)] = 32
    """Conversations under way."""
    batch: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    """Of them, so many at once for a model in this process."""
    budget: str = ""
    """Where asking stops: money, as in "5", or "2M tokens"."""
    price: str = ""
    """IN/OUT in money per million tokens."""
    fresh: bool = False
    """Ask again what was paid for before."""
    base_url: str = ""
    """Where the model's server is, if not at its usual place."""
    temperature: Annotated[float, msgspec.Meta(ge=0, le=10)] | Unset = None
    """None ("none" in a recipe) sends none: it is the server's own."""
    max_tokens: Annotated[int, msgspec.Meta(ge=16)] | Unset = None
    """Of one reply, its reasoning included; None ("none") sends no limit."""

    def __post_init__(self) -> None:
        for name in ("temperature", "max_tokens"):
            if getattr(self, name) == "none":
                msgspec.structs.force_setattr(self, name, None)

    def identity(self) -> dict[str, str]:
        """What answers depend on, besides the prompt."""
        named = (
            "style", "turns", "examine", "rules", "t", "calls", "temperature", "max_tokens",
            "base_url",
        )  # fmt: skip
        return {f"agent {name}": str(getattr(self, name)) for name in named}
