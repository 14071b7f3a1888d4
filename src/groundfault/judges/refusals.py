"""Answers without anything to judge: the model would not look at the picture, or got none.

Of a short answer in words this is decided narrowly. "I cannot answer because there is no book on
the chair" tells what is in the picture, and to a question with a false premise it is the right
answer; that "the colour cannot be determined" is right too. Only who did not look has not answered.
"""

from __future__ import annotations

import re

from groundfault.parsing.wording import plain

__all__ = ["declines_to_look"]

_CANNOT = r"(?:can ?not|can't|could not|couldn't|unable to|not able to|do not|don't|won't|will not)"
_PICTURE = r"(?:images?|pictures?|photos?|photographs?|attachments?|files?)"
_WHICH = r"(?:any |an? |the |your |this |that |these |those )?"
_DECLINES = re.compile(
    rf"\b{_CANNOT} (?:actually |directly |currently )?(?:see|view|have|receive|process|access|open|"
    rf"load|display|analy[sz]e|look at|interpret|examine) {_WHICH}(?:actual |provided )?"
    rf"{_PICTURE}\b(?! (?:of|with|where|in which|clearly|well|detail))|"
    rf"\bno {_PICTURE} (?:was|were|is|are|has|have|provided|attached|uploaded|given|here)\b|"
    rf"\b(?:please|could you|kindly) (?:re-?)?(?:upload|provide|attach|share|send)\b|"
    rf"\b{_PICTURE} (?:did|does|was|were|is|are|has|have)(?:n't| not| failed| never) (?:to )?"
    rf"(?:load|come through|been|show up|attach|provided|uploaded|attached|available)\b|"
    rf"\bas an? (?:ai|language model|text)[^.]{{0,60}}\b{_CANNOT}\b|"
    rf"\bi (?:am|'m) (?:an ai|a (?:text|language))[^.]{{0,60}}\b{_CANNOT}\b|"
    rf"\b(?:{_CANNOT}|must decline to|have to decline to) (?:help|assist|comply|engage)\b|"
    rf"\bagainst (?:my|the) (?:policy|guidelines|rules)\b|\bi (?:must|have to|need to) decline\b",
    re.IGNORECASE,
)
_TELLS = re.compile(
    rf"\bthere(?:'s| is| are) (?:no|nothing|not an?y?)\b(?! (?:\w+ )?{_PICTURE})", re.IGNORECASE
)
"""Says what the picture does not show, so it was looked at."""


def declines_to_look(text: str) -> bool:
    """Whether an answer says nothing about the picture because the model did not look at it.

    >>> declines_to_look("I'm sorry, I can't view images.")
    True
    >>> declines_to_look("I cannot answer because there is no book on the chair.")
    False
    >>> declines_to_look("The colour cannot be determined from this picture.")
    False
    """
    said = plain(text)[:600]
    return _DECLINES.search(said) is not None and _TELLS.search(said) is None
