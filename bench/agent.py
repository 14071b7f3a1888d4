"""How much of a slow LLM's speed the agent lets through.

    python bench/agent.py [--episodes 200] [--concurrency 32] [--way http] [--size 384x384]

Episodes of four turns (segment, examine, examine, select) about scenes of the world (extra `world`)
at 384 × 384, two concepts each, against a stub that replies after 50 ms. The ideal is
episodes × 4 × 50 ms / concurrency: the stub never waits for us. Everything else is done: overlays
and close-ups drawn and compressed, rules, traces, and with `http` the requests too, on loopback, to
a stub in another process (needs the extra `asking`). The segmenter gives two masks at once, so the
numbers are the agent's own. The two concepts have different masks: nothing that is drawn for one is
of use to the other.

Goal: at least half of the ideal rate. Wall time says something on an idle machine only; CPU per
turn, and what of it goes into pictures, are printed for the others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from groundfault.io.masks import encode
from groundfault.models.agent import Agent, Scene, Settings
from groundfault.models.agent.scripted import call
from groundfault.models.agent.tools import worth_showing
from groundfault.records import Conversation, Outcome, Prediction, Reply
from groundfault.world.render import render
from groundfault.world.sampling import WorldSettings, sample_scene

Size = tuple[int, int]
"""Width and height in pixels."""

DELAY_S = 0.05
LINES = (
    call("segment_phrase", text_prompt="CONCEPT"),
    call("examine_masks", mask_indices=[1]),
    call("examine_masks", mask_indices=[2]),
    call("select_masks_and_return", final_answer_masks=[1, 2]),
)


class TwoMasks:
    """A segmenter that takes no time."""

    def __init__(self, size: Size) -> None:
        self.found = {"one": _two(size, 0.4), "other": _two(size, 0.6)}

    def segment(self, image: NDArray[np.uint8], phrases: Sequence[str]) -> list[Prediction]:
        return [self.found[phrase] for phrase in phrases]


def _two(size: Size, height: float) -> Prediction:
    width_px, height_px = size
    rows, columns = np.mgrid[:height_px, :width_px] / np.reshape((height_px, width_px), (2, 1, 1))
    masks = [(rows - height) ** 2 + (columns - x) ** 2 < 0.03 for x in (0.25, 0.7)]
    return Prediction(
        item_id="",
        outcome=Outcome.OK,
        masks=tuple(encode(mask) for mask in masks),
        scores=(0.9, 0.8),
    )


def reply_to(conversation: Conversation) -> str:
    """The next of the four lines."""
    concept = "other" if "'other'" in conversation[1].text else "one"
    turn = sum(message.role == "assistant" for message in conversation)
    return LINES[turn].replace("CONCEPT", concept)


class Sleeper:
    """A chat model in this process that replies after 50 ms."""

    async def reply(self, conversation: Conversation, tools: Sequence[Any] = ()) -> Reply:
        await asyncio.sleep(DELAY_S)
        text = reply_to(conversation)
        return Reply(outcome=Outcome.OK, text=text, tokens_in=0, tokens_out=0, cost=0.0)

    async def aclose(self) -> None:
        pass


def served(address: str, concurrency: int, folder: str) -> Any:
    """The same over HTTP."""
    from groundfault.llm.openai_chat import openai
    from groundfault.llm.server import ChatOptions
    from groundfault.models.agent.loading import chat_client

    server = openai("stub", ChatOptions(base_url=address))
    settings = Settings(concurrency=concurrency)
    return chat_client(server, settings, responses=Path(folder) / "responses.sqlite")


def serve() -> None:
    """The stub: prints its port, then answers for ever."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            length = next(
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            body = await reader.readexactly(length)
            turn = body.count(b'"role":"assistant"')
            await asyncio.sleep(DELAY_S)
            concept = "other" if b"'other'" in body else "one"
            text = LINES[turn].replace("CONCEPT", concept)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1000, "completion_tokens": 50}
            content = json.dumps({"choices": [choice], "usage": usage}).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(content), content)
            )
            await writer.drain()

    async def listen() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=1 << 24)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(listen())


def measure(chat: Any, episodes: int, concurrency: int, size: Size) -> None:
    images = [_scene(size, seed) for seed in range(-(-episodes // 2))]
    phrases = [["one", "other"]] * (episodes // 2) + [["one"]] * (episodes % 2)
    with Agent(TwoMasks(size), chat, Settings(concurrency=concurrency)) as agent:
        agent.segment(images[0], ["one"])  # imports, connections
        began, cpu = time.perf_counter(), time.process_time()
        answers = agent.segment_batch(images, phrases)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    outcomes = [answer.outcome for several in answers for answer in several]
    assert outcomes == [Outcome.OK] * episodes, set(outcomes)
    turns = episodes * len(LINES)
    ideal_s = turns * DELAY_S / concurrency
    print(f"{episodes} episodes x {len(LINES)} turns, {concurrency} at a time: {seconds:.2f} s")
    print(f"ideal {ideal_s:.2f} s, so {ideal_s / seconds:.0%} of the ideal rate")
    drawing = drawing_s(images[:10], size) / 20 / len(LINES)
    print(
        f"{1000 * cpu / turns:.1f} ms of CPU per turn, {cpu:.1f} s in all; "
        f"{1000 * drawing:.1f} ms of them to draw and compress pictures"
    )


def drawing_s(images: Sequence[NDArray[np.uint8]], size: Size) -> float:
    """CPU seconds for the pictures of two episodes per image, without anything else."""
    found = [
        worth_showing("x", prediction, t=0.5, size_px=(size[1], size[0]))
        for prediction in TwoMasks(size).found.values()
    ]
    cpu = time.process_time()
    for image in images:
        scene = Scene(image)
        pictures = [scene.picture, *(scene.overlay(result) for result in found)]
        pictures += [scene.close_up(result, number) for result in found for number in (1, 2)]
        for picture in pictures:
            assert picture.sha256 and picture.base64
    return time.process_time() - cpu


def _scene(size: Size, seed: int) -> NDArray[np.uint8]:
    """A picture of the embedded world: noise would be harder to compress than any photograph."""
    side = min(1024, max(size))
    image = render(sample_scene(5, seed, WorldSettings(size_px=side))).image
    picture = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC)
    return np.asarray(picture)


def _size(text: str) -> Size:
    width_px, height_px = map(int, text.split("x"))
    return width_px, height_px


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--size", type=_size, default=(384, 384))
    parser.add_argument("--way", choices=("in-process", "http"), default="in-process")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    if given.way == "in-process":
        measure(Sleeper(), given.episodes, given.concurrency, given.size)
        return
    stub = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE)
    try:
        assert stub.stdout is not None
        address = f"http://127.0.0.1:{int(stub.stdout.readline())}/v1"
        with tempfile.TemporaryDirectory() as folder:
            chat = served(address, given.concurrency, folder)
            measure(chat, given.episodes, given.concurrency, given.size)
    finally:
        stub.terminate()


if __name__ == "__main__":
    main()
