"""
What was noted of slices while they were read tells them apart just as their devices do.
"""

from __future__ import annotations

import itertools
import json

import pytest

from dra_alloc.cel.reads import Read
from dra_alloc.manifest import load
from dra_alloc.problem.inventory import Inventory
from dra_alloc.solve.columns import Columns

DRIVER = "gpu.example.com"
READS = [Read("attribute", DRIVER, "index"), Read("attribute", DRIVER, "minor")]
ONE, TWO = {"int": 1}, {"int": 2}
ATTRIBUTES = [
    {"index": ONE},
    {"minor": ONE},
    {"index": ONE, "minor": ONE},
    {"index": ONE, "minor": TWO},
    {"minor": TWO, "index": ONE},
    {"index": {"string": "1"}},
    {f"{DRIVER}/index": ONE},
    {f"{DRIVER}/index": ONE, "index": TWO},
    {},
]
DEVICES = [[each] * count for each, count in itertools.product(ATTRIBUTES, (1, 2))]
DEVICES += [[ATTRIBUTES[0], ATTRIBUTES[1]], [ATTRIBUTES[1], ATTRIBUTES[0]]]


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    path = tmp_path_factory.mktemp("noted") / "dump.json"
    items = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"slice-{number}"},
            "spec": {
                "driver": DRIVER,
                "nodeName": f"node-{number}",
                "pool": {"name": f"pool-{number}", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"d-{place}", "attributes": each} for place, each in enumerate(devices)],
            },
        }
        for number, devices in enumerate(DEVICES)
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return load([path])


def groups(inventory, reads):
    columns = Columns()
    columns.lens(reads, lists=False)
    found: dict[object, list[str]] = {}
    for row in inventory.slices:
        found.setdefault(columns.signature(row, reads, lists=False), []).append(row.name)
    return sorted(found.values())


@pytest.mark.parametrize("reads", [READS, READS[:1], READS[1:], []], ids=len)
def test_noted_slices_look_alike_exactly_when_their_devices_do(documents, reads):
    noted = groups(Inventory.build(documents.slices, layouts=documents.laid_out(documents.slices)), reads)
    assert noted == groups(Inventory.build(documents.slices), reads)
    assert len(noted) > 1
