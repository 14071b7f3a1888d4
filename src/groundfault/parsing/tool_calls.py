"""Tool calls in the text of a reply: its reasoning, and exactly one call.

A reply is untrusted text. It becomes one of four typed calls, or a problem to be corrected;
nothing in it is ever a path, a command or markup. Only JSON is read, sizes are bounded, and the
text is walked through once.

    <think>why</think>
    <tool>{"name": "examine_masks", "parameters": {"mask_indices": [1, 3]}}</tool>
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

from groundfault.records import ToolCall

__all__ = [
    "LONGEST_REPLY",
    "TOOLS",
    "Call",
    "ExamineMasks",
    "InvalidCall",
    "ParsedReply",
    "ReportNoMask",
    "SegmentPhrase",
    "SelectMasks",
    "normalise_phrase",
    "parse_published",
    "parse_reply",
    "split_call",
    "write_calls",
]

LONGEST_REPLY = 32_000
"""Characters: five times what 2,048 tokens are."""
LONGEST_PHRASE = 100
MOST_INDICES = 500
LARGEST_INDEX = 9999
"""Far beyond any result, and short enough to be repeated in a correction."""
_FORM = '<tool>{"name": "TOOL", "parameters": {…}}</tool>'

_Index = Annotated[int, msgspec.Meta(ge=-LARGEST_INDEX, le=LARGEST_INDEX)]
_Indices = Annotated[list[_Index], msgspec.Meta(min_length=1, max_length=MOST_INDICES)]


class _Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class SegmentPhrase(_Parameters, frozen=True):
    """Find every instance of a phrase."""

    text_prompt: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PHRASE)]


class ExamineMasks(_Parameters, frozen=True):
    """Look closely at masks of the newest result."""

    mask_indices: _Indices


class SelectMasks(_Parameters, frozen=True):
    """Answer with masks of the newest result."""

    final_answer_masks: _Indices


class ReportNoMask(_Parameters, frozen=True):
    """Answer that the concept is not there."""


Call = SegmentPhrase | ExamineMasks | SelectMasks | ReportNoMask

TOOLS: dict[str, type[Call]] = {
    "segment_phrase": SegmentPhrase,
    "examine_masks": ExamineMasks,
    "select_masks_and_return": SelectMasks,
    "report_no_mask": ReportNoMask,
}


class InvalidCall(NamedTuple):
    """A reply that asks for nothing that there is."""

    problem: str
    """In words that help the model to do better."""


class ParsedReply(NamedTuple):
    """A reply as it was understood."""

    thought: str
    tool: str
    """Its name, where one could be read."""
    call: Call | InvalidCall


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    parameters: dict[str, Any] = {}


def parse_published(text: str, allowed: Collection[str] = tuple(TOOLS)) -> ParsedReply:
    """The first call in a reply as the CAFE authors' loop executes it: what follows it is ignored,
    quotes may be single, further keys and numbers that do not exist do not matter. What makes
    their loop end with an exception (numbers that are words, say) is a problem to be corrected.

    >>> parse_published("<tool>{'name': 'report_no_mask'}</tool><tool>{}</tool> Done.").call
    ReportNoMask()
    >>> parse_published('<tool>{"name": "select_masks_and_return"}</tool>').call
    SelectMasks(final_answer_masks=[])
    """
    before, closed, _ = text.partition("</tool>")
    thoughts, words = _cut_out(before, "<think>", "</think>")
    thought = thoughts[0].strip() if thoughts else words.partition("<tool>")[0].strip()
    _, opened, content = before.partition("<tool>")
    if not (opened and closed):
        return ParsedReply(thought, "", InvalidCall(f"There is no tool call in it: {_FORM}."))
    return ParsedReply(thought, *_parse_published_call(content, allowed))


def _parse_published_call(content: str, allowed: Collection[str]) -> tuple[str, Call | InvalidCall]:
    try:
        found = json.loads(re.sub(r"}\s*}", "}}", content.strip().replace("'", '"')))
        name, parameters = found.get("name", ""), found.get("parameters", {})
        if name not in allowed:
            shown = _printable(str(name))[:40]
            problem = f"There is no tool '{shown}'. The tools are {', '.join(allowed)}."
            return "", InvalidCall(problem)
        if name == "segment_phrase":
            phrase = msgspec.convert(parameters.get("text_prompt", ""), str)
            phrase = phrase.encode("utf-8", "ignore").decode()  # half a surrogate is no character
            call: Call = SegmentPhrase(phrase)
            missing = "" if phrase else "text_prompt"
        elif name == "examine_masks":
            call = ExamineMasks(_numbers(parameters.get("mask_indices", [])))
            missing = "" if call.mask_indices else "mask_indices"
        elif name == "select_masks_and_return":
            call, missing = SelectMasks(_numbers(parameters.get("final_answer_masks", []))), ""
        else:
            call, missing = ReportNoMask(), ""
    except (ValueError, TypeError, AttributeError, RecursionError):
        return "", InvalidCall(f"The tool call cannot be read: {_FORM}.")
    return name, InvalidCall(f"{name} needs {missing}.") if missing else call


def _numbers(given: Any) -> list[int]:
    """Whole numbers, those far beyond any result brought into bounds."""
    found = msgspec.convert(given, list[int])
    if len(found) > MOST_INDICES:
        raise ValueError(f"over {MOST_INDICES} numbers")
    return [max(-LARGEST_INDEX, min(LARGEST_INDEX, number)) for number in found]


def parse_reply(
    text: str, allowed: Collection[str] = tuple(TOOLS), *, native: bool = False
) -> ParsedReply:
    """The one call in a reply; `native` if calls are the server's own and `write_calls` wrote it.

    >>> reply = parse_reply('<think>Look.</think><tool>{"name": "report_no_mask"}</tool>')
    >>> reply.thought, reply.call
    ('Look.', ReportNoMask())
    >>> parse_reply("I am done.").call.problem.partition(".")[0]
    'There is no tool call in it'
    """
    if len(text) > LONGEST_REPLY:
        return ParsedReply("", "", InvalidCall(f"It is longer than {LONGEST_REPLY} characters."))
    thoughts, rest = _cut_out(text, "<think>", "</think>")
    calls, words = _cut_out(rest, "<tool>", "</tool>", open_end=True)
    thought = "\n".join(part.strip() for part in thoughts) or words.strip()
    if not calls:
        remedy = "Call exactly one tool." if native else f"Write one as {_FORM}."
        return ParsedReply(thought, "", InvalidCall(f"There is no tool call in it. {remedy}"))
    if len(calls) > 1:
        problem = f"There are {len(calls)} tool calls in it; exactly one per turn is allowed."
        return ParsedReply(thought, "", InvalidCall(problem))
    return ParsedReply(thought, *_parse_call(calls[0], allowed, native=native))


def _parse_call(
    text: str, allowed: Collection[str], *, native: bool
) -> tuple[str, Call | InvalidCall]:
    try:
        envelope = msgspec.json.decode(_unfenced(text).encode(), type=_Envelope)
    except msgspec.ValidationError as problem:
        wrong = "unsound" if native else f"not of the form {_FORM}"
        return "", InvalidCall(f"The tool call is {wrong}: {_plainly(problem)}.")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as problem:
        remedy = "" if native else f" Write it as {_FORM}."
        return "", InvalidCall(f"The tool call is not valid JSON ({problem}).{remedy}")
    doubled = _doubled_key(_unfenced(text))
    if doubled:
        return "", InvalidCall(
            f"The tool call has '{_printable(doubled)[:40]}' twice; say it once."
        )
    if envelope.name not in allowed:
        name = _printable(envelope.name)[:40]
        return "", InvalidCall(f"There is no tool '{name}'. The tools are {', '.join(allowed)}.")
    try:
        call = msgspec.convert(envelope.parameters, TOOLS[envelope.name])
    except msgspec.ValidationError as problem:
        return envelope.name, InvalidCall(
            f"The parameters of {envelope.name}: {_plainly(problem)}."
        )
    if isinstance(call, SegmentPhrase):
        phrase = _printable(call.text_prompt)
        if not any(map(str.isalnum, phrase)):
            return envelope.name, InvalidCall("The text_prompt holds no word.")
        if len(phrase) > LONGEST_PHRASE:  # some characters are several when written canonically
            return envelope.name, InvalidCall(
                f"The text_prompt is over {LONGEST_PHRASE} characters."
            )
        call = SegmentPhrase(phrase)
    return envelope.name, call


def write_calls(thought: str, calls: Sequence[ToolCall]) -> str:
    """A server's own tool calls in the text form.

    >>> write_calls("Look.", [ToolCall("report_no_mask", "")])
    '<think>Look.</think>\\n<tool>{"name":"report_no_mask","parameters":{}}</tool>'
    """
    parts = [f"<think>{thought}</think>"] if thought.strip() else []
    for call in calls:
        arguments = call.arguments.strip()
        parameters: Any = msgspec.Raw((arguments or "{}").encode("utf-8", "replace"))
        try:
            msgspec.json.decode(parameters)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            parameters = arguments  # is refused where calls are parsed, with the reason
        text = msgspec.json.encode({"name": call.name, "parameters": parameters}).decode()
        escaped = text.replace("<", "\\u003c")  # no tag inside a tag
        parts.append(f"<tool>{escaped}</tool>")
    return "\n".join(parts)


def split_call(text: str) -> tuple[str, ToolCall | None]:
    """The thought and the call of a text that `write_calls` wrote; no call if there are several.

    >>> split_call('<think>Look.</think>\\n<tool>{"name":"report_no_mask","parameters":{}}</tool>')
    ('Look.', ToolCall(name='report_no_mask', arguments='{}'))
    >>> split_call("I am done.")
    ('I am done.', None)
    """
    thought, found, call = text.rpartition("<tool>")
    if not found or text.count("<tool>") != 1:
        return text, None
    try:
        named = msgspec.json.decode(call.partition("</tool>")[0])
        name, parameters = named["name"], named["parameters"]
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError):
        return text, None
    if not isinstance(name, str) or not isinstance(parameters, dict):
        return text, None
    arguments = msgspec.json.encode(parameters).decode()
    thought = thought.strip().removeprefix("<think>").removesuffix("</think>")
    return thought, ToolCall(name, arguments)


def normalise_phrase(phrase: str) -> str:
    """Two phrases that fold to the same are the same phrase.

    >>> normalise_phrase("  Toy\\tTIGER "), normalise_phrase("ｔｏｙ tiger")
    ('toy tiger', 'toy tiger')
    """
    return " ".join(unicodedata.normalize("NFKC", phrase).casefold().split())


def _doubled_key(text: str) -> str:
    """A key that an object of sound JSON has twice; readers differ in which of them they take."""
    doubled: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        known: set[str] = set()
        for key, _ in pairs:
            if key in known:
                doubled.append(key)
            known.add(key)

    try:
        json.loads(text, object_pairs_hook=look, parse_int=str)
    except (ValueError, RecursionError):
        return ""
    return doubled[0] if doubled else ""


def _cut_out(
    text: str, opening: str, closing: str, *, open_end: bool = False
) -> tuple[list[str], str]:
    """What stands between tags, and the rest. With `open_end` the last one may lack its end:
    servers often stop at the closing tag and leave it out."""
    inside, outside, start = [], [], 0
    while (found := text.find(opening, start)) >= 0:
        end = text.find(closing, found)
        if end < 0 and not open_end:
            break
        outside.append(text[start:found])
        inside.append(text[found + len(opening) : end if end >= 0 else None])
        start = end + len(closing) if end >= 0 else len(text)
    return inside, "".join([*outside, text[start:]])


def _unfenced(text: str) -> str:
    """Without the fence of three backticks that many models put around JSON."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and len(text) >= 6:
        return text[3:-3].removeprefix("json").strip()
    return text


def _printable(text: str) -> str:
    """One line, without control and formatting characters."""
    kept = (" " if c.isspace() else c for c in unicodedata.normalize("NFC", text))
    return " ".join("".join(c for c in kept if unicodedata.category(c)[0] != "C").split())


def _plainly(problem: Exception) -> str:
    """msgspec's words with the place in front.

    >>> _plainly(ValueError("Expected `int`, got `str` - at `$.mask_indices[0]`"))
    'mask_indices[0]: expected int, got str'
    """
    words = str(problem).replace("Object", "it").replace("`", "")
    place = re.search(r"^(.*) - at \$\.(.+)$", words)
    if place is None:
        return words[0].lower() + words[1:]
    return f"{place[2]}: {place[1][0].lower()}{place[1][1:]}"
