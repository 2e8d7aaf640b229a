"""
The order in which KAI tries domains.
"""

from __future__ import annotations

from dra_alloc.pods.gangs.topology import TopologyConstraint, domains
from dra_alloc.queues.kai.domain_order import fullest_first, part_of

LEVELS = ("zone", "rack")
LABELS = [{"zone": zone, "rack": rack} for zone, rack in (("a", "r1"), ("a", "r2"), ("b", "r3"), ("b", "r4"))]


def order(*free: float, asked: float = 2) -> list[str]:
    wanted = TopologyConstraint(LEVELS, "rack")
    left = {place: {"gpu": amount} for place, amount in enumerate(free)}
    found = fullest_first(LABELS, wanted, domains(LABELS, LEVELS, "rack"), {"gpu": asked}, left)
    return [each.path[1] for each in found]


def test_the_part_that_is_taken_is_that_of_the_scarcest_resource():
    assert part_of({"cpu": 1, "gpu": 2, "memory": 0}, {"cpu": 4, "gpu": 4}) == 0.5
    assert part_of({"cpu": 1, "gpu": 2}, {"cpu": 4}) == 1000


def test_racks_come_zone_by_zone_the_fuller_first():
    assert order(9, 3, 4, 4) == ["r3", "r4", "r2", "r1"]


def test_racks_with_too_little_come_last():
    assert order(1, 9, 0, 9) == ["r4", "r2", "r3", "r1"]
