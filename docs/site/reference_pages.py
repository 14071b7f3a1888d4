"""Writes the reference pages that follow from the code, and checks links that leave docs/."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from command_lines import remarks_above, shown
from example_files import example_files
from fields import fields
from format_pages import format_pages
from part_pages import benchmark_pages, model_pages
from words import escaped, paragraphs, table

from groundfault.published.conformance import checks, conformance_markdown

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MOST_EXAMPLES = 3
DOCS = Path(__file__).parents[1]
EXAMPLES = Path(__file__).parents[2] / "examples" / "api.py"
PUBLISHED_TITLE = (
    "# Do the published numbers follow from each other?",
    "# Published numbers, line by line",
)
HYPHENATED = re.compile(r"(?<=[\s>])[\w.@]{0,12}-[\w.@-]{1,24}(?=[\s<])")
INTERVAL = re.compile(r"\[([−+-]?[\d.]+), ([−+-]?[\d.]+)\]")
REMARK = re.compile(r"^((?:<pre>(?:<span></span>)?)? *)(# [^\n<]*)$", re.M)
MADE = "<!-- Made from the code by docs/site/reference_pages.py. -->"


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_config_value("made_pages", True, "env", types=(bool,))
    app.connect("builder-inited", write_pages)
    app.connect("source-read", link_to_files)
    app.connect("source-read", put_remarks_above)
    app.connect("html-page-context", keep_whole)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx) -> None:
    """Write what changed, so that nothing else is read again. `-D made_pages=0` writes nothing."""
    if not app.config.made_pages:
        return
    folder = Path(app.srcdir) / "reference" / "made"
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in pages():
        text = "\n".join([MADE, "", *lines, ""])
        path = folder / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def pages() -> Iterator[tuple[str, Iterable[str]]]:
    """(path below reference/made, lines) of every page that follows from the code."""
    yield from (("commands", commands()), ("metrics", metrics()), ("python", python()))
    yield "published", [conformance_markdown(checks()).replace(*PUBLISHED_TITLE)]
    yield from benchmark_pages()
    yield from model_pages()
    yield from format_pages(example_files())


def link_to_files(app: Sphinx, docname: str, source: list[str]) -> None:
    """Links to files of the repository outside docs/ become plain names; dead ones are errors."""
    here = (Path(app.srcdir) / docname).parent

    def plain(found: re.Match[str]) -> str:
        words, target = found[1], found[2].partition("#")[0]
        place = (here / target).resolve()
        if (
            not target
            or re.match(r"[a-z]+:", target)
            or Path(app.srcdir).resolve() in place.parents
        ):
            return found[0]
        if not place.exists():
            raise FileNotFoundError(f"docs/{docname}.md links to {target}, which is not there")
        return words

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", plain, source[0])


def put_remarks_above(app: Sphinx, docname: str, source: list[str]) -> None:
    """Remarks behind commands that fill the line would wrap."""
    source[0] = remarks_above(source[0])


def keep_whole(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Lines of code do not break inside `--option` or `IL-FPR`, cells of tables not inside an
    interval; remarks are grey."""

    def whole(found: re.Match[str]) -> str:
        text = re.sub(REMARK, r'\1<span class="c1">\2</span>', found[0])
        return re.sub(HYPHENATED, r'<span class="whole">\g<0></span>', text)

    def unbroken(found: re.Match[str]) -> str:
        return re.sub(INTERVAL, r"[\1,&nbsp;\2]", found[0])

    if "body" in context:
        body = re.sub(r"<pre>.*?</pre>", whole, context["body"], flags=re.S)
        context["body"] = re.sub(r"<td.*?</td>", unbroken, body, flags=re.S)


def commands() -> Iterator[str]:
    """Every command with its arguments and options."""
    from typer.main import get_command

    from groundfault.cli.app import build_app

    yield "# Commands"
    yield ""
    where = "../../evaluating.md#failures-and-exit-codes"
    yield f"What exit codes mean is in [Evaluating a model]({where})."
    yield "`groundfault COMMAND --help` says the same in a terminal."
    yield ""
    program: Any = get_command(build_app([]))
    used = list(shown(DOCS))
    for name, command in sorted(program.commands.items()):
        if hasattr(command, "commands") and not command.commands:
            command.commands = dict(_by_benchmark(name))
        yield from _command(f"groundfault {name}", command, level=2, used=used)


def _by_benchmark(group: str) -> Iterator[tuple[str, Any]]:
    """The parts of `score` and `sweep`, which are made when a benchmark is named."""
    from typer.main import get_command

    from groundfault.cli.app import build_app
    from groundfault.errors import UsageError
    from groundfault.registry import KINDS

    for name in KINDS["benchmarks"]:
        try:
            program: Any = get_command(build_app([group, name]))
        except UsageError:  # it is answered in words
            continue
        yield name, program.commands[group].commands[name]


def _command(
    name: str, command: Any, level: int, used: Sequence[tuple[Path, str]]
) -> Iterator[str]:
    yield f"{'#' * level} {name}"
    yield ""
    yield escaped(command.help or "").strip()
    yield ""
    if hasattr(command, "commands"):
        for part, inner in sorted(command.commands.items()):
            yield from _command(f"{name} {part}", inner, level + 1, used)
        return
    examples = {line: page for page, line in used if f"{line} ".startswith(f"{name} ")}
    if examples:
        yield from ("```", *sorted(examples, key=len)[:MOST_EXAMPLES], "```", "")
    rows = [row for parameter in command.params if (row := _parameter(parameter))]
    if rows:
        yield "| option | what it is | default |"
        yield "|---|---|---|"
        yield from rows
        yield ""


def _parameter(parameter: Any) -> str:
    if getattr(parameter, "hidden", False) or parameter.name == "help":
        return ""
    is_option = parameter.param_type_name == "option"
    names = (
        ", ".join(f"`{name}`" for name in parameter.opts)
        if is_option
        else f"`{parameter.human_readable_name}`"
    )
    default = parameter.default
    shown = (
        ""
        if default in (None, False, True, (), "") or callable(default)
        else f"`{getattr(default, 'value', default)}`"
    )
    if parameter.required:
        shown = "required"
    return f"| {names} | {escaped(getattr(parameter, 'help', '') or '')} | {shown} |"


def metrics() -> Iterator[str]:
    """Every family of metrics with its formulas and every metric, and which protocol uses which."""
    from groundfault.metrics import family
    from groundfault.protocols import find
    from groundfault.registry import KINDS

    protocols = {name: find(name) for name in KINDS["protocols"]}
    yield from ("# Metrics", "")
    yield "Formulas, papers and what each outcome does are the families' own words; [Metrics, by"
    yield "hand](../../metrics.md) works examples. A metric that is undefined is `null`, never 0."
    yield ""
    for name, protocol in protocols.items():
        used = ", ".join(f"[{each}](#{each})" for each in protocol.families)
        yield f"- **{escaped(protocol.title)}** (`{name}`; {used}). {escaped(protocol.asked)}"
    yield ""
    for name, entry in KINDS["metrics"].items():
        yield from (f"({name})=", f"## {escaped(entry.about)} (`{name}`)", "")
        yield from paragraphs(import_module(entry.target.partition(":")[0]).__doc__)
        listed = [_metric(each) for each in family(name).metrics]
        yield from table(("metric", "better", "unit", "what it says"), listed)


def _metric(metric: Any) -> tuple[str, str, str, str]:
    label = f" ({escaped(metric.short)})" if metric.short != metric.name else ""
    return f"`{metric.name}`{label}", metric.better, metric.unit, escaped(metric.about)


def python() -> Iterator[str]:
    """What `import groundfault` offers, from the docstrings, each with its example."""
    import groundfault

    examples = {
        name: text.strip()
        for name, text in re.findall(
            r"^# %% (\w+).*?\n(.*?)(?=^# %%|\Z)", EXAMPLES.read_text(), re.S | re.M
        )
    }
    yield "# Python"
    yield ""
    yield "`import groundfault as gf`; a name is imported when it is first used. The examples are"
    yield "[examples/api.py](../../../examples/api.py), which the tests run from top to bottom."
    yield ""
    for name in sorted(groundfault._WHERE, key=lambda name: (name[0].isupper(), name)):
        where = groundfault._WHERE[name]
        kind = "autoclass" if name[0].isupper() else "autofunction"
        yield f"```{{eval-rst}}\n.. {kind}:: {where}.{name}"
        if kind == "autoclass":
            yield "   :members:"
        yield "```"
        yield ""
        if name in examples:
            yield from ("```python", examples[name], "```", "")
    yield from ("## Options", "", "Wherever a function takes `**options`:", "")
    for kind in ("ScoreOptions", "EvaluateOptions"):
        rows = [
            (f"`{each.name}`", f"`{each.type}`".replace("|", r"\|"), escaped(each.words))
            for each in fields(f"groundfault.api.options:{kind}")
        ]
        yield from table(("option", "type", "what it says"), rows)
