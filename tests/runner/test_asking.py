"""A model is asked: once per image, in batches, through memory errors and bad pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests.runner.runs import run_masks

from groundfault.errors import GroundfaultError, UsageError
from groundfault.io.masks import decode, encode
from groundfault.io.pictures import read_image
from groundfault.records import Benchmark, Item, Outcome, Prediction, Role
from groundfault.runner.pool import READY, Loaded, Report, SegmentingJob, WorkerPool
from groundfault.runner.segmenting import Predictor
from groundfault.runner.session import Progress
from groundfault.runner.work import Batch, Plan, batches, tasks
from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run
from groundfault.runs.shards import shards

Made = Callable[[int], tuple[Benchmark, Path]]


class OutOfMemoryError(RuntimeError):
    """Named as torch names its own."""


class Recorded:
    """Notes its calls; finds everything everywhere."""

    def __init__(self, most: int = 100, most_phrases: int = 100) -> None:
        self.calls: list[tuple[int, int]] = []
        self.most, self.most_phrases = most, most_phrases

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        self.calls.append((1, len(phrases)))
        if len(phrases) > self.most_phrases:
            raise OutOfMemoryError("tried to allocate 3 GB")
        mask = encode(np.ones(image.shape[:2], bool))
        return [
            Prediction(item_id="", outcome=Outcome.OK, masks=(mask,), scores=(0.5,))
            for _ in phrases
        ]


class Batched(Recorded):
    """The same for several images."""

    def segment_batch(
        self, images: Sequence[Any], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        assert len({image.shape for image in images}) == 1
        self.calls.append((len(images), sum(map(len, phrases))))
        if len(images) > self.most:
            raise MemoryError
        if any(image[0, 0, 0] == 3 for image in images):
            raise RuntimeError("poison")
        return [self.segment(*pair) for pair in zip(images, phrases, strict=True)]


def ask(made: tuple[Benchmark, Path], model: Any, out: Path, **plan: Any) -> dict[str, Prediction]:
    run_masks(made[0], lambda: model, out, plan=Plan(**plan))
    return {prediction.item_id: prediction for prediction in read_predictions(out)}


def test_every_phrase_of_an_image_is_asked_together(painted: Made, tmp_path: Path) -> None:
    model = Recorded()
    assert len(ask(painted(7), model, tmp_path / "run")) == 14
    assert model.calls == [(1, 2)] * 7


def test_batches_have_one_size(painted: Made, tmp_path: Path) -> None:
    made = painted(11)
    work = list(batches(tasks(made[0].items), 4))
    assert [len(batch) for batch in work] == [4, 2, 4, 1]
    assert all(len({task.size_px for task in batch}) == 1 for batch in work)
    assert sorted(t.image for b in work for t in b) == sorted({i.image for i in made[0].items})


class AnySizes(Recorded):
    """Takes pictures of several sizes at once."""

    any_sizes = True
    images_at_once = 4

    def segment_batch(
        self, images: Sequence[Any], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        self.calls.append((len(images), len({image.shape for image in images})))
        return [Recorded().segment(*pair) for pair in zip(images, phrases, strict=True)]


def test_a_model_may_say_how_many_images_it_likes(painted: Made, tmp_path: Path) -> None:
    made, model = painted(11), AnySizes()
    model.images_at_once = 6
    ask(made, model, tmp_path / "its own")
    ask(made, model, tmp_path / "the user's", batch=8)
    assert [count for count, _ in model.calls] == [6, 5, 8, 3]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_may_take_any_sizes_at_once(painted: Made, tmp_path: Path, workers: int) -> None:
    """Full batches of mixed sizes, of one model and of several workers alike."""
    made, model = painted(11), AnySizes()
    if workers == 1:
        assert len(ask(made, model, tmp_path / "run", batch=4)) == 22
        assert model.calls == [(4, 2), (4, 2), (3, 2)]
        return
    ready = Loaded(probe="", at_once=4, any_sizes=Predictor(model, made[1], batch=4).any_sizes)
    noting = Noting(ready)
    job = SegmentingJob(AnySizes, "", tmp_path, made[1], batch=4, probe=False)
    pool = WorkerPool(
        job, noting, lambda r: batches(tasks(made[0].items), r.at_once, any_sizes=r.any_sizes)
    )
    list(pool.results(lambda _: None))
    assert sorted(noting.given) == [3, 4, 4]


class Noting:
    """Workers that answer nothing to everything, and note how many images they are given."""

    size = 2

    def __init__(self, ready: Loaded) -> None:
        self.ready, self.given = ready, list[int]()
        self.reports: list[tuple[int, Report | None]] = []
        self.n_started = 0

    def start(self) -> int:
        self.n_started += 1
        self.reports.append((self.n_started, Report(READY, ready=self.ready)))
        return self.n_started

    def send(self, worker: int, ticket: int, batch: Batch) -> None:
        self.given.append(len(batch))
        self.reports.append((worker, Report(ticket)))

    def wait(self) -> list[tuple[int, Report | None]]:
        return [self.reports.pop(0)]

    def close(self) -> None: ...


def test_batches_answer_as_single_images_do(painted: Made, tmp_path: Path) -> None:
    made, model = painted(9), Batched()
    together = ask(made, model, tmp_path / "a", batch=3)
    assert {n for n, _ in model.calls} == {1, 2, 3}

    def content(found: dict[str, Prediction]) -> Any:
        return {name: (p.outcome, p.masks, p.scores, p.reason) for name, p in found.items()}

    failed = {name for name, p in together.items() if p.outcome is Outcome.FAILED}
    single = ask(made, Recorded(), tmp_path / "b")
    assert failed == set()  # picture 3 is only poison among others
    assert content(together) == content(single)


def test_memory_errors_halve_the_batch_for_good(painted: Made, tmp_path: Path) -> None:
    model = Batched(most=2)
    found = ask(painted(16), model, tmp_path / "run", batch=8)
    assert {p.outcome for p in found.values()} == {Outcome.OK}
    tried = [n for n, _ in model.calls if n > 2]
    assert tried == [8, 4]  # one batch was tried at both sizes; later ones start at 2


def test_memory_errors_halve_the_phrases_of_one_image(painted: Made, tmp_path: Path) -> None:
    model = Recorded(most_phrases=1)
    found = ask(painted(3), model, tmp_path / "run")
    assert len(found) == 6 and {p.outcome for p in found.values()} == {Outcome.OK}
    assert model.calls == [(1, 2), (1, 1), (1, 1)] * 3


class Encoding(Recorded):
    """Keeps encoded images; only the whole of a picture with all its phrases is too much."""

    def __init__(self, most_phrases: int, *, unable: bool = False) -> None:
        super().__init__(most_phrases=most_phrases)
        self.n_encoded, self.unable = 0, unable

    def encode(self, images: Sequence[Any]) -> list[Any]:
        if self.unable:
            raise OutOfMemoryError("tried to allocate 3 GB")
        self.n_encoded += len(images)
        return [("encoded", image) for image in images]

    def segment_encoded(
        self, encoded: Sequence[Any], phrases: Sequence[Sequence[str]]
    ) -> list[list[Prediction]]:
        assert all(mark == "encoded" for mark, _ in encoded)
        return [
            super(Encoding, self).segment(image, asked)
            for (_, image), asked in zip(encoded, phrases, strict=True)
        ]


@pytest.mark.parametrize("unable", [False, True])
def test_an_image_asked_about_in_parts_is_encoded_once(
    painted: Made, tmp_path: Path, unable: bool
) -> None:
    benchmark, images = painted(1)
    items = tuple(
        msgspec.structs.replace(benchmark.items[0], id=str(k), query=f"thing {k}") for k in range(8)
    )
    model = Encoding(2, unable=unable)
    made = msgspec.structs.replace(benchmark, items=items), images
    found = ask(made, model, tmp_path / "run")
    assert len(found) == 8 and {p.outcome for p in found.values()} == {Outcome.OK}
    assert [n for _, n in model.calls] == [8, 4, 2, 2, 4, 2, 2]
    assert model.n_encoded == (0 if unable else 1)


class Died(RuntimeError):
    out_of_memory = False


class Dying(Recorded):
    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        self.calls.append((1, len(phrases)))
        raise Died("ended by signal 9 (often: out of memory)")


def test_a_death_is_no_reason_to_ask_for_less(painted: Made, tmp_path: Path) -> None:
    model = Dying()
    found = ask(painted(2), model, tmp_path / "run")
    assert {p.outcome for p in found.values()} == {Outcome.FAILED}
    assert model.calls == [(1, 2)] * 2


class Poisoned(Recorded):
    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        if image[0, 0, 0] == 2:
            raise ValueError("number 2")
        return super().segment(image, phrases)


RAISED = Poisoned.segment.__code__.co_firstlineno + 2


def test_one_poisonous_image_fails_alone(painted: Made, tmp_path: Path) -> None:
    found = ask(painted(5), Poisoned(), tmp_path / "run")
    failed = {name: p.reason for name, p in found.items() if p.outcome is Outcome.FAILED}
    reason = f"ValueError: number 2 (at runner/test_asking.py:{RAISED})"
    assert failed == {"2-blue": reason, "2-green": reason}
    run = read_run(tmp_path / "run")
    assert run.state == "finished" and run.failures == {reason: 2}
    assert run.outcomes == {"ok": 8, "abstained": 0, "unparsed": 0, "failed": 2}


def test_bad_pictures_fail_with_their_reason(painted: Made, tmp_path: Path) -> None:
    made = painted(5)
    images = made[1]
    (images / "0.png").unlink()
    (images / "1.png").write_bytes((images / "1.png").read_bytes()[:60])
    (images / "2.png").write_text("no picture")
    Image.new("RGB", (5, 5)).save(images / "3.png")
    found = ask(made, Recorded(), tmp_path / "run")
    reasons = {n: found[f"{n}-blue"].reason for n in range(4)}
    assert "No such file" in reasons[0]
    assert reasons[1] and "cannot identify" in reasons[2]
    assert "the picture is 5x5, its annotation 32x24" in reasons[3]
    assert all(f"{n}.png'" in reasons[n] for n in range(4))
    assert found["4-blue"].outcome is Outcome.OK


class Wrong(Recorded):
    def __init__(self, wrong: dict[str, Any]) -> None:
        super().__init__()
        self.wrong = wrong

    def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
        found = super().segment(image, phrases)
        return [msgspec.structs.replace(found[0], **self.wrong), *found[1:]]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"scores": (0.1, 0.2)}, "1 masks, 0 boxes and 2 scores"),
        ({"scores": (float("nan"),)}, "a score is not finite"),
        ({"presence": 1.5}, "a presence of 1.5 is not in 0–1"),
        ({"qualities": (0.5, 0.6)}, "1 masks and 2 qualities"),
        ({"masks": (encode(np.ones((3, 3), bool)),)}, "it is 3x3, its image 24x32"),
        ({"masks": ({"size": (24, 32), "counts": "ZZ"},)}, "corrupt or truncated"),
    ],
)
def test_unsound_answers_are_failures(
    painted: Made, tmp_path: Path, wrong: dict[str, Any], reason: str
) -> None:
    found = ask(painted(1), Wrong(wrong), tmp_path / "run")
    assert found["0-blue"].outcome is Outcome.FAILED and reason in found["0-blue"].reason
    assert found["0-green"].outcome is Outcome.OK


def test_presence_is_kept_where_it_is_given(painted: Made, tmp_path: Path) -> None:
    found = ask(painted(2), Wrong({"presence": 0.25}), tmp_path / "run")
    assert [found[name].presence for name in ("0-blue", "0-green")] == [0.25, None]
    assert "presence" in pq.read_schema(*shards(tmp_path / "run")).names


def test_qualities_of_masks_are_kept_where_they_are_given(painted: Made, tmp_path: Path) -> None:
    found = ask(painted(2), Wrong({"qualities": (np.float32(0.5),)}), tmp_path / "run")
    assert [found[name].qualities for name in ("0-blue", "0-green")] == [(0.5,), ()]
    assert found["0-blue"].scores == found["0-green"].scores


def test_too_few_answers_are_a_failure(painted: Made, tmp_path: Path) -> None:
    class Short(Recorded):
        def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
            return super().segment(image, phrases)[:1]

    found = ask(painted(1), Short(), tmp_path / "run")
    assert all("segment gave 1 answers to 2 phrases" in p.reason for p in found.values())


def test_quads_are_kept_at_the_size_of_their_ground_truth(painted: Made, tmp_path: Path) -> None:
    benchmark, images = painted(1)
    item = msgspec.structs.replace(benchmark.items[0], role=Role.FACTUAL, height_px=48, width_px=16)
    made = msgspec.structs.replace(benchmark, items=(item,)), images

    class Half(Recorded):
        def segment(self, image: Any, phrases: Sequence[str]) -> list[Prediction]:
            mask = np.zeros(image.shape[:2], bool)
            mask[:, :16] = True
            return [
                Prediction(item_id="", outcome=Outcome.OK, masks=(encode(mask),), scores=(1.0,))
            ]

    [found] = ask(made, Half(), tmp_path / "run").values()
    pixels = decode(found.masks[0])
    assert pixels.shape == (48, 16) and pixels[:, :8].all() and not pixels[:, 8:].any()


def test_a_model_that_cannot_be_loaded_ends_the_run(painted: Made, tmp_path: Path) -> None:
    benchmark, _ = painted(1)

    def load() -> Any:
        raise RuntimeError("no such weights")

    with pytest.raises(GroundfaultError, match=r"model 'm' cannot be loaded .*no such weights"):
        run_masks(benchmark, load, tmp_path / "run")
    with pytest.raises(GroundfaultError, match="neither a Segmenter nor a Baseline"):
        run_masks(benchmark, object, tmp_path / "run")
    for nowhere in ("", str(tmp_path / "nowhere")):
        elsewhere = msgspec.structs.replace(benchmark, images=nowhere)
        with pytest.raises(UsageError, match="give the pictures with --images"):
            run_masks(elsewhere, Recorded, tmp_path / "run")


def test_progress_is_told(painted: Made, tmp_path: Path) -> None:
    benchmark, _ = painted(6)
    told: list[Progress] = []
    run_masks(benchmark, Poisoned, tmp_path / "run", progress=told.append)
    assert [p.done for p in told] == [2, 4, 6, 8, 10, 12]
    assert told[-1].failed == 2 and told[-1].eta_s == 0 and told[-1].images_per_s > 0


@pytest.mark.parametrize(
    ("mode", "value", "expected"),
    [("L", 77, 77), ("I;16", 257 * 99, 99), ("CMYK", (0, 0, 0, 155), 100), ("1", 1, 255)],
)
def test_pictures_of_every_mode(tmp_path: Path, mode: str, value: Any, expected: int) -> None:
    path = tmp_path / ("picture.tif" if mode == "CMYK" else "picture.png")
    Image.new(mode, (6, 4), value).save(path)
    pixels = read_image(path)
    assert pixels.shape == (4, 6, 3) and pixels.dtype == np.uint8
    assert np.abs(pixels.astype(int) - expected).max() <= 1


def test_pictures_are_turned_upright(tmp_path: Path) -> None:
    path = tmp_path / "turned.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (60, 40)).save(path, exif=exif)
    assert read_image(path).shape == (60, 40, 3)


class Chosen:
    """A baseline that is sometimes wrong on purpose."""

    def __init__(self, problem: Exception) -> None:
        self.problem = problem

    def predict(self, items: Sequence[Item], mode: str = "") -> list[Prediction]:
        raise self.problem


def test_what_a_baseline_refuses_ends_the_run(painted: Made, tmp_path: Path) -> None:
    made = painted(1)
    with pytest.raises(UsageError, match="unsound"):
        ask(made, Chosen(UsageError("unsound")), tmp_path / "a")
    found = ask(made, Chosen(ValueError("oops")), tmp_path / "b")
    [reason] = {p.reason for p in found.values()}
    assert reason.startswith("ValueError: oops (at runner/test_asking.py:")
