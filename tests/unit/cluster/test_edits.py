"""
Edits of a cluster in Python: the steps of scenarios, undone, refused, and what fixes of refusals stand for.
"""

from __future__ import annotations

import itertools
import pickle
from functools import partial
from typing import Any

import pytest

import dra_alloc
from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.edits.merging import merged_whole
from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, ManifestError
from dra_alloc.explain.reasons import reasons
from dra_alloc.manifest import Documents, load
from dra_alloc.pods.remedies import remedies
from dra_alloc.pods.tenancy import Load
from dra_alloc.scenario.refused.explaining import world_of
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import after_steps
from tests.paths import ROOT

DUMP = load(ROOT / "docs" / "examples" / "what-if" / "cluster.yaml")
SETTINGS = Settings("1.36", {"DRADeviceTaintRules": True})
NOTHING = Documents()
STEPS: tuple[dict[str, Any], ...] = (
    {"addNodes": {"like": "gpu-b", "count": 2}},
    {"removeNodes": {"names": ["gpu-c"]}},
    {"cordonNodes": {"names": ["gpu-a"]}},
    {"uncordonNodes": {"names": ["gpu-a"]}},
    {"drainNodes": {"names": ["gpu-a"]}},
    {"taintDevices": {"taint": {"key": "broken", "effect": "NoExecute"}, "pool": "gpu-b"}},
    {"taintDevices": {"taint": {"key": "old", "effect": "NoSchedule"}}},
    {"delete": {"kind": "Deployment", "name": "search", "namespace": "shop"}},
    {"delete": {"kind": "ResourceClaim", "name": "notebook-gpu-x05", "namespace": "shop"}},
    {"release": {"version": "1.37", "gates": {"DRADeviceTaintRules": False}}},
)


def claim(name: str, count: int = 1, **kept: Any) -> ResourceClaim:
    exactly = {"deviceClassName": next(iter(DUMP.classes)).metadata.name, "count": count}
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "shop"}, "spec": spec, **kept})


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.of(DUMP, SETTINGS)


def node_of(found: Cluster, asked: ResourceClaim) -> str:
    outcome = found.allocate([asked])
    return outcome.node if isinstance(outcome, dra_alloc.Allocated) else ""


def test_an_edited_cluster_is_one_made_anew(cluster):
    """All pairs of steps, on a cluster of which something is known already."""
    fits = {each: list(cluster.filter([claim("q", each)])) for each in (1, 2)}
    assert cluster.state_hash
    assert fits[1]
    for chosen in itertools.permutations(STEPS, 2):
        state, wrong = after_steps(states(DUMP, NOTHING, NOTHING, SETTINGS)[1], steps_in({"steps": [*chosen]})[0], load)
        edits = cluster.edit()
        for each in chosen:
            ((kind, taken),) = each.items()
            edits = edits.step(kind, **taken)
        if wrong:
            with pytest.raises(ManifestError) as refused:
                edits.done()
            assert [str(each) for each in refused.value.problems] == [str(each) for each in wrong]
            continue
        done, anew = edits.done(), Cluster.of(merged_whole(state.dump, state.manifests), state.settings)
        assert done.cluster.state_hash == anew.state_hash, chosen
        assert {name: why for name, (_, why) in state.evicted.items()} == done.evicted
        for count in (1, 2):
            asked = [claim("q", count)]
            assert list(done.cluster.filter(asked)) == list(anew.filter(asked)), chosen
    assert fits == {each: list(cluster.filter([claim("q", each)])) for each in (1, 2)}


def test_edits_that_are_undone_leave_no_trace(cluster):
    edits, wanted = cluster.edit(), cluster.state_hash
    rule = partial(edits.taint_devices("broken").delete, "DeviceTaintRule")
    for undone in (
        edits.cordon_nodes("gpu-a").uncordon_nodes("gpu-a"),
        edits.add_nodes("gpu-a", 2).remove_nodes("gpu-a-new-1", "gpu-a-new-2"),
        rule("what-if-1"),
        edits.apply([claim("new")]).delete("ResourceClaim", "new", "shop"),
        edits.release("1.37", {"DRADeviceTaintRules": False}).release("1.36", {"DRADeviceTaintRules": True}),
    ):
        for each in range(1, undone.called):
            first = dra_alloc.Edits(cluster, undone.steps[:each], each, given=undone.given).cluster
            assert first.settings != SETTINGS or first.state_hash != wanted
        assert undone.cluster.state_hash == wanted
        assert undone.cluster.settings == SETTINGS
    again = edits.taint_devices("broken").cluster.edit().delete("DeviceTaintRule", "what-if-1").cluster
    assert again.state_hash == wanted
    assert pickle.loads(pickle.dumps(cluster)).edit().drain_nodes("gpu-a").done().evicted


def test_rules_get_names_that_are_free(cluster):
    twice = cluster.edit().taint_devices("a").taint_devices("b").delete("DeviceTaintRule", "what-if-1")
    left = twice.taint_devices("c").cluster.inventory.taint_rules
    assert sorted(str(each.metadata.name) for each in left) == ["what-if-1", "what-if-2"]


def test_all_that_is_wrong_is_told_at_once(cluster):
    edits = cluster.edit().drain_nodes("gpu-z").step("drain", names=["gpu-a"]).add_nodes("gpu-a", 0)
    with pytest.raises(ManifestError) as refused:
        edits.delete("ResourceClaim", "noteboo-gpu-x05", "shop").done()
    said = [str(each) for each in refused.value.problems]
    for path, name in (("[0].drainNodes.names", "gpu-z"), ("[1]", "drainNodes"), ("[2].addNodes.count", "1")):
        assert any(f"steps{path}: " in each and name in each for each in said), path
    assert any("steps[3].delete.name" in each and "did you mean notebook-gpu-x05?" in each for each in said)
    with pytest.raises(InputError, match="Documents with a node"):
        cluster.edit().add_nodes(shape=NOTHING)


def test_nodes_of_a_shape_and_pods_with_a_node_are_there(cluster):
    shape = dra_alloc.fleet({"nodes": [{"shape": "h100-8", "name": "big"}]})
    more = cluster.edit().add_nodes(shape=shape, count=2).cluster
    assert [each.metadata.name for each in more.nodes[-2:]] == ["big-1-new-1", "big-1-new-2"]
    assert sum(row.node_name == "big-1-new-2" for row in more.inventory.slices) == len(shape.slices)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}}
    spec = {"nodeName": "gpu-a", "containers": [{"name": "c", "image": "i"}]}
    found = cluster.edit().apply([{**pod, "spec": spec}])
    assert found.cluster.population.pods[-1].metadata.name == "p"
    assert "shop/p" in found.drain_nodes("gpu-a").done().evicted


def test_a_step_that_applies_names_files(cluster):
    more = ROOT / "docs" / "examples" / "capacity" / "more.yaml"
    named = cluster.edit().step("apply", paths=[str(more)]).apply([claim("new")])
    assert named.cluster.state_hash == cluster.edit().apply(more).apply([claim("new")]).cluster.state_hash
    with pytest.raises(ManifestError, match=r"0: cannot be read"):
        cluster.edit().step("apply", paths=["0"]).done()


def test_a_fix_is_what_the_edit_does(cluster):
    free = cluster.edit().remove_nodes("gpu-b", "gpu-c").drain_nodes("gpu-a").uncordon_nodes("gpu-a").cluster
    whole = next(each for each in (4, 3, 2, 1) if node_of(free, claim("q", each)))
    taken = free.after(free.allocate([claim("holder")]))
    asked = claim("q", whole)
    assert not node_of(taken, asked)
    fixes = reasons(world_of(taken, [asked], taken.node("gpu-a"))).fixes
    assert any(each.steps == ("freeing claim shop/holder",) for each in fixes)
    assert node_of(taken.edit().delete("ResourceClaim", "holder", "shop").cluster, asked) == "gpu-a"
    closed = free.edit().cordon_nodes("gpu-a").cluster
    pod = Pod.from_wire({"metadata": {"name": "p", "namespace": "shop"}, "spec": {"containers": [{"name": "c"}]}})
    (fix,) = remedies(pod, closed.node("gpu-a"), "node-unschedulable", Load({}, {}), {})
    assert fix.step == "uncordoning node gpu-a"
    opened = closed.edit().uncordon_nodes("gpu-a").cluster
    assert [found.schedule([fix.pod]).scheduled for found in (closed, opened)] == [0, 1]
    assert fix.node == opened.node("gpu-a")
