"""Every format field by field: tables from the records, examples from files just written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fields import Field, fields, told
from words import escaped, table

__all__ = ["FORMATS", "documented", "format_pages"]


class Format(NamedTuple):
    """One file, and the records that it is made of."""

    title: str
    about: str
    records: tuple[str, ...]
    """"module:Class" below groundfault; the first is the file, or one line of it."""
    example: str = ""
    """The name of its example."""


FORMATS: dict[str, tuple[str, list[Format]]] = {
    "annotations": ("Annotations and predictions that you bring", [
        Format("COCO-like annotations (JSON)",
               "CAFE, SA-Co, FP-RefCOCO in pairs, COCO and LVIS: `images`, `annotations`, "
               "`categories`.",
               ("io.coco:Image", "io.coco:Annotation", "io.coco:Category"), "annotations"),
        Format("REFER's refs (JSON)", "FP-RefCOCO: `refs` beside `images` and `annotations`.",
               ("io.coco:Ref", "io.coco:Sentence")),
        Format("HalluSegBench's list (JSON)",
               "A list of cases; paths are relative to `--data`. Fields that are not listed are "
               "ignored.", ("benchmarks.halluseg:Record",)),
        Format("POPE's questions (JSON lines)", "A line per question.", ("benchmarks.pope:_Line",)),
        Format("COCO results (JSON)", "A list of predictions, in any order, of any size.",
               ("io.coco:Result",), "results"),
        Format("Answers in words (JSON lines)", "What `replay:answers.jsonl` reads.",
               ("models.replay:_Line",)),
        Format("phrases.toml", "What `groundfault audit` asks. Any other key is refused.",
               ("io.phrases:Phrases",), "phrases"),
    ]),
    "benchmarks": ("Benchmarks on disk", [
        Format("benchmark.json", "The head of a benchmark folder.",
               ("benchmarks.folder:Header", "records:Card"), "benchmark"),
        Format("cases.parquet of a folder", "A row per case.", ("records:Case",), "case"),
        Format("items.parquet of a folder", "A row per item; regions are nested.",
               ("records:Item", "records:Region", "records:Answer"), "item"),
        Format("exam.json", "The head of an exam folder.",
               ("benchmarks.reactbench:Header",), "exam"),
        Format("samples.parquet", "A row per sample.", ("benchmarks.reactbench:Sample",), "sample"),
        Format("questions.parquet", "A row per question.", ("benchmarks.reactbench:Question",),
               "question"),
        Format("audit.json", "What an audit asks: `AUDIT/set/audit.json`.",
               ("benchmarks.audit:AuditSet", "benchmarks.audit:AuditPicture",
                "benchmarks.audit:AuditEdit"), "audit"),
    ]),
    "results": ("Runs and results", [
        Format("run.json", "What made a run.", ("runs.run:Run", "runs.run:Grader"), "run"),
        Format("progress.json", "How far it is, while it goes on.", ("runs.status:Progress",)),
        Format("predictions-*.parquet", "A row per answer; journals hold the same before a "
               "shard is full.", ("records:Prediction",), "prediction"),
        Format("summary.json", "Every number.",
               ("records:Summary", "records:Row", "records:Estimate"), "summary"),
        Format("compare.json", "Paired tests of several runs.",
               ("analysis.compare:Comparison", "analysis.compare:PairTest",
                "analysis.compare:McNemar")),
        Format("sweep.json", "Every threshold.", ("analysis.sweep:Sweep", "analysis.sweep:Point")),
        Format("calibration.json", "One threshold, chosen once.",
               ("analysis.calibration:Calibration",)),
        Format("Judge's card", "What `judge-card --out` writes.",
               ("judges.card:JudgeCard", "judges.card:Agreement")),
        Format("Reader's card", "What `reader-card --out` writes.",
               ("judges.reader:ReaderCard", "judges.reader:Readings")),
        Format("Labels for judges (JSON lines)", "What `judge-card` reads.",
               ("judges.labelled:_Label",)),
        Format("Labels for readers (JSON lines)", "What `reader-card` reads.",
               ("judges.reader:LabelledText",)),
        Format("Entry of a leaderboard (JSON)", "One run, as others may submit it.",
               ("analysis.entries:Entry",)),
        Format("Trace of an agent (JSON)", "One episode.",
               ("models.agent.traces:Trace", "models.agent.traces:Turn")),
    ]),
    "building": ("Builds and reviews", [
        Format("funnel.json", "How many candidates each stage let through.",
               ("building.funnel:Funnel", "building.stages:Count"), "funnel"),
        Format("Stages (JSON lines)", "A line per candidate that a stage has come to.",
               ("building.stages:Record", "building.records:Candidate", "building.records:Proposal",
                "building.records:EditedPicture", "building.records:Question",
                "building.records:Dropped")),
        Format("Scripted proposals (JSON lines)", "What `--proposer FILE.jsonl` reads.",
               ("building.proposals.scripted:_Line",)),
        Format("review/items.jsonl", "A line per candidate that waits for people.",
               ("building.review:ReviewItem",)),
        Format("decisions.jsonl", "A line per decision; none is ever overwritten.",
               ("building.review:Decision",), "decision"),
        Format("Protocol of a review (TOML)", "What `review --protocol` reads.",
               ("building.review_rules:ReviewProtocol", "building.review_rules:Stage",
                "building.review_rules:Reason"), "protocol"),
    ]),
    "recipes": ("Recipes that you write", [
        Format("Scoring", "`--recipe`: how predictions are scored.", ("config:ScoreSettings",),
               "scoring"),
        Format("Building", "`groundfault build RECIPE.toml`; a table per stage.",
               ("building.recipe:Recipe", "building.recipe:SourceSettings",
                "building.sources:SourceOptions",
                "building.mining.selection:Common", "building.proposing:ProposeSettings",
                "building.proposals.chat:ChatSettings", "building.editing:EditSettings",
                "building.checks.settings:VerifySettings",
                "building.questions.stage:QuestionSettings", "building.recipe:ReviewSettings",
                "building.releasing:ReleaseSettings")),
        Format("Training a nano", "`groundfault train nano RECIPE.toml`.",
               ("training.nano.recipe:Recipe", "training.nano.recipe:Stage"), "nano"),
        Format("Training segmenters that talk, and other cures",
               "`groundfault train segvlm RECIPE.toml`.",
               ("training.segvlm.recipe:Recipe", "training.segvlm.recipe:Model",
                "models.segvlm.network:Lora", "training.segvlm.objective:Losses",
                "training.segvlm.recipe:Optimiser", "training.segvlm.recipe:DataSet",
                "training.segvlm.recipe:Evaluation", "training.segvlm.recipe:Guard")),
        Format("segvlm.json", "What a trained folder says of itself.",
               ("models.segvlm.folder:Header",)),
        Format("An agent", "`agent:RECIPE.toml`.",
               ("models.agent.loading:Spec", "models.agent.settings:Settings"), "agent"),
    ]),
}  # fmt: skip


def documented() -> Iterator[tuple[str, Field]]:
    """Every record that a page shows, with each of its fields."""
    for _, formats in FORMATS.values():
        for each in formats:
            for named in each.records:
                for field in fields(f"groundfault.{named}"):
                    yield named, field


def format_pages(examples: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """(path, lines) of every group of formats, and of their list."""
    lines = ["# Formats, field by field", "",
             "The tables are made from the records that read and write these files. [Files that "
             "are read and written](../../../formats.md) says how they are used.", ""]  # fmt: skip
    for page, (title, formats) in FORMATS.items():
        names = ", ".join(each.title for each in formats)
        lines += [f"- [{title}]({page}.md): {escaped(names)}"]
        yield f"formats/{page}", [f"# {title}", "", *_page(formats, examples)]
    yield "formats/index", [*lines, "", "```{toctree}", ":hidden:", "", *FORMATS, "```"]


def _page(formats: list[Format], examples: Mapping[str, str]) -> Iterator[str]:
    for each in formats:
        yield from (f"## {escaped(each.title)}", "", each.about, "")
        if each.example:
            language = "json" if examples[each.example].startswith(("{", "[")) else "toml"
            yield from (f"```{language}", examples[each.example], "```", "")
        for number, named in enumerate(each.records):
            if number:
                yield from (f"### {named.partition(':')[2]}", "")
            elif told(f"groundfault.{named}"):
                yield from (escaped(told(f"groundfault.{named}")), "")
            rows = [_row(field) for field in fields(f"groundfault.{named}")]
            yield from table(("field", "type", "default", "what it says"), rows)


def _row(field: Field) -> tuple[str, str, str, str]:
    default = f"`{escaped_code(field.default)}`" if field.default else "needed"
    return f"`{field.name}`", f"`{escaped_code(field.type)}`", default, escaped(field.words)


def escaped_code(text: str) -> str:
    """Code in a cell of a table."""
    return text.replace("|", r"\|")
