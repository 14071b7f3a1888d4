"""Candidates for ReactBench's four tasks.

    erasure     two related things of a pair that usually goes together; the one that the other
                makes one expect is to be erased
    attribute   a thing that has an attribute which such things usually have
    tracing     a thing that takes up little of a photograph with many things, with one of four
                operations assigned and the others as fallbacks
    counting    a photograph whose things are counted

Pairs and attributes are counted over the whole set first (`reactbench_statistics`), so photographs
are read twice. Sets too small for counting take them from tables (`pairs = "table"`): then they are
read once, and relations are read off the boxes.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Literal

import msgspec

from groundfault.building.denied import denied_word
from groundfault.building.mining.habits import ATTRIBUTES, PAIRS, attribute_type
from groundfault.building.mining.reactbench_statistics import (
    Names,
    PairCount,
    Statistics,
    StatisticsSettings,
    count,
    write_tables,
)
from groundfault.building.mining.selection import (
    Common,
    OnDrop,
    Target,
    Targets,
    candidate_id,
    draw,
    measure,
    trouble_with,
)
from groundfault.building.records import Candidate, Dropped
from groundfault.errors import UsageError
from groundfault.io.photographs import Photograph, Thing, spoken

__all__ = ["OPERATIONS", "SETTINGS", "ReactbenchSettings", "mine", "statistics_settings"]

Photographs = Iterable[Photograph] | Callable[[], Iterable[Photograph]]
LOOKED_INTO = 200
OPERATIONS = ("delete", "add", "replace", "move")
NEAR = 0.25
"""Boxes are near that touch once both are widened by this share of their sides."""


class ReactbenchSettings(Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How candidates for ReactBench are selected."""

    tasks: tuple[Literal["erasure", "attribute", "tracing", "counting"], ...] = (
        "erasure", "attribute", "tracing", "counting",
    )  # fmt: skip
    pairs: Literal["auto", "counted", "table"] = "auto"
    """Count what goes together and how things look, or take it from tables; "auto" counts where one
    of the first photographs has relations or attributes."""
    min_count: int = 50
    min_probability: float = 0.2
    top: int = 3
    count: Literal["images", "relations"] = "images"
    names: Names = Names()
    tables: str = ""
    """A folder that pairs.parquet and attributes.parquet are written to: all that was counted."""
    per_pair: int | None = 50
    """Candidates of one pair, and of one (object, attribute); the paper does not say."""
    min_area_share: float = 0.002
    per_image: int | None = 12
    several: bool = True
    min_whole_share: float = 0.0
    attribute_area_shares: tuple[float, float] = (0.05, 0.8)
    """The paper's limits for attributes, as shares of the picture."""
    variants: tuple[Literal["A", "B"], ...] = ("A", "B")
    """Edits of one thing's attributes: the paper makes two, in different directions."""
    more_than_objects: int = 15
    """Annotated things that a photograph for tracing must exceed."""
    tracing_area_share: float = 0.2
    """Of the picture, that the box of a target for tracing must stay below."""
    tracing_min_area_share: float = 0.002
    assignment: Literal["drawn", "in turn"] = "drawn"
    """Operations are drawn for each candidate, all equally likely, or assigned in turn."""
    min_things: int = 5
    """Fewer are not worth counting."""
    max_things: int | None = None


SETTINGS = ReactbenchSettings


def statistics_settings(settings: ReactbenchSettings) -> StatisticsSettings:
    """The part of the settings that counting takes."""
    return StatisticsSettings(
        min_count=settings.min_count,
        min_probability=settings.min_probability,
        top=settings.top,
        count=settings.count,
        names=settings.names,
        denied=settings.denied,
    )


def mine(
    photographs: Photographs,
    settings: ReactbenchSettings,
    on_drop: OnDrop,
    *,
    statistics: Statistics | None = None,
) -> Iterator[Candidate]:
    """Candidates of all tasks, photograph by photograph in their order.

    Photographs are read twice where pairs are counted: give a function that begins anew, or a list;
    what can be read only once is kept on the disk in between. `statistics` takes the place of
    counting. `facts` has, by task: `relation` ("subject-predicate-object"), `predicate`, `erased`
    and `kept`; `object`, `attribute`, `attribute_type` and `variant` (A or B); `object`,
    `same_instance_count`, `operation` and `fallbacks` (with commas); `counted` and `count`.
    """
    if not settings.tasks:
        raise UsageError("ReactBench: give at least one task")
    if settings.pairs == "auto":
        photographs, annotated = _looked_into(photographs)
        chosen: Literal["counted", "table"] = (
            "counted" if annotated or statistics is not None else "table"
        )
        settings = msgspec.structs.replace(settings, pairs=chosen)
    counted = settings.pairs == "counted" and {"erasure", "attribute"} & {*settings.tasks}
    if not counted or statistics is not None:
        return _mined(_begun(photographs), settings, on_drop, statistics)
    return _counted_and_mined(photographs, settings, on_drop)


def _looked_into(photographs: Photographs) -> tuple[Photographs, bool]:
    """The same photographs, and whether one of the first has relations or attributes."""
    begun = iter(_begun(photographs))
    first = list(islice(begun, LOOKED_INTO))
    annotated = any(
        each.relations or any(thing.attributes for thing in each.things) for each in first
    )
    once = isinstance(photographs, Iterator)
    return (chain(first, begun) if once else photographs), annotated


def _begun(photographs: Photographs) -> Iterable[Photograph]:
    return photographs() if callable(photographs) else photographs


def _counted_and_mined(
    photographs: Photographs, settings: ReactbenchSettings, on_drop: OnDrop
) -> Iterator[Candidate]:
    if not isinstance(photographs, Iterator):
        statistics = _counted(_begun(photographs), settings)
        yield from _mined(_begun(photographs), settings, on_drop, statistics)
        return
    with tempfile.TemporaryFile() as file:
        statistics = _counted(_kept(photographs, file), settings)
        file.seek(0)
        yield from _mined(_read_again(file), settings, on_drop, statistics)


def _counted(photographs: Iterable[Photograph], settings: ReactbenchSettings) -> Statistics:
    found = count(photographs, statistics_settings(settings))
    if settings.tables:
        folder = Path(settings.tables)
        folder.mkdir(parents=True, exist_ok=True)
        write_tables(found, folder / "pairs.parquet", folder / "attributes.parquet")
    return found


def _kept(photographs: Iterable[Photograph], file: IO[bytes]) -> Iterator[Photograph]:
    encode = msgspec.msgpack.Encoder().encode
    for photograph in photographs:
        content = encode(photograph)
        file.write(len(content).to_bytes(8))
        file.write(content)
        yield photograph


def _read_again(file: IO[bytes]) -> Iterator[Photograph]:
    decode = msgspec.msgpack.Decoder(Photograph).decode
    while length := file.read(8):
        yield decode(file.read(int.from_bytes(length)))


def _mined(
    photographs: Iterable[Photograph],
    settings: ReactbenchSettings,
    on_drop: OnDrop,
    statistics: Statistics | None,
) -> Iterator[Candidate]:
    miner = _Miner(Targets(settings, on_drop), statistics)
    for photograph in photographs:
        yield from miner.candidates(photograph)


class _Found(msgspec.Struct, frozen=True):
    """A possible candidate: its target, what is known of it, and what is against it."""

    target: Thing
    part: str
    """What tells it from others of its photograph and task, in ids."""
    facts: dict[str, str]
    why: Dropped | None = None
    cap: str = ""
    """What `per_pair` counts it as."""


class _Miner:
    """One pass over photographs."""

    def __init__(self, targets: Targets[ReactbenchSettings], statistics: Statistics | None) -> None:
        self.targets, self.settings = targets, targets.settings
        self._of_pair: Counter[str] = Counter()
        self._turn = 0
        by_table = self.settings.pairs == "table" or statistics is None
        self._statistics = None if by_table else statistics

    def candidates(self, photograph: Photograph) -> Iterator[Candidate]:
        """The candidates of one photograph, task by task."""
        unused = self.targets.unused(photograph)
        readers = {
            "erasure": self._erasures,
            "attribute": self._attributes,
            "tracing": self._tracings,
            "counting": self._countings,
        }
        for task in self.settings.tasks:
            taken: set[str] = set()
            for found in readers[task](photograph):
                known = found.target.id in taken
                most = self.settings.per_image
                enough = most is not None and not known and len(taken) >= most
                why = (
                    unused
                    or found.why
                    or (Dropped(reason="enough of its photograph") if enough else None)
                    or self._capped(found)
                    or (None if known else self.targets.capped(found.target.category))
                )
                if why:
                    self.targets.drop([candidate_id(photograph, found.part, task)], why)
                    continue
                taken.add(found.target.id)
                facts = self._assigned(photograph, found) if task == "tracing" else found.facts
                yield self.targets.give(photograph, found.target, task, facts, found.part)

    def _capped(self, found: _Found) -> Dropped | None:
        most = self.settings.per_pair
        if most is not None and found.cap and self._of_pair[found.cap] >= most:
            return Dropped(reason="enough of its pair", details=found.cap)
        self._of_pair[found.cap] += 1
        return None

    def _fitting(
        self, photograph: Photograph, thing: Thing, shares: tuple[float, float] | None = None
    ) -> tuple[Target, Dropped | None]:
        settings = self.settings
        if shares is not None:
            low, high = shares
            settings = msgspec.structs.replace(settings, min_area_share=low, max_area_share=high)
        target = measure(photograph, thing)
        if thing.mask is None and thing.box_xywh is None:
            return target, Dropped(reason="no box")
        return target, trouble_with(target, settings, masked=False)

    # ── erasure ────────────────────────────────────────────────────────────────────────────────

    def _erasures(self, photograph: Photograph) -> Iterator[_Found]:
        related = self._by_table if self._statistics is None else self._by_relation
        seen: set[tuple[str, str]] = set()
        for erased, predicate, kept, facts, why in related(photograph):
            part = f"{erased.id}.{kept.id}"
            by_table = self._statistics is None  # one pair will do: the edit is the same
            pair = (erased.id, "" if by_table and why is None else kept.id)
            if pair in seen or (erased.id, "") in seen:
                continue
            seen.add(pair)
            if why:  # most relations: nothing more has to be known of them
                yield _Found(erased, part, {}, why)
                continue
            target, trouble = self._fitting(photograph, erased)
            names = self.settings.names.of(erased.category), self.settings.names.of(kept.category)
            people = denied_word(kept.category, self.settings.denied)
            denied = Dropped(reason="denied", details=f"'{people}'") if people else None
            found = {
                **target.facts,
                "erased": spoken(names[0]),
                "kept": spoken(names[1]),
                "kept_id": kept.id,
                "predicate": predicate,
                **facts,
            }
            yield _Found(erased, part, found, denied or trouble, " / ".join(sorted(names)))

    def _by_relation(
        self, photograph: Photograph
    ) -> Iterator[tuple[Thing, str, Thing, dict[str, str], Dropped | None]]:
        """(erased, predicate, kept, facts, what is against it) of each annotated relation."""
        things = {thing.id: thing for thing in photograph.things}
        names = self.settings.names
        for relation in photograph.relations:
            subject, other = things.get(relation.subject_id), things.get(relation.object_id)
            if subject is None or other is None or subject is other:
                continue
            one, two = sorted((names.of(subject.category), names.of(other.category)))
            pair = self._statistics.kept_pairs.get((one, two)) if self._statistics else None
            said = f"{subject.category}-{relation.predicate}-{other.category}"
            if pair is None:
                yield subject, relation.predicate, other, {}, Dropped(reason="pair not kept")
                continue
            expected = pair.b if pair.b_given_a >= pair.a_given_b else pair.a
            erased, kept = (
                (subject, other) if names.of(subject.category) == expected else (other, subject)
            )
            yield erased, relation.predicate, kept, {"relation": said, **_of_pair(pair)}, None

    def _by_table(
        self, photograph: Photograph
    ) -> Iterator[tuple[Thing, str, Thing, dict[str, str], Dropped | None]]:
        """The same of things that the table names and that lie near each other."""
        by_name: dict[str, list[Thing]] = {}
        for thing in photograph.things:
            by_name.setdefault(thing.category, []).append(thing)
        for erased_name, relation, kept_name in PAIRS:
            if erased_name not in by_name or kept_name not in by_name:
                continue
            for erased in by_name[erased_name]:
                kept = max(by_name[kept_name], key=lambda each: _nearness(erased, each))
                why = None if _nearness(erased, kept) > 0 else Dropped(reason="not near each other")
                said = {"relation": f"{erased_name}-{relation}-{kept_name}", "pairs": "table"}
                yield erased, relation, kept, said, why

    # ── attribute ──────────────────────────────────────────────────────────────────────────────

    def _attributes(self, photograph: Photograph) -> Iterator[_Found]:
        for thing in self.targets.shuffled(photograph, photograph.things):
            name = self.settings.names.of(thing.category)
            attribute, facts, why = self._usual(thing, name)
            parts = {variant: f"{thing.id}.{variant}" for variant in self.settings.variants}
            if why:
                yield from (_Found(thing, part, {}, why) for part in parts.values())
                continue
            target, trouble = self._fitting(photograph, thing, self.settings.attribute_area_shares)
            found = {
                **target.facts,
                "object": spoken(name),
                "attribute": attribute,
                "attribute_type": attribute_type(attribute),
                **facts,
            }
            for variant, part in parts.items():
                both = {**found, "variant": variant}
                yield _Found(thing, part, both, trouble, f"{name} / {attribute}")

    def _usual(self, thing: Thing, name: str) -> tuple[str, dict[str, str], Dropped | None]:
        """The most probable of the usual attributes that a thing has; all of them as facts."""
        if self._statistics is None:
            looks = ATTRIBUTES.get(name, ())
            if not looks:
                return "", {}, Dropped(reason="not in the table")
            return looks[0], {"usual": "; ".join(looks), "pairs": "table"}, None
        usual = self._statistics.kept_attributes.get(name, [])
        if not usual:
            return "", {}, Dropped(reason="no usual attribute")
        own = next((each for each in usual if each.attribute in thing.attributes), None)
        if own is None:
            return "", {}, Dropped(reason="without its usual attribute")
        facts = {"usual": "; ".join(each.attribute for each in usual)}
        facts |= {"C": str(own.count), "P": f"{own.probability:.4f}"}
        return own.attribute, facts, None

    # ── tracing ────────────────────────────────────────────────────────────────────────────────

    def _tracings(self, photograph: Photograph) -> Iterator[_Found]:
        settings, names = self.settings, self.settings.names
        named = names.things(photograph)
        counted = Counter(name for _, name in named)
        few = None
        if len(named) <= settings.more_than_objects:
            few = Dropped(reason="too few things", details=str(len(named)))
        known = {thing.id for thing, _ in named}
        for thing in self.targets.shuffled(photograph, photograph.things):
            if thing.id not in known:
                continue
            if few:
                yield _Found(thing, thing.id, {}, few)
                continue
            name = names.of(thing.category)
            limits = settings.tracing_min_area_share, 1.0
            target, trouble = self._fitting(photograph, thing, limits)
            large = _box_share(photograph, thing) >= settings.tracing_area_share
            facts = {
                **target.facts,
                "object": spoken(name),
                "objects": str(len(named)),
                "same_instance_count": str(counted[name]),
            }
            why = Dropped(reason="too large") if large else trouble
            yield _Found(thing, thing.id, facts, why)

    def _assigned(self, photograph: Photograph, found: _Found) -> dict[str, str]:
        """The operation that is assigned, and in which order the others take its place."""
        name = candidate_id(photograph, found.part, "tracing")
        order = sorted(
            OPERATIONS, key=lambda each: draw(f"{name} {each}", self.settings.seed, "op")
        )
        if self.settings.assignment == "in turn":
            order.remove(OPERATIONS[self._turn % 4])
            order.insert(0, OPERATIONS[self._turn % 4])
            self._turn += 1
        return {**found.facts, "operation": order[0], "fallbacks": ", ".join(order[1:])}

    # ── counting ───────────────────────────────────────────────────────────────────────────────

    def _countings(self, photograph: Photograph) -> Iterator[_Found]:
        settings = self.settings
        for name, number in (photograph.counts or _counts_of_things(photograph)).items():
            why = None
            if denied_word(name, settings.denied):
                why = Dropped(reason="denied", details=name)
            elif number < settings.min_things:
                why = Dropped(reason="too few to count", details=str(number))
            elif settings.max_things is not None and number > settings.max_things:
                why = Dropped(reason="too many to count", details=str(number))
            first = next((each for each in photograph.things if each.category == name), None)
            target = first or Thing(id="counted", category=name)
            facts = {"counted": spoken(name), "count": str(number)}
            yield _Found(target, target.id, facts, why)


def _of_pair(pair: PairCount) -> dict[str, str]:
    return {
        "C": str(pair.count),
        f"P({pair.b}|{pair.a})": f"{pair.b_given_a:.4f}",
        f"P({pair.a}|{pair.b})": f"{pair.a_given_b:.4f}",
    }


def _counts_of_things(photograph: Photograph) -> dict[str, int]:
    """How many there are of each category of which every instance is annotated."""
    open_ = {thing.category for thing in photograph.things if thing.crowd or thing.masked_by}
    if not (photograph.exhaustive or photograph.partial):
        return {}
    counted = Counter(thing.category for thing in photograph.things)
    return {
        name: number
        for name, number in counted.items()
        if name not in open_ and name not in photograph.partial
    }


def _box(thing: Thing) -> tuple[float, float, float, float] | None:
    from groundfault.io.masks import RLEMask, mask_box

    if thing.box_xywh is not None or thing.mask is None:
        return thing.box_xywh
    return mask_box(RLEMask.from_dict({**thing.mask}))


def _box_share(photograph: Photograph, thing: Thing) -> float:
    box = _box(thing)
    return box[2] * box[3] / (photograph.height_px * photograph.width_px) if box else 0.0


def _nearness(one: Thing, other: Thing) -> float:
    """How far two boxes overlap once both are widened, in square pixels; 0 if they do not."""
    first, second = _box(one), _box(other)
    if first is None or second is None:
        return 0.0
    (x, y, w, h), (u, v, s, t) = first, second
    wide, high = NEAR * (w + s) / 2, NEAR * (h + t) / 2
    across = min(x + w, u + s) - max(x, u) + wide
    along = min(y + h, v + t) - max(y, v) + high
    return max(0.0, across) * max(0.0, along)
