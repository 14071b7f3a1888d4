"""Parameters of a request that a server does not take.

Models differ: some refuse a temperature, some want `max_completion_tokens` for `max_tokens`. Which
ones is learnt from their refusals, instead of from a list that would be out of date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

__all__ = ["changed", "further_change", "named_parameters"]

OPTIONAL = (
    "temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "seed",
    "frequency_penalty", "presence_penalty",
)  # fmt: skip
"""What a request may go without and still ask the same; a refusal of anything else stands."""
TWINS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Two names of one thing: where one is refused, the other is tried before it is left out."""
_NAME = re.compile(rf"(?<![\w.-])({'|'.join(sorted(OPTIONAL, key=len, reverse=True))})(?![\w-])")
_OUT_OF_RANGE = re.compile(
    r"too (?:large|long|high|low|small|many)|context length|at (?:most|least)|(?:less|greater) than"
    r"|between|range|exceed|minimum|maximum",
    re.IGNORECASE,
)
"""A value that is wrong, not a parameter that is not taken: without it something else was asked."""


def named_parameters(message: str, parameter: str = "") -> tuple[str, ...]:
    """The optional parameters that an error complains of; `parameter` is the one that the error
    itself names, if it does.

    >>> named_parameters("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.")
    ('max_tokens', 'max_completion_tokens')
    >>> named_parameters("temperature must be between 0 and 2"), named_parameters("bad image")
    ((), ())
    """
    if _OUT_OF_RANGE.search(message):
        return ()
    found = [parameter] if parameter in OPTIONAL else []
    return tuple(dict.fromkeys([*found, *_NAME.findall(message)]))


def changed(body: bytes, changes: Mapping[str, str]) -> bytes:
    """A request with parameters under other names, or without them where that is "".

    >>> changed(b'{"model":"m","max_tokens":9,"seed":1}', {"max_tokens": "limit", "seed": ""})
    b'{"model":"m","limit":9}'
    """
    if not changes:
        return body
    fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    renamed = {changes.get(name, name): value for name, value in fields.items()}
    renamed.pop("", None)
    return msgspec.json.encode(renamed)


def further_change(
    body: bytes, changes: Mapping[str, str], refused: Sequence[str]
) -> dict[str, str] | None:
    """What to change of a request besides, after it was refused with these changes; None if
    nothing that it has was refused.

    >>> body = b'{"messages":[],"max_tokens":9}'
    >>> once = further_change(body, {}, ["max_tokens"])
    >>> once, further_change(body, once, ["max_completion_tokens"])
    ({'max_tokens': 'max_completion_tokens'}, {'max_tokens': ''})
    >>> further_change(body, {}, ["temperature"])
    >>> further_change(b"--form-data", {}, [])
    """
    if not refused:  # bodies with files are no JSON
        return None
    wanted = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    sent = {changes.get(name, name): name for name in wanted}
    for name in refused:
        if name and name in sent:
            first = sent[name] == name and TWINS.get(name, "") not in sent
            return {**changes, sent[name]: TWINS.get(name, "") if first else ""}
    return None
