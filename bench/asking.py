"""How fast and at what cost questions with pictures reach a server.

    python bench/asking.py [--questions 2000] [--clients ours,aiohttp,asyncio,openai,httpx]

Each question has its own JPEG of 640 × 480 (bodies of 60 kB) and goes to a stub in another process
that answers after 50 ms; 96 are under way. The ideal is questions / 96 × 50 ms. `ours` is the whole
of it: pictures read and encoded, requests hashed, the response store, answers read by rule, the
journal and the shards. The others only read a picture, send it and decode the response; those that
are not installed are left out. Costs are of the whole process, start and imports included.

Goals: at least 40 % of the ideal rate at the server, at most 4 CPU s for 2,000 questions, memory
that does not grow with their number (--questions 50000).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

DELAY_S = 0.05
CONCURRENCY = 96
N_PICTURES = 2000
CLIENTS = ("ours", "aiohttp", "asyncio", "openai", "httpx")
NEEDS = {"ours": "aiohttp", "asyncio": "asyncio"}
ANSWER = json.dumps(
    {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Yes, there is one."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 500, "completion_tokens": 6, "total_tokens": 506},
    }
).encode()


# The stub.


class Stub(asyncio.Protocol):
    """Answers every POST after a while; GET gives the times of the first and the last one."""

    first = last = 0.0
    n = n_bytes = 0

    def connection_made(self, transport: Any) -> None:
        self.transport, self.buffer, self.missing = transport, bytearray(), 0

    def data_received(self, data: bytes) -> None:
        if self.missing:
            self.missing -= len(data)
        else:
            self.buffer += data
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head, got = bytes(self.buffer[:end]).lower(), len(self.buffer) - end - 4
            self.buffer.clear()
            if head.startswith(b"get"):
                self._tell()
                return
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            Stub.n_bytes += length
            Stub.first = Stub.first or time.monotonic()
            self.missing = length - got
        if self.missing <= 0:
            self.missing = 0
            asyncio.get_running_loop().call_later(DELAY_S, self._answer)

    def _answer(self) -> None:
        Stub.n, Stub.last = Stub.n + 1, time.monotonic()
        self._send(ANSWER)

    def _tell(self) -> None:
        found = {"n": Stub.n, "seconds": Stub.last - Stub.first, "bytes": Stub.n_bytes}
        Stub.first = Stub.last = 0.0
        Stub.n = Stub.n_bytes = 0
        self._send(json.dumps(found).encode())

    def _send(self, content: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        if not self.transport.is_closing():
            self.transport.write(head % len(content) + content)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# The questions.


def draw_pictures(folder: Path) -> None:
    """Pictures of about 45 kB, no two the same."""
    from io import BytesIO

    import numpy as np
    from PIL import Image

    folder.mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (36, 48, 3), dtype=np.uint8)
    image = Image.fromarray(noise).resize((640, 480), Image.Resampling.BICUBIC)
    for number in range(N_PICTURES):
        target = BytesIO()
        image.save(target, "JPEG", quality=75, comment=str(number).encode())
        (folder / f"{number:05d}.jpg").write_bytes(target.getvalue())


def question(number: int) -> str:
    return f"Question {number}: is there a cup on the table? Answer with yes or no."


def picture(folder: Path, number: int) -> Path:
    return folder / f"{number % N_PICTURES:05d}.jpg"


def messages(folder: Path, number: int) -> list[dict[str, Any]]:
    data = base64.b64encode(picture(folder, number).read_bytes()).decode()
    shown = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}}
    return [{"role": "user", "content": [shown, {"type": "text", "text": question(number)}]}]


def body(folder: Path, number: int) -> bytes:
    return json.dumps(
        {"model": "stub", "messages": messages(folder, number), "max_tokens": 1024}
    ).encode()


# The clients.


def ours(folder: Path, url: str, n: int) -> None:
    from groundfault.llm.client import ChatClient
    from groundfault.llm.openai_chat import openai
    from groundfault.llm.pictures import PictureCache
    from groundfault.llm.server import ChatOptions
    from groundfault.parsing.passages import passage
    from groundfault.parsing.yes_no import parse_yes_no
    from groundfault.records import Conversation, Message, Outcome, Prediction, Reply
    from groundfault.runs.recorder import Recorder, read_predictions

    pictures = PictureCache()

    def conversation(number: int) -> Conversation:
        shown = pictures.load(picture(folder, number))
        return (Message("user", (shown, question(number))),)

    with tempfile.TemporaryDirectory() as scratch, Recorder(scratch) as recorder:

        def keep(number: int, reply: Reply) -> None:
            kept = Prediction(
                item_id=f"q{number}",
                mode="std",
                outcome=reply.outcome,
                text=reply.text,
                parsed=parse_yes_no(passage(reply.text, "std")),
                tokens_in=reply.tokens_in or 0,
                tokens_out=reply.tokens_out or 0,
                seconds=reply.seconds,
            )
            recorder.add([kept])

        model = openai("stub", ChatOptions(base_url=url))
        client = ChatClient(
            model, responses=Path(scratch) / "responses.sqlite", concurrency=CONCURRENCY
        )
        client.run(((k, partial(conversation, k)) for k in range(n)), keep)
        recorder.finish()
        found = list(read_predictions(scratch))
        assert sum(p.parsed == "yes" and p.outcome is Outcome.OK for p in found) == n


def with_aiohttp(folder: Path, url: str, n: int) -> None:
    import aiohttp

    async def client() -> None:
        connector = aiohttp.TCPConnector(limit=CONCURRENCY)
        headers = {"Content-Type": "application/json"}
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

            async def ask(number: int) -> None:
                async with session.post(
                    f"{url}/chat/completions", data=body(folder, number)
                ) as response:
                    json.loads(await response.read())["choices"][0]["message"]["content"]

            await workers(n, ask)

    asyncio.run(client())


def with_asyncio(folder: Path, url: str, n: int) -> None:
    host, _, port = url.removeprefix("http://").removesuffix("/v1").partition(":")

    async def client() -> None:
        numbers = iter(range(n))

        async def work() -> None:
            reader, writer = await asyncio.open_connection(host, int(port))
            for number in numbers:
                content = body(folder, number)
                writer.write(
                    b"POST /v1/chat/completions HTTP/1.1\r\nHost: stub\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(content)
                )
                writer.write(content)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
                json.loads(await reader.readexactly(length))["choices"][0]["message"]["content"]
            writer.close()

        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))

    asyncio.run(client())


def with_openai(folder: Path, url: str, n: int) -> None:
    from openai import AsyncOpenAI

    async def client() -> None:
        async with AsyncOpenAI(base_url=url, api_key="none") as server:

            async def ask(number: int) -> None:
                found = await server.chat.completions.create(
                    model="stub",
                    messages=messages(folder, number),  # type: ignore[arg-type]
                    max_tokens=1024,
                )
                found.choices[0].message.content  # noqa: B018

            await workers(n, ask)

    asyncio.run(client())


def with_httpx(folder: Path, url: str, n: int) -> None:
    import httpx

    async def client() -> None:
        limits = httpx.Limits(max_connections=CONCURRENCY)
        async with httpx.AsyncClient(limits=limits, timeout=60) as session:

            async def ask(number: int) -> None:
                response = await session.post(
                    f"{url}/chat/completions",
                    content=body(folder, number),
                    headers={"Content-Type": "application/json"},
                )
                response.json()["choices"][0]["message"]["content"]

            await workers(n, ask)

    asyncio.run(client())


async def workers(n: int, ask: Callable[[int], Awaitable[None]]) -> None:
    numbers: Iterator[int] = iter(range(n))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))


RUN = {
    "ours": ours,
    "aiohttp": with_aiohttp,
    "asyncio": with_asyncio,
    "openai": with_openai,
    "httpx": with_httpx,
}


def compare(clients: list[str], n: int, times: int) -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    from measure import run

    ideal_s = n / CONCURRENCY * DELAY_S
    print(f"{n} questions, {CONCURRENCY} at once, {DELAY_S * 1000:.0f} ms each: {ideal_s:.2f} s")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'client':10} {'CPU s':>7} {'wall s':>7} {'at the server':>16} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "pictures"
        draw_pictures(folder)
        stub = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE)
        try:
            assert stub.stdout is not None
            url = f"http://127.0.0.1:{int(stub.stdout.readline())}/v1"
            for client in clients:
                if importlib.util.find_spec(NEEDS.get(client, client)) is None:
                    print(f"{client:10} is not installed")
                    continue
                for _ in range(times):
                    command = [sys.executable, __file__, "--client", client, "--url", url]
                    command += ["--pictures", str(folder), "--questions", str(n)]
                    cost = run(command, log=Path(scratch) / "log")
                    with urllib.request.urlopen(url) as response:
                        found = json.load(response)
                    assert found["n"] == n, found
                    share = ideal_s / found["seconds"]
                    print(
                        f"{client:10} {cost.cpu_s:7.2f} {cost.wall_s:7.2f} "
                        f"{found['seconds']:6.2f} s ={share:5.0%} {cost.peak_mb:8.0f}"
                        f"   bodies of {found['bytes'] / n / 1000:.0f} kB",
                        flush=True,
                    )
        finally:
            stub.terminate()
            stub.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="be the stub")
    parser.add_argument("--client", default="", help="be one client")
    parser.add_argument("--url", default="")
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
    elif given.client:
        RUN[given.client](given.pictures, given.url, given.questions)
    else:
        compare(given.clients.split(","), given.questions, given.times)


if __name__ == "__main__":
    main()
