"""Yes or no, in any wording and many languages; what cannot be told for sure is None.

An answer is cut into sentences and these into parts. Each part makes at most one claim: by a word
that answers on its own ("yes", "absolutely not", "✅"), or by what it states about the question
(`statements`). The rules of putting claims together, in this order:

1. A part that only supposes ("at first I thought no", "some would say yes") makes no claim.
2. "Wait", "correction" and the like take back what was claimed before.
3. Claims by word outweigh statements, but if any two claims disagree, the answer is not read.
"""

from __future__ import annotations

import re

from groundfault.parsing.appearances import seen_through
from groundfault.parsing.questions import Asked, asked_by
from groundfault.parsing.ratings import SURE_FROM, UNLIKELY_TO, best_rated, sureness
from groundfault.parsing.statements import (
    OPENERS,
    YesNo,
    denies_existence,
    is_unsure,
    stated,
)
from groundfault.parsing.vocabulary import LANGUAGES, MARKS, language_of, listed
from groundfault.parsing.wording import (
    has_words,
    is_refusal,
    noun,
    plain,
    split_sentences,
    stem,
    tokens,
    unwrapped,
)

__all__ = ["YesNo", "denies", "parse_yes_no", "parse_yes_no_as_pope"]

_YES = listed(" ".join(each.yes for each in LANGUAGES.values() if each.spaced))
_NO = listed(" ".join(each.no for each in LANGUAGES.values() if each.spaced))
_AGREE = listed(
    "correct true right exactly precisely agreed accurate sure absolutely certainly definitely "
    "indeed "
    "undoubtedly surely course"
)
"""Yes if they stand alone."""
_DISAGREE = listed("incorrect false wrong untrue inaccurate never neither none negative hardly")
_FILLER = listed(
    "so thus hence therefore well ok okay hmm um oh ah then overall and but in conclusion "
    "short summary"
    " finally fact actually answer final i would d say think believe guess it seems appears likely"
    " probably most clearly obviously unfortunately regrettably honestly my the is be must to "
    "have a an"
    " that this question which means it's i'd i'm am afraid that's really at all of quite "
    "simply just"
    " very sir please entirely statement description claim sentence great case as you you're yes,"
    " was were definitive here for will response sorry mean meant wait"
)
_ASSURANCE = re.compile(
    r"\b(?:without (?:a |any )?(?:shadow of a )?doubt|(?:absolutely |there is |there's )?no doubt"
    r"(?: about (?:it|that))?|no question(?: about (?:it|that))?|beyond (?:a |any )?doubt|100 ?%|"
    r"for sure|hands down)(?=\W|$)",
    re.IGNORECASE,
)
_NO_PHRASE = re.compile(
    "|".join(
        (
            r"(?:i )?(?:do not|don't|wouldn't|would not) (?:think|believe|say) so",
            r"i (?:highly |very much )?doubt (?:it|that|so)",
            r"(?:that's|that is|it's|it is|this is) not (?:so|the case)",
            r"(?:it |that |this )?(?:doesn't|does not) (?:look|seem|appear) (?:like it|so|that "
            r"way)",
            r"not (?:really|exactly|at all|quite|true|correct|so|the case)|not that i can "
            r"(?:see|tell|find|make out)",
            r"not as far as [\w ]{1,40}|not in (?:this|the) [\w ]{1,30}|none that i can see",
            r"far from it|by no means|nothing of the sort|on the contrary|no way|no such \w+",
            r"not even (?:close|one)",
        )
    ),
    re.IGNORECASE,
)
_YES_PHRASE = re.compile(
    "|".join(
        (
            r"(?:i )?(?:think|believe|guess|suppose|would say) so",
            r"(?:(?:it|that) )?(?:seems|appears|looks) (?:so|that way|like it)",
            r"(?:it )?(?:sure|certainly|definitely) (?:does|is|do|are)",
            r"you bet|that(?:'s| is) (?:so|the case)|so it is",
        )
    ),
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"^\W*(?:(?:yes|no|oh|hmm+|but|and|uh|well|or),? )*(?:wait|hold on|scratch that|correction|"
    r"let me "
    r"(?:look|check|re\w*|correct|think)|i was wrong|i made a mistake|on second thoughts?|i "
    r"take (?:it|"
    r"that) back|strike that|i stand corrected)\b",
    re.IGNORECASE,
)
_REVISES = re.compile(
    r"^\W*(?:(?:oh|hmm+|but|and|uh|well),? )*(?:actually|sorry|my apologies|apologies|i mean|i "
    r"meant|or "
    r"rather|looking (?:closer|again|more closely)|on (?:closer|further|a closer) \w+|hmm+)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:at first|initially|first (?:answer|guess|thought|glance|sight|impression)|i "
    r"(?:first |had )?"
    r"thought|i was going to|i expected|one might|some (?:would|might|may|people)|others|you might|"
    r"earlier i|i said|i wish|i(?:'d| would) (?:like|love) to (?:say|see)|according to|"
    r"(?:caption|title|label|sign|text|prompt|question|user|colleague|friend|description|sentence|"
    r"statement|you|someone|people|everyone|they|he|she)(?: \w+ly)? (?:says?|said|claims?|claimed|"
    r"suggests?|suggested|impl(?:y|ies|ied)|states?|stated|mentions?|mentioned|assumes?|assumed|"
    r"believes?|thinks?))\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\b(?:let me|i can (?:help|assist|do)|i(?:'ll| will| would be|'d be)|happy to|glad to|"
    r"here is (?:the|"
    r"my))\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[,;:，；：、،]+|\s[-–—→]+\s|[—–→]|\.{2,}|…|(?=\b(?:but|wait)\b)|[\"()\[\]{}]")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_AFTER_NO = listed(
    "there it i the this that they he she we you not because since as in sir ma'am nothing "
    "neither is "
    "are both indeed based absolutely of wait no yes its"
)
"""What follows "no" where that is an answer of its own: "No there isn't", but "No dogs"."""
_ALTERNATIVE = re.compile(
    r"\byes\W+(?:(?:and|or)\W+)?(?:also\W+)?no\b|\bno\W+(?:or|and)\W+yes\b", re.I
)


def parse_yes_no(text: str, *, question: str = "", negated: bool | None = None) -> YesNo | None:
    """Yes, no, or None if it cannot be told.

    An answer without either word is read by what it states about the question, or, where that is
    not known, by what it denies: "There is no dog" means no where the question asks for a dog, and
    yes where it asks whether there is none (`negated`; told by the question if it is None).

    >>> parse_yes_no("Yes."), parse_yes_no("Nein, da ist nichts."), parse_yes_no("Maybe.")
    ('yes', 'no', None)
    >>> parse_yes_no("There is no dog."), parse_yes_no("There is no dog.", negated=True)
    ('no', 'yes')
    >>> parse_yes_no("There is a dog.", question="Is there a cat?") is None
    True
    """
    if text in ("Yes", "No", "yes", "no", "Yes.", "No."):
        return "yes" if text[0] in "Yy" else "no"  # most answers, in a hurry
    asked = asked_by(question) if has_words(question) else None
    if negated is None:
        negated = asked is not None and asked.negated
    text = _without_question(unwrapped(plain(text)), question)
    text = _DRAWN_OUT.sub(_not_drawn_out, text)
    text = "".join(f" {MARKS[char]}. " if char in MARKS else char for char in text)
    text = _unquoted(text.lstrip(" \t\n([{<.:;,-–—").rstrip())
    if not has_words(text) or is_refusal(text):
        return None
    if text.strip(" .\"'") in ("Y", "y", "N", "n"):
        return "yes" if "y" in text.casefold() else "no"
    if (best := best_rated(text, _SAID)) is not None:
        return ("yes", "no")[best] if best >= 0 else None
    return _together(_ASSIGNED.sub(r"\1", text), asked, negated)


_SAID = (r"yes|true", r"no|false")
_DRAWN_OUT = re.compile(
    r"\b(?:(yes)s+|(no)o+|(nah)h+|(nope)e+|(yea)a*h+|(ye|yu)pp+)\b", re.IGNORECASE
)
_ASSIGNED = re.compile(
    r"^(?:return |print\(|[a-z_]\w*(?:\.\w+)* ?={1,2}) ?[\"']?(true|false|yes|no)[\"']?\)?;?$",
    re.IGNORECASE,
)
"""An answer in a line of code: `has_dog = True`."""


def _not_drawn_out(found: re.Match[str]) -> str:
    word = str(found[found.lastindex or 0]).casefold()
    return {"yea": "yeah", "ye": "yep", "yu": "yup"}.get(word, word)


def _unquoted(text: str) -> str:
    """Without quotation marks around all of it."""
    found = re.fullmatch(r"([\"'])([^\"]*)\1\.?", text)
    return found[2] if found else text


def _without_question(text: str, question: str) -> str:
    """Without the question, which some models say again before they answer it."""
    again = plain(question).strip()
    return text.replace(again, " ") if len(again) > 3 else text


def _together(text: str, asked: Asked | None, negated: bool) -> YesNo | None:
    """The one reading that all claims of an answer agree on."""
    words: list[YesNo] = []
    statements: list[YesNo] = []
    weak, revised = True, False
    for sentence in _assertions(text, asked):
        if _ALTERNATIVE.search(sentence) and not _corrected(sentence):
            return None
        by_word = False
        for part in _parts(sentence):
            if back := _TAKES_BACK.match(part):
                words, statements, part = [], [], part[back.end() :]
            revised = revised or bool(words and _REVISES.match(part))
            claims, is_weak = _claimed(part)
            if revised and claims and not set(claims) <= set(words):
                words, statements, revised = [], [], False
            weak = is_weak if claims and not words else weak
            words += claims
            by_word = by_word or bool(claims)
            if words and _DOUBT.fullmatch(part):
                return None
        if asked is None and words and not by_word:
            continue  # there is no telling what the rest is about
        claim = _statement(sentence, asked, negated)
        if claim is not None:
            if revised and claim not in words:
                words, statements, revised = [], [], False
            statements.append(claim)
    if weak and len(words) == 1 and _OFFERS.search(text):
        words = []
    said = {*words, *statements}
    return said.pop() if len(said) == 1 else None


MOST_SENTENCES = 200
_DOUBT = re.compile(
    r"(?:but )?i(?:'m| am) not (?:really |entirely )?(?:sure|certain)\W*|i (?:do not|don't) "
    r"know\W*",
    re.I,
)
_QUOTED = re.compile(r'"[^"\n]{1,200} [^"\n]{1,200}"')


def _assertions(text: str, asked: Asked | None) -> list[str]:
    """The sentences that assert something: no questions, nothing quoted, and no answers to
    questions that the model asks itself about other things."""
    sentences = split_sentences(_QUOTED.sub(" ", text))[:MOST_SENTENCES]
    found, other = [], False
    for sentence in sentences:
        if sentence.rstrip("\"') ").endswith(("?", "？", "؟")):
            own = {stem(word) for word in tokens(sentence)}
            other = asked is not None and len(own) > 2 and not own & set(asked.head)
            continue
        if not other:
            found.append(sentence)
        other = False
    return found


def _statement(sentence: str, asked: Asked | None, negated: bool) -> YesNo | None:
    """What a sentence states, its words that answer left out."""
    if rated := sureness(sentence):
        return _rated(*rated, asked, negated)
    if asked is not None and (found := seen_through(sentence)):
        return _seen_through(*found, asked)
    bare = _LEADING.sub("", _assured(sentence))
    parts = [part for part in re.split(r"[;:]|[—–]| - ", bare) if has_words(part)]
    if _SUPPOSES.search(sentence):
        parts = [part for each in parts for part in re.split(r",? ?\bbut\b,? ?", each)]
        parts = [part for part in parts if has_words(part) and not _SUPPOSES.search(part)]
    said = {stated(part, asked, negated) for part in parts} - {None}
    return said.pop() if len(said) == 1 else None


def _rated(text: str, share: float, asked: Asked | None, negated: bool) -> YesNo | None:
    """What a statement says that is made with a sureness."""
    claims, _ = _claimed(text)
    found = claims[0] if len(set(claims)) == 1 else stated(text, asked, negated)
    if found is None or UNLIKELY_TO < share < SURE_FROM:
        return None
    return found if share >= SURE_FROM else "no" if found == "yes" else "yes"


def _seen_through(seeming: str, truth: str, asked: Asked) -> YesNo | None:
    """Whether a thing only seems to be what is asked for, or turns out to be it."""
    seems, is_it = (_names(part, asked) for part in (seeming, truth))
    if not asked.existence or seems == is_it:
        return None
    placed = all(part in map(stem, tokens(seeming + " " + truth)) for part in asked.place)
    if is_it and not (placed and asked.detail == ()):
        return None
    return "yes" if is_it != asked.negated else "no"


def _names(text: str, asked: Asked) -> bool:
    words = [noun(word) for word in tokens(text)]
    size = len(asked.head)
    return any(tuple(words[k : k + size]) == asked.head for k in range(len(words) - size + 1))


_LEADING = re.compile(
    r"^\W*(?:(?:yes|no|yep|yeah|yup|nope|nah|correct|right|true|false|indeed|absolutely|certainly|"
    r"definitely|sure|wait|actually|sorry|oh|hmm+|well|efectivamente|верно|да|нет|sí|si|oui|non|ja|nein|"
    r"sim|não|sì|نعم|لا)(?:\s*[,.;:!،—–-]+\s*|\s+(?=(?:there|it|the|this|i|we|he|she|they)\b)))+",
    re.IGNORECASE,
)


def _corrected(sentence: str) -> bool:
    return (
        re.search(r"\b(?:wait|actually|sorry|correction|i mean|but)\b", sentence, re.I) is not None
    )


def _parts(sentence: str) -> list[str]:
    return [part.strip() for part in _PART.split(_assured(sentence)) if part and has_words(part)]


def _assured(sentence: str) -> str:
    """Without "without a doubt" and the like, which are a yes if nothing else is said."""
    rest = _ASSURANCE.sub(" ", sentence)
    return rest if has_words(rest) else "yes"


def _claimed(part: str) -> tuple[list[YesNo], bool]:
    """What a part claims by words that answer on their own, and whether by weak ones alone."""
    language = language_of(part)
    part = part.strip(" .!。！\"'*")
    bare = OPENERS.sub("", part).strip() or part
    if _NO_PHRASE.fullmatch(bare) or _NO_PHRASE.fullmatch(part):
        return ["no"], False
    if _YES_PHRASE.fullmatch(bare) or _YES_PHRASE.fullmatch(part):
        return ["yes"], False
    if _SUPPOSES.search(part) or is_unsure(part, language):
        return [], False
    if not language.spaced:
        part = _PARTICLES.sub("", part) or part
        yes, no = part in listed(language.yes), part in listed(language.no)
        return (["yes"] if yes else ["no"] if no else []), False
    words = [word.casefold() for word in _WORD.findall(part)]
    content = [word for word in words if word not in _FILLER]
    if not content:
        return [], False
    if all(word in _ANSWERING for word in content):
        return _sequence(content, of_answer="answer" in words)
    first = content[0]
    following = next(iter(words[words.index(first) + 1 :]), "")
    if first in _STRONG:
        return ["yes" if first in _YES else "no"], False
    if first == "no" and following in _AFTER_NO:
        return ["no"], False
    return [], False


_PARTICLES = re.compile("(?:ครับ|ค่ะ|คะ|นะ|[哦呢啊呀喔呐的])+$")
"""Of politeness or mood; they change no answer."""
_STRONG = listed("yes yep yeah yup oui nein nope nah sim não да evet")
_ANSWERING = _YES | _NO | _AGREE | _DISAGREE | {"not"}
_INTENSE = listed(
    "absolutely certainly definitely indeed undoubtedly surely course exactly precisely"
)


def _sequence(words: list[str], *, of_answer: bool) -> tuple[list[YesNo], bool]:
    """What words say of which each answers: "absolutely not", "not true", "yes no"."""
    claims: list[YesNo] = []
    weak, denied = True, False
    for word in words:
        if word == "not":
            denied = True
        elif word in _YES or word in _NO:
            claims.append("yes" if (word in _YES) != denied else "no")
            weak = denied = False
        elif word in _DISAGREE:
            claims.append("yes" if denied else "no")
            weak = denied = False
        elif word not in _INTENSE:
            if of_answer and not denied:
                continue  # "the correct answer" answers nothing
            claims.append("no" if denied else "yes")
            denied = False
    if denied:
        return [*claims, "no"], False
    if not claims and _INTENSE & set(words):
        return ["yes"], True
    return claims, weak


def parse_yes_no_as_pope(text: str) -> YesNo:
    """By the rule of POPE's own script: no if the first sentence has the word "No", "no" or "not",
    and yes otherwise, whatever else it says.

    >>> [parse_yes_no_as_pope(text) for text in ("There is a cat.", "No, a dog.", "I can't tell.")]
    ['yes', 'no', 'yes']
    """
    words = text.partition(".")[0].replace(",", "").split(" ")
    return "no" if {"No", "no", "not"} & set(words) else "yes"


def denies(text: str) -> bool:
    """Whether an answer says that there is no such thing.

    >>> denies("Nothing at all."), denies("I can't see a dog there."), denies("A brown dog.")
    (True, True, False)
    """
    return denies_existence(unwrapped(plain(text)).strip(" \t\n\"'("))
