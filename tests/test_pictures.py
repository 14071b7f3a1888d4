"""Odd pictures look alike to everybody: models here and behind servers, reports and exports."""

from __future__ import annotations

import base64
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from tests.runner.conftest import painted_set

import groundfault as gf
from groundfault.benchmarks import folder
from groundfault.exports.lmms_eval import Questions
from groundfault.io.masks import decode, encode
from groundfault.io.pictures import is_plain, open_picture, read_image
from groundfault.llm.pictures import PictureCache, picture_bytes
from groundfault.records import Prediction, Region
from groundfault.reports.page.pictures import Pictures

ORIENTATION = 0x0112
STORED_PX, UPRIGHT_PX = (426, 640), (640, 426)


def scene(height_px: int = STORED_PX[0], width_px: int = STORED_PX[1]) -> Any:
    """A picture with four corners that differ."""
    pixels = np.zeros((height_px, width_px, 3), np.uint8)
    middle, centre = height_px // 2, width_px // 2
    pixels[:middle, :centre] = 200, 30, 30
    pixels[:middle, centre:] = 30, 200, 30
    pixels[middle:, :centre] = 30, 30, 200
    return pixels


def turned(path: Path, orientation: int, pixels: Any = None) -> Path:
    """A file whose pixels are to be turned."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    Image.fromarray(scene() if pixels is None else pixels).save(path, exif=exif)
    return path


def photograph(path: Path) -> Path:
    return turned(path.with_suffix(".jpg"), 6)


def deep(path: Path) -> Path:
    levels = np.linspace(0, 65535, 40 * 30).astype(np.uint16).reshape(30, 40)
    Image.fromarray(levels).save(path)
    return path


def deep_colours(path: Path) -> Path:
    import struct
    import zlib

    rows = [bytes([0, *([200, 1, 30, 2, 90, 3] * 5)]) for _ in range(4)]
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 5, 4, 16, 2, 0, 0, 0))]
    parts += [(b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")]
    chunks = (
        struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in parts
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    return path


def palette(path: Path) -> Path:
    indexed = Image.fromarray(scene(30, 40)).quantize(8)
    indexed.save(path, transparency=0)
    return path


def glass(path: Path) -> Path:
    Image.new("RGBA", (40, 30), (200, 100, 50, 10)).save(path)
    return path


def tinted_grey(path: Path) -> Path:
    Image.new("LA", (40, 30), (120, 3)).save(path)
    return path


ODD = (photograph, deep, deep_colours, palette, glass, tinted_grey)


def naive(content: bytes) -> Any:
    """How a server may decode what it gets: no EXIF, no care for depth."""
    return np.asarray(Image.open(BytesIO(content)).convert("RGB"))


@pytest.mark.parametrize("make", ODD)
def test_everybody_sees_the_same(make: Any, tmp_path: Path) -> None:
    path = make(tmp_path / "picture.png")
    seen = read_image(path)
    mime, content, rewritten = picture_bytes(path)
    assert rewritten and mime == "image/png" and np.array_equal(naive(content), seen)
    asked = PictureCache().load(path)
    assert np.array_equal(naive(asked.content), seen)
    questions = Questions(data="", images=None, content_hash="", metrics=())
    [shown] = questions.doc_to_visual({"pictures": [str(path)]})
    assert np.array_equal(np.asarray(shown), seen)
    pictures = Pictures()
    assert pictures.add(tmp_path, path.name, record="r") == 0
    small = np.asarray(pictures.thumbnails[0]).astype(int)
    assert (small.shape[0] > small.shape[1]) == (seen.shape[0] > seen.shape[1])
    assert np.abs(small.mean(axis=(0, 1)) - seen.mean(axis=(0, 1))).max() < 3


def test_the_photograph_stands_upright(tmp_path: Path) -> None:
    seen = read_image(photograph(tmp_path / "p"))
    assert seen.shape == (*UPRIGHT_PX, 3)
    assert seen[5, 5].argmax() == 2 and seen[5, -5].argmax() == 0  # the left side is on top
    sent = naive(picture_bytes(tmp_path / "p.jpg")[1])
    assert sent.shape == (*UPRIGHT_PX, 3) and np.array_equal(sent, seen)


def test_plain_pictures_are_sent_as_they_are(tmp_path: Path) -> None:
    for name in ("a.png", "a.jpg", "a.webp"):
        Image.fromarray(scene(30, 40)).save(tmp_path / name)
        assert is_plain((tmp_path / name).read_bytes())
        assert picture_bytes(tmp_path / name)[1:] == ((tmp_path / name).read_bytes(), False)
    upright = turned(tmp_path / "b.jpg", 1)
    assert not picture_bytes(upright)[2]


def test_models_of_this_process_see_it_too(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from groundfault.models.transformers_vlm import _image

    for make in ODD:
        path = make(tmp_path / f"{make.__name__}.png")
        assert np.array_equal(np.asarray(_image(PictureCache().load(path))), read_image(path))


def test_a_server_gets_it_upright(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiohttp")
    from tests.llm.chat_server import ChatServer, Request, Response, completion

    from groundfault.llm.client import ChatClient
    from groundfault.llm.openai_chat import vllm
    from groundfault.llm.server import ChatOptions
    from groundfault.records import Message

    monkeypatch.setenv("GROUNDFAULT_RESPONSES", str(tmp_path / "responses.sqlite"))
    sent: list[str] = []

    def behave(request: Request) -> Response:
        sent.extend(request.pictures)
        return Response(200, completion("yes"))

    with ChatServer(behave) as server:
        client = ChatClient(vllm(server.url, ChatOptions()))
        picture = PictureCache().load(photograph(tmp_path / "p"))
        client.complete([(Message("user", (picture, "What is this?")),)])
    [url] = sent
    got = naive(base64.b64decode(url.rpartition(",")[2]))
    assert np.array_equal(got, read_image(tmp_path / "p.jpg"))


def test_inspect_ai_is_given_what_we_see(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from groundfault.exports.inspect_ai import _shown

    path = photograph(tmp_path / "p")
    url = _shown(path)
    assert url.startswith("data:image/png;base64,")
    assert np.array_equal(naive(base64.b64decode(url.partition(",")[2])), read_image(path))
    Image.fromarray(scene(30, 40)).save(tmp_path / "plain.png")
    assert _shown(tmp_path / "plain.png") == str(tmp_path / "plain.png")


# --- masks: whose pixels do annotations mean?


class Seeing:
    """Marks what is red; knows the sizes of what it saw."""

    def __init__(self) -> None:
        self.sizes: list[tuple[int, ...]] = []

    def segment(self, image: Any, phrases: Any) -> list[Prediction]:
        self.sizes.append(image.shape[:2])
        red = image[..., 0] > 128
        return [gf.as_prediction([red], [0.9]) for _ in phrases]


def one_photograph(where: Path, orientation: int, size_px: tuple[int, int]) -> gf.Benchmark:
    """A benchmark about one turned picture, annotated at a size."""
    made = painted_set(where / "source", 1)
    path = turned(where / "source" / "0.jpg", orientation)
    red = read_image(path, size_px=size_px)[..., 0] > 128
    mask = encode(red) if red.shape == size_px else encode(np.ones(size_px, bool))
    items = tuple(
        msgspec.structs.replace(
            item,
            images=("0.jpg",),
            height_px=size_px[0],
            width_px=size_px[1],
            target=Region(mask),
            regions=(Region(mask),) if item.regions else (),
        )
        for item in made.items
    )
    folder.write(
        msgspec.structs.replace(made, items=items),
        where / "folder",
        images_from=where / "source",
    )
    return gf.load(where / "folder")


@pytest.mark.parametrize(
    ("orientation", "size_px", "corner"),
    [
        (6, UPRIGHT_PX, "top right"),  # annotated as the camera meant it
        (6, STORED_PX, "top left"),  # annotated on the stored pixels
        (8, STORED_PX, "top left"),
        (5, UPRIGHT_PX, "top left"),
        (3, STORED_PX, "bottom right"),  # one size both ways: upright
    ],
)
def test_annotations_decide_by_their_size(
    tmp_path: Path, orientation: int, size_px: tuple[int, int], corner: str
) -> None:
    benchmark = one_photograph(tmp_path, orientation, size_px)
    model = Seeing()
    result = gf.evaluate(benchmark, model, tmp_path / "run", bootstrap=0)
    assert model.sizes == [size_px]
    [found, _] = result.predictions()
    marked = decode(found.masks[0])
    rows, columns = np.nonzero(marked)
    where = ("top" if rows.mean() < size_px[0] / 2 else "bottom") + (
        " left" if columns.mean() < size_px[1] / 2 else " right"
    )
    assert where == corner
    panels = gf.open_run(tmp_path / "run").show("0").panels
    assert panels[0].pixels.shape[:2] == size_px
    pictures = Pictures()
    pictures.add(Path(benchmark.images), "0.jpg", record="r", size_px=size_px)
    [(width, height)] = pictures.sizes
    assert (height > width) == (size_px[0] > size_px[1])


def test_a_picture_of_neither_size_is_a_failure(tmp_path: Path) -> None:
    benchmark = one_photograph(tmp_path, 6, (100, 100))
    with pytest.raises(gf.GroundfaultError, match="the picture is 640x426, its annotation 100x100"):
        gf.evaluate(benchmark, Seeing(), tmp_path / "run", bootstrap=0)


def test_what_is_no_picture_file_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    for name in ("pipe.png", "folder.png"):
        with pytest.raises(ValueError, match=f"'{name}' is no regular file"):
            open_picture(tmp_path / name)


def test_a_picture_far_beyond_its_annotations_is_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("1", (4000, 3000)).save(tmp_path / "bomb.png")
    decoded: list[object] = []
    monkeypatch.setattr(Image.Image, "convert", lambda self, *_: decoded.append(self))
    with pytest.raises(ValueError, match="claims 4000x3000 pixels, 64x48 by the annotations"):
        open_picture(tmp_path / "bomb.png", size_px=(48, 64))
    assert not decoded
    open_picture(tmp_path / "bomb.png", size_px=(0, 0))  # nobody says how large it is
    open_picture(tmp_path / "bomb.png", size_px=(1500, 2000))  # somebody scaled it
    assert len(decoded) == 2


def test_a_picture_of_another_size_than_its_annotations_is_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty of them decoded ahead would fill the memory, and not one may be asked about."""
    Image.new("1", (400, 300)).save(tmp_path / "larger.png")
    decoded: list[object] = []
    monkeypatch.setattr(Image.Image, "convert", lambda self, *_: decoded.append(self))
    with pytest.raises(ValueError, match="the picture is 300x400, its annotation 150x200"):
        open_picture(tmp_path / "larger.png", size_px=(150, 200), exact=True)
    assert not decoded
    open_picture(tmp_path / "larger.png", size_px=(300, 400), exact=True)
    assert len(decoded) == 1
