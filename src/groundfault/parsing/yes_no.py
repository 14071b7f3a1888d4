"""Yes or no, in any wording and many languages; what cannot be told for sure is None."""

from __future__ import annotations

import re
from typing import Literal

from groundfault.parsing.wording import (
    has_words,
    is_refusal,
    listed,
    plain,
    split_sentences,
    unwrapped,
)

__all__ = ["YesNo", "denies", "parse_yes_no"]

YesNo = Literal["yes", "no"]

_YES_WORDS = listed(
    "yes yep yeah yup yea yess aye affirmative absolutely certainly definitely indeed sure "
    "correct true right exactly precisely agreed "
    "oui ja jawohl si sí sim sì да da tak ano igen kyllä joo evet ναι ya có vâng áno jes כן نعم "
    "हाँ हां"
)
_NO_WORDS = listed(
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


def parse_yes_no(text: str, *, negated: bool = False) -> YesNo | None:
    """Yes, no, or None if it cannot be told.

    An answer without either word is read by what it denies: "There is no dog" means no where the
    question asks for a dog, and yes where it asks whether there is none (`negated`).

    >>> parse_yes_no("Yes."), parse_yes_no("Nein, da ist nichts."), parse_yes_no("Maybe.")
    ('yes', 'no', None)
    >>> parse_yes_no("There is no dog."), parse_yes_no("There is no dog.", negated=True)
    ('no', 'yes')
    """
    text = unwrapped(plain(text)).strip(" \t\n\"'([{<.:;,-–—✓✗✔✘")
    if not has_words(text) or is_refusal(text):
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
    sentences = split_sentences(text)
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
    text = _OPENERS.sub("", unwrapped(plain(text)).strip(" \t\n\"'(")).strip()
    return bool(_DENIAL.match(text)) or bool(re.match(r"^(?:no|neither|none)\b", text, re.I))
