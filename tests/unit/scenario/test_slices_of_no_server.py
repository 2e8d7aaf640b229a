"""
Slices of a dump that no API server would hold are named, whatever the answer; those of a snapshot, too.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.cluster.settings import DEFAULT_SETTINGS
from dra_alloc.manifest import Documents, load
from dra_alloc.manifest.snapshot.packed import pack
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare


def slice_of(number, driver="d.example", pool="p", devices=("a", "b"), version="1.2.3"):
    spec = {"driver": driver, "nodeName": "n", "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1}}
    shown = [{"name": name, "attributes": {"v": {"version": version}}} for name in devices]
    metadata = {"name": f"s{number}"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": metadata,
        "spec": spec | {"devices": shown},
    }


def notes(dump):
    found = prepare(Prepared(Documents(), dump, DEFAULT_SETTINGS, "default")).notes
    return [each for each in found if each.startswith("no API server would hold")]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"driver": "-d"}, 'spec.driver: Invalid value: "-d"'),
        ({"pool": "P!"}, 'spec.pool.name: Invalid value: "P!"'),
        ({"devices": ("a", "b", "a")}, 'spec.devices[2]: Duplicate value: "a"'),
        ({"version": "1.x"}, 'spec.devices[0].attributes[v].version: Invalid value: "1.x"'),
        ({"version": "0.1"}, 'spec.devices[0].attributes[v].version: Invalid value: "0.1"'),
    ],
)
def test_it_is_named_with_file_and_line(odd, said, packed, tmp_path):
    path = tmp_path / "dump.json"
    items = ",\n".join(json.dumps(each) for each in (slice_of(0), slice_of(1, **odd), slice_of(2)))
    path.write_text(f'{{"apiVersion": "v1", "kind": "List", "items": [\n{items}]}}', encoding="utf-8")
    dump = load(path)
    if packed:
        (tmp_path / "s").write_bytes(pack(dump, ()))
        dump = load(tmp_path / "s")
    (note,) = notes(dump)
    assert note.startswith(f"no API server would hold what is read as it is: {path}:3: ResourceSlice s1: {said}")


def test_yaml_and_many(tmp_path):
    path = tmp_path / "dump.yaml"
    odd = [slice_of(number, driver="d d") for number in range(9)] + [slice_of(9, devices=[f"d{n}" for n in range(129)])]
    path.write_text("# all\n" + "---\n".join(json.dumps(each) + "\n" for each in odd), encoding="utf-8")
    found = notes(load(path))
    assert len(found) == 6
    assert found[-1] == "no API server would hold 5 more of the slices"


def test_what_a_server_holds_is_not_named(tmp_path):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(slice_of(0, devices=[f"d{n}" for n in range(128)])), encoding="utf-8")
    assert notes(load(path)) == []
