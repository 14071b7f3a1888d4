"""Things whose part people expect: what relational erasure takes away. One file per place.

They are drawn in exams only and are no categories of the ordinary world.
"""

from __future__ import annotations

from groundfault.world.objects.category import Category
from groundfault.world.objects.exhibits.creatures import CREATURES
from groundfault.world.objects.exhibits.exhibit import Exhibit
from groundfault.world.objects.exhibits.outside import OUTSIDE
from groundfault.world.objects.exhibits.rides import RIDES
from groundfault.world.objects.exhibits.rooms import ROOMS
from groundfault.world.objects.exhibits.rounds import ROUNDS
from groundfault.world.objects.exhibits.tableware import TABLEWARE

__all__ = ["EXHIBITS", "PIECES", "Exhibit"]

EXHIBITS: dict[str, Exhibit] = {
    exhibit.id: exhibit for exhibit in (*TABLEWARE, *ROOMS, *OUTSIDE, *RIDES, *CREATURES)
}
PIECES: dict[str, Category] = {
    category.name: category
    for family in (ROUNDS, *(exhibit.categories() for exhibit in EXHIBITS.values()))
    for category in family
}
"""What only exams show, by the names under which it is drawn: wholes, parts, round things."""
