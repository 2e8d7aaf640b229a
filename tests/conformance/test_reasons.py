"""
Reasons on random refused questions, replayed: sufficient, necessary, and fixes that fix.
"""

from __future__ import annotations

import itertools

import pytest

from dra_alloc.explain.reasons import reasons
from dra_alloc.testing.drawing.dialect import Dialect
from fuzz.targets.reasons_hold import check_reasons, refused_worlds

CASES = 12


@pytest.mark.parametrize("semantics", ["upstream", "intended"])
def test_reasons_hold(semantics: str) -> None:
    facts = fixes = 0
    for world in itertools.islice(refused_worlds(7, Dialect("1.36", "incubating"), semantics), CASES):
        found = reasons(world)
        assert found.exact
        assert check_reasons(world, found) == []
        facts += len(found.facts)
        fixes += len(found.fixes)
    assert facts >= CASES
    assert fixes >= CASES // 4
