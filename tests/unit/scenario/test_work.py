"""
How much is looked at to answer questions to whole clusters, exactly: no clock, so it holds on any machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fleet_cases import FleetCase, autoscaler, shared, whatif
from dra_alloc.api import ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.explain.world import World
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.check import check
from dra_alloc.scenario.refused.explaining import world_of
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.selection import Selection
from tests.paths import EXAMPLES


def _made(case: FleetCase, folder: Path) -> tuple[Cluster, list[list[ResourceClaim]]]:
    path = folder / "dump.json"
    path.write_text(json.dumps(case.dump()), encoding="utf-8")
    pods = [[ResourceClaim.from_wire(claim) for claim in pod] for pod in case.pods]
    return Cluster.of(load([path])), pods


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every question whether a request could have a device."""
    asked: list[str] = []
    selects = Selection.selects

    def counting(self: Selection, ask: object, device: object, claim: str = "") -> bool:
        asked.append(claim)
        return selects(self, ask, device, claim)  # type: ignore[arg-type]  # handed on as it came

    monkeypatch.setattr(Selection, "selects", counting)
    return asked


#: Case, and for it: distinct questions, slices judged, boards, boards searched with other devices busy; then how
#: often a device was judged, and the steps of all searches.
LIMITS = [
    (lambda: whatif(300, 8, 100), (6, 11, 11, 191), 157, 307),
    (lambda: autoscaler(300, 50), (5, 9, 9, 111), 116, 75),
    (lambda: shared(200, 3, 5), (1, 2, 1, 5), 16, 10),
    (lambda: whatif(40, 64, 100), (6, 11, 11, 118), 1328, 519),
]


@pytest.mark.parametrize("limits", LIMITS, ids=["whatif", "autoscaler", "shared", "wide"])
def test_no_more_is_looked_at_than_there_is_to_see(tmp_path, evaluations, limits):
    make, counts, judged, steps = limits
    cluster, pods = _made(make(), tmp_path)
    placements = cluster.place(pods)
    taken = sum(each.work.steps for each in placements.outcomes if isinstance(each, Allocated))
    assert (tuple(cluster.known.survey.counts().values()), len(evaluations), taken) == (counts, judged, steps)


def test_more_nodes_of_the_same_kind_are_not_more_to_judge(tmp_path, evaluations):
    seen = []
    for nodes in (100, 200, 400):
        cluster, pods = _made(whatif(nodes, 8, 50), tmp_path)
        evaluations.clear()
        cluster.place(pods)
        counts = cluster.known.survey.counts()
        seen.append((counts["slices_judged"], counts["boards"], len(evaluations)))
    assert len({each[:2] for each in seen}) == 1
    # Which devices are held where a kind of node is met first decides how many are looked at before there is a board.
    asked = [each[2] for each in seen]
    assert max(asked) < 1.2 * min(asked)


def test_the_same_question_again_searches_nothing(tmp_path, evaluations):
    cluster, pods = _made(whatif(200, 8, 50), tmp_path)
    cluster.place(pods)
    cluster.place(pods)  # what was answered without boards has them from now on
    before = cluster.known.survey.counts()
    evaluations.clear()
    cluster.place(pods)
    assert cluster.known.survey.counts() == before
    assert not evaluations


def test_a_changed_slice_is_all_that_is_looked_at(tmp_path, evaluations):
    case = whatif(200, 8, 50)
    cluster, pods = _made(case, tmp_path)
    for claims in pods:
        cluster.filter(claims)
    before = cluster.known.survey.counts()
    evaluations.clear()
    wire = case.slices[100]
    wire["spec"]["devices"] = wire["spec"]["devices"][:3]
    changed = cluster.with_slices([ResourceSlice.from_wire(wire)])
    for claims in pods:
        changed.filter(claims)
    after = changed.known.survey.counts()
    assert after["slices_judged"] - before["slices_judged"] <= after["questions"]
    assert after["boards"] - before["boards"] <= after["questions"]
    assert after["searches"] - before["searches"] <= after["questions"]
    assert 0 < len(evaluations) <= 3 * after["questions"]


def _wanting(**request: object) -> Documents:
    exactly = {"deviceClassName": "gpu.nvidia.com", **request}
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
    return Documents(claims=(ResourceClaim.from_wire(claim),))


#: What is wanted of two nodes and not to be had.
REFUSED = [
    {"allocationMode": "ExactCount", "count": 9},
    {"allocationMode": "ExactCount", "count": 99},
    {"allocationMode": "All", "selectors": [{"cel": {"expression": "device.driver == 'x'"}}]},
]


@pytest.mark.parametrize("request_", REFUSED, ids=["too few", "error", "all of none"])
def test_a_refusal_is_searched_for_once_and_explained_from_there(
    monkeypatch: pytest.MonkeyPatch, request_: dict[str, object]
) -> None:
    asked: list[World | None] = []
    tried: list[World] = []
    trials: list[World] = []
    allocate, trial = Allocator.allocate, World.tried

    def counting(self: Allocator, *args: Any, **options: Any) -> Any:
        asked.append(trials[-1] if trials else None)
        return allocate(self, *args, **options)

    def trying(self: World, *args: Any) -> Any:
        tried.append(self)
        trials.append(self)
        try:
            return trial(self, *args)
        finally:
            trials.pop()

    monkeypatch.setattr(Allocator, "allocate", counting)
    monkeypatch.setattr(World, "tried", trying)
    found = check(_wanting(**request_), load([EXAMPLES / "cluster"]))
    assert found.cluster is not None
    (placement,) = found.placements
    assert placement.verdict == "unsatisfiable"
    assert asked.count(None) <= len(found.cluster.nodes)
    for refusal in placement.refusals:
        assert refusal.error or (refusal.explanation.requests and refusal.reasons is not None)
    claims = [found.cluster.claims["default/c"]]
    worlds = [world_of(found.cluster, claims, node) for node in found.cluster.nodes]
    # What is tried differs from what was refused in something.
    same = [each for each in tried for world in worlds if _contents(each) == _contents(world)]
    # An error is looked into once more: what is asked then knows the node's pools alone.
    assert len(same) == sum(1 for refusal in placement.refusals if refusal.error)
    assert tried


def _contents(world: World) -> tuple[object, ...]:
    known = dict(world.allocations), dict(world.classes)
    return world.node, world.claims, known, world.slices, world.taint_rules, world.profile
