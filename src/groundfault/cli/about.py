"""What there is, whether it works, and what the papers say."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.completion import one_of
from groundfault.cli.options import AsJson, Command, add_commands, print_json

LISTED = ("benchmarks", "protocols", "metrics", "models", "judges", "editors", "published")


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            help=", ".join(LISTED) + ".",
            autocompletion=one_of(LISTED),
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """What there is: benchmarks, protocols, metrics, models, judges, editors, published tables."""
    from groundfault.reports.listing import listing_tables
    from groundfault.reports.tables import show

    tables = listing_tables(kind)
    if as_json:
        print_json(
            {
                t.title: [dict(zip(t.columns, map(str, r), strict=True)) for r in t.rows]
                for t in tables
            }
        )
        return
    for table in tables:
        show(table)
        print()


def doctor(as_json: AsJson = False) -> None:
    """Is everything here that groundfault needs?"""
    from groundfault.reports.health import health_table, is_healthy
    from groundfault.reports.tables import show

    table = health_table()
    if as_json:
        print_json([dict(zip(table.columns, map(str, row), strict=True)) for row in table.rows])
    else:
        show(table)
    if not is_healthy(table):
        raise typer.Exit(2)


def conformance(
    out: Annotated[Path | None, typer.Option("--out", help="Write the page here.")] = None,
    brief: Annotated[bool, typer.Option("--brief", help="Findings without single cells.")] = False,
) -> None:
    """Do the papers' own numbers follow from each other? A page in Markdown."""
    from groundfault.io.store import write_bytes
    from groundfault.published.conformance import checks, conformance_brief, conformance_markdown

    page = (conformance_brief if brief else conformance_markdown)(checks())
    if out is None:
        print(page)
        return
    write_bytes(out, page.encode())
    print(f"written: {out}", file=sys.stderr)


def example(
    out: Annotated[Path, typer.Argument(help="Folder to write to.")],
    n: Annotated[int, typer.Option("--n", min=1, max=1_000_000, help="Number of pairs.")] = 300,
    seed: Annotated[int, typer.Option("--seed", help="Seed.")] = 0,
) -> None:
    """Write a small CAFE-like set with the predictions of two imagined models."""
    from groundfault.io.example import write_example

    for name, path in write_example(out, n=n, seed=seed).items():
        print(f"{name}: {path}")


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add these commands to the program."""
    commands: dict[str, Command] = {
        "list": list_,
        "doctor": doctor,
        "conformance": conformance,
        "example": example,
    }
    add_commands(app, commands, words)
