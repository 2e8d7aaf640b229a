"""A cluster that is asked and changed for years: what is remembered stays bounded, and answers stay the same."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from dra_alloc import Cluster
from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.known import Known
from dra_alloc.cluster.lone_slices import LoneSlices
from dra_alloc.manifest import Documents
from dra_alloc.problem import overlay
from dra_alloc.problem.devices import SliceRow
from dra_alloc.solve import columns, survey
from dra_alloc.solve.ladder import DEFAULT_BUDGET

NODES, DEVICES = 6, 4


def sliced(node: int, generation: int = 0) -> dict[str, Any]:
    """A slice of a node, of which no attribute has the same value as of another."""
    name = f"n{node}"
    first = (generation * NODES + node) * DEVICES
    devices = [{"name": f"d{each}", "attributes": {"index": {"int": first + each}}} for each in range(DEVICES)]
    pool = {"name": name, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": name, "pool": pool, "devices": devices}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def claim(selector: str) -> ResourceClaim:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    request = {"name": "r", "exactly": {**exactly, "selectors": [{"cel": {"expression": selector}}]}}
    return ResourceClaim.model_validate({"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}})


@pytest.fixture
def cluster() -> Cluster:
    nodes = tuple(Node.model_validate({"metadata": {"name": f"n{each}"}}) for each in range(NODES))
    slices = tuple(ResourceSlice.model_validate(sliced(each)) for each in range(NODES))
    some = DeviceClass.model_validate({"metadata": {"name": "any"}, "spec": {}})
    return Cluster.of(Documents(nodes=nodes, slices=slices, classes=(some,)))


def least(index: int) -> str:
    return f'device.attributes["d"].index >= {index}'


def fitting(index: int) -> list[str]:
    return [f"n{node}" for node in range(NODES) if (node + 1) * DEVICES > index]


def test_many_questions_leave_no_more_than_the_bound(cluster, monkeypatch):
    most = 40 * 16_000
    monkeypatch.setattr(survey, "_MOST_BYTES", most)
    monkeypatch.setattr(survey, "_BETWEEN_LOOKS", 1)
    known = cluster.known.survey
    for number in range(200):
        index = number % (NODES * DEVICES)
        assert list(cluster.filter([claim(f"{least(index)} && {number} >= 0")])) == fitting(index)
        assert known.counts()["questions"] <= 41
    assert known.counts()["questions"] >= 15


def test_a_question_that_was_forgotten_is_answered_as_before(cluster, monkeypatch):
    monkeypatch.setattr(survey, "_MOST_BYTES", 0)
    monkeypatch.setattr(survey, "_BETWEEN_LOOKS", 1)
    claims = [claim(least(index)) for index in range(0, NODES * DEVICES, 3)]
    first = [list(cluster.filter([each])) for each in claims]
    assert [list(cluster.filter([each])) for each in claims] == first
    assert cluster.known.survey.counts()["questions"] <= 2


def test_many_attributes_are_looked_at_anew(cluster, monkeypatch):
    monkeypatch.setattr(columns, "_MOST_LENSES", 4)
    asked = [claim(f'{least(9)} && !("x{number}" in device.attributes["d"])') for number in range(20)]
    for _ in range(2):
        for each in asked:
            assert list(cluster.filter([each])) == fitting(9)
    row = cluster.inventory.slices[0]
    assert len(row.columns) < 4 * 6


def test_numbers_that_were_forgotten_are_given_anew(monkeypatch, cluster):
    monkeypatch.setattr(columns, "_MOST_CONTENTS", 1)
    monkeypatch.setattr(columns, "_MOST_LOOKS", 1)
    for index in (3, 9, 15, 9, 3):
        assert list(cluster.filter([claim(least(index))])) == fitting(index)


def test_a_watch_leaves_nothing_of_slices_that_changed(cluster, monkeypatch):
    monkeypatch.setattr(survey, "_MOST_PARTS", 8)
    asked = [claim(least(0))]
    for number in range(120):
        generation, node = divmod(number, NODES)
        cluster = cluster.apply([{"type": "MODIFIED", "object": sliced(node, generation + 1)}])
        assert len(cluster.filter(asked)) == NODES
    assert cluster.known.survey.counts()["slices_judged"] <= 8 + 4 * NODES + 1


def test_what_is_remembered_of_a_question_keeps_no_cluster_that_was_asked(cluster, monkeypatch):
    monkeypatch.setattr(overlay, "_MOST_CHANGES", NODES)
    for number in range(20 * NODES):
        generation, node = divmod(number, NODES)
        cluster = cluster.apply([{"type": "MODIFIED", "object": sliced(node, generation + 1)}])
        assert cluster.filter([claim(f"{least(0)} && {number} >= 0")])
    gc.collect()
    assert cluster.known.survey.counts()["questions"] == 20 * NODES
    assert sum(isinstance(each, SliceRow) and each.driver == "d" for each in gc.get_objects()) <= 4 * NODES


def test_states_that_changes_leave_behind_go_without_the_collector(cluster, monkeypatch):
    monkeypatch.setattr(survey, "_MOST_PARTS", NODES)
    monkeypatch.setattr(overlay, "_MOST_CHANGES", NODES)

    def alive() -> int:
        return sum(isinstance(each, (SliceRow, Known, LoneSlices)) for each in gc.get_objects())

    gc.collect()
    before = alive()
    gc.disable()
    try:
        for number in range(20 * NODES):
            generation, node = divmod(number, NODES)
            cluster = cluster.apply([{"type": "MODIFIED", "object": sliced(node, generation + 1)}])
            assert cluster.filter([claim(least(0))])
            cluster = cluster.after(cluster.allocate([claim(least(number % 2))])).without_claim("default/c")
        assert alive() - before <= 4 * NODES
    finally:
        gc.enable()


def test_a_device_has_its_slice_where_nobody_has_that_anymore():
    devices = SliceRow(ResourceSlice.model_validate(sliced(3)), 7).devices
    row = devices[0].slice
    assert row is devices[1].slice
    assert (row.name, row.position, row.pool) == ("n3", 7, devices[0].pool)


def test_what_was_found_out_answers_when_the_cluster_is_gone(cluster):
    standings, allocator = cluster.known.standings, cluster.known.allocator
    asked, node = [claim(least(0))], cluster.nodes[0]
    del cluster
    assert allocator.allocate(node, asked)
    assert standings._answering.ask(node, asked, DEFAULT_BUDGET)
    assert not allocator.state.usage.exclusive
