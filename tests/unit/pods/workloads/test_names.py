"""
Names as controllers and the API server make them.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.cli.harness.serve import answer
from dra_alloc.pods.workloads.names import claim_base, cut, drawn, indexed_base, ray_base, unique

LABELS = st.from_regex(r"\A[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")


def test_as_recorded(shared):
    """The rows of the recorded names, asked by the harness."""
    rows = [json.loads(line) for line in (shared / "cases" / "expand.jsonl").read_text().splitlines()]
    assert len(rows) == 17
    for row in rows:
        request = {"op": "rule", "name": row["id"], "rule": row["rule"], "in": row["in"]}
        assert answer(json.dumps(request)) == {"name": row["id"], "out": row["out"]}


@pytest.mark.parametrize(
    ("owner", "claim", "base"),
    [
        ("p", "gpu", "p-gpu-"),
        ("a" * 49, "claims", f"{'a' * 49}-claims-"),
        ("a" * 50, "claims", f"{'a' * 49}-claim"),
        ("a" * 63, "b" * 63, f"{'a' * 28}-{'b' * 28}"),
        ("a" * 55, "b", f"{'a' * 54}-"),
    ],
)
def test_claims_of_long_names_keep_a_share_of_both(owner, claim, base):
    assert claim_base(owner, claim) == base


@given(LABELS, LABELS)
def test_the_base_of_a_claim_leaves_room_for_what_is_drawn(owner, claim):
    base = claim_base(owner, claim)
    assert len(base) <= 57
    assert cut(base) == base
    whole = f"{owner}-{claim}-"
    assert base == whole if len(whole) <= 57 else not base.startswith(whole)


@given(LABELS, st.integers(0, 2**31 - 1))
def test_an_index_is_never_cut(job, index):
    base = indexed_base(job, index)
    assert len(base) <= 58
    assert base.endswith(f"-{index}-")


@given(LABELS, st.from_regex(r"\A[a-zA-Z0-9-]{1,63}\Z"))
def test_ray_cuts_what_stands_before_the_type(cluster, group):
    assert ray_base(cluster) == f"{cluster[:50]}-head-"
    assert ray_base(cluster, group) == f"{f'{cluster}-{group}'[:50]}-worker-".lower()


@given(LABELS, st.sets(st.integers(0, 20)))
def test_names_that_are_taken_are_not_drawn(base, numbers):
    taken = {drawn(base, each) for each in numbers}
    name = next(unique(base, taken))
    assert name not in taken
    assert name == drawn(base, min(set(range(22)) - numbers))


def test_what_is_drawn_is_nothing_that_a_cluster_draws():
    assert not set(drawn("", 0)) & set("bcdfghjklmnpqrstvwxz2456789")


@pytest.mark.parametrize(
    ("request_", "bad"),
    [
        ({"rule": "expand/none", "in": {}}, "unknown rule"),
        ({"rule": "expand/ray-pod"}, "in is missing"),
        ({"rule": "expand/ray-pod", "in": {"cluster": "c"}}, "in.group is missing"),
        ({"rule": "expand/ray-pod", "in": {"cluster": "c", "group": 1}}, "in.group has to be a string"),
        ({"rule": "expand/ray-pod", "in": {"cluster": "c", "group": "g", "x": 1}}, "unknown in keys: x"),
    ],
)
def test_rules_that_cannot_be_asked(request_, bad):
    assert bad in answer(json.dumps({"op": "rule", **request_}))["bad"]
