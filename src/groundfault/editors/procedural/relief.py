"""An object's shape and light, guessed from its outline and its greys."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
import scipy.ndimage as ndi
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

from groundfault.editors.procedural.edges import Floats, Mask, box_of, core, disc, floats, grown

__all__ = [
    "Light",
    "blur_px",
    "drawing_of",
    "exposure",
    "extent_px",
    "film",
    "form_light",
    "grain",
    "greyness",
    "illuminant",
    "inflate",
    "is_toned",
    "light_of",
    "linear",
    "luma",
    "normals",
    "wrap",
]

LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)
LEAST_TONE, TONED = 6.0, 2.0
"""The median chroma of a toned photograph, at least, and its mean distance in Lab from a curve
through its greys, at most."""
LARGEST_SYSTEM = 30_000
"""Unknowns that are solved for at once; larger objects are seen at a smaller scale."""


class Light(NamedTuple):
    """An object's light, as logarithms around 0: large forms, and fine detail."""

    shade: Floats
    detail: Floats


def luma(picture: Floats) -> Floats:
    """How bright each pixel is."""
    return np.asarray(picture @ LUMA, np.float32)


def linear(picture: Floats) -> Floats:
    """Display values as amounts of light."""
    return np.asarray(np.maximum(picture, 0) ** 2.2, np.float32)


def film(light: NDArray[Any]) -> Floats:
    """Amounts of light as display values, with a soft shoulder instead of clipping."""
    light = np.maximum(light, 0)
    soft = 0.6 + 0.4 * (1 - np.exp(-(light - 0.6) / 0.4))
    return np.asarray(np.where(light > 0.6, soft, light) ** (1 / 2.2), np.float32)


def extent_px(mask: Mask) -> float:
    """How large an object is: between its diagonal and the side of a square of its area."""
    rows, columns = box_of(mask)
    diagonal = np.hypot(rows.stop - rows.start, columns.stop - columns.start)
    return float(diagonal * 0.5 + np.sqrt(int(mask.sum())) * 0.5)


def _shrunk(mask: Mask) -> float:
    return min(1.0, float(np.sqrt(LARGEST_SYSTEM / max(int(mask.sum()), 1))))


def laplacian_of(mask: Mask) -> Any:
    """The graph Laplacian of a mask's pixels, 4-connected."""
    index = np.full(mask.shape, -1, np.int64)
    count = int(mask.sum())
    index[mask] = np.arange(count)
    pairs = [(index[:, :-1], index[:, 1:]), (index[:-1], index[1:])]
    first = np.concatenate([a[(a >= 0) & (b >= 0)] for a, b in pairs])
    second = np.concatenate([b[(a >= 0) & (b >= 0)] for a, b in pairs])
    ones = np.ones(len(first))
    joined = sp.coo_matrix((ones, (first, second)), shape=(count, count))
    joined = (joined + joined.T).tocsr()
    return sp.diags(np.asarray(joined.sum(1)).ravel()) - joined


def inflate(mask: Mask) -> Floats:
    """A round relief over a silhouette, about as high as the shape is thick: the root of Poisson's
    solution with 0 outside."""
    factor = min(0.5, _shrunk(mask))
    size = tuple(max(round(side * factor), 1) for side in mask.shape[::-1])
    small = cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_AREA) > 0
    small = np.pad(small, 1)
    system = laplacian_of(small)
    system = system + sp.diags(4 - system.diagonal())
    height = np.zeros(small.shape, np.float32)
    solved = spsolve(system.tocsc(), np.full(int(small.sum()), 2.0))
    height[small] = np.sqrt(np.maximum(solved, 0))
    full = cv2.resize(height[1:-1, 1:-1], mask.shape[::-1], interpolation=cv2.INTER_CUBIC) / factor
    return np.where(mask, ndi.gaussian_filter(np.maximum(full, 0), 1.0), 0).astype(np.float32)


def normals(height: Floats) -> Floats:
    """Unit normals of a relief, (h, w, 3): right, down, towards the eye."""
    right = -cv2.Sobel(height, cv2.CV_32F, 1, 0, scale=0.125)
    down = -cv2.Sobel(height, cv2.CV_32F, 0, 1, scale=0.125)
    n = np.dstack([right, down, np.ones_like(right)])
    return np.asarray(n / np.linalg.norm(n, axis=2, keepdims=True), np.float32)


def wrap(mask: Mask, height: Floats) -> tuple[Floats, Floats]:
    """Which point of a flat cloth lies on each pixel of a relief, (x, y): the cloth is
    foreshortened towards the outline."""
    n = normals(np.asarray(ndi.gaussian_filter(height, 2.0), np.float32))
    tilt = np.minimum(np.hypot(n[..., 0], n[..., 1]), 0.98)
    thick = ndi.gaussian_filter(ndi.maximum_filter(height, 25), 8)
    push = thick * (np.arcsin(tilt) - tilt) / np.maximum(tilt, 1e-3)
    y, x = np.mgrid[: mask.shape[0], : mask.shape[1]].astype(np.float32)
    return (x + push * n[..., 0]).astype(np.float32), (y + push * n[..., 1]).astype(np.float32)


def _carried(values: Floats, inner: Mask, radius_px: int = 8) -> Floats:
    """Values of an object's inside, carried outwards, so that its soft edge has some too."""
    nearest = ndi.distance_transform_edt(~inner, return_distances=False, return_indices=True)
    near = grown(inner, radius_px)
    return np.asarray(np.where(near, values[tuple(nearest)], values), np.float32)


def light_of(photo: Floats, mask: Mask, *, chroma: float = 0.035, paint: float = 0.75) -> Light:
    """The light on an object, by Retinex: steps of colour belong to its paint, steps of grey to its
    light. Of an object of one colour all greys are light."""
    box = box_of(mask, 1)
    inside, picture = mask[box], photo[box]
    greys = np.log(np.maximum(linear(picture) @ LUMA, 0.004))
    lab = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB)
    hues = cv2.GaussianBlur(lab[..., 1:], (0, 0), 1.2) / 100
    spread = float(np.linalg.norm(hues[inside].std(0)))
    motley = paint * float(np.clip((spread - 0.06) / 0.08, 0, 1))
    weight = ndi.gaussian_filter(inside.astype(np.float32), 2.5) + 1e-6

    def smooth(values: Any) -> Any:
        return ndi.gaussian_filter(np.where(inside, values, 0), 2.5) / weight

    large, fine = smooth(greys) - np.median(greys[inside]), greys - smooth(greys)
    if motley > 0:
        shade = _without_paint(greys, hues, inside, chroma)
        large = large * (1 - motley) + (smooth(shade) - np.median(shade[inside])) * motley
        fine = fine * (1 - motley) + (shade - smooth(shade)) * motley
    return _bounded(mask, box, np.where(inside, large, 0), np.where(inside, fine, 0))


def form_light(light: Light, mask: Mask, height: Floats, strength: float = 0.16) -> Floats:
    """The light that an object's round form would have, from the side that the photograph's shading
    suggests: from above where it suggests none."""
    n = normals(np.asarray(ndi.gaussian_filter(height * 0.8, 2.0), np.float32))
    inside = core(mask, 2)
    if not inside.any():
        inside = mask
    sides, shade = n[inside], light.shade[inside]
    found = np.linalg.lstsq(sides - sides.mean(0), shade - shade.mean(), rcond=None)[0]
    found = found + floats([0, -0.15, 0.15])
    form = n @ (found / (np.linalg.norm(found) + 1e-6)).astype(np.float32)
    form = form - np.median(form[inside])
    return np.asarray(form * strength / (form[inside].std() + 1e-3), np.float32)


def drawing_of(photo: Floats, mask: Mask) -> Floats:
    """What a pencil would draw of an object: its features of a middle size, whatever their colour,
    as logarithms of light with a deviation of about 1; 0 outside. Without them no face, rim or fold
    is seen on a new surface."""
    size_px = extent_px(mask)
    weight = mask.astype(np.float32)
    greys = floats(np.log(np.maximum(linear(photo) @ LUMA, 0.01)) * weight)

    def smooth(sigma: float) -> Floats:
        inside = np.maximum(cv2.GaussianBlur(weight, (0, 0), sigma), 1e-3)
        return floats(cv2.GaussianBlur(greys, (0, 0), sigma) / inside)

    features = smooth(max(0.006 * size_px, 0.8)) - smooth(max(0.08 * size_px, 4.0))
    return floats(np.where(mask, features / max(float(features[mask].std()), 0.08), 0))


def _bounded(mask: Mask, box: tuple[slice, slice], large: Any, fine: Any) -> Light:
    """Light that a new surface can bear: neither so strong that it burns out, nor from the rim,
    which is mixed with what is behind."""
    shade, detail = np.zeros(mask.shape, np.float32), np.zeros(mask.shape, np.float32)
    shade[box], detail[box] = large, np.clip(fine, -1, 1)
    inner = core(mask, 2)
    if not inner.any():
        inner = mask
    shade = ndi.gaussian_filter(_carried(shade, inner), 0.7)
    shade = shade - np.median(shade[mask])
    detail = _carried(detail, inner)
    return Light(
        (shade * min(1.0, 0.75 / (shade[mask].std() + 1e-4))).astype(np.float32),
        (detail * min(1.0, 0.32 / (detail[inner].std() + 1e-4))).astype(np.float32),
    )


def _without_paint(greys: Any, hues: Any, inside: Mask, chroma: float) -> Any:
    """Log shading whose steps are those of the greys where the hue does not change."""
    factor = _shrunk(inside)
    full = inside
    if factor < 1:
        size = tuple(max(round(side * factor), 1) for side in inside.shape[::-1])
        area = {"dsize": size, "interpolation": cv2.INTER_AREA}
        inside = cv2.resize(inside.astype(np.uint8), **area) > 0
        small, hues = cv2.resize(greys.astype(np.float32), **area), cv2.resize(hues, **area)
    else:
        small = greys
    divergence = np.zeros(inside.shape)
    for axis in (0, 1):
        step = np.diff(small, axis=axis)
        hue = np.linalg.norm(np.diff(hues, axis=axis), axis=-1)
        step = step * np.exp(-((hue / chroma) ** 2)) * np.exp(-((np.abs(step) / 0.5) ** 4))
        near, far = [slice(None)] * 2, [slice(None)] * 2
        near[axis], far[axis] = slice(None, -1), slice(1, None)
        step = np.where(inside[tuple(near)] & inside[tuple(far)], step, 0)
        divergence[tuple(far)] += step
        divergence[tuple(near)] -= step
    pull = 0.002  # to the true grey, which keeps large light
    system = laplacian_of(inside) + sp.identity(int(inside.sum())) * pull
    shade = np.zeros(inside.shape, np.float32)
    shade[inside] = spsolve(system.tocsc(), divergence[inside] + pull * small[inside])
    if factor == 1:
        return shade
    removed = cv2.resize(shade - np.where(inside, small, 0).astype(np.float32), full.shape[::-1])
    return np.where(full, greys + removed, 0)


def exposure(photo: Floats, mask: Mask) -> float:
    """How bright a white wall would be beside the object: the scene's whites, less where the
    surroundings lie in the shade."""
    light = linear(photo) @ LUMA
    near = around_or_all(mask)
    local = np.median(light[near]) / max(float(np.median(light)), 1e-3)
    whites = np.clip(np.percentile(light, 92) / 0.75, 0.25, 1.0)
    return float(whites * np.clip(local, 0.4, 1.2) ** 0.4)


def around_or_all(mask: Mask, radius_px: int = 25) -> Mask:
    """The ring around a mask, or the whole picture where there is none."""
    ring = (cv2.dilate(mask.astype(np.uint8), disc(radius_px)) > 0) & ~mask
    return ring if ring.any() else np.ones_like(mask)


def illuminant(photo: Floats) -> Floats:
    """The colour of the light, of brightness about 1: the mean of what is nearly grey, half towards
    neutral."""
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    dull = np.hypot(lab[..., 1], lab[..., 2]) < 18
    share = 0.5 if dull.mean() > 0.02 else 0.15  # a picture of oranges says little about its light
    colour = photo[dull].mean(0) if share == 0.5 else photo.reshape(-1, 3).mean(0)
    tint = 1 - share + share * colour / max(float(colour @ LUMA), 1e-3)
    return np.asarray(np.clip(tint, 0.84, 1.18), np.float32)


def greyness(photo: Floats) -> float:
    """0 for a colour photograph, 1 for a black-and-white one."""
    lab = cv2.cvtColor(photo, cv2.COLOR_RGB2LAB)
    colourful = np.percentile(np.hypot(lab[..., 1], lab[..., 2]), 99)
    return float(np.clip(1 - colourful / 8, 0, 1))


def is_toned(photo: Floats) -> bool:
    """Whether a photograph has one colour in several brightnesses, as sepia prints have: then its
    hues follow from its greys."""
    small = cv2.resize(photo, (160, 120), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).reshape(-1, 3)
    light = lab[:, 0] / 50 - 1
    powers = np.stack([np.ones_like(light), light, light**2], 1)
    left = lab[:, 1:] - powers @ np.linalg.lstsq(powers, lab[:, 1:], rcond=None)[0]
    usual = float(np.median(np.linalg.norm(lab[:, 1:], axis=1)))  # white walls have none
    return bool(usual > LEAST_TONE and np.linalg.norm(left, axis=1).mean() < TONED)


def blur_px(photo: Floats, where: Mask) -> float:
    """How blurred a region is, as the sigma of a Gaussian: a second blur changes a blurred region
    less. The strongest tenth of its edges counts."""
    grey = luma(photo)
    again = 1.5

    def steepness(values: Any) -> Any:
        gx = cv2.Sobel(values, cv2.CV_32F, 1, 0, scale=0.125)
        gy = cv2.Sobel(values, cv2.CV_32F, 0, 1, scale=0.125)
        return np.hypot(gx, gy)

    before, after = steepness(grey), steepness(cv2.GaussianBlur(grey, (0, 0), again))
    values = before[where]
    if values.size < 16:
        return 0.0
    strong = where & (before >= np.percentile(values, 90)) & (before > 0.004)
    if strong.sum() < 8:
        return 4.0  # nothing has an edge
    ratio = float(np.median(before[strong] / np.maximum(after[strong], 1e-5)))
    return float(np.clip(again / np.sqrt(max(ratio**2 - 1, 0.05)), 0, 4.0))


def grain(photo: Floats) -> float:
    """How strong a photograph's noise is: the deviation of its finest detail where it is
    calmest."""
    fine = cv2.filter2D(luma(photo), cv2.CV_32F, floats([[1, -2, 1], [-2, 4, -2], [1, -2, 1]]))
    local = cv2.blur(np.abs(fine), (15, 15))
    return float(np.percentile(local, 12) / 0.8 / 6)
