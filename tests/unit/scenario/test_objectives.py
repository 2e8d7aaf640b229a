"""
The best place of claims, and of gangs, is that of trying every place.
"""

from __future__ import annotations

import itertools
import random
from functools import cache

import pytest

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.errors import InputError
from dra_alloc.scenario.gang.gang import place_gang, place_most, replicas
from dra_alloc.scenario.gang.types import Member, Topology, Verdict
from dra_alloc.solve.best.objectives import Cheapest, FewestNodes, HighestRanked, LeastFragmented, Stable
from dra_alloc.solve.ladder import Budget
from tests.unit.scenario.test_gang import ask, claim, cluster, device, node, of, pods, resource_slice, where
from tests.unit.solve.brute_force import best_of

pytestmark = pytest.mark.usefixtures("solver")


def named(name: str, made):
    return made.model_copy(update={"metadata": made.metadata.model_copy(update={"name": name})})


def device_price(key, _):
    return sum(map(ord, key.device)) % 5


def node_price(each):
    return {"n0": 4, "n1": 2, "n2": 3}[each.metadata.name]


OBJECTIVES = [
    (FewestNodes(), LeastFragmented()),
    (LeastFragmented(), HighestRanked()),
    (HighestRanked(), Cheapest(device_price, node_price)),
    (Cheapest(device_price, node_price), LeastFragmented()),
    (Stable, Cheapest(device_price)),
]


def random_cluster(dice: random.Random) -> Cluster:
    """Nodes with a GPU or two, each whole or in halves."""
    slices = []
    for number in range(dice.choice([2, 3])):
        for gpu in range(dice.choice([1, 2])):
            parts = [
                device("whole", 2, kind="whole"),
                device("half-0", 1, kind="half"),
                device("half-1", 1, kind="half"),
            ]
            dice.shuffle(parts)
            place = {"nodeName": f"n{number}"}
            slices += resource_slice(f"n{number}-{gpu}", parts[: dice.choice([2, 3])], place, counters=2)
    made: Cluster = of(slices, [node(f"n{number}") for number in range(3)])
    return made


def random_claims(dice: random.Random, count: int):
    kinds = [
        claim(kind="half"),
        claim(kind="whole"),
        claim(alternatives=(ask(kind="whole"), ask(kind="half"))),
        claim(alternatives=(ask(kind="half"), ask(kind="whole"))),
    ]
    return [named(f"c{number}", dice.choice(kinds)) for number in range(count)]


def with_previous(objectives, on: Cluster, claims):
    """Let the claims have had what they would get one by one on an empty cluster."""
    outcomes = [on.allocate([each]) for each in claims]
    before = [outcome.claims[0] for outcome in outcomes if isinstance(outcome, Allocated)]
    return [Stable.to(before) if each is Stable else each for each in objectives]


def values_on(on: Cluster, name: str, claims, objectives):
    best = best_of(on.intended.known.allocator.question(on.node(name), claims), objectives)
    return None if best is None else best[0]


@pytest.mark.parametrize("objectives", OBJECTIVES, ids=lambda each: "+".join(one.name for one in each))
def test_the_best_node_is_that_of_brute_force(objectives):
    found = 0
    for seed in range(12):
        dice = random.Random(seed)
        on, claims = random_cluster(dice), random_claims(dice, 2)
        asked = with_previous(objectives, on, claims)
        every = [values_on(on, each.metadata.name or "", claims, asked) for each in on.nodes]
        best = min((values for values in every if values is not None), default=None)
        outcome = on.allocate(claims, objectives=asked)
        assert bool(outcome) is (best is not None)
        if best is not None:
            assert isinstance(outcome, Allocated)
            found += 1
            assert [score.value for score in outcome.scores] == best
            assert all(score.proven for score in outcome.scores)
            assert outcome.node == on.nodes[every.index(best)].metadata.name
    assert found > 5


def best_total(on: Cluster, claims, objectives):
    """The best values of three pods with a claim each, over every way to put them on three nodes; None if none fits."""

    @cache
    def part(place: int, members: tuple[int, ...]):
        return values_on(on, f"n{place}", [claims[member] for member in members], objectives)

    totals = []
    for places in itertools.product(range(3), repeat=3):
        parts = [part(each, tuple(one for one in range(3) if places[one] == each)) for each in sorted(set(places))]
        if None not in parts:
            totals.append([sum(each) for each in zip(*parts, strict=True)])
    return min(totals, default=None)


@pytest.mark.parametrize("objectives", OBJECTIVES, ids=lambda each: "+".join(one.name for one in each))
def test_the_best_gang_is_that_of_brute_force(objectives):
    found = 0
    for seed in range(7):
        dice = random.Random(seed)
        on, claims = random_cluster(dice), random_claims(dice, 3)
        asked = with_previous(objectives, on, claims)
        best = best_total(on, claims, asked)
        joint = place_gang(on, pods(*claims), objectives=asked).joint
        assert (joint.verdict is Verdict.PLACED) is (best is not None)
        if best is not None:
            found += 1
            assert [score.value for score in joint.scores] == best
            assert all(score.proven for score in joint.scores)
    assert found > 3


def test_as_many_as_possible_come_before_the_price():
    prices = {"n0": 9, "n1": 1, "n2": 1}
    dear = Cheapest(node_price=lambda each: prices[each.metadata.name or ""])
    answers = place_most(cluster(4, 1, 1), pods(*[claim()] * 3), [dear])
    assert len(answers.joint.placements) == 3
    assert answers.joint.scores[0].value == 9 + 0
    cheap = place_most(cluster(1, 1, 1), pods(*[claim()] * 2), [dear])
    assert where(cheap.joint) == ["n1", "n2"]


def test_replicas_take_an_objective():
    answers = replicas(cluster(2, 4), (claim(),), 4, [FewestNodes()])
    assert set(where(answers.joint)) == {"n1"}


def test_the_best_rack_is_taken():
    prices = {"n0": 5, "n1": 5, "n2": 1, "n3": 1}
    cheap = Cheapest(node_price=lambda each: prices[each.metadata.name or ""])
    joint = place_gang(cluster(2, 2, 2, 2), pods(claim(2), claim(2)), Topology("rack"), objectives=[cheap]).joint
    assert where(joint) == ["n2", "n3"]
    assert (joint.scores[0].value, joint.scores[0].proven) == (2, True)


def test_without_budget_the_first_answer_is_given_and_the_gap_is_stated():
    on = random_cluster(random.Random(1))
    outcome = on.allocate([claim(kind="half")], objectives=[LeastFragmented()], budget=Budget(solver=0.0))
    assert isinstance(outcome, Allocated)
    (score,) = outcome.scores
    assert not score.proven
    assert score.bound < score.value
    assert score.why


def test_what_fits_nowhere_has_its_reasons():
    outcome = cluster(2, 2).allocate([claim(3)], objectives=[FewestNodes()])
    assert not outcome
    assert [each.node for each in outcome.refusals] == ["n0", "n1"]


def test_a_claim_that_is_allocated_keeps_what_it_has():
    on = cluster(2, 2)
    first = on.allocate([named("had", claim())], node="n1")
    outcome = on.after(first).allocate([first.claims[0], named("new", claim())], objectives=[FewestNodes()])
    assert outcome.node == "n1"
    assert outcome.claims[0] == first.claims[0]


def test_a_price_below_nothing_is_refused():
    with pytest.raises(InputError, match="price of node n0 is -1"):
        cluster(1).allocate([claim()], objectives=[Cheapest(node_price=lambda _: -1)])


def test_too_many_ways_leave_a_gang_undecided():
    claims = [named(f"c{number}", claim()) for number in range(10)]
    members = [Member(each.metadata.name, (each,)) for each in claims]
    on = cluster(*[10] * 3)
    before = [on.allocate([each]).claims[0] for each in claims]
    joint = place_gang(on, members, objectives=[Stable.to(before), LeastFragmented()]).joint
    assert joint.verdict is Verdict.UNDECIDED
    assert "too many ways" in joint.why
