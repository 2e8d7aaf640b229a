"""
Rules of queue systems as recorded, as the specification shows them, and what has to hold of any.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import Device
from dra_alloc.cel import Reading, prepare_device
from dra_alloc.cli.harness.serve import answer
from dra_alloc.errors import InputError
from dra_alloc.queues.kai.fair_share import Claimant, fair_shares
from dra_alloc.queues.kai.reclaim import Holder, KaiHolding, Reclaimer, reclaims
from dra_alloc.queues.kueue.charge import DeviceCharge
from dra_alloc.queues.kueue.devices import Seen
from dra_alloc.queues.kueue.mappings import mappings_of
from dra_alloc.queues.kueue.matching import matched
from dra_alloc.queues.kueue.tree import QuotaFit, QuotaTree
from dra_alloc.queues.ledger import Grant, QueueAccount, QueueLedger
from dra_alloc.work import BudgetExhausted, Purse
from spec.case import RuleCase, cases

KEY = ("f", "gpus")
COHORTS = [("root", ""), ("c0", "root"), ("c1", "root")]
COUNTER = {"counter": {"name": "memory", "driver": "d"}}
CAPACITY = {"capacity": {"name": "memory", "driver": "d"}}


def asked(rule, given):
    return answer(json.dumps({"op": "rule", "name": "n", "rule": rule, "in": given}))


@pytest.mark.parametrize(("file", "rows"), [("kueue", 51), ("kai", 41), ("volcano", 13)])
def test_as_recorded(shared, file, rows):
    """The answers of upstream's own code, row by row."""
    read = [json.loads(line) for line in (shared / "cases" / f"{file}.jsonl").read_text().splitlines()]
    assert len(read) == rows
    for row in read:
        assert asked(row["rule"], row["in"]) == {"name": "n", "out": row["out"]}, row["id"]


@pytest.mark.parametrize("case", [pytest.param(case, id=path.stem) for path, case in cases("rule")])
def test_as_specified(case):
    assert isinstance(case, RuleCase)
    assert asked(case.given.rule, case.given.in_) == {"name": "n", "out": case.expected}


@pytest.mark.parametrize(
    ("rule", "given", "words"),
    [
        ("kueue/quota-tree", {"Nodes": []}, "in.Requests is missing"),
        ("kueue/quota-tree", {"Nodes": [{"Name": "a", "Usage": {"gpus": 1.5}}], "Requests": []}, "integers"),
        ("kueue/dra-charge", {"deviceClassMappings": [{"name": "g"}]}, "in.deviceClasses is missing"),
        ("kai/fair-share", {"total": "much", "queues": []}, "in.total has to be a number"),
        ("kai/reclaim", {"queues": [], "reclaimer": {}, "victims": {}}, "in.reclaimer.queue is missing"),
        ("volcano/dra-enqueue", {"capability": {}}, "in.claims is missing"),
    ],
)
def test_a_question_of_another_shape_is_refused(rule, given, words):
    assert words in asked(rule, given)["bad"]


@pytest.mark.parametrize(
    ("queues", "words"),
    [
        ([QueueAccount("a"), QueueAccount("a")], "twice"),
        ([QueueAccount("a", "b")], "which is not there"),
        ([QueueAccount("a", "b"), QueueAccount("b", "a")], "circle"),
    ],
)
def test_queues_are_a_forest(queues, words):
    with pytest.raises(InputError, match=words):
        QueueLedger(queues)


@pytest.mark.parametrize(
    ("mappings", "words"),
    [
        ("g", "has to be a list"),
        ([3], "has to be an object"),
        ([{"deviceClassNames": ["a"]}], "name: is missing"),
        ([{"name": "g", "deviceClassNames": []}], "1 to 8"),
        ([{"name": "g", "deviceClassNames": ["a", "b_"]}], "deviceClassNames[1]: Invalid value"),
        ([{"name": "g", "deviceClassNames": ["d." * 130 + "a/b"]}], "deviceClassNames[0]: has to be at most 253"),
        ([{"name": "g", "deviceClassNames": ["a"], "sources": [{}]}], "one of counter and capacity"),
        ([{"name": "g", "deviceClassNames": ["a"]}, {"name": "h", "deviceClassNames": ["a"]}], "two mappings"),
        ([{"name": "g", "deviceClassNames": ["a"], "sources": [COUNTER, CAPACITY]}], "all counters or all capacities"),
    ],
)
def test_mappings_that_kueue_does_not_start_with(mappings, words):
    _, problems = mappings_of({"resources": {"deviceClassMappings": mappings}})
    assert words in "; ".join(map(str, problems))


def test_borrowing_is_as_far_as_the_subtree_is_high():
    """A queue right below the root, beside a cohort with a queue: the root is two high for both."""
    nodes = [("root", "", 0), ("deep", "root", 0), ("lower", "deep", 2), ("lender", "deep", 2), ("upper", "root", 1)]
    tree = QuotaTree([QueueAccount(name, parent, {KEY: Grant(quota)}) for name, parent, quota in nodes])
    assert [tree.borrows("upper", KEY, amount) for amount in (1, 2)] == [0, 2]
    assert [tree.borrows("lower", KEY, amount) for amount in (2, 3, 5)] == [0, 1, 2]


@pytest.mark.parametrize("victims", [{"a": [{"gpu": 1}]}, {"top": [{"gpu": 1}]}])
def test_victims_in_the_line_of_the_reclaimer_are_refused(victims):
    two = {"gpu": KaiHolding(2, -1, 2, 2)}
    queues = {each.name: each for each in (Holder("top", two), Holder("a", two, "top"))}
    with pytest.raises(InputError, match="in one line with its own"):
        reclaims(queues, Reclaimer("a", {"gpu": 1}), victims)


QUOTAS = st.builds(Grant, st.integers(0, 8), st.none() | st.integers(0, 4), st.none() | st.integers(0, 8))
#: A root cohort, two below it, and four queues below any of them.
TREES = st.builds(
    lambda grants, parents: [
        QueueAccount(name, parent, {KEY: grant})
        for (name, parent), grant in zip([*COHORTS, *parents], grants, strict=True)
    ],
    st.lists(QUOTAS, min_size=7, max_size=7),
    st.tuples(*[st.tuples(st.just(f"q{number}"), st.sampled_from(["root", "c0", "c1"])) for number in range(4)]),
)
CHARGES = st.lists(st.tuples(st.sampled_from([f"q{number}" for number in range(4)]), st.integers(1, 6)), max_size=12)


@given(TREES, CHARGES)
def test_what_is_given_back_leaves_no_trace(nodes, charges):
    tree = QuotaTree(nodes)
    for name, amount in charges:
        tree.ledger.charge(name, KEY, amount)
    for name in {name for name, _ in charges}:
        tree.ledger.charge(name, KEY, -sum(amount for other, amount in charges if other == name))
    assert not any(tree.ledger.used(name, KEY) for name in tree.ledger.accounts)


@given(TREES, CHARGES)
def test_nothing_available_is_out_of_reach(nodes, charges):
    tree = QuotaTree(nodes)
    for name, amount in charges:
        tree.ledger.charge(name, KEY, amount)
    assert all(tree.available(name, KEY) <= tree.potential(name, KEY) for name in tree.ledger.accounts)


@given(TREES, CHARGES)
def test_what_is_admitted_keeps_every_node_within_its_limits(nodes, charges):
    tree = QuotaTree(nodes)
    for name, amount in charges:
        if tree.fit(name, KEY, amount) is QuotaFit.FIT:
            tree.ledger.charge(name, KEY, amount)
    for name, account in tree.ledger.accounts.items():
        most = account.grants[KEY].most
        if most is not None and account.parent:
            assert tree.ledger.used(name, KEY) <= tree.subtree(name)[KEY] + most
    assert tree.ledger.used("root", KEY) <= tree.subtree("root")[KEY]


@given(st.lists(st.tuples(st.integers(1, 3), st.sets(st.integers(0, 5))), max_size=4))
def test_matching_finds_devices_if_there_is_a_choice(wanted):
    devices = [
        Seen("d", Device(name=str(number)), prepare_device("d", {}, {}, None, Reading(lists=False)))
        for number in range(6)
    ]
    asked_for = [(count, [devices[each] for each in sorted(fits)]) for count, fits in wanted]
    each_its_own = all(
        len(set().union(*(fits for _, fits in some))) >= sum(count for count, _ in some)
        for size in range(1, len(wanted) + 1)
        for some in combinations(wanted, size)
    )
    assert (matched(asked_for, greedy=False) is None) == each_its_own
    if matched(asked_for, greedy=True) is None:
        assert each_its_own


def test_matching_pays_for_what_it_looks_at():
    """Requests that all want the same devices: work is bounded by a purse, and grows no faster than it has to."""
    devices = [
        Seen("d", Device(name=str(number)), prepare_device("d", {}, {}, None, Reading(lists=False)))
        for number in range(60)
    ]
    with Purse(1_000_000) as purse:
        assert matched([(2, devices)] * 31, greedy=False) == (30, 0)
    assert 0 < purse.all - purse.left < 20_000
    with Purse(100), pytest.raises(BudgetExhausted):
        matched([(2, devices)] * 31, greedy=False)


def test_a_charge_that_is_refused_twice_is_raised_anew():
    charge = DeviceCharge(refusal=("code", "detail", True))
    first, second = charge.refused, charge.refused
    assert first is not None
    assert first is not second
    assert (first.code, first.detail, first.retryable) == charge.refusal


AMOUNTS = st.integers(0, 12).map(float)
CLAIMANTS = st.lists(
    st.builds(
        Claimant,
        st.just(""),
        AMOUNTS | st.just(-1.0),
        AMOUNTS | st.just(-1.0),
        st.sampled_from([0.0, 0.5, 1.0, 3.0]),
        AMOUNTS,
        priority=st.sampled_from([50, 100]),
    ),
    max_size=5,
).map(lambda queues: [replace(each, name=f"q{number}") for number, each in enumerate(queues)])


@given(AMOUNTS, CLAIMANTS)
def test_shares_are_between_what_is_due_and_what_is_wanted(total, queues):
    shares = fair_shares(total, queues)
    due = {each.name: min(total if each.quota == -1 else each.quota, each.wanted) for each in queues}
    assert all(due[each.name] <= shares[each.name] <= each.wanted for each in queues)
    assert sum(shares.values()) <= max(total, sum(due.values())) + 1e-9
