"""
Reasons where a variation ends with an error: that is no refusal for want of devices.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.facts import facts_of
from dra_alloc.explain.reasons import Reasons, reasons
from dra_alloc.explain.world import World
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare
from dra_alloc.scenario.refused.explaining import world_of
from fuzz.targets.reasons_hold import check_reasons

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


@cache
def _shipped() -> tuple[Documents, Documents]:
    return load([str(EXAMPLES / "workloads" / "mixed.yaml")]), load([str(EXAMPLES / "cluster")])


def two_halves_and_more(release: str, node: str) -> World:
    """Return the shipped example: without the class its selector fails on devices that have no profile."""
    prepared = prepare(Prepared(*_shipped(), Settings(release), "default"))
    subject = next(each for each in prepared.subjects if each.name.endswith("two-halves-and-more"))
    claims = [prepared.cluster.claims[each] if isinstance(each, str) else each for each in subject.claims]
    return world_of(prepared.cluster, claims, prepared.cluster.node(node))


@pytest.mark.parametrize(("release", "node"), [("1.36", "h100-a"), ("1.36.2", "h100-b")])
def test_what_alone_would_help_is_among_the_facts_of_the_shipped_example(release: str, node: str) -> None:
    world = two_halves_and_more(release, node)
    found = reasons(world)
    texts = " ".join(text for _, text in found.facts)
    assert found.exact
    assert "wants matchAttribute" in texts
    assert 'has the request "rest"' in texts
    assert any("dropping matchAttribute" in str(fix) for fix in found.fixes)
    assert check_reasons(world, found) == []


def test_facts_without_which_only_an_error_is_left_are_found_insufficient() -> None:
    world = two_halves_and_more("1.36", "h100-a")
    told = [
        (fact.code, fact.text)
        for fact in facts_of(world)
        if fact.text.startswith('selector 0 of request "halves"') or fact.text.endswith('has the request "halves"')
    ]
    assert "the facts are not sufficient" in check_reasons(world, Reasons(tuple(told)))
