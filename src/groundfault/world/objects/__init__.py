"""Categories by name. Each family is a file: drawings first, then what there is to know."""

from __future__ import annotations

from groundfault.world.objects.aquatic import AQUATIC
from groundfault.world.objects.belongings import BELONGINGS
from groundfault.world.objects.birds import BIRDS
from groundfault.world.objects.carnivores import CARNIVORES
from groundfault.world.objects.carriers import CARRIERS
from groundfault.world.objects.category import Category
from groundfault.world.objects.crawlers import CRAWLERS
from groundfault.world.objects.exhibits import PIECES
from groundfault.world.objects.fruit import FRUIT
from groundfault.world.objects.furniture import FURNITURE
from groundfault.world.objects.grazers import GRAZERS
from groundfault.world.objects.kitchenware import KITCHENWARE
from groundfault.world.objects.outdoors import OUTDOORS
from groundfault.world.objects.vehicles import VEHICLES

__all__ = ["CATEGORIES", "DRAWN", "Category"]

CATEGORIES: dict[str, Category] = {
    category.name: category
    for family in (
        CARNIVORES,
        GRAZERS,
        CARRIERS,
        BIRDS,
        CRAWLERS,
        AQUATIC,
        FRUIT,
        KITCHENWARE,
        FURNITURE,
        BELONGINGS,
        VEHICLES,
        OUTDOORS,
    )
    for category in family
}

DRAWN: dict[str, Category] = CATEGORIES | PIECES
"""All that can be drawn: the categories of the world, and wholes and parts that only exams show."""
