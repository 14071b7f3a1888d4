"""Editors behind HTTP, against a strict stand-in of both services."""

from __future__ import annotations

import io
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.editors.edit_service import KEY, RED, Behaviour, EditService

from groundfault.editors.loading import EditorOptions, editor_identity, load_editor
from groundfault.editors.openai import BOUNDARY, canvas_of
from groundfault.editors.services import ServiceEditor
from groundfault.errors import UsageError
from groundfault.interfaces import Editor, NotEdited, Sized
from groundfault.llm.cost import Budget, SharedBudget
from groundfault.llm.retry import RetryPolicy

pytest.importorskip("aiohttp")

SDK_PYTHON = os.environ.get("GROUNDFAULT_SDK_PYTHON", "")
QUICK = RetryPolicy(attempts=3, first_wait_s=0.01, longest_wait_s=0.05)
IMAGE = np.random.default_rng(0).integers(0, 250, (480, 640, 3), dtype=np.uint8)
REGION = np.zeros((480, 640), bool)
REGION[100:200, 100:300] = True


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    for name in ("OPENAI_BASE_URL", "GOOGLE_API_KEY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def opened(service: EditService, spec: str = "openai:gpt-image-2", **options: Any) -> ServiceEditor:
    url = service.gemini_url if spec.startswith("gemini") else service.url
    editor = load_editor(spec, EditorOptions(base_url=url, **options))
    assert isinstance(editor, ServiceEditor) and isinstance(editor, Editor)
    assert isinstance(editor, Sized)
    editor.client.retry = QUICK
    return editor


def edited(found: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    assert isinstance(found, np.ndarray), found
    return found


def test_what_is_in_the_region_is_edited_and_the_rest_is_not() -> None:
    with EditService() as service:
        editor = opened(service, settings={"quality": "low"})
        found = edited(editor.edit(IMAGE, REGION, "Make it\n  red."))
        editor.close()
        got = service.got[0]
    assert (found[REGION] == RED).all()
    assert np.array_equal(found[~REGION], IMAGE[~REGION])
    assert got.form == {
        "model": "gpt-image-2", "prompt": "Make it red.", "n": "1", "size": "640x480",
        "quality": "low",
    }  # fmt: skip
    alpha = np.array(Image.open(io.BytesIO(got.mask or b"")))[..., 3]
    assert np.array_equal(alpha == 0, REGION)


def test_the_words_alone_may_say_what_changes() -> None:
    with EditService() as service:
        editor = opened(service, settings={"mask": False})
        edited(editor.edit(IMAGE, REGION, "red"))
        editor.close()
        assert service.got[0].mask is None


def test_an_edit_is_paid_for_once_and_asked_anew_only_if_wanted() -> None:
    with EditService() as service:
        for fresh, asked in ((False, 1), (False, 1), (True, 2)):
            editor = opened(service, fresh=fresh)
            edited(editor.edit(IMAGE, REGION, "red"))
            editor.close()
            assert len(service.got) == asked
        editor = opened(service)
        edited(editor.edit(IMAGE, ~REGION, "red"))
        edited(editor.edit(IMAGE, REGION, "blue"))
        edited(editor.edit(IMAGE + 1, REGION, "red"))
        editor.close()
        assert len(service.got) == 5


def test_refused_and_failed_are_told_apart() -> None:
    with EditService(Behaviour(refuse=1.0)) as service:
        editor = opened(service)
        found = editor.edit(IMAGE, REGION, "red")
        editor.close()
        assert len(service.got) == 1
    assert isinstance(found, NotEdited) and found.outcome == "refused"
    assert "safety system" in found.reason
    with EditService(Behaviour(fail=1.0)) as service:
        editor = opened(service)
        found = editor.edit(IMAGE, REGION, "red")
        editor.close()
        assert len(service.got) == QUICK.attempts
    assert isinstance(found, NotEdited) and found.outcome == "failed"
    assert "HTTP 500" in found.reason


def test_a_service_that_fails_twice_is_asked_a_third_time() -> None:
    with EditService(Behaviour(fail=1.0, fail_times=2)) as service:
        editor = opened(service)
        edited(editor.edit(IMAGE, REGION, "red"))
        editor.close()
        assert len(service.got) == 3


@pytest.mark.parametrize("garbage", ["AAAA", "no base64!", "iVBORw0KGgo="])
@pytest.mark.parametrize("spec", ["openai:gpt-image-2", "gemini:gemini-3.1-flash-image"])
def test_what_is_no_picture_is_never_kept(spec: str, garbage: str) -> None:
    with EditService(Behaviour(garbage=garbage)) as service:
        editor = opened(service, spec)
        found = editor.edit(IMAGE, REGION, "red")
        editor.close()
        assert isinstance(found, NotEdited) and found.outcome == "failed"
        service.behaviour = Behaviour()
        editor = opened(service, spec)
        edited(editor.edit(IMAGE, REGION, "red"))
        editor.close()


def test_replies_come_in_the_size_that_the_service_likes() -> None:
    with EditService(Behaviour(size=(1024, 1536))) as service:
        editor = opened(service)
        found = edited(editor.edit(IMAGE, REGION, "red"))
        editor.close()
    assert found.shape == (1536, 1024, 3)


def test_many_edits_are_under_way_at_once() -> None:
    with EditService() as service:
        editor = opened(service, concurrency=4)
        assert editor.requests_at_once == 4
        with ThreadPoolExecutor(4) as threads:
            found = list(
                threads.map(lambda k: editor.edit(IMAGE, REGION, f"make it {k}"), range(8))
            )
        editor.close()
        assert len(service.got) == 8
    assert all(isinstance(each, np.ndarray) for each in found)


def test_a_budget_of_money_ends_it_by_the_price_of_a_picture() -> None:
    shared = SharedBudget(Budget(money=0.10))
    with EditService() as service:
        editor = opened(service, budget=shared, price=0.04, concurrency=1)
        estimate = editor.estimate(5)
        found = [editor.edit(IMAGE, REGION, f"make it {k}") for k in range(5)]
        stopped = editor.stopped_because
        editor.close()
        assert len(service.got) == 2
    assert estimate.cost == pytest.approx(0.20)
    assert shared.spent == pytest.approx(0.08)
    assert "budget" in stopped
    assert [isinstance(each, NotEdited) for each in found] == [False] * 2 + [True] * 3
    assert all(each.outcome == "failed" for each in found if isinstance(each, NotEdited))


def test_a_wrong_key_stops_everything_and_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wr0ng-wr0ng-wr0ng")
    with EditService() as service:
        editor = opened(service)
        found = editor.edit(IMAGE, REGION, "red")
        stopped = editor.stopped_because
        editor.close()
    assert isinstance(found, NotEdited) and found.outcome == "failed"
    assert "OPENAI_API_KEY" in stopped and "wr0ng" not in stopped + found.reason


def test_instructions_cannot_leave_their_part_of_the_form() -> None:
    with EditService() as service:
        editor = opened(service)
        tricky = 'red"\r\n\r\nContent-Disposition: form-data; name="n"\r\n\r\n9'
        edited(editor.edit(IMAGE, REGION, tricky))
        with pytest.raises(UsageError, match="divides the parts"):
            editor.edit(IMAGE, REGION, f"--{BOUNDARY} red")
        editor.close()
        assert service.got[0].form["n"] == "1"


@pytest.mark.parametrize(
    ("spec", "settings", "told"),
    [
        ("openai:", {}, "name the model"),
        ("openai:gpt-image-2", {"quality": "best"}, "quality = 'best'"),
        ("openai:gpt-image-2", {"sharpness": 1}, "no setting 'sharpness'"),
        ("gemini:", {}, "name the model"),
        ("gemini:x", {"aspect_ratio": "7:5"}, "aspect_ratio"),
    ],
)
def test_wrong_settings_are_refused(spec: str, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        load_editor(spec, EditorOptions(base_url="http://127.0.0.1:1/v1", settings=settings))


def test_models_that_take_few_sizes_say_so() -> None:
    assert canvas_of("gpt-image-1.5").sizes_px == ((1024, 1024), (1024, 1536), (1536, 1024))
    with EditService() as service:
        editor = opened(service, "openai:gpt-image-1.5", settings={"input_fidelity": "high"})
        found = editor.edit(IMAGE, REGION, "red")
        assert isinstance(found, NotEdited) and "Invalid size" in found.reason
        large = np.zeros((1024, 1536, 3), np.uint8)
        edited(editor.edit(large, np.ones((1024, 1536), bool), "red"))
        editor.close()


def test_identities_hold_settings_and_no_key() -> None:
    plain = editor_identity("openai:m", EditorOptions())
    other = editor_identity("openai:m", EditorOptions(settings={"quality": "low"}))
    elsewhere = editor_identity("openai:m", EditorOptions(base_url="http://127.0.0.1:9/v1"))
    assert len({str(each) for each in (plain, other, elsewhere)}) == 3
    assert KEY not in str((plain, other, elsewhere))


def test_gemini_gives_pictures_of_its_own_size() -> None:
    with EditService() as service:
        editor = opened(service, "gemini:gemini-3.1-flash-image", settings={"image_size": "1K"})
        found = edited(editor.edit(IMAGE, REGION, "red"))
        edited(editor.edit(IMAGE, REGION, "red"))
        editor.close()
        assert len(service.got) == 1
        wanted = service.got[0].body["generationConfig"]
    assert found.shape == (1024, 1024, 3)
    assert wanted == {
        "responseModalities": ["IMAGE"],
        "imageConfig": {"aspectRatio": "4:3", "imageSize": "1K"},
    }


def test_gemini_is_shown_a_region_in_white() -> None:
    with EditService() as service:
        editor = opened(service, "gemini:g", settings={"region": "mask"})
        edited(editor.edit(IMAGE, REGION, "red"))
        editor.close()
        first, mask = service.got[0].images
        words = service.got[0].body["contents"][-1]["parts"][-1]["text"]
    assert np.array_equal(np.array(Image.open(io.BytesIO(first))), IMAGE)
    assert np.array_equal(np.array(Image.open(io.BytesIO(mask))) == 255, REGION)
    assert words.startswith("red Change only what is white")


def test_gemini_refuses() -> None:
    with EditService(Behaviour(refuse=1.0)) as service:
        editor = opened(service, "gemini:g")
        found = editor.edit(IMAGE, REGION, "red")
        editor.close()
        assert len(service.got) == 1
    assert isinstance(found, NotEdited) and found.outcome == "refused"
    assert "IMAGE_SAFETY" in found.reason


@pytest.mark.skipif(not SDK_PYTHON, reason="GROUNDFAULT_SDK_PYTHON names no Python with both SDKs")
def test_the_stand_in_takes_what_the_real_sdks_send() -> None:
    client = Path(__file__).with_name("sdk_client.py")
    with EditService() as service:
        done = subprocess.run(
            [SDK_PYTHON, str(client), str(service.port)],
            capture_output=True,
            text=True,
            timeout=120,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("openai ")
