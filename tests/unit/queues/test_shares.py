"""
Formulas of queues that share: KAI's priorities, queues below others and who may look for victims, Volcano's room.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import Quantity
from dra_alloc.pods.gangs.trees import GroupTree
from dra_alloc.queues.kai.fair_share import Claimant, fair_shares
from dra_alloc.queues.standing import Standing
from dra_alloc.queues.systems import queue_system
from dra_alloc.queues.volcano.cycle import VolcanoCycle, VolcanoJob
from dra_alloc.queues.volcano.objects import VolcanoObjects, VolcanoQueue
from tests.unit.queues.test_formulas import HELD, LEAVES, reclaim
from tests.unit.queues.test_queue_rules import AMOUNTS, CLAIMANTS


def due(each: Claimant, total: float) -> float:
    return min(total if each.quota == -1 else each.quota, each.wanted)


@given(AMOUNTS, CLAIMANTS)
def test_nobody_has_more_than_is_due_before_those_of_higher_priority_have_all_they_want(total, queues):
    shares = fair_shares(total, queues)
    over = [each.priority for each in queues if shares[each.name] > due(each, total)]
    above = [each for each in queues if over and each.priority > min(over) and each.weight > 0]
    assert all(shares[each.name] == each.wanted for each in above)


@given(AMOUNTS, CLAIMANTS, CLAIMANTS, st.integers(0, 4))
def test_queues_below_one_divide_what_that_has(total, queues, below, which):
    """As if that were all there is; the others do not notice."""
    if not queues:
        return
    parent = queues[which % len(queues)].name
    children = [replace(each, name=f"below-{each.name}", parent=parent) for each in below]
    shares = fair_shares(total, [*queues, *children])
    alone = fair_shares(total, queues)
    inside = fair_shares(alone[parent], [replace(each, parent="") for each in children])
    assert shares == {**alone, **inside}


@given(LEAVES, st.integers(1, 8))
def test_who_may_look_for_victims_stays_within_its_share(leaves, request):
    _, share, allocated = leaves["a"]
    assert reclaim(leaves, {}, request)["may"] is (allocated + request <= share)


LIMITS = st.none() | HELD
QUEUES = st.lists(st.tuples(LIMITS, LIMITS, st.integers(-1, 3)), min_size=1, max_size=4)


def real(name: str, queues: dict[str, VolcanoQueue], total: int) -> int:
    """What a queue can have: min(capability, [T - sum of guarantees]+ + its own), T being what is above it."""
    queue = queues[name]
    above = real(queue.parent, queues, total) if queue.parent else total
    guarantees = [each.guarantee for each in queues.values() if each.parent == queue.parent]
    kept = sum(each["cpu"].value() for each in guarantees if each)
    room = max(0, above - kept) + (queue.guarantee["cpu"].value() if queue.guarantee else 0)
    return min(room, queue.capability["cpu"].value()) if queue.capability else room


@given(QUEUES, st.integers(0, 12), st.integers(1, 12))
def test_what_a_queue_of_volcano_can_have(drawn, total, asked):
    """A queue in the line that cannot have as much refuses it for ever; queues have no others' jobs."""
    queues: dict[str, VolcanoQueue] = {}
    for number, (capability, guarantee, parent) in enumerate(drawn):
        most, kept = ({} if each is None else {"cpu": Quantity.of(each)} for each in (capability, guarantee))
        name, above = f"q{number}", f"q{parent}" if 0 <= parent < number else ""
        queues[name] = VolcanoQueue(name, above, most, kept)
    leaves = [name for name in queues if not any(each.parent == name for each in queues.values())]
    for leaf in leaves:
        job = VolcanoJob("j", leaf, GroupTree("j", 1, (0,)), {0: {"cpu": asked * 10**9}}, {0: ()})
        cycle = VolcanoCycle(VolcanoObjects(queues), [job], {"cpu": total * 10**9}, queue_system("volcano"))
        (found,) = cycle.run(lambda job, allowed, took: frozenset(job.group.members()))
        line, name = [], leaf
        while name:
            line.append(name)
            name = queues[name].parent
        fits = all(asked <= real(each, queues, total) for each in line)
        assert found.standing is (Standing.ADMITTED if fits else Standing.NEVER)
