"""Replies of models that propose edits, in the forms that the papers ask for.

    five fields         <type>…</type> <edit_instruction>… (CAFE), or the one word None
    one line            Change X to Y. (HalluSegBench)
    an instruction      Image editing instruction: … (ReactBench's erasure), or not applicable
    two instructions    Instruction A: … / Instruction B: … (attributes)
    lines of fields     edit_type: … (tracing, fields of an erasure)
    a JSON object       fields of an attribute, ambiguity of a count
    verdicts            SM-1: yes … (a critic's, one line per rule)

Nothing is guessed: what is not in its form raises `NotInForm` with a sentence that tells the model
what was wrong. Saying that there is nothing to propose is an answer of its own, None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

__all__ = [
    "NotInForm",
    "parse_cafe",
    "parse_change",
    "parse_fields",
    "parse_instruction",
    "parse_json_fields",
    "parse_line",
    "parse_two_instructions",
    "parse_verdicts",
    "spoken",
]

LONGEST_REPLY = 20_000
LONGEST_FIELD = 1000
CAFE_FIELDS = ("type", "edit_instruction", "rationales", "positive_prompt", "negative_prompt")
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"\A```\w*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_CHANGE = re.compile(r"Change\s+(\S.*?)\.?", re.IGNORECASE)
_TO = re.compile(
    r"(?<!\bnext)(?<!\bclose)(?<!\bclosest)(?<!\bnearest)(?<!\badjacent)(?<!\battached)"
    r"(?<!\bopposite)\s+to\s+(?!(?:the\s+)?(?:left|right|front|back)\s+to\b)",
    re.IGNORECASE,
)
_NOT_APPLICABLE = re.compile(
    r"\W*(?:current instance is )?not[ _]applicable\W*|\W*n/?a\W*", re.IGNORECASE
)
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9_]*)\s*[:：]\s*(.*)")
_INVISIBLE = re.compile(
    r"[\u0000-\u0008\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class NotInForm(ValueError):
    """A reply is not in the form that was asked for; the words say what is wrong."""


def spoken(text: str) -> str:
    """What a reply says, without thoughts, invisible characters, or a fence around all of it.

    >>> spoken("<think>Hm.</think>\\n```xml\\nNone\\n```")
    'None'
    """
    if len(text) > LONGEST_REPLY:
        raise NotInForm(f"The reply has {len(text)} characters; be brief.")
    kept = _INVISIBLE.sub("", _THOUGHT_END.split(text)[-1]).strip()
    fenced = _FENCE.match(kept)
    return fenced[1].strip() if fenced else kept


def parse_cafe(text: str) -> dict[str, str] | None:
    """The five fields of a proposal, each exactly once and nothing else; None for the word None.

    >>> parse_cafe("None")
    >>> parse_cafe("<type>SM</type>")
    Traceback (most recent call last):
    ...
    groundfault.parsing.proposals.NotInForm: The field <edit_instruction> is missing.
    """
    words = spoken(text)
    if words.rstrip(".").strip("`\"'").casefold() == "none":
        return None
    found: dict[str, str] = {}
    rest = words
    for name in CAFE_FIELDS:
        begin, end = f"<{name}>", f"</{name}>"
        times = words.count(begin), words.count(end)
        if times != (1, 1) or words.find(begin) > words.find(end):
            what = f"occurs {max(times)} times" if max(times) > 1 else "is missing"
            raise NotInForm(f"The field <{name}> {what}.")
        value = words.partition(begin)[2].partition(end)[0]
        found[name] = _value(name, value)
        rest = rest.replace(f"{begin}{value}{end}", "")
    if rest.strip():
        raise NotInForm("There are words outside of the five fields.")
    return found


def parse_change(text: str) -> tuple[str, str]:
    """Old and new description of `Change X to Y.`

    >>> parse_change('Change left bear to squirrel.')
    ('left bear', 'squirrel')
    """
    words = parse_line(text)
    found = _CHANGE.fullmatch(words)
    parts = _TO.split(found[1]) if found else []
    if len(parts) < 2:
        raise NotInForm('The reply is not one line of the form "Change X to Y."')
    if len(parts) > 2:
        raise NotInForm('It is not clear which "to" divides the two descriptions.')
    old, new = (re.sub('["“”]', "", part).strip(" .") for part in parts)
    if not old or not new:
        raise NotInForm("One of the two descriptions is empty.")
    return old, new


def parse_line(text: str) -> str:
    """One line of plain words."""
    words = spoken(text)
    lines = [line for line in words.splitlines() if line.strip()]
    if len(lines) != 1:
        raise NotInForm(f"The reply has {len(lines)} lines instead of one.")
    return _value("line", lines[0])


def parse_instruction(text: str) -> str | None:
    """The one instruction of an erasure; None where it is not applicable.

    >>> parse_instruction("Current instance is not applicable.")
    >>> parse_instruction("Image editing instruction: Remove the cup.")
    'Remove the cup.'
    """
    if _NOT_APPLICABLE.fullmatch(spoken(text)):
        return None
    words = parse_line(text)
    head, colon, instruction = words.partition(":")
    if not colon or head.strip().casefold() != "image editing instruction":
        raise NotInForm('The line does not begin with "Image editing instruction:".')
    return _value("instruction", instruction)


_LETTERED = re.compile(
    r"Instruction ([AB])\s*\((material|color|colour|texture|state|finish|shape)\)\s*:\s*(\S.*)",
    re.IGNORECASE,
)


def parse_two_instructions(text: str) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Direction and instruction of A and of B, which have different directions.

    >>> parse_two_instructions("Instruction A (color): X.\\nInstruction B (texture): Y.")
    (('color', 'X.'), ('texture', 'Y.'))
    """
    words = spoken(text)
    if _NOT_APPLICABLE.fullmatch(words):
        return None
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    found = [match.groups() for line in lines if (match := _LETTERED.fullmatch(line))]
    if len(lines) != 2 or [letter.upper() for letter, *_ in found] != ["A", "B"]:
        raise NotInForm(
            'The reply is not two lines, "Instruction A (DIRECTION): …" and "Instruction B '
            '(DIRECTION): …".'
        )
    (_, first, one), (_, second, other) = found
    first, second = (way.casefold().replace("colour", "color") for way in (first, second))
    if first == second:
        raise NotInForm(f"Both instructions are of the direction '{first}'.")
    return (first, _value("A", one)), (second, _value("B", other))


def parse_fields(
    text: str, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str] | None:
    """The values of lines `name: value`: each name exactly once, no other lines. None where the
    first field says not_applicable.

    >>> parse_fields("edit_type: move\\nB: cup", ["edit_type", "B"])
    {'edit_type': 'move', 'B': 'cup'}
    >>> parse_fields("edit_type: not_applicable", ["edit_type", "B"])
    """
    found: dict[str, str] = {}
    for line in filter(str.strip, spoken(text).splitlines()):
        match = _FIELD.fullmatch(line.strip())
        if match is None:
            raise NotInForm(f"The line '{line.strip()[:60]}' is not of the form name: value.")
        name, value = match.groups()
        if name not in names and name not in optional:
            raise NotInForm(f"There is no field '{name[:40]}'.")
        if name in found:
            raise NotInForm(f"The field {name} occurs twice.")
        found[name] = value.strip()
        if name == names[0] and _NOT_APPLICABLE.fullmatch(value):
            return None
    return _whole(found, names, optional)


def parse_json_fields(
    text: str, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str]:
    """The values of one JSON object with exactly these fields, as words.

    >>> parse_json_fields('{"has_ambiguity": false, "severity": "none"}',
    ...                   ["has_ambiguity", "severity"])
    {'has_ambiguity': 'false', 'severity': 'none'}
    """
    try:
        fields = msgspec.json.decode(spoken(text), type=dict[str, str | bool | int | float | None])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise NotInForm(f"The reply is not one JSON object of plain values ({problem}).") from None
    strange = sorted({*fields} - {*names} - {*optional})
    if strange:
        raise NotInForm(f"There is no field '{strange[0][:40]}'.")
    said = {name: _json_words(value) for name, value in fields.items() if value is not None}
    return _whole(said, names, optional)


_VERDICT = re.compile(r"([A-Za-z]+-[A-Za-z0-9]+)\s*[:：]\s*(yes|no)\b.*", re.IGNORECASE)


def parse_verdicts(text: str, ids: Sequence[str]) -> dict[str, bool]:
    """Whether each rule is kept: a line `ID: yes` or `ID: no` for each, in any order.

    >>> parse_verdicts("SM-1: yes\\nSM-2: no, it is thicker", ["SM-1", "SM-2"])
    {'SM-1': True, 'SM-2': False}
    """
    found: dict[str, bool] = {}
    for line in filter(str.strip, spoken(text).splitlines()):
        match = _VERDICT.fullmatch(line.strip())
        if match is None:
            raise NotInForm(
                f"The line '{line.strip()[:60]}' is not of the form RULE-ID: yes or no."
            )
        if match[1] not in ids or match[1] in found:
            raise NotInForm(f"There is no rule '{match[1][:20]}', or it was answered before.")
        found[match[1]] = match[2].casefold() == "yes"
    missing = [each for each in ids if each not in found]
    if missing:
        raise NotInForm(f"There is no line for {missing[0]}.")
    return {each: found[each] for each in ids}


def _json_words(value: str | bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _whole(found: dict[str, str], names: Sequence[str], optional: Sequence[str]) -> dict[str, str]:
    missing = [name for name in names if not found.get(name)]
    if missing:
        raise NotInForm(f"The field {missing[0]} is missing or empty.")
    given = (name for name in (*names, *optional) if name in found)
    return {name: _value(name, found[name]) for name in given if found[name]}


def _value(name: str, value: str) -> str:
    """A field as plain words in one line."""
    words = " ".join(value.split())
    if not words:
        raise NotInForm(f"The field {name} is empty.")
    if len(words) > LONGEST_FIELD:
        raise NotInForm(f"The field {name} has {len(words)} characters; be brief.")
    if re.search(r"</?[A-Za-z][^>]*>|\*\*|```|\]\(|\bjavascript:", words):
        raise NotInForm(f"The field {name} has markup; give plain words.")
    return words
