"""Corrections judged by a model on a server: asked once, kept with the masks, noted in the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from tests.conftest import Ran
from tests.llm.chat_server import ChatServer, Request, Response, completion
from tests.test_fprefcoco import HEIGHT, WIDTH, described, instances

from groundfault.runs.recorder import read_predictions
from groundfault.runs.run import read_run

Command = Callable[..., Ran]


def judging(request: Request) -> Response:
    """Finds right what speaks of an animal; about canaries it says what they need."""
    words, _ = request.last
    answer = words.split("-----")[1]
    asks_for_correction = "the reference describes what is there" in words
    right = "animal" in answer if asks_for_correction else "no" in answer.casefold()
    return Response(content=completion("right" if right else "wrong"))


def test_say_by_a_model(run: Command, tmp_path: Path) -> None:
    (tmp_path / "refs.json").write_text(json.dumps(described()))
    (tmp_path / "instances.json").write_text(json.dumps(instances()))
    Image.fromarray(np.zeros((HEIGHT, WIDTH, 3), np.uint8)).save(tmp_path / "a.jpg")
    texts = ["No cat, another animal.", "Nothing is there.", "There is no cat, only a pet animal."]
    records = [
        {"image_id": f"10:{k}", "outcome": "abstained", "text": text}
        for k, text in enumerate(texts, start=1)
    ]
    (tmp_path / "said.json").write_text(json.dumps(records))
    with ChatServer(judging) as judge:

        def evaluate() -> Ran:
            return run(
                "eval", "fprefcoco", "--annotations", tmp_path / "refs.json", "--annotations",
                tmp_path / "instances.json", "--images", tmp_path, "--model",
                f"replay:{tmp_path / 'said.json'}", "--judge", "openai:judge", "--judge-base-url",
                judge.url, "--bootstrap", 0, "--out", tmp_path / "runs", "--json",
            )  # fmt: skip

        ran = evaluate()
        assert ran.code == 0, ran.err
        asked = [each for each in judge.requests if "describes what is there" in each.last[0]]
        assert len(asked) == 3
        assert all("Reference answer: the left dog" in each.last[0] for each in asked)
        n_requests = len(judge.requests)
        again = evaluate()
        assert again.code == 0 and len(judge.requests) == n_requests, "judged once"
    metrics = json.loads(ran.out.splitlines()[-1])["summary"]["rows"]["Overall"]["metrics"]
    assert metrics["Say_judge"]["value"] == 2 / 3
    assert metrics["Say"]["value"] == 0.0, "nobody said dog"
    (folder,) = (tmp_path / "runs").iterdir()
    kept = {each.item_id: each for each in read_predictions(folder)}
    assert [kept[f"10:{k}"].verdict for k in (1, 2, 3)] == ["right", "wrong", "right"]
    assert kept["10:1"].judge == "openai:judge"
    noted = read_run(folder).judged
    assert noted is not None
    assert (noted.name, len(noted.prompt_hash)) == ("openai:judge", 64)
