"""A judge of short answers: right if the answer shares a word with the rubric's first sentence."""

from __future__ import annotations

from groundfault.interfaces import ModelOptions


class SharedWords:
    """Knows words, not meanings: good enough for an example."""

    name = "shared-words"

    def judge(self, question: str, answer: str, rubric: str) -> bool | None:
        wanted = {word.strip(".,:;").lower() for word in rubric.partition("Wrong")[0].split()}
        said = {word.strip(".,:;").lower() for word in answer.split()}
        return bool(wanted & said) if said else None


def load(argument: str, options: ModelOptions) -> SharedWords:
    """`--judge shared-words`."""
    return SharedWords()
