"""Words before they are parsed: characters made alike, marks taken off, sentences told apart."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["DENIED", "has_words", "is_refusal", "listed", "plain", "split_sentences", "unwrapped"]

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+|(?<=[。！？])|\n+")
_LIST_MARK = re.compile(r"(?m)^(\W*[A-Za-z0-9])\.[ \t]")
DENIED = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of|\bneither|\bnor|\bunlike|\bother than)\s+"
    r"[^,.;:!?\n]*?(?=\s+but\b|[,.;:!?\n]|$)",
    re.IGNORECASE,
)
"""A part of a sentence that denies what it names: "not red", "rather than two"."""


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def plain(text: str) -> str:
    """Compatible characters, straight quotes, one kind of dash between numbers."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    text = re.sub(r"[^\S\n]+", " ", re.sub(r"\n\s*", "\n", text))
    text = text.replace("“", '"').replace("”", '"').replace("\u00ad", "").replace("\u200b", "")
    return re.sub(r"\s*[‐‑‒–—−]\s*(?=\d)|(?<=\d)\s*\.{2,3}\s*(?=\d)", "-", text)


def unwrapped(text: str) -> str:
    """Without Markdown and LaTeX marks."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"(?m)^\s*(?:[#>]+|[-*•]\s)\s*", "", text)
    return re.sub(r"[*_`$]{1,3}(?=\S)|(?<=\S)[*_`$]{1,3}", "", text).strip()


def split_sentences(text: str) -> list[str]:
    text = _LIST_MARK.sub(r"\1) ", text)
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if has_words(part)]


_REFUSAL = re.compile(
    r"\b(?:as an? (?:ai|language model|text)|i (?:am|'m) (?:an ai|a (?:text|language))|"
    r"(?:can ?not|can't|can not|unable to|not able to|won't) (?:help|assist|comply|answer|view|"
    r"process|access|open|load|display|analy[sz]e|engage|provide|fulfil)|"
    r"(?:can ?not|can't|unable to|not able to|do not|don't|could not) (?:actually |directly )?"
    r"(?:see|have|view|receive) (?:any |an |the |your |this |that )?(?:images?|pictures?|photos?|"
    r"attachments?|files?)\b|no (?:image|picture|photo|attachment)s? (?:was|were|is|has|provided|"
    r"attached|uploaded|given|found|here)|(?:please|could you) (?:upload|provide|attach|share|"
    r"send)|(?:image|picture|photo)s? (?:did|does|was|were|is|are|has|have)(?:n't| not| failed| "
    r"never) (?:to )?(?:load|come|been|show up|attach|provided|uploaded|visible to me|available)|"
    r"against (?:my|the) (?:policy|guidelines|rules)|i must decline|i (?:have|need) to decline)",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether the model would not or could not look, which says nothing about the picture.

    >>> is_refusal("I'm sorry, I can't view images."), is_refusal("I can't see a dog.")
    (True, False)
    """
    return _REFUSAL.search(plain(text)[:600]) is not None
