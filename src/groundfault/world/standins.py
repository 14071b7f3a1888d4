"""`import skia` on a machine without a graphics driver."""
from __future__ import annotations
from typing import Any
def import_skia() -> Any:
    import skia
    return skia
