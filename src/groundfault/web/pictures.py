"""Pictures by id. What a request names is looked up, never joined to a path."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from groundfault.io.pictures import read_image
from groundfault.web.app import refuse

__all__ = ["picture_response"]

SHOWN = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
"""What browsers show, by its first bytes; the rest is drawn anew as PNG. SVG is never sent: it may
hold scripts."""
CACHE = "private, max-age=86400, immutable"


async def picture_response(
    request: Request, known: Mapping[str, Path], picture_id: str
) -> Response:
    """The picture with this id, which browsers may keep for a day."""
    path = known.get(picture_id)
    if path is None:
        refuse(404, "no such picture")
    try:
        kind = await run_in_threadpool(_kind, path)
    except OSError:
        refuse(404, "this picture is gone from the disk")
    headers = {"cache-control": CACHE}
    if kind is not None:
        return FileResponse(path, media_type=kind, headers=headers)
    try:
        drawn = await run_in_threadpool(_as_png, path)
    except (OSError, ValueError) as problem:
        refuse(415, f"this picture cannot be read ({problem})")
    return Response(drawn, media_type="image/png", headers=headers)


def _kind(path: Path) -> str | None:
    """What browsers call this kind of picture; None if they do not know it."""
    if not path.is_file():  # a pipe would be waited for without end
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        head = file.read(12)
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in SHOWN.items() if head.startswith(start)), None)


def _as_png(path: Path) -> bytes:
    from PIL import Image

    drawn = BytesIO()
    Image.fromarray(read_image(path)).save(drawn, "PNG")
    return drawn.getvalue()
