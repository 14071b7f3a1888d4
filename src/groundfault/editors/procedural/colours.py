"""Another colour for an object: its hue changes, its light and shade and its highlights stay."""

from __future__ import annotations

import cv2
import numpy as np

from groundfault.editors.procedural.edges import Floats, Mask, floats

__all__ = [
    "PAINTS",
    "body_light",
    "changed_by",
    "distinct_colours",
    "dyed",
    "featured",
    "lightness_of",
    "main_share",
    "painted",
    "recoloured",
    "vividness",
]

PAINTS: dict[str, tuple[float, float, float]] = {
    "red": (42, 52, 32),
    "orange": (62, 34, 52),
    "yellow": (78, 2, 60),
    "green": (46, -34, 28),
    "turquoise": (60, -30, -8),
    "blue": (40, 6, -44),
    "purple": (36, 34, -34),
    "pink": (68, 40, 0),
    "brown": (38, 14, 24),
    "black": (15, 0, 0),
    "white": (88, 0, 3),
    "grey": (52, 0, 0),
}
"""Each colour's usual lightness and its two hues, in Lab."""
NEUTRAL = 11.0
"""Things of less chroma are grey: all of them takes the new colour."""
DISTINCT = 28.0
"""The distance of two hues in Lab that nobody confuses."""
DARKER_LIGHTER = 42.0, 26.0
"""How far lightness may go to a colour's usual one: red on white that stays light is salmon, and
what is dark and becomes bright glows."""
DULLED = 0.5
"""How much less what is brighter than a darker paint stands out from it: red would be salmon."""
DYED, DYED_DARKER_LIGHTER = 0.88, (62.0, 22.0)
"""How far a coat's lightness goes to that of its dye, as a share of the way and at most."""
HAIR, HAIR_TIMES, SMOOTH_TIMES = 0.22, (0.8, 2.5), (0.8, 1.3)
"""The deviation of a dyed thing's logarithmic lightness, and how many times its own that is: in
white coats shade is hardly seen."""
DARKEST = 0.9
"""How much darker than the rest a patch of an old coat may be under a dye, in logarithms: black
legs and ears would not take it."""
NOISE = 5.0
"""Differences in lightness that are noise where it is dark."""
PATCH_STEP, PATCH_PX = 0.3, 4.0
"""How far tones of one patch differ, and how far away they are looked for."""
FEATURE = 0.025
"""How far the features of a face reach, as a share of an animal's extent."""
GLASS, PAINT = 0.32, 0.62
"""What has less of its body's lightness is glass, tyres and the shade under a vehicle; what has
more is painted."""
GLOSS = 1.32
"""How many times brighter than paint its highlights are."""
BRIGHT_HAIR, HIGHLIGHT = 80.0, 26.0
"""Hair that would be lighter, or so much lighter than its dye, gets less light."""
ONE_COLOUR = 16.0
"""Things that hardly differ more from their usual hue have one colour: all of it changes."""


def vividness(photo: Floats) -> float:
    """How strong a photograph's strongest colours are: 1 as paint is, less in dull light."""
    lab = cv2.cvtColor(
        cv2.resize(photo, (160, 120), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2LAB
    )
    strongest = float(np.percentile(np.hypot(lab[..., 1], lab[..., 2]), 97))
    return float(np.clip(strongest / 45, 0.6, 1.0))


def lightness_of(photo: Floats) -> Floats:
    """The lightness of each pixel, as in Lab."""
    return floats(cv2.cvtColor(floats(photo), cv2.COLOR_RGB2LAB)[..., 0])


def changed_by(before: Floats, after: Floats, mask: Mask) -> float:
    """The mean colour distance between two pictures of an object, in Lab."""
    labs = [cv2.cvtColor(floats(picture), cv2.COLOR_RGB2LAB)[mask] for picture in (before, after)]
    return float(np.linalg.norm(labs[0] - labs[1], axis=1).mean())


def distinct_colours(photo: Floats, mask: Mask) -> tuple[str, ...]:
    """The colours that differ clearly from an object's own and that its light can bear: neither
    white where it is dark nor black where it is bright, nor red where that would be pink, nor
    yellow and orange where they would be olive and brown."""
    lab = cv2.cvtColor(floats(photo), cv2.COLOR_RGB2LAB)[mask]
    own = np.median(lab, axis=0)
    apart = {
        name: float(np.hypot(*(floats(paint[1:]) - own[1:]))) for name, paint in PAINTS.items()
    }
    apart["black"], apart["white"] = float(own[0]), float(100 - own[0])
    bearable = {
        "black": own[0] < 70,
        "white": own[0] > 45,
        "grey": own[0] < 75,
        "red": own[0] < 65,
        "yellow": own[0] > 40,
        "orange": own[0] > 36,
    }
    return tuple(name for name, far in apart.items() if far > DISTINCT and bearable.get(name, True))


def recoloured(fore: Floats, mask: Mask, colour: str, *, vivid: float = 1.0) -> Floats:
    """An object's colours with those of its main colour changed to another, as `vivid` as others of
    the photograph are."""
    lab = cv2.cvtColor(floats(fore), cv2.COLOR_RGB2LAB)
    lightness, hues = lab[..., 0], lab[..., 1:]
    share = main_share(lab, mask)
    usual, a, b = PAINTS[colour]
    weights = share[mask] + 1e-3
    middle = float(np.average(lightness[mask], weights=weights))
    darker, lighter = (48.0, 48.0) if colour in ("black", "white") else DARKER_LIGHTER
    target = middle + float(np.clip(usual - middle, -darker, lighter))
    light = _rescaled(lightness, middle, target)
    strength = np.clip(light / max(target, 8.0), 0, 1.25) * np.clip((99 - light) / 14, 0, 1)
    wanted = floats([a, b]) * vivid * strength[..., None]
    fine = hues - cv2.GaussianBlur(hues, (0, 0), 4)  # wear and grain of the old colour
    new = np.dstack([light, wanted + 0.25 * fine])
    mixed = lab + share[..., None] * (new - lab)
    return floats(np.clip(cv2.cvtColor(floats(mixed), cv2.COLOR_LAB2RGB), 0, 1))


def dyed(fore: Floats, mask: Mask, dye: Floats, *, haired: bool) -> Floats:
    """All of a coat dyed, whatever colours it has: its light and shade, hair by hair, stay, and
    white hair takes the dye, too. `dye` is one Lab colour or one for each pixel. What is not
    `haired` is smooth where it seems to be."""
    lab = cv2.cvtColor(floats(fore), cv2.COLOR_RGB2LAB)
    lightness, hues = np.maximum(lab[..., 0], 1), lab[..., 1:]
    middle = max(float(np.median(lightness[mask])), 8.0)
    darker, lighter = DYED_DARKER_LIGHTER
    target = middle + np.clip(DYED * (dye[..., 0] - middle), -darker, lighter)
    tones = np.log((lightness + NOISE) / (middle + NOISE))
    least, most = HAIR_TIMES if haired else SMOOTH_TIMES
    relief = float(np.clip(HAIR / (tones[mask].std() + 1e-3), least, most))
    coats = _patches(tones)
    patches = np.maximum(coats, DARKEST * np.tanh(coats / DARKEST))
    light = target * np.exp(relief * (tones - coats + patches))
    light = light - 0.6 * np.maximum(light - BRIGHT_HAIR, 0)
    light = light - 0.7 * np.maximum(light - target - HIGHLIGHT, 0)
    strength = np.clip(light / np.maximum(target, 8), 0, 1.2) ** 0.6
    fine = hues - cv2.GaussianBlur(hues, (0, 0), 4)
    wanted = dye[..., 1:] * strength[..., None] + 0.15 * fine
    return floats(
        np.clip(cv2.cvtColor(floats(np.dstack([light, wanted])), cv2.COLOR_LAB2RGB), 0, 1)
    )


def featured(fore: Floats, mask: Mask) -> Floats:
    """Where an animal has its eyes, nose and mouth, as far as fine detail tells, 0 to 1."""
    tones = np.log(lightness_of(fore) + NOISE)
    detail = np.abs(tones - _patches(floats(tones))) * mask
    reach_px = max(FEATURE * float(np.sqrt(int(mask.sum()))), 1.0)
    near = cv2.GaussianBlur(floats(detail), (0, 0), reach_px)
    usual, most = np.percentile(near[mask], [80, 97])
    return floats(np.clip((near - usual) / max(float(most - usual), 1e-3), 0, 1) * mask)


def painted(fore: Floats, mask: Mask, colour: str, *, vivid: float = 1.0) -> Floats:
    """A vehicle, or what else has windows and tyres, whose body is painted, whatever colours it
    has: what is far darker than the body stays as it is."""
    lab = cv2.cvtColor(floats(fore), cv2.COLOR_RGB2LAB)
    tones, hues = np.maximum(lab[..., 0], 1), lab[..., 1:]
    usual, *hue = PAINTS[colour]
    middle = body_light(tones, mask)
    darker, lighter = DYED_DARKER_LIGHTER
    target = middle + float(np.clip(DYED * (usual - middle), -darker, lighter))
    shade = np.minimum(tones / middle, GLOSS)
    light = target * shade
    fine = hues - cv2.GaussianBlur(hues, (0, 0), 4)
    wanted = floats(hue) * vivid * (shade**1.3)[..., None] + 0.15 * fine
    share = np.clip((tones / middle - GLASS) / (PAINT - GLASS), 0, 1)
    share = (share**2 * (3 - 2 * share))[..., None]
    mixed = lab + share * (np.dstack([light, wanted]) - lab)
    return floats(np.clip(cv2.cvtColor(floats(mixed), cv2.COLOR_LAB2RGB), 0, 1))


def body_light(tones: Floats, mask: Mask) -> float:
    """The usual lightness of a vehicle's body: of what is not much darker than its bright parts, as
    glass and tyres are."""
    inside = tones[mask]
    body = inside[inside >= PAINT * np.percentile(inside, 70)]
    return max(float(np.median(body)), 8.0)


def _patches(tones: Floats) -> Floats:
    """Tones without hair and other fine detail: those of patches of fur, of paints, of parts that
    lie in the shade."""
    tall, wide = tones.shape
    small = cv2.resize(tones, (max(wide // 2, 1), max(tall // 2, 1)), interpolation=cv2.INTER_AREA)
    smooth = cv2.bilateralFilter(floats(small), -1, PATCH_STEP, PATCH_PX)
    return floats(cv2.resize(smooth, (wide, tall), interpolation=cv2.INTER_LINEAR))


def _rescaled(lightness: Floats, middle: float, target: float) -> Floats:
    """Lightness with its middle moved. Where that is darker, all of it is, as paint does: red on
    what is brighter than the middle would be pink. Where it is lighter, white stays white."""
    below = lightness * target / max(middle, 1.0)
    if target < middle:
        return floats(below - DULLED * np.maximum(below - target, 0))
    above = 100 - (100 - lightness) * (100 - target) / max(100 - middle, 1.0)
    return floats(np.where(lightness < middle, below, above))


def main_share(lab: Floats, mask: Mask) -> Floats:
    """How much each pixel belongs to the object's main colour, 0 to 1."""
    hues = lab[..., 1:]
    chroma = np.linalg.norm(hues, axis=-1)
    inside = mask & (lab[..., 0] > 10)
    if not inside.any() or float(np.median(chroma[inside])) < NEUTRAL:
        return np.ones(mask.shape, np.float32)
    usual = np.median(hues[inside], axis=0)
    if (np.linalg.norm(hues[inside] - usual, axis=1) < ONE_COLOUR).mean() > 0.85:
        return np.ones(mask.shape, np.float32)
    vivid = inside & (chroma > NEUTRAL)
    bins = np.clip((hues[vivid] / 8 + 16).astype(int), 0, 31)
    counts = np.zeros((32, 32), np.float32)
    np.add.at(counts, (bins[:, 0], bins[:, 1]), 1)
    at = np.unravel_index(int(cv2.GaussianBlur(counts, (0, 0), 1.0).argmax()), counts.shape)
    main = (floats(at) - 15.5) * 8
    turn = np.arccos(
        np.clip((hues @ main) / (np.maximum(chroma, 1e-3) * np.linalg.norm(main)), -1, 1)
    )
    alike = np.exp(-((turn / 0.75) ** 2)) * np.clip((chroma - 3) / 8, 0, 1)
    return floats(cv2.GaussianBlur(floats(alike), (0, 0), 0.8))
