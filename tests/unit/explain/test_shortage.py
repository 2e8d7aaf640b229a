"""
Requests that lack devices, told without a search, for random worlds and what is left of them without some facts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from dra_alloc.explain.facts import facts_of
from dra_alloc.explain.trials import without
from dra_alloc.explain.world import World
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.outcome import NoFit, OutOfBudget, Solved
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect
from fuzz.targets.reasons_hold import world_of

_BUDGET = Budget(steps=4_000, pruned=3_000, solver=0.2)


def varied(asked: dict[str, object]) -> Iterator[World]:
    world = world_of(asked)
    facts = facts_of(world)[:6]
    for gone in itertools.chain([()], itertools.combinations(facts, 1), itertools.combinations(facts, 2)):
        yield without(world, gone)


@pytest.mark.parametrize(
    ("release", "channel", "semantics"),
    [
        ("1.34", "incubating", "upstream"),
        ("1.35", "stable", "upstream"),
        ("1.36", "experimental", "upstream"),
        ("1.37", "incubating", "upstream"),
        ("1.37", "experimental", "intended"),
    ],
)
def test_who_lacks_devices_is_refused(release: str, channel: str, semantics: str) -> None:
    told: Counter[str] = Counter()
    for asked in itertools.islice(random_requests(5, Dialect(release, channel)), 60):
        for world in varied({**asked, "semantics": semantics}):
            shortages = world.surveys.shortages(world)
            refuses, lacks = shortages.refuses(world.claims), shortages.lacks(world.claims)
            assert lacks or not refuses
            if lacks:
                outcome = world.allocator().allocate(world.node, world.claims, budget=_BUDGET)
                assert not isinstance(outcome, Solved)
                assert not refuses or isinstance(outcome, (NoFit, OutOfBudget))
                told["refused" if refuses else "lacking"] += 1
    assert told["refused"] > 50
    assert told["lacking"] > told["refused"] / 50
