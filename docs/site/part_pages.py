"""A page per benchmark and per model, from the cards and docstrings of their modules."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from words import escaped, paragraphs, table

__all__ = ["benchmark_pages", "model_pages"]

AUDIT = "groundfault audit --images PHOTOGRAPHS --phrases phrases.toml"
GROUPS = {
    "nano-base": "Segmenters of ours",
    "sam3": "Segmenters",
    "agent": "Segmenters with help",
    "openai": "Models that answer in words",
    "oracle": "Baselines and stored answers",
}
"""The first model of each group, in the registry's order."""
GUIDES = {
    "nano": "nano.md", "segvlm": "segvlm.md", "agent": "agent.md", "worker": "workers.md",
    "openai": "asking.md", "vllm": "asking.md", "gemini": "asking.md", "hf": "asking.md",
    "text-only": "exam.md", "audit": "audit.md", "reactbench": "exam.md",
}  # fmt: skip
"""Where a name is explained at length; others in models.md and evaluating.md."""


def file_name(name: str) -> str:
    """What the page of a name is called."""
    return name.replace(":", "-").replace("_", "-")


def guide(name: str, otherwise: str) -> str:
    """A link to the how-to page of a name, as seen from its own page."""
    page = GUIDES.get(name.partition(":")[0], otherwise)
    return f"More: [{page.removesuffix('.md')}](../../../{page})."


# ── benchmarks ─────────────────────────────────────────────────────────────────────────────────


def benchmark_pages() -> Iterator[tuple[str, list[str]]]:
    """(path, lines) of every benchmark's page, and of their list."""
    from groundfault.registry import KINDS

    names = KINDS["benchmarks"]
    rows = []
    for name, entry in names.items():
        module = import_module(entry.target)
        yield f"benchmarks/{name}", list(_benchmark(name, module))
        rows.append((f"[{_card(module).title}]({name}.md)", f"`{name}`", escaped(entry.about)))
    yield (
        "benchmarks/index",
        [
            "# Benchmarks",
            "",
            "What each is, how it is scored, and what of it was run by us. Sets of your own are "
            "written in [our folder format](folder.md).",
            "",
            *table(("benchmark", "name", "what it is"), rows),
            *_contents(names),
        ],
    )


def _contents(names: Any) -> list[str]:
    return ["```{toctree}", ":hidden:", "", *map(file_name, names), "```"]


def _card(module: Any) -> Any:
    from groundfault.records import Card

    no_paper = Card(name="folder", title="Our own folder", source="`groundfault convert`, `world "
                    "build`, `build`", licence="of each set its own", citation="",
                    main_metric="")  # fmt: skip
    return getattr(module, "CARD", no_paper)


def _benchmark(name: str, module: Any) -> Iterator[str]:
    card = _card(module)
    yield from (f"# {card.title}", "")
    yield from paragraphs(module.__doc__)
    yield from _facts(name, card, module)
    yield from ("## What it is read from", "")
    rows = [
        (f"`{each.option}`", each.kind, "yes" if each.required else "no", escaped(each.about))
        for each in module.INPUTS
    ]
    yield from table(("option", "is a", "needed", "what"), rows)
    yield from ("In Python an option is an argument: ", "")
    yield from ("```python", _loaded(name, module.INPUTS), "```", "")
    yield from ("## Commands", "", "```", *_commands(name, module), "```", "")
    if hasattr(module, "WITHOUT_FILES"):
        yield from (f"{module.WITHOUT_FILES}.", "")
    yield from ("## Run by us", "", module.RUN_BY_US, "", guide(name, "evaluating.md"), "")


def _facts(name: str, card: Any, module: Any) -> Iterator[str]:
    from groundfault.published import sources

    rows = [("files", escaped(card.source)), ("licence", escaped(card.licence))]
    if card.citation:
        rows.append(("paper", escaped(card.citation)))
    if card.protocol:
        rows += _scored(card)
    else:
        rows.append(("scored by", "the protocol on the set's own card"))
    published = [source.table for source in sources() if source.benchmark == name]
    if published:
        rows.append(("published tables", ", ".join(f"`{each}`" for each in published)))
    if hasattr(module, "HUB"):
        rows.append(("fetched from", f"`{module.HUB.repo}` on the Hugging Face hub"))
    yield from table(("", ""), rows)


def _scored(card: Any) -> list[tuple[str, str]]:
    from groundfault.protocols import find

    protocol = find(card.protocol)
    metric = protocol.metrics()[card.main_metric]
    way = {"lower": "lower is better", "higher": "higher is better"}.get(metric.better, "")
    about = f"{escaped(metric.about)} ({way})" if way else escaped(metric.about)
    return [
        ("protocol", f"{protocol.title} (`{card.protocol}`; [its metrics](../metrics.md))"),
        ("main metric", f"**{escaped(metric.short)}**: {about}"),
    ]


_SHOWN = {
    "annotations": "ANNOTATIONS.json", "cases": "CASES.json", "data": "FOLDER",
    "images": "PICTURES",
    "set": "AUDIT/set", "folder": "FOLDER", "subset": "val",
}  # fmt: skip


def _given(inputs: Any) -> str:
    needed = [each for each in inputs if each.required or each.pictures]
    return " ".join(f"{each.option} {_SHOWN[each.name]}" for each in needed)


def _loaded(name: str, inputs: Any) -> str:
    if name == "folder":
        return 'gf.load("FOLDER")'
    parts = [f'{each.name}="{_SHOWN[each.name]}"' for each in inputs if each.required]
    pictures = [f'{each.name}="{_SHOWN[each.name]}"' for each in inputs
                if each.pictures and not each.required]  # fmt: skip
    return f'gf.load("{name}", {", ".join(parts + pictures)})'


def _commands(name: str, module: Any) -> Iterator[str]:
    from groundfault.registry import KINDS

    if name == "audit":
        yield f"{AUDIT} --model nano-base --out AUDIT"
        yield "groundfault eval AUDIT/set --model nano-cft --out runs"
        return
    model = "openai:NAME" if KINDS["benchmarks"][name].answers == "words" else "sam3"
    if name == "folder":
        yield f"groundfault eval FOLDER --model {model} --out runs"
    else:
        if hasattr(module, "HUB"):
            yield f"groundfault eval {name} --model {model} --out runs    # fetches it"
        yield f"groundfault eval {name} {_given(module.INPUTS)} --model {model} --out runs"
        if KINDS["benchmarks"][name].answers == "masks":
            needed = _given([each for each in module.INPUTS if each.required])
            predictions = "FOLDER" if name == "halluseg" else "PREDICTIONS.json"
            yield f"groundfault score {name} {needed} --predictions {predictions} --out runs/mine"
    first = _SHOWN[module.INPUTS[0].name]
    yield f"groundfault inspect {first}"
    if hasattr(module, "write"):
        given = "FILE" if name == "folder" else "FOLDER"
        yield f"groundfault convert {given} --to {name} --out OUT"


# ── models ─────────────────────────────────────────────────────────────────────────────────────


def model_pages() -> Iterator[tuple[str, list[str]]]:
    """(path, lines) of every model's page, and of their list."""
    from groundfault.models.cards import card_of
    from groundfault.models.checkpoints import licences
    from groundfault.registry import KINDS, Entry
    from groundfault.workers import SCRIPTS

    entries: dict[str, Entry] = {}
    for name, entry in KINDS["models"].items():
        entries[name] = entry
        if name == "worker":
            for script, told in SCRIPTS.items():
                entries[f"worker:{script}"] = Entry(f"groundfault.workers.{script}", told.about)
    lines = [
        "# Models",
        "",
        "`groundfault list models` shows the same, with what plug-ins add.",
        "",
    ]
    rows: list[tuple[str, ...]] = []
    columns = ("model", "name", "licence of the weights", "run by us")
    for name, entry in entries.items():
        yield f"models/{file_name(name)}", list(_model(name, entry))
        if name in GROUPS:
            lines += table(columns, rows) if rows else []
            lines += [f"## {GROUPS[name]}", ""]
            rows = []
        card = card_of(name)
        place = f"[{escaped(card.title)}]({file_name(name)}.md)"
        rows.append((place, f"`{name}`", escaped(licences(name)), _run_in_short(card.run)))
    lines += [*table(columns, rows), *_contents(entries)]
    yield "models/index", lines


def _run_in_short(run: str) -> str:
    return {"run": "yes", "yours": "yes", "tiny": "no; tiny random weights",
            "described": "no; random weights", "stand-in": "no; stand-ins",
            "loopback": "no; servers of ours", "parts": "its parts"}[run]  # fmt: skip


def _model(name: str, entry: Any) -> Iterator[str]:
    from groundfault.models.cards import RUN_WORDS, card_of

    card = card_of(name)
    yield from (f"# {card.title}", "")
    yield from paragraphs(_docstring(name, entry))
    yield from table(("", ""), _model_facts(name, entry, card))
    yield from ("## Commands", "", "```", *_model_commands(name, entry, card), "```", "")
    yield from ("## Run by us", "", RUN_WORDS[card.run], "", guide(name, "models.md"), "")


def _docstring(name: str, entry: Any) -> str:
    """A module's own words; scripts of workers run elsewhere and are read, not imported."""
    import ast
    from pathlib import Path

    import groundfault

    module = entry.target.partition(":")[0]
    path = Path(groundfault.__file__).parent.parent / f"{module.replace('.', '/')}.py"
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def _model_facts(name: str, entry: Any, card: Any) -> list[tuple[str, str]]:
    from groundfault.config import OPERATING_POINTS
    from groundfault.models.checkpoints import CHECKPOINTS, DEFAULTS, licences

    gives = "masks or words" if entry.answers == "both" else entry.answers
    rows = [("called", f"`{name}`: {escaped(entry.about)}"), ("gives", gives)]
    if card.paper:
        rows.append(("paper", escaped(card.paper)))
    for checkpoint in DEFAULTS.get(name, ()):
        known = CHECKPOINTS[checkpoint]
        commit = f" at `{known.revision[:12]}`" if known.revision != "main" else ", not pinned"
        gated = ", gated" if known.gated else ""
        rows.append(
            ("weights, licence", f"`{checkpoint}`{commit}; {escaped(known.licence)}{gated}")
        )
    if name not in DEFAULTS:
        rows.append(("licence of the weights", escaped(licences(name))))
    point = OPERATING_POINTS.get(name.removeprefix("worker:"))
    if point is not None:
        rows.append(("published t", str(point)))
    told = (("phrases of one picture", card.phrases), ("score", card.score),
            ("a phrase is read", card.reads), ("overlapping boxes", card.overlaps))  # fmt: skip
    return rows + [(title, escaped(words)) for title, words in told if words]


_ARGUMENTS = {
    "nano": ":FOLDER/NAME", "segvlm": ":FOLDER", "agent": ":nano-base+openai:NAME",
    "worker": ":/path/to/mine.py", "openai": ":NAME", "vllm": ":http://localhost:8000",
    "gemini": ":NAME", "hf": ":NAME", "replay": ":PREDICTIONS.json",
}  # fmt: skip


def _model_commands(name: str, entry: Any, card: Any) -> Iterator[str]:
    spec = name + _ARGUMENTS.get(name, "")
    if card.extra:
        yield f"pip install 'groundfault[{card.extra}]'"
    if name.startswith("worker:"):
        variable = name.removeprefix("worker:").upper()
        yield f"export GROUNDFAULT_WORKER_PYTHON_{variable}=/envs/mine/bin/python"
        yield f"export GROUNDFAULT_WORKER_REPO_{variable}=/src/repository"
    if entry.answers == "words":
        yield f"groundfault eval EXAM --model {spec} --out runs"
        return
    yield f"groundfault eval FOLDER --model {spec} --out runs"
    if entry.answers == "masks":
        yield f"groundfault check-model {spec}"
        yield f"{AUDIT} --model {spec} --out audit"
