"""The seams: one method each. Whatever has the method is the thing; nothing is inherited.

What a model may offer besides is declared here too, one ability each: a model has an ability if it
has the method or attribute, and nothing else is ever looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import msgspec

from groundfault.records import Conversation, Item, Mode, Prediction, Reply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]  # (height, width, 3) RGB
    BinaryMask = NDArray[np.bool_]  # (height, width)

__all__ = [
    "AnySizes",
    "Baseline",
    "BatchSegmenter",
    "Canvas",
    "ChatModel",
    "Checkpointed",
    "Closeable",
    "DirectEditor",
    "EditRequest",
    "Edited",
    "Editor",
    "Encoder",
    "Fitted",
    "Identified",
    "Judge",
    "Logging",
    "ModelOptions",
    "NamesFiles",
    "Neighbour",
    "NotEdited",
    "Placed",
    "PreferredBatch",
    "Probeable",
    "RunNamed",
    "Segmenter",
    "Sized",
    "Startable",
    "Versioned",
]


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to load a model. A name in the registry is a callable (argument, options) -> model,
    where the argument is what follows the colon in `sam3:facebook/sam3`, "" if nothing does."""

    device: str = "auto"
    dtype: str = "auto"
    revision: str = ""
    """Of a hub checkpoint; "" is the one pinned by the adapter."""
    offline: bool = False
    timeout_s: float = 600.0
    """For one request to a model outside this process."""
    base_url: str = ""
    """Of an OpenAI-compatible server; "" is OPENAI_BASE_URL, or OpenAI's own."""
    fresh: bool = False
    """Ask a server again what it was paid for before."""


@runtime_checkable
class Segmenter(Protocol):
    """Finds what phrases name in an image. One image, many phrases: it is encoded once."""

    def segment(self, image: Image, phrases: Sequence[str]) -> Sequence[Prediction]:
        """One prediction per phrase, in order: masks with scores, or an abstention."""
        ...


@runtime_checkable
class BatchSegmenter(Segmenter, Protocol):
    """A segmenter that is faster with several images at once. They are of one size, unless it is
    `AnySizes` too."""

    def segment_batch(
        self, images: Sequence[Image], phrases: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[Prediction]]:
        """What `segment` gives for each image and its phrases."""
        ...


@runtime_checkable
class AnySizes(Protocol):
    """A batch segmenter that takes images of different sizes in one call."""

    any_sizes: bool


@runtime_checkable
class PreferredBatch(Protocol):
    """A batch segmenter that knows how many images it likes at once."""

    images_at_once: int


@runtime_checkable
class Encoder(Segmenter, Protocol):
    """A segmenter that can keep what it has seen of images, of whatever sizes: an image is encoded
    once and asked about any number of times."""

    def encode(self, images: Sequence[Image]) -> Sequence[Any]:
        """What it needs of each image to be asked about it."""
        ...

    def segment_encoded(
        self, encoded: Sequence[Any], phrases: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[Prediction]]:
        """What `segment` gives for each image."""
        ...


@runtime_checkable
class Probeable(Protocol):
    """A segmenter whose coordinate frame can be checked without its network."""

    def frame_probe(self, image: Image) -> BinaryMask:
        """Where the bright parts of an image end up: its preprocessed pixels, taken for the
        network's output, sent back to the image by the adapter's own postprocessing."""
        ...


@runtime_checkable
class Baseline(Protocol):
    """Answers items without a model: from their annotations, their words, or chance."""

    def predict(self, items: Sequence[Item], mode: Mode = "") -> Sequence[Prediction]:
        """One prediction per item, in order; `mode` is how questions in words are asked."""
        ...


@runtime_checkable
class Fitted(Baseline, Protocol):
    """A baseline that learns from a benchmark before it answers any of it."""

    def fit(self, items: Sequence[Item]) -> None:
        """Learn from all items of the benchmark, also where only some are asked."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """Replies to conversations with pictures, in words."""

    def complete(self, conversations: Sequence[Conversation]) -> Sequence[Reply]:
        """One reply per conversation, in order."""
        ...


@runtime_checkable
class Checkpointed(Protocol):
    """A model that knows which weights it was made of."""

    checkpoints: tuple[str, ...]
    """Of each part, name and revision or content hash; answers of others are not mixed."""


class _Placement(Protocol):
    device: str
    dtype: str


@runtime_checkable
class Placed(Protocol):
    """A model that knows what it computes with."""

    placement: _Placement


@runtime_checkable
class Versioned(Protocol):
    """A model outside this process, which knows the libraries that it runs with."""

    worker_versions: Mapping[str, str]


@runtime_checkable
class Identified(Protocol):
    """A registered callable that knows more about what predictions depend on than its spec says."""

    def identity(self, argument: str, options: ModelOptions) -> Mapping[str, str]:
        """Names and values; predictions of other values are not mixed. Nothing is loaded."""
        ...


@runtime_checkable
class NamesFiles(Protocol):
    """A registered callable that knows which files predictions depend on: parts of its argument,
    or weights that it finds elsewhere."""

    def named_files(self, argument: str) -> Sequence[str]:
        """Paths of files, or of folders of them; they are part of the identity by their content."""
        ...


@runtime_checkable
class RunNamed(Protocol):
    """A registered callable of whose argument only a part belongs into the name of a run."""

    def run_name(self, argument: str) -> str:
        """The part that does."""
        ...


@runtime_checkable
class Startable(Protocol):
    """A model outside this process, which has to be started."""

    def start(self) -> None:
        """Start it, or raise what keeps it from that."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """A model that may come to a point where it answers nothing any more."""

    stopped_because: str
    """Why, with what to do about it; "" while it answers."""


@runtime_checkable
class Logging(Protocol):
    """A model outside this process, whose own output is kept in the run's folder."""

    def keep_log(self, folder: Any) -> None:
        """Write its output to a file in the folder."""
        ...


@runtime_checkable
class Closeable(Protocol):
    """A model that holds processes, threads or connections."""

    def close(self) -> None:
        """Let go of them. A second call does nothing."""
        ...


class NotEdited(msgspec.Struct, frozen=True, kw_only=True):
    """Why an editor gave no image."""

    outcome: Literal["refused", "failed"]
    """Refused: the service will not, however often it is asked. Failed: it may, next time."""
    reason: str
    details: str = ""
    """More about it, where the reason is a short one that is counted."""


@runtime_checkable
class Editor(Protocol):
    """Changes an image inside a region as instructed. The region is what may change: for another
    surface that of the thing, for another place everything around it."""

    def edit(self, image: Image, region: BinaryMask, instruction: str) -> Image | NotEdited:
        """The edited image, of the same size, or why there is none."""
        ...


class Canvas(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of pictures that an editor takes."""

    sizes_px: tuple[tuple[int, int], ...] = ()
    """(height, width): these alone; empty means: any that the rest allows."""
    multiple_px: int = 1
    """Both sides are multiples of it."""
    shortest_px: int = 1
    longest_px: int = 1 << 16
    """Of either side."""
    most_px: int = 1 << 28
    """Pixels in all."""
    longest_ratio: float = float("inf")
    """Of the longer side to the shorter."""


@runtime_checkable
class Sized(Protocol):
    """An editor of pictures of certain sizes. Pictures are brought to one of them before,
    letterboxed and not cropped, and its reply is brought back after: it may have another size, or
    be shifted."""

    canvas: Canvas


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """Another thing in the picture that is edited."""

    category: str
    mask: Any
    """(height, width) bool."""


class EditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be changed: in words for editors that read, in fields for those that compute."""

    instruction: str
    kind: str = ""
    """surface, material, context, erase, replace, add, move, recolour; "none" is no change."""
    value: str = ""
    """The new surface, material, place, thing or colour: "zebra", "bronze", "snow"."""
    category: str = ""
    """What the target is: "elephant"."""
    seed: int = 0
    dose: float = 1.0
    """How strongly, from 0 (not at all) to 1."""
    others: tuple[Neighbour, ...] = ()
    """What else is annotated in the picture: nothing is put in front of it, nothing behind it is
    guessed."""


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """An edited image, with what only its editor can know."""

    image: Any
    """(height, width, 3) uint8, of the size of the original."""
    mask: Any = None
    """(height, width) bool: where a new or moved thing is; None where the target's mask holds."""
    target: Any = None
    """(height, width) bool: the target's own mask as the editor corrected it; None where it holds
    as it was given."""
    touched: Any = None
    """(height, width) bool: every pixel that may have changed; None where the editor can't say."""
    details: dict[str, str] = {}
    """What else is to be kept, as the donor's photograph and its licence."""


@runtime_checkable
class DirectEditor(Editor, Protocol):
    """An editor that takes requests in fields and knows what it changed."""

    def perform(self, image: Image, region: BinaryMask, request: EditRequest) -> Edited | NotEdited:
        """The edited image with its masks, or why there is none."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Decides whether an answer is right by a rubric."""

    def judge(self, question: str, answer: str, rubric: str) -> bool | None:
        """True, False, or None if the judge itself could not decide."""
        ...
