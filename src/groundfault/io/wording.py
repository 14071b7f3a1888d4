"""Words of others as nothing but words, wherever they are written."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["printable", "worded"]


def printable(text: str) -> str:
    """Text with its control characters spelled out: from a foreign file, they could clear the
    screen or break a row.

    >>> print(printable("one\\x1b[2J\\ntwo"))
    one\\x1b[2J\\ntwo
    """
    if text.isprintable():
        return text
    return "".join(repr(char)[1:-1] if _is_control(char) else char for char in text)


def worded(text: str) -> str:
    """Words of others in Markdown: no tag, no link, no picture, no further cell of a table.

    >>> print(worded("<b>one</b> | [two](https://example.org)"))
    \\<b>one\\</b> \\| \\[two](https://example.org)
    """
    return _MARKUP.sub(lambda mark: f"\\{mark[0]}", text)


_MARKUP = re.compile(r"\||\\(?=[|<\[])|<(?=[A-Za-z/!?])|\[(?=[^\]]*\]\()")


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
