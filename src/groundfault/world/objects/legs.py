"""The four legs of an animal seen from the side, and the body that they grow out of."""

from __future__ import annotations

import numpy as np

from groundfault.world.canvas import Path, Rgb
from groundfault.world.forms import Bulge, Mark, Part, between
from groundfault.world.shapes import Point, blob, joined, limb, oval

__all__ = ["Legs"]


class Legs:
    """Four legs in a stride; the far pair is dim and half a step behind."""

    def __init__(
        self,
        rng: np.random.Generator,
        colour: Rgb,
        *,
        hind: Point,
        fore: Point,
        thigh: float,
        shin: float,
        foot: float,
        foot_colour: Rgb | None = None,
        bend: float = 0.06,
    ) -> None:
        self.colour, self.thigh, self.shin, self.foot, self.bend = colour, thigh, shin, foot, bend
        self.foot_colour = foot_colour
        stride = between(rng, 0.02, 0.11) * (1 if rng.random() < 0.5 else -1)
        gap = shin * 0.95
        self.stands = {
            "far hind": (hind[0] + gap, hind[1], -stride + gap * 0.4),
            "far fore": (fore[0] + gap * 0.7, fore[1], stride + gap * 0.3),
            "near hind": (hind[0], hind[1], stride),
            "near fore": (fore[0], fore[1], -stride),
        }

    def far(self) -> list[Part]:
        """The pair on the other side."""
        return [part for name in ("far hind", "far fore") for part in self._leg(name)]

    def body(self, *trunk: Path, depth: float) -> list[Part | Mark | Bulge]:
        """Trunk and near legs grown together, with the trunk's swelling on them."""
        upper, hooves = [], []
        for name in ("near hind", "near fore"):
            path, paw = self._paths(name, 0.0)
            upper.append(path if self.foot_colour else joined(path, paw))
            hooves += (
                [Part(paw, self.foot_colour, self.shin * 0.4, takes=0.0)]
                if self.foot_colour
                else []
            )
        (hx, hy, _), (fx, fy, _) = self.stands["near hind"], self.stands["near fore"]
        return [
            Part(joined(*trunk, *upper), self.colour, self.shin * 0.62),
            *(Bulge(path, 0.80, depth * 0.42) for path in trunk),
            Bulge(oval(hx, hy, self.thigh * 0.34, self.thigh * 0.5), 0.35, self.thigh * 0.2),
            Bulge(oval(fx, fy - 0.04, self.thigh * 0.26, self.thigh * 0.5), 0.30, self.thigh * 0.2),
            *hooves,
        ]

    def _leg(self, name: str) -> list[Part]:
        path, paw = self._paths(name, 0.025)  # further away is higher in the picture
        if self.foot_colour is None:
            return [Part(joined(path, paw), self.colour, self.shin * 0.62, dim=0.74)]
        return [
            Part(path, self.colour, self.shin * 0.62, dim=0.74),
            Part(paw, self.foot_colour, self.shin * 0.4, dim=0.74, takes=0.0),
        ]

    def _paths(self, name: str, lift: float) -> tuple[Path, Path]:
        """Outlines of a leg and of its foot."""
        x, y, step = self.stands[name]
        hind, drop = name.endswith("hind"), 1.0 - y
        bend = self.bend if hind else -self.bend * 0.2
        toe = x + step
        path = limb(
            [
                (x, y),
                (x + step * 0.35 + bend, y + drop * 0.42),
                (x + step * 0.75 - bend, y + drop * 0.70),
                (toe, 1.0 - self.foot * 0.45 - lift),
            ],
            [self.thigh if hind else self.thigh * 0.8, self.shin * 1.35, self.shin, self.shin],
        )
        sole = self.foot * 0.5
        paw = blob(
            [
                (toe - sole * 0.85, 1.0 - lift),
                (toe - sole * 0.8, 1.0 - self.foot * 0.62 - lift),
                (toe + sole * 0.55, 1.0 - self.foot * 0.72 - lift),
                (toe + sole * 1.45, 1.0 - self.foot * 0.22 - lift),
                (toe + sole * 1.3, 1.0 - lift),
            ],
            0.7,
        )
        return path, paw

    def feet(self) -> tuple[tuple[float, float], ...]:
        return tuple((x + step, self.foot * 0.9) for x, _, step in self.stands.values())
