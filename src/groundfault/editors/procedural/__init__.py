"""An offline, deterministic editor for photographs with masks: other surfaces, materials, places
and colours, things erased, replaced, added and moved. Everything is computed from the photograph
(and from others that are given as donors); no network is needed; MI-GAN helps with
holes, SAM 2 with outlines.

`repertoire` lists what it knows; `ProceduralEditor` is the editor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundfault.errors import GroundfaultError, MissingExtra

if TYPE_CHECKING:
    from groundfault.editors.procedural.editor import ProceduralEditor
    from groundfault.interfaces import ModelOptions

__all__ = ["ProceduralEditor", "load"]


def load(argument: str, options: ModelOptions) -> ProceduralEditor:
    """The editor that `procedural[:PATH of MI-GAN's ONNX file]` names, with the donors that the
    options list (`editors.loading.EditorOptions`)."""
    editor = _editor_class()
    settings = dict(getattr(options, "settings", {}))
    donors = None
    if getattr(options, "donors", ""):
        from groundfault.editors.procedural.donors import read_list

        donors = read_list(options.donors, options.images)  # type: ignore[attr-defined]
    migan = argument or str(settings.get("migan", ""))
    return editor(
        donors=donors,
        migan=migan,
        sam2=str(settings.get("sam2", "")),
        care=_care(settings),
        filters=bool(settings.get("filters", True)),
    )


def _care(settings: dict[str, Any]) -> float:
    care = settings.get("care", 0.0)
    if isinstance(care, bool) or not isinstance(care, int | float) or not -5 <= care <= 5:
        raise GroundfaultError(f"[edit.options] care is {care!r}; give a number from -5 to 5")
    return float(care)


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
