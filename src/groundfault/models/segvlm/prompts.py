"""What is asked and answered, in our words. Each training question leaves room for "it is not
there"; a few of them are held out and used in evaluation only."""

from __future__ import annotations

import random
import re

__all__ = [
    "SEG",
    "Wording",
    "ask",
    "bare",
    "is_sentence",
    "questions",
]

SEG = "[SEG]"
"""The word that stands for a mask."""

_PHRASES = (
    "Segment {what}, if it is in the picture.",
    "Is {what} anywhere here? If so, mark it.",
    "Find {what} and mask it, or say that it is missing.",
    "Look for {what}. Outline it if you can see it.",
    "I am looking for {what}. Where is it, if it is here at all?",
    "Can you see {what}? If you can, give its mask.",
    "Mark every pixel of {what}; if nothing fits, say so.",
    "Does this photo show {what}? Segment it in that case.",
    "Please cut out {what}, provided that it exists here.",
    "Where is {what}? There may be none.",
    "Show me {what}, or tell me that there is none.",
    "Check whether {what} is present and mask it if it is.",
    "Give the region of {what} if the picture has one.",
    "Highlight {what}. If it cannot be found, explain that.",
    "If {what} appears in this scene, segment it.",
    "Try to locate {what} and return a mask, unless it is absent.",
    "Which pixels belong to {what}? Perhaps none do.",
    "Point out {what} with a mask, if there is such a thing.",
    "Tell me whether you see {what}, and where.",
    "Trace the shape of {what}, if you find it.",
)
_PHRASES_HELD_OUT = (
    "Could you segment {what} in this image, if there is any?",
    "Mask {what}, or let me know if this image does not have it.",
    "Do you see {what}? Then show it with a mask.",
)
_SENTENCES = (
    "{what} Answer with a mask, or say that nothing fits.",
    "{what} Mark it if it is here.",
    "{what} Show the place, unless there is none.",
    "Think about this picture. {what} Segment your answer if there is one.",
    "{what} Give a mask for what you find, if you find it.",
    "Consider what is really visible. {what} Mask it, or deny it.",
    "{what} Outline the thing that is meant; it may be missing.",
    "{what} Reply with its region if the picture has it.",
)
_SENTENCES_HELD_OUT = ("{what} Please segment the answer, if the image shows one.",)
_AFFIRMED = (
    f"It is here: {SEG}.",
    f"Yes, {SEG}.",
    f"I see it: {SEG}.",
    f"Here is the mask: {SEG}.",
    f"Found: {SEG}.",
    f"This is what you mean: {SEG}.",
    f"There it is, {SEG}.",
    f"Its region is {SEG}.",
    f"The picture shows it: {SEG}.",
    f"Marked as {SEG}.",
    f"Sure, {SEG}.",
    f"It covers {SEG}.",
)
_DENIED = (
    "There is no {what} in this picture.",
    "I see no {what} here.",
    "No {what} can be found in the image.",
    "This scene has no {what}.",
    "The picture does not show any {what}.",
    "I looked, but there is no {what}.",
    "A {what} is not in this image.",
    "Nothing here is a {what}.",
    "No, there is no {what} to be seen.",
    "I cannot mark a {what}: there is none.",
    "The {what} you ask for is not there.",
    "No {what} is visible.",
    "This image contains no {what}.",
    "Sorry, I find no {what} in it.",
)
_DENIED_SENTENCES = (
    "Nothing in this picture fits that.",
    "There is no such thing in this image.",
    "I see nothing here that answers this.",
    "No object in the scene matches.",
    "The picture has nothing of the kind.",
    "What you ask about is not in this image.",
    "No, nothing like that is visible.",
    "I looked, but nothing here would fit.",
)
_CORRECTED = (
    "There is no {what}, but there is {there}.",
    "I see no {what}; what I see is {there}.",
    "That is not {what}: it is {there}.",
    "No {what} here. Instead, there is {there}.",
    "The picture shows {there}, not {what}.",
    "Rather than {what}, this image has {there}.",
    "I find no {what}, only {there}.",
    "There is {there} in the picture, but no {what}.",
)
_ARTICLE = re.compile(r"^(?:the|an?|my|your|this|that|some|any)\s+(?=\S)", re.IGNORECASE)


def is_sentence(query: str) -> bool:
    """Whether a query is a question or a sentence of its own, not the name of a thing.

    >>> is_sentence("What can one sit on?"), is_sentence("the left cat")
    (True, False)
    """
    return query.rstrip().endswith(("?", ".", "!"))


def bare(query: str) -> str:
    """A description without its article, for sentences that deny it.

    >>> bare("The left cat "), bare("a")
    ('left cat', 'a')
    """
    return _ARTICLE.sub("", query.strip())


def questions(query: str, *, held_out: bool = False) -> tuple[str, ...]:
    """All ways to ask for what a query names."""
    if is_sentence(query):
        return _SENTENCES_HELD_OUT if held_out else _SENTENCES
    return _PHRASES_HELD_OUT if held_out else _PHRASES


def ask(query: str, *, held_out: bool = True) -> str:
    """The question of evaluation: one that no training has seen, or the first that all see."""
    return questions(query, held_out=held_out)[0].format(what=query.strip())


class Wording:
    """Draws words from the first `most` forms of each list; 0 is all of them."""

    def __init__(self, rng: random.Random, most: int = 0) -> None:
        self.rng, self.most = rng, most or None

    def ask(self, query: str) -> str:
        """A question for what a query names."""
        return self._drawn(questions(query)).format(what=query.strip())

    def affirm(self) -> str:
        """An answer with a mask."""
        return self._drawn(_AFFIRMED)

    def deny(self, query: str) -> str:
        """An answer that there is no such thing."""
        forms = _DENIED_SENTENCES if is_sentence(query) else _DENIED
        return self._drawn(forms).format(what=bare(query))

    def correct(self, query: str, there: str) -> str:
        """An answer that there is no such thing, and what there is instead.

        >>> Wording(random.Random(0)).correct("the left cat", "the left dog")
        'I find no left cat, only the left dog.'
        """
        if is_sentence(query):
            return f"{self.deny(query)} There is {there.strip()}."
        return self._drawn(_CORRECTED).format(what=bare(query), there=there.strip())

    def _drawn(self, forms: tuple[str, ...]) -> str:
        return self.rng.choice(forms[: self.most])
