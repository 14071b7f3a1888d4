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

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_JSON = re.compile(r'"(?:final_)?answer"\s*:\s*"?([^"{}\n]*)', re.IGNORECASE)
_MARKER = re.compile(
    r"\bfinal answer\b(?:\s+(?:is|would be|must be))?"
    r"|\b(?:the|my|correct|right|best) (?:answer|option|choice)(?: (?:here|then|therefore))?"
    r"\s*(?:is|would be|must be)\b"
    r"|\b(?:answer|option chosen|verdict)\s*(?:[:=]|\bis:)"
    r"|(?:antwort|réponse|respuesta|resposta|risposta|ответ|答案(?:是|为|為)?|答え(?:は)?)\s*[:：]?",
    re.IGNORECASE,
)
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
    text = plain(_THINKING.sub(" ", text))
    for pattern in (_BOXED, _TAGGED, _JSON):
        found = pattern.findall(text)
        if found and has_words(found[-1]):
            return unwrapped(found[-1])
    text = unwrapped(text)
    for marker in reversed(list(_MARKER.finditer(text))):
        rest = text[marker.end() :].lstrip(" \t\n:=.-–—,\"'")
        if has_words(rest):
            return _without_courtesies(rest)
    if mode != "cot":
        return text
    sentences = [part for part in split_sentences(text) if not _COURTESY.match(part)]
    return sentences[-1] if sentences else ""


def _without_courtesies(rest: str) -> str:
    """Without the courtesies after an answer."""
    for sentence in split_sentences(rest):
        if _COURTESY.match(sentence):
            return rest[: rest.find(sentence)].strip()
    return rest.strip()
