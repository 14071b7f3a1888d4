"""What a reasoning segmenter says, read as an outcome.

Such a model answers in words: a mask stands where it says [SEG] (PixelLM: [SEG0] [SEG1] …), or in
boxes between <answer> tags that another model turns into masks. Asked for something that is not
there, it may say so. The rules, first match wins:

| masks | words | outcome |
|---|---|---|
| some | any | ok: a mask is an answer, whatever is said beside it |
| none | a [SEG] | unparsed: a mask was announced and none came |
| none | an empty list in <answer> | abstained |
| none | a denial: nothing there, not in the picture, cannot be found | abstained |
| none | anything else, or nothing | unparsed: silence is not a rejection |

What stands between <think> tags is not part of the answer.
"""

from __future__ import annotations

import re

from groundfault.records import Outcome

__all__ = ["denies_presence", "outcome_of_text"]

_PICTURE = r"(?:image|picture|photo(?:graph)?|scene|frame|view|visual|depiction|shot|illustration)"
_BE = r"(?:is|are|was|were|be|being)"
_NOT = r"(?:not|n't|never)"
_FIND = (
    r"(?:see|find|locate|spot|detect|identify|discern|recogni[sz]e|confirm|verify|validate|"
    r"observe|notice|make out|segment|provide|point out)"
)
_FOUND = (
    r"(?:seen|found|located|spotted|detected|identified|visible|present|there|here|depicted|shown|"
    r"pictured|featured|displayed|included|apparent|evident|existent|available|discernible|"
    r"observed|part of|in sight|in view|to be (?:seen|found)|(?:in|on|within|among) (?:the|this|"
    r"that|sight|view|any))"
)
_NO_DENIAL = r"(?!\s+(?:problem|worries|doubt|question|mistak\w+|matter))"
_FEW = r"(?:\W+\w+){0,6}?\W+"
"""Up to six words between."""

_SEG = re.compile(r"[\[<]seg\d*[\]>]", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|$)", re.IGNORECASE | re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|$)", re.IGNORECASE | re.DOTALL)
_NOTHING = re.compile(
    r"\[\s*\]|\{\s*\}|\W*(?:none|null|nothing|no (?:object|match)s?|n/?a|empty)\W*"
)

_DENIALS = [
    # "No.", "No, …", "No zebra …", "None", "Nothing …" at the start of a sentence
    rf"(?:^|[.!?:;]\s+)(?:sorry,? (?:but )?)?(?:no|nope|none|nothing|missing)\b{_NO_DENIAL}",
    r"(?:^|[.!?]\s+)(?:while|though|although|since|as) no\b",
    # there is no …, there are not …, there seems to be nothing …
    rf"\bthere(?:'s| {_BE}| (?:seems?|appears?) to be)(?: {_NOT}|{_NOT})?(?: \w+)?"
    rf" ?\b(?:no|not|none|nothing|never|any|an absence)\b{_NO_DENIAL}",
    rf"\bthere(?: {_BE} ?{_NOT}| (?:does|do|did) ?{_NOT})\b",
    # I cannot see …, unable to find …, did not detect …, not finding …
    rf"\b(?:cannot|can ?{_NOT}|ca{_NOT}|could ?{_NOT}|(?:do|does|did) ?{_NOT}|{_BE} ?{_NOT}|unable"
    rf"|{_NOT} able|fail(?:s|ed)?)(?: to)?(?: \w+ly)? {_FIND}",
    rf"\b{_NOT} (?:\w+ly )?(?:finding|seeing|detecting|spotting)\b",
    # … is not in the picture, … isn't visible, … cannot be found
    rf"\b(?:{_BE}|'s|can|could|has|have|does)(?:not| ?{_NOT})(?: been| be)?(?: \w+ly)? {_FOUND}\b",
    rf"\b(?:it|they|that|he|she)'(?:s|re) {_NOT} (?:\w+ly )?{_FOUND}\b",
    rf"(?:^|[,;] ?){_NOT} (?:\w+ly )?{_FOUND}\b",
    # the picture does not contain …; … does not exist; … does not seem to be …
    rf"\b(?:does|do|did) ?{_NOT}(?: \w+ly)? (?:contain|have|show|include|feature|depict|display|"
    r"showcase|exist|appear|seem|match|present|hold|capture)\b",
    r"\bfail(?:s|ed)? to (?:show|display|include|depict|contain|feature)\b",
    # absent, missing, lacking, nowhere
    r"(?<!not )(?<!n't )\b(?:absent|absence|nowhere|devoid|nonexistent|non-existent)\b",
    rf"\b{_PICTURE}\b{_FEW}(?:lack(?:s|ing)?|void|missing)\b",
    r"\b(?:i|we)(?:'m|'re| am| are) (?:\w+ly )?missing\b",
    rf"\b(?:{_BE}|'s|'re) (?:\w+ly )?missing\b(?! (?:a|an|its|his|her|their|one|some|the)\b)",
    r"\b(?:seems?|appears?) (?:to be )?missing\b",
    # finds no …, shows nothing, turned up empty
    r"\b(?:reveal|show|find|contain|yield|see|detect|display|include|has|have|had|found|saw)"
    r"(?:s|ed|ing)? (?:no|nothing|none)\b",
    r"\b(?:turn(?:s|ed)? up|came up|come up) (?:empty|nothing)\b",
    r"(?:,|\b(?:with|but|and|yet|while|though|since|as|because|that)) no\b(?:(?: \w+){1,6}? "
    r"(?:is|are|was|were|in|here|there|can|could)| (?:sign|trace|evidence|instance|such))\b",
]
_DENIAL = re.compile("|".join(f"(?:{denial})" for denial in _DENIALS))


def denies_presence(said: str) -> bool:
    """Whether words in lower case say that something is not there.

    >>> denies_presence("the zebra is missing"), denies_presence("the zebra is on the left")
    (True, False)
    """
    return bool(_DENIAL.search(said))


def outcome_of_text(text: str, n_masks: int) -> Outcome:
    """How an answer in words, with that many masks, ended: ok, abstained or unparsed.

    >>> outcome_of_text("Sure, [SEG].", 1).value
    'ok'
    >>> outcome_of_text("There is no zebra, only a striped horse.", 0).value
    'abstained'
    >>> outcome_of_text("Sure, [SEG].", 0).value
    'unparsed'
    >>> outcome_of_text("<think>No cow… a dog!</think><answer>[]</answer>", 0).value
    'abstained'
    """
    if n_masks > 0:
        return Outcome.OK
    if _SEG.search(text):
        return Outcome.UNPARSED
    said = _THOUGHT.sub(" ", text).replace("’", "'")
    said = " ".join(said.casefold().split())
    answer = _ANSWER.search(said)
    if answer is not None:
        said = answer.group(1).strip()
        if _NOTHING.fullmatch(said):
            return Outcome.ABSTAINED
    return Outcome.ABSTAINED if denies_presence(said) else Outcome.UNPARSED
