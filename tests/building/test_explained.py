"""`build explain` tells what was done, which need not be what was proposed first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from tests.building.proposal_parts import candidate
from tests.conftest import Ran

from groundfault.building.funnel import FunnelWriter
from groundfault.building.records import Candidate, EditedPicture, Proposal
from groundfault.building.stages import Count, Record, stage_file

Run = Callable[..., Ran]
ERASED = Proposal(kind="erase", value="", instruction="Remove the cat.")
REPLACED = Proposal(
    kind="replace",
    value="bunch of balloons",
    instruction="Replace the cat with a bunch of balloons.",
    alternatives=(ERASED,),
)
EDITED = EditedPicture(before="pictures/a.png", after="pictures/b.png")


def life(folder: Path, **stages: Candidate) -> None:
    """A build with one candidate, as each stage let it through."""
    writer = FunnelWriter(folder, "reactbench")
    stage_file(folder, "").parent.mkdir(parents=True)
    for name, each in stages.items():
        record = Record(id=each.id, candidate=each)
        stage_file(folder, name).write_bytes(msgspec.json.encode(record) + b"\n")
        writer.update(Count(name=name, entered=1, kept=1), done=True)


def told(run: Run, folder: Path) -> dict[str, list[str]]:
    """What is told of each stage."""
    found: dict[str, list[str]] = {}
    stage = ""
    for line in run("build", "explain", folder, "7-0-tracing").out.splitlines():
        if line.startswith("    "):
            found[stage].append(line.strip())
        else:
            stage = line.partition(":")[0]
            found[stage] = []
    return found


def test_what_was_done_is_told_where_it_is_not_what_was_proposed(run: Run, tmp_path: Path) -> None:
    mined = candidate("tracing")
    proposed = msgspec.structs.replace(mined, proposal=REPLACED)
    edited = msgspec.structs.replace(mined, proposal=ERASED, edited=EDITED)
    life(tmp_path / "b", mine=mined, propose=proposed, edit=edited)
    stages = told(run, tmp_path / "b")
    assert stages["propose"] == [
        "proposed: Replace the cat with a bunch of balloons.",
        "or else: Remove the cat.",
    ]
    assert stages["edit"][0] == "done instead: Remove the cat."


def test_phrases_are_those_of_what_was_done_and_of_who_corrected_them(
    run: Run, tmp_path: Path
) -> None:
    change = msgspec.structs.replace
    mined = candidate("tracing")
    proposal = change(REPLACED, positive="cat", negative="zebra", alternatives=())
    proposed = change(mined, proposal=proposal)
    edited = change(proposed, edited=EDITED)
    reviewed = change(edited, proposal=change(proposal, negative="balloon"), votes={"accept": 2})
    life(tmp_path / "b", mine=mined, propose=proposed, edit=edited, review=reviewed)
    stages = told(run, tmp_path / "b")
    assert stages["edit"][:2] == [f"done: {proposal.instruction}", "+ cat   − zebra"]
    assert stages["review"] == ["corrected: + cat   − balloon", "accept 2"]
