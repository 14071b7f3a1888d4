"""Reading answers: yes/no, option letters, option texts, numbers and ranges, in any wording.

A reading is what the answer says, never what it should say; the truth is not an argument. What
cannot be read for sure (a refusal, two answers, a maybe) is None, and becomes `unparsed`: never
"no", never a score.

Which part of an answer is read: what follows the last "final answer" or "the answer is", if the
answer has such words. Otherwise all of it in `std` mode, and in `cot` mode its last sentence,
because that is where the model was told to put its answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Literal

import msgspec

from groundfault.records import Outcome

__all__ = [
    "CUT_OFF",
    "MODES",
    "Answered",
    "Mode",
    "Verdict",
    "YesNo",
    "denies",
    "is_refusal",
    "passage",
    "read_number",
    "read_option",
    "read_range",
    "read_yes_no",
]

Mode = Literal["std", "cot"]
Verdict = Literal["right", "wrong"]
YesNo = Literal["yes", "no"]
MODES: tuple[Mode, ...] = ("std", "cot")
CUT_OFF = ("length", "max_tokens", "MAX_TOKENS", "content_filter")
"""How servers say that an answer ended before its end."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A model's answer to one question in one mode: a row of answers-*.parquet."""

    item_id: str
    mode: Mode
    outcome: Outcome
    text: str = ""
    reason: str = ""
    """Why it failed or could not be read."""
    finish: str = ""
    """How the model ended: "stop", "length" (cut off), "content_filter", or as the server says."""
    parsed: str | None = None
    """What it says: "yes", "B", "20", "18-22"; of a short answer, the words that were judged."""
    verdict: Verdict | Literal["unjudged"] | None = None
    """None where it could not be read, failed, or was not judged yet; "unjudged" where the judge
    will not judge it: not scored, bounded like a failed one."""
    judge: str = ""
    """Who gave the verdict: "rule", or the model that judged."""
    judge_text: str = ""
    """The judge's own words."""
    cause: str | None = None
    """Of a wrong chain of thought, once it was attributed: "SC1" … or "Other"."""
    cause_by: str = ""
    """The model that attributed it; it may have named no cause."""
    cause_text: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    latency_s: float = 0.0
    cost: float | None = None
    """None where the price is not known."""


# Which words of an answer are read.

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
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+|(?<=[。！？])|\n+")
_LIST_MARK = re.compile(r"(?m)^(\W*[A-Za-z0-9])\.[ \t]")


def passage(text: str, mode: Mode) -> str:
    """The part of an answer that is read; "" if there is none.

    >>> passage("The table is bare. Final answer: No.", "cot"), passage("No. It is bare.", "std")
    ('No.', 'No. It is bare.')
    >>> passage("I look at the table. It is bare. So there is none.", "cot")
    'So there is none.'
    """
    text = _plain(_THINKING.sub(" ", text))
    for pattern in (_BOXED, _TAGGED, _JSON):
        found = pattern.findall(text)
        if found and _has_words(found[-1]):
            return _unwrapped(found[-1])
    text = _unwrapped(text)
    for marker in reversed(list(_MARKER.finditer(text))):
        rest = text[marker.end() :].lstrip(" \t\n:=.-–—,\"'")
        if _has_words(rest):
            return _without_courtesies(rest)
    if mode == "std":
        return text
    sentences = [part for part in _sentences(text) if not _COURTESY.match(part)]
    return sentences[-1] if sentences else ""


def _without_courtesies(rest: str) -> str:
    """Without the courtesies after an answer."""
    for sentence in _sentences(rest):
        if _COURTESY.match(sentence):
            return rest[: rest.find(sentence)].strip()
    return rest.strip()


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _plain(text: str) -> str:
    """Compatible characters, straight quotes, one kind of dash between numbers."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    text = re.sub(r"[^\S\n]+", " ", re.sub(r"\n\s*", "\n", text))
    text = text.replace("“", '"').replace("”", '"').replace("\u00ad", "").replace("\u200b", "")
    return re.sub(r"\s*[‐‑‒–—−]\s*(?=\d)|(?<=\d)\s*\.{2,3}\s*(?=\d)", "-", text)


def _unwrapped(text: str) -> str:
    """Without Markdown and LaTeX marks."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"(?m)^\s*(?:[#>]+|[-*•]\s)\s*", "", text)
    return re.sub(r"[*_`$]{1,3}(?=\S)|(?<=\S)[*_`$]{1,3}", "", text).strip()


def _sentences(text: str) -> list[str]:
    text = _LIST_MARK.sub(r"\1) ", text)
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if _has_words(part)]


# Yes or no.


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_YES_WORDS = _listed(
    "yes yep yeah yup yea yess aye affirmative absolutely certainly definitely indeed sure "
    "correct true right exactly precisely agreed "
    "oui ja jawohl si sí sim sì да da tak ano igen kyllä joo evet ναι ya có vâng áno jes כן نعم "
    "हाँ हां"
)
_NO_WORDS = _listed(
    "no nope nah nay negative never incorrect false wrong untrue neither none "
    "non nein nö não nao нет nie ne nem ei hayır hayir όχι nej nei nee không tidak לא لا नहीं"
)
_SCRIPT_NO = ("不", "没", "沒", "否", "いいえ", "違", "아니", "아뇨", "ไม่")
_SCRIPT_YES = (
    "是",
    "对",
    "對",
    "有",
    "可以",
    "はい",
    "ええ",
    "そう",
    "네",
    "예",
    "ใช่",
    "正确",
    "正確",
)

_OPENERS = re.compile(
    r"^(?:(?:so|thus|hence|therefore|well|ok(?:ay)?|hmm+|um+|oh|ah|then|overall|and|but|"
    r"in (?:conclusion|short|summary)|to (?:conclude|summari[sz]e)|finally|in fact|actually|"
    r"(?:a|answer)(?=:)|i(?: would|'d) (?:say|answer)|i (?:think|believe|guess)|"
    r"it (?:seems|appears|looks)(?: to me)?(?: that| like| as if)?|"
    r"(?:most )?(?:likely|probably)|clearly|obviously|unfortunately|honestly|"
    r"(?:based|judging|going) (?:on|by|from)[^,.]*|looking [^,.]*|"
    r"(?:in|from|for) (?:the|this|that|both|these|each) [^,.]{1,60}|as (?:far as|seen|shown)[^,.]*)"
    r"\s*[,:;.\-–—]*\s*)+",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|possibly|not (?:entirely |quite |completely |really )?(?:sure|certain|"
    r"clear)|unsure|uncertain|unclear|no (?:idea|clue|comment|way (?:to|of))|hard to (?:say|tell)|"
    r"(?:difficult|impossible) to (?:say|tell|determine|know)|"
    r"(?:can ?not|can't|could not|couldn't|unable to) (?:be )?(?:say|said|tell|told|determined?|"
    r"confirm(?:ed)?|verif(?:y|ied)|know|known|answer(?:ed)?|be sure)|(?:do not|don't) know|"
    r"yes and no|yes or no|yes\s*/\s*no|both yes|might|could go either|50/50|it depends|"
    r"depends on)\b",
    re.IGNORECASE,
)
_YES_PHRASES = re.compile(
    r"^(?:of course(?! not)|without (?:a )?doubt|no doubt|no question|"
    r"(?:i )?(?:think|believe|guess|would say) so|(?:that|this|it|which)(?: is|'s) "
    r"(?:indeed |absolutely |quite |entirely )?(?:true|correct|right|so|accurate|the case)\b|"
    r"that's (?:true|correct|right)|"
    r"the (?:statement|description|claim|sentence) is (?:true|correct|right|accurate))",
    re.IGNORECASE,
)
_NO_PHRASES = re.compile(
    r"^(?:(?:absolutely|definitely|certainly|of course|surely|probably|most likely|clearly|"
    r"obviously|apparently|i think|i'm afraid|i am afraid|i guess) not\b|not (?:really|exactly|"
    r"at all|quite|true|correct|so|the case|that i can see|as far as)|"
    r"(?:i )?(?:do not|don't|wouldn't|would not) (?:think|believe|say) so|far from it|"
    r"(?:that|this|it|which)(?: is|'s)? ?(?:simply |just )?(?:not|isn't) "
    r"(?:entirely |quite )?(?:true|correct|right|so|accurate|the case)\s*[.!,;]?\s*$|"
    r"(?:that|this|it)(?: is|'s) (?:false|wrong|incorrect|untrue|inaccurate)|"
    r"the (?:statement|description|claim|sentence) is (?:false|wrong|incorrect|inaccurate|"
    r"not (?:true|correct|right|accurate))|not$)",
    re.IGNORECASE,
)
_BE = r"(?:is|are|was|were)"
_DO = r"(?:is|are|was|were|does|do|did|has|have)"
_DENIALS = (
    rf"there (?:{_BE}|'s)(?:n't| not\b| nothing\b| none\b| no\b(?! (?:doubt|question|way|longer)))",
    r"there's no\b(?! (?:doubt|question|way))",
    r"there (?:does not|doesn't|do not|don't) (?:appear|seem)\b",
    r"(?:i|one|you|we) (?:can ?not|can't|do not|don't|could not|couldn't) (?:actually |really )?"
    r"(?:see|find|spot|detect|identify|observe|notice|make out)\b(?! (?:well|clearly|much|enough))",
    r"(?:i am|i'm) (?:unable|not able) to (?:see|find|spot)\b",
    r"(?:i|we) (?:see|find|spot|detect|notice|observe) (?:no|none|nothing)\b",
    r"no (?!doubt|question|idea|clue|comment|way|image|picture|photo|problem|worries)[a-z-]+",
    r"(?:nothing|none|neither|nowhere|nobody)\b",
    rf"(?:the|this|that|these|those|it|they|he|she|both|each|its|an?)\b[^.,;:]{{0,60}}?"
    rf"(?:\b{_DO} not\b|\b(?:{_DO}|ca)n't\b|\bcannot be (?:seen|found)\b|\blacks?\b"
    rf"|\b(?:contains?|shows?|has|have|had) (?:no|nothing)\b|\b{_BE} (?:absent|missing|nowhere)\b)",
)
_DENIAL = re.compile("|".join(_DENIALS), re.IGNORECASE)
_IT_IS_NOT_THAT = re.compile(
    r"^it (?:is|'s) (?:(not) )?(?:true|correct|right|the case|so) that\s+(.*)|"
    r"^it isn't (true|correct|right|the case|so) that\s+(.*)|"
    r"^it (?:is|'s) (false|wrong|incorrect|untrue)(?: to say)? that\s+(.*)",
    re.IGNORECASE | re.DOTALL,
)
_EXISTS = re.compile(r"^there (?:is|are)\b(?! no\b| not\b|n't)", re.IGNORECASE)
_ELLIPSIS = re.compile(
    r"^(?:(?:yes,? )?(?:it|there|they|that|he|she|i|we|you) (?:is|are|does|do|did|was|were|has|"
    r"have|can))\s*(not|n't)?\s*[.!]?$|^(?:it|there|they|that|he|she|i|we|you) "
    r"(isn't|aren't|doesn't|don't|didn't|wasn't|weren't|hasn't|haven't|can't|cannot)\s*[.!]?$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?", re.UNICODE)


def read_yes_no(text: str, *, negated: bool = False) -> YesNo | None:
    """Yes, no, or None if it cannot be told.

    An answer without either word is read by what it denies: "There is no dog" means no where the
    question asks for a dog, and yes where it asks whether there is none (`negated`).

    >>> read_yes_no("Yes."), read_yes_no("Nein, da ist nichts."), read_yes_no("Maybe.")
    ('yes', 'no', None)
    >>> read_yes_no("There is no dog."), read_yes_no("There is no dog.", negated=True)
    ('no', 'yes')
    """
    text = _unwrapped(_plain(text)).strip(" \t\n\"'([{<.:;,-–—✓✗✔✘")
    if not _has_words(text) or is_refusal(text):
        return None
    if text in ("Y", "y", "N", "n"):
        return "yes" if text in "Yy" else "no"
    return _led_by(text) or _interjected(text) or _stated(text, negated)


def _led_by(text: str) -> YesNo | None:
    """By its first words."""
    bare = _OPENERS.sub("", text).lstrip(" \"'(,:") or text
    for form in (text, bare):
        if form.startswith(_SCRIPT_NO):
            return "no"
        if form.startswith(_SCRIPT_YES):
            return "no" if re.match(r"^有?没|^有沒", form) else "yes"
        if _UNSURE.match(form) or re.match(r"^yes\b\W+(?:and|or|/)\W*no\b", form, re.IGNORECASE):
            return None
        if _NO_PHRASES.match(form):
            return "no"
        if _YES_PHRASES.match(form):
            return "yes"
        word = _WORD.match(form)
        if word is None:
            continue
        rest = form[word.end() :]
        first = word[0].casefold()
        if first in _YES_WORDS and _stands_alone(first, rest):
            return "no" if re.match(r"\s+not\b", rest, re.IGNORECASE) else "yes"
        if first in _NO_WORDS and _stands_alone(first, rest):
            return "no"
    return None


_ALONE = re.compile(
    r"^\s*$|^\s*[,.!?;:)\]\"'\-–—/\n]|^\s+(?:there|it|i|the|this|that|they|he|she|we|you|not|"
    r"because|since|as|in|sir|ma'am|nothing|neither|way|is|are|both|indeed|based|absolutely|of|a)\b",
    re.IGNORECASE,
)
_UNCOMMITTED = re.compile(r"^\s*[,.!;:\-–—]*\s*(?:and|or|/|but also)\s*(?:yes|no)\b", re.IGNORECASE)


def _stands_alone(word: str, rest: str) -> bool:
    """Whether a first word is an answer, not the start of another: "No dogs", "Right side"."""
    if _UNCOMMITTED.match(rest):
        return False
    if word in ("yes", "yep", "yeah", "oui", "да", "нет", "nein", "nope", "évidemment"):
        return True
    if word in ("right", "none", "neither", "never", "wrong", "sure", "true", "false"):
        return re.match(r"^\s*(?:$|[,.!;:)\"'\n])", rest) is not None
    return _ALONE.match(rest) is not None


def _interjected(text: str) -> YesNo | None:
    """By the only one of the words yes and no that is used as an answer somewhere in it."""
    if _UNSURE.search(text):
        return None
    said = {
        word[1].casefold()
        for word in re.finditer(
            r"(?:^|[,.:;!?\"'(\-–—]\s*|\b(?:is|say|answer|but)\s+)(yes|no)(?=\s*(?:$|[,.:;!\"')]))",
            text,
            re.IGNORECASE,
        )
    }
    if len(said) != 1:
        return None
    return "yes" if said == {"yes"} else "no"


def _stated(text: str, negated: bool) -> YesNo | None:
    """By what its first sentence states or denies."""
    sentences = _sentences(text)
    first = _OPENERS.sub("", sentences[0]).strip() or sentences[0]
    if _UNSURE.search(first):
        return None
    short = _ELLIPSIS.match(first)
    if short is not None:
        if negated:
            return None  # "It is not": not true, or not there?
        return "no" if short[1] or short[2] else "yes"
    framed = _IT_IS_NOT_THAT.match(first)
    if framed is not None:
        content = next(part for part in (framed[2], framed[4], framed[6]) if part is not None)
        denied = bool(framed[1] or framed[3] or framed[5])
        if _DENIAL.match(content):
            return _by_polarity(not denied, negated)
        return _by_polarity(denied, negated) if not negated or _EXISTS.match(content) else None
    return _by_polarity(True, negated) if _DENIAL.match(first) else None


def _by_polarity(denies: bool, negated: bool) -> YesNo:
    return "yes" if denies == negated else "no"


def denies(text: str) -> bool:
    """Whether an answer says that there is no such thing.

    >>> denies("Nothing at all."), denies("I can't see a dog there."), denies("A brown dog.")
    (True, True, False)
    """
    text = _OPENERS.sub("", _unwrapped(_plain(text)).strip(" \t\n\"'(")).strip()
    return bool(_DENIAL.match(text)) or bool(re.match(r"^(?:no|neither|none)\b", text, re.I))


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
    return _REFUSAL.search(_plain(text)[:600]) is not None


# Numbers and ranges.

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {
    **{word: value for value, word in enumerate(_ONES, start=1)},
    **{word: value for value, word in enumerate(_TEENS, start=10)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    "zero": 0,
    "fourty": 40,
    "a": 1,
    "an": 1,
}
_SMALL = (
    rf"(?:(?:{'|'.join(_TENS)}|fourty)(?:[\s-](?:{'|'.join(_ONES)}))?"
    rf"|{'|'.join(_TEENS)}|{'|'.join(_ONES)})"
)
_HUNDREDS = rf"(?:(?:{_SMALL}|a)[\s-]hundred(?:[\s-](?:and[\s-])?{_SMALL})?|{_SMALL})"
_NUMBER_WORDS = re.compile(
    rf"\b(?:half a dozen|(?:(?:{_SMALL}|\d+|a) )?dozen|zero|"
    rf"(?:{_HUNDREDS}|a)[\s-]thousand(?:[\s,-]+(?:and[\s-])?{_HUNDREDS})?|{_HUNDREDS})\b",
    re.IGNORECASE,
)
_NOT_A_COUNT = re.compile(
    r"\b(?:the|this|that|each|every|which|any|another|no|other|by|first|last|left|right|middle) "
    r"one\b|\bone (?:of|by|can|could|would|sees|another|side|the|on|in|at|more)\b|"
    r"\b(?:image|picture|photo|figure|question|option|q|step|row|column|group|region|number|no\.) ?"
    r"#?\d+\b(?! (?:in total|altogether))|\b\d+(?:st|nd|rd|th)\b|\b(?:both|two|2) (?:images|"
    r"pictures|photos)\b|\b\d+ ?(?:%|percent|px|pixels|cm|mm|rows|columns|groups|lines|layers)|"
    r"(?m:^\s*\d+[.)]\s)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of|\bneither|\bnor|\bunlike|\bother than)\s+"
    r"[^,.;:!?\n]*?(?=\s+but\b|[,.;:!?\n]|$)",
    re.IGNORECASE,
)
_FIGURE = (
    r"(?<![A-Za-z0-9_.,])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(?:\.0+)?"
    r"(?![A-Za-z0-9_]|[.,][0-9])"
)
_OPEN_BOUND = re.compile(
    r"(?:more than|over|at least|at most|fewer than|less than|under|up to|no more than|"
    r"no less than|no fewer than|above|below|upwards of|minimum of|"
    r"maximum of|>|<|≥|≤|-)\s*$",
    re.IGNORECASE,
)
_OPEN_AFTER = re.compile(r"^\s*(?:\+|or (?:more|fewer|less|so many)|and (?:more|up)|plus)", re.I)
_TOTAL = re.compile(
    rf"(?:\b(?:total|sum|altogether|mak(?:es?|ing)|giv(?:es?|ing)|equals?|so|thus|hence|therefore|"
    rf"count(?: is)?|answer is|overall)\b|=)(?:\s*(?:of|is|are|there|comes to|:|=|,|the|number|"
    rf"count|about|approximately|around|exactly|i|get|have|see|it|that|makes|[~≈]))*\s*({_FIGURE})(?!\s*,\s*\d)|"
    rf"({_FIGURE})\s+(?:[a-z-]+ ){{0,3}}(?:in total|in all|altogether|overall|total)\b",
    re.IGNORECASE,
)
_RANGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:between|from)\s+(?:about |around |roughly )?({_FIGURE})\s+"
        rf"(?:and|to|through|up to)\s+({_FIGURE})",
        rf"({_FIGURE})\s*(?:-|~|…|\.{{2,3}}|/|to|through|till|until|up to|bis|à|至|到)\s*"
        rf"({_FIGURE})",
        rf"[\[(]\s*({_FIGURE})\s*[,;]\s*({_FIGURE})\s*[\])]",
        rf"(?:\bat least|≥|>=)\s*({_FIGURE})[^.\d]{{0,30}}(?:\bat most|\bno more than|\bup to|≤|<=)"
        rf"\s*({_FIGURE})",
        rf"\b(?:min(?:imum)?|lowest|low|lower(?: bound)?)\W+(?:is |of )?({_FIGURE})[^\d]{{1,40}}"
        rf"({_FIGURE})",
    )
)
_PLUS_MINUS = re.compile(
    rf"({_FIGURE})\s*(?:±|\+/-|\+-|plus or minus|give or take)\s*({_FIGURE})", re.I
)


def read_number(text: str) -> int | None:
    """The one whole number that an answer gives, or None.

    >>> [read_number(text) for text in ("about 20", "twenty-one", "1,200 birds", "20 or 21")]
    [20, 21, 1200, None]
    """
    text = _counted(text)
    if _ranges(text):
        return None
    return _only(text) if text else None


def _only(text: str) -> int | None:
    numbers = set(_numbers(text))
    if len(numbers) == 1:
        number = numbers.pop()
        return number if number >= 0 else None
    if not numbers:
        none = re.match(r"^\W*(?:none|no|nothing|there (?:are|is) (?:no|none))\b", text, re.I)
        return 0 if none and not re.search(r"\d", text) else None
    totals = [match for match in _TOTAL.finditer(text) if not _is_open(text, match)]
    if totals:
        return _value(totals[-1][1] or totals[-1][2])
    sentences = _sentences(text)
    if len(sentences) < 2:
        return None
    first = _only(sentences[0])
    return first if first is not None else _only(sentences[-1])


def _is_open(text: str, match: re.Match[str]) -> bool:
    group = 1 if match[1] else 2
    return _bounded(text, match.start(group), match.end(group))


def _bounded(text: str, start: int, end: int) -> bool:
    """Whether a number is only a bound: "more than 20", "20+"."""
    before, after = text[max(0, start - 20) : start], text[end : end + 20]
    return bool(_OPEN_BOUND.search(before) or _OPEN_AFTER.match(after))


def _numbers(text: str) -> Iterator[int]:
    for match in re.finditer(_FIGURE, text):
        if not _bounded(text, match.start(), match.end()):
            yield _value(match[0])
        else:
            yield -1  # a bound beside a number makes two answers, alone it makes none
    if re.search(r"\d[.,]\d", re.sub(_FIGURE, "", text)):
        yield -1


def read_range(text: str) -> tuple[int, int] | None:
    """The one range that an answer gives, as (lowest, highest), or None.

    >>> read_range("20–24"), read_range("between twenty and 24"), read_range("about 20")
    ((20, 24), (20, 24), None)
    """
    text = _counted(text)
    found = set(_ranges(text))
    if len(found) > 1:
        sentences = _sentences(text)
        found = set(_ranges(sentences[0])) if len(sentences) > 1 else found
    return found.pop() if len(found) == 1 else None


def _ranges(text: str) -> list[tuple[int, int]]:
    if re.search(rf"{_FIGURE}\s*-\s*{_FIGURE}\s*-\s*{_FIGURE}", text):
        return []  # a date, or no range of any kind
    for match in _PLUS_MINUS.finditer(text):
        middle, margin = _value(match[1]), _value(match[2])
        return [(max(0, middle - margin), middle + margin)]
    for pattern in _RANGES:
        ends = [(_value(match[1]), _value(match[2])) for match in pattern.finditer(text)]
        if ends:
            return [(min(pair), max(pair)) for pair in ends]
    return []


def _counted(text: str) -> str:
    """The text with its numbers in figures, without those that count nothing or are denied."""
    text = _unwrapped(_plain(text))
    text = _NOT_A_COUNT.sub(" ", text)
    text = _DENIED.sub(" ", text)
    return _NUMBER_WORDS.sub(lambda match: str(_word_value(match[0])), text)


def _word_value(words: str) -> int:
    """
    >>> _word_value("one thousand two hundred and five"), _word_value("half a dozen")
    (1205, 6)
    """
    if words.casefold() == "half a dozen":
        return 6
    total = part = 0
    for word in re.split(r"[\s,-]+", words.casefold()):
        if word == "hundred":
            part = max(1, part) * 100
        elif word == "dozen":
            part = max(1, part) * 12
        elif word == "thousand":
            total, part = total + max(1, part) * 1000, 0
        elif word != "and":
            part += int(word) if word.isdecimal() else _VALUES[word]
    return total + part


def _value(figure: str) -> int:
    return int(figure.replace(",", "").partition(".")[0])


# Options.

_NEUTRAL = _listed("the a an is are of it in on at this that option answer")


def read_option(text: str, options: Sequence[str]) -> str | None:
    """The letter of the one option that an answer chooses, by letter or by words, or None.

    >>> [read_option(text, ["red", "blue"]) for text in ("(B)", "It is blue.", "A or B", "E")]
    ['B', 'B', None, None]
    """
    text = _unwrapped(_plain(text)).strip(" \t\n\"'")
    if not _has_words(text) or is_refusal(text):
        return None
    letters = ascii_uppercase[: len(options)]
    by_words = _by_words(text, options)
    named = _letters(text, letters)
    if named is None:
        return by_words
    if named == "":  # several
        return None
    stated = _exact(text, named, options)
    return named if stated in (None, named) else None


_REJECTED = re.compile(r"\b[A-H] is (?:wrong|incorrect|false|not\b)", re.IGNORECASE)


def _letters(text: str, letters: str) -> str | None:
    """The one letter that a text names; "" for several or one that is no option, None for none."""
    bare = re.fullmatch(r"\W*([A-Za-z])\W*", text)
    if bare:
        return bare[1].upper() if bare[1].upper() in letters else ""
    text = _REJECTED.sub(" ", _DENIED.sub(" ", text))
    lead = re.match(r"\W*([A-Z])(?:[.):\]]|\s*[-–—]\s|\s*\n|,\s)", text)
    lower = re.match(r"\W*\(?([a-z])[.)](?:\s|$)", text)
    said = re.findall(
        r"(?:\b(?:option|choice|answer|letter|choose|pick|select|go with|say|is|it's|be)\s*:?\s*"
        r"[(\[\"']?)([A-Z])(?=[)\].,:;!?\"']|\s*$|\s+(?:because|since|as|is|seems|-|–))",
        text,
    )
    said += re.findall(r"\(([A-Z])\)", text) + re.findall(r"(?i:\boptions?) ([A-Z])\b", text)
    said += re.findall(r"(?:\b(?:and|or|nor)|[,/&])\s*([B-H])(?=[\s.,;!?)]|$)", text)
    said += re.findall(r"(?<![\w'])([A-H])(?=\s*(?:\b(?:and|or|nor)\b|[,/&])\s*[B-H]\b)", text)
    if lead:
        return _one_of({lead[1]} | set(said), letters)
    if lower:
        return _one_of({lower[1].upper()}, letters)
    said += re.findall(r"(?<![\w'])([B-H])(?![\w'-])", text)
    return _one_of(set(said), letters) if said else None


def _one_of(said: set[str], letters: str) -> str:
    return next(iter(said)) if len(said) == 1 and said <= set(letters) else ""


def _exact(text: str, named: str, options: Sequence[str]) -> str | None:
    """The letter of the option whose words follow the named letter, if they are one's whole."""
    rest = re.sub(rf"^.*?\b{named}\b\W*", "", text, count=1, flags=re.DOTALL)
    words = _words(_sentences(rest)[0]) if _has_words(rest) else []
    for letter, option in zip(ascii_uppercase, options, strict=False):
        if words and words == _words(option):
            return letter
    return None


def _by_words(text: str, options: Sequence[str]) -> str | None:
    if all(_span(option) for option in options):
        return _by_number(text, options)
    whole = [k for k, option in enumerate(options) if _words(text) == _words(option)]
    if len(whole) == 1:
        return ascii_uppercase[whole[0]]
    denial = [k for k, option in enumerate(options) if _is_denial(option)]
    named = [k for k in denial if _within(_words(options[k]), _words(text))]
    if len(named) == 1:
        denial = named
    kept = _words(_DENIED.sub(" ", re.sub(r"\bno [\w-]+", " ", text, flags=re.I)))
    said = [
        k for k, option in enumerate(options) if k not in denial and _within(_words(option), kept)
    ]
    said = [k for k in said if not any(_inside(options[k], options[m]) for m in said if m != k)]
    if len(said) == 1:
        return ascii_uppercase[said[0]]
    if not said and len(denial) == 1 and (named or denies(text)):
        return ascii_uppercase[denial[0]]
    return None


def _by_number(text: str, options: Sequence[str]) -> str | None:
    spans = [_span(option) for option in options]
    found = read_range(text)
    number = None if found else read_number(text)
    if found is None and number is not None:
        found = (number, number)
    if found is None:
        return None
    holding = [
        k for k, span in enumerate(spans) if span and span[0] <= found[0] <= found[1] <= span[1]
    ]
    return ascii_uppercase[holding[0]] if len(holding) == 1 else None


def _span(option: str) -> tuple[int, int] | None:
    match = re.fullmatch(rf"\s*({_FIGURE})(?:\s*-\s*({_FIGURE}))?\s*", _plain(option))
    return (_value(match[1]), _value(match[2] or match[1])) if match else None


def _is_denial(option: str) -> bool:
    return denies(option) or option.casefold().startswith(("no ", "nothing", "none", "neither"))


def _words(text: str) -> list[str]:
    found = re.findall(r"[^\W_]+", text.casefold())
    return [word for word in found if word not in _NEUTRAL]


def _within(words: list[str], text: list[str]) -> bool:
    size = len(words)
    return bool(size) and any(text[k : k + size] == words for k in range(len(text) - size + 1))


def _inside(option: str, other: str) -> bool:
    return option != other and _within(_words(option), _words(other))
