"""What a sentence without yes or no says about a yes/no question.

"There is a lamp on the table." is a yes if the question asks for a lamp on the table; about a chair
it says nothing. So a sentence counts only if it names what the question names, in a frame that
states or denies it, at the same place. Where the question is not known, only sentences that state
or deny that something is there count.
"""

from __future__ import annotations

import re
from typing import Literal

from groundfault.parsing.questions import PICTURE, Asked
from groundfault.parsing.vocabulary import LANGUAGES, Language, language_of, listed
from groundfault.parsing.wording import noun, stem, tokens

__all__ = ["YesNo", "denies_existence", "is_unsure", "stated"]

YesNo = Literal["yes", "no"]

OPENERS = re.compile(
    r"^(?:(?:so|thus|hence|therefore|well|ok(?:ay)?|hmm+|um+|oh|ah|then|overall|and|but|also|yet|"
    r"in (?:conclusion|short|summary)|to (?:conclude|summari[sz]e)|finally|in fact|actually|"
    r"however|"
    r"(?:a|answer)(?=:)|i(?: would|'d) (?:say|answer)(?: that)?|i (?:think|believe|guess)(?: "
    r"that)?|"
    r"i can (?:confirm|say|tell)(?: that)?|i(?:'m| am) (?:certain|sure|confident|positive)(?: "
    r"that)?|"
    r"it (?:seems|appears|looks)(?: to me)?(?: that| like| as if)?|as i can see|"
    r"(?:most )?(?:likely|probably)|clearly|obviously|unfortunately|honestly|instead|here|"
    r"(?:based|judging|going) (?:on|by|from)[^,.]{0,80}|looking [^,.]{0,80}|upon [^,.]{0,80}|"
    r"(?:in|from|for) (?:the|this|that|both|these|each) [^,.]{1,60}|"
    r"as (?:far as|seen|shown)[^,.]{0,60})"
    r"\s*[,:;.\-–—]*\s*)+",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|possibly|not (?:\w+ly |quite |at all )?(?:sure|certain|clear|im?possible)|"
    r"unsure|uncertain|unclear|ambiguous|inconclusive|no (?:idea|clue|comment|way (?:to|of))|"
    r"hard to (?:say|tell)|if|whether|(?:difficult|impossible) to|"
    r"(?:can ?not|can't|could not|couldn't|unable to|not able to) (?:be )?(?:\w+ly )?(?:say|"
    r"said|tell|"
    r"told|determined?|confirm(?:ed)?|verif(?:y|ied)|know|known|answer(?:ed)?|be sure|decide)|"
    r"(?:do not|don't) (?:really )?know|yes and no|yes or no|yes\s*/\s*no|both yes|either yes|"
    r"might|may|could|would(?! (?:be (?:yes|no)|say|have to|answer))|should|go either|50/50|"
    r"depends|some (?:would|might)|nothing is certain|"
    r"usually|often|typically|normally|commonly|expect(?:ed)?|as if|looks? like an?|resembl\w+|"
    r"similar to|unless|possible|possibility|chance|supposed|imagine|used to|yesterday|doubt|"
    r"except|excluding|apart from|"
    r"besides|"
    r"previous(?:ly)?|formerly|earlier|originally|anything but|almost|toy|statue of|painting "
    r"of|drawing of)\b",
    re.IGNORECASE,
)
_NEGATOR = listed(
    "no not never none nothing neither nor without cannot lacks lack lacking absent missing "
    "nowhere "
    "devoid isn't aren't wasn't weren't doesn't don't didn't hasn't haven't can't couldn't "
    "won't nobody"
)
_BE = r"(?:is|are|was|were)"
_FRAMED = re.compile(
    r"^it(?: is|'s| would be) (not )?(true|correct|right|the case|so|false|wrong|incorrect|untrue)"
    r"(?: to (?:say|claim))? that\s+|^it isn't (true|correct|right|the case|so) that\s+"
    r"|^i (do not|don't) (?:think|believe)(?: that)?\s+"
)
_ELLIPSIS = re.compile(
    r"^(?:it|there|they|that|he|she|i|we|you)(?:'s|'re)? ?(?:certainly |definitely |clearly |"
    r"indeed |"
    r"most )*(?:is|are|does|do|did|was|were|has|have|can)?(?: certainly| definitely| indeed)*"
    r"( ?not|n't)?(?: one| some| any)?\W*$"
)
_ELLIPTIC_VERB = re.compile(
    r"\b(?:is|are|does|do|did|was|were|has|have|can|cannot)(?:\b|n't)|'(?:s|re)\b"
)
_SAME = re.compile(
    r"\b(?:identical|unchanged|the same|no (?:visible |apparent )?(?:changes?|differences?)|"
    r"nothing (?:at all )?(?:has |is |was )?(?:changed|different|differs|moved))\b"
)
_CHANGE = frozenset({"change", "differ", "different", "difference", "alter", "same", "identical"})


def is_unsure(text: str, language: Language) -> bool:
    """Whether a part of an answer leaves open what it says."""
    if language.code == "en":
        return _UNSURE.search(text) is not None
    return bool(language.unsure) and re.search(language.unsure, text.casefold()) is not None


def stated(sentence: str, asked: Asked | None, negated: bool) -> YesNo | None:
    """What a sentence says; `negated` is how a denial of everything counts: as a yes.

    >>> from groundfault.parsing.questions import asked_by
    >>> lamp = asked_by("Is there a lamp on the table?")
    >>> [stated(f"There is {what}.", lamp, False) for what in ("a lamp", "no lamp", "a chair")]
    ['yes', 'no', None]
    """
    language = language_of(sentence)
    if asked is not None and not asked.head:
        return None
    if asked is not None and asked.language.code != language.code:
        return _denied_in_another_language(sentence.casefold(), asked, language)
    if language.code != "en":
        unsure = is_unsure(sentence, language)
        return None if unsure else _elsewhere(sentence.casefold(), asked, language, negated)
    text = sentence.casefold().strip(" ,.;:\"'([").replace("at least ", "").replace(" at all", "")
    text = OPENERS.sub("", text).strip() or text
    affirmed = True
    while framed := _FRAMED.match(text):
        denied = bool(framed[1] or framed[3] or framed[4])
        affirmed ^= denied != (framed[2] in ("false", "wrong", "incorrect", "untrue"))
        text = text[framed.end() :]
    if is_unsure(text, language):
        return None
    found = _general(text, asked, negated) or _matched(text, asked, negated, framed=not affirmed)
    return found if affirmed or found is None else ("no" if found == "yes" else "yes")


def _answer(holds: bool, negated: bool) -> YesNo:
    return "yes" if holds != negated else "no"


def _general(text: str, asked: Asked | None, negated: bool) -> YesNo | None:
    """What a sentence says that names nothing of its own: "It is not.", "Nothing changed."."""
    if _ELLIPSIS.match(text) and _ELLIPTIC_VERB.search(text):
        denied = re.search(r"\bnot\b|n't", text) is not None
        one = re.search(r" one\W*$| some\W*$", text) is not None
        if negated and not one:
            return None  # "It is not": not true, or not there?
        return _answer(not denied, negated)
    first, comma, _ = text.partition(",")
    if comma and not negated and _ELLIPSIS.match(first) and first.endswith(("n't", " not")):
        return "no"
    if _THERE.fullmatch(text):
        return _answer("not" not in text and text[0] not in "am", negated)
    if asked is not None and _CHANGE & set(asked.content) and _SAME.search(text):
        words = tokens(text)
        if not _elsewhere_placed(words, [stem(word) for word in words], asked):
            changed = (
                re.search(r"\b(?:not|n't) (?:\w+ly )?(?:identical|the same)", text) is not None
            )
            about_same = bool({"same", "identical"} & set(asked.content))
            return _answer(changed != about_same, asked.negated if about_same else negated)
    return None


_THERE = re.compile(
    r"(?:not )?(?:clearly )?(?:present|visible|shown|found)(?: (?:here|in (?:the|this) \w+))?\W*|"
    r"(?:absent|missing)\W*"
)


def _matched(text: str, asked: Asked | None, negated: bool, *, framed: bool) -> YesNo | None:
    if asked is None:
        return _unasked(text, negated, framed=framed)
    text = text.replace("no longer", "not")
    if asked.existence and _denies_the_place(text, asked):
        return _answer(False, asked.negated)
    text = re.sub(r"\b(?:instead of|rather than|unlike|other than)\b[^,.;:]{0,60}", " ", text)
    found = None
    for clause in re.split(
        r"[;:]| - |–|—|\bbut\b|\bhowever\b|\bthough\b|\bwhile\b|\balthough\b", text
    ):
        words = tokens(clause)
        holds = _existence(words, asked) if asked.existence else _property(words, asked)
        if holds is None:
            continue
        if found is not None and found != holds:
            return None
        found = holds
    return None if found is None else _answer(found, asked.negated)


_CONTRAST = re.compile(r"\b(?:and not|not|rather than|instead of|instead of being) ([^,.;:]{1,60})")


def _denies_the_place(text: str, asked: Asked) -> bool:
    """Whether a sentence has the thing elsewhere: "The lamp is on the floor, not on the table."."""
    head = _place_of([noun(word) for word in tokens(text)], asked.head)
    if head is None or not asked.place:
        return False
    for found in _CONTRAST.finditer(text):
        words = tokens(found[1])
        at_the_place = {stem(word) for word in words[1:]} & set(asked.place)
        if words and words[0] in asked.prepositions and at_the_place:
            before = tokens(text[: found.start()])
            placed = set(before) & listed(LANGUAGES["en"].places)
            return bool(placed) and not set(before) & _NEGATOR
    return False


# Where the question is not known.

_DENIAL = re.compile(
    "|".join(
        (
            rf"there (?:{_BE}|'s)(?:n't| not\b| nothing\b| none\b| no\b(?! (?:doubt|question|"
            rf"way)))",
            r"there's no\b(?! (?:doubt|question|way))",
            r"there (?:does not|doesn't|do not|don't) (?:appear|seem)\b",
            r"(?:i|one|you|we) (?:can ?not|can't|do not|don't|could not|couldn't) (?:actually |"
            r"really )?"
            r"(?:see|find|spot|detect|identify|observe|notice|make out)\b"
            r"(?! (?:well|clearly|much|enough))",
            r"(?:i am|i'm) (?:unable|not able) to (?:see|find|spot)\b",
            r"(?:i|we) (?:see|find|spot|detect|notice|observe) (?:no|none|nothing)\b",
            r"no (?!doubt|question|idea|clue|comment|way|image|picture|photo|problem|"
            r"worries)[a-z-]+",
            r"(?:nothing|none|neither|nowhere|nobody)\b",
            rf"(?:the|this|that|these|those|it|they|he|she|both|each|its|an?)\b[^.,;:]{{0,60}}?"
            rf"(?:\b(?:{_BE}|does|do|did|has|have) not\b|\b(?:{_BE}|does|do|did|has|have|ca)n't\b|"
            rf"\bcannot be (?:seen|found)\b|\blacks?\b|\b(?:contains?|shows?|has|have|had|holds?) "
            rf"(?:no|nothing)\b|\b{_BE} (?:absent|missing|nowhere)\b)",
        )
    )
)
_AFFIRMATION = re.compile(
    rf"there(?:'s| {_BE}| (?:appears?|seems?) to be)\b(?! (?:also|only|just)\b)|"
    r"(?:i|we|you|one) can (?:clearly |also )?(?:see|spot|observe)\b|"
    rf"(?:the|this) {PICTURE} (?:clearly )?(?:shows?|depicts?|features?|contains?|includes?)\b|"
    rf"(?:an?|some|several|multiple|many|two|three) [^.,;:]{{1,60}}?\b(?:{_BE}|can be) "
    r"(?:clearly )?(?:visible|present|seen)\b"
)


def _unasked(text: str, negated: bool, *, framed: bool) -> YesNo | None:
    if _DENIAL.match(text):
        return _answer(False, negated)
    if framed and not negated:
        return "yes"  # what is said not to be so
    found = _AFFIRMATION.match(text)
    if not found or re.match(r"there(?:'s| is) (?:a|some) (?:chance|possibility|doubt)", text):
        return None
    clause = re.split(r"[;:]|\bbut\b|,", text)[0]
    return _answer(True, negated) if not _NEGATOR & set(tokens(clause)) else None


def denies_existence(text: str) -> bool:
    """Whether an English sentence says that there is no such thing."""
    text = OPENERS.sub("", text.casefold()).strip()
    return bool(_DENIAL.match(text)) or bool(re.match(r"^(?:no|neither|none)\b", text))


# Is there such a thing?

_STATES = re.compile(
    rf"\bthere(?:'s| {_BE}| (?:appears?|seems?) to be)\b|"
    r"\b(?:i|we|you|one)(?: can| could)?(?: \w+ly| also)? (?:see|observe|spot|find|notice|"
    r"detect|count)\b|"
    rf"\b(?:{PICTURE}|it)(?: \w+ly| also)? (?:shows?|depicts?|features?|contains?|includes?|"
    rf"has|have|"
    r"displays?|captures?|presents?|portrays?|showcases?)\b|"
    r"\b(?:has|have|holds?|with|contains?|features?)\b"
)
_DETERMINERS = listed(
    "a an the one two three four five six seven eight nine ten some several multiple many both at "
    "least few couple of numerous various another this that these those and"
)
_LIGHT = listed(
    "visible such actual actually real single clear clearly discernible obvious sign signs "
    "evidence "
    "trace traces of any a an the see find spot detect identify observe notice contain show "
    "feature "
    "depict include have display appear seem to be in this that picture image photo scene able "
    "exactly "
    "indeed there is are was were really apparent not kind or other of objects object things "
    "anywhere "
    "it here present can could does do has anything holding i in present seen found exist "
)
_VERBAL = listed(
    "high low far close just too while when "
    "is are was were can could has have and or with on in at that which who near next behind under "
    "above to by beside against as from stands sits lies hangs playing visible present there "
    "here , "
    "inside along around between over among for of seems appears located placed"
)
_EMPTY = listed("empty bare vacant clear blank unoccupied")
_NOT_IT = {"dog": "hot", "bear": "teddy", "horse": "sea", "board": "key"}


def _existence(words: list[str], asked: Asked) -> bool | None:
    """Whether a clause states (True) or denies (False) that there is such a thing."""
    stems = [stem(word) for word in words]
    at = _place_of([noun(word) for word in words], asked.head)
    if at is None:
        return _without_head(words, stems, asked)
    end = at + len(asked.head)
    if _elsewhere_placed(words, stems, asked):
        return None
    before = _clause_start(words, at)
    negators = [k for k in range(len(words)) if _is_negator(words[k])]
    if not negators or all(k > end and "," in words[end:k] for k in negators):
        return _affirms(words, stems, at, asked)
    if len(negators) > 1 and not (set(words) & {"any", "nor"}):
        return None
    k = negators[0]
    if before <= k < at:
        between = words[k + 1 : at]
        if words[k] == "none" or all(word in _LIGHT for word in between):
            return None if "other" in between else False
        return None
    rest = [w for w, s in zip(words[k + 1 :], stems[k + 1 :], strict=True) if s not in asked.place]
    known = _LIGHT | listed("from on the be been") | asked.prepositions
    return False if k >= end and "," not in words[end:k] and all(w in known for w in rest) else None


def _is_negator(word: str) -> bool:
    return word in _NEGATOR or word.endswith("n't")


def _place_of(stems: list[str], head: tuple[str, ...]) -> int | None:
    """Where the words of a thing stand together, other words of the language apart."""
    size = len(head)
    for k in range(len(stems) - size + 1):
        if tuple(stems[k : k + size]) == head:
            return k
    return None


def _clause_start(words: list[str], at: int) -> int:
    return max((k + 1 for k in range(at) if words[k] == ","), default=0)


def _affirms(words: list[str], stems: list[str], at: int, asked: Asked) -> bool | None:
    end = at + len(asked.head)
    after = words[end] if end < len(words) else ","
    if any(part not in stems for part in asked.detail):
        return None
    if at and words[at - 1] == _NOT_IT.get(asked.head[-1]):
        return None
    before = " ".join(words[:at])
    if end == len(words) and set(words[:at]) <= _DETERMINERS - {"the", "this", "that"} and at:
        return True  # "A dog."
    if _STATES.search(before):
        return True if after in _VERBAL or after.endswith(("ing", "ed")) else None
    if not set(words[: max(1, at)]) & _DETERMINERS and at > 0:
        return None
    if set(words[:at]) & listed(LANGUAGES["en"].places) or at > 5:
        return None
    if after in _VERBAL:
        general = at == 0 or (words[0] in ("the", "this", "that") and not asked.place)
        located = set(words[end:]) & (listed(LANGUAGES["en"].places) | {"visible", "present"})
        return True if after != "," and len(words) > end + 1 and (not general or located) else None
    beyond = words[end + 1] if end + 1 < len(words) else ""
    is_verb = words[0] in ("a", "an", "one") and after.endswith("s") and beyond in _VERB_OBJECT
    return True if is_verb or after.endswith("ing") else None


_VERB_OBJECT = listed("the a an on in at its his her over under next by near against")


def _elsewhere_placed(words: list[str], stems: list[str], asked: Asked) -> bool:
    """Whether a clause is about another place than the question."""
    if not asked.place:
        return False
    places = listed(LANGUAGES["en"].places)
    if all(part in stems for part in asked.place):
        named = set(words) & places
        return bool(named) and not asked.prepositions & named
    pictures = listed(LANGUAGES["en"].pictures) | {"it", "there"}
    return any(
        word in places and not set(words[k + 1 : k + 4]) & pictures for k, word in enumerate(words)
    )


def _without_head(words: list[str], stems: list[str], asked: Asked) -> bool | None:
    """Denials that do not name the thing: "There is nothing.", "The table is empty."."""
    if asked.place and set(asked.place) <= set(stems) and _EMPTY & set(words):
        on_it = asked.prepositions <= {"on", "in", "inside", "at", *words}
        return False if on_it and not any(map(_is_negator, words)) else None
    return False if _denies_all(words, stems, asked) else None


_ALL = listed("nothing none nobody")
_NEUTRAL = _LIGHT | listed(
    "at all of the sort them those these on in has have been from between two both first second at"
)


def _denies_all(words: list[str], stems: list[str], asked: Asked) -> bool:
    """Whether a clause says that nothing of the kind is so, and names nothing of its own."""
    whole = _ALL & set(words) or ("anything" in words and any(map(_is_negator, words)))
    if not whole or sum(map(_is_negator, words)) > 1:
        return False
    if asked.absence and not asked.absence & set(stems):
        return False
    known = _NEUTRAL | _ALL | asked.prepositions | {"it", "he", "she", "they", ","}
    return all(
        word in known or part in asked.content or _is_negator(word)
        for word, part in zip(words, stems, strict=True)
    )  # fmt: skip


# Is the thing so?

_PRONOUNS = listed("it he she they that this its his her their it's he's she's they're that's")
_NO_LINK = listed("and or has have had with") | listed(LANGUAGES["en"].places)


def _property(words: list[str], asked: Asked) -> bool | None:
    """Whether a clause states (True) or denies (False) what the question says of its subject."""
    stems = [stem(word) for word in words]
    content = asked.content
    if words[:1] == ["not"] and tuple(stems[1:]) == content[len(content) - len(stems) + 1 :]:
        return False if len(stems) > 1 else None  # "Not red."
    found = _in_order(stems, content)
    if found is None and len(content) > 1 and words and words[0] in _PRONOUNS:
        found = _in_order(stems, content[1:])
        found = None if found is None else [0, *found]
    if found is None or len(content) < 2:
        return _denied_premise(words, stems, asked)
    negators = [k for k in range(len(words)) if _is_negator(words[k])]
    inner = [k for k in negators if found[0] <= k <= found[-1]]
    if len(inner) > 1 or [k for k in negators if k < found[0]]:
        return None
    links = words[found[0] + 1 : found[-1]]
    unknown = [
        word
        for k, word in enumerate(links, start=found[0] + 1)
        if k not in found and word not in _LINKING and not _is_negator(word)
    ]
    if len(unknown) > 2 or "," in links:
        return None
    if any(word in _NO_LINK and word not in asked.prepositions for word in _outside_picture(links)):
        return None
    if [k for k in negators if k > found[-1] and "," not in words[found[-1] : k]]:
        return None
    return not inner


_LINKING = listed(LANGUAGES["en"].stop) | listed(
    "in on image picture photo scene appears seems looks clearly definitely indeed bright dark "
    "light "
    "really actually mostly mainly entirely wide also shown visible"
)


def _outside_picture(words: list[str]) -> list[str]:
    """Without "in the picture"."""
    text = re.sub(rf"\b(?:in|on|of) (?:the|this|that) (?:\w+ )?{PICTURE}\b", " ", " ".join(words))
    return text.split()


def _in_order(stems: list[str], content: tuple[str, ...]) -> list[int] | None:
    found, start = [], 0
    for part in content:
        if part not in stems[start:]:
            return None
        start = stems.index(part, start) + 1
        found.append(start - 1)
    return found


def _denied_premise(words: list[str], stems: list[str], asked: Asked) -> bool | None:
    """ "There is no lamp." denies all that could be asked about the lamp."""
    if _denies_all(words, stems, asked):
        return False
    if asked.absence or not words:
        return None
    text = " ".join(words)
    if not re.match(
        r"(?:there (?:is|are) (?:no|not)\b|there (?:isn't|aren't)\b|no\b|i (?:see no|(?:do not|"
        r"don't|cannot|"
        rf"can't) see)\b|(?:the|this) {PICTURE} (?:does not|doesn't|shows no|contains no|has no))",
        text,
    ):
        return None
    first = next((k for k, part in enumerate(stems) if part in asked.content), None)
    if first is None or sum(map(_is_negator, words)) > 1:
        return None
    return False if all(word in _LIGHT or _is_negator(word) for word in words[:first]) else None


# Other languages.


def _elsewhere(text: str, asked: Asked | None, language: Language, negated: bool) -> YesNo | None:
    """One rule for every other language: what is named is denied, or it is there."""
    if not language.exists:
        return None
    found: bool | None = None
    for clause in re.split(r"[,;:，；：、،]|\s[-–—]\s", text):
        denied = re.search(language.denies, clause) is not None
        if asked is None:
            holds = not denied if denied or re.search(language.exists, clause) else None
        else:
            holds = _about(clause, asked, denied)
        if holds is None:
            continue
        if found is not None and holds != found:
            return None
        found = holds
        if asked is None:
            break
    return None if found is None else _answer(found, negated)


_NOTHING_ODD = re.compile(
    r"\b(?:problem|probl[eè]m|проблем|nada\b|rien\b|nichts\b|duda|dúvida|dubbi|doute|zweifel|сомнен)|"
    r"\b(?:otr|autre|ander|altr|outr|друг)|"
    r"\b(?:кроме|pas que|sauf|excepto|salvo|außer|tranne|exceto|behalve|oprócz)\b|"
    r"除|以外|问题|問題|疑|别的|別的|其他|其它"
)
"""What is said not to be there without any bearing on the question."""


def _denied_in_another_language(text: str, asked: Asked, language: Language) -> YesNo | None:
    """A plain denial that something is there: whoever is asked in English whether there is a dog
    and says "Je ne vois pas de chien" denies that. A thing that is said to be there may be another,
    so that is not read."""
    if not asked.existence or not language.absent or is_unsure(text, language):
        return None
    clauses = re.split(r"[,;:，；：、،]|\s[-–—]\s", text)
    absent = [re.search(language.absent, clause) is not None for clause in clauses]
    there = language.exists + (f"|{language.copula}" if language.copula else "")
    other = any(
        re.search(there, clause) for clause, is_absent in zip(clauses, absent, strict=True)
        if not is_absent
    )  # fmt: skip
    if not any(absent) or other or _NOTHING_ODD.search(text):
        return None
    return _answer(False, asked.negated)


def _about(clause: str, asked: Asked, denied: bool) -> bool | None:
    language = asked.language
    if not language.spaced:
        return _about_unspaced(clause, asked, denied)
    words = [part for word in tokens(clause) for part in word.split("'")]
    named = [any(_alike(part, word) for word in words) for part in asked.head]
    if denied:
        return False if any(named) else None
    if not all(named):
        return None
    placed = all(any(_alike(part, word) for word in words) for part in asked.place)
    pictures = listed(language.pictures)
    other = any(
        word in listed(language.places) and not set(words[k + 1 : k + 4]) & pictures
        for k, word in enumerate(words)
    )
    if asked.place and not placed and other:
        return None
    there = re.search(language.exists, clause) is not None
    located = bool(asked.place or other) and placed and language.copula
    return True if there or (located and re.search(language.copula, clause)) else None


def _about_unspaced(clause: str, asked: Asked, denied: bool) -> bool | None:
    if not all(part in clause for part in asked.head):
        return None
    if denied:
        return False
    placed = all(part in clause for part in asked.place)
    other = asked.place and re.search(r"[上下里旁边後后前中]|に", clause)
    return True if placed or not other else None


def _alike(first: str, second: str) -> bool:
    """Whether two words are forms of one, in a language with many endings.

    >>> _alike("собака", "собаки"), _alike("кот", "которые")
    (True, False)
    """
    if first == second:
        return True
    shared = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= max(3, max(len(first), len(second)) - 3)
