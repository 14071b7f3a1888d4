"""Writes the reference pages that follow from the code, and checks links that leave docs/."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MADE = "<!-- Made from the code by docs/site/reference_pages.py. -->"


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", link_to_files)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx) -> None:
    """Write what changed, so that nothing else is read again."""
    folder = Path(app.srcdir) / "reference" / "made"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"commands": commands(), "metrics": metrics(), "python": python(), "parts": parts()}
    for name, lines in pages.items():
        text = "\n".join([MADE, "", *lines, ""])
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


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
    for name, command in sorted(program.commands.items()):
        yield from _command(f"groundfault {name}", command, level=2)


def _command(name: str, command: Any, level: int) -> Iterator[str]:
    yield f"{'#' * level} {name}"
    yield ""
    yield _plain(command.help or "").strip()
    yield ""
    if hasattr(command, "commands"):
        for part, inner in sorted(command.commands.items()):
            yield from _command(f"{name} {part}", inner, level + 1)
        return
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
    return f"| {names} | {_plain(getattr(parameter, 'help', '') or '')} | {shown} |"


def metrics() -> Iterator[str]:
    """Every metric of every protocol."""
    from groundfault.protocols import find
    from groundfault.registry import KINDS

    yield "# Metrics"
    yield ""
    yield "A metric that is undefined is `null`, never 0."
    yield ""
    for name in KINDS["protocols"]:
        protocol = find(name)
        yield f"## {protocol.title} (`{name}`)"
        yield ""
        if protocol.asked:
            yield _plain(protocol.asked)
            yield ""
        yield "| metric | better | unit | what it says |"
        yield "|---|---|---|---|"
        for metric in _metrics_of(protocol).values():
            label = f" ({metric.short})" if metric.short != metric.name else ""
            facts = f"{metric.better} | {metric.unit} | {_plain(metric.about)}"
            yield f"| `{metric.name}`{label} | {facts} |"
        yield ""


def _metrics_of(protocol: Any) -> Mapping[str, Any]:
    from groundfault.metrics import family

    found: dict[str, Any] = {}
    for prefix in protocol.families:
        found |= {metric.name: metric for metric in family(prefix).metrics}
    return found


def python() -> Iterator[str]:
    """What `import groundfault` offers, from the docstrings."""
    import groundfault

    yield "# Python"
    yield ""
    yield "`import groundfault as gf`; each name is imported when it is first used."
    yield ""
    for name in sorted(groundfault._WHERE, key=lambda name: (name[0].isupper(), name)):
        where = groundfault._WHERE[name]
        kind = "autoclass" if name[0].isupper() else "autofunction"
        yield f"```{{eval-rst}}\n.. {kind}:: {where}.{name}"
        if kind == "autoclass":
            yield "   :members:"
        yield "```"
        yield ""


def parts() -> Iterator[str]:
    """What the registry knows: benchmarks, models, judges, editors."""
    from groundfault.registry import KINDS, names

    yield "# What there is"
    yield ""
    yield "`groundfault list` shows the same, with what plug-ins add."
    yield ""
    for kind in KINDS:
        entries = names(kind)
        if not entries:
            continue
        yield f"## {kind.capitalize()}"
        yield ""
        yield "| name | what it is |"
        yield "|---|---|"
        for name, entry in entries.items():
            yield f"| `{name}` | {_plain(entry.about)} |"
        yield ""


def _plain(text: str) -> str:
    """On one line of a table, with nothing that Markdown would take for markup."""
    return re.sub(r"([|<>*_])", r"\\\1", " ".join(text.split()))
