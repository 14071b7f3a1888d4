"""One table, four ways to print it."""

from __future__ import annotations

import csv
import io
import unicodedata

import msgspec
import pytest

from groundfault.errors import UnknownName
from groundfault.protocols.concepts import CONCEPT_PAIRS
from groundfault.records import Estimate
from groundfault.reports import tables
from groundfault.reports.summaries import estimate_cell
from groundfault.reports.tables import FORMATS, Cell, Table, printable, render, show

TABLE = Table(
    ["row", "AFPR ↓", "n"],
    [
        ["SM", Cell("9.5", "[8.0, 11.0]", strong=True), "12"],
        ["Overall", Cell("20.5"), "2146"],
    ],
    title="cafe",
    notes=["t 0.5, τ 0.3"],
)
EMPTY = Table(["row", "AFPR"], [], title="nothing")


def columns_of(text: str) -> int:
    """Terminal columns, letter by letter."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    marks = sum(unicodedata.combining(letter) != 0 for letter in text)
    return len(text) + wide - marks


def test_the_terminal_aligns_columns() -> None:
    assert render(TABLE, "terminal").splitlines() == [
        "cafe",
        "row               AFPR ↓     n",
        "───────  ───────────────  ────",
        "SM       9.5 [8.0, 11.0]    12",
        "Overall             20.5  2146",
        "t 0.5, τ 0.3",
    ]


@pytest.mark.parametrize(
    "name",
    ["cafe\u0301", "n\u0303a\u0302", "猫と虎", "ﾊﾝｶｸ", "ＡＢＣ", "한국어", "🐯", "plain"],
)
def test_wide_and_combining_letters_keep_the_columns(name: str) -> None:
    table = Table(["row", "run", "value"], [[name, "a", "1.0"], ["x" * 12, name, "22.0"]])
    lines = render(Table(table.columns, table.rows, left_columns=2), "terminal").splitlines()
    assert len({columns_of(line) for line in lines}) == 1
    right = render(table, "terminal").splitlines()
    assert len({columns_of(line) for line in right}) == 1


def test_lines_have_no_trailing_blanks() -> None:
    table = Table(["a", "b"], [["x", ""], ["yyyy", "z"]], left_columns=2)
    assert all(line == line.rstrip() for line in render(table, "terminal").splitlines())


def test_markdown_is_one_table() -> None:
    lines = render(TABLE, "markdown").splitlines()
    assert lines == [
        "**cafe**",
        "",
        "| row | AFPR ↓ | n |",
        "| :-- | --: | --: |",
        "| SM | **9.5 [8.0, 11.0]** | 12 |",
        "| Overall | 20.5 | 2146 |",
        "",
        "*t 0.5, τ 0.3*",
    ]


def test_markdown_cells_cannot_break_the_row() -> None:
    table = Table(["a", "b"], [["x | y", "line\nbreak"]])
    [_, _, row] = render(table, "markdown").splitlines()
    assert row == "| x \\| y | line\\nbreak |"


def test_latex_has_booktabs_rules() -> None:
    lines = [line.strip() for line in render(TABLE, "latex").splitlines()]
    assert lines == [
        r"\begin{table}",
        r"\centering",
        r"\caption{cafe}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"row & AFPR $\downarrow$ & n \\",
        r"\midrule",
        r"SM & \textbf{9.5} {\scriptsize [8.0, 11.0]} & 12 \\",
        r"Overall & 20.5 & 2146 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% t 0.5, τ 0.3",
        r"\end{table}",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a & b", r"a \& b"),
        ("100 %", r"100 \%"),
        ("IL_MCC", r"IL\_MCC"),
        ("#1 {x} $5", r"\#1 \{x\} \$5"),
        (r"C:\dir", r"C:\textbackslash{}dir"),
        ("a~b^c", r"a\textasciitilde{}b\textasciicircum{}c"),
        (r"\&", r"\textbackslash{}\&"),
        ("τ ≥ 0.3 ± 1", r"$\tau$ $\geq$ 0.3 $\pm$ 1"),
        ("p⁺ p⁻ ΔIoU", r"p$^{+}$ p$^{-}$ $\Delta$IoU"),
        ("−3–4", "--3--4"),
    ],
)
def test_latex_escapes(text: str, expected: str) -> None:
    lines = render(Table([text], [[Cell(text, text)]], title=text), "latex").splitlines()
    assert f"  \\caption{{{expected}}}" in lines
    assert f"    {expected} \\\\" in lines
    assert f"    {expected} {{\\scriptsize {expected}}} \\\\" in lines


def test_a_note_stays_a_comment_in_latex() -> None:
    text = render(Table(["a"], [["1"]], notes=["one\n\\input{two}"]), "latex")
    assert r"  % one\n\input{two}" in text.splitlines()


def test_csv_has_intervals_in_columns_of_their_own() -> None:
    rows = list(csv.reader(io.StringIO(render(TABLE, "csv"))))
    assert rows == [
        ["row", "AFPR ↓", "AFPR ↓ interval", "n"],
        ["SM", "9.5", "[8.0, 11.0]", "12"],
        ["Overall", "20.5", "", "2146"],
    ]


def test_csv_quotes_what_needs_it() -> None:
    table = Table(["a, b", "c"], [['say "x"', "1,5"]])
    assert list(csv.reader(io.StringIO(render(table, "csv")))) == [
        ["a, b", "c"],
        ['say "x"', "1,5"],
    ]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_table_without_rows_has_its_head(format_: str) -> None:
    text = render(EMPTY, format_)
    assert "row" in text
    assert "AFPR" in text
    assert len(list(csv.reader(io.StringIO(render(EMPTY, "csv"))))) == 1


@pytest.mark.parametrize("format_", FORMATS)
def test_a_table_without_columns_is_no_error(format_: str) -> None:
    assert isinstance(render(Table([], []), format_), str)


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'markdown'"):
        render(TABLE, "markdwon")


def test_printable_spells_out_control_characters() -> None:
    assert printable("τ ≥ 0.3, 猫 e\u0301") == "τ ≥ 0.3, 猫 e\u0301"
    assert printable("a\x1b[2Jb\r\n\t\x7f\u202e\ud800") == r"a\x1b[2Jb\r\n\t\x7f\u202e\ud800"


def test_a_terminal_gets_colours_and_the_same_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    show(TABLE)
    shown = capsys.readouterr().out
    for value in ("cafe", "SM", "9.5", "8.0, 11.0", "20.5", "2146", "t 0.5, τ 0.3"):
        assert value in shown
    show(TABLE, "csv")
    assert capsys.readouterr().out == render(TABLE, "csv") + "\n"


@pytest.mark.parametrize(
    ("metric", "estimate", "expected"),
    [
        ("AFPR", Estimate(0.2054, 0.188, 0.2223, n=1), "20.5 [18.8, 22.2]"),
        ("AFPR", Estimate(0.5), "50.0"),
        ("AFPR", Estimate(None, None, None, n=0), "—"),
        ("TA-TP", Estimate(3.0), "3"),
        ("IL_MCC", Estimate(-0.25), "−0.250"),
        ("cgF1", Estimate(-0.0), "0.0"),
        ("cgF1", Estimate(-0.0001, -0.2, 0.00001), "0.0 [−20.0, 0.0]"),
    ],
)
def test_estimates_are_printed_as_papers_do(metric: str, estimate: Estimate, expected: str) -> None:
    assert str(estimate_cell(CONCEPT_PAIRS.metric(metric), estimate)) == expected


def test_a_display_of_progress_prints_no_foreign_escapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from groundfault.reports import progress

    monkeypatch.setattr(progress, "_is_watched", lambda: True)
    monkeypatch.setattr(progress, "DELAY_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    for name, value in {"COLUMNS": "200", "FORCE_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    display = progress.Display("openai:\x1b]0;owned\x07[red]m")
    display.update(1, 2)
    display.close()
    said = capsys.readouterr().err
    assert "openai:\\x1b]0;owned\\x07[red]m" in said and "\x1b]0;" not in said


def test_json_says_the_same_without_control_characters() -> None:
    import json

    odd = "\x1b[2J \u009b31m \u202e \x7f ✓ τ"
    text = tables.printable_json(msgspec.json.encode({"a": odd}))
    assert json.loads(text) == {"a": odd} and "✓ τ" in text
    assert not {"\x1b", "\u009b", "\u202e", "\x7f"} & set(text)


def test_markdown_cells_are_words_whatever_they_hold() -> None:
    said = ["<script>x</script>", "![x](http://e.org/x.png)", "a\\|b", "0.1 [0, 1]"]
    text = render(Table(["name"], [[cell] for cell in said]), "markdown")
    assert text.splitlines()[2:] == [
        r"| \<script>x\</script> |",
        r"| !\[x](http://e.org/x.png) |",
        r"| a\\\|b |",
        "| 0.1 [0, 1] |",
    ]
