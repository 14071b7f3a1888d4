"""Words before they are parsed: characters made alike, marks taken off, sentences told apart."""

from __future__ import annotations

import re
import unicodedata

from groundfault.parsing.vocabulary import listed

__all__ = [
    "AT_FIRST",
    "DENIED",
    "TAKEN_BACK",
    "has_words",
    "is_refusal",
    "noun",
    "plain",
    "split_sentences",
    "stem",
    "tokens",
    "unwrapped",
]

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]*_]*\s+|(?<=[。！？؟।])|\n+")
_LIST_MARK = re.compile(r"(?m)^([^\w\n]{0,9}[A-Za-z0-9])\.[ \t]")
DENIED = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of|\bneither|\bnor|\bunlike|\bother than)\s+"
    r"[^,.;:!?\n]*?(?=\s+but\b|[,.;:!?\n]|$)",
    re.IGNORECASE,
)
"""A part of a sentence that denies what it names: "not red", "rather than two"."""
TAKEN_BACK = re.compile(
    r"\b(?:(?:no,? )?wait|actually|sorry|correction|i mean(?:t)?|scratch that|make (?:that|it)|"
    r"let me "
    r"re\w+|on (?:closer|second|further) \w+)\b|(?<=\d), no,|(?:\.{2,}|…|—|-) ?no,|\bno, ",
    re.IGNORECASE,
)
AT_FIRST = re.compile(
    r"\b(?:first|initially|at first|earlier|i said|i thought|i was going to|looked "
    r"like)\b[^.!?\n]{0,80}?\b(?:but|"
    r"however|then)\b",
    re.IGNORECASE,
)


def has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def plain(text: str) -> str:
    """Compatible characters, straight quotes, Western figures, one kind of dash between numbers."""
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii():
        text = text.translate(_ALIKE)
        text = _FOREIGN_FIGURE.sub(lambda found: str(unicodedata.digit(found[0])), text)
    text = re.sub(r"[^\S\n]+", " ", re.sub(r"\n\s+", "\n", text))
    text = _NO_APOSTROPHE.sub(lambda found: f"{found[0][:-1]}'{found[0][-1]}", text)
    text = re.sub(r"[‐‑‒–—−](?=\d)", "-", text)
    return re.sub(r"(?<=\d) ?(?:[‐‑‒–—−-]|\.{2,3}) ?(?=\d)", "-", text)


_ALIKE = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "\u00ad": "", "\u200b": "", "\ufe0f": "", "〜": "~"}
)
_NO_APOSTROPHE = re.compile(
    r"\b(?:(?:is|are|was|were|does|did|has|have|can|could|would|wo|should)nt|(?:there|that|what)s|"
    r"(?<=\bi )dont|(?<=\byou )dont|(?<=\bthey )dont)\b",
    re.IGNORECASE,
)
"""Short forms as they are typed in a hurry; "dont" is a word in French."""
_FOREIGN_FIGURE = re.compile(r"(?![0-9])\d")
_TABLE_RULE = re.compile(r"(?m)^[ \t]*\|?[ \t:|-]*--[ \t:|-]*$")
_TAG = re.compile(r"</?(?:b|i|u|p|br|em|strong|span|div|code|li|ul|ol|h[1-6])\b[^<>]{0,80}>", re.I)


def unwrapped(text: str) -> str:
    """Without Markdown, HTML and LaTeX marks; the cells of a table stand on lines of their own."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}", r"\1", text)
    if "|" in text:
        text = _TABLE_RULE.sub("", text)
        text = re.sub(r"(?m)^[ \t]*\||\|[ \t]*$|[ \t]*\|[ \t]*", "\n", text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    text = re.sub(r"(?m)^[ \t]*(?:[#>]+|[-*•+][ \t])[ \t]*", "", text)
    return re.sub(r"[*_`$]{1,3}(?=\S)|(?<=\S)[*_`$]{1,3}", "", text).strip()


def split_sentences(text: str) -> list[str]:
    text = _LIST_MARK.sub(r"\1) ", text)
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if has_words(part)]


_TOKEN = re.compile(r"\d+|[^\W\d_]+(?:'[^\W\d_]+)*|,")
_STEMS = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "mice": "mouse", "geese": "goose", "teeth": "tooth", "knives": "knife", "leaves": "leaf",
    "shelves": "shelf", "wolves": "wolf", "loaves": "loaf", "cacti": "cactus", "ca": "can",
}  # fmt: skip


_SILENT_E = listed(
    "ride drive smile move remove use make take face dance change replace close bake hide raise "
    "leave share erase delete chase bite wave write skate stare place pose bicycle juggle cycle "
    "serve slice"
)
"""Verbs whose e is not said and not written in "riding"."""


def tokens(text: str) -> list[str]:
    """The words, figures and commas of a text, in small letters."""
    return _TOKEN.findall(text.casefold())


def noun(word: str) -> str:
    """A noun in the singular: "trained" has nothing to do with a train.

    >>> noun("trains"), noun("trained"), noun("dining")
    ('train', 'trained', 'dining')
    """
    return word if word.endswith(("ed", "ing")) else stem(word)


def stem(word: str) -> str:
    """An English word without its ending, so that forms of one word are equal.

    >>> [stem(word) for word in ("lamps", "wearing", "wears", "boxes", "sitting", "red", "berries")]
    ['lamp', 'wear', 'wear', 'box', 'sit', 'red', 'berry']
    """
    word = _STEMS.get(word, word).removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses", "zes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        cut = word.removesuffix(ending)
        if cut != word and len(cut) > 2 and re.search("[aeiouy]", cut):
            if f"{cut}e" in _SILENT_E:
                return f"{cut}e"
            doubled = cut[-1] == cut[-2] and cut[-1] not in "lsz"
            return cut[:-1] if doubled else cut
    return word


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
