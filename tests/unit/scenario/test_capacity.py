"""
How many more nodes make everything fit.
"""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from dra_alloc.cluster.edits.nodes import pattern_like
from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import DEFAULT_SETTINGS
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.capacity.capacity import Capacity, CapacityOptions, capacity
from dra_alloc.scenario.capacity.search import cheapest
from dra_alloc.scenario.capacity.shapes import NodeShape, shapes_of
from tests.paths import ROOT

CLUSTER = ROOT / "docs" / "examples" / "what-if" / "cluster.yaml"
Objects = list[dict[str, Any]]


@pytest.fixture(scope="module")
def cluster() -> Objects:
    with CLUSTER.open(encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


@pytest.fixture
def documents(tmp_path: Path):
    def made(given: Objects) -> Documents:
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": given}), encoding="utf-8")
        return load(file)

    return made


def deployment(replicas: int, name: str = "train", **selector: str) -> dict[str, Any]:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    container = {"name": "main", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}
    pod = {"containers": [container], "resourceClaims": claims, "nodeSelector": selector}
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
    }


def asked(
    manifests: Documents, dump: Documents, *likes: str, prices: dict[str, int] | None = None, **how: Any
) -> Capacity:
    before, after = states(dump, Documents(), manifests, DEFAULT_SETTINGS)
    shapes = shapes_of(after.dump)
    if likes:
        shapes = [NodeShape(pattern_like(after, name), 1, (prices or {}).get(name, 1)) for name in likes]
    return capacity(before, after, CapacityOptions(shapes, CheckOptions(), **how))


def test_nodes_alike_but_for_what_names_them_are_of_one_kind(cluster, documents):
    given = copy.deepcopy(cluster)
    for number, each in enumerate(each for each in given if each["kind"] == "ResourceSlice"):
        for place, device in enumerate(each["spec"]["devices"]):
            device["attributes"]["uuid"] = {"string": f"GPU-{number}-{place}"}
    kinds = shapes_of(documents(given))
    assert [(each.name, each.there) for each in kinds] == [("gpu-a", 2), ("gpu-c", 1)]  # racks r1 and r2


def test_nodes_with_other_devices_are_of_another_kind(cluster, documents):
    given = copy.deepcopy(cluster)
    (slice_b,) = [each for each in given if each["kind"] == "ResourceSlice" and each["spec"]["nodeName"] == "gpu-b"]
    slice_b["spec"]["devices"][0]["attributes"]["model"] = {"string": "A100"}
    assert [each.name for each in shapes_of(documents(given))] == ["gpu-a", "gpu-b", "gpu-c"]


def test_everything_fits(cluster, documents):
    found = asked(documents([deployment(1)]), documents(cluster))
    assert found.fits
    assert found.found.numbers is None
    assert found.copies is not None
    assert found.copies.now == 1
    assert found.copies.more == {"gpu-a": 2, "gpu-c": 2}


def test_many_copies_are_counted(cluster, documents):
    given = copy.deepcopy(cluster)
    (slice_b,) = [each for each in given if each["kind"] == "ResourceSlice" and each["spec"]["nodeName"] == "gpu-b"]
    slice_b["spec"]["devices"] = [{"name": f"gpu-{number}", "attributes": {}} for number in range(102)]
    (node_b,) = [each for each in given if each["kind"] == "Node" and each["metadata"]["name"] == "gpu-b"]
    node_b.setdefault("status", {}).setdefault("allocatable", {})["pods"] = 500
    found = asked(documents([deployment(1)]), documents(given))
    assert found.copies is not None
    assert found.copies.now == 101


def test_the_fewest_nodes(cluster, documents):
    found = asked(documents([deployment(6)]), documents(cluster))
    assert not found.fits
    assert dict(found.bought) == {"gpu-a": 3}  # one device is free, a node has two
    assert found.found.proven
    assert found.after is not None
    assert not found.hopeless


def test_of_two_kinds_each_where_it_is_needed(cluster, documents):
    manifests = documents([deployment(3, "one", rack="r1"), deployment(2, "two", rack="r2")])
    found = asked(manifests, documents(cluster))
    assert dict(found.bought) == {"gpu-a": 1, "gpu-c": 1}
    assert found.copies is None


def test_the_cheapest_are_not_the_fewest(cluster, documents):
    given = copy.deepcopy(cluster)
    (slice_b,) = [each for each in given if each["kind"] == "ResourceSlice" and each["spec"]["nodeName"] == "gpu-b"]
    slice_b["spec"]["devices"] = [{"name": f"gpu-{number}", "attributes": {}} for number in range(2, 6)]
    manifests, dump = documents([deployment(8)]), documents(given)
    dear = asked(manifests, dump, "gpu-a", "gpu-b", prices={"gpu-a": 1, "gpu-b": 9})
    cheap = asked(manifests, dump, "gpu-a", "gpu-b", prices={"gpu-a": 5, "gpu-b": 9})
    assert dict(dear.bought) == {"gpu-a": 2}
    assert dict(cheap.bought) == {"gpu-b": 1}
    assert dear.found.proven
    assert cheap.found.proven


def test_what_nothing_helps_is_told_apart(cluster, documents):
    manifests = documents([deployment(4), deployment(1, "lost", rack="r9")])
    found = asked(manifests, documents(cluster))
    assert [each.name for each in found.hopeless] == ["shop/lost"]
    assert dict(found.bought) == {"gpu-a": 2}
    nothing = asked(documents([deployment(1, "lost", rack="r9")]), documents(cluster))
    assert nothing.found.numbers is None
    assert [each.name for each in nothing.hopeless] == ["shop/lost"]


def test_what_was_not_tried_is_said(cluster, documents):
    found = asked(documents([deployment(12)]), documents(cluster), "gpu-a", tries=4)
    assert dict(found.bought)["gpu-a"] >= 6
    assert not found.found.proven


@pytest.mark.parametrize("seed", range(20))
def test_the_search_equals_trying_everything(seed):
    random = Random(seed)
    for _ in range(10):
        most = tuple(random.randint(1, 4) for _ in range(random.randint(1, 3)))
        prices = [random.randint(0, 4) for _ in most]
        every = list(itertools.product(*(range(each + 1) for each in most)))
        good = {each for each in every if any(each) and random.random() < 0.3} | {most}
        found = cheapest(good.__contains__, prices, most, tries=1000)
        best = min(
            good,
            key=lambda each: (sum(n * p for n, p in zip(each, prices, strict=True)), sum(each), [-n for n in each]),
        )
        assert found.numbers == best
        assert found.proven
        hurried = cheapest(good.__contains__, prices, most, tries=1)
        assert hurried.numbers in good


def test_what_autoscalers_do_not_see_is_said(cluster, documents):
    given = copy.deepcopy(cluster)
    (template,) = [each for each in given if each["kind"] == "ResourceClaimTemplate"]
    template["spec"]["spec"]["devices"]["constraints"] = [{"distinctAttribute": "gpu.example.com/model"}]
    said = [note for note in asked(documents([deployment(1)]), documents(given)).notes if note.startswith("Karpenter")]
    assert said == [
        "Karpenter adds no nodes for pods with claims unless it runs with --ignore-dra-requests=false",
        "Karpenter ends with an error on distinctAttribute",
    ]
