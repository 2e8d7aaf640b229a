"""
Every engine gives the answer of the plain search on random questions and recorded oddities.
"""

from __future__ import annotations

import itertools
import json

import pytest

from dra_alloc.testing.cases import random_requests
from fuzz.engines import DIALECTS, KINDS, NOT_MODELLED, Difference, by_solver, compare_engines

#: Of each dialect; `fuzz.engines` asks 2,000 in continuous integration.
CASES = 15


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: f"{dialect.release}-{dialect.channel}")
@pytest.mark.parametrize("semantics", ["upstream", "intended"])
def test_bounds_and_pruned_search_agree_with_the_plain_search(dialect, semantics):
    compared = [
        compare_engines({**request, "semantics": semantics})
        for request in itertools.islice(random_requests(20, dialect), CASES)
    ]
    # The experimental allocator of 1.34 looks at the capacity of other devices, which is not modelled.
    odd = dialect.release == "1.34" and semantics == "upstream"
    assert odd or sum(each.startswith("exact") for each in compared) > CASES // 10


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: f"{dialect.release}-{dialect.channel}")
@pytest.mark.parametrize("semantics", ["upstream", "intended"])
def test_cp_sat_agrees_with_the_plain_search(dialect, semantics, solver):
    for request in itertools.islice(random_requests(21, dialect), CASES):
        compare_engines({**request, "semantics": semantics}, by_solver)


def test_an_error_comes_before_what_cannot_be(solver):
    """The second claim's constraint leaves nothing for its alike requests, but the search ends at the first claim."""
    wanted = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    alike = [{"name": name, "exactly": wanted} for name in ("r1", "r2")]
    picky = {"name": "r1", "exactly": {**wanted, "deviceClassName": "picky"}}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    request = {
        "release": "1.36",
        "channel": "incubating",
        "node": {"metadata": {"name": "n"}},
        "claims": [
            {"spec": {"devices": {"requests": [picky]}}},
            {"spec": {"devices": {"requests": alike, "constraints": [{"matchAttribute": "d/b"}]}}},
        ],
        "classes": [
            {"metadata": {"name": "any"}},
            {
                "metadata": {"name": "picky"},
                "spec": {"selectors": [{"cel": {"expression": 'device.attributes["d"].missing == "u"'}}]},
            },
        ],
        "slices": [{"spec": {"driver": "d", "pool": pool, "nodeName": "n", "devices": [{"name": "x"}]}}],
    }
    for semantics in ("upstream", "intended"):
        assert compare_engines({**request, "semantics": semantics}, by_solver) == "exact with errors, stopped"


ONE = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}


def test_selectors_are_asked_before_held_shares_count(solver):
    """A whole device of which shares are held is refused only when it is taken: its selector's error comes first."""
    picky = {**ONE, "selectors": [{"cel": {"expression": 'device.attributes["d"].a == "u"'}}]}
    request = _question([{"name": "x", "attributes": {"a": {"version": "1.0.0"}}}], [{"name": "r", "exactly": picky}])
    request |= {"semantics": "intended", "aggregated": [{"id": ["d", "p", "x"], "cap": {"mem": "1"}}]}
    assert compare_engines(request, by_solver) == "exact with errors, stopped"


def test_a_derived_list_of_nothing_differs_from_all(solver):
    """Upstream lets it follow any pick; no table says so, so that it is left to the plain search."""
    nothing = [{"name": "d/a", "expression": "[]"}]
    wanted = [
        {"name": "r1", "exactly": ONE},
        {"name": "r2", "exactly": {**ONE, "derivedAttributes": nothing}},
    ]
    devices = [{"name": "x", "attributes": {"a": {"string": "u"}}}, {"name": "y"}]
    request = _question(devices, wanted, constraints=[{"distinctAttribute": "d/a"}])
    assert compare_engines(request, by_solver) == f"{NOT_MODELLED}: a list of nothing under distinctAttribute, found"


def _question(devices, requests, *, constraints=()):
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    features = ("ConsumableCapacity", "DerivedAttributes", "ListTypeAttributes", "PrioritizedList")
    return {
        "release": "1.38",
        "channel": "experimental",
        "features": dict.fromkeys(features, True),
        "node": {"metadata": {"name": "n"}},
        "claims": [{"spec": {"devices": {"requests": requests, "constraints": list(constraints)}}}],
        "classes": [{"metadata": {"name": "any"}}],
        "slices": [{"spec": {"driver": "d", "pool": pool, "nodeName": "n", "devices": devices}}],
    }


def test_recorded_oddities_of_upstream_are_not_modelled_away(shared):
    """Leaks, All requests that end the search, lost values: each is either seen as such or answered alike."""
    seen = set()
    for line in (shared / "cases" / "reported.jsonl").read_text(encoding="utf-8").splitlines():
        request = {key: value for key, value in json.loads(line)["input"].items() if key != "name"}
        seen.add(compare_engines({**request, "release": "1.36.2"}))
        seen.add(compare_engines({**request, "release": "1.36.2", "semantics": "intended"}))
    assert {"looser, none", "exact, found", "exact with errors, stopped"} <= seen


def test_what_no_table_can_say_is_known():
    """Each reason is one of those that the specification names; without defects hardly any is left."""
    known = {f"{NOT_MODELLED}: {kind}" for kind in KINDS.values()}
    for semantics in ("upstream", "intended"):
        compared = [
            compare_engines({**next(stream), "semantics": semantics})
            for stream in (random_requests(23, dialect) for dialect in DIALECTS)
            for _ in range(CASES // 2)
        ]
        left = [each.rpartition(", ")[0] for each in compared if each.startswith(NOT_MODELLED)]
        assert set(left) <= known
        assert semantics == "upstream" or len(left) < len(compared) / 20


def test_a_wrong_engine_is_noticed():
    dialect = DIALECTS[1]
    requests = itertools.islice(random_requests(22, dialect), CASES)
    with pytest.raises(Difference, match="solver refutes"):
        [compare_engines(request, lambda table, rules: None) for request in requests]
