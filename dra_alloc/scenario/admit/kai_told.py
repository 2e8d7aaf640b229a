"""
What is said of a job of KAI beyond whether it is let in: what it counts, and who would need to go for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra_alloc.errors import first_few
from dra_alloc.pods.gangs.packing import DomainsFound
from dra_alloc.pods.gangs.trees import fewest
from dra_alloc.pods.workloads.pod_gangs import PodGang
from dra_alloc.queues.kai.amounts import amount_text, total
from dra_alloc.queues.kai.cycle import KaiStanding
from dra_alloc.queues.kai.evicting import Eviction
from dra_alloc.queues.kai.reclaim import Amounts
from dra_alloc.queues.standing import Standing
from dra_alloc.scenario.admit.answers import QueueTold
from dra_alloc.scenario.admit.packed import domain_lines, domain_members


def kai_told(
    standing: KaiStanding, found: Eviction | None, packed: DomainsFound | None, gang: PodGang | None
) -> QueueTold:
    """
    Return the lines and members of a job.

    `found` is who would need to go, where numbers are in the way; `packed` where its pods go together, if they do;
    `gang` which of Grove's it is.
    """
    job = standing.job
    counts = total(job.asked[each] for each in standing.placed - job.placed)
    lines = [*_eviction_lines(found)]
    if standing.standing is Standing.ADMITTED and not standing.has_enough and fewest(job.group) > 1:
        lines.insert(0, f"its gang needs places for {fewest(job.group)} pods at once")
    if standing.has_enough and standing.standing is Standing.ADMITTED:
        lines += [f"no more of its pods: {each}" for each in standing.reasons]
    if packed is not None and standing.standing is Standing.ADMITTED:
        lines += domain_lines(packed, job.group)
    if gang is not None and len(gang.waves) > 1 and standing.standing is not Standing.INADMISSIBLE:
        said = ", then ".join(" and ".join(each) for each in gang.waves)
        lines.append(f"starts in order, all placed at once: {said}")
    if any(counts.values()):
        said = ", ".join(amount_text(name, amount) for name, amount in counts.items() if amount)
        lines.append(f"counts in queue {job.queue}: {said}")
    members = {
        "queue": job.queue or None,
        "priority": job.priority,
        "preemptible": job.preemptible,
        "needs": fewest(job.group),
        "asked": _amounts(total(job.asked.values())),
        "counted": _amounts(counts),
        "evicts": _eviction_members(found),
        "topology": domain_members(packed),
        "after": gang.after or None if gang is not None else None,
        "waves": [list(each) for each in gang.waves] if gang is not None else None,
    }
    return QueueTold(tuple(lines), members)


def _amounts(amounts: Amounts) -> Mapping[str, float]:
    return {name: amount for name, amount in amounts.items() if amount}


def _eviction_lines(found: Eviction | None) -> Iterator[str]:
    if found is None:
        return
    names = first_few(list(dict.fromkeys(name for name, _ in found.victims)))
    if not found.victims:
        yield "would need to evict others, and " + (
            "its queue may not: it would be beyond its share"
            if found.may
            else "there are not enough that may be evicted"
        )
    elif found.within:
        yield f"would need to evict of its own queue, of lower priority: {names}"
    elif found.may == {True}:
        yield f"would need to evict of other queues, which their shares allow: {names}"
    elif found.may == {False}:
        yield f"would need to evict of other queues, which their shares do not allow: {names}"
    else:
        yield f"would need to evict of other queues, which KAI's order leaves to chance: {names}"


def _eviction_members(found: Eviction | None) -> Any:
    if found is None:
        return None
    victims = [{"name": name, "frees": _amounts(amounts)} for name, amounts in found.victims]
    return {"victims": victims, "may": sorted(found.may), "withinQueue": found.within}
