"""An offline, deterministic editor for photographs with masks: other surfaces, materials, places
and colours, things erased, replaced, added and moved. Everything is computed from the photograph
(and from others that are given as donors); no network is needed; MI-GAN helps with
holes, SAM 2 with outlines.

`repertoire` lists what it knows; `ProceduralEditor` is the editor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundfault.errors import MissingExtra

if TYPE_CHECKING:
    from groundfault.editors.procedural.editor import ProceduralEditor
    from groundfault.interfaces import ModelOptions

__all__ = ["ProceduralEditor", "load"]

SETTINGS: dict[str, tuple[str, ...] | type] = {
    "migan": str,
    "sam2": str,
    "care": float,
    "filters": bool,
}
"""What a recipe's `[edit.options]` may say, as `ProceduralEditor` has it."""


def load(argument: str, options: ModelOptions) -> ProceduralEditor:
    """The editor that `procedural[:PATH of MI-GAN's ONNX file]` names, with the donors that the
    options list (`editors.loading.EditorOptions`)."""
    from groundfault.editors.loading import EditorOptions, take_settings

    editor = _editor_class()
    if not isinstance(options, EditorOptions):
        return editor(migan=argument)
    settings = take_settings("procedural", options, SETTINGS)
    donors = None
    if options.donors:
        from groundfault.editors.procedural.donors import read_list

        donors = read_list(options.donors, options.images)
    return editor(**(settings | ({"migan": argument} if argument else {})), donors=donors)


def _editor_class() -> type[ProceduralEditor]:
    try:
        from groundfault.editors.procedural.editor import ProceduralEditor
    except ModuleNotFoundError as problem:
        if problem.name != "cv2":
            raise
        raise MissingExtra("OpenCV", "photo") from None
    return ProceduralEditor


def __getattr__(name: str) -> Any:
    if name == "ProceduralEditor":
        return _editor_class()
    raise AttributeError(name)
