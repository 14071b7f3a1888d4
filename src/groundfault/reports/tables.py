"""One table, four ways to print it: terminal, Markdown, LaTeX (booktabs), CSV."""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

import msgspec

from groundfault.errors import UnknownName
from groundfault.io.wording import printable, worded

__all__ = ["FORMATS", "Cell", "Table", "as_html", "printable", "printable_json", "render", "show"]

FORMATS = ("terminal", "markdown", "latex", "csv")


class Cell(msgspec.Struct, frozen=True):
    """A value with what stands behind it in small print."""

    text: str
    detail: str = ""
    strong: bool = False

    def __str__(self) -> str:
        return f"{self.text} {self.detail}".strip()


class Table(msgspec.Struct, frozen=True):
    """Rows of text; the first column is left-aligned, the others right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    """Of Cell or str."""
    title: str = ""
    notes: Sequence[str] = ()
    left_columns: int = 1


def render(table: Table, format_: str) -> str:
    """The table as text in one of FORMATS.

    >>> print(render(Table(["row", "AFPR"], [["SM", Cell("9.5", "[8, 11]")]]), "markdown"))
    | row | AFPR |
    | :-- | --: |
    | SM | 9.5 [8, 11] |
    """
    renderers = {
        "terminal": _plain,
        "markdown": _markdown,
        "latex": _latex,
        "csv": _csv,
    }
    if format_ not in renderers:
        raise UnknownName("table format", format_, FORMATS)
    return renderers[format_](_cleaned(table))


def as_html(table: Table, *, caption: str = "") -> str:
    """The table as HTML, for notebooks.

    >>> as_html(Table(["row", "n"], [["SM", "<9"]]), caption="mine")
    '<table><caption>mine</caption><tr><th>row</th><th>n</th></tr><tr><td>SM</td><td>&lt;9</td>\
</tr></table>'
    """
    from html import escape

    clean = _cleaned(table)
    head = "".join(f"<th>{escape(name)}</th>" for name in clean.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(_cell(cell)))}</td>" for cell in row) + "</tr>"
        for row in clean.rows
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in clean.notes)
    title = f"<caption>{escape(caption or clean.title)}</caption>"
    return f"<table>{title}<tr>{head}</tr>{rows}</table>{notes}"


def show(table: Table, format_: str = "terminal") -> None:
    """Print to standard output; in colour where it is a terminal."""
    if format_ == "terminal" and sys.stdout.isatty():
        _show_rich(_cleaned(table))
    else:
        print(render(table, format_))


def printable_json(content: bytes) -> str:
    """JSON that says the same, with the control characters spelled out that JSON leaves as they
    are.

    >>> printable_json(msgspec.json.encode("\\u009b2J \\u202e τ"))
    '"\\\\u009b2J \\\\u202e τ"'
    """
    text = content.decode()
    if text.isascii():
        return text
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_UNSEEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def _cleaned(table: Table) -> Table:
    def clean(value: Cell | str) -> Cell:
        cell = _cell(value)
        return Cell(printable(cell.text), printable(cell.detail), cell.strong)

    return Table(
        [printable(column) for column in table.columns],
        [[clean(value) for value in row] for row in table.rows],
        printable(table.title),
        [printable(note) for note in table.notes],
        table.left_columns,
    )


def _cell(value: Cell | str) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)


def _plain(table: Table) -> str:
    texts = [list(table.columns)] + [[str(cell) for cell in row] for row in table.rows]
    widths = [max(_width(row[k]) for row in texts) for k in range(len(table.columns))]
    lines = [table.title] if table.title else []
    for number, row in enumerate(texts):
        padded = [_pad(text, widths[k], left=k < table.left_columns) for k, text in enumerate(row)]
        lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("─" * width for width in widths))
    return "\n".join([*lines, *table.notes])


def _width(text: str) -> int:
    """Terminal columns: combining marks take none, wide letters two."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _pad(text: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def _markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(worded(str(cell)) for cell in cells) + " |"

    marks = [":--" if k < table.left_columns else "--:" for k in range(len(table.columns))]
    body = [
        line([f"**{cell}**" if _cell(cell).strong else str(cell) for cell in row])
        for row in table.rows
    ]
    head = [f"**{table.title}**", ""] if table.title else []
    notes = ["", *(f"*{note}*" for note in table.notes)] if table.notes else []
    return "\n".join([*head, line(table.columns), line(marks), *body, *notes])


def _latex(table: Table) -> str:
    alignment = "l" * table.left_columns + "r" * (len(table.columns) - table.left_columns)
    body = []
    for row in table.rows:
        cells = []
        for value in row:
            cell = _cell(value)
            text = f"\\textbf{{{_escape(cell.text)}}}" if cell.strong else _escape(cell.text)
            small = f" {{\\scriptsize {_escape(cell.detail)}}}" if cell.detail else ""
            cells.append(text + small)
        body.append("    " + " & ".join(cells) + r" \\")
    caption = [f"  \\caption{{{_escape(table.title)}}}"] if table.title else []
    notes = [f"  % {note}" for note in table.notes]
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            *caption,
            f"  \\begin{{tabular}}{{{alignment}}}",
            r"    \toprule",
            "    " + " & ".join(_escape(column) for column in table.columns) + r" \\",
            r"    \midrule",
            *body,
            r"    \bottomrule",
            r"  \end{tabular}",
            *notes,
            r"\end{table}",
        ]
    )


_SPECIAL = {
    "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
    "τ": r"$\tau$", "Δ": r"$\Delta$", "±": r"$\pm$", "−": "--", "–": "--", "·": r"$\cdot$",
    "≥": r"$\geq$", "⁺": r"$^{+}$", "⁻": r"$^{-}$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
}  # fmt: skip


def _escape(text: str) -> str:
    return re.sub("|".join(map(re.escape, _SPECIAL)), lambda match: _SPECIAL[match[0]], text)


def _csv(table: Table) -> str:
    """Values and details in columns of their own, where any cell has details."""
    detailed = [any(_cell(row[k]).detail for row in table.rows) for k in range(len(table.columns))]
    header: list[str] = []
    for column, has_detail in zip(table.columns, detailed, strict=True):
        header += [column, f"{column} interval"] if has_detail else [column]
    import csv

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in table.rows:
        line: list[str] = []
        for value, has_detail in zip(row, detailed, strict=True):
            cell = _cell(value)
            line += [cell.text, cell.detail] if has_detail else [cell.text]
        writer.writerow(line)
    return out.getvalue().rstrip("\n")


def _show_rich(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        title=table.title or None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
    )
    for k, column in enumerate(table.columns):
        justify = "left" if k < table.left_columns else "right"
        drawn.add_column(column, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in table.rows:
        cells = []
        for value in row:
            cell = _cell(value)
            text = Text(cell.text, style="bold" if cell.strong else "")
            if cell.detail:
                text.append(f"\n{cell.detail.strip('[]')}", style="dim")
            cells.append(text)
        drawn.add_row(*cells)
    console = Console()
    console.print(drawn)
    for note in table.notes:
        console.print(Text(note, style="dim"))
