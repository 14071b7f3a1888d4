"""A phrases file to begin an audit with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from groundfault.api.building import chat_model, nobody
from groundfault.api.grading import is_local
from groundfault.api.options import EvaluateOptions, Options
from groundfault.building.auditing.starter import conversation_for, from_chat, from_coco, from_table
from groundfault.errors import UsageError
from groundfault.io.phrases import Phrases, phrases_toml
from groundfault.io.picture_folder import names_below
from groundfault.io.store import write_bytes
from groundfault.llm.pictures import PictureCache

if TYPE_CHECKING:
    from groundfault.records import Picture

__all__ = ["propose_phrases"]

AnyPath = str | PathLike[str]
SHOWN = 4
"""Photographs that a chat model is shown."""


def propose_phrases(
    out: AnyPath | None = None,
    *,
    things: Sequence[str] = (),
    images: AnyPath | None = None,
    from_coco_file: AnyPath | None = None,
    by: str = "",
    agree: Callable[[str, bool], None] = nobody,
    **options: Unpack[EvaluateOptions],
) -> Phrases:
    """Propose phrases and their relations: of `things`, or of common ones, from a table of
    look-alikes; from COCO annotations of the photographs in `images`; or `by` a chat model, which
    is shown a few of them. `out` is the TOML file to write; read it before you use it."""
    if from_coco_file is not None and by:
        raise UsageError("--from-coco and --by are two ways to propose; give one of them")
    if out is not None and Path(out).exists():
        raise UsageError(f"{out}: is there already; give another name, or take it away")
    if by:
        found, how = _by_chat(by, things, images, Options.of(options), agree), f"by {by}"
    elif from_coco_file is not None:
        names = names_below(images) if images is not None else []
        found = from_coco(from_coco_file, names, things)
        how = f"from {Path(from_coco_file).name}"
    else:
        found, how = from_table(things), "from a table of look-alikes"
    if out is not None:
        heading = (
            f"Proposed {how}: a beginning. Strike out what is not so of your pictures,\n"
            "and add what you know."
        )
        write_bytes(Path(out), phrases_toml(found, heading=heading).encode())
    return found


def _by_chat(
    spec: str,
    things: Sequence[str],
    images: AnyPath | None,
    options: Options,
    agree: Callable[[str, bool], None],
) -> Phrases:
    pictures = _pictures(images) if images is not None else []
    agree(f"Ask {spec} for phrases, with {len(pictures)} pictures?", is_local(options.base_url))
    client = chat_model(spec, options.with_shared_budget())
    return from_chat(lambda asked: client.complete([asked])[0], conversation_for(things, pictures))


def _pictures(images: AnyPath) -> list[Picture]:
    """A few photographs, evenly spread by name."""
    names = names_below(images)
    cache = PictureCache()
    return [cache.load(Path(images, name)) for name in names[:: -(-len(names) // SHOWN)]]
