"""What a shell offers as the value of an option: names of the registry, each with its sentence.

`groundfault --install-completion` teaches bash, zsh, fish or PowerShell to ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

import typer

__all__ = ["ASKED", "MODEL", "line_to_complete", "names_of", "one_of"]

ASKED = "_GROUNDFAULT_COMPLETE"
"""A shell that completes a line sets this, and gives the line in other variables."""
LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Of bash; of zsh, fish and PowerShell."""

Offers = Callable[[str], list[tuple[str, str]]]


def line_to_complete() -> list[str]:
    """The words after the program's name that are typed to their end."""
    line = next((os.environ[name] for name in LINES if name in os.environ), "")
    words = line.split()[1:]
    return words if line[-1:].isspace() else words[:-1]


def names_of(kind: str) -> Offers:
    """Names of a kind, those of plug-ins among them; a shell offers files where none fits."""

    def offers(incomplete: str) -> list[tuple[str, str]]:
        from groundfault.registry import names

        found = sorted(names(kind).items())
        return [(name, entry.about) for name, entry in found if name.startswith(incomplete)]

    return offers


def one_of(words: Collection[str]) -> Offers:
    """The words that begin as typed.

    >>> one_of(("cafe", "clean", "halluseg"))("c")
    [('cafe', ''), ('clean', '')]
    """
    return lambda incomplete: [(word, "") for word in words if word.startswith(incomplete)]


MODEL = typer.Option(
    "--model",
    help="NAME, NAME:argument or LABEL=NAME:argument; repeat.",
    autocompletion=names_of("models"),
)
