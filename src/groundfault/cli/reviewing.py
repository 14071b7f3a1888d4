"""Review candidates in the browser."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundfault.cli.options import add_commands

AT = "Where it listens"
WHAT = "What is asked"


def review(
    folder: Annotated[Path, typer.Argument(help="Folder of a build, with review/items.jsonl.")],
    export: Annotated[
        Path | None,
        typer.Option(
            "--export", help="Write every decision to NAME.parquet or NAME.jsonl, and end."
        ),
    ] = None,
    database: Annotated[
        str,
        typer.Option(
            "--database", help="sqlite:///PATH or postgresql://… [DIR/review/desk.sqlite]"
        ),
    ] = "",
    reviewers: Annotated[
        int | None,
        typer.Option(
            "--reviewers", min=1, max=1000, help="Print a link by which so many people join too."
        ),
    ] = None,
    overlap: Annotated[
        int | None,
        typer.Option(
            "--overlap",
            min=1,
            max=99,
            help="Opinions per item where people overlap. [the protocol's, 3 for CAFE]",
            rich_help_panel=WHAT,
        ),
    ] = None,
    protocol: Annotated[
        list[Path] | None,
        typer.Option("--protocol", help="A protocol of your own, TOML.", rich_help_panel=WHAT),
    ] = None,
    idle: Annotated[
        float,
        typer.Option(
            "--idle",
            min=0.1,
            help="Minutes after which untouched work is handed back.",
            rich_help_panel=WHAT,
        ),
    ] = 30.0,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="[one of the folder's own, else any]",
            rich_help_panel=AT,
        ),
    ] = 0,
    share: Annotated[
        bool, typer.Option("--share", help="Let other machines in.", rich_help_panel=AT)
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Another address, with --share. [loopback]", rich_help_panel=AT
        ),
    ] = "",
    public_url: Annotated[
        str,
        typer.Option(
            "--public-url",
            help="With --share: https address of your tunnel or proxy, for links.",
            rich_help_panel=AT,
        ),
    ] = "",
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", help="Your TLS certificate, PEM.", rich_help_panel=AT),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="Its private key, PEM.", rich_help_panel=AT)
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Open no browser.", rich_help_panel=AT)
    ] = False,
) -> None:
    """People look at edited pictures one by one: by keyboard, alone or together, blind."""
    from groundfault.errors import MissingExtra

    try:
        import starlette  # noqa: F401
    except ImportError:
        raise MissingExtra("starlette", "desk") from None
    from groundfault.web.review import desk as desks
    from groundfault.web.serving import Address, serve, usual_port

    if export is not None:
        n = desks.export(folder, export, database=database)
        print(f"{n} decisions written: {export}", file=sys.stderr)
        return
    address = Address(
        host=host,
        port=port,
        usual_port=usual_port(folder),
        share=share,
        public_url=public_url,
        certificate=certificate,
        key=key,
    )
    address.check()
    desk = desks.open_desk(
        folder, database=database, overlap=overlap, protocols=protocol or (), idle_s=60 * idle
    )
    try:
        token = desk.owner_invitation()
        group = desk.open_invitation(reviewers) if reviewers else ""
        serve(
            desk.make_app,
            address,
            link=lambda site: f"{site.url}/join#{token}",
            more=lambda site: (
                f"{reviewers} reviewers join at: {site.url}/join#{group}" if group else ""
            ),
            browser=not no_browser,
        )
    finally:
        desk.close()


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add this command to the program."""
    add_commands(app, {"review": review}, words)
