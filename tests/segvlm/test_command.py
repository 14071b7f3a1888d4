"""`groundfault train segvlm` from the recipe to the table, and what goes with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.conftest import ALL
from tests.segvlm.model_hub import running_model_hub

from groundfault.config import load_layered_toml, load_toml
from groundfault.errors import DataError, UsageError
from groundfault.io.masks import intersection_and_union, parse_mask
from groundfault.io.sources import load
from groundfault.runs.recorder import read_predictions

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("safetensors", reason="training needs safetensors")
pytestmark = pytest.mark.xdist_group("transformers")

RECIPES = Path(__file__).parents[2] / "recipes" / "robustseg"
TINY = """
steps = {steps}
save_every = 500
wordings = 1
asked_as = "trained"
[model]
vlm = "{vlm}"
decoder = "{decoder}"
max_tokens = {max_tokens}
[lora]
r = 32
alpha = 32
dropout = 0.0
rows = "all"
targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
[losses]
lambda_neg = {lambda_neg}
[optimiser]
learning_rate = 3e-3
batch = {batch}
micro_batch = 64
warm_up = 20
checkpointing = false
threads = 1
[[sources]]
name = "quads"
inputs = {{ folder = "{quads}" }}
"""
MEASURED = """
[evaluation]
every = 2
[[evaluation.sets]]
name = "held-out"
inputs = {{ folder = "{held_out}" }}
[[evaluation.sets]]
name = "fp-refcoco"
format = "fprefcoco"
inputs = {{ annotations = ["{fp}", "{refs}/instances.json"], images = "{images}" }}
[[evaluation.sets]]
name = "refcoco-val"
format = "refcoco"
inputs = {{ refs = "{refs}", images = "{images}", split = "val" }}
"""


def write_recipe(path: Path, checkpoint: Callable[[str], str], quads: Path, **more: Any) -> Path:
    values = {"steps": 3, "batch": 1, "lambda_neg": 1.0, "max_tokens": 8, **more}
    text = TINY.format(
        vlm=checkpoint("qwen3_vl"), decoder=checkpoint("sam2"), quads=quads, **values
    )
    path.write_text(text)
    return path


def test_a_dry_run_counts_and_trains_nothing(
    run: Any,
    checkpoint: Callable[[str], str],
    quads: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = write_recipe(tmp_path / "r.toml", checkpoint, quads)
    ended = run("train", "segvlm", recipe, "--out", tmp_path / "out", "--dry-run", "--json")
    assert ended.code == 0, ended.err
    found = ended.json
    (source,) = found["sources"]
    assert (source["name"], source["share"], source["samples"]) == ("quads", 1.0, 12)
    assert source["strata"] == {"referring": 2, "reasoning": 1}
    assert found["questions_per_step"] == 4
    assert 0 < found["trained"] < found["parameters"]
    assert found["memory_gb"]["together"] >= 0 and found["hours"] > 0
    assert not (tmp_path / "out").exists()
    said = run("train", "segvlm", recipe, "--out", tmp_path / "out", "--dry-run")
    assert "100.0% of the draws, 12 samples" in said.out
    with monkeypatch.context() as eight:
        eight.setenv("ACCELERATE_USE_FSDP", "true")
        eight.setenv("WORLD_SIZE", "8")
        shared = run("train", "segvlm", recipe, "--out", "out", "--dry-run", "--json").json
    assert shared["memory_gb"]["weights"] < found["memory_gb"]["weights"]

    from tests.segvlm.test_training import fitting_of

    from groundfault.training.segvlm.recipe import Recipe

    fitting = fitting_of(load_toml(recipe, Recipe))
    assert found["trained"] == pytest.approx(
        sum(value.numel() for value in fitting.trained.values()), rel=0.01
    )


def test_a_training_is_measured_on_the_way_and_compared(
    run: Any,
    checkpoint: Callable[[str], str],
    quads: Path,
    held_out: Path,
    refer: Path,
    tmp_path: Path,
) -> None:
    recipe = write_recipe(tmp_path / "r.toml", checkpoint, quads)
    premises = [
        {"sent": "left cat", "sent_id": 1},
        {"sent": "left dog", "sent_id": 2, "is_false_premise": True, "gt_sent": "left cat"},
    ]
    ref = {"ref_id": 1, "ann_id": 13, "image_id": 3, "split": "val", "sentences": premises}
    (tmp_path / "fp.json").write_text(json.dumps([ref]))
    with recipe.open("a") as file:
        file.write(
            MEASURED.format(
                held_out=held_out,
                fp=tmp_path / "fp.json",
                refs=refer,
                images=refer.parent / "train2014",
            )
        )
    out = tmp_path / "out"

    ended = run("train", "segvlm", recipe, "--out", out)

    assert ended.code == 0, ended.err
    assert f"--model segvlm:{out}" in ended.out
    assert "12 samples" in ended.err and "memory, GB:" in ended.err  # said before it starts
    assert "step 2, held-out:" in ended.err
    for name, metrics in (
        ("held-out", {"CCMS"}),
        ("fp-refcoco", {"See", "See_true", "See_false", "Segment"}),
        ("refcoco-val", {"See_true", "Segment"}),
    ):
        runs = [out / "training" / "evaluations" / name / f"step-{n:06d}" for n in (0, 2, 3)]
        rows = [json.loads((folder / "summary.json").read_text())["rows"] for folder in runs]
        known = {k for k, v in rows[-1]["Overall"]["metrics"].items() if v["value"] is not None}
        assert metrics <= set(rows[-1]["Overall"]["metrics"]), (name, known)
        compared = run("compare", runs[0], runs[2], "--json")
        assert compared.code == 0, compared.err
        assert "step-000000" in compared.out and "step-000003" in compared.out
    shown = run("report", *runs, "--out", tmp_path / "report.html")
    assert shown.code == 0, shown.err
    evaluated = run(
        "eval", held_out, "--model", f"segvlm:{out}", "--out", tmp_path / "run", "--limit", 1
    )
    assert evaluated.code == 0, evaluated.err
    again = run("train", "segvlm", recipe, "--out", out)
    assert again.code == 2
    assert "--resume" in again.err
    resumed = run("train", "segvlm", recipe, "--out", out, "--resume")
    assert resumed.code == 0, resumed.err


def test_a_merged_model_is_uploaded_with_its_card(
    run: Any,
    checkpoint: Callable[[str], str],
    quads: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = write_recipe(tmp_path / "r.toml", checkpoint, quads, steps=1)
    assert run("train", "segvlm", recipe, "--out", tmp_path / "out", "--seed", 5).code == 0
    wrong = run("train", "merge", tmp_path / "out", "--out", tmp_path / "m", "--push", "a b")
    assert wrong.code == 2 and "OWNER/NAME" in wrong.err and not (tmp_path / "m").exists()

    with running_model_hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", "secret")
        ended = run("train", "merge", tmp_path / "out", "--out", tmp_path / "m", "--push", "me/it")

    assert ended.code == 0, ended.err
    assert f"{hub.url}/me/it/commit/" in ended.out
    assert hub.created == [("me", "it", True)]
    sent = {path: (tmp_path / "m" / path).read_bytes() for path in hub.files}
    assert sent == hub.files
    assert {"segvlm.json", "README.md", "projector.safetensors", "vlm/config.json"} <= set(sent)
    card = sent["README.md"].decode()
    assert card.startswith("---\nlibrary_name: groundfault\n") and "seed 5" in card
    again = run("train", "merge", tmp_path / "out", "--out", tmp_path / "n", "--push", "me/it")
    assert again.code == 2 and "hf upload me/it" in again.err  # nobody answers there any more
    assert (tmp_path / "n" / "segvlm.json").is_file()


def test_bad_recipes_end_with_one_message(
    run: Any, checkpoint: Callable[[str], str], quads: Path, tmp_path: Path
) -> None:
    recipe = write_recipe(tmp_path / "r.toml", checkpoint, quads)
    good = recipe.read_text()
    for old, new, says in (
        ("steps = 3", "stepps = 3", "Did you mean 'steps'"),
        ("lambda_neg = 1.0", "lambda_neg = -1", "lambda_neg"),
        (str(quads), "nowhere", "nowhere"),
        (checkpoint("sam2"), "neither/nor/hub", "neither a folder nor a hub checkpoint"),
        (checkpoint("sam2"), checkpoint("qwen3_vl"), "masks are drawn by SAM"),
        ('targets = ["q_proj", ', 'targets = ["nothing"] #', "no layer of the language model"),
    ):
        recipe.write_text(good.replace(old, new))
        ended = run("train", "segvlm", recipe, "--out", tmp_path / "out")
        assert ended.code == 2, says
        assert says in ended.err
        assert "Traceback" not in ended.err
        assert not (tmp_path / "out" / "segvlm.json").exists()


def test_quads_become_preference_pairs(run: Any, quads: Path, tmp_path: Path) -> None:
    ended = run("export", "preferences", quads, "--out", tmp_path / "pairs.jsonl")
    assert ended.code == 0, ended.err
    pairs = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert len(pairs) == 12
    for pair in pairs:
        (picture,) = pair["images"]
        assert Path(picture).is_file()
        said = {side: pair[side][0]["content"][0]["text"] for side in ("chosen", "rejected")}
        there = pair["role"] in ("factual", "counterfactual")
        assert ("[SEG]" in said["chosen"]) == there
        assert ("[SEG]" in said["rejected"]) == (not there)
        assert [part["type"] for part in pair["prompt"][0]["content"]] == ["image", "text"]
    again = run("export", "preferences", quads, "--out", tmp_path / "again.jsonl")
    assert again.code == 0
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "pairs.jsonl").read_bytes()


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_recipes_are_sound(path: Path) -> None:
    from groundfault.training.segvlm.recipe import Recipe

    recipe = load_layered_toml(path, Recipe)
    assert recipe.about
    assert recipe.losses.ce == 1.0
    names = {data.name for data in recipe.evaluation.sets}
    assert names, "what a recipe changes is measured"


def test_ablations_change_what_they_say_and_nothing_else() -> None:
    from groundfault.training.segvlm.recipe import Recipe

    def read(name: str) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(
            load_layered_toml(RECIPES / f"{name}.toml", Recipe)
        )
        found.pop("about")
        return found

    whole = read("default")
    rates = {source["name"]: source["rate"] for source in whole["sources"]}
    families = {"refcoco": 0.0, "llava": 0.0, "fp": 0.0, "reasonseg": 0.0, "halluseg": 0.0}
    for name, rate in rates.items():
        families[next(family for family in families if name.startswith(family))] += rate
    assert list(families.values()) == [12, 2, 3, 12, 2]
    for name, value in (("lambda-0", 0.0), ("lambda-0.8", 0.8), ("lambda-1.2", 1.2)):
        changed = read(name)
        assert changed["losses"].pop("lambda_neg") == value
        kept = read("default")
        kept["losses"].pop("lambda_neg")
        assert changed == kept
    for name, family in (("no-fp-refcoco", "fp"), ("control", "halluseg")):
        changed = read(name)
        assert changed["steps"] == whole["steps"]
        for source in changed["sources"]:
            gone = source["name"].startswith(family)
            assert source["rate"] == (0 if gone else rates[source["name"]])
    pictures = {source["name"]: source["pictures"] for source in read("no-pictures")["sources"]}
    assert all(kept != name.startswith("halluseg") for name, kept in pictures.items())
    faithful = read("llava-1.5")
    assert faithful["lora"]["rows"] == "all" and faithful["losses"]["presence"] == 0


def test_a_recipe_may_stand_on_another(tmp_path: Path) -> None:
    from groundfault.training.segvlm.recipe import Recipe

    (tmp_path / "a.toml").write_text(
        'steps = 1\n[[sources]]\nname = "q"\nrate = 2\nsentences = 4\n'
    )
    (tmp_path / "b.toml").write_text('base = "a.toml"\n[[sources]]\nname = "q"\nrate = 5\n')
    (data,) = load_layered_toml(tmp_path / "b.toml", Recipe).sources
    assert (data.rate, data.sentences) == (5, 4)
    (tmp_path / "a.toml").write_text('base = "b.toml"\n')
    with pytest.raises(UsageError, match="its own base"):
        load_layered_toml(tmp_path / "b.toml", Recipe)
    (tmp_path / "a.toml").write_text("steps = 1\nstepps = 2\n")
    with pytest.raises(DataError, match="Did you mean 'steps'"):
        load_layered_toml(tmp_path / "b.toml", Recipe)


@pytest.mark.skipif(not ALL, reason="ten minutes: make test-all")
def test_thirty_two_quads_are_memorised_and_a_control_is_not(
    run: Any, checkpoint: Callable[[str], str], tmp_path: Path
) -> None:
    """Through the commands, on rendered scenes; without λ_neg the denials are never learnt."""
    quads = tmp_path / "quads"
    built = run("world", "build", "--preset", "halluseg", "--n", 32, "--seed", 0, "--size", 128,
                "--out", quads, "--workers", 1)  # fmt: skip
    assert built.code == 0, built.err
    right = {}
    for name, weight in (("robustseg", 1.0), ("control", 0.0)):
        recipe = write_recipe(
            tmp_path / f"{name}.toml",
            checkpoint,
            quads,
            steps=1000,
            batch=8,
            lambda_neg=weight,
            max_tokens=128,
        )
        out = tmp_path / name
        assert run("train", "segvlm", recipe, "--out", out).code == 0
        ended = run("eval", quads, "--model", f"segvlm:{out}", "--out", tmp_path / f"run-{name}")
        assert ended.code == 0, ended.err
        (folder,) = (path.parent for path in (tmp_path / f"run-{name}").rglob("run.json"))
        right[name] = corners_right(load(quads), folder)
    assert right["robustseg"][0] >= 0.95 * 128, right
    assert right["control"][1] <= 6, right  # hardly one of its 64 denials


def corners_right(benchmark: Any, folder: Path) -> tuple[int, int]:
    """Corners answered right: drawn with an overlap of half at least, or denied; and denials."""
    answers = {one.item_id: one for one in read_predictions(folder)}
    right = denied = 0
    for item in benchmark.items:
        answer, size = answers[item.id], (item.height_px, item.width_px)
        if not item.present:
            denied += answer.outcome == "abstained"
            right += answer.outcome == "abstained"
        elif answer.masks:
            truth = parse_mask(item.regions[0].mask, *size)
            shared, both = intersection_and_union(parse_mask(answer.masks[0], *size), truth)
            right += shared / both >= 0.5
    return right, denied


def test_one_bar_follows_another(monkeypatch: pytest.MonkeyPatch) -> None:
    from groundfault.reports import progress
    from groundfault.reports.trainings import TrainingDisplay
    from groundfault.training.segvlm.fitting import StepLog

    monkeypatch.setattr(progress, "_is_watched", lambda: True)
    monkeypatch.setattr(progress, "DELAY_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    shown = TrainingDisplay()
    for done in (1, 2, 3):
        shown.reading(done, 9)  # what is learnt may be no picture at all: it never reaches the end
    log = StepLog(step=1, loss=2.0, learning_rate=0.1, norm=1.0, parts={}, n={}, micro_batch=1)
    shown.step(log, 4)  # rich refuses a second bar beside the first
    shown.close()


def test_progress_is_a_curve() -> None:
    from groundfault.reports.trainings import curve

    falling = curve([1 / (k + 1) for k in range(200)])
    assert falling[0] == "█" and falling[-1] == "▁" and len(falling) <= 24
    assert curve([]) == "" and curve([2.0]) == "▁"
