"""The nano network: find things once, then ask any number of phrases about them.

Two halves, exported as two graphs:

- `Finder` looks at the picture: pixel features, where things are (foreground), and which pixels
  belong together (a heat map of middles, and from each pixel the way to its own middle).
- `Matcher` takes the masks of the things found and phrases, and says how well each phrase fits
  each thing. Whether a phrase is in the picture at all is what its best fit says.

Small on purpose: about a million parameters, a few milliseconds on one core.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Finder", "Matcher", "Nano"]

WIDTHS = (16, 32, 64, 128)
FINE = 32
"""Channels of the finest map."""
DIM = 128
"""Of phrases and things where they meet."""


def conv(inputs: int, outputs: int, size: int = 3, stride: int = 1) -> nn.Sequential:
    """Convolution, normalisation, activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.SiLU(),  # in place it would keep a copy for the way back
    )


class Residual(nn.Module):
    """Two convolutions beside a short cut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = conv(width, width)
        self.second = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        )

    def forward(self, x: Tensor) -> Tensor:
        return functional.silu(x + self.second(self.first(x)))


class Attention(nn.Module):
    """Queries look at a sequence (their own, if they are it), then think."""

    def __init__(self, dim: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q, self.kv, self.out = (
            nn.Linear(dim, dim),
            nn.Linear(dim, 2 * dim),
            nn.Linear(dim, dim),
        )
        self.think = nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim))

    def forward(self, x: Tensor, seen: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        """x (b, n, d), seen (b, m, d), bias (b, 1, 1, m) added to the attention."""
        normed = self.before(x)
        seen = normed if seen is None else seen
        batch, n, dim = x.shape
        split = dim // self.heads
        q = self.q(normed).view(batch, n, self.heads, split).transpose(1, 2)
        k, v = self.kv(seen).view(batch, seen.shape[1], 2, self.heads, split).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2)) * split**-0.5
        if bias is not None:
            weights = weights + bias
        looked = (weights.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, dim)
        x = x + self.out(looked)
        thought: Tensor = x + self.think(self.after(x))
        return thought


def _doubled(x: Tensor) -> Tensor:
    return functional.interpolate(x, scale_factor=2.0, mode="nearest")


class Finder(nn.Module):
    """A picture (b, 3, s, s) to maps at half, quarter and eighth size, and tokens."""

    def __init__(self, side_px: int) -> None:
        super().__init__()
        a, b, c, d = WIDTHS
        self.stem = conv(3, a, 5, 2)
        self.quarter = nn.Sequential(conv(a, b, 3, 2), Residual(b))
        self.eighth = nn.Sequential(conv(b, c, 3, 2), Residual(c), Residual(c))
        self.sixteenth = nn.Sequential(conv(c, d, 3, 2), Residual(d))
        self.place = nn.Parameter(torch.randn(1, (side_px // 16) ** 2, d) * 0.02)
        self.blocks = nn.ModuleList([Attention(d), Attention(d)])
        self.down_d, self.down_c, self.down_b = (
            nn.Conv2d(d, c, 1),
            nn.Conv2d(c, b, 1),
            nn.Conv2d(b, FINE, 1),
        )
        self.mix_c, self.mix_b = conv(c, c), conv(b, b)
        self.lift_a = nn.Conv2d(a, FINE, 1)
        self.mix_a = conv(FINE, FINE)
        self.ground = nn.Conv2d(FINE, 4, 1)
        """Foreground of the four pixels of each cell."""
        self.where = nn.Conv2d(FINE, 3, 1)
        """Per cell: middle, way to the middle (down, right)."""
        with torch.no_grad():
            assert self.ground.bias is not None and self.where.bias is not None
            self.ground.bias.fill_(-2.0)
            self.where.bias[0] = -4.0

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Foreground (b, 1, s, s), where (b, 3, s/2, s/2), and what the matcher looks at."""
        a = self.stem(picture)
        b = self.quarter(a)
        c = self.eighth(b)
        d = self.sixteenth(c)
        batch, dim, rows, columns = d.shape
        tokens = d.flatten(2).transpose(1, 2) + self.place
        for block in self.blocks:
            tokens = block(tokens)
        d = d + tokens.transpose(1, 2).reshape(batch, dim, rows, columns)
        c = self.mix_c(c + _doubled(self.down_d(d)))
        b = self.mix_b(b + _doubled(self.down_c(c)))
        fine = self.mix_a(self.lift_a(a) + _doubled(self.down_b(b)))
        assert self.ground.bias is not None and self.where.bias is not None
        heads = torch.cat([self.ground.weight, self.where.weight])
        biases = torch.cat([self.ground.bias, self.where.bias])
        said = functional.conv2d(fine, heads, biases)  # both at once: one way back, not two
        foreground = functional.pixel_shuffle(said[:, :4], 2)
        return foreground, said[:, 4:], b, c, tokens


class Words(nn.Module):
    """Word numbers (p, l), 0 for no word, to phrase vectors (p, DIM)."""

    def __init__(self, n_words: int, length: int) -> None:
        super().__init__()
        self.table = nn.Embedding(n_words, DIM, padding_idx=0)
        self.order = nn.Parameter(torch.randn(1, length, DIM) * 0.02)
        self.block = Attention(DIM)
        self.out = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, DIM))

    def forward(self, ids: Tensor) -> Tensor:
        there = (ids > 0).float()
        x = self.block(self.table(ids) + self.order, bias=(there - 1.0)[:, None, None, :] * 1e4)
        x = (x * there[..., None]).sum(1) / there.sum(1, keepdim=True).clamp(min=1.0)
        vector: Tensor = self.out(x)
        return vector


class Matcher(nn.Module):
    """Do phrases fit things?"""

    def __init__(self, n_words: int, length: int) -> None:
        super().__init__()
        _, b, c, d = WIDTHS
        self.words = Words(n_words, length)
        self.thing = nn.Sequential(
            nn.Linear(b + c + d, 2 * DIM), nn.SiLU(), nn.Linear(2 * DIM, DIM)
        )
        self.sharpness = nn.Parameter(torch.tensor(1.0))
        self.habit = nn.Parameter(torch.tensor(-3.0))

    def describe(self, masks: Tensor, b: Tensor, c: Tensor, tokens: Tensor) -> Tensor:
        """Things (b, k, h, w), soft masks at half size, to vectors (b, k, DIM)."""
        quarter = functional.avg_pool2d(masks, 2)
        eighth = functional.avg_pool2d(quarter, 2)
        sixteenth = functional.avg_pool2d(eighth, 2)
        pooled = torch.cat(
            [
                _pooled(quarter, b.flatten(2).transpose(1, 2)),
                _pooled(eighth, c.flatten(2).transpose(1, 2)),
                _pooled(sixteenth, tokens),
            ],
            -1,
        )
        thing: Tensor = self.thing(pooled)
        return thing

    def fits(self, things: Tensor, phrases: Tensor) -> Tensor:
        """Things (b, k, DIM) and phrases (b, p, DIM) to logits (b, k, p)."""
        alike = things @ phrases.transpose(1, 2)
        fits: Tensor = alike * (self.sharpness * DIM**-0.5) + self.habit
        return fits

    def forward(self, masks: Tensor, b: Tensor, c: Tensor, tokens: Tensor, ids: Tensor) -> Tensor:
        """masks (b, k, h, w), ids (b, p, l) to logits (b, k, p)."""
        batch, n_phrases, length = ids.shape
        phrases = self.words(ids.view(batch * n_phrases, length)).view(batch, n_phrases, DIM)
        return self.fits(self.describe(masks, b, c, tokens), phrases)


def _pooled(weights: Tensor, features: Tensor) -> Tensor:
    """Weighted means: (b, k, h, w), (b, h·w, c) to (b, k, c)."""
    flat = weights.flatten(2)
    return (flat @ features) / flat.sum(-1, keepdim=True).clamp(min=1e-3)


class Nano(nn.Module):
    """Both halves."""

    def __init__(self, side_px: int, n_words: int, length: int) -> None:
        super().__init__()
        self.finder = Finder(side_px)
        self.matcher = Matcher(n_words, length)

    def forward(
        self, pictures: Tensor, masks: Tensor, ids: Tensor, asked: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What the finder says of each pixel, and the matcher of given masks and phrases.

        ids (n, l) are all phrases of the batch, each once; asked (b, p) are their numbers.
        """
        foreground, where, b, c, tokens = self.finder(pictures)
        phrases = self.matcher.words(ids)[asked]
        things = self.matcher.describe(masks, b, c, tokens)
        return foreground, where, self.matcher.fits(things, phrases)
