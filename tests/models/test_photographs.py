"""Photographs as they come: what a model sees of files that decoders disagree about."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundfault.io.pictures import read_image

LEFT, RIGHT = (200, 30, 40), (20, 60, 190)
TOLERANCE = 12  # what JPEG and a colour conversion may change


def two_halves(width_px: int = 48, height_px: int = 32) -> Any:
    """A reddish left half, a bluish right half."""
    pixels = np.empty((height_px, width_px, 3), np.uint8)
    pixels[:, : width_px // 2], pixels[:, width_px // 2 :] = LEFT, RIGHT
    return pixels


def assert_halves(pixels: Any, tolerance: int = TOLERANCE) -> None:
    assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3
    width = pixels.shape[1]
    for half, colour in ((pixels[:, : width // 2 - 4], LEFT), (pixels[:, width // 2 + 4 :], RIGHT)):
        assert np.abs(half.reshape(-1, 3).mean(axis=0) - colour).max() <= tolerance


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp", "a.tif", "a.ppm"])
def test_formats(tmp_path: Path, name: str) -> None:
    Image.fromarray(two_halves()).save(tmp_path / name)
    assert_halves(read_image(tmp_path / name))


def test_cmyk(tmp_path: Path) -> None:
    Image.fromarray(two_halves()).convert("CMYK").save(tmp_path / "a.jpg", quality=95)
    with Image.open(tmp_path / "a.jpg") as stored:
        assert stored.mode == "CMYK"
    assert_halves(read_image(tmp_path / "a.jpg"))


@pytest.mark.parametrize("mode", ["P", "PA", "RGBA", "LA", "L", "1", "YCbCr", "LAB"])
def test_modes(tmp_path: Path, mode: str) -> None:
    picture = Image.fromarray(two_halves())
    picture = picture.convert("P").convert(mode) if mode == "PA" else picture
    if mode == "LAB":
        from PIL import ImageCms

        profiles = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
        picture = ImageCms.profileToProfile(picture, *profiles, outputMode="LAB")
    elif mode != "PA":
        picture = picture.convert(mode)
    path = tmp_path / ("a.tif" if mode in ("YCbCr", "LAB", "PA") else "a.png")
    try:
        picture.save(path)
    except OSError as problem:
        pytest.skip(f"Pillow does not write it: {problem}")
    pixels = read_image(path)
    assert pixels.shape == (32, 48, 3)
    if mode in ("L", "LA", "1"):
        assert (pixels[..., 0] == pixels[..., 1]).all()
    else:
        assert_halves(pixels, tolerance=40 if mode == "P" else TOLERANCE)


def test_sixteen_bit_grey_keeps_its_contrast(tmp_path: Path) -> None:
    grey = np.linspace(0, 65535, 48).astype(np.uint16)[None].repeat(32, axis=0)
    Image.fromarray(grey).save(tmp_path / "a.png")
    pixels = read_image(tmp_path / "a.png")
    assert pixels.shape == (32, 48, 3)
    np.testing.assert_allclose(pixels[0, :, 0], np.linspace(0, 255, 48), atol=2)


def test_dark_sixteen_bit_grey_is_dark(tmp_path: Path) -> None:
    """12 of 16 bits used, as scanners and microscopes write them, is a dark picture, not a white
    one, and the same whatever else is in it."""
    grey = np.full((32, 48), 4000, np.uint16)
    Image.fromarray(grey).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").max() <= 20


def test_sixteen_bit_grey_below_256_is_black(tmp_path: Path) -> None:
    grey = np.full((32, 48), 200, np.uint16)  # 0.3 % of the range
    Image.fromarray(grey).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").max() <= 2


def test_sixteen_bit_colour(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2", reason="Pillow does not write 16-bit colour")
    cv2.imwrite(str(tmp_path / "a.png"), two_halves()[..., ::-1].astype(np.uint16) * 257)
    assert_halves(read_image(tmp_path / "a.png"))


def test_big_endian_sixteen_bit_tiff(tmp_path: Path) -> None:
    grey = np.linspace(0, 65535, 48).astype(">u2")[None].repeat(32, axis=0)
    picture = Image.frombytes("I;16B", (48, 32), grey.tobytes())
    picture.save(tmp_path / "a.tif")
    np.testing.assert_allclose(
        read_image(tmp_path / "a.tif")[0, :, 0], np.linspace(0, 255, 48), atol=2
    )


TURNS = {  # EXIF orientation → how the stored pixels differ from the upright picture
    1: lambda upright: upright,
    2: lambda upright: upright[:, ::-1],
    3: lambda upright: upright[::-1, ::-1],
    4: lambda upright: upright[::-1],
    5: lambda upright: upright.transpose(1, 0, 2),
    6: lambda upright: np.rot90(upright, 1),
    7: lambda upright: upright[::-1, ::-1].transpose(1, 0, 2),
    8: lambda upright: np.rot90(upright, -1),
}


@pytest.mark.parametrize("orientation", TURNS)
@pytest.mark.parametrize("name", ["a.jpg", "a.png"])
def test_turned_by_exif(tmp_path: Path, orientation: int, name: str) -> None:
    upright = two_halves()
    upright[:8] = 250  # so that up and down differ
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = np.ascontiguousarray(TURNS[orientation](upright))
    Image.fromarray(stored).save(tmp_path / name, exif=exif)
    pixels = read_image(tmp_path / name)
    assert pixels.shape == upright.shape
    assert pixels[:5].mean() > 230
    assert_halves(pixels[12:])


def test_a_truncated_jpeg_is_an_error(tmp_path: Path) -> None:
    """Half a picture would be scored as if it were the whole."""
    content = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(content, "JPEG")
    (tmp_path / "a.jpg").write_bytes(content.getvalue()[: len(content.getvalue()) // 2])
    with pytest.raises((OSError, ValueError)):
        read_image(tmp_path / "a.jpg")


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_truncated_png_is_an_error(tmp_path: Path, share: float) -> None:
    content = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(content, "PNG")
    (tmp_path / "a.png").write_bytes(content.getvalue()[: int(len(content.getvalue()) * share)])
    with pytest.raises((OSError, ValueError, SyntaxError)):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n"])
def test_no_picture_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises((OSError, ValueError, SyntaxError)):
        read_image(tmp_path / "a.png")


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    """Both Pillow's limit and ours name the file and what to do."""
    Image.new("1", (20000, 20000)).save(tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"'a\.png' claims more than 179 megapixels. Remedy: s"):
        read_image(tmp_path / "a.png")


def test_our_own_limit_holds_where_pillow_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("1", (20000, 20000)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    with pytest.raises(ValueError, match=r"'a\.png' claims 20000x20000 pixels. Remedy: shrink"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize(("scale", "white"), [(1.0, 1.0), (200.0, 255.0), (60000.0, 65535.0)])
def test_floating_point_grey(tmp_path: Path, scale: float, white: float) -> None:
    grey = np.linspace(0, scale, 48, dtype=np.float32)[None].repeat(32, axis=0)
    Image.fromarray(grey).save(tmp_path / "a.tif")
    expected = np.linspace(0, 255 * scale / white, 48)
    np.testing.assert_allclose(read_image(tmp_path / "a.tif")[0, :, 0], expected, atol=1)


def test_the_first_frame_of_several(tmp_path: Path) -> None:
    frames = [Image.fromarray(two_halves()), Image.new("RGB", (48, 32))]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    assert_halves(read_image(tmp_path / "a.tif"))


def test_transparency_is_dropped_not_blended(tmp_path: Path) -> None:
    pixels = np.dstack([two_halves(), np.full((32, 48), 3, np.uint8)])
    Image.fromarray(pixels).save(tmp_path / "a.png")
    assert_halves(read_image(tmp_path / "a.png"), tolerance=0)
