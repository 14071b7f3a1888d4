"""The nano models' school: what is shown, what is asked, what is learnt, what is stored."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundfault.errors import DataError
from groundfault.models.nano import LENGTH, SHIPPED, SIDE_PX, Nano, as_input, group, word_numbers
from groundfault.world.materials import MATERIALS
from groundfault.world.objects import CATEGORIES
from groundfault.world.phrases import concept, matching, material_of, unreal
from groundfault.world.render import render
from groundfault.world.sampling import sample_scene
from groundfault.world.splits import SEEN, split_pair

torch = pytest.importorskip("torch", reason="training needs the train extra")
pytest.importorskip("onnx", reason="training needs the train extra")

from groundfault.training.checkpoints import read_checkpoint, write_checkpoint  # noqa: E402
from groundfault.training.nano import network as networks  # noqa: E402
from groundfault.training.nano.batches import QUESTIONS, coated_things, draw  # noqa: E402
from groundfault.training.nano.coats import put_coats  # noqa: E402
from groundfault.training.nano.export import export  # noqa: E402
from groundfault.training.nano.objective import loss  # noqa: E402
from groundfault.training.nano.pictures import habitual_scene, paint, surprising_pair  # noqa: E402
from groundfault.training.nano.questions import (  # noqa: E402
    EASY,
    TEMPTING,
    TRUE,
    WORDINGS,
    ask,
    how_often,
    vocabulary,
)
from groundfault.training.nano.recipe import Recipe, Stage, cook  # noqa: E402
from groundfault.training.nano.restoring import restore  # noqa: E402

WORDS = vocabulary()
NAMES = {way: name for name, ways in WORDINGS.items() for way in ways}
index = st.integers(0, 10_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nano")


@given(index)
@settings(deadline=None, max_examples=40)
def test_fine_tuning_never_sees_what_is_held_out(n: int) -> None:
    pair = surprising_pair(3, n)
    for scene in (pair.factual, pair.counterfactual):
        context = (scene.over or scene.place).context
        for thing in scene.things:
            look = thing.over or thing.look
            entry = CATEGORIES[thing.category]
            unusual = [
                look.surface if look.surface != entry.surface and not look.material else "",
                look.material,
                context if context not in entry.contexts else "",
            ]
            for value in filter(None, unusual):
                assert split_pair(thing.category, value) == SEEN, (thing.category, value)


@given(index, st.booleans())
@settings(deadline=None, max_examples=40)
def test_what_is_asked_has_the_answer_that_the_world_gives(n: int, tempting: bool) -> None:
    pair = surprising_pair(4, n)
    scene, other = pair.counterfactual, pair.factual
    rng = np.random.default_rng(n)
    questions = ask(scene, QUESTIONS, rng, other=other if tempting else None, tempting=tempting)
    assert len(questions) == QUESTIONS
    names = {concept(thing) for thing in scene.things}
    for question in questions:
        own = [name for name, ways in WORDINGS.items() if question.phrase in ways]
        assert own, question.phrase
        if question.kind == TRUE:
            assert own[0] in names
            assert question.things == matching(scene, own[0])
        else:
            assert question.things == () == matching(scene, question.phrase)
            assert tempting or question.kind == EASY


@given(index)
@settings(deadline=None, max_examples=30)
def test_the_base_model_hears_nothing_that_tempts(n: int) -> None:
    scene = habitual_scene(5, n)
    questions = ask(scene, QUESTIONS, np.random.default_rng(n), other=None, tempting=False)
    for question in questions:
        name = next(name for name, ways in WORDINGS.items() if question.phrase in ways)
        if question.kind == EASY and name in CATEGORIES:
            assert scene.place.context not in CATEGORIES[name].contexts
            assert all(thing.category != name for thing in scene.things)


def test_balanced_questions_do_not_give_their_answer_away() -> None:
    scenes = [surprising_pair(3, n).factual for n in range(40)]
    often = how_often(scenes, [1 / 40] * 40)
    phrase = next(kind.phrase for kind in MATERIALS.values() if kind.phrase in often)
    there = [any(concept(thing) == phrase for thing in scene.things) for scene in scenes]
    assert often[phrase] == pytest.approx(np.mean(there))
    assert MATERIALS["marble"].phrase not in often  # held out: never there, so never asked for
    often["dog"] = 20 * max(often.values())
    rng, absent = np.random.default_rng(0), Counter[str]()
    for scene in scenes:
        asked = ask(scene, 14, rng, other=None, tempting=False, often=often)
        absent.update(NAMES[q.phrase] for q in asked if q.kind == EASY)
    assert set(absent) <= set(often)
    others = [absent[name] for name in often if name != "dog"]
    assert absent["dog"] > 2 * np.mean(others)


def test_what_belongs_in_a_place_is_asked_for_as_often_as_it_is_there() -> None:
    scenes = [surprising_pair(3, n).factual for n in range(150)]
    everything = dict.fromkeys(WORDINGS, 1.0)
    rng = np.random.default_rng(0)

    def heard(often: dict[str, float]) -> Counter[str]:
        asked = [ask(scene, 20, rng, other=None, tempting=True, often=often) for scene in scenes]
        return Counter(q.phrase for qs in asked for q in qs if q.kind == TEMPTING)

    alike = heard(everything)
    rare = heard(everything | {"dog": 0.02})
    never = heard(everything | {"dog": 0.0})
    assert alike["dog"] > 10 > 4 * rare["dog"] and never["dog"] == 0


def test_the_misleading_prompt_of_a_pair_is_asked_of_both_pictures() -> None:
    rng = np.random.default_rng(0)
    for n in range(24):
        pair = surprising_pair(6, n)
        for scene, other in (
            (pair.factual, pair.counterfactual),
            (pair.counterfactual, pair.factual),
        ):
            asked = ask(scene, QUESTIONS, rng, other=other, tempting=True)
            phrases = {question.phrase for question in asked if question.kind == TEMPTING}
            if not matching(scene, pair.negative) and pair.kind in ("SM", "OC"):
                assert pair.negative in phrases
    assert set(WORDS.values()) == set(range(1, len(WORDS) + 1))


def test_without_misleading_prompts_only_the_twin_tempts() -> None:
    rng, heard = np.random.default_rng(0), 0
    for n in range(24):
        pair = surprising_pair(6, n)
        shown = {concept(thing) for thing in pair.counterfactual.things}
        asked = ask(
            pair.factual,
            QUESTIONS,
            rng,
            other=pair.counterfactual,
            tempting=True,
            misleading=False,
        )
        tempting = {NAMES[question.phrase] for question in asked if question.kind == TEMPTING}
        assert tempting <= shown - {concept(thing) for thing in pair.factual.things}
        heard += len(tempting)
    assert heard


@pytest.fixture(scope="module")
def pictures(folder: Path):  # type: ignore[no-untyped-def]
    return paint("habitual", 4, 11, folder / "pictures")


def test_pictures_are_the_same_when_read_again(folder: Path, pictures) -> None:  # type: ignore[no-untyped-def]
    again = paint("habitual", 4, 11, folder / "pictures")
    assert np.array_equal(again.images, pictures.images) and again.scenes == pictures.scenes
    image = render(pictures.scenes[0]).image
    assert abs(image.mean() - pictures.images[0].mean()) < 1


def test_a_batch_says_where_each_pixel_belongs(pictures) -> None:  # type: ignore[no-untyped-def]
    batch = draw(pictures, np.arange(4), WORDS, np.random.default_rng(0), tempting=False)
    cells = SIDE_PX // 2
    assert batch.masks.sum(1).max() <= 1
    for b, k in batch.there.nonzero().tolist():
        inside = batch.masks[b, k] > 0.5
        rows, columns = inside.nonzero(as_tuple=True)
        middle = (rows + batch.way[b, 0][inside] * cells, columns + batch.way[b, 1][inside] * cells)
        assert middle[0].std() < 1e-3 and middle[1].std() < 1e-3
        at = (round(float(middle[0][0])), round(float(middle[1][0])))
        assert batch.heat[b][at] > 0.99
    assert (batch.fits * ~batch.there[..., None]).sum() == 0


def test_coats_change_the_chosen_things_and_nothing_else(pictures) -> None:  # type: ignore[no-untyped-def]
    image, labels = pictures.images[0].copy(), pictures.labels[0]
    put_coats(image, labels, [0], np.random.default_rng(0))
    changed = (image != pictures.images[0]).any(-1)
    assert changed[labels == 0].mean() > 0.9 and not changed[labels != 0].any()


def test_sculptures_wear_no_coats_and_masks_stay(folder: Path) -> None:
    scenes = paint("habitual", 24, 12, folder / "pictures")
    rng, bare = np.random.default_rng(0), 0
    for scene in scenes.scenes:
        sculptures = {k for k, thing in enumerate(scene.things) if material_of(thing)}
        assert set(coated_things(scene, 1.0, rng)) == set(range(len(scene.things))) - sculptures
        bare += len(sculptures)
    assert bare
    plain, coated = (
        draw(scenes, np.arange(24), WORDS, np.random.default_rng(0), tempting=False, coats=share)
        for share in (0.0, 1.0)
    )
    assert torch.equal(plain.masks, coated.masks)


def test_the_targets_group_into_the_things_that_they_came_from(pictures) -> None:  # type: ignore[no-untyped-def]
    batch = draw(pictures, np.arange(4), WORDS, np.random.default_rng(0), tempting=False)
    for b in range(4):
        ground = np.where(batch.ground[b] > 0.5, 9.0, -9.0).astype(np.float32)
        where = np.concatenate(
            [
                np.where(batch.heat[b] > 0.99, 9.0, -9.0)[None],
                batch.way[b].numpy(),
            ]
        ).astype(np.float32)
        labels = group(ground, where)[1]
        for k in batch.there[b].nonzero()[:, 0].tolist():
            own = batch.masks[b, k].numpy() >= 0.5
            if own.sum() > 12:
                values, counts = np.unique(labels[own], return_counts=True)
                assert counts.max() / counts.sum() > 0.95 and values[counts.argmax()] >= 0


def test_perfect_answers_cost_nothing_and_tempting_ones_only_abstaining(folder: Path) -> None:
    pairs = paint("surprising", 2, 11, folder / "pictures")
    batch = draw(pairs, np.arange(4), WORDS, np.random.default_rng(0), tempting=True)
    where = torch.cat(
        [
            ((batch.heat[:, None] > 0.99).float() * 2 - 1) * 20,
            batch.way,
        ],
        1,
    )
    ground = (batch.ground[:, None] * 2 - 1) * 20
    fits = (batch.fits * 2 - 1) * 20
    perfect = loss(ground, where, fits, batch)
    assert perfect.matching < 1e-3 and perfect.abstaining < 1e-3 and perfect.finding < 0.5
    tempted = torch.where((batch.kinds == TEMPTING)[:, None], 20.0, fits)
    assert loss(ground, where, tempted, batch).matching < 1e-3
    assert loss(ground, where, tempted, batch).abstaining > 10


def test_other_things_have_to_fit_less_and_only_rivals_tells_them_no(folder: Path) -> None:
    scenes = paint("habitual", 4, 11, folder / "pictures")
    batch = draw(scenes, np.arange(4), WORDS, np.random.default_rng(0), tempting=False)
    ground, where = batch.ground[:, None], torch.zeros(4, 3, *batch.heat.shape[1:])
    easy = (batch.kinds == EASY)[:, None]
    # Everything that is asked for with reason fits everything, but what is meant fits best.
    fits = torch.where(easy, -40.0, torch.where(batch.fits > 0, 60.0, 20.0))
    assert loss(ground, where, fits, batch, rivals=0.0).matching < 1e-3
    several = (batch.there.sum(1) > 1).any()
    assert several and loss(ground, where, fits, batch, rivals=1.0).matching > 10
    shy = torch.where(easy, -40.0, -20.0).expand_as(fits)
    once, twice = (
        float(loss(ground, where, shy, batch, rivals=0.0, eagerness=e).matching) for e in (1, 2)
    )
    assert twice - once == pytest.approx(20.0, abs=0.1)  # what a missing yes costs
    turned = torch.where(easy, -40.0, torch.where(batch.fits > 0, 20.0, 60.0))
    assert loss(ground, where, turned, batch, rivals=0.0).matching > 10


def test_a_yes_to_a_sculpture_can_count_more(folder: Path) -> None:
    scenes = paint("habitual", 24, 12, folder / "pictures")
    batch = draw(scenes, np.arange(24), WORDS, np.random.default_rng(0), tempting=False)
    phrases = {kind.phrase for kind in MATERIALS.values()}
    sculpted = [{concept(thing) for thing in scene.things} & phrases for scene in scenes.scenes]
    asked = (batch.sculptures & (batch.kinds == TRUE)).any(1)
    assert asked.tolist() == [bool(names) for names in sculpted] and 0 < asked.sum() < 24
    ground, where = batch.ground[:, None], torch.zeros(24, 3, *batch.heat.shape[1:])
    missed = torch.where(batch.sculptures[:, None], -20.0, (batch.fits * 2 - 1) * 20)
    found = torch.where(batch.sculptures[:, None], (batch.fits * 2 - 1) * 20, -20.0)
    for fits, share in ((missed, 2.0), (found, 1.0)):
        once, twice = (
            float(loss(ground, where, fits, batch, eagerness=5.0, sculptures_yes=worth).matching)
            for worth in (1.0, 2.0)
        )
        yes = 5.0 * 20 * float((batch.fits * (fits < 0)).sum() / batch.fits.sum())
        assert twice - once == pytest.approx((share - 1) * yes, rel=1e-3, abs=1e-3) and yes > 1


@given(index)
@settings(deadline=None, max_examples=30)
def test_sculptures_are_called_what_they_show_only_where_told_so(n: int) -> None:
    scene = habitual_scene(5, n)
    sculpted = {thing.category for thing in scene.things if material_of(thing)}
    real = {thing.category for thing in scene.things if not material_of(thing)}
    for share in (0.0, 1.0):
        asked = ask(
            scene,
            QUESTIONS,
            np.random.default_rng(n),
            other=None,
            tempting=False,
            depictions=share,
        )
        called = {NAMES[q.phrase] for q in asked if q.kind == TRUE}
        assert called & sculpted - real == (sculpted - real if share else set())
        assert not any(q.phrase == unreal(name) for q in asked for name in sculpted - real)


def test_onnx_says_what_torch_says(folder: Path) -> None:
    torch.manual_seed(0)
    net = networks.Nano(SIDE_PX, len(WORDS) + 1, LENGTH).eval()
    export(net, WORDS, folder / "random", {"note": "random weights"})
    model = Nano(folder / "random")
    assert model.words == WORDS
    sizes = [path.stat().st_size for path in folder.glob("random.*.onnx")]
    assert len(sizes) == 2 and sum(sizes) < 6e6
    picture = as_input(render(sample_scene(0, 0)).image[None, ::2, ::2][:, :SIDE_PX, :SIDE_PX])
    masks = np.zeros((1, 2, SIDE_PX // 2, SIDE_PX // 2), np.float32)
    masks[0, 0, 10:40, 10:30], masks[0, 1, 50:60, 20:70] = 1, 1
    ids = word_numbers(["dog", "the thing one drinks coffee from", "nonsense"], WORDS)
    with torch.no_grad():
        _, where, *seen = net.finder(torch.from_numpy(picture))
        fits = net.matcher(torch.from_numpy(masks), *seen, torch.from_numpy(ids)[None])
    found = model._find.run(None, {"picture": picture})
    names = ("quarter", "eighth", "tokens")
    matched = model._match.run(
        None, dict(zip(names, found[2:], strict=True)) | {"masks": masks, "ids": ids[None]}
    )
    for mine, theirs in ((found[1], where), (matched[0], fits)):
        np.testing.assert_allclose(mine, theirs.numpy(), atol=5e-3)


def test_an_export_becomes_the_network_again(folder: Path, pictures) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    first, again = (networks.Nano(SIDE_PX, len(WORDS) + 1, LENGTH) for _ in range(2))
    with torch.no_grad():
        for own in first.parameters():  # what is alike is stored once: trained weights never are
            own.add_(0.05 * torch.randn_like(own))
        for norm in (m for m in first.modules() if isinstance(m, torch.nn.BatchNorm2d)):
            norm.running_mean.uniform_(-0.5, 0.5)
            norm.running_var.uniform_(0.2, 3.0)
            norm.weight.uniform_(0.5, 2.0)
            norm.bias.uniform_(-0.5, 0.5)
    export(first, WORDS, folder / "first", {"note": "random weights"})
    restore(again, folder / "first", pictures.images)
    picture = torch.from_numpy(as_input(pictures.images))
    masks = torch.zeros(4, 1, SIDE_PX // 2, SIDE_PX // 2)
    masks[:, :, 20:60, 20:50] = 1
    ids = torch.from_numpy(word_numbers(["dog", "living dog"], WORDS))[None].repeat(4, 1, 1)
    with torch.no_grad():
        said = [(*net.finder(picture),) for net in (first.eval(), again.eval())]
        fits = [net.matcher(masks, *said[0][2:], ids) for net in (first, again)]
        learning = again.train().finder(picture)  # on the pictures that it was restored with
    for mine, theirs in (*zip(*said, strict=True), fits, (learning[0], said[0][0])):
        torch.testing.assert_close(mine, theirs, atol=2e-2, rtol=2e-2)
    with pytest.raises(DataError, match="nowhere"):
        restore(again, folder / "nowhere", pictures.images)


def test_a_recipe_can_start_from_an_exported_model(tmp_path: Path) -> None:
    finished = Stage(name="a", weights="nano-base")
    after = _recipe(2).stages[1]
    recipe = msgspec.structs.replace(_recipe(2), stages=(finished, after))
    stem, tuned = cook(recipe, tmp_path, [], lambda *told: None)
    image = render(sample_scene(3, 1)).image
    shipped = Nano(SHIPPED / "nano-base").segment(image, ["dog", "tree"])
    for mine, theirs in zip(Nano(stem).segment(image, ["dog", "tree"]), shipped, strict=True):
        np.testing.assert_allclose(mine.presence, theirs.presence, atol=5e-3)
    assert len(Nano(tuned).segment(image, ["dog"])) == 1
    for stage in (Stage(name="a"), Stage(name="a", weights="nano-base", steps=3)):
        with pytest.raises(ValueError, match="steps, or weights"):
            msgspec.structs.replace(recipe, stages=(stage,))


def _recipe(steps: int) -> Recipe:
    stage = Stage(name="a", steps=steps, learning_rate=1e-3, scenes_per_step=2)
    after = Stage(
        name="b", start="a", steps=2, learning_rate=1e-3, scenes_per_step=1, pairs_per_step=1
    )
    return Recipe(data_seed=11, scenes=4, pairs=6, threads=1, stages=(stage, after))


def test_a_recipe_is_cooked_once_and_its_stages_build_on_each_other(folder: Path) -> None:
    told: list[str] = []
    recipe = _recipe(3)
    stems = cook(recipe, folder, [], lambda what, done, total, losses: told.append(what))
    assert [stem.name for stem in stems] == ["a", "b"]
    assert {"a", "b"} <= set(told)
    told.clear()
    cook(recipe, folder, ["b"], lambda what, done, total, losses: told.append(what))
    assert told == []
    image = render(sample_scene(0, 0)).image
    assert len(Nano(folder / "b").segment(image, ["dog", "cat"])) == 2


def test_another_recipe_does_not_mix_with_what_is_there(folder: Path) -> None:
    from groundfault.errors import UsageError

    cook(_recipe(3), folder, ["a"], lambda *_: None)
    with pytest.raises(UsageError, match="another recipe"):
        cook(_recipe(4), folder, ["a"], lambda *_: None)


def test_an_interrupted_stage_ends_as_an_uninterrupted_one(
    folder: Path, pictures, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    from groundfault.training.nano import fitting
    from groundfault.training.nano.fitting import Fitting, Mixture, fit

    monkeypatch.setattr(fitting, "SAY_EVERY", 1)

    def fresh() -> Fitting:
        torch.manual_seed(1)
        net = networks.Nano(SIDE_PX, len(WORDS) + 1, LENGTH)
        return Fitting(net, 1e-3, 4, 1.0, 0)

    mixtures = [Mixture(pictures, 2)]
    whole = fresh()
    for _ in fit(whole, mixtures, WORDS):
        pass
    half = fresh()
    for step, _ in fit(half, mixtures, WORDS):
        if step == 2:
            break
    write_checkpoint(folder / "half.safetensors", half.state())
    resumed = fresh()
    resumed.restore(read_checkpoint(folder / "half.safetensors"))
    for _ in fit(resumed, mixtures, WORDS):
        pass
    for mine, theirs in zip(whole.network.parameters(), resumed.network.parameters(), strict=True):
        assert torch.equal(mine, theirs)


class Bomb:
    """What unpickling executes."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.target,)


@pytest.mark.parametrize("kind", ["pickle", "cut", "header", "empty", "json"])
def test_nothing_in_a_checkpoint_is_executed(tmp_path: Path, kind: str) -> None:
    from groundfault.errors import DataError

    path = tmp_path / "a.part.safetensors"
    write_checkpoint(path, {"network": {"w": torch.ones(3)}, "step": 2})
    whole = path.read_bytes()
    if kind == "pickle":
        torch.save({"key": Bomb(tmp_path / "done")}, path)
    else:
        path.write_bytes(
            {"cut": whole[:-4], "header": b"\xff" * 64, "empty": b"",
             "json": whole.replace(b"items", b"itemz")}[kind]
        )  # fmt: skip
    with pytest.raises(DataError, match="is no checkpoint"):
        read_checkpoint(path)
    assert not (tmp_path / "done").exists()


def test_a_checkpoint_keeps_numbers_and_order(tmp_path: Path) -> None:
    state = {
        "w": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "scalar": torch.tensor(3), "empty": torch.zeros(0, 2), "half": torch.ones(2).bfloat16(),
        "state": {0: {"step": torch.tensor(4.0)}, 11: {}},
        "rng": {"state": 2**127 + 1, "name": "PCG64"},
        "groups": [{"betas": [0.9, 0.98], "foreach": None, "lr": 1e-3}],
    }  # fmt: skip
    write_checkpoint(tmp_path / "a", state)
    found = read_checkpoint(tmp_path / "a")
    for name in ("w", "scalar", "empty", "half"):
        assert torch.equal(found.pop(name), state.pop(name))  # type: ignore[arg-type]
    assert torch.equal(found["state"][0].pop("step"), state["state"][0].pop("step"))  # type: ignore[index]
    assert found == state


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('stages = [{name = "a", steps = 1, learning_rate = 1, start = "b"}]', "not above it"),
        (
            'stages = [{name = "a", steps = 1, learning_rate = 1, pairs_per_step = 1}]',
            "wants pairs: at least 6",
        ),
        ('stages = [{name = "../a", steps = 1, learning_rate = 1}]', "plain name"),
        ('stages = [{name = "a", steps = 0, learning_rate = 1}]', "steps"),
        ("stagez = []", "stagez"),
        (
            'stages = [{name = "a", steps = 1, learning_rate = 1, pair_kinds = {XX = 1}}]',
            "shares of ['SM', 'CC', 'OC', 'replacement']",
        ),
    ],
)
def test_a_wrong_recipe_is_named_before_anything_is_rendered(
    run, tmp_path: Path, text: str, words: str
) -> None:  # type: ignore[no-untyped-def]
    recipe = tmp_path / "r.toml"
    recipe.write_text(f"data_seed = 1\nscenes = 1\n{text}\n")
    result = run("train", "nano", recipe, "--out", tmp_path / "out")
    assert result.code == 2 and words in result.err
    assert not (tmp_path / "out").exists()


def test_train_nano_on_the_command_line(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        "data_seed = 1\nscenes = 2\nthreads = 1\n"
        'stages = [{name = "a", steps = 1, learning_rate = 0.001, scenes_per_step = 1}]\n'
    )
    result = run("train", "nano", recipe, "--out", tmp_path / "out")
    assert result.code == 0, result.err
    assert "nano:" in result.out
    card = Nano(tmp_path / "out" / "a")._match.get_modelmeta().custom_metadata_map["card"]
    assert json.loads(card)["stage"] == "a"
