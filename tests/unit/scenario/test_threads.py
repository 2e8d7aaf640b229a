"""
Questions from several threads at once have the answers that one thread gets.

Races are played out step by step where they can be; the last tests are plain
stress, which says more where threads really run at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.manifest import Documents
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.occupancy import Occupancy
from dra_alloc.problem.usage import Usage
from dra_alloc.scenario.cluster import Cluster
from dra_alloc.scenario.outcomes import Allocated
from dra_alloc.scenario.standings import FITS, Asked, Roster, Standings
from dra_alloc.solve.allocator import DEFAULT_BUDGET, not_found
from dra_alloc.solve.outcome import NoFit, Solved, SolveOutcome, Work
from dra_alloc.solve.survey import Survey

DRIVER = "gpu.example.com"


def a_slice(node: str, devices: int) -> ResourceSlice:
    spec = {
        "driver": DRIVER,
        "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{number}"} for number in range(devices)],
    }
    return ResourceSlice.from_wire({"metadata": {"name": f"s-{node}"}, "spec": spec})


def a_claim(name: str, **exactly: Any) -> ResourceClaim:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", **exactly}}
    return ResourceClaim.from_wire(
        {"metadata": {"name": name, "namespace": "n"}, "spec": {"devices": {"requests": [request]}}}
    )


CLASS = DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {}})


class Standing:
    """Standings of nodes that have to be searched; `later` are found out about during the first search."""

    def __init__(self, fits: Sequence[bool], later: Sequence[int]) -> None:
        nodes = [Node.from_wire({"metadata": {"name": str(number)}}) for number in range(len(fits))]
        empty = Inventory.build(())
        survey = Survey(empty, {}, Cluster.of(Documents()).settings.profile(), not_found)
        self.standings = Standings(Roster(nodes), survey, Occupancy.of(Usage(), {}), self._ask)
        self.asked = Asked.of([a_claim("c", allocationMode="All")], survey, DEFAULT_BUDGET)
        self.places: list[int] = []
        self._fits = fits
        self._later = list(later)

    def _ask(self, node: Node, claims: Sequence[ResourceClaim], budget: object) -> SolveOutcome:
        place = int(node.metadata.name or "")
        self.places.append(place)
        meanwhile, self._later = self._later, []
        for each in meanwhile:
            # What another thread does that asks the same question.
            self.standings.code(self.asked, each)
        return Solved((), (), Work()) if self._fits[place] else NoFit(Work())


def test_the_first_node_is_the_first_whoever_found_out_about_it():
    standing = Standing([False, True, True], later=[1])
    assert standing.standings.first(standing.asked) == (1, FITS)


def test_the_first_node_is_the_first_if_all_others_were_found_out_about_meanwhile():
    standing = Standing([False, False, True, True], later=[1, 2, 3])
    assert standing.standings.first(standing.asked) == (2, FITS)


def test_a_question_forgotten_by_another_thread_is_not_missed():
    standing = Standing([True], later=[])

    class Forgetful(dict[Any, Any]):
        def __getitem__(self, key: Any) -> Any:
            raise KeyError(key)  # another thread asked so many questions that this one is gone

    standing.standings.codes(standing.asked)
    standing.standings._codes = Forgetful(standing.standings._codes)
    forked = standing.standings.forked(standing.standings.survey, standing.standings._occupancy, standing._ask)
    assert forked.codes(standing.asked) == bytes([FITS])


class Late(dict[str, Any]):
    """What is known of a cluster; another thread finds out what is held as soon as it was seen not to be known."""

    cluster: Cluster

    def __contains__(self, key: object) -> bool:
        known = super().__contains__(key)
        if key == "occupancy" and not known:
            assert self.cluster.occupancy is not None
        return known


def test_what_another_thread_finds_out_during_a_change_is_not_taken_for_what_holds_afterwards():
    cluster = Cluster.of(Documents(slices=(a_slice("a", 1),), classes=(CLASS,)))
    found = cluster.allocate([a_claim("first")])
    assert isinstance(found, Allocated)
    fresh = Cluster.of(Documents(slices=(a_slice("a", 1),), classes=(CLASS,)))
    assert fresh.survey.untouched
    late = Late(fresh.__dict__)
    late.cluster = fresh
    object.__setattr__(fresh, "__dict__", late)
    assert not fresh.with_claims(found.claims).allocate([a_claim("second")])
