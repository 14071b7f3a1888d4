"""A stand-in for a ComfyUI server, from its documentation: /upload/image, /prompt, /history, /view.

Its one workflow loads the picture and the mask, and draws red where LoadImage's mask says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image
from tests.editors.loopback import LoopbackService


class ComfyService(LoopbackService):
    """The server; `with` starts and ends it."""

    def __init__(self, *, fault: str = "", looks: int = 2) -> None:
        super().__init__()
        self.fault, self.looks = fault, looks
        self.files: dict[str, bytes] = {}
        self.prompts: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, int] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def routes(self) -> Iterator[tuple[str, str, Any]]:
        """What it serves."""
        yield "POST", "/upload/image", self._upload
        yield "POST", "/prompt", self._prompt
        yield "GET", "/history/{id}", self._history
        yield "GET", "/view", self._view

    async def _upload(self, request: Any) -> Any:
        from aiohttp import web

        name, fields = "", {}
        async for part in await request.multipart():
            content = bytes(await part.read(decode=False))
            if part.name == "image":
                name = part.filename
                Image.open(io.BytesIO(content)).load()
                self.files[name] = content
            else:
                fields[part.name] = content.decode()
        if not name or fields.get("type") not in ("input", "temp", "output"):
            return web.Response(status=400)
        return web.json_response({"name": name, "subfolder": "", "type": "input"})

    async def _prompt(self, request: Any) -> Any:
        from aiohttp import web

        graph = json.loads(await request.read())["prompt"]
        for node in graph.values():
            if "class_type" not in node:
                return web.json_response({"error": {"type": "invalid_prompt"}}, status=400)
            named = node["inputs"].get("image")
            if isinstance(named, str) and named not in self.files:
                return web.json_response({"prompt_id": "x", "node_errors": {"1": "no such file"}})
        if self.fault == "node errors":
            return web.json_response({"prompt_id": "x", "node_errors": {"3": "bad"}})
        number = f"id-{len(self.prompts)}"
        self.prompts[number] = graph
        return web.json_response({"prompt_id": number, "number": 1, "node_errors": {}})

    async def _history(self, request: Any) -> Any:
        from aiohttp import web

        number = request.match_info["id"]
        self.asked[number] = self.asked.get(number, 0) + 1
        if self.asked[number] <= self.looks:
            return web.json_response({})
        status = {"status_str": "success", "completed": True, "messages": []}
        outputs = {"9": {"images": [{"filename": number, "subfolder": "", "type": "output"}]}}
        if self.fault == "error":
            status = {"status_str": "error", "completed": False, "messages": ["out of memory"]}
        if self.fault == "no picture":
            outputs = {}
        return web.json_response({number: {"status": status, "outputs": outputs}})

    async def _view(self, request: Any) -> Any:
        from aiohttp import web

        if self.fault == "garbage":
            return web.Response(body=b"nothing of the kind")
        graph = self.prompts[request.query["filename"]]
        loader = next(node for node in graph.values() if node["class_type"] == "LoadImage")
        pixels = np.array(Image.open(io.BytesIO(self.files[loader["inputs"]["image"]])))
        found = pixels[..., :3].copy()
        found[1 - pixels[..., 3] / 255 > 0.5] = (255, 0, 0)  # LoadImage: the mask is 1 - alpha
        content = io.BytesIO()
        Image.fromarray(found).save(content, "PNG")
        return web.Response(body=content.getvalue())
