"""
Random cases bring each pair of features that a release has, and our own answers conform to the vectors.
"""

from __future__ import annotations

import itertools
import json

import pytest

from dra_alloc.cli.harness.serve import answer
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.testing.drawing.features import FEATURES, known_features
from dra_alloc.testing.vectors import vector_questions
from fuzz.coverage import Coverage

CASES = 5000


@pytest.mark.parametrize(("release", "channel"), [("1.37.2", "stable")])
def test_each_pair_of_features_occurs(release, channel):
    found = Coverage(release)
    for request in itertools.islice(random_requests(1, Dialect(release, channel)), CASES):
        found.add(request, {"results": None})
    assert found.missing_pairs() == []


def test_what_a_release_lacks_is_not_missed():
    assert set(FEATURES) - set(known_features("1.37")) == set()
    assert "listAttribute" in set(FEATURES) - set(known_features("1.35"))
    assert "compatibilityGroups" in set(FEATURES) - set(known_features("1.37.0-alpha.2"))


def test_our_selectors_conform_to_the_vectors():
    asked = 0
    for question in vector_questions(None, None):
        if question.request.get("op", "allocate") != "allocate":
            asked += 1
            assert question.judge(answer(json.dumps(question.request)), lambda request: {"bad": "not asked"}) is None
    assert asked > 400
