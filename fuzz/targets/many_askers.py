"""
Sixteen threads, or processes, that ask, change and follow one cluster at once get what one gets who does it alone.

    python -m fuzz.targets.many_askers [--cases 500] [--seed 1]

Each asker has the same questions and changes in an order of its own. Threads share the cluster and all that is found
out about it; every eighth case goes to processes, which are forked, spawned and served by a fork server, and get it
pickled.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import multiprocessing.pool
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Final

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.edits.events import Event
from dra_alloc.manifest import Documents
from dra_alloc.solve.ladder import Budget
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect
from fuzz.target import Broken, Json, Target, command
from fuzz.targets.add_and_remove import SETTINGS, renamed, told

_ASKERS: Final = 16
#: What each question may cost, so that none holds up sixteen askers for minutes.
_BUDGET: Final = Budget(steps=5_000, pruned=2_000, solver=0.1)
_QUESTIONS: Final = 3
#: Cases for each that goes to processes.
_FOR_PROCESSES: Final = 8
_WAYS: Final = ("fork", "spawn", "forkserver")
#: The processes of each way that was needed so far.
_POOLS: Final[dict[str, multiprocessing.pool.Pool]] = {}

#: The name of what is done, and what with.
_Deed = tuple[str, Any]


def _cases(seed: int) -> Iterator[Json]:
    """Return random clusters with the claims of others to ask them for, and slices that come and go."""
    for number, settings in enumerate(itertools.cycle(SETTINGS)):
        drawn = random_requests(seed, Dialect(settings.release, settings.channel), start=number * (_QUESTIONS + 1))
        there, *others = itertools.islice(drawn, _QUESTIONS + 1)
        how = (
            _WAYS[number // _FOR_PROCESSES % len(_WAYS)] if number % _FOR_PROCESSES == _FOR_PROCESSES - 1 else "threads"
        )
        yield {
            "name": there["name"],
            "settings": SETTINGS.index(settings),
            "there": there,
            "others": others,
            "how": how,
        }


def _check(case: Json) -> str:
    cluster, deeds = _cluster(case), _deeds(case)
    expected = [_done(_cluster(case), deed) for deed in deeds]
    orders = [Random(f"{case['name']}/{asker}").sample(range(len(deeds)), len(deeds)) for asker in range(_ASKERS)]
    works = [functools.partial(_in_order, cluster, deeds, order) for order in orders]
    how = case["how"]
    found = _at_once(works) if how == "threads" else [each.get(120) for each in map(_processes(how).apply_async, works)]
    for order, answers in zip(orders, found, strict=True):
        for number, answer in zip(order, answers, strict=True):
            if answer != expected[number]:
                raise Broken(f"{how}: {deeds[number][0]} is {answer!r}, alone {expected[number]!r}")
    return str(how)


def _cluster(case: Json) -> Cluster:
    there = case["there"]
    documents = Documents(
        slices=tuple(map(ResourceSlice.from_wire, there["slices"])),
        classes=tuple(map(DeviceClass.from_wire, there["classes"])),
        nodes=(Node.from_wire(there["node"]),),
    )
    return Cluster.of(documents, SETTINGS[case["settings"]])


def _deeds(case: Json) -> list[_Deed]:
    """Return what each asker does: ask in several ways, change the cluster and ask, follow it and ask."""
    deeds: list[_Deed] = []
    for each in (case["there"], *case["others"]):
        claims = [ResourceClaim.from_wire(claim) for claim in each["claims"]]
        slices = [renamed(ResourceSlice.from_wire(one)) for one in each["slices"]]
        deeds += [("allocate", claims), ("filter", claims), ("place", claims), ("change", (slices, claims))]
        deeds.append(("follow", ([ResourceSlice.from_wire(one) for one in case["there"]["slices"]], claims)))
    return deeds


def _done(cluster: Cluster, deed: _Deed) -> object:
    """Return what comes of it, as it can be compared."""
    name, about = deed
    ask = functools.partial(Cluster.allocate, budget=_BUDGET)
    match name:
        case "allocate":
            return told(ask(cluster, about))
        case "filter":
            fits = cluster.filter(about, budget=_BUDGET)
            return fits.nodes, fits.undecided, fits.aborted is not None
        case "place":
            return [told(each) for each in cluster.place([about], budget=_BUDGET).outcomes]
        case "change":
            slices, claims = about
            changed = cluster.with_slices(slices)
            after = changed.after(ask(changed, claims))
            return (
                told(ask(changed, claims)),
                changed.state_hash,
                told(ask(after.without_slices(each.metadata.name or "" for each in slices), claims)),
            )
        case _:
            slices, claims = about
            gone = cluster.apply(Event("DELETED", each) for each in slices[:1])
            back = gone.apply(Event("ADDED", each) for each in slices)
            return told(ask(gone, claims)), told(ask(back, claims))


def _in_order(cluster: Cluster, deeds: Sequence[_Deed], order: Sequence[int]) -> list[object]:
    return [_done(cluster, deeds[number]) for number in order]


def _at_once(works: Sequence[Callable[[], list[object]]]) -> list[list[object]]:
    """Do all works in threads that begin at the same moment and change as often as can be."""
    barrier, interval = threading.Barrier(len(works)), sys.getswitchinterval()

    def begun(work: Callable[[], list[object]]) -> list[object]:
        barrier.wait(60)
        return work()

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(len(works)) as pool:
            return list(pool.map(begun, works))
    finally:
        sys.setswitchinterval(interval)


def _processes(way: str) -> multiprocessing.pool.Pool:
    pool = _POOLS.get(way)
    if pool is None:
        pool = _POOLS[way] = multiprocessing.get_context(way).Pool(4)
    return pool


TARGET = Target("many_askers", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    try:
        return command(TARGET, arguments)
    finally:
        while _POOLS:
            _, pool = _POOLS.popitem()
            pool.terminate()


if __name__ == "__main__":
    sys.exit(main())
