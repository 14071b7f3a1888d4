"""Several workers: the same answers as one, and no death of theirs is the end."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.conftest import PLUGIN

from groundfault import registry
from groundfault.engine import Plan, predict
from groundfault.engine.fleet import DIED
from groundfault.errors import GroundfaultError
from groundfault.protocols import ModelOptions
from groundfault.records import Benchmark, Outcome
from groundfault.runs import Run, read_predictions

Made = Callable[[int], tuple[Benchmark, Path]]


def load(spec: str) -> Callable[[], Any]:
    return functools.partial(registry.load_model, spec, ModelOptions())


def ask(made: tuple[Benchmark, Path], spec: str, out: Path, **plan: Any) -> Run:
    return predict(made[0], load(spec), out, name=spec, images=made[1], plan=Plan(**plan))


def stored(out: Path) -> dict[str, Any]:
    return {p.item_id: (p.outcome, p.masks, p.scores, p.reason) for p in read_predictions(out)}


@pytest.fixture(params=["processes", "ray"])
def workers(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A plan with two workers of either kind."""
    if request.param == "processes":
        return {"workers": 2}
    request.getfixturevalue("ray_cluster")
    return {"engine": "ray", "workers": 2}


@pytest.fixture(scope="session")
def ray_cluster() -> Any:
    """Ray on this machine, for all tests of a session; its workers find the plug-in's models."""
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    from groundfault.engine.ray_actors import QUIET

    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUIET.items():
            patch.setenv(name, value)
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            logging_level="ERROR",
            log_to_driver=False,
            object_store_memory=100_000_000,
            runtime_env={"env_vars": {"PYTHONPATH": str(PLUGIN)}},
        )
        yield ray
        ray.shutdown()


@pytest.mark.usefixtures("plugin")
def test_workers_answer_as_one_model_does(
    painted: Made, tmp_path: Path, workers: dict[str, Any]
) -> None:
    made = painted(30)
    (made[1] / "7.png").write_text("no picture")
    alone = ask(made, "finder", tmp_path / "alone")
    together = ask(made, "finder", tmp_path / "together", **workers)
    assert stored(tmp_path / "together") == stored(tmp_path / "alone")
    assert together.outcomes == alone.outcomes and together.failures == alone.failures
    assert together.probe == alone.probe == "not offered by the model"


@pytest.mark.usefixtures("plugin")
def test_a_picture_that_kills_its_worker_fails_alone(
    painted: Made, tmp_path: Path, workers: dict[str, Any]
) -> None:
    ended = ask(painted(16), "fragile:3,9", tmp_path / "run", **workers)
    assert ended.state == "finished" and ended.failures == {DIED: 4}
    failed = {k for k, v in stored(tmp_path / "run").items() if v[0] is Outcome.FAILED}
    assert failed == {"3-blue", "3-green", "9-blue", "9-green"}
    assert len(stored(tmp_path / "run")) == 32


@pytest.mark.usefixtures("plugin")
def test_a_model_that_no_worker_can_load_ends_the_run(
    painted: Made, tmp_path: Path, workers: dict[str, Any]
) -> None:
    with pytest.raises(GroundfaultError, match="model 'finder:slow' cannot be loaded"):
        ask(painted(3), "finder:slow", tmp_path / "run", **workers)


def test_workers_end_if_they_only_die(painted: Made, tmp_path: Path) -> None:
    made = painted(2)
    with pytest.raises(GroundfaultError, match="workers died before they could answer"):
        predict(
            made[0],
            functools.partial(os._exit, 3),
            tmp_path / "run",
            name="m",
            images=made[1],
            plan=Plan(workers=2),
        )
