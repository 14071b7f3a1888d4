"""Addresses of servers stand in names of folders, in runs and in logs: no place for secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from groundfault.errors import UsageError

__all__ = ["refuse_credentials"]

_ADDRESS = re.compile(r"\bhttps?://[^\s,]+", re.IGNORECASE)
_SECRET = re.compile(
    r"(?:^|[-_.])(?:api-?key|apikey|key|token|secret|password|passwd|pwd|sig|signature|auth)$",
    re.IGNORECASE,
)


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
            pairs = parse_qsl(address.query) + parse_qsl(address.fragment)
            host = address.hostname or ""
        except ValueError:
            raise UsageError("an address of a server cannot be read; write it anew") from None
        named = [name for name, _ in pairs if _SECRET.search(name)]
        if "@" in address.netloc:
            named = ["a user or a password"]
        if named:
            raise UsageError(
                f"the address of {host} holds {named[0]}. Remedy: leave it out and {remedy}"
            )
