"""
How much is looked at to answer questions to whole clusters, exactly: no clock, so it holds on any machine.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.fleet_cases import FleetCase, autoscaler, shared, whatif
from dra_alloc.api import ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.manifest import load
from dra_alloc.solve.selection import Selection


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

    def counting(self: Selection, ask: object, device: object, claim: str) -> bool:
        asked.append(claim)
        return selects(self, ask, device, claim)  # type: ignore[arg-type]  # handed on as it came

    monkeypatch.setattr(Selection, "selects", counting)
    return asked


#: Case, and for it: distinct questions, slices judged, boards, boards searched with other devices busy; then how
#: often a device was judged, and the steps of all searches.
LIMITS = [
    (lambda: whatif(300, 8, 100), (6, 12, 12, 204), 96, 307),
    (lambda: autoscaler(300, 50), (5, 10, 10, 123), 80, 75),
    (lambda: shared(200, 3, 5), (1, 2, 1, 5), 272, 10),
    (lambda: whatif(40, 64, 100), (6, 12, 12, 130), 768, 519),
]


@pytest.mark.parametrize("limits", LIMITS, ids=["whatif", "autoscaler", "shared", "wide"])
def test_no_more_is_looked_at_than_there_is_to_see(tmp_path, evaluations, limits):
    make, counts, judged, steps = limits
    cluster, pods = _made(make(), tmp_path)
    placements = cluster.place(pods)
    taken = sum(each.work.steps for each in placements.outcomes if isinstance(each, Allocated))
    assert (tuple(cluster.survey.counts().values()), len(evaluations), taken) == (counts, judged, steps)


def test_more_nodes_of_the_same_kind_are_not_more_to_judge(tmp_path, evaluations):
    seen = []
    for nodes in (100, 200, 400):
        cluster, pods = _made(whatif(nodes, 8, 50), tmp_path)
        evaluations.clear()
        cluster.place(pods)
        counts = cluster.survey.counts()
        seen.append((counts["slices_judged"], counts["boards"], len(evaluations)))
    assert len(set(seen)) == 1


def test_the_same_question_again_searches_nothing(tmp_path, evaluations):
    cluster, pods = _made(whatif(200, 8, 50), tmp_path)
    cluster.place(pods)
    before = cluster.survey.counts()
    evaluations.clear()
    cluster.place(pods)
    assert cluster.survey.counts() == before
    assert not evaluations


def test_a_changed_slice_is_all_that_is_looked_at(tmp_path, evaluations):
    case = whatif(200, 8, 50)
    cluster, pods = _made(case, tmp_path)
    for claims in pods:
        cluster.filter(claims)
    before = cluster.survey.counts()
    evaluations.clear()
    wire = case.slices[100]
    wire["spec"]["devices"] = wire["spec"]["devices"][:3]
    changed = cluster.with_slices([ResourceSlice.from_wire(wire)])
    for claims in pods:
        changed.filter(claims)
    after = changed.survey.counts()
    assert after["slices_judged"] - before["slices_judged"] == after["questions"]
    assert after["boards"] - before["boards"] == after["questions"]
    assert after["searches"] - before["searches"] <= after["questions"]
    assert len(evaluations) == 3 * after["questions"]
