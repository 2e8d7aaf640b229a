"""
Strategies draw what they promise: valid or nearly so, every feature, and cases that shrink to small ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from dra_alloc.api import DeviceClass, KubeModel, Quantity, ResourceClaim, ResourceSlice, Semver
from dra_alloc.cli.harness.serve import answer
from dra_alloc.manifest import validate_object
from dra_alloc.testing import strategies as dra
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.testing.drawing.features import FEATURES, features
from dra_alloc.testing.drawing.mutation import places

FEW = settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
KINDS: tuple[tuple[str, type[KubeModel]], ...] = (
    ("slices", ResourceSlice),
    ("claims", ResourceClaim),
    ("classes", DeviceClass),
)

#: Too rare for few examples: consumed capacity needs a shareable device with capacity that is held.
RARE = frozenset({"aggregated", "severalGenerations"})


@FEW
@given(dra.requests(channel="experimental", valid=True))
def test_valid_requests_hold_what_the_api_server_admits(request_):
    for member, model in KINDS:
        for each in request_[member]:
            item = model.from_wire({"apiVersion": "resource.k8s.io/v1", "kind": model.__name__, **each})
            assert validate_object(item) == []


@FEW
@given(dra.requests() | dra.requests("1.34", "stable") | dra.requests("1.37", "experimental"))
def test_every_request_has_an_answer(request_):
    assert answer(json.dumps(request_))["verdict"]


@FEW
@given(st.data())
def test_claims_are_drawn_from_their_cluster(data):
    dialect = data.draw(dra.dialects(["1.36", "1.37"], ["experimental"]))
    cluster = data.draw(dra.clusters(dialect))
    classes = data.draw(dra.classes_from(cluster, dialect))
    claims = data.draw(dra.claims_from(cluster, dialect))
    assert isinstance(dialect, Dialect)
    assert cluster.slices
    assert {each["metadata"]["name"] for each in classes} == {"any", "picky", "d1-only"}
    assert 1 <= len(claims) <= 3


@pytest.mark.parametrize(
    ("requests", "wanted"), [(dra.requests("1.37", "experimental"), frozenset(FEATURES) - RARE), (dra.requests(), RARE)]
)
def test_every_feature_is_drawn(requests, wanted):
    seen: set[str] = set()

    def all_seen(request_) -> bool:
        seen.update(features(request_))
        return bool(wanted <= seen)

    assert find(requests, all_seen, settings=settings(FEW, max_examples=2000, phases=[Phase.generate]))


def test_cases_shrink_to_small_ones():
    def is_taken(request_) -> bool:
        return bool(answer(json.dumps(request_))["verdict"] == "allocated")

    found = find(dra.requests(valid=True), is_taken, settings=settings(FEW, max_examples=100))
    (claim,) = found["claims"]
    assert len(claim["spec"]["devices"]["requests"]) == 1
    assert len(found["slices"]) == 1
    assert not found["allocated"]


def test_nearly_is_one_place_away():
    @FEW
    @given(dra.nearly(st.just({"a": [1, 2, {"b": "text"}], "c": None})))
    def one_change(document):
        assert len(list(places(document))) <= 20
        seen.add(repr(document))

    seen: set[str] = set()
    one_change()
    assert len(seen) > 15


@pytest.mark.parametrize(("texts", "parse"), [(dra.quantities(), Quantity.parse), (dra.versions(), Semver.parse)])
def test_texts_are_good_mostly_and_bad_now_and_then(texts, parse):
    seen: Counter[bool] = Counter()

    @settings(FEW, max_examples=150)
    @given(texts)
    def read(text):
        try:
            parse(text)
        except ValueError:
            seen[False] += 1
        else:
            seen[True] += 1

    read()
    assert seen[True] > seen[False] > 0


def test_without_hypothesis_the_message_says_what_to_install():
    program = "import sys; sys.modules['hypothesis'] = None; import dra_alloc.testing.strategies"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'needs Hypothesis: pip install "dra-alloc[testing]"' in done.stderr


def test_the_rest_of_testing_needs_no_hypothesis():
    modules = "dra_alloc.cli.commands.conformance, dra_alloc.testing.cases"
    program = f"import sys; sys.modules['hypothesis'] = None; import {modules}"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
