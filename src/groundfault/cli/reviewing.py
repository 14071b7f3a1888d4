"""Review candidates in the browser."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from groundfault.cli.options import add_commands
from groundfault.errors import MissingExtra

if TYPE_CHECKING:
    from groundfault.web.review.desk import ReviewDesk
    from groundfault.web.security import Site
    from groundfault.web.serving import Address

AT = "Where it listens"
WHAT = "What is asked"

Folder = Annotated[Path, typer.Argument(help="Folder of a build, with review/items.jsonl.")]
Export = Annotated[
    Path | None,
    typer.Option("--export", help="Write every decision to NAME.parquet or NAME.jsonl, and end."),
]
DatabaseUrl = Annotated[
    str,
    typer.Option("--database", help="sqlite:///PATH or postgresql://… [DIR/review/desk.sqlite]"),
]
Reviewers = Annotated[
    int | None,
    typer.Option(
        "--reviewers", min=1, max=1000, help="Print a link by which so many people join too."
    ),
]
Overlap = Annotated[
    int | None,
    typer.Option(
        "--overlap",
        min=1,
        max=99,
        help="Opinions per item where people overlap. [the protocol's, 3 for CAFE]",
        rich_help_panel=WHAT,
    ),
]
Protocols = Annotated[
    list[Path] | None,
    typer.Option("--protocol", help="A protocol of your own, TOML.", rich_help_panel=WHAT),
]
Idle = Annotated[
    float,
    typer.Option(
        "--idle",
        min=0.1,
        help="Minutes after which untouched work is handed back.",
        rich_help_panel=WHAT,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port", min=0, max=65535, help="[one of the folder's own, else any]", rich_help_panel=AT
    ),
]
Share = Annotated[bool, typer.Option("--share", help="Let other machines in.", rich_help_panel=AT)]
Host = Annotated[
    str,
    typer.Option("--host", help="Another address, with --share. [loopback]", rich_help_panel=AT),
]
PublicUrl = Annotated[
    str,
    typer.Option(
        "--public-url",
        help="With --share: https address of your tunnel or proxy, for links.",
        rich_help_panel=AT,
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option("--certificate", help="Your TLS certificate, PEM.", rich_help_panel=AT),
]
Key = Annotated[
    Path | None, typer.Option("--key", help="Its private key, PEM.", rich_help_panel=AT)
]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Open no browser.", rich_help_panel=AT)
]


def review(
    folder: Folder,
    export: Export = None,
    database: DatabaseUrl = "",
    reviewers: Reviewers = None,
    overlap: Overlap = None,
    protocol: Protocols = None,
    idle: Idle = 30.0,
    port: Port = 0,
    share: Share = False,
    host: Host = "",
    public_url: PublicUrl = "",
    certificate: Certificate = None,
    key: Key = None,
    no_browser: NoBrowser = False,
) -> None:
    """People look at edited pictures one by one: by keyboard, alone or together, blind."""
    from groundfault.web.serving import Address, usual_port

    if export is not None:
        n = _desks().export(folder, export, database=database)
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
    desk = _desks().open_desk(
        folder, database=database, overlap=overlap, protocols=protocol or (), idle_s=60 * idle
    )
    try:
        _serve(desk, address, reviewers or 0, browser=not no_browser)
    finally:
        desk.close()


def _desks() -> ModuleType:
    """The desk, where what it needs is installed."""
    try:
        import starlette  # noqa: F401
    except ImportError:
        raise MissingExtra("starlette", "desk") from None
    from groundfault.web.review import desk

    return desk


def _serve(desk: ReviewDesk, address: Address, reviewers: int, *, browser: bool) -> None:
    """Print the owner's link, and one for several reviewers, and serve until Ctrl-C."""
    from groundfault.web.serving import serve

    owner = desk.owner_invitation()
    group = desk.open_invitation(reviewers) if reviewers else ""

    def more(site: Site) -> str:
        return f"{reviewers} reviewers join at: {site.url}/join#{group}" if group else ""

    serve(
        desk.make_app,
        address,
        link=lambda site: f"{site.url}/join#{owner}",
        more=more,
        browser=browser,
    )


def register(app: typer.Typer, words: Sequence[str]) -> None:
    """Add this command to the program."""
    add_commands(app, {"review": review}, words)
