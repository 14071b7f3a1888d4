"""Questions about pictures that are answered in words, as LLaVA was trained with (Liu et al. 2023):
a JSON list of {image, conversations: [{from: human | gpt, value}, …]}.

They keep a model talking while it learns to draw. Each question with its answer is a sample of its
own; LISA shows the whole conversation at once.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from groundfault.errors import DataError, UsageError
from groundfault.io.foreign import stream_json_list, within
from groundfault.models.segvlm.prompts import SEG
from groundfault.training.segvlm.recipe import DataSet
from groundfault.training.segvlm.samples import Sample

__all__ = ["read_vqa"]

EXPECTED = "a JSON list of {id, image, conversations: [{from, value}, …]}, as LLaVA has it"
PICTURE = "<image>"
_INPUTS = {"annotations", "images"}


class _Turn(msgspec.Struct):
    said_by: str = msgspec.field(name="from")
    value: str = ""


class _Conversation(msgspec.Struct):
    conversations: list[_Turn]
    id: str | int = ""
    image: str = ""


def read_vqa(data: DataSet) -> list[tuple[Sample, ...]]:
    """The questions about each picture; conversations without a picture are left out."""
    if set(data.inputs) != _INPUTS:
        raise UsageError(f"data '{data.name}': vqa needs inputs annotations and images")
    path, images = str(data.inputs["annotations"]), Path(str(data.inputs["images"]))
    found: list[tuple[Sample, ...]] = []
    for first, batch in stream_json_list(path, _Conversation, expected=EXPECTED):
        for number, one in enumerate(batch, start=first):
            if data.limit and len(found) == data.limit:
                return found
            group = _samples(data, path, images, number, one) if one.image else ()
            if group:
                found.append(group)
    return found


def _samples(
    data: DataSet, path: str, images: Path, number: int, one: _Conversation
) -> tuple[Sample, ...]:
    record = f"record {number}"
    picture = within(images, one.image, file=path, record=record)
    if not picture.is_file():
        raise DataError(
            path,
            f"its picture {one.image} is not in {images}",
            record=record,
            remedy="give the folder that its pictures are in as inputs.images",
        )
    pairs = []
    for asked, answered in zip(one.conversations[::2], one.conversations[1::2], strict=False):
        if (asked.said_by, answered.said_by) != ("human", "gpt"):
            raise DataError(
                path,
                f"a turn of {asked.said_by} is followed by one of {answered.said_by}",
                record=record,
                remedy=f"give {EXPECTED}; turns of human and gpt alternate",
            )
        pairs.append((_plain(asked.value), _plain(answered.value)))
    return tuple(
        Sample(
            id=f"{data.name}/{one.id or number}:{place}",
            image=str(picture),
            query=question,
            kind="vqa",
            answer=answer,
            case_id=str(one.id or number),
        )
        for place, (question, answer) in enumerate(pairs)
        if question and answer
    )


def _plain(text: str) -> str:
    """Words alone: where the picture goes is the chat template's business, and only a mask is
    called [SEG]."""
    return text.replace(PICTURE, "").replace(SEG, "").strip()
