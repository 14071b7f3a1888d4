"""Which part of an answer is parsed.

What follows the last "final answer" or "the answer is", if the answer has such words. Otherwise all
of it, but in `cot` mode its last sentence, because that is where the model was told to put its
answer.
"""

from __future__ import annotations

import re

from groundfault.parsing.wording import has_words, plain, split_sentences, unwrapped
from groundfault.records import Mode

__all__ = ["CUT_OFF", "passage"]

CUT_OFF = ("length", "max_tokens", "MAX_TOKENS", "content_filter")
"""How servers say that an answer ended before its end."""

_OPEN = r"(?:<(?:think|thinking|reasoning|thought)>|\[think\]|◁think▷)"
_CLOSE = re.compile(r"</(?:think|thinking|reasoning|thought)>|\[/think\]|◁/think▷", re.IGNORECASE)
_UNCLOSED = re.compile(rf"{_OPEN}.*", re.DOTALL | re.IGNORECASE)
_CHAT = re.compile(
    r"<\|(?!(?:begin|end)_of_box)[^|<>\n]{1,40}\|>|</?s>|^\s*assistant\s*[:\n]\s*", re.I
)
_TAGGED = re.compile(
    r"<answer>(.*?)(?:</answer>|\Z)|<\|begin_of_box\|>(.*?)(?:<\|end_of_box\|>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_KEYS = (
    "answer final_answer choice option result count number total exists present response label "
    "prediction verdict value range"
)
_JSON = re.compile(
    rf"[\"'](?:{'|'.join(_KEYS.split())})[\"']\s*:\s*(\[[^\[\]{{}}\n]*\]|[\"'][^\"{{}}\n]*|[^\"',{{}}\n]+)",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"[\"'](?:min|low|lower|lowest|from)[\"']\s*:\s*(\d+)\s*,\s*[\"'](?:max|high|upper|highest|to)[\"']\s*:"
    r"\s*(\d+)",
    re.IGNORECASE,
)
_MARKER = re.compile(
    r"\bfinal answer\b(?:\s+(?:is|would be|must be))?"
    r"|\b(?:the|my|correct|right|best) (?:answer|option|choice)(?: (?:here|then|therefore))?"
    r"\s*(?:is|would be|must be)\b"
    r"|\b(?:answer|option chosen|verdict|response|conclusion)\s*(?:[:=→]|\bis:)"
    r"|\b(?:antwort|réponse|respuesta|resposta|risposta|ответ)\b(?: (?:correcta|correta|corretta|"
    r"правильный))?\s*(?:[:=—–-]|\b(?:ist|est|es|é|è|это)\b)"
    r"|(?:答案|答え|正确选项|正確選項)(?:是|为|為|は)?\s*:?|^答\s*:|정답(?:은)?\s*:?",
    re.IGNORECASE,
)
_REASONS = re.compile(
    r"\n\W{0,6}(?:explanation|reason(?:ing)?|justification|rationale|details?|confidence)\b\W{0,4}[:\n]",
    re.IGNORECASE,
)
LONGEST = 20_000
"""Characters of a passage that are read: its first and its last half."""
_COURTESY = re.compile(
    r"^(?:i hope (?:this|that)|hope (?:this|that)|let me know|please let me know|feel free|"
    r"if you (?:have|need|would)|is there anything|thank you|thanks\b|happy to help)",
    re.IGNORECASE,
)


def passage(text: str, mode: Mode) -> str:
    """The part of an answer that is read; "" if there is none.

    >>> passage("The table is bare. Final answer: No.", "cot"), passage("No. It is bare.", "std")
    ('No.', 'No. It is bare.')
    >>> passage("I look at the table. It is bare. So there is none.", "cot")
    'So there is none.'
    """
    text = plain(_CHAT.sub(" ", _thought_out(text)))
    for pattern in (_BOXED, _TAGGED, _JSON):
        found = ["".join(match.groups("")) for match in pattern.finditer(text)]
        if found and has_words(found[-1]):
            return _shortened(_spoken(unwrapped(found[-1])))
    if ends := _ENDS.search(text):
        return f"{ends[1]}-{ends[2]}"
    text = unwrapped(text)
    markers = _meant(text, list(_MARKER.finditer(text)))
    for marker in reversed(markers):
        rest = text[marker.end() :].lstrip(" \t\n:=.-–—,\"'→")
        if has_words(rest):
            return _shortened(_without_reasons(_without_courtesies(rest)))
    text = _without_reasons(text)
    if mode != "cot":
        return _shortened(text)
    sentences = [part for part in split_sentences(text) if not _COURTESY.match(part)]
    return _shortened(sentences[-1]) if sentences else ""


def _thought_out(text: str) -> str:
    """What follows the thoughts; chat templates often open the tag, so that only its end shows."""
    for closed in reversed(list(_CLOSE.finditer(text))):
        text = text[closed.end() :]
        break
    return _UNCLOSED.sub(" ", text)


def _spoken(value: str) -> str:
    """A value of a JSON object as a person would say it."""
    value = value.strip(" \"'[]") if not value.startswith("[") else value
    return {"true": "Yes", "false": "No"}.get(value.casefold(), value)


def _meant(text: str, markers: list[re.Match[str]]) -> list[re.Match[str]]:
    """The markers that count: the last one, unless what follows them differs without a reason."""
    if len(markers) < 2 or "final" in markers[-1][0].casefold():
        return markers
    said = {_first_words(text[marker.end() :]) for marker in markers[-3:]}
    between = text[markers[-2].end() : markers[-1].start()]
    return markers if len(said) == 1 or len(between) > 40 or "\n" in between else markers[:1]


def _first_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text[:60].casefold())[:1])


def _without_reasons(text: str) -> str:
    """Without the explanation that follows an answer under a heading of its own."""
    found = _REASONS.search(text)
    return text[: found.start()] if found and has_words(text[: found.start()]) else text


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"


def _without_courtesies(rest: str) -> str:
    """Without the courtesies after an answer."""
    for sentence in split_sentences(rest):
        if _COURTESY.match(sentence):
            return rest[: rest.find(sentence)].strip()
    return rest.strip()
