"""
What the comparison of validation has to draw is drawn: limits and what is around them, nulls, gates, changed objects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from fuzz.admission.bases import BASES
from fuzz.admission.changes import LONGEST, MOST
from fuzz.targets.validation import drawn

CASES = 4000
#: How many members these have is said by what stands around them, or they have no limit.
FREE = {"tolerations", "nodeSelectorTerms", "bools", "ints", "strings", "versions"}


@pytest.fixture(scope="module")
def requests() -> list[dict[str, Any]]:
    kinds, releases = tuple(BASES), ("1.34.4", "1.37.2", "1.36.3")
    return [drawn(Random(f"9/{n}"), releases[n // 5 % 3], kinds[n % 5]) for n in range(CASES)]


def _members(value: Any, field: str = "") -> Iterator[tuple[str, Any]]:
    yield field, value
    for name, member in value.items() if isinstance(value, dict) else ():
        yield from _members(member, name)
    for member in value if isinstance(value, list) else ():
        yield from _members(member, field)


def test_lengths_around_every_limit(requests):
    counts = Counter(
        (field, len(value))
        for request in requests
        for field, value in _members(request["object"])
        if isinstance(value, list | dict)
    )
    wanted = {(field, most + more) for field in MOST.keys() - FREE for most in MOST[field] for more in (-1, 0, 1)}
    missing = wanted - counts.keys()
    assert len(missing) < 0.4 * len(wanted), sorted(missing)
    texts = {len(value) for request in requests for _, value in _members(request["object"]) if isinstance(value, str)}
    assert {size + more for size in LONGEST for more in (-1, 0, 1)} <= texts


def test_nulls_unicode_and_unknown_fields(requests):
    values = [each for request in requests for each in _members(request["object"])]
    assert sum(value is None for _, value in values) > CASES // 50
    assert sum(isinstance(value, str) and not value.isascii() for _, value in values) > CASES // 50
    assert sum(field == "unknown" for field, _ in values) > CASES // 100


def test_gates_one_by_one_and_in_pairs(requests):
    sizes = Counter(min(len(request["gates"]), 3) for request in requests)
    assert all(sizes[each] > CASES // 20 for each in range(4))


def test_updates_from_what_is_one_change_away(requests):
    updates = [each for each in requests if "old" in each]
    plain = {repr(base["spec"]) for kind in BASES for base in BASES[kind]}
    assert sum("subresource" in each for each in updates) > CASES // 40
    assert sum(each["old"]["metadata"].get("deletionTimestamp") is not None for each in updates) > CASES // 80
    v1 = [each["old"]["spec"] for each in updates if each["old"]["apiVersion"].endswith("/v1")]
    assert sum(repr(spec) not in plain for spec in v1) > CASES // 200
    assert sum(each["old"]["spec"] == each["object"].get("spec") for each in updates) > CASES // 20
