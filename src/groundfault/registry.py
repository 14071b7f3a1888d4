"""Names → things, imported only when asked for.

Each kind is a table of "module:attribute". Other packages add theirs through entry points in the
groups `groundfault.benchmarks`, `groundfault.metrics`, `groundfault.models`, `groundfault.editors`;
ours win over a foreign entry of the same name.
"""

from __future__ import annotations

import importlib
from typing import Any

from groundfault.errors import GroundfaultError, UnknownName

__all__ = ["KINDS", "load", "names"]

KINDS: dict[str, dict[str, str]] = {
    "benchmarks": {
        "cafe": "groundfault.benchmarks.cafe:CARD",
        "saco": "groundfault.benchmarks.saco:CARD",
        "halluseg": "groundfault.benchmarks.halluseg:CARD",
        "fprefcoco": "groundfault.benchmarks.fprefcoco:CARD",
        "coco": "groundfault.benchmarks.coco_instances:CARD",
        "lvis": "groundfault.benchmarks.lvis:CARD",
    },
    "metrics": {
        "pcs": "groundfault.metrics.pcs",
        "target_aware": "groundfault.metrics.target_aware",
        "replacement": "groundfault.metrics.replacement",
        "false_premise": "groundfault.metrics.false_premise",
    },
    "models": {},
    "editors": {},
}


def _entry_points(kind: str) -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=f"groundfault.{kind}")}


def names(kind: str) -> dict[str, str]:
    """All names of a kind with where each lives."""
    if kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)
    return _entry_points(kind) | KINDS[kind]


def load(kind: str, name: str) -> Any:
    """Import what a name stands for."""
    known = KINDS.get(kind, {})
    target = known.get(name) or names(kind).get(name)
    if target is None:
        raise UnknownName(kind.removesuffix("s"), name, names(kind))
    module, _, attribute = target.partition(":")
    try:
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found
    except (ImportError, AttributeError) as problem:
        raise GroundfaultError(f"{kind.removesuffix('s')} '{name}' ({target}): {problem}") from None
