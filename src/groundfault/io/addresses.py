"""Addresses of servers stand in names of folders, in runs and in logs: no place for secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from groundfault.errors import UsageError

__all__ = ["refuse_credentials"]

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s,]+", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRETS = re.compile(
    "apikey|auth|authorization|bearer|code|credentials?|jwt|key|pass|passwd|password|pwd|secret|"
    "session|sig|signature|sk|token"
)
"""Words in the name of a parameter that holds a key."""
_SECRET_VALUE = re.compile(r"(?:^|/)(?:sk|pk|hf|gsk|ghp|xai|AIza)[-_]?(?=\w*\d)[\w-]{12,}")
"""Keys of well-known services, wherever in an address they stand."""


def refuse_credentials(
    text: str, *, remedy: str = "put the key into an environment variable"
) -> None:
    """Refuse a text with an address that holds a user, a password or a key. What it holds is not
    repeated.

    >>> refuse_credentials("openai:gpt at https://x.openai.azure.com/openai?api-version=2024-10-21")
    >>> refuse_credentials("vllm:http://me:secret@host:8000")
    Traceback (most recent call last):
    ...
    groundfault.errors.UsageError: the address of host holds a user or a password. Remedy: leave it
    out and put the key into an environment variable
    """
    for found in _ADDRESS.findall(text):
        try:
            address = urlsplit(found)
            rest = re.split("[?;#]", found)[1:]
            pairs = [pair for part in rest for pair in parse_qsl(part, keep_blank_values=True)]
            host = address.hostname or ""
        except ValueError:
            raise UsageError("an address of a server cannot be read; write it anew") from None
        named = [name for name, value in pairs if _is_secret(name, value)]
        if _SECRET_VALUE.search(address.path):
            named = ["a key"]
        if "@" in address.netloc:
            named = ["a user or a password"]
        if named:
            raise UsageError(
                f"the address of {host} holds {named[0]}. Remedy: leave it out and {remedy}"
            )


def _is_secret(name: str, value: str) -> bool:
    """Whether a parameter holds a key, by the words of its name or by its value.

    >>> _is_secret("api-version", "2024-10-21"), _is_secret("accessToken", "x")
    (False, True)
    """
    words = (word.lower() for word in _WORD.findall(name))
    return any(map(_SECRETS.fullmatch, words)) or bool(_SECRET_VALUE.search(value))
