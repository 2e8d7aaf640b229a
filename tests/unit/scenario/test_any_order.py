"""
Whether some order of the workloads fits: held against a check of each order.
"""

from __future__ import annotations

import io
import itertools
import json
from collections import Counter
from random import Random
from typing import Any

from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import DEFAULT_SETTINGS
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import check
from dra_alloc.scenario.what_if.any_order import AnyOrder, OrderVerdict, any_order
from dra_alloc.scenario.what_if.asking import OneSide
from dra_alloc.scenario.what_if.what_if import what_if
from dra_alloc.work import Purse, owe

Json = dict[str, Any]


def documents(objects: list[Json]) -> Documents:
    return load("-", stdin=io.BytesIO("\n".join(map(json.dumps, objects)).encode()))


def node(name: str, models: list[str], cpu: int = 8) -> list[Json]:
    devices = [{"name": f"d{n}", "attributes": {"model": {"string": it}}} for n, it in enumerate(models)]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "status": {"allocatable": {"cpu": str(cpu), "pods": "9"}},
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": {"driver": "gpu.example.com", "nodeName": name, "pool": pool, "devices": devices},
        },
    ]


CLASS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}


def workload(name: str, count: int, model: str = "", replicas: int = 1, cpu: int = 1, **spec: Any) -> list[Json]:
    selects = [{"cel": {"expression": f'device.attributes["gpu.example.com"].model == "{model}"'}}] if model else []
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": count, "selectors": selects}}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}, "claims": [{"name": "g"}]}}
    pod = {"containers": [container], "resourceClaims": [{"name": "g", "resourceClaimTemplateName": name}], **spec}
    labels = {"app": name}
    meta = {"name": name, "namespace": "ns"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": meta,
            "spec": {"spec": {"devices": {"requests": [request]}}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": meta,
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
        },
    ]


def side_of(cluster: list[Json], work: list[Json]) -> OneSide:
    before, after = states(documents([*cluster, CLASS]), Documents(), documents(work), DEFAULT_SETTINGS)
    now = what_if(before, after, CheckOptions()).now
    assert now is not None
    return now


def names(found: AnyOrder) -> list[str]:
    return [each.name for each in found.order]


def drawn(random: Random) -> tuple[list[Json], list[Json]]:
    """Return two or three nodes, and work that may just fill them: one large request or small ones for each."""
    cluster, wants = [], []
    for name in "abc"[: random.randint(2, 3)]:
        models = random.choices("xy", (3, 1), k=random.randint(1, 3))
        cluster += node(name, models, random.randint(2, 4))
        large = random.random() < 0.5
        wants += [(len(models), "")] if large else [(1, random.choice(["", each])) for each in models[:2]]
    random.shuffle(wants)
    wants = wants[: random.randint(2, 5)]
    work = [workload(f"w{place}", *want, cpu=random.choice([1, 1, 2])) for place, want in enumerate(wants)]
    return cluster, [each for one in work for each in one]


GREEDY = [*node("a", ["x", "x"]), *node("b", ["x"])]


def test_who_is_refused_goes_first():
    side = side_of(GREEDY, [*workload("small", 1), *workload("large", 2)])
    assert side.check.placements[1].verdict == "unsatisfiable"  # the small one went to the first node
    found = any_order(side, CheckOptions())
    assert (found.verdict, names(found)) == (OrderVerdict.FOUND, ["ns/large", "ns/small"])


def test_what_fits_as_given_is_not_looked_for():
    found = any_order(side_of(GREEDY, workload("small", 1)), CheckOptions())
    assert found == AnyOrder(OrderVerdict.AS_GIVEN)


def test_devices_that_are_too_few_rule_out_every_order():
    found = any_order(side_of(GREEDY, [*workload("small", 1, replicas=2), *workload("large", 2)]), CheckOptions())
    assert (found.verdict, found.why) == (OrderVerdict.NONE, "not all can have their devices at once")


def test_out_of_tries_or_budget_it_is_not_known():
    work = [each for number in range(5) for each in workload(f"w{number}", 1, cpu=5)]
    side = side_of([*node("a", ["x"] * 4), *node("b", ["x"] * 4)], work)  # cpu for one on each node
    found = any_order(side, CheckOptions(), tries=7)
    assert (found.verdict, found.tried) == (OrderVerdict.UNDECIDED, 7)
    assert "there are more orders than the 7 workloads" in found.why
    assert any_order(side, CheckOptions()).verdict is OrderVerdict.NONE
    with Purse(1):
        owe(1)
        assert any_order(side, CheckOptions()).verdict is OrderVerdict.UNDECIDED


def test_a_workload_that_cannot_be_asked_rules_out_every_order():
    template = workload("bad", 1)[1]["spec"]["template"]["spec"]
    twice = [{"name": "g", "resourceClaimTemplateName": "bad", "resourceClaimName": "bad"}]
    bad = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "bad", "namespace": "ns"},
            "spec": {**template, "resourceClaims": twice},
            "status": {"phase": "Pending"},
        }
    ]
    before, _ = states(documents([*GREEDY, CLASS, *bad]), Documents(), Documents(), DEFAULT_SETTINGS)
    now = what_if(before, before, CheckOptions()).now
    assert now is not None
    found = any_order(now, CheckOptions())
    assert found.verdict is OrderVerdict.NONE
    assert found.why.startswith("ns/bad: ")


def test_the_verdict_equals_trying_every_order():
    seen = Counter[OrderVerdict]()
    for number in range(60):
        random = Random(number)
        cluster, work = drawn(random)
        side = side_of(cluster, work)
        found = any_order(side, CheckOptions())
        seen[found.verdict] += 1
        asked = {each.name: {it.name for it in each_count.asked} for each, each_count in side.counts.items()}
        fits = [
            order
            for order in itertools.permutations(asked)
            if all(
                each.verdict == "allocated"
                for each in check(
                    side.manifests,
                    side.state.dump,
                    CheckOptions(reasons=False, turns=tuple(frozenset(asked[name]) for name in order)),
                ).placements
            )
        ]
        if found.verdict is OrderVerdict.FOUND:
            assert tuple(names(found)) in fits, number
        elif found.verdict is OrderVerdict.NONE:
            assert not fits, number
        else:
            assert found.verdict is OrderVerdict.AS_GIVEN, number
    assert seen.keys() == {OrderVerdict.FOUND, OrderVerdict.NONE, OrderVerdict.AS_GIVEN}
    assert min(seen.values()) > 2, seen
