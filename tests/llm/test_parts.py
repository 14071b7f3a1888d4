"""The parts of the chat client, one by one."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import stat
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from tests.llm.exams import counting_exam, jpeg

from groundfault.errors import DataError, UsageError
from groundfault.llm.circuit import Circuit, ServerDown
from groundfault.llm.cost import Budget, CostTracker, Price, parse_budget, parse_price
from groundfault.llm.http_client import _proxy
from groundfault.llm.openai_chat import openai
from groundfault.llm.pictures import PictureCache, picture_bytes
from groundfault.llm.response_store import ResponseStore, request_key
from groundfault.llm.retry import RetryPolicy, retry_after_s
from groundfault.llm.server import ChatOptions
from groundfault.records import MODES, Message, Outcome, Picture, Prediction, Reply
from groundfault.runner.prompts import conversation, prompt
from groundfault.runs.recorder import Recorder, read_predictions, replace_predictions, settle


def test_waits_grow_and_are_bounded() -> None:
    retry = RetryPolicy(first_wait_s=1.0, longest_wait_s=8.0)
    for tries, longest in enumerate((1.0, 2.0, 4.0, 8.0, 8.0)):
        waits = [retry.wait_s(tries) for _ in range(200)]
        assert longest / 2 <= min(waits) < max(waits) <= longest
    assert retry.wait_s(10_000) <= 8.0


def test_proxies_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert _proxy("https://api.openai.com/v1/chat/completions") == "http://proxy:3128"
    assert _proxy("https://inside.example/v1") is None
    assert _proxy("http://localhost:8000/v1") is _proxy("http://127.0.0.1:8000/v1") is None


@pytest.mark.parametrize("header", ["", "soon", "nan", "inf", "-1", "99999999999999999999 GMT"])
def test_a_retry_after_that_says_nothing(header: str) -> None:
    assert retry_after_s(header) is None


def test_a_date_in_the_past_is_now() -> None:
    assert retry_after_s("Thu, 01 Jan 1970 00:00:30 GMT") == 0.0


def test_a_circuit_lets_one_try_and_closes_with_a_sign_of_life() -> None:
    async def story() -> None:
        circuit = Circuit(RetryPolicy(first_wait_s=0.01, outage_s=10, failures_in_a_row=3))
        never = asyncio.Event()
        for _ in range(2):
            circuit.failed("500", unreachable=False, tried=False)
            assert await circuit.passage(never) is False  # still closed
        circuit.failed("500", unreachable=False, tried=False)
        passing = [asyncio.create_task(circuit.passage(never)) for _ in range(5)]
        await asyncio.wait(passing, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0.1)
        assert [task.result() for task in passing if task.done()] == [True]
        circuit.alive()
        circuit.tried()
        assert sum(await asyncio.gather(*passing)) == 1
        assert circuit.outages == 1

    asyncio.run(story())


def test_a_circuit_gives_up() -> None:
    now = 0.0
    circuit = Circuit(RetryPolicy(outage_s=60), clock=lambda: now)
    circuit.alive()
    circuit.failed("refused", unreachable=True, tried=False)
    now = 59.0
    circuit.failed("refused", unreachable=True, tried=True)
    now = 61.0
    with pytest.raises(ServerDown, match="down for 61 s"):
        circuit.failed("refused", unreachable=True, tried=True)


def test_a_circuit_gives_up_sooner_on_a_server_that_was_never_there() -> None:
    now = 0.0
    circuit = Circuit(RetryPolicy(), clock=lambda: now)
    circuit.failed("refused", unreachable=True, tried=False)
    now = 31.0
    with pytest.raises(ServerDown, match="check its address"):
        circuit.failed("refused", unreachable=True, tried=True)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("5", Budget(money=5.0)),
        ("0.5 USD", Budget(money=0.5)),
        ("€20", Budget(money=20.0)),
        ("200k tokens", Budget(tokens=200_000)),
        ("1.5Mtokens", Budget(tokens=1_500_000)),
        ("1 token", Budget(tokens=1)),
    ],
)
def test_budgets(text: str, budget: Budget) -> None:
    assert parse_budget(text) == budget


@pytest.mark.parametrize("text", ["", "much", "-5", "5 apples", "1e9"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(UsageError, match="budget"):
        parse_budget(text)


@pytest.mark.parametrize("text", ["", "1", "1/2/3", "-1/2", "a/b"])
def test_what_is_no_price(text: str) -> None:
    with pytest.raises(UsageError, match="price"):
        parse_price(text)


def test_a_cost_tracker_counts_what_servers_do_not_say() -> None:
    tracker = CostTracker(Budget(tokens=10_000), Price(1.0, 1.0))
    asked = (Message("user", ("x" * 400,)),)
    tracker.add(asked, Reply(outcome=Outcome.OK, text="y" * 40))
    assert (tracker.tokens_in, tracker.tokens_out, tracker.spent) == (100, 10, 110)
    tracker.add(asked, Reply(outcome=Outcome.OK, tokens_in=5, tokens_out=5, cost=2.0))
    assert tracker.cost == pytest.approx(2.0 + 110e-6)


# Pictures.


def encoded(form: str, size: tuple[int, int] = (40, 30)) -> bytes:
    target = BytesIO()
    Image.effect_noise(size, 90).convert("RGB").save(target, form)
    return target.getvalue()


@pytest.mark.parametrize(("form", "mime"), [("JPEG", "jpeg"), ("PNG", "png"), ("WEBP", "webp")])
def test_usual_types_are_sent_as_they_are_whatever_their_name(
    form: str, mime: str, tmp_path: Path
) -> None:
    path = tmp_path / "picture.dat"
    path.write_bytes(encoded(form))
    assert picture_bytes(path) == (f"image/{mime}", path.read_bytes(), False)


def test_other_types_are_written_again_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "picture.bmp"
    path.write_bytes(encoded("BMP"))
    mime, content, rewritten = picture_bytes(path)
    assert (mime, rewritten) == ("image/png", True)
    same = Image.open(BytesIO(content)).tobytes() == Image.open(path).tobytes()
    assert same


def test_what_is_too_large_is_made_smaller(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(encoded("PNG", (400, 300)))
    mime, content, rewritten = picture_bytes(path, largest=30_000)
    assert mime == "image/jpeg" and rewritten and len(content) <= 30_000


def test_what_is_no_picture_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no picture")
    with pytest.raises(DataError, match=r"notes\.txt.*no readable picture"):
        picture_bytes(path)
    with pytest.raises(DataError, match="cannot be read"):
        picture_bytes(tmp_path / "nothing.png")


def test_pictures_are_encoded_once_and_not_all_kept(tmp_path: Path) -> None:
    paths = [tmp_path / f"{k}.jpg" for k in range(10)]
    for number, path in enumerate(paths):
        path.write_bytes(jpeg(number))
    size = len(base64.b64encode(jpeg(0)))
    pictures = PictureCache(kept_bytes=3 * size + 2)
    first = pictures.load(paths[0])
    assert pictures.load(paths[0]) is first
    digest = hashlib.sha256(jpeg(0)).hexdigest()
    assert first == Picture("image/jpeg", base64.b64encode(jpeg(0)), digest)
    assert first.content == jpeg(0)
    for path in paths:
        pictures.load(path)
    assert len(pictures.known) == 3 and pictures.size <= 3 * size + 2


# Requests and their store.


def test_requests_are_the_same_bytes_every_time() -> None:
    shown = Picture("image/png", b"QUJD")
    server = openai("tiny", ChatOptions(base_url="http://x/v1"))
    assert server.body((Message("user", (shown, 'Say "é"\n')),)).decode() == (
        '{"model":"tiny","messages":[{"role":"user","content":[{"type":"image_url","image_url":'
        '{"url":"data:image/png;base64,QUJD"}},{"type":"text","text":"Say \\"é\\"\\n"}]}],'
        '"max_tokens":1024,"temperature":0.2}'
    )


def test_a_key_tells_requests_apart_and_nothing_else() -> None:
    def key(**changed: object) -> bytes:
        given = {"model": "tiny", "url": "http://x/v1", "text": "?", "picture": b"a", **changed}
        server = openai(str(given["model"]), ChatOptions(base_url=str(given["url"])))
        assert isinstance(given["picture"], bytes)
        shown = Picture("image/png", base64.b64encode(given["picture"]))
        return request_key(server, (Message("user", (shown, str(given["text"]))),))

    keys = {key(), key(model="b"), key(url="http://y/v1"), key(text="!"), key(picture=b"b")}
    assert len(keys) == 5 and key() == key()


def test_waiting_in_all_is_bounded() -> None:
    now = 0.0
    circuit = Circuit(RetryPolicy(outage_s=60, longest_stall_s=100), clock=lambda: now)
    for _ in range(3):  # half a minute each, with an answer between them
        circuit.busy("slow down")
        now += 30
        circuit.busy("slow down")
        circuit.served()
        now += 1000
    circuit.busy("slow down")
    now += 20
    with pytest.raises(ServerDown, match="waited for 100 s in all"):
        circuit.busy("slow down")


def test_stored_responses_are_private_and_durable(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    path.touch(0o644)  # as version 0.1.0 left it
    with ResponseStore(path) as store:
        store.put(b"k" * 32, b"body", 0.1)
        store.flush()
        for each in tmp_path.iterdir():
            assert stat.S_IMODE(each.stat().st_mode) == 0o600, each
        assert store._database.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_store_keeps_what_it_is_given_also_for_others(tmp_path: Path) -> None:
    with (
        ResponseStore(tmp_path / "r.sqlite") as mine,
        ResponseStore(tmp_path / "r.sqlite") as theirs,
    ):
        assert mine.get(b"k" * 32) is None
        assert mine.put(b"k" * 32, b"{}", 0.5) and not mine.put(b"l" * 32, b"[]", 0.5)
        assert mine.get(b"k" * 32) == (b"{}", 0.5)
        assert theirs.get(b"k" * 32) is None  # not written yet
        mine.flush()
        assert theirs.get(b"k" * 32) == (b"{}", 0.5) and theirs.get(b"l" * 32) == (b"[]", 0.5)
        mine.put(b"k" * 32, b"{1}", 0.1)
    with ResponseStore(tmp_path / "r.sqlite") as again:
        assert again.get(b"k" * 32) == (b"{1}", 0.1)


def test_a_store_that_cannot_be_there_says_so(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(UsageError, match=r"r\.sqlite.*GROUNDFAULT_RESPONSES"):
        ResponseStore(tmp_path / "r.sqlite")


# Recording.


def answer(number: int, outcome: Outcome = Outcome.OK) -> Prediction:
    return Prediction(item_id=f"q{number}", mode="std", outcome=outcome, text=f"{number}", cost=0.5)


def test_answers_come_back_as_they_were(tmp_path: Path) -> None:
    given = [answer(k) for k in range(5000)]
    with Recorder(tmp_path) as recorder:
        for one in given:
            recorder.add([one])
        assert len(list(read_predictions(tmp_path))) == 5000  # the journal's too
    assert list(read_predictions(tmp_path)) == given
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        f"predictions-{k:05d}.parquet" for k in range(3)
    ]


def test_a_journal_cut_anywhere_gives_whole_answers(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    for k in range(4):
        recorder.add([answer(k)])
    (journal,) = tmp_path.glob("*.journal")
    content = journal.read_bytes()
    before = 0
    for end in range(len(content) + 1):
        journal.write_bytes(content[:end])
        found = list(read_predictions(tmp_path))
        assert found == [answer(k) for k in range(len(found))] and len(found) in (
            before,
            before + 1,
        )
        before = len(found)
    assert before == 4


def test_settling_drops_failures_and_keeps_the_rest_once(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        for k in range(10):
            recorder.add([answer(k, Outcome.FAILED if k % 3 == 0 else Outcome.OK)])
    recorder = Recorder(tmp_path)
    for k in (0, 3, 4, 10):
        recorder.add([answer(k, Outcome.FAILED if k == 3 else Outcome.OK)])
    settle(tmp_path)
    settle(tmp_path)
    assert sorted(int(a.text) for a in read_predictions(tmp_path)) == [0, 1, 2, 4, 5, 7, 8, 10]
    assert not list(tmp_path.glob("*.journal"))


def test_judged_answers_take_the_place_of_others(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        for k in range(3000):
            recorder.add([answer(k)])
    judged = [msgspec.structs.replace(answer(k), verdict="right") for k in range(0, 3000, 2)]
    replace_predictions(tmp_path, judged)
    found = list(read_predictions(tmp_path))
    assert [a.item_id for a in found] == [f"q{k}" for k in range(3000)]
    assert sum(a.verdict == "right" for a in found) == 1500


def test_an_exam_is_asked_in_every_mode_with_its_options(tmp_path: Path) -> None:
    exam = counting_exam(tmp_path / "exam", 2)
    asked = [(item, mode) for item in exam.items for mode in MODES]
    cache = PictureCache()
    (std,), (cot,) = (
        conversation(item, mode, Path(exam.images), cache.load) for item, mode in asked[12:14]
    )
    assert len({prompt(*one) for one in asked}) == len(asked) == 32
    assert std.text.splitlines()[1:] == ["A. 3", "B. 7", "Answer with the letter of one option."]
    assert cot.text.endswith("Your final answer: answer with the letter of one option.")
    assert "step by step" in cot.text and std.pictures == cot.pictures != ()


@pytest.mark.parametrize(
    "fail",
    [
        lambda circuit: circuit.failed("500", unreachable=False, tried=False),
        lambda circuit: circuit.unreadable("no JSON"),
        lambda circuit: circuit.busy("slow down"),
    ],
)
def test_failures_of_every_kind_are_waiting_too(fail: Callable[[Circuit], None]) -> None:
    """A server that hangs, breaks off or talks nonsense stalls a session as a busy one does."""
    now = 0.0
    circuit = Circuit(RetryPolicy(outage_s=60, longest_stall_s=100), clock=lambda: now)
    fail(circuit)
    now = 50.0
    circuit.waited_in_vain("no")  # for less than the patience
    assert circuit.stall_left_s() == 50
    circuit.served()
    now = 1000.0
    fail(circuit)
    assert circuit.stall_left_s() == 50
    now = 1051.0
    with pytest.raises(ServerDown, match="waited for 100 s in all"):
        fail(circuit)
    now = 1061.0
    with pytest.raises(ServerDown, match="answered nothing for 61 s"):
        circuit.waited_in_vain("no")
