"""The closed loop: quads like those that failed are drawn more often; those stay held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundfault.training.failures import Failures
from groundfault.training.segvlm.mixture import Group, Source
from groundfault.training.segvlm.samples import Sample

__all__ = ["drawn_by_failures"]

_ROLES = {"true": "positive", "false": "negative"}
LEAST = 0.05
"""What never fails is still drawn, or it would be forgotten."""


def drawn_by_failures(failures: Failures) -> Callable[[Sequence[Source]], list[Source]]:
    """Each group is as likely as questions like its own failed."""

    def change(sources: Sequence[Source]) -> list[Source]:
        return [source._replace(weights=_weights(source)) for source in sources]

    def _weights(source: Source) -> dict[str, list[float]]:
        return {
            name: [_weight(group) for group in groups] for name, groups in source.strata.items()
        }

    def _weight(group: Group) -> float:
        return max(LEAST, sum(map(_rate, group)) / len(group))

    def _rate(sample: Sample) -> float:
        role = _ROLES.get(sample.kind, sample.kind)
        return failures.of_question(role, sample.query)

    return change
