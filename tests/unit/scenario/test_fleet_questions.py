"""
Questions to the whole cluster are the same as node by node, and as on a cluster made anew.
"""

from __future__ import annotations

import random
from itertools import islice, product
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, FrozenMap, Node, ObjectMeta, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.edits.events import Event
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal, Outcome, Unsatisfiable
from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.reasons import reasons
from dra_alloc.explain.surroundings import Surroundings
from dra_alloc.explain.tally import explain
from dra_alloc.manifest import Documents
from dra_alloc.manifest.make.records import record_from_model
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.refused.explaining import world_of
from dra_alloc.solve.outcome import Solved
from dra_alloc.solve.survey import Survey
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect

NODES = tuple(
    Node(metadata=ObjectMeta(name=f"n{number}", labels=FrozenMap({"zone": "ab"[number % 2], "rack": "a"})))
    for number in range(1, 6)
)
SETTINGS = [
    Settings("1.36"),
    Settings("1.37", semantics="intended"),
    Settings("1.37", {"DRAListTypeAttributes": True}, "experimental"),
    Settings("1.36", {"DRAConsumableCapacity": False, "DRADeviceBindingConditions": False}),
    Settings("1.34", {"DRAPartitionableDevices": True}, "incubating"),
]


def _clusters(settings: Settings, count: int):
    """Random slices, for several nodes: what the generator makes for one node is repeated for others."""
    line = settings.release
    for number, request in enumerate(islice(random_requests(5, Dialect(line)), count)):
        draw = random.Random(number)
        slices = [ResourceSlice.from_wire(each) for each in request["slices"]]
        for node in NODES[1:]:
            slices += [
                _moved(each, node.metadata.name or "") for each in slices if draw.random() < 0.6 and _local(each)
            ]
        claims = [ResourceClaim.from_wire(each) for each in request["claims"]]
        classes = [DeviceClass.from_wire(each) for each in request["classes"]]
        documents = Documents(slices=tuple(slices), classes=tuple(classes), nodes=NODES)
        yield Cluster.of(documents, settings), _pods(claims, draw)


def _local(each: ResourceSlice) -> bool:
    return each.spec.node_name == "n1"


def _moved(each: ResourceSlice, node: str) -> ResourceSlice:
    pool = each.spec.pool.model_copy(update={"name": f"{each.spec.pool.name}-{node}"})
    meta = each.metadata.model_copy(update={"name": f"{each.metadata.name}-{node}"})
    return each.model_copy(
        update={"metadata": meta, "spec": each.spec.model_copy(update={"pool": pool, "node_name": node})}
    )


def _pods(claims: list[ResourceClaim], draw: random.Random) -> list[list[ResourceClaim]]:
    pods = []
    for number in range(12):
        chosen = draw.sample(claims, draw.randint(1, len(claims)))
        pods.append([_renamed(claim, f"{claim.metadata.name}-{number}") for claim in chosen])
    return pods


def _renamed(claim: ResourceClaim, name: str) -> ResourceClaim:
    return claim.model_copy(update={"metadata": claim.metadata.model_copy(update={"name": name})})


def _told(outcome: Outcome) -> object:
    """Compare outcomes without share IDs, which are random, and work."""
    match outcome:
        case Allocated(node, claims, _):
            picks = [
                (claim.metadata.name, each.request, each.driver, each.pool, each.device, bool(each.share_id))
                for claim in claims
                if claim.status.allocation is not None
                for each in claim.status.allocation.devices.results
            ]
            return node, picks
        case Unsatisfiable(refusals, aborts):
            return aborts, [(each.node, each.code, each.error) for each in refusals]
        case _:
            return "undecided"


def _first_fit(cluster: Cluster, claims: list[ResourceClaim]) -> Outcome:
    refusals: list[NodeRefusal] = []
    for node in cluster.nodes:
        outcome = cluster.on_node(claims, node, explained=False)
        if not isinstance(outcome, Unsatisfiable):
            return outcome
        if outcome.aborts:
            return outcome
        refusals += outcome.refusals
    return Unsatisfiable(tuple(refusals))


def _anew(cluster: Cluster) -> Cluster:
    """Return an equal cluster that knows nothing yet."""
    documents = Documents(
        slices=tuple(row.wire for row in cluster.inventory.slices),
        classes=tuple(cluster.classes.values()),
        claims=tuple(cluster.claims.values()),
        nodes=cluster.nodes,
    )
    return Cluster.of(documents, cluster.settings)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_placements_are_those_of_first_fit_node_by_node(settings):
    for cluster, pods in _clusters(settings, 5):
        placements = cluster.place(pods)
        current = _anew(cluster)
        for claims, outcome in zip(pods, placements.outcomes, strict=True):
            expected = _first_fit(current, claims)
            assert _told(outcome) == _told(expected)
            current = _anew(current.after(outcome))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_nodes_that_fit_are_those_that_fit_alone(settings):
    for cluster, pods in _clusters(settings, 5):
        placed = cluster.place(pods[:6]).cluster
        for claims in pods[6:]:
            alone = _anew(placed)
            expected = {node.metadata.name: alone.on_node(claims, node, explained=False) for node in NODES}
            fits = placed.filter(claims)
            assert list(fits) == [name for name, each in expected.items() if isinstance(each, Allocated)]
            assert len(fits) == len(fits.nodes)
            aborting = [name for name, each in expected.items() if isinstance(each, Unsatisfiable) and each.aborts]
            assert (fits.aborted is not None) == bool(aborting)
            for name in fits:
                assert _told(fits.outcome(name)) == _told(expected[name])
            some = [node for node in NODES if node.metadata.name in ("n2", "n4")]
            assert list(placed.filter(claims, some)) == [name for name in fits if name in ("n2", "n4")]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_changed_clusters_answer_as_made_anew(settings):
    for number, (cluster, pods) in enumerate(_clusters(settings, 4)):
        draw = random.Random(number)
        current = cluster.place(pods[:4]).cluster
        all_slices = [row.wire for row in cluster.inventory.slices]
        for claims in pods[4:]:
            current.filter(claims)
            current = _some_change(current, all_slices, draw)
            alone = _anew(current)
            expected = [
                node.metadata.name
                for node in current.nodes
                if isinstance(alone.on_node(claims, node, explained=False), Allocated)
            ]
            assert list(current.filter(claims)) == expected
            assert current.state_hash == alone.state_hash


def _some_change(cluster: Cluster, slices: list[ResourceSlice], draw: random.Random) -> Cluster:
    kind = draw.randrange(4)
    chosen = draw.choice(slices)
    if kind == 0:
        return cluster.without_slices([chosen.metadata.name or ""])
    if kind == 1:
        return cluster.with_slices([chosen])
    if kind == 2 and cluster.claims:
        return cluster.without_claims([draw.choice(list(cluster.claims))])
    return cluster.apply([Event("DELETED", chosen), Event("ADDED", draw.choice(slices))])


@pytest.mark.parametrize("settings", SETTINGS[:2], ids=str)
def test_a_reverted_fork_has_the_hash_of_its_origin(settings):
    for cluster, pods in _clusters(settings, 5):
        origin = cluster.state_hash
        placements = cluster.place(pods)
        forked = placements.cluster
        allocated = [each for each in placements.outcomes if isinstance(each, Allocated)]
        names = [claim_name(claim) for each in allocated for claim in each.claims]
        assert (forked.state_hash == origin) == (not names)
        assert forked.without_claims(names).state_hash == origin
        chosen = cluster.inventory.slices[0].wire
        gone = cluster.without_slices([chosen.metadata.name or ""])
        assert gone.state_hash != origin
        assert gone.with_slices([chosen]).state_hash == origin


def _plain_cluster(draw: random.Random, nodes: int, widths: tuple[int, int], fabrics: int) -> Cluster:
    """A cluster of nodes without shared devices, counters or taints, as most are, with pools that all nodes see."""
    slices = []
    for node in range(nodes):
        devices = [
            {
                "name": f"d{number}",
                "attributes": {
                    "model": {"string": draw.choice("xy")},
                    "resource.kubernetes.io/numaNode": {"int": number // 3},
                    "index": {"int": number},
                },
            }
            for number in range(draw.randint(*widths))
        ]
        slices.append(_plain_slice(f"n{node}", {"nodeName": f"n{node}"}, devices))
    fabric = [{"name": f"f{number}", "attributes": {"model": {"string": "x"}}} for number in range(6)]
    # Pools are tried in the order of their names, so some come before a node's own and some behind.
    names = [f"{'az'[number % 2]}{number}" for number in range(fabrics)]
    slices += [_plain_slice(name, {"allNodes": True}, fabric) for name in names]
    classes = [DeviceClass.from_wire({"metadata": {"name": "any"}, "spec": {}})]
    if draw.random() < 0.7:  # as they are loaded
        slices = [record_from_model(each) for each in slices]
    return Cluster.of(Documents(slices=tuple(slices), classes=tuple(classes)))


def _plain_slice(name: str, where: dict[str, Any], devices: list[Any]) -> ResourceSlice:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example.com", "pool": pool, "devices": devices, **where}
    return ResourceSlice.from_wire({"metadata": {"name": name}, "spec": spec})


def _plain_ask(draw: random.Random) -> dict[str, object]:
    ask: dict[str, object] = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": draw.randint(1, 3)}
    if draw.random() < 0.6:
        model = draw.choice("xy")
        ask["selectors"] = [{"cel": {"expression": f"device.attributes['d.example.com'].model == '{model}'"}}]
    return ask


def _plain_claim(name: str, draw: random.Random) -> ResourceClaim:
    requests: list[dict[str, object]] = []
    for number in range(draw.randint(1, 2)):
        if draw.random() < 0.3:
            alternatives = [{"name": f"s{each}", **_plain_ask(draw)} for each in range(2)]
            requests.append({"name": f"r{number}", "firstAvailable": alternatives})
        else:
            requests.append({"name": f"r{number}", "exactly": _plain_ask(draw)})
    devices: dict[str, object] = {"requests": requests}
    if draw.random() < 0.5:
        devices["constraints"] = [{"matchAttribute": "resource.kubernetes.io/numaNode"}]
    if draw.random() < 0.2:
        devices["constraints"] = [{"distinctAttribute": "d.example.com/index"}]
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "ns"}, "spec": {"devices": devices}})


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("nodes", "widths", "fabrics"), [(10, (2, 7), 0), (10, (2, 7), 1), (3, (17, 40), 0), (3, (17, 40), 3)]
)
def test_plain_clusters_fill_up_as_by_the_search_alone(seed, nodes, widths, fabrics):
    draw = random.Random(seed)
    cluster = _plain_cluster(draw, nodes, widths, fabrics)
    pods = [[_plain_claim(f"c{number}", draw)] for number in range(30)]
    current = _anew(cluster)
    engines = set()
    for claims, outcome in zip(pods, cluster.place(pods).outcomes, strict=True):
        found = None
        for node in current.nodes:
            alone = current.known.allocator.allocate(node, claims, engine="first-fit")
            if isinstance(alone, Solved):
                found = node.metadata.name, [pick.device.key.device for pick in alone.picks]
                break
        told = None
        if isinstance(outcome, Allocated):
            allocation = outcome.claims[0].status.allocation
            told = outcome.node, [each.device for each in allocation.devices.results] if allocation else []
            engines.add(outcome.work.engine)
        assert told == found
        current = _anew(current.after(outcome))
    assert "direct" in engines


def test_counters_that_turn_a_pool_invalid_later_are_told_on_other_nodes():
    slices = [_plain_slice(name, {"nodeName": name}, [{"name": "x"}]) for name in ("n1", "n2")]
    classes = (DeviceClass.from_wire({"metadata": {"name": "any"}, "spec": {}}),)
    cluster = Cluster.of(Documents(slices=tuple(slices), classes=classes), Settings("1.36"))
    ask = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 2}
    spec = {"devices": {"requests": [{"name": "r", "exactly": ask}]}}
    pods = [[ResourceClaim.from_wire({"metadata": {"name": "c", "namespace": "ns"}, "spec": spec})]]
    cluster.place(pods)
    twice = [{"name": "set", "counters": {"c": {"value": "1"}}}] * 2
    pool = {"name": "counted", "generation": 1, "resourceSliceCount": 1}
    counted = {"driver": "d.example.com", "pool": pool, "nodeName": "n3", "sharedCounters": twice}
    later = cluster.with_slices([ResourceSlice.from_wire({"metadata": {"name": "counted"}, "spec": counted})])
    told = [_told(each) for each in later.place(pods).outcomes]
    assert told == [_told(each) for each in _anew(later).place(pods).outcomes]
    assert "pool-invalid" in str(told)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_refusals_of_many_nodes_are_explained_as_each_by_itself(settings, monkeypatch):
    monkeypatch.setattr("dra_alloc.explain.tally._STEPS", 200)
    compared = 0
    for given, pods in _clusters(settings, 6):
        cluster = given
        for pod in pods[:4]:
            cluster = cluster.after(cluster.allocate(pod))
        known = cluster.known
        counted, around = known.counting(), Surroundings(cluster.inventory, known.survey.columns)
        for pod, node in product(pods[4:8], cluster.nodes):
            refusal = NodeRefusal(node.metadata.name or "", "no-fit")
            with monkeypatch.context() as patched:
                patched.setattr(Survey, "alike", lambda *_: None)
                plain = explain(known.allocator, node, pod)
            assert counted(refusal, pod, node).explanation == plain
            compared += bool(plain.requests)
        alone, beside = world_of(cluster, pod, node), world_of(cluster, pod, node, around=around)
        assert reasons(beside, 100) == reasons(alone, 100)
    assert compared > 20
